# SPDX-License-Identifier: MIT
# The client to other MCP servers. What they start is counted by a mark of their own, so
# that they may run beside others.
gbx_unit_test(mcp_process gbx_mcp_upstream gbx_support)
add_dependencies(test_mcp_process glovebox-keeper)

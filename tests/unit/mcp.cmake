# SPDX-License-Identifier: MIT
# `glovebox mcp`: what can be tested without a process of somebody else's.
gbx_unit_test(mcp_lines gbx_mcp_rpc)
gbx_unit_test(mcp_message gbx_mcp_rpc)
gbx_unit_test(mcp_loop gbx_mcp_rpc)
gbx_unit_test(mcp_out gbx_mcp_rpc)

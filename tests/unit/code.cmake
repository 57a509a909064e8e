# SPDX-License-Identifier: MIT
# Code mode: what can be tested without a box.
foreach(part blocks value reply)
    gbx_unit_test(code_${part} gbx_mcp_code)
endforeach()
gbx_host_test(code_advice gbx_mcp_code)

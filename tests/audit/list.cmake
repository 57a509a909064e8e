# SPDX-License-Identifier: MIT
# `glovebox audit` over small servers and hostile projects. Needs Node 20 or later.
if(NOT EXISTS ${mcp_node})
    return()
endif()
add_test(NAME audit COMMAND ${mcp_node} --test-reporter=tap
    ${CMAKE_CURRENT_SOURCE_DIR}/audit/audit.test.mjs)
set_tests_properties(audit PROPERTIES LABELS integration TIMEOUT 600
    ENVIRONMENT "GLOVEBOX=$<TARGET_FILE:glovebox-command>;GLOVEBOX_WORKER=$<TARGET_FILE:glovebox-worker>;SANITIZED=${GLOVEBOX_SANITIZE}")
gbx_test_cost(audit)

# SPDX-License-Identifier: MIT
# The security log of real calls.
add_library(gbx_audit_log STATIC support/audit_log.c support/audit_world.c)
target_link_libraries(gbx_audit_log PUBLIC gbx_audit_text gbx_support gbx_engine)

foreach(test audit_events audit_engine audit_host audit_bounds audit_sums)
    gbx_integration_test(${test})
    target_link_libraries(test_${test} PRIVATE gbx_audit_log)
endforeach()
target_link_libraries(test_audit_host PRIVATE gbx_hostile_net)

# SPDX-License-Identifier: MIT
# The security log of real calls.
add_library(gbx_audit_log STATIC support/audit_log.c)
target_link_libraries(gbx_audit_log PUBLIC gbx_audit_text gbx_flags Threads::Threads)

gbx_integration_test(audit_events)
target_link_libraries(test_audit_events PRIVATE gbx_audit_log)

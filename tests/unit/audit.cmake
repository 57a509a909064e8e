# SPDX-License-Identifier: MIT
# The security log: its lines read back by another parser, its counts, its manual.
add_library(gbx_audit_text STATIC support/audit_text.c)
target_include_directories(gbx_audit_text PUBLIC support)
target_link_libraries(gbx_audit_text
    PUBLIC gbx_flags gbx_sanitize PkgConfig::JANSSON PkgConfig::CMOCKA)

gbx_host_test(audit_line gbx_audit_text)
gbx_host_test(audit_counts)
gbx_host_test(audit_docs gbx_audit_text)
target_compile_definitions(test_audit_docs
    PRIVATE GBX_MANUAL="${PROJECT_SOURCE_DIR}/docs/internals/security-log.md")

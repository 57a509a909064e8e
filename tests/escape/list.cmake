# SPDX-License-Identifier: MIT
# Attacks written in JavaScript, and ordinary code that must not notice the lockdown.
add_library(gbx_cases STATIC escape/cases.c escape/judge.c)
target_include_directories(gbx_cases PUBLIC escape)
target_compile_definitions(gbx_cases
    PUBLIC GBX_ESCAPE="${CMAKE_CURRENT_SOURCE_DIR}/escape")
target_link_libraries(gbx_cases PUBLIC gbx_support gbx_engine gbx_sanitize)

# So many tests, each with its share of the cases.
function(gbx_cases_test name shards)
    add_executable(test_${name} escape/test_${name}.c)
    target_link_libraries(test_${name} PRIVATE gbx_cases PkgConfig::CMOCKA)
    add_dependencies(test_${name} glovebox-worker)
    foreach(shard RANGE 1 ${shards})
        gbx_test(test_${name}_${shard} escape 600 test_${name})
        set_property(TEST test_${name}_${shard} APPEND PROPERTY
            ENVIRONMENT GLOVEBOX_SHARD=${shard}/${shards})
    endforeach()
endfunction()

gbx_cases_test(corpus 4)
gbx_cases_test(bombs 4)
gbx_cases_test(ordinary 2)

# The values expected of ordinary code are the language's: Node has the same. It is the newest
# that npm brings, because the one of the machine may lack part of the language.
set(program ${PROJECT_SOURCE_DIR}/node/node_modules/node-24/bin/node)
if(EXISTS ${program})
    add_test(NAME ordinary_with_node
        COMMAND ${program} ${CMAKE_CURRENT_SOURCE_DIR}/escape/with-node.mjs)
    set_tests_properties(ordinary_with_node PROPERTIES LABELS escape TIMEOUT 120)
endif()

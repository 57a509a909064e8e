# SPDX-License-Identifier: MIT
# Each file is a test of its own under the Node that was found, and the files that show
# what a release of Node may break also under the others that npm has brought.
set(node_tests_environment GLOVEBOX_ADDON=$<TARGET_FILE:glovebox-addon>
    GLOVEBOX_WORKER=$<TARGET_FILE:glovebox-worker>
    GLOVEBOX_HOSTILE_WORKER=$<TARGET_FILE:hostile-worker>
    GLOVEBOX_LIBRARYLESS=$<TARGET_FILE:librarygone>)
if(GLOVEBOX_SANITIZE)
    message(STATUS "the addon is not tested under sanitizers: Node would have to have them")
    return()
endif()

function(gbx_node_test name program)
    add_test(NAME ${name} COMMAND ${program} --test ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS node TIMEOUT 600 RUN_SERIAL ON
        ENVIRONMENT "${node_tests_environment}")
endfunction()

file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/*.test.mjs)
foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    gbx_node_test(node_${name} ${GLOVEBOX_NODE} ${file})
endforeach()

set(core ${CMAKE_CURRENT_SOURCE_DIR}/test)
foreach(release 18 22 24)
    set(program ${CMAKE_CURRENT_SOURCE_DIR}/node_modules/node-${release}/bin/node)
    if(EXISTS ${program})
        gbx_node_test(node_${release} ${program} ${core}/engine.test.mjs
            ${core}/engine-host.test.mjs ${core}/engine-abort.test.mjs
            ${core}/engine-life.test.mjs ${core}/tools.test.mjs ${core}/tools-sdk.test.mjs
            ${core}/forge.test.mjs ${core}/runner.test.mjs ${core}/runner-same.test.mjs ${core}/codemode.test.mjs
            ${core}/syntax.test.mjs)
    endif()
endforeach()

# SPDX-License-Identifier: MIT
# Each file is a test of its own under the Node that was found. Under the others that npm
# has brought, the file that shows most of what a release of Node may break; the other such
# files with `ctest -C all`.
set(node_tests_environment GLOVEBOX_ADDON=$<TARGET_FILE:glovebox-addon>
    GLOVEBOX_WORKER=$<TARGET_FILE:glovebox-worker>
    GLOVEBOX_BUILD=${PROJECT_BINARY_DIR}
    GLOVEBOX_HOSTILE_WORKER=$<TARGET_FILE:hostile-worker>
    GLOVEBOX_LIBRARYLESS=$<TARGET_FILE:librarygone>
    GLOVEBOX_UNDER_PROFILE=$<TARGET_FILE:under_profile>)
if(GLOVEBOX_SANITIZE)
    message(STATUS "the addon is not tested under sanitizers: Node would have to have them")
    return()
endif()

# ARGN are options of add_test().
function(gbx_node_test name program file)
    add_test(NAME ${name} COMMAND ${program} ${file} ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS node TIMEOUT 600
        ENVIRONMENT "${node_tests_environment}")
    gbx_test_cost(${name})
endfunction()

set(folder ${CMAKE_CURRENT_SOURCE_DIR}/test)
file(GLOB files CONFIGURE_DEPENDS ${folder}/*.test.mjs)
foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    gbx_node_test(node_${name} ${GLOVEBOX_NODE} ${file})
endforeach()

# It installs what tools/make-bundle.mjs has packed.
set_tests_properties(node_package PROPERTIES FIXTURES_REQUIRED bundle)

foreach(release 18 22 24)
    set(program ${CMAKE_CURRENT_SOURCE_DIR}/node_modules/node-${release}/bin/node)
    if(EXISTS ${program})
        gbx_node_test(node_${release} ${program} ${folder}/engine.test.mjs)
        foreach(name engine-host engine-abort engine-life tools tools-sdk forge runner
                runner-same codemode syntax wrong-use)
            gbx_node_test(node_${release}_${name} ${program} ${folder}/${name}.test.mjs
                CONFIGURATIONS all)
        endforeach()
    endif()
endforeach()

# The plug-in is beside the addon once both are in their places.
set_tests_properties(node_engine-nats PROPERTIES ENVIRONMENT
    "${node_tests_environment};LD_LIBRARY_PATH=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")

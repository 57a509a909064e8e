# SPDX-License-Identifier: MIT
# What is installed works where it is. A build with sanitizers is not one to install.
if(NOT GLOVEBOX_SANITIZE)
    add_test(NAME installed COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/installed.sh
        ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
    set_tests_properties(installed PROPERTIES LABELS integration TIMEOUT 300)
    gbx_test_cost(installed)
    add_test(NAME makefile COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/makefile.sh
        ${PROJECT_SOURCE_DIR})
    set_tests_properties(makefile PROPERTIES LABELS integration TIMEOUT 120)
endif()
# A package of npm is a part of it.
if(GLOVEBOX_ADDON AND NOT GLOVEBOX_SANITIZE)
    add_test(NAME bundle_made COMMAND ${PROJECT_SOURCE_DIR}/tools/make-bundle.mjs
        ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/dist npm deb)
    set_tests_properties(bundle_made PROPERTIES LABELS integration TIMEOUT 300
        FIXTURES_SETUP bundle)
    gbx_test_cost(bundle_made)
    add_test(NAME bundle COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/bundle.sh
        ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
    set_tests_properties(bundle PROPERTIES LABELS integration TIMEOUT 300
        FIXTURES_REQUIRED bundle)
    gbx_test_cost(bundle)
endif()

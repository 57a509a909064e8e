# SPDX-License-Identifier: MIT
# The public interface: its layout, its symbols, its header by itself in C and C++.
add_library(gbx_layout OBJECT api/layout.c)
target_link_libraries(gbx_layout PRIVATE gbx_flags)

if(NOT GLOVEBOX_SANITIZE)
    add_test(NAME api_symbols COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/api/symbols.sh
        $<TARGET_FILE:glovebox> ${CMAKE_CURRENT_SOURCE_DIR}/api/symbols.txt)
    set_tests_properties(api_symbols PROPERTIES LABELS unit TIMEOUT 120)
endif()

set(strict -Wall -Wextra -Wpedantic -Werror -fsyntax-only
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_BINARY_DIR}/include)
foreach(header glovebox host policy preload record relay runner status version)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/only_${header}.c
        "#include <glovebox/${header}.h>\nint main(void)\n{\n    return 0;\n}\n")
    add_test(NAME api_header_${header}_alone COMMAND ${CMAKE_C_COMPILER} -std=c99
        ${strict} ${CMAKE_CURRENT_BINARY_DIR}/only_${header}.c)
    set_tests_properties(api_header_${header}_alone PROPERTIES LABELS unit TIMEOUT 120)
endforeach()

find_program(GLOVEBOX_CXX NAMES g++ c++)
if(GLOVEBOX_CXX)
    add_test(NAME api_header_in_cxx COMMAND ${GLOVEBOX_CXX} -std=c++11
        ${strict} ${CMAKE_CURRENT_SOURCE_DIR}/api/header.cc)
    set_tests_properties(api_header_in_cxx PROPERTIES LABELS unit TIMEOUT 120)
endif()

# SPDX-License-Identifier: MIT
# The realm's tests run the engine and, as the worker, never under a sanitizer.
if(GLOVEBOX_SANITIZE)
    return()
endif()

add_library(gbx_realm_call STATIC support/realm_call.c support/stand_in.c)
target_include_directories(gbx_realm_call PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(gbx_realm_call PUBLIC gbx_realm gbx_flags PkgConfig::CMOCKA)

add_executable(test_realm unit/test_realm.c)
target_link_libraries(test_realm PRIVATE gbx_realm_call gbx_table)
foreach(group protections ordinary forms positions values timers attacks console preloads
        crypto env files web helpers)
    add_test(NAME test_realm_${group} COMMAND test_realm ${group})
    set_tests_properties(test_realm_${group} PROPERTIES LABELS unit TIMEOUT 300)
endforeach()

add_executable(test_realm_fork unit/test_realm_fork.c)
target_link_libraries(test_realm_fork PRIVATE gbx_realm_call)
gbx_test(test_realm_fork unit 300)

add_executable(test_realm_hashes unit/test_realm_hashes.c)
target_link_libraries(test_realm_hashes PRIVATE gbx_realm_call gbx_vectors)
gbx_test(test_realm_hashes unit 300)

add_executable(test_image unit/test_image.c ${CMAKE_SOURCE_DIR}/src/worker/maps.c
    ${CMAKE_SOURCE_DIR}/src/worker/hugepage_text.c
    ${CMAKE_SOURCE_DIR}/src/worker/freeze.c
    ${CMAKE_SOURCE_DIR}/src/worker/heap.c)
target_link_libraries(test_image PRIVATE gbx_realm_call)
gbx_test(test_image unit 300)

# SPDX-License-Identifier: MIT
# Assume breach: processes of the real worker program turn on their own seal.
add_library(gbx_sweep STATIC escape/sweep.c)
target_include_directories(gbx_sweep PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(gbx_sweep PUBLIC gbx_engine gbx_seal gbx_flags gbx_sanitize)

foreach(name attacks sweep)
    add_executable(test_${name} escape/test_${name}.c)
    target_link_libraries(test_${name} PRIVATE gbx_sweep gbx_attack_table
        PkgConfig::CMOCKA)
    add_dependencies(test_${name} glovebox-worker)
endforeach()
target_link_libraries(test_attacks PRIVATE gbx_scaled_timeouts gbx_support)
gbx_test(test_attacks escape 600)
gbx_test(test_attacks_as_nobody escape 600 test_attacks nobody)
set_property(TEST test_attacks test_attacks_as_nobody APPEND PROPERTY
    ENVIRONMENT GLOVEBOX_TIMEOUTS=20)
gbx_test(test_sweep escape 600)
target_compile_definitions(test_sweep
    PRIVATE SYSCALLS_MD="${PROJECT_SOURCE_DIR}/docs/internals/syscalls.md")

# The manual of system calls, from a live run.
add_executable(gen_syscalls EXCLUDE_FROM_ALL escape/gen_syscalls.c)
target_link_libraries(gen_syscalls PRIVATE gbx_sweep)
add_custom_target(docs-syscalls
    COMMAND ${CMAKE_COMMAND} -E env GLOVEBOX_WORKER=$<TARGET_FILE:glovebox-worker>
            $<TARGET_FILE:gen_syscalls> ${PROJECT_SOURCE_DIR}/docs/internals/syscalls.md
    DEPENDS gen_syscalls glovebox-worker)

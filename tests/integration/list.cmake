# SPDX-License-Identifier: MIT
gbx_integration_test(codes)
gbx_integration_test(limits)
gbx_integration_test(pool_load)
gbx_integration_test(abort)
gbx_integration_test(leases)
gbx_integration_test(relays)
target_compile_definitions(test_relays PRIVATE GBX_CORPORA="${PROJECT_SOURCE_DIR}/fuzz/corpora")
gbx_integration_test(datasets)
gbx_integration_test(large_datasets)
gbx_integration_test(preloads)
target_link_libraries(test_preloads PRIVATE gbx_scaled_timeouts)
set_property(TEST test_preloads APPEND PROPERTY ENVIRONMENT GLOVEBOX_TIMEOUTS=400)
gbx_integration_test(engine_life)
gbx_integration_test(forked)
gbx_integration_test(zygote)
gbx_integration_test(start_killed)
# Every system call is traced: no user waits for so slow a start, but a test does.
target_link_libraries(test_start_killed PRIVATE gbx_scaled_timeouts)
set_property(TEST test_start_killed APPEND PROPERTY ENVIRONMENT GLOVEBOX_TIMEOUTS=2000)
gbx_integration_test(template_memory)
gbx_integration_test(recycling)
gbx_integration_test(steps)
gbx_integration_test(files)
gbx_integration_test(live_log)
gbx_integration_test(lent)
gbx_integration_test(drive)
gbx_integration_test(time_zones)
target_link_libraries(test_time_zones PRIVATE gbx_zones)
gbx_integration_test(scarcity)
gbx_integration_test(inside)
gbx_integration_test(cgroup_kernel)
gbx_integration_test(clock_jumps)
target_link_options(test_clock_jumps PRIVATE
    -Wl,--wrap=clock_gettime,--wrap=gettimeofday,--wrap=time)

# Through the shared library, and the runner where the loader finds libraries.
if(NOT GLOVEBOX_SANITIZE)
    add_executable(test_memory_runner integration/test_memory_runner.c)
    target_link_libraries(test_memory_runner PRIVATE gbx_support glovebox gbx_base gbx_flags
        PkgConfig::CMOCKA)
    gbx_test(test_memory_runner integration 300)
    set_property(TEST test_memory_runner APPEND PROPERTY ENVIRONMENT
        "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:glovebox-runner-memory>")
    add_library(glovebox-runner-old SHARED support/old_runner.c)
    set_target_properties(glovebox-runner-old PROPERTIES SOVERSION 0
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
    target_link_libraries(glovebox-runner-old PRIVATE gbx_flags)
    add_dependencies(test_memory_runner glovebox-worker glovebox-runner-memory glovebox-runner-old)
endif()
include(integration/audit.cmake)
gbx_integration_test(host_functions)
gbx_integration_test(host_names)
gbx_integration_test(replay)
gbx_integration_test(replay_edited)
gbx_integration_test(replay_box)

gbx_integration_test(host)
target_compile_definitions(test_host
    PRIVATE HOSTILE_PROGRAM="$<TARGET_FILE:hostile-worker>")

gbx_integration_test(worker_program)
target_compile_definitions(test_worker_program
    PRIVATE LIBRARYLESS_PROGRAM="$<TARGET_FILE:librarygone>")
add_dependencies(test_worker_program librarygone)

gbx_integration_test(hostile_calls)
target_compile_definitions(test_hostile_calls
    PRIVATE GBX_CASES="${CMAKE_CURRENT_SOURCE_DIR}/escape/protocol")
gbx_integration_test(hostile_template)
gbx_integration_test(hostile_load)
gbx_integration_test(hostile_hangs)
target_link_libraries(test_hostile_hangs PRIVATE gbx_scaled_timeouts)
set_property(TEST test_hostile_hangs APPEND PROPERTY ENVIRONMENT GLOVEBOX_TIMEOUTS=10)
foreach(name code_servers code_shapes code_typed)
    gbx_integration_test(${name})
    target_sources(test_${name} PRIVATE support/script_rows.c)
    target_link_libraries(test_${name} PRIVATE gbx_mcp_code gbx_engine)
endforeach()

foreach(name codes limits abort datasets preloads files live_log lent drive host_functions
        replay replay_edited hostile_calls code_shapes)
    gbx_leased_test(${name})
endforeach()

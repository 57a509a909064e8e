# SPDX-License-Identifier: MIT
gbx_integration_test(codes)
gbx_integration_test(limits)
gbx_integration_test(pool_load)
gbx_integration_test(abort)
gbx_integration_test(datasets)
gbx_integration_test(engine_life)
gbx_integration_test(recycling)
gbx_integration_test(steps)
gbx_integration_test(live_log)
gbx_integration_test(scarcity)
gbx_integration_test(host_functions)
gbx_integration_test(host_names)

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
gbx_integration_test(hostile_hangs)
# It waits for half a minute and uses nothing: others may run beside it.
set_tests_properties(test_hostile_hangs PROPERTIES RUN_SERIAL OFF)

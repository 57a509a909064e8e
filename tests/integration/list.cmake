# SPDX-License-Identifier: MIT
gbx_integration_test(hostile_calls)
target_compile_definitions(test_hostile_calls
    PRIVATE GBX_CASES="${CMAKE_CURRENT_SOURCE_DIR}/escape/protocol")
gbx_integration_test(hostile_template)
gbx_integration_test(hostile_hangs)
# It waits for half a minute and uses nothing: others may run beside it.
set_tests_properties(test_hostile_hangs PROPERTIES RUN_SERIAL OFF)
include(integration/faults.cmake)

# SPDX-License-Identifier: MIT
# Calls on other machines. What needs a nats-server skips without one, and is not built without
# libnats.
gbx_unit_test(nats_url gbx_remote)
gbx_unit_test(blobs gbx_remote)
if(NOT NATS_FOUND)
    return()
endif()
function(gbx_nats_test name)
    add_executable(test_${name} remote/test_${name}.c)
    target_link_libraries(test_${name} PRIVATE gbx_nats_server gbx_nats gbx_hostile_net ${ARGN}
        gbx_sanitize)
    gbx_test(test_${name} nats 300)
endfunction()
gbx_nats_test(nats_bus)
gbx_nats_test(nats_service PkgConfig::JANSSON)

# With processes of the command.
function(gbx_nats_command_test name timeout)
    add_executable(test_${name} remote/test_${name}.c support/nats_runner.c ${ARGN})
    target_link_libraries(test_${name} PRIVATE gbx_support gbx_nats_server gbx_engine
        PkgConfig::JANSSON gbx_flags gbx_sanitize PkgConfig::CMOCKA)
    target_compile_definitions(test_${name} PRIVATE
        GLOVEBOX_COMMAND="$<TARGET_FILE:glovebox-command>"
        TWO_TENANTS_CONF="${PROJECT_SOURCE_DIR}/share/nats-two-tenants.conf")
    set_target_properties(test_${name} PROPERTIES
        BUILD_RPATH ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
    add_dependencies(test_${name} glovebox-command glovebox-worker glovebox-runner-nats)
    gbx_test(test_${name} nats ${timeout})
endfunction()
gbx_nats_command_test(nats_calls 600)
gbx_nats_command_test(nats_trouble 600)
gbx_nats_command_test(nats_ledger 300 support/nats_proxy.c support/nats_ledger.c)
foreach(side runner caller)
    gbx_nats_command_test(nats_hostile_${side} 300 support/nats_peer.c)
    target_link_libraries(test_nats_hostile_${side} PRIVATE gbx_nats)
    target_compile_definitions(test_nats_hostile_${side} PRIVATE
        CORPORA="${PROJECT_SOURCE_DIR}/fuzz/corpora")
endforeach()

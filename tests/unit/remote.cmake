# SPDX-License-Identifier: MIT
# What travels between machines, without any messaging system.
gbx_unit_test(remote_frames gbx_remote)
gbx_unit_test(remote_states gbx_remote)
add_library(gbx_remote_world STATIC support/fake_relay.c support/memory_bus.c support/remote_world.c)
target_link_libraries(gbx_remote_world PUBLIC gbx_remote gbx_table PkgConfig::CMOCKA)
target_link_options(gbx_remote_world INTERFACE -Wl,--wrap=gbx_clock_now_ns
    -Wl,--wrap=gbx_thread_start)
gbx_unit_test(remote_calls gbx_remote_world)
gbx_unit_test(remote_ledger gbx_remote_world)

# SPDX-License-Identifier: MIT
# Test data that several tests share.
add_library(gbx_golden STATIC unit/golden.c)
target_include_directories(gbx_golden PUBLIC unit)
target_link_libraries(gbx_golden PUBLIC gbx_wire gbx_flags gbx_sanitize)
add_library(gbx_peer STATIC unit/peer.c)
target_link_libraries(gbx_peer PUBLIC gbx_golden gbx_broker)
add_library(gbx_puppet STATIC unit/puppet.c)
target_include_directories(gbx_puppet PUBLIC unit)
target_link_libraries(gbx_puppet PUBLIC gbx_broker)

# Allocations and system calls of the library that fail when a test says so.
function(gbx_failing name)
    add_library(gbx_failing_${name} STATIC support/failing_${name}.c)
    target_include_directories(gbx_failing_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(gbx_failing_${name}
        PUBLIC gbx_flags gbx_sanitize PkgConfig::EVENT Threads::Threads)
    list(TRANSFORM ARGN PREPEND -Wl,--wrap=)
    target_link_options(gbx_failing_${name} INTERFACE ${ARGN})
endfunction()
gbx_failing(malloc malloc calloc realloc strdup asprintf __asprintf_chk)
gbx_failing(calls socketpair pipe2 _Fork mmap memfd_create eventfd open fstat readlink
    read pread write send sendmsg recv recvmsg ppoll fcntl dup2 unshare prctl syscall
    waitpid waitid getrandom clock_gettime pthread_create pthread_mutex_init
    pthread_condattr_init pthread_cond_init event_base_new event_new event_add
    event_assign)

gbx_unit_test(cleanup gbx_base)
gbx_unit_test(fail gbx_base)
gbx_unit_test(buf gbx_base)
gbx_unit_test(reader gbx_wire)
gbx_unit_test(messages gbx_golden)
gbx_unit_test(message_ranges gbx_golden)
gbx_unit_test(utf8 gbx_base)
gbx_unit_test(json gbx_base)
gbx_unit_test(json_check gbx_base)
gbx_unit_test(exchange gbx_peer)
gbx_unit_test(exchange_frames gbx_peer)
gbx_unit_test(exchange_logs gbx_peer)
gbx_unit_test(verdict gbx_broker)
gbx_unit_test(names gbx_broker)
gbx_unit_test(result gbx_broker)
gbx_unit_test(settings gbx_broker)
gbx_unit_test(call_settings gbx_broker)
gbx_unit_test(control gbx_puppet)
gbx_unit_test(pool gbx_puppet)
gbx_unit_test(nomem gbx_peer gbx_puppet gbx_failing_malloc)
gbx_unit_test(guard gbx_guard)
gbx_unit_test(guard_explain gbx_guard)
gbx_unit_test(guard_bounds gbx_guard)
gbx_unit_test(seal gbx_seal)
target_sources(test_seal PRIVATE support/bpf_eval.c)
target_include_directories(test_seal PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
include(unit/realm.cmake)

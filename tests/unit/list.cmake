# SPDX-License-Identifier: MIT
# Tests of the host's modules; under a sanitizer all of those are looked into.
set(host_modules gbx_base gbx_wire gbx_guard gbx_broker)
if(GLOVEBOX_SANITIZE)
    include(../cmake/checked.cmake)
    set(host_modules gbx_checked)
endif()
function(gbx_host_test name)
    gbx_unit_test(${name} ${ARGN} ${host_modules})
endfunction()

# What several tests share.
add_library(gbx_golden STATIC unit/golden.c)
target_include_directories(gbx_golden PUBLIC unit)
target_link_libraries(gbx_golden PUBLIC ${host_modules} gbx_flags gbx_sanitize)
add_library(gbx_peer STATIC unit/peer.c)
target_link_libraries(gbx_peer PUBLIC gbx_golden)
add_library(gbx_puppet STATIC unit/puppet.c)
target_include_directories(gbx_puppet PUBLIC unit)
target_link_libraries(gbx_puppet PUBLIC ${host_modules} gbx_sanitize)

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

gbx_host_test(cleanup)
gbx_host_test(fail)
gbx_host_test(buf)
gbx_host_test(reader)
gbx_host_test(messages gbx_golden)
gbx_host_test(message_ranges gbx_golden)
gbx_host_test(utf8)
gbx_host_test(json)
gbx_host_test(json_check)
gbx_host_test(exchange gbx_peer)
gbx_host_test(exchange_frames gbx_peer)
gbx_host_test(exchange_logs gbx_peer)
gbx_host_test(verdict)
gbx_host_test(names)
gbx_host_test(result)
gbx_host_test(settings)
gbx_host_test(call_settings)
gbx_host_test(control gbx_puppet)
gbx_host_test(pool gbx_puppet)
gbx_host_test(nomem gbx_peer gbx_puppet gbx_failing_malloc)
gbx_host_test(guard)
gbx_host_test(guard_explain)
gbx_host_test(guard_bounds)
gbx_unit_test(seal gbx_seal)
target_sources(test_seal PRIVATE support/bpf_eval.c)
target_include_directories(test_seal PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
include(unit/realm.cmake)

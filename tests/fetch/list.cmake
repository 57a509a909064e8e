# SPDX-License-Identifier: MIT
# Requests of the code: what is judged without a network, and what needs servers on
# loopback, which the tests start.
add_library(gbx_fetch_world STATIC support/fetch_world.c support/loaded_curl.c
    support/named_server.c)
target_link_libraries(gbx_fetch_world
    PUBLIC gbx_hostile_net ${host_modules} gbx_flags gbx_sanitize PRIVATE PkgConfig::CMOCKA)

function(gbx_fetch_test name)
    add_executable(test_fetch_${name} fetch/test_${name}.c)
    target_link_libraries(test_fetch_${name} PRIVATE gbx_fetch_world gbx_table PkgConfig::CMOCKA)
    gbx_test(test_fetch_${name} unit 300)
endfunction()

gbx_fetch_test(ip)
gbx_fetch_test(url)
gbx_fetch_test(allow)
gbx_fetch_test(request)
gbx_fetch_test(response)
gbx_fetch_test(redirect)
gbx_fetch_test(http)
gbx_fetch_test(hostile)
gbx_fetch_test(forgery)
gbx_fetch_test(names)
gbx_fetch_test(pins)
gbx_fetch_test(tls)
gbx_fetch_test(transport)
gbx_fetch_test(secrets)
target_link_libraries(test_fetch_secrets PRIVATE gbx_freed)
gbx_fetch_test(environment)
gbx_fetch_test(end)

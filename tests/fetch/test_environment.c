/* SPDX-License-Identifier: MIT */
/* environment - what surrounds the host's process changes no request. */
#include "fetch_world.h"
#include "http_server.h"
#include "scratch.h"

#include "base/cleanup.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(proxy__of_the_environment_is_not_used)
{
    static const char *const variables[] = {"http_proxy",  "HTTP_PROXY", "https_proxy",
                                            "HTTPS_PROXY", "all_proxy",  "ALL_PROXY",
                                            "ftp_proxy",   "socks_proxy"};
    server *proxy = server_start(NULL);
    server *wanted = server_start(NULL);
    fetch_world world;
    char value[64];
    (void)snprintf(value, sizeof value, "http://127.0.0.1:%u", server_port(proxy));
    for (size_t i = 0; i < GBX_COUNTOF(variables); i++)
        assert_int_equal(setenv(variables[i], value, 1), 0);
    assert_int_equal(setenv("no_proxy", "", 1), 0);

    world_open(&world, NULL);
    world_allow(&world, "127.0.0.1", server_port(wanted), LOOPBACK_TOO);
    expect_code(world_get(&world, "http://127.0.0.1:%u/ok", server_port(wanted)), "");

    assert_int_equal(server_connections(proxy), 0);
    assert_int_equal(server_connections(wanted), 1);
    world_close(&world);
    server_stop(wanted);
    server_stop(proxy);
    for (size_t i = 0; i < GBX_COUNTOF(variables); i++)
        assert_int_equal(unsetenv(variables[i]), 0);
}

TEST_WITH(scratch_begin, scratch_end, files__of_the_user_add_nothing)
{
    server *wanted = server_start(NULL);
    fetch_world world;
    assert_int_equal(setenv("HOME", scratch, 1), 0);
    scratch_write(".netrc", "machine 127.0.0.1 login me password secret\n"
                            "default login me password secret\n");

    world_open(&world, NULL);
    world_allow(&world, "127.0.0.1", server_port(wanted), LOOPBACK_TOO);
    expect_code(world_get(&world, "http://127.0.0.1:%u/echo", server_port(wanted)), "");

    assert_null(strstr((char *)world.result.body, "Authorization"));
    world_close(&world);
    server_stop(wanted);
}

TEST_MAIN(NULL, NULL)

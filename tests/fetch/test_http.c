/* SPDX-License-Identifier: MIT */
/* http - what a request looks like to an ordinary server, and its response to the code. */
#include "fetch_world.h"
#include "http_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    fetch_world world;
    server *server;
    uint16_t port;
} fixture;

static int set_up(void **state)
{
    static fixture f;

    f.server = server_start(NULL);
    f.port = server_port(f.server);
    world_open(&f.world, NULL);
    world_allow(&f.world, "127.0.0.1", f.port, LOOPBACK_TOO);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    world_close(&f->world);
    server_stop(f->server);
    return 0;
}

static void test_get__has_status_headers_url_and_body(void **state)
{
    fixture *f = *state;
    const fetch_result *r = world_get(&f->world, "http://127.0.0.1:%u/ok", f->port);
    char url[64];

    expect_code(r, "");
    assert_int_equal(r->body_len, 5);
    assert_memory_equal(r->body, "hello", 5);
    (void)snprintf(url, sizeof url, "\"url\":\"http://127.0.0.1:%u/ok\"", f->port);
    assert_non_null(strstr(r->json, url));
    assert_non_null(strstr(r->json, "\"status\":200,\"statusText\":\"OK\""));
    assert_non_null(strstr(r->json, "[\"x-mark\",\"one\"]"));
    assert_non_null(strstr(r->json, "\"redirected\":false"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_get__has_status_headers_url_and_body,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

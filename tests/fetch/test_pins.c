/* SPDX-License-Identifier: MIT */
/*
 * pins - the second layer alone: a transfer that was given addresses which nobody checked.
 *
 * What stands before it (the list, the check of each address) is left out here on purpose:
 * these are the tests that fail when the check at the socket is removed.
 */
#include "fetch/transfer.h"
#include "http_server.h"

#include "base/cleanup.h"

#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    gbx_libcurl lib;
    struct event_base *base;
    gbx_multi *multi;
    server *server;
    unsigned port;
    gbx_url url;
    gbx_fetch_request request;
    gbx_response response;
    gbx_fault fault;
    unsigned told;
    bool succeeded;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    if (f == NULL || gbx_libcurl_load(&f->lib, NULL) != GBX_OK)
        return -1;
    f->base = event_base_new();
    f->multi = gbx_multi_new(&f->lib, f->base);
    f->server = server_start(NULL);
    f->port = server_port(f->server);
    memcpy(f->request.method, "GET", 4);
    gbx_response_init(&f->response, 1000);
    *state = f;
    return f->multi != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    gbx_url_cleanup(&f->url);
    gbx_response_cleanup(&f->response);
    gbx_multi_free(f->multi);
    event_base_free(f->base);
    gbx_libcurl_unload(&f->lib);
    server_stop(f->server);
    free(f);
    return 0;
}

static void on_done(void *user, bool succeeded)
{
    fixture *f = user;

    f->told++;
    f->succeeded = succeeded;
}

/* One transfer for http://HOST:PORT/ok to the addresses, with what reach allows. */
static void transfer(fixture *f, const char *host, const char *const *addresses,
                     size_t count, gbx_reach reach, char *peer)
{
    gbx_ip list[8];
    gbx_fields headers = {0};
    gbx_hop hop = {.url = &f->url,
                   .request = &f->request,
                   .headers = &headers,
                   .addresses = list,
                   .address_count = count,
                   .reach = reach,
                   .stall_ms = 5000,
                   .response = &f->response,
                   .fault = &f->fault};
    gbx_transfer *t;
    char url[128];

    (void)snprintf(url, sizeof url, "http://%s:%u/ok", host, f->port);
    assert_true(gbx_url_parse(&f->lib, url, strlen(url), &f->url, &f->fault));
    for (size_t i = 0; i < count; i++)
        assert_true(gbx_ip_parse(addresses[i], &list[i]));
    t = gbx_transfer_start(f->multi, f->base, &hop, on_done, f);
    assert_non_null(t);
    while (f->told == 0)
        assert_int_equal(event_base_loop(f->base, EVLOOP_ONCE), 0);
    (void)snprintf(peer, GBX_IP_TEXT_MAX, "%s", gbx_transfer_address(t));
    gbx_transfer_free(t);
    assert_int_equal(f->told, 1);
}

static const gbx_reach loopback = {.loopback = true};
static const gbx_reach nothing = {0};

static void test_socket__to_an_address_that_is_allowed_is_opened(void **state)
{
    static const char *const addresses[] = {"127.0.0.1"};
    fixture *f = *state;
    char peer[GBX_IP_TEXT_MAX];

    transfer(f, "name.test", addresses, 1, loopback, peer);

    assert_true(f->succeeded);
    assert_string_equal(peer, "127.0.0.1");
}

static void test_socket__to_an_address_nobody_checked_is_not_opened(void **state)
{
    static const char *const addresses[] = {"127.0.0.1"};
    fixture *f = *state;
    char peer[GBX_IP_TEXT_MAX];

    transfer(f, "name.test", addresses, 1, nothing, peer);

    assert_false(f->succeeded);
    assert_int_equal(f->fault.code, GBX_FAULT_ADDRESS);
    assert_null(strstr(f->fault.message, "127.0.0.1"));
    assert_non_null(strstr(f->fault.detail, "127.0.0.1 is refused: loopback"));
    assert_int_equal(server_connections(f->server), 0);
}

/* libcurl takes the next address by itself: that one is checked as well. */
static void test_socket__to_every_next_address_is_checked(void **state)
{
    static const char *const addresses[] = {"127.0.0.2", "10.0.0.1"};
    fixture *f = *state;
    char peer[GBX_IP_TEXT_MAX];

    transfer(f, "name.test", addresses, 2, loopback, peer);

    assert_false(f->succeeded);
    assert_int_equal(f->fault.code, GBX_FAULT_ADDRESS);
    assert_string_equal(peer, "10.0.0.1");
}

static void test_socket__to_mapped_ipv4_is_not_opened(void **state)
{
    static const char *const addresses[] = {"::ffff:127.0.0.1"};
    fixture *f = *state;
    char peer[GBX_IP_TEXT_MAX];

    transfer(f, "name.test", addresses, 1, loopback, peer);

    assert_int_equal(f->fault.code, GBX_FAULT_ADDRESS);
    assert_int_equal(server_connections(f->server), 0);
}

/* The name means loopback to everybody, and libcurl knows it: it does not ask. */
static void test_name__is_not_looked_up_by_libcurl(void **state)
{
    static const char *const addresses[] = {"127.0.0.2"};
    fixture *f = *state;
    char peer[GBX_IP_TEXT_MAX];

    transfer(f, "localhost", addresses, 1, loopback, peer);

    assert_false(f->succeeded);
    assert_int_equal(f->fault.code, GBX_FAULT_CONNECT);
    assert_string_equal(peer, "127.0.0.2");
    assert_int_equal(server_connections(f->server), 0);
}

static void test_literal__is_not_connected_to_but_by_its_pin(void **state)
{
    static const char *const addresses[] = {"127.0.0.2"};
    fixture *f = *state;
    char peer[GBX_IP_TEXT_MAX];

    transfer(f, "127.0.0.1", addresses, 1, loopback, peer);

    assert_false(f->succeeded);
    assert_string_equal(peer, "127.0.0.2");
    assert_int_equal(server_connections(f->server), 0);
}

static void test_pins__of_one_transfer_are_not_another_s(void **state)
{
    static const char *const here[] = {"127.0.0.1"};
    static const char *const there[] = {"127.0.0.2"};
    fixture *f = *state;
    char peer[GBX_IP_TEXT_MAX];

    transfer(f, "name.test", here, 1, loopback, peer);
    assert_true(f->succeeded);
    gbx_url_cleanup(&f->url);
    f->told = 0;
    transfer(f, "name.test", there, 1, loopback, peer);
    assert_false(f->succeeded);
    assert_string_equal(peer, "127.0.0.2");
    assert_int_equal(server_connections(f->server), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_socket__to_an_address_that_is_allowed_is_opened),
        T(test_socket__to_an_address_nobody_checked_is_not_opened),
        T(test_socket__to_every_next_address_is_checked),
        T(test_socket__to_mapped_ipv4_is_not_opened),
        T(test_name__is_not_looked_up_by_libcurl),
        T(test_literal__is_not_connected_to_but_by_its_pin),
        T(test_pins__of_one_transfer_are_not_another_s),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * pins - the second layer alone: a transfer that was given addresses which nobody checked.
 *
 * What stands before it (the list, the check of each address) is left out here on purpose:
 * these are the tests that fail when the check at the socket is removed.
 */
#include "fetch/internal.h"
#include "http_server.h"

#include "base/cleanup.h"
#include "test.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    CURLcode result;
} fixture;

static fixture its;
static fixture *const f = &its;

static int set_up(void **state)
{
    *f = (fixture){0};
    if (gbx_libcurl_load(&f->lib, NULL) != GBX_OK)
        return -1;
    f->base = event_base_new();
    f->multi = gbx_multi_new(&f->lib, f->base, 0);
    f->server = server_start(NULL);
    f->port = server_port(f->server);
    memcpy(f->request.method, "GET", 4);
    gbx_response_init(&f->response, 1000);
    return f->multi != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    gbx_url_cleanup(&f->url);
    gbx_response_cleanup(&f->response);
    gbx_multi_free(f->multi);
    event_base_free(f->base);
    gbx_libcurl_unload(&f->lib);
    server_stop(f->server);
    return 0;
}

static void on_done(void *user, bool succeeded)
{
    f->told++;
    f->succeeded = succeeded;
}

/* One transfer for http://HOST:PORT/ok to the addresses, with what reach allows. */
static void transfer(const char *host, const char *const *addresses, size_t count,
                     gbx_reach reach, char *peer)
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

TEST(socket__to_an_address_that_is_allowed_is_opened)
{
    static const char *const addresses[] = {"127.0.0.1"};
    char peer[GBX_IP_TEXT_MAX];

    transfer("name.test", addresses, 1, loopback, peer);

    assert_true(f->succeeded);
    assert_string_equal(peer, "127.0.0.1");
}

TEST(socket__to_an_address_nobody_checked_is_not_opened)
{
    static const char *const addresses[] = {"127.0.0.1"};
    char peer[GBX_IP_TEXT_MAX];

    transfer("name.test", addresses, 1, nothing, peer);

    assert_false(f->succeeded);
    assert_int_equal(f->fault.code, GBX_FAULT_ADDRESS);
    assert_null(strstr(f->fault.message, "127.0.0.1"));
    assert_non_null(strstr(f->fault.detail, "127.0.0.1 is refused: loopback"));
    assert_int_equal(server_connections(f->server), 0);
}

/* libcurl takes the next address by itself: that one is checked as well. */
TEST(socket__to_every_next_address_is_checked)
{
    static const char *const addresses[] = {"127.0.0.2", "10.0.0.1"};
    char peer[GBX_IP_TEXT_MAX];

    transfer("name.test", addresses, 2, loopback, peer);

    assert_false(f->succeeded);
    assert_int_equal(f->fault.code, GBX_FAULT_ADDRESS);
    assert_string_equal(peer, "10.0.0.1");
}

TEST(socket__to_mapped_ipv4_is_not_opened)
{
    static const char *const addresses[] = {"::ffff:127.0.0.1"};
    char peer[GBX_IP_TEXT_MAX];

    transfer("name.test", addresses, 1, loopback, peer);

    assert_int_equal(f->fault.code, GBX_FAULT_ADDRESS);
    assert_int_equal(server_connections(f->server), 0);
}

/* The name means loopback to everybody, and libcurl knows it: it does not ask. */
TEST(name__is_not_looked_up_by_libcurl)
{
    static const char *const addresses[] = {"127.0.0.2"};
    char peer[GBX_IP_TEXT_MAX];

    transfer("localhost", addresses, 1, loopback, peer);

    assert_false(f->succeeded);
    assert_int_equal(f->fault.code, GBX_FAULT_CONNECT);
    assert_string_equal(peer, "127.0.0.2");
    assert_int_equal(server_connections(f->server), 0);
}

TEST(literal__is_not_connected_to_but_by_its_pin)
{
    static const char *const addresses[] = {"127.0.0.2"};
    char peer[GBX_IP_TEXT_MAX];

    transfer("127.0.0.1", addresses, 1, loopback, peer);

    assert_false(f->succeeded);
    assert_string_equal(peer, "127.0.0.2");
    assert_int_equal(server_connections(f->server), 0);
}

TEST(pins__of_one_transfer_are_not_another_s)
{
    static const char *const here[] = {"127.0.0.1"};
    static const char *const there[] = {"127.0.0.2"};
    char peer[GBX_IP_TEXT_MAX];

    transfer("name.test", here, 1, loopback, peer);
    assert_true(f->succeeded);
    gbx_url_cleanup(&f->url);
    f->told = 0;
    transfer("name.test", there, 1, loopback, peer);
    assert_false(f->succeeded);
    assert_string_equal(peer, "127.0.0.2");
    assert_int_equal(server_connections(f->server), 1);
}

/* What may be opened, with 127.0.0.1 and ::1 checked, and loopback allowed. */
static const struct {
    const char *address;
    int port_off;
    const char *refusal; /* NULL: none */
} sockets[] = {
    {"127.0.0.1", 0, NULL},
    {"::1", 0, NULL},
    {"127.0.0.1", 1, "not the port of the URL"},
    {"::1", -1, "not the port of the URL"},
    {"127.0.0.2", 0, "not what was checked"},
    {"93.184.215.14", 0, "not what was checked"},
    {"::ffff:127.0.0.1", 0, "IPv4 in IPv6 (mapped)"},
    {"10.0.0.1", 0, "private"},
    {"169.254.169.254", 0, "link-local"},
};

TEST(socket__is_what_was_checked_and_has_the_port)
{
    gbx_ip list[2];
    gbx_hop hop = {.url = &f->url, .addresses = list, .address_count = 2};

    hop.reach = loopback;
    assert_true(gbx_url_parse(&f->lib, "http://h.test:8080/", 19, &f->url, &f->fault));
    assert_true(gbx_ip_parse("127.0.0.1", &list[0]) && gbx_ip_parse("::1", &list[1]));
    for (size_t i = 0; i < GBX_COUNTOF(sockets); i++) {
        uint16_t port = htons((uint16_t)(8080 + sockets[i].port_off));
        struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = port};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = port};
        bool is_v4 = inet_pton(AF_INET, sockets[i].address, &v4.sin_addr) == 1;
        char text[GBX_IP_TEXT_MAX];
        const char *refusal;

        (void)inet_pton(AF_INET6, sockets[i].address, &v6.sin6_addr);
        refusal =
            gbx_socket_refusal(&hop,
                               is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6,
                               is_v4 ? sizeof v4 : sizeof v6, text);
        assert_string_equal(refusal != NULL ? refusal : "",
                            sockets[i].refusal != NULL ? sockets[i].refusal : "");
        assert_string_equal(text, sockets[i].address);
    }
}

/* libcurl as it is set up for "localhost", pinned to 127.0.0.2, less one option; what it
 * then makes of it, without the check at the socket. */
static void on_result(void *user, CURLcode result)
{
    f->told++;
    f->result = result;
}

static void run_without(CURLoption option)
{
    gbx_multi_entry entry = {.done = on_result, .user = f};
    gbx_fields headers = {0};
    gbx_ip pinned;
    gbx_hop hop = {.url = &f->url,
                   .request = &f->request,
                   .headers = &headers,
                   .addresses = &pinned,
                   .address_count = 1};
    gbx_easy easy;
    char url[128];

    (void)snprintf(url, sizeof url, "http://localhost:%u/ok", f->port);
    assert_true(gbx_url_parse(&f->lib, url, strlen(url), &f->url, &f->fault));
    assert_true(gbx_ip_parse("127.0.0.2", &pinned));
    assert_true(gbx_easy_init(&easy, &hop));
    assert_int_equal(f->lib.curl_easy_setopt(easy.curl, option, NULL), CURLE_OK);
    assert_true(gbx_multi_add(f->multi, easy.curl, &entry));
    while (f->told == 0)
        assert_int_equal(event_base_loop(f->base, EVLOOP_ONCE), 0);
    gbx_easy_cleanup(&easy);
    assert_int_equal(server_connections(f->server), 0);
}

TEST(libcurl__resolves_nothing_even_without_pins)
{
    run_without(CURLOPT_RESOLVE);
    assert_int_equal(f->result, CURLE_COULDNT_RESOLVE_HOST);
}

TEST(libcurl__keeps_to_its_pins_even_if_it_may_resolve)
{
    run_without(CURLOPT_RESOLVER_START_FUNCTION);
    assert_int_equal(f->result, CURLE_COULDNT_CONNECT);
}

TEST_MAIN_EACH(set_up, tear_down)

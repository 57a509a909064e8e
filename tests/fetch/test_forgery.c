/* SPDX-License-Identifier: MIT */
/*
 * forgery - from the code's request to the socket: what must not be reached is not.
 *
 * A server on loopback, the victim, stands for everything inside. No case may connect to
 * it; each is refused with the code beside it, and the code in the box learns no address.
 */
#include "dns_server.h"
#include "fetch_world.h"
#include "http_server.h"
#include "table.h"

#include "base/cleanup.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE   "fetch/forgery.txt"
#define ADDRESS "ERR_FETCH_ADDRESS"

typedef struct fixture {
    fetch_world world;
    server *victim;
    server *start; /* "start.test" leads there, and may */
    dns_server *dns;
    unsigned port;
    gbx_site *inside;
} fixture;

static fixture its;
static fixture *const f = &its;

static int set_up(void **state)
{
    static dns_name served[100];
    const table_line *names;
    size_t count = table_lines(TABLE, "names", false, &names);

    *f = (fixture){0};
    if (count >= GBX_COUNTOF(served))
        return -1;
    for (size_t i = 0; i < count; i++)
        served[i] = (dns_name){names[i].cell[0], names[i].cell[1]};
    served[count] = (dns_name){"start.test", "127.0.0.1"};
    f->dns = dns_server_start(served, count + 1);
    f->victim = server_start(NULL);
    f->start = server_start(NULL);
    f->port = server_port(f->victim);
    world_open(&f->world, NULL);
    world_nameserver(&f->world, dns_server_address(f->dns));
    world_allow(&f->world, "start.test", server_port(f->start), LOOPBACK_TOO);
    world_allow(&f->world, "linklisted.test", (uint16_t)f->port, PUBLIC_ONLY);
    world_allow(&f->world, "169.254.169.254", 0, LOOPBACK_TOO);
    world_allow(&f->world, "fd00:ec2::254", 0, LOOPBACK_TOO);
    world_allow(&f->world, "fe80::1", 0, LOOPBACK_TOO);
    world_allow(&f->world, "127.0.0.9", (uint16_t)f->port, PUBLIC_ONLY);
    f->inside = &f->world.sites[f->world.policy.fetch.site_count];
    world_allow(&f->world, "inside.test", 0, PUBLIC_ONLY);
    f->inside->below = true;
    f->inside->any_port = true;
    return 0;
}

static int tear_down(void **state)
{
    world_close(&f->world);
    server_stop(f->start);
    server_stop(f->victim);
    dns_server_stop(f->dns);
    return 0;
}

/* The code is told how to repair the request, never what is inside. */
static void expect_refusal(const char *what, const char *code)
{
    const fetch_result *r = &f->world.result;

    if (strcmp(r->code, code) != 0)
        fail_msg("%s: code '%s', not '%s': %s (%s)", what, r->code, code, r->message,
                 r->report_detail);
    if (server_connections(f->victim) != 0)
        fail_msg("%s: the victim was connected to", what);
    if (strcmp(code, ADDRESS) == 0 && strstr(r->message, r->report_address) != NULL &&
        strstr(what, r->report_address) == NULL)
        fail_msg("%s: the message tells the address: %s", what, r->message);
    assert_string_equal(r->name, "TypeError");
}

/* With the victim's port in place of "%u". */
static void with_port(const char *text, char *to, size_t size)
{
    const char *at = strstr(text, "%u");

    assert_non_null(at);
    (void)snprintf(to, size, "%.*s%u%s", (int)(at - text), text, f->port, at + 2);
}

TEST(name__that_leads_inside_is_refused)
{
    const table_line *names;
    size_t count = table_lines(TABLE, "names", false, &names);

    for (size_t i = 0; i < count; i++) {
        (void)world_get(&f->world, "http://%s:%u/", names[i].cell[0], f->port);
        expect_refusal(names[i].cell[0], names[i].cell[2]);
        if (strcmp(names[i].cell[2], ADDRESS) == 0)
            assert_true(strlen(f->world.result.report_address) > 1);
    }
    assert_true(count >= 60);
}

TEST(url__that_leads_inside_is_refused)
{
    const table_line *urls;
    size_t count = table_lines(TABLE, "urls", false, &urls);
    char url[256];

    for (size_t i = 0; i < count; i++) {
        with_port(urls[i].cell[0], url, sizeof url);
        (void)world_get(&f->world, "%s", url);
        expect_refusal(url, urls[i].cell[1]);
    }
    assert_true(count >= 70);
}

TEST(redirect__that_leads_inside_is_refused)
{
    static const unsigned statuses[] = {301, 302, 303, 307, 308};
    const table_line *redirects;
    size_t count = table_lines(TABLE, "redirects", false, &redirects);
    char location[256];

    for (size_t i = 0; i < count; i++) {
        with_port(redirects[i].cell[0], location, sizeof location);
        (void)world_get(&f->world, "http://start.test:%u/to/%u/%s",
                        server_port(f->start), statuses[i % GBX_COUNTOF(statuses)],
                        location);
        expect_refusal(location, redirects[i].cell[1]);
        assert_true(f->world.result.report_hops >= 1);
    }
    assert_int_equal(server_connections(f->start), count);
    assert_true(count >= 30);
}

TEST_MAIN_EACH(set_up, tear_down)

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

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DNS "ERR_FETCH_DNS"
#define ADR "ERR_FETCH_ADDRESS"
#define NOT "ERR_FETCH_NOT_ALLOWED"
#define URL "ERR_FETCH_URL"
#define RED "ERR_FETCH_REDIRECT"

/* Names below "inside.test", which the list allows on any port, and where they lead. */
static const dns_name names[] = {
    {"loop.inside.test", "127.0.0.1"},
    {"loop2.inside.test", "127.255.255.254"},
    {"zero.inside.test", "0.0.0.0"},
    {"zero8.inside.test", "0.1.2.3"},
    {"ten.inside.test", "10.0.0.1"},
    {"ten2.inside.test", "10.255.255.255"},
    {"b.inside.test", "172.16.0.1"},
    {"b2.inside.test", "172.31.255.255"},
    {"c.inside.test", "192.168.0.1"},
    {"c2.inside.test", "192.168.255.255"},
    {"metadata.inside.test", "169.254.169.254"},
    {"ecs.inside.test", "169.254.170.2"},
    {"alibaba.inside.test", "100.100.100.200"},
    {"azure.inside.test", "168.63.129.16"},
    {"oracle.inside.test", "192.0.0.192"},
    {"cgnat.inside.test", "100.64.0.1"},
    {"linklocal.inside.test", "169.254.0.1"},
    {"ietf.inside.test", "192.0.0.1"},
    {"testnet1.inside.test", "192.0.2.1"},
    {"testnet2.inside.test", "198.51.100.1"},
    {"testnet3.inside.test", "203.0.113.1"},
    {"benchmark.inside.test", "198.18.0.1"},
    {"relay.inside.test", "192.88.99.1"},
    {"multicast.inside.test", "224.0.0.1"},
    {"ssdp.inside.test", "239.255.255.250"},
    {"reserved.inside.test", "240.0.0.1"},
    {"broadcast.inside.test", "255.255.255.255"},
    {"loop6.inside.test", "::1"},
    {"zero6.inside.test", "::"},
    {"mapped.inside.test", "::ffff:127.0.0.1"},
    {"mapped10.inside.test", "::ffff:10.0.0.1"},
    {"mappedpublic.inside.test", "::ffff:93.184.215.14"},
    {"compatible.inside.test", "::127.0.0.1"},
    {"translated.inside.test", "::ffff:0:127.0.0.1"},
    {"nat64.inside.test", "64:ff9b::7f00:1"},
    {"nat64public.inside.test", "64:ff9b::5db8:d70e"},
    {"nat64local.inside.test", "64:ff9b:1::7f00:1"},
    {"sixtofour.inside.test", "2002:7f00:1::"},
    {"teredo.inside.test", "2001:0:7f00:1::"},
    {"orchid.inside.test", "2001:20::1"},
    {"documentation6.inside.test", "2001:db8::1"},
    {"documentation20.inside.test", "3fff::1"},
    {"ula.inside.test", "fc00::1"},
    {"ula2.inside.test", "fd12:3456::1"},
    {"aws6.inside.test", "fd00:ec2::254"},
    {"google6.inside.test", "fd20:ce::254"},
    {"link6.inside.test", "fe80::1"},
    {"site6.inside.test", "fec0::1"},
    {"multi6.inside.test", "ff02::1"},
    {"discard.inside.test", "100::1"},
    {"srv6.inside.test", "5f00::1"},
    {"mixed.inside.test", "93.184.215.14 127.0.0.1"},
    {"mixed6.inside.test", "93.184.215.14 ::1"},
    {"mixedlast.inside.test", "93.184.215.14 93.184.215.15 93.184.215.16 10.0.0.1"},
    {"cname.inside.test", "cname 127.0.0.1"},
    {"cname6.inside.test", "cname ::1"},
    {"empty.inside.test", ""},
    {"gone.inside.test", "nx"},
    {"broken.inside.test", "fail"},
    {"cut.inside.test", "trunc 127.0.0.1"},
    {"circle.inside.test", "loop"},
    {"short.inside.test", "short 127.0.0.1"},
    /* what the list does not have */
    {"elsewhere.test", "127.0.0.1"},
    {"inside.test", "127.0.0.1"},
    {"evil-inside.test", "127.0.0.1"},
};

/* The code that a name of the table gives; the rest are ADR. */
static const char *code_of(const dns_name *name)
{
    static const char *const unresolved[] = {"",     "nx",
                                             "fail", "trunc 127.0.0.1",
                                             "loop", "short 127.0.0.1"};

    if (strstr(name->name, ".inside.test") == NULL)
        return NOT;
    for (size_t i = 0; i < GBX_COUNTOF(unresolved); i++)
        if (strcmp(name->answers, unresolved[i]) == 0)
            return DNS;
    return ADR;
}

/* %u is the victim's port. */
static const struct {
    const char *url;
    const char *code;
} urls[] = {
    {"http://127.0.0.1:%u/", NOT},
    {"http://127.1:%u/", URL},
    {"http://127.0.1:%u/", URL},
    {"http://2130706433:%u/", URL},
    {"http://0x7f000001:%u/", URL},
    {"http://0x7f.0.0.1:%u/", URL},
    {"http://0177.0.0.1:%u/", URL},
    {"http://017700000001:%u/", URL},
    {"http://127.0.0.1.:%u/", URL},
    {"http://0:%u/", URL},
    {"http://0.0.0.0:%u/", NOT},
    {"http://localhost:%u/", NOT},
    {"http://LOCALHOST:%u/", NOT},
    {"http://localhost.:%u/", URL},
    {"http://localhost.localdomain:%u/", NOT},
    {"http://x.localhost:%u/", NOT},
    {"http://ip6-localhost:%u/", NOT},
    {"http://[::1]:%u/", NOT},
    {"http://[0:0:0:0:0:0:0:1]:%u/", NOT},
    {"http://[::]:%u/", NOT},
    {"http://[::ffff:127.0.0.1]:%u/", NOT},
    {"http://[::ffff:7f00:1]:%u/", NOT},
    {"http://[::127.0.0.1]:%u/", NOT},
    {"http://[64:ff9b::7f00:1]:%u/", NOT},
    {"http://[2002:7f00:1::]:%u/", NOT},
    {"http://[fe80::1%%25lo]:%u/", URL},
    {"http://[loop.inside.test]:%u/", URL},
    {"http://a.inside.test@127.0.0.1:%u/", URL},
    {"http://127.0.0.1:%u@a.inside.test/", URL},
    {"http://a.inside.test:80@127.0.0.1:%u/", URL},
    {"http://127.0.0.1:%u#@a.inside.test/", NOT},
    {"http://127.0.0.1:%u?@a.inside.test/", NOT},
    {"http://127.0.0.1:%u/a.inside.test", NOT},
    {"http://127.0.0.1:%u\\\\@a.inside.test/", URL},
    {"http://a.inside.test\\\\@127.0.0.1:%u/", URL},
    {"http:127.0.0.1:%u/", URL},
    {"http:/127.0.0.1:%u/", URL},
    {"http:///127.0.0.1:%u/", URL},
    {"//127.0.0.1:%u/", URL},
    {"127.0.0.1:%u", URL},
    {"\\thttp://127.0.0.1:%u/", URL},
    {"http://127.0.0.1\\t:%u/", URL},
    {"http://127.0.0.1\\r\\n:%u/", URL},
    {"http://127.0.0.1%%09:%u/", URL},
    {"http://127%%2e0%%2e0%%2e1:%u/", URL},
    {"http://127\\u30020\\u30020\\u30021:%u/", URL},
    {"http://127\\uff0e0\\uff0e0\\uff0e1:%u/", URL},
    {"http://\\u2460\\u2461\\u2466.0.0.1:%u/", URL},
    {"http://\\uff11\\uff12\\uff17.0.0.1:%u/", URL},
    {"http://\\u24db\\u24de\\u24db.inside.test:%u/", URL},
    {"http://loop.inside.test:%u.evil.test/", URL},
    {"http://loop.inside.test.:%u/", URL},
    {"http://inside.test:%u/", NOT},
    {"http://evil-inside.test:%u/", NOT},
    {"http://xinside.test:%u/", NOT},
    {"http://a.inside.test.evil.test:%u/", NOT},
    {"gopher://loop.inside.test:%u/_x", URL},
    {"file://127.0.0.1:%u/etc/passwd", URL},
    {"ftp://loop.inside.test:%u/", URL},
    {"dict://loop.inside.test:%u/", URL},
    {"http+unix://loop.inside.test:%u/", URL},
    {"http://linklisted.test:%u/", DNS},
    {"http://169.254.169.254/latest/meta-data/%u", ADR}, /* listed, and yet */
    {"http://[fd00:ec2::254]/latest/%u", ADR},
    {"http://[fe80::1]/%u", ADR},
    {"http://127.0.0.9:%u/", ADR}, /* listed without loopback's permission */
    {"http://a.inside.test:22/%u", NOT},
    {"http://a.inside.test:25/%u", NOT},
    {"http://a.inside.test:6000/%u", NOT},
    {"http://a.inside.test:0/%u", URL},
    {"http://a.inside.test:65536/%u", URL},
    {"http://a.inside.test:080/%u", URL},
};

/* Where an allowed server sends the code; %u is the victim's port. */
static const struct {
    const char *location;
    const char *code;
} redirects[] = {
    {"http://127.0.0.1:%u/", NOT},
    {"http://localhost:%u/", NOT},
    {"http://[::1]:%u/", NOT},
    {"http://[::ffff:127.0.0.1]:%u/", NOT},
    {"http://loop.inside.test:%u/", ADR},
    {"http://ten.inside.test:%u/", ADR},
    {"http://metadata.inside.test:%u/", ADR},
    {"http://mapped.inside.test:%u/", ADR},
    {"http://mixed.inside.test:%u/", ADR},
    {"http://gone.inside.test:%u/", DNS},
    {"http://elsewhere.test:%u/", NOT},
    {"http://169.254.169.254/latest/meta-data/%u", ADR},
    {"//loop.inside.test:%u/", ADR},
    {"//127.0.0.1:%u/", NOT},
    {"https://start.test:%u/", NOT},
    {"http://start.test:%u/", NOT},
    {"http://2130706433:%u/", RED},
    {"http://0x7f.1:%u/", RED},
    {"http:127.0.0.1:%u/", RED},
    {"http:///127.0.0.1:%u/", RED},
    {"///127.0.0.1:%u/", RED},
    {"%%5C%%5C127.0.0.1:%u/", RED},
    {"http://start.test@127.0.0.1:%u/", RED},
    {"http://127.0.0.1:%u%%23@start.test/", NOT},
    {"file:///etc/passwd?%u", RED},
    {"gopher://127.0.0.1:%u/_GET", RED},
    {"ftp://127.0.0.1:%u/", RED},
    {"dict://127.0.0.1:%u/", RED},
    {"data:text/plain,%u", RED},
    {"javascript:%u", RED},
    {"http://loop.inside.test:22/%u", NOT},
    {"http://a.inside.test:%u:80/", RED},
};

typedef struct fixture {
    fetch_world world;
    server *victim;
    server *start; /* "start.test" leads there, and may */
    dns_server *dns;
    unsigned port;
    gbx_site *inside;
} fixture;

static int set_up(void **state)
{
    static dns_name served[GBX_COUNTOF(names) + 1];
    fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return -1;
    memcpy(served, names, sizeof names);
    served[GBX_COUNTOF(names)] = (dns_name){"start.test", "127.0.0.1"};
    f->dns = dns_server_start(served, GBX_COUNTOF(served));
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
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    world_close(&f->world);
    server_stop(f->start);
    server_stop(f->victim);
    dns_server_stop(f->dns);
    free(f);
    return 0;
}

/* The code is told how to repair the request, never what is inside. */
static void expect_refusal(fixture *f, const char *what, const char *code)
{
    const fetch_result *r = &f->world.result;

    if (strcmp(r->code, code) != 0)
        fail_msg("%s: code '%s', not '%s': %s (%s)", what, r->code, code, r->message,
                 r->report_detail);
    if (server_connections(f->victim) != 0)
        fail_msg("%s: the victim was connected to", what);
    if (strcmp(code, ADR) == 0 && strstr(r->message, r->report_address) != NULL &&
        strstr(what, r->report_address) == NULL)
        fail_msg("%s: the message tells the address: %s", what, r->message);
    assert_string_equal(r->name, "TypeError");
}

static void test_name__that_leads_inside_is_refused(void **state)
{
    fixture *f = *state;

    for (size_t i = 0; i < GBX_COUNTOF(names); i++) {
        (void)world_get(&f->world, "http://%s:%u/", names[i].name, f->port);
        expect_refusal(f, names[i].name, code_of(&names[i]));
        if (strcmp(code_of(&names[i]), ADR) == 0)
            assert_true(strlen(f->world.result.report_address) > 1);
    }
}

static void test_url__that_leads_inside_is_refused(void **state)
{
    fixture *f = *state;

    for (size_t i = 0; i < GBX_COUNTOF(urls); i++) {
        char url[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(url, sizeof url, urls[i].url, f->port);
#pragma GCC diagnostic pop
        (void)world_get(&f->world, "%s", url);
        expect_refusal(f, url, urls[i].code);
    }
}

static void test_redirect__that_leads_inside_is_refused(void **state)
{
    static const unsigned statuses[] = {301, 302, 303, 307, 308};
    fixture *f = *state;

    for (size_t i = 0; i < GBX_COUNTOF(redirects); i++) {
        char location[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(location, sizeof location, redirects[i].location, f->port);
#pragma GCC diagnostic pop
        (void)world_get(&f->world, "http://start.test:%u/to/%u/%s",
                        server_port(f->start), statuses[i % GBX_COUNTOF(statuses)],
                        location);
        expect_refusal(f, location, redirects[i].code);
        assert_true(f->world.result.report_hops >= 1);
    }
    assert_int_equal(server_connections(f->start), GBX_COUNTOF(redirects));
}

static void test_cases__are_as_many_as_were_promised(void **state)
{
    (void)state;
    assert_true(GBX_COUNTOF(names) + GBX_COUNTOF(urls) + GBX_COUNTOF(redirects) >= 120);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_name__that_leads_inside_is_refused),
        T(test_url__that_leads_inside_is_refused),
        T(test_redirect__that_leads_inside_is_refused),
        cmocka_unit_test(test_cases__are_as_many_as_were_promised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* names - a name is resolved once for a hop, by whom the policy says, and then kept to. */
#include "dns_server.h"
#include "fetch_world.h"
#include "http_server.h"

#include "base/cleanup.h"
#include "test.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const dns_name names[] = {
    {"plain.test", "127.0.0.1"},
    {"rebind.test", "127.0.0.1 | 10.0.0.1"},
    {"rebind-back.test", "10.0.0.1 | 127.0.0.1"},
    {"mixed.test", "127.0.0.1 10.0.0.1"},
    {"mixed-late.test", "127.0.0.1 127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.5 127.0.0.6 "
                        "127.0.0.7 127.0.0.8 127.0.0.9 127.0.0.10 127.0.0.11 "
                        "169.254.169.254"},
    {"mapped.test", "127.0.0.1 ::ffff:127.0.0.1"},
    {"second.test", "127.0.0.2 127.0.0.1"},
    {"chain.test", "cname 127.0.0.1"},
    {"silent.test", "silent"},
    {"garbage.test", "garbage"},
    {"other-id.test", "wrong-id 127.0.0.1"},
    {"lie.test", "lie 127.0.0.1"},
    {"intranet.corp.test", "127.0.0.1"},
    {"localhost", "10.0.0.1"},
    {"hosts.test", "10.0.0.1"},
    {"www.localhost", "10.0.0.1"},
};

typedef struct fixture {
    fetch_world world;
    server *server;
    dns_server *dns;
    unsigned port;
    char hosts[64];
    char resolv[64];
} fixture;

static fixture its;
static fixture *const f = &its;

static void write_file(char *path, const char *text)
{
    FILE *file;
    int fd;

    (void)strcpy(path, "/tmp/gbx-names-XXXXXX");
    fd = mkstemp(path);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    gbx_fetcher_options options = {0};
    char resolv[128];

    *f = (fixture){0};
    f->dns = dns_server_start(names, GBX_COUNTOF(names));
    f->server = server_start(NULL);
    f->port = server_port(f->server);
    write_file(f->hosts, "# a table\n127.0.0.1 Hosts.Test other # hosts2.test\n"
                         "10.1.1.1 inside.test\n127.0.0.1\nnonsense hosts.test\n"
                         "fe80::1%lo scoped.test\n::1 two.test\n127.0.0.1 two.test\n");
    (void)
        snprintf(resolv, sizeof resolv,
                 "search corp.test\ndomain corp.test\nnameserver %s\noptions ndots:5\n",
                 dns_server_address(f->dns));
    write_file(f->resolv, resolv);
    options.hosts_path = f->hosts;
    options.resolv_path = f->resolv;
    world_open(&f->world, &options);
    world_nameserver(&f->world, dns_server_address(f->dns));
    return 0;
}

static int tear_down(void **state)
{
    world_close(&f->world);
    server_stop(f->server);
    dns_server_stop(f->dns);
    (void)unlink(f->hosts);
    (void)unlink(f->resolv);
    return 0;
}

static const fetch_result *get(const char *name, const char *path)
{
    world_allow(&f->world, name, (uint16_t)f->port, LOOPBACK_TOO);
    return world_get(&f->world, "http://%s:%u%s", name, f->port, path);
}

TEST(name__is_asked_for_once_in_each_family)
{
    expect_code(get("plain.test", "/ok"), "");
    assert_int_equal(dns_server_questions(f->dns, NULL, 'A'), 1);
    assert_int_equal(dns_server_questions(f->dns, NULL, '6'), 1);
    assert_string_equal(f->world.result.report_address, "127.0.0.1");
}

/* What is connected to is what was checked, not what the name means a moment later. */
TEST(rebinding__after_the_check_changes_nothing)
{
    expect_code(get("rebind.test", "/ok"), "");
    assert_int_equal(dns_server_questions(f->dns, "rebind.test", 'A'), 1);
    assert_int_equal(server_connections(f->server), 1);
}

TEST(rebinding__between_hops_is_checked_again)
{
    expect_code(get("rebind.test", "/to/302/%2fok"), "ERR_FETCH_ADDRESS");
    assert_int_equal(dns_server_questions(f->dns, "rebind.test", 'A'), 2);
    assert_int_equal(server_connections(f->server), 1);
    assert_string_equal(f->world.result.report_address, "10.0.0.1");
}

TEST(rebinding__to_something_allowed_is_not_waited_for)
{
    expect_code(get("rebind-back.test", "/ok"), "ERR_FETCH_ADDRESS");
    assert_int_equal(dns_server_questions(f->dns, NULL, 'A'), 1);
    assert_int_equal(server_connections(f->server), 0);
}

/* The check before the connection: without it the allowed address would be connected to,
 * and the other one in its place whenever that fails. */
TEST(addresses__are_all_checked_before_one_is_used)
{
    static const char *const mixed[] = {"mixed.test", "mixed-late.test", "mapped.test"};

    for (size_t i = 0; i < GBX_COUNTOF(mixed); i++) {
        expect_code(get(mixed[i], "/ok"), "ERR_FETCH_ADDRESS");
        assert_int_equal(server_connections(f->server), 0);
        assert_null(strstr(f->world.result.message, f->world.result.report_address));
        assert_non_null(
            strstr(f->world.result.report_detail, f->world.result.report_address));
    }
}

TEST(address__that_does_not_answer_gives_way_to_the_next)
{
    expect_code(get("second.test", "/ok"), "");
    assert_string_equal(f->world.result.report_address, "127.0.0.1");
}

TEST(chain__of_names_ends_at_an_address)
{
    expect_code(get("chain.test", "/ok"), "");
    assert_int_equal(dns_server_questions(f->dns, NULL, 'A'), 1);
}

TEST(server__that_answers_nothing_usable_ends_in_time)
{
    static const char *const useless[] = {"silent.test", "garbage.test",
                                          "other-id.test"};

    f->world.policy.fetch.timeout_ms = 300;
    for (size_t i = 0; i < GBX_COUNTOF(useless); i++)
        assert_true(get(useless[i], "/ok")->is_error);
    assert_int_equal(server_connections(f->server), 0);
}

TEST(answer__about_another_name_is_none)
{
    f->world.policy.fetch.timeout_ms = 300;
    (void)get("lie.test", "/ok");
    assert_true(f->world.result.is_error);
    assert_int_equal(server_connections(f->server), 0);
}

TEST(name__of_one_word_is_not_completed)
{
    f->world.policy.fetch.nameserver_count = 0; /* resolv.conf, with its search list */
    expect_code(get("plain.test", "/ok"), "");
    expect_code(get("intranet", "/ok"), "ERR_FETCH_DNS");
    assert_int_equal(dns_server_questions(f->dns, "intranet.corp.test", 'A'), 0);
}

TEST(system__server_is_followed_when_it_changes)
{
    char moved[64];

    f->world.policy.fetch.nameserver_count = 0;
    expect_code(get("plain.test", "/ok"), "");
    write_file(moved, "# nobody\n");
    assert_int_equal(rename(moved, f->resolv), 0);
    f->world.policy.fetch.timeout_ms = 300;
    (void)get("plain.test", "/ok");
    assert_true(f->world.result.is_error);
    assert_int_equal(dns_server_questions(f->dns, "plain.test", 'A'), 1);
}

TEST(policy__with_other_servers_asks_those)
{
    static const dns_name other_names[] = {{"plain.test", "10.9.9.9"}};
    dns_server *other = dns_server_start(other_names, 1);

    expect_code(get("plain.test", "/ok"), "");
    world_nameserver(&f->world, dns_server_address(other));
    expect_code(get("plain.test", "/ok"), "ERR_FETCH_ADDRESS");
    assert_int_equal(dns_server_questions(f->dns, NULL, 'A'), 1);
    assert_int_equal(dns_server_questions(other, NULL, 'A'), 1);
    world_nameserver(&f->world, dns_server_address(f->dns));
    expect_code(get("plain.test", "/ok"), "");
    dns_server_stop(other);
}

TEST(table__of_the_host_comes_first_and_is_checked_too)
{
    expect_code(get("hosts.test", "/ok"), "");
    expect_code(get("two.test", "/ok"), "");
    expect_code(get("inside.test", "/ok"), "ERR_FETCH_ADDRESS");
    assert_int_equal(dns_server_questions(f->dns, NULL, 'A'), 0);
    expect_code(get("hosts2.test", "/ok"), "ERR_FETCH_DNS");
    expect_code(get("scoped.test", "/ok"), "ERR_FETCH_DNS");
}

TEST(localhost__is_this_machine_whoever_says_otherwise)
{
    expect_code(get("localhost", "/ok"), "");
    expect_code(get("www.localhost", "/ok"), "");
    assert_int_equal(dns_server_questions(f->dns, NULL, 'A'), 0);
}

TEST(localhost__needs_an_entry_that_names_it)
{
    world_allow(&f->world, "localhost", (uint16_t)f->port, PUBLIC_ONLY);
    expect_code(world_get(&f->world, "http://localhost:%u/ok", f->port),
                "ERR_FETCH_ADDRESS");
    assert_int_equal(server_connections(f->server), 0);
}

/* A lookup of libcurl's own would find these; it is to find nothing. */
TEST(literal__is_not_looked_up)
{
    expect_code(get("127.0.0.1", "/ok"), "");
    assert_int_equal(dns_server_questions(f->dns, NULL, 'A'), 0);
}

TEST(many__policies_with_servers_of_their_own)
{
    enum { COUNT = 4 };
    dns_server *servers[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        servers[i] = dns_server_start(names, GBX_COUNTOF(names));
    world_allow(&f->world, "plain.test", (uint16_t)f->port, LOOPBACK_TOO);
    for (size_t i = 0; i < COUNT * 2; i++) {
        world_nameserver(&f->world, dns_server_address(servers[i % COUNT]));
        expect_code(world_get(&f->world, "http://plain.test:%u/ok", f->port), "");
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(dns_server_questions(servers[i], NULL, 'A'), 2);
        dns_server_stop(servers[i]);
    }
}

TEST_MAIN_EACH(set_up, tear_down)

/* SPDX-License-Identifier: MIT */
/* tls - who the server is is always verified, by what the policy says alone. */
#include "named_server.h"
#include "tls_identity.h"

#include "base/cleanup.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dns_name names[] = {{"good.test", "127.0.0.1"},
                                 {"other.test", "127.0.0.1"}};

typedef struct fixture {
    named_server net;
    tls_identity *identity;
} fixture;

static fixture its;
static fixture *const f = &its;

static int set_up_with(bool expired)
{
    server_options options = {0};

    *f = (fixture){0};
    f->identity = identity_new("good.test", expired);
    options.identity = f->identity;
    named_server_open(&f->net, names, GBX_COUNTOF(names), &options);
    f->net.world.policy.fetch.ca_file =
        (char *)(uintptr_t)identity_ca_file(f->identity);
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(false);
}

static int set_up_expired(void **state)
{
    return set_up_with(true);
}

static int tear_down(void **state)
{
    named_server_close(&f->net);
    identity_free(f->identity);
    return 0;
}

static const fetch_result *get(const char *name)
{
    return world_get(&f->net.world, "https://%s:%u/ok", name, f->net.port);
}

TEST_WITH(set_up, tear_down, server__with_a_certificate_of_the_authority_is_asked)
{
    expect_code(get("good.test"), "");
    assert_int_equal(f->net.world.result.body_len, 5);
}

TEST_WITH(set_up, tear_down, server__with_a_certificate_for_another_name_is_not)
{
    expect_code(get("other.test"), "ERR_FETCH_TLS");
    assert_null(strstr(f->net.world.result.message, "good.test"));
}

TEST_WITH(set_up, tear_down, server__of_an_unknown_authority_is_not)
{
    f->net.world.policy.fetch.ca_file = NULL;
    expect_code(get("good.test"), "ERR_FETCH_TLS");
}

TEST_WITH(set_up, tear_down, authorities__are_not_taken_from_the_environment)
{
    f->net.world.policy.fetch.ca_file = NULL;
    assert_int_equal(setenv("SSL_CERT_FILE", identity_ca_file(f->identity), 1), 0);
    assert_int_equal(setenv("CURL_CA_BUNDLE", identity_ca_file(f->identity), 1), 0);
    expect_code(get("good.test"), "ERR_FETCH_TLS");
    assert_int_equal(unsetenv("SSL_CERT_FILE"), 0);
    assert_int_equal(unsetenv("CURL_CA_BUNDLE"), 0);
}

TEST_WITH(set_up_expired, tear_down, certificate__that_has_expired_is_refused)
{
    expect_code(get("good.test"), "ERR_FETCH_TLS");
}

TEST_WITH(set_up, tear_down, authorities__in_a_file_that_is_not_there_are_none)
{
    f->net.world.policy.fetch.ca_file = "/nonexistent";
    expect_code(get("good.test"), "ERR_FETCH_TLS");
}

TEST_WITH(set_up, tear_down, server__without_tls_is_not_asked_in_the_clear)
{
    server *plain = server_start(NULL);
    char last[64];

    world_allow(&f->net.world, "good.test", server_port(plain), LOOPBACK_TOO);
    f->net.world.policy.fetch.timeout_ms =
        300; /* it waits for a request that it can read */
    assert_true(world_get(&f->net.world, "https://good.test:%u/ok", server_port(plain))
                    ->is_error);
    server_last_request(plain, last, sizeof last);
    assert_null(strstr(last, "GET"));
    server_stop(plain);
}

/* From https to http is another origin, even on one host and port. */
TEST_WITH(set_up, tear_down, downgrade__needs_the_list_and_loses_credentials)
{
    server *plain = server_start(NULL);
    char args[512];

    (void)snprintf(args, sizeof args,
                   "[{\"url\":\"https://good.test:%u/to/302/http://good.test:%u/echo\","
                   "\"headers\":[[\"Authorization\",\"Bearer t\"],[\"Cookie\",\"a=b\"],"
                   "[\"X-Kept\",\"yes\"]]}]",
                   f->net.port, server_port(plain));
    expect_code(world_fetch(&f->net.world, args, NULL, 0), "ERR_FETCH_NOT_ALLOWED");
    world_allow(&f->net.world, "good.test", server_port(plain), LOOPBACK_TOO);
    expect_code(world_fetch(&f->net.world, args, NULL, 0), "");
    assert_null(strstr((char *)f->net.world.result.body, "Bearer"));
    assert_null(strstr((char *)f->net.world.result.body, "Cookie"));
    assert_non_null(strstr((char *)f->net.world.result.body, "X-Kept: yes"));
    server_stop(plain);
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/* secrets - a value leaves the host in a header, for its own site, and for no other. */
#include "freed.h"
#include "named_server.h"

#include "base/cleanup.h"
#include "fetch/internal.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE "s3cret-value-of-the-token"

static const dns_name names[] = {{"mine.test", "127.0.0.1"},
                                 {"other.test", "127.0.0.1"}};

static const server_reply replies[] = {
    {.path = "/shown",
     .bytes = "HTTP/1.1 200 OK\r\nX-Key: " VALUE "\r\nContent-Length: 0\r\n\r\n"}};

typedef struct fixture {
    named_server net;
    gbx_site site;
    gbx_secret secrets[2];
    char args[1024];
} fixture;

static fixture its;
static fixture *const f = &its;

static int set_up(void **state)
{
    static const server_options options = {.replies = replies,
                                           .reply_count = GBX_COUNTOF(replies)};

    *f = (fixture){0};
    named_server_open(&f->net, names, GBX_COUNTOF(names), &options);
    f->site = f->net.world.sites[0];
    f->secrets[0] = (gbx_secret){.name = "TOKEN",
                                 .value = VALUE,
                                 .value_len = sizeof VALUE - 1,
                                 .sites = &f->site,
                                 .site_count = 1};
    f->secrets[1] = f->secrets[0];
    f->secrets[1].name = "LINES";
    f->secrets[1].value = "one-line\r\nHost: evil";
    f->secrets[1].value_len = strlen(f->secrets[1].value);
    f->net.world.policy.secrets = f->secrets;
    f->net.world.policy.secret_count = 2;
    return 0;
}

static int tear_down(void **state)
{
    named_server_close(&f->net);
    return 0;
}

static const fetch_result *ask(const char *name, const char *path, const char *header)
{
    (void)snprintf(f->args, sizeof f->args,
                   "[{\"url\":\"http://%s:%u%s\",\"headers\":[[\"X-Key\",\"%s\"],"
                   "[\"X-Plain\",\"p\"]]}]",
                   name, f->net.port, path, header);
    return world_fetch(&f->net.world, f->args, NULL, 0);
}

TEST(secret__is_filled_in_for_its_site)
{
    const fetch_result *r = ask("mine.test", "/echo", "Bearer {{secret:TOKEN}}.");

    expect_code(r, "");
    assert_non_null(strstr((char *)r->body, "\r\nX-Key: Bearer " VALUE ".\r\n"));
}

static void (*free_list)(struct curl_slist *list);
static bool list_had_it;

static void look_through_list(struct curl_slist *list)
{
    for (struct curl_slist *at = list; at != NULL; at = at->next)
        list_had_it |= strstr(at->data, VALUE) != NULL;
    free_list(list);
}

static const fetch_result *expect_wiped(const char *path)
{
    gbx_libcurl *lib = &f->net.world.fetcher->lib;
    const fetch_result *r;

    free_list = lib->curl_slist_free_all;
    lib->curl_slist_free_all = look_through_list;
    list_had_it = false;
    freed_watch(VALUE, "");
    r = ask("mine.test", path, "Bearer {{secret:TOKEN}}.");
    assert_false(freed_was_seen());
    assert_false(list_had_it);
    return r;
}

TEST(secret__is_wiped_before_its_memory_is_freed)
{
    assert_non_null(strstr((char *)expect_wiped("/to/302/%2fecho")->body, VALUE));
}

TEST(secret__is_wiped_that_comes_back_in_a_head)
{
    assert_non_null(strstr(expect_wiped("/shown")->json, VALUE));
}

TEST(secret__is_not_for_another_site)
{
    const fetch_result *r = ask("other.test", "/echo", "{{secret:TOKEN}}");

    expect_code(r, "ERR_FETCH_SECRET");
    assert_non_null(strstr(r->message, "TOKEN"));
    assert_null(strstr(r->message, VALUE));
    assert_int_equal(server_connections(f->net.server), 0);
}

TEST(secret__that_is_unknown_is_refused)
{
    static const char *const references[] = {"{{secret:NONE}}", "{{secret:}}",
                                             "{{secret:TOKEN", "{{secret:TOKEN }}"};

    for (size_t i = 0; i < GBX_COUNTOF(references); i++)
        expect_code(ask("mine.test", "/echo", references[i]), "ERR_FETCH_SECRET");
    assert_int_equal(server_connections(f->net.server), 0);
}

TEST(secret__with_a_line_break_is_no_header)
{
    expect_code(ask("mine.test", "/echo", "{{secret:LINES}}"), "ERR_FETCH_SECRET");
    assert_int_equal(server_connections(f->net.server), 0);
}

TEST(secret__stays_on_its_origin)
{
    char path[128];

    expect_code(ask("mine.test", "/to/302/%2fecho", "{{secret:TOKEN}}"), "");
    assert_non_null(strstr((char *)f->net.world.result.body, VALUE));
    (void)snprintf(path, sizeof path, "/to/302/http://other.test:%u/echo", f->net.port);
    expect_code(ask("mine.test", path, "{{secret:TOKEN}}"), "");
    assert_null(strstr((char *)f->net.world.result.body, VALUE));
    assert_null(strstr((char *)f->net.world.result.body, "X-Key"));
    assert_non_null(strstr((char *)f->net.world.result.body, "X-Plain: p"));
}

/* Back where it came from: what was dropped stays dropped. */
TEST(secret__does_not_come_back)
{
    char path[256];

    (void)snprintf(
        path, sizeof path,
        "/to/302/http://other.test:%u/to%%2f302%%2fhttp:%%2f%%2fmine.test:%u%%2fecho",
        f->net.port, f->net.port);
    expect_code(ask("mine.test", path, "{{secret:TOKEN}}"), "");
    assert_int_equal(f->net.world.result.report_hops, 3);
    assert_null(strstr((char *)f->net.world.result.body, VALUE));
}

TEST(secret__is_in_no_report)
{
    const fetch_result *r = ask("mine.test", "/ok", "{{secret:TOKEN}}");

    expect_code(r, "");
    assert_null(strstr(r->report_url, VALUE));
    assert_null(strstr(r->report_detail, VALUE));
}

TEST_MAIN_EACH(set_up, tear_down)

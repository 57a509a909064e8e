/* SPDX-License-Identifier: MIT */
/* http - what a request looks like to an ordinary server, and its response to the code. */
#include "fetch_world.h"
#include "http_server.h"

#include "base/cleanup.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    fetch_world world;
    server *server;
    uint16_t port;
    char args[2048];
} fixture;

static fixture its;
static fixture *const f = &its;

static const server_reply replies[] = {
    {.path = "/204", .bytes = "HTTP/1.1 204 No Content\r\n\r\n"},
    {.path = "/304", .bytes = "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"},
    {.path = "/100",
     .bytes = "HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\nHTTP/1.1 200 Fine\r\n"
              "Content-Length: 2\r\n\r\nok"},
    {.path = "/nul",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na\0\xff\xfe"
              "b",
     .len = 43},
    {.path = "/keep",
     .bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
     .then = THEN_HOLD},
    {.path = "/cookie",
     .bytes = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nContent-Length: 0\r\n\r\n"},
    {.path = "/trailer",
     .bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
              "X-Late: 1\r\n\r\n"},
};

static int set_up(void **state)
{
    const server_options options = {.replies = replies,
                                    .reply_count = GBX_COUNTOF(replies)};

    *f = (fixture){0};
    f->server = server_start(&options);
    f->port = server_port(f->server);
    world_open(&f->world, NULL);
    world_allow(&f->world, "127.0.0.1", f->port, LOOPBACK_TOO);
    return 0;
}

static int tear_down(void **state)
{
    world_close(&f->world);
    server_stop(f->server);
    return 0;
}

/* One request for path with more members of the request's object. */
static const fetch_result *ask(const char *path, const char *members, const char *body)
{
    (void)snprintf(f->args, sizeof f->args, "[{\"url\":\"http://127.0.0.1:%u%s\"%s%s}]",
                   f->port, path, members[0] != '\0' ? "," : "", members);
    return world_fetch(&f->world, f->args, body, strlen(body));
}

static void expect_body(const fetch_result *r, const char *text)
{
    assert_int_equal(r->body_len, strlen(text));
    assert_memory_equal(r->body, text, r->body_len);
}

TEST(get__has_status_headers_url_and_body)
{
    const fetch_result *r = ask("/ok", "", "");
    char url[64];

    expect_code(r, "");
    expect_body(r, "hello");
    (void)snprintf(url, sizeof url, "\"url\":\"http://127.0.0.1:%u/ok\"", f->port);
    assert_non_null(strstr(r->json, url));
    assert_non_null(strstr(r->json, "\"status\":200,\"statusText\":\"OK\""));
    assert_non_null(strstr(r->json, "[\"x-mark\",\"one\"]"));
    assert_non_null(strstr(r->json, "\"redirected\":false"));
}

TEST(request__has_what_was_asked_for_and_nothing_else)
{
    char expected[256];

    expect_code(ask("/echo?a=b#c", "", ""), "");
    (void)ask("/echo", "", "");
    (void)snprintf(expected, sizeof expected,
                   "GET /echo HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                   "User-Agent: glovebox/0.1.0\r\nAccept: */*\r\n"
                   "Accept-Encoding: gzip, deflate, br\r\n\r\n",
                   f->port);

    expect_body(&f->world.result, expected);
}

TEST(request__carries_headers_as_they_were_given)
{
    const fetch_result *r =
        ask("/echo",
            "\"headers\":[[\"X-One\",\"1\"],[\"x-one\",\"2\"],[\"X-Empty\","
            "\"\"],[\"X-Latin\",\"\\u00fc\"],[\"User-Agent\",\"mine\"],"
            "[\"Authorization\",\"Bearer t\"],[\"Cookie\",\"a=b\"]]",
            "");
    const char *text = (const char *)r->body;

    expect_code(r, "");
    assert_non_null(strstr(text, "\r\nX-One: 1\r\nx-one: 2\r\nX-Empty:\r\n"
                                 "X-Latin: \xfc\r\nUser-Agent: mine\r\n"));
    assert_non_null(strstr(text, "\r\nAuthorization: Bearer t\r\nCookie: a=b\r\n"));
    assert_null(strstr(text, "glovebox/"));
}

static const struct {
    const char *method;
    const char *body;
    const char *begins;
    const char *holds;
} methods[] = {
    {"POST", "data", "POST /echo HTTP/1.1\r\n", "\r\nContent-Length: 4\r\n\r\ndata"},
    {"POST", "", "POST /echo HTTP/1.1\r\n", "\r\nContent-Length: 0\r\n"},
    {"PUT", "data", "PUT /echo HTTP/1.1\r\n", "\r\nContent-Length: 4\r\n\r\ndata"},
    {"PATCH", "x", "PATCH /echo HTTP/1.1\r\n", "\r\nContent-Length: 1\r\n\r\nx"},
    {"DELETE", "", "DELETE /echo HTTP/1.1\r\n", "\r\nHost: "},
    {"DELETE", "x", "DELETE /echo HTTP/1.1\r\n", "\r\nContent-Length: 1\r\n\r\nx"},
    {"OPTIONS", "", "OPTIONS /echo HTTP/1.1\r\n", "\r\nHost: "},
};

TEST(method__is_sent_with_its_body)
{
    for (size_t i = 0; i < GBX_COUNTOF(methods); i++) {
        char member[64];
        const fetch_result *r;

        (void)snprintf(member, sizeof member, "\"method\":\"%s\"", methods[i].method);
        r = ask("/echo", member, methods[i].body);
        expect_code(r, "");
        assert_memory_equal(r->body, methods[i].begins, strlen(methods[i].begins));
        assert_non_null(strstr((char *)r->body, methods[i].holds));
        assert_null(strstr((char *)r->body, "Expect:"));
        assert_null(strstr((char *)r->body, "Content-Type:"));
        assert_int_equal(r->report_bytes_out, strlen(methods[i].body));
    }
}

TEST(head__has_headers_without_a_body)
{
    const fetch_result *r = ask("/bytes/999999999", "\"method\":\"HEAD\"", "");

    expect_code(r, "");
    assert_int_equal(r->body_len, 0);
    assert_non_null(strstr(r->json, "[\"content-length\",\"999999999\"]"));
}

TEST(status__is_an_answer_whatever_it_is)
{
    expect_code(ask("/nowhere", "", ""), "");
    assert_non_null(strstr(f->world.result.json, "\"status\":404"));
    expect_code(ask("/204", "", ""), "");
    assert_non_null(strstr(f->world.result.json, "\"status\":204"));
    assert_int_equal(f->world.result.body_len, 0);
    expect_code(ask("/304", "", ""), "");
    assert_non_null(strstr(f->world.result.json, "\"status\":304"));
}

TEST(interim__responses_leave_nothing_behind)
{
    const fetch_result *r = ask("/100", "", "");

    expect_code(r, "");
    expect_body(r, "ok");
    assert_non_null(strstr(r->json, "\"statusText\":\"Fine\""));
    assert_null(strstr(r->json, "x-interim"));
}

TEST(trailers__are_no_headers)
{
    const fetch_result *r = ask("/trailer", "", "");

    expect_code(r, "");
    expect_body(r, "ok");
    assert_null(strstr(r->json, "x-late"));
}

TEST(body__is_bytes)
{
    const fetch_result *r = ask("/nul", "", "");

    expect_code(r, "");
    assert_int_equal(r->body_len, 5);
    assert_memory_equal(r->body,
                        "a\0\xff\xfe"
                        "b",
                        5);
}

TEST(body__comes_decompressed)
{
    const fetch_result *r = ask("/gzip", "", "");

    expect_code(r, "");
    expect_body(r, "hello");
    assert_int_equal(r->report_bytes_in, 5);
}

TEST(cookies__are_kept_by_nobody)
{
    expect_code(ask("/cookie", "", ""), "");
    assert_non_null(strstr(f->world.result.json, "[\"set-cookie\",\"a=1\"]"));
    expect_code(ask("/echo", "", ""), "");
    assert_null(strcasestr((char *)f->world.result.body, "cookie"));
}

TEST(connection__serves_one_request)
{
    for (unsigned i = 1; i <= 3; i++) {
        expect_code(ask("/keep", "", ""), "");
        assert_int_equal(server_connections(f->server), i);
    }
}

TEST(redirects__are_followed_to_the_end)
{
    const fetch_result *r = ask("/chain/5", "", "");
    char url[64];

    expect_code(r, "");
    expect_body(r, "hello");
    (void)snprintf(url, sizeof url, "\"url\":\"http://127.0.0.1:%u/chain/0\"", f->port);
    assert_non_null(strstr(r->json, url));
    assert_non_null(strstr(r->json, "\"redirected\":true"));
    assert_int_equal(r->report_hops, 6);
    expect_code(ask("/chain/6", "", ""), "ERR_FETCH_REDIRECT");
}

TEST(redirects__in_other_modes)
{
    expect_code(ask("/to/302/http://10.0.0.1/", "\"redirect\":\"manual\"", ""), "");
    assert_non_null(
        strstr(f->world.result.json, "[\"location\",\"http://10.0.0.1/\"]"));
    expect_code(ask("/to/302/http://10.0.0.1/", "\"redirect\":\"error\"", ""),
                "ERR_FETCH_REDIRECT");
}

TEST(many__at_once_are_each_told_once)
{
    enum { COUNT = 200 };
    fetch_result *results = calloc(COUNT, sizeof *results);

    assert_non_null(results);
    (void)snprintf(f->args, sizeof f->args, "[{\"url\":\"http://127.0.0.1:%u/ok\"}]",
                   f->port);
    for (size_t i = 0; i < COUNT; i++)
        (void)world_start(&f->world, f->args, &results[i]);
    for (size_t i = 0; i < COUNT; i++) {
        world_run(&f->world, &results[i]);
        expect_code(&results[i], "");
        assert_int_equal(results[i].told, 1);
        assert_int_equal(results[i].body_len, 5);
        result_free(&results[i]);
    }
    free(results);
}

TEST_MAIN_EACH(set_up, tear_down)

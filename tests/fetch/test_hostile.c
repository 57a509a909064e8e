/* SPDX-License-Identifier: MIT */
/* hostile - a server that sends too much, too little, too slowly, or no HTTP at all. */
#include "fetch_world.h"
#include "http_server.h"
#include "table.h"

#include "base/cleanup.h"
#include "test.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK "HTTP/1.1 200 OK\r\n"

/* Those with a NUL in them; the others are in hostile.txt. */
static const struct {
    server_reply reply;
    const char *code;
} own[] = {
    {{.path = "/zeros", .bytes = "\0\0\0\0\0\0\0\0", .len = 8}, "RESPONSE"},
    {{.path = "/nul", .bytes = OK "A: b\0c\r\n\r\n", .len = 27}, "RESPONSE"},
    {{.path = "/endless-empty-blocks", /* gzip that decompresses to nothing, for ever */
      .bytes = OK "Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\x03",
      .len = sizeof(OK) - 1 + 26 + 10,
      .then = THEN_REPEAT,
      .rest =
          "\x02\x08\x20\x80\0\x02\x08\x20\x80\0\x02\x08\x20\x80\0\x02\x08\x20\x80\0",
      .rest_len = 20},
     "TOO_LARGE"},
};

typedef struct fixture {
    fetch_world world;
    server *server;
    uint16_t port;
    size_t count;
    server_reply replies[100];
    const char *codes[100]; /* without "ERR_FETCH_" */
} fixture;

static fixture its;
static fixture *const f = &its;

/* What the server says, and what the code is told. */
static void read_replies(void)
{
    const table_line *lines;
    size_t count = table_lines("fetch/hostile.txt", "replies", true, &lines);

    assert_true(count + GBX_COUNTOF(own) <= GBX_COUNTOF(f->replies));
    for (size_t i = 0; i < count; i++) {
        const char *const *cell = lines[i].cell;

        f->codes[f->count] = cell[1];
        f->replies[f->count++] =
            (server_reply){.path = cell[0],
                           .bytes = cell[3],
                           .then = strcmp(cell[2], "hold") == 0     ? THEN_HOLD
                                   : strcmp(cell[2], "repeat") == 0 ? THEN_REPEAT
                                                                    : THEN_CLOSE,
                           .rest = cell[4]};
    }
    for (size_t i = 0; i < GBX_COUNTOF(own); i++) {
        f->codes[f->count] = own[i].code;
        f->replies[f->count++] = own[i].reply;
    }
}

static int set_up(void **state)
{
    gbx_fetcher_options options = {.stall_ms = 1000};
    server_options serving = {0};

    *f = (fixture){0};
    read_replies();
    serving.replies = f->replies;
    serving.reply_count = f->count;
    f->server = server_start(&serving);
    f->port = server_port(f->server);
    world_open(&f->world, &options);
    world_allow(&f->world, "127.0.0.1", f->port, LOOPBACK_TOO);
    return 0;
}

static int tear_down(void **state)
{
    world_close(&f->world);
    server_stop(f->server);
    return 0;
}

static const fetch_result *get(const char *path)
{
    return world_get(&f->world, "http://127.0.0.1:%u%s", f->port, path);
}

TEST(answer__that_is_no_response_is_an_error)
{
    assert_true(f->count >= 54);
    for (size_t i = 0; i < f->count; i++) {
        const fetch_result *r = get(f->replies[i].path);

        if (strncmp(r->code, "ERR_FETCH_", 10) != 0 ||
            strcmp(r->code + 10, f->codes[i]) != 0)
            fail_msg("%s: code '%s', not '%s': %s (%s)", f->replies[i].path, r->code,
                     f->codes[i], r->message, r->report_detail);
        assert_string_equal(r->name, "TypeError");
        assert_int_equal(r->body_len, 0);
    }
}

TEST(body__is_counted_as_it_is_given_not_as_it_is_sent)
{
    expect_code(get("/bytes/100000"), "");
    assert_int_equal(f->world.result.body_len, 100000);
    expect_code(get("/bytes/100001"), "ERR_FETCH_TOO_LARGE");
    expect_code(get("/chunked/100000"), "");
    expect_code(get("/chunked/100001"), "ERR_FETCH_TOO_LARGE");
    expect_code(get("/bomb/100000"), "");
    assert_int_equal(f->world.result.body_len, 100000);
    expect_code(get("/bomb/100001"), "ERR_FETCH_TOO_LARGE");
    assert_non_null(strstr(f->world.result.message, "limit of 100000 bytes"));
}

TEST(bomb__is_stopped_at_the_limit)
{
    const fetch_result *r = get("/bomb/10000000000");

    expect_code(r, "ERR_FETCH_TOO_LARGE");
    assert_true(r->report_bytes_in <= 100000);
}

TEST(body__without_end_is_stopped_at_the_limit)
{
    const fetch_result *r = get("/endless");

    expect_code(r, "ERR_FETCH_TOO_LARGE");
    assert_true(r->report_bytes_in <= 100000);
}

TEST(body__that_drips_is_given_up)
{
    expect_code(get("/drip"), "ERR_FETCH_TIMEOUT");
    assert_non_null(strstr(f->world.result.message, "came to a stop"));
}

TEST(server__that_says_nothing_is_given_up_in_time)
{
    f->world.policy.fetch.timeout_ms = 200;
    expect_code(get("/hold"), "ERR_FETCH_TIMEOUT");
    assert_non_null(strstr(f->world.result.message, "longer than 200 ms"));
}

/* The limit is for all hops together. */
TEST(redirects__that_take_time_are_given_up_in_time)
{
    f->world.policy.fetch.timeout_ms = 2000;
    expect_code(get("/to/302/%2fto%2f302%2f%252fhold"), "ERR_FETCH_TIMEOUT");
    assert_int_equal(f->world.result.report_hops, 3);
}

/* A thoughtful server is not a slow one. */
TEST(silence__before_the_first_byte_is_not_a_stop)
{
    f->world.policy.fetch.timeout_ms = 2500;
    expect_code(get("/hold"), "ERR_FETCH_TIMEOUT");
    assert_non_null(strstr(f->world.result.message, "longer than 2500 ms"));
}

/* Its body is not waited for, and its length means nothing. */
TEST(redirect__with_a_body_without_end_is_followed)
{
    static const server_reply loop[] = {
        {.path = "/go",
         .bytes = "HTTP/1.1 302 Found\r\nLocation: /ok\r\n\r\n",
         .then = THEN_REPEAT,
         .rest = "x"},
        {.path = "/go-long",
         .bytes =
             "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 99999999\r\n\r\n",
         .then = THEN_HOLD}};
    server_options serving = {.replies = loop, .reply_count = 2};
    server *other = server_start(&serving);

    world_allow(&f->world, "127.0.0.1", server_port(other), LOOPBACK_TOO);
    expect_code(world_get(&f->world, "http://127.0.0.1:%u/go", server_port(other)), "");
    assert_int_equal(f->world.result.body_len, 5);
    expect_code(world_get(&f->world, "http://127.0.0.1:%u/go-long", server_port(other)),
                "");
    server_stop(other);
}

TEST(port__where_nobody_listens_is_an_error)
{
    server *gone = server_start(NULL);
    uint16_t port = server_port(gone);

    server_stop(gone);
    world_allow(&f->world, "127.0.0.1", port, LOOPBACK_TOO);
    expect_code(world_get(&f->world, "http://127.0.0.1:%u/", port),
                "ERR_FETCH_CONNECT");
    assert_string_equal(f->world.result.message,
                        "fetch: cannot connect to '127.0.0.1'");
}

TEST_MAIN_EACH(set_up, tear_down)

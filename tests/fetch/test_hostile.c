/* SPDX-License-Identifier: MIT */
/* hostile - a server that sends too much, too little, too slowly, or no HTTP at all. */
#include "fetch_world.h"
#include "http_server.h"

#include "base/cleanup.h"

#include <event2/event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OK   "HTTP/1.1 200 OK\r\n"
#define CODE "ERR_FETCH_RESPONSE"

/* What the server says, and what the code is told. */
static const struct {
    server_reply reply;
    const char *code;
} cases[] = {
    /* no HTTP, or not to its end */
    {{.path = "/empty", .bytes = "", .len = 0}, CODE},
    {{.path = "/09", .bytes = "<html>hello</html>"}, CODE},
    {{.path = "/09-hold", .bytes = "hello\r\n", .then = THEN_HOLD}, CODE},
    {{.path = "/ssh", .bytes = "SSH-2.0-OpenSSH_9.2\r\n"}, CODE},
    {{.path = "/smtp", .bytes = "220 mail ESMTP\r\n", .then = THEN_HOLD}, CODE},
    {{.path = "/redis", .bytes = "-ERR unknown command\r\n"}, CODE},
    {{.path = "/tls", .bytes = "\x15\x03\x01\x00\x02\x02\x46"}, CODE},
    {{.path = "/zeros", .bytes = "\0\0\0\0\0\0\0\0", .len = 8}, CODE},
    {{.path = "/half-line", .bytes = "HTTP/1.1 20"}, CODE},
    {{.path = "/half-head", .bytes = OK "A: b\r\n"}, CODE},
    {{.path = "/half-body", .bytes = OK "Content-Length: 9\r\n\r\nhalf"}, CODE},
    {{.path = "/half-chunk", .bytes = OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"},
     CODE},
    {{.path = "/no-last-chunk",
      .bytes = OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"},
     CODE},
    {{.path = "/only-interim", .bytes = "HTTP/1.1 100 Continue\r\n\r\n"}, CODE},
    /* heads that can be read in two ways */
    {{.path = "/http2", .bytes = "HTTP/2 200\r\n\r\n"}, CODE},
    {{.path = "/status-0", .bytes = "HTTP/1.1 000 Zero\r\n\r\n"}, CODE},
    {{.path = "/status-9", .bytes = "HTTP/1.1 999 Nine\r\n\r\n"}, CODE},
    {{.path = "/upgrade",
      .bytes = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nraw",
      .then = THEN_HOLD},
     CODE},
    {{.path = "/fold", .bytes = OK "A: b\r\n c\r\nContent-Length: 0\r\n\r\n"}, CODE},
    {{.path = "/no-colon", .bytes = OK "nothing\r\nContent-Length: 0\r\n\r\n"}, CODE},
    {{.path = "/nul", .bytes = OK "A: b\0c\r\n\r\n", .len = 27}, CODE},
    {{.path = "/cr", .bytes = OK "A: b\rSet-Cookie: c\r\n\r\n"}, CODE},
    {{.path = "/space", .bytes = OK "A : b\r\nContent-Length: 0\r\n\r\n"}, CODE},
    {{.path = "/lengths",
      .bytes = OK "Content-Length: 5\r\nContent-Length: 2\r\n\r\nhello"},
     CODE},
    {{.path = "/length-list", .bytes = OK "Content-Length: 5, 5\r\n\r\nhello"}, CODE},
    {{.path = "/length-minus", .bytes = OK "Content-Length: -1\r\n\r\nhello"}, CODE},
    {{.path = "/length-plus", .bytes = OK "Content-Length: +5\r\n\r\nhello"}, CODE},
    {{.path = "/length-hex", .bytes = OK "Content-Length: 0x5\r\n\r\nhello"}, CODE},
    {{.path = "/length-2-64",
      .bytes = OK "Content-Length: 18446744073709551616\r\n\r\nhello"},
     CODE},
    {{.path = "/length-and-chunks",
      .bytes = OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
     CODE},
    {{.path = "/te-gzip",
      .bytes = OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
     CODE},
    {{.path = "/te-twice",
      .bytes = OK "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"},
     CODE},
    {{.path = "/chunk-size", .bytes = OK "Transfer-Encoding: chunked\r\n\r\nzz\r\n"},
     CODE},
    {{.path = "/chunk-huge",
      .bytes = OK "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx"},
     CODE},
    {{.path = "/chunk-minus", .bytes = OK "Transfer-Encoding: chunked\r\n\r\n-5\r\nx"},
     CODE},
    /* compression */
    {{.path = "/zstd",
      .bytes =
          OK "Content-Encoding: zstd\r\nContent-Length: 4\r\n\r\n\x28\xb5\x2f\xfd"},
     CODE},
    {{.path = "/gzip-gzip",
      .bytes = OK "Content-Encoding: gzip, gzip\r\nContent-Length: 1\r\n\r\nx"},
     CODE},
    {{.path = "/no-gzip", .bytes = OK "Content-Encoding: gzip\r\n\r\nhello, no gzip"},
     CODE},
    {{.path = "/no-br",
      .bytes = OK "Content-Encoding: br\r\n\r\n\xff\xff\xff\xff\xff\xff"},
     CODE},
    {{.path = "/no-deflate",
      .bytes = OK "Content-Encoding: deflate\r\n\r\n\xff\xff\xff"},
     CODE},
    /* without end */
    {{.path = "/endless-line",
      .bytes = OK "A: ",
      .then = THEN_REPEAT,
      .rest = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},
     CODE},
    {{.path = "/endless-status",
      .bytes = "HTTP/1.1 200 ",
      .then = THEN_REPEAT,
      .rest = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},
     CODE},
    {{.path = "/endless-heads", .bytes = OK, .then = THEN_REPEAT, .rest = "A: b\r\n"},
     CODE},
    {{.path = "/endless-long-heads",
      .bytes = OK,
      .then = THEN_REPEAT,
      .rest = "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
              "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
              "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
              "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
              "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
              "\r\n"},
     CODE},
    {{.path = "/endless-interim",
      .bytes = "",
      .then = THEN_REPEAT,
      .rest = "HTTP/1.1 100 Continue\r\n\r\n"},
     CODE},
    {{.path = "/endless-trailers",
      .bytes = OK "Transfer-Encoding: chunked\r\n\r\n0\r\n",
      .then = THEN_REPEAT,
      .rest = "Aaaaaaaaaaaaaaaa: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n"},
     CODE},
    {{.path = "/endless-empty-blocks", /* gzip that decompresses to nothing, for ever */
      .bytes = OK "Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\x03",
      .len = sizeof(OK) - 1 + 26 + 10,
      .then = THEN_REPEAT,
      .rest =
          "\x02\x08\x20\x80\0\x02\x08\x20\x80\0\x02\x08\x20\x80\0\x02\x08\x20\x80\0",
      .rest_len = 20},
     "ERR_FETCH_TOO_LARGE"},
    {{.path = "/endless-chunk-extension",
      .bytes = OK "Transfer-Encoding: chunked\r\n\r\n5;",
      .then = THEN_REPEAT,
      .rest =
          "x=yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy;"},
     "ERR_FETCH_TIMEOUT"},
    /* too much at once */
    {{.path = "/length-over",
      .bytes = OK "Content-Length: 100001\r\n\r\n",
      .then = THEN_HOLD},
     "ERR_FETCH_TOO_LARGE"},
    {{.path = "/length-giant",
      .bytes = OK "Content-Length: 999999999999999999\r\n\r\n",
      .then = THEN_HOLD},
     "ERR_FETCH_TOO_LARGE"},
    /* nothing, or nothing more */
    {{.path = "/stop-in-head", .bytes = OK "A: b\r\n", .then = THEN_HOLD},
     "ERR_FETCH_TIMEOUT"},
    {{.path = "/stop-in-body",
      .bytes = OK "Content-Length: 9\r\n\r\nhalf",
      .then = THEN_HOLD},
     "ERR_FETCH_TIMEOUT"},
    {{.path = "/stop-in-chunk",
      .bytes = OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
      .then = THEN_HOLD},
     "ERR_FETCH_TIMEOUT"},
    {{.path = "/stop-after-interim",
      .bytes = "HTTP/1.1 100 Continue\r\n\r\n",
      .then = THEN_HOLD},
     "ERR_FETCH_TIMEOUT"},
};

typedef struct fixture {
    fetch_world world;
    server *server;
    uint16_t port;
    server_reply replies[GBX_COUNTOF(cases)];
} fixture;

static int set_up(void **state)
{
    gbx_fetcher_options options = {.stall_ms = 1000};
    fixture *f = calloc(1, sizeof *f);
    server_options serving = {.reply_count = GBX_COUNTOF(cases)};

    if (f == NULL)
        return -1;
    for (size_t i = 0; i < GBX_COUNTOF(cases); i++)
        f->replies[i] = cases[i].reply;
    serving.replies = f->replies;
    f->server = server_start(&serving);
    f->port = server_port(f->server);
    world_open(&f->world, &options);
    world_allow(&f->world, "127.0.0.1", f->port, LOOPBACK_TOO);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    world_close(&f->world);
    server_stop(f->server);
    free(f);
    return 0;
}

static const fetch_result *get(fixture *f, const char *path)
{
    return world_get(&f->world, "http://127.0.0.1:%u%s", f->port, path);
}

static void test_answer__that_is_no_response_is_an_error(void **state)
{
    fixture *f = *state;

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        const fetch_result *r = get(f, cases[i].reply.path);

        if (strcmp(r->code, cases[i].code) != 0)
            fail_msg("%s: code '%s', not '%s': %s (%s)", cases[i].reply.path, r->code,
                     cases[i].code, r->message, r->report_detail);
        assert_string_equal(r->name, "TypeError");
        assert_int_equal(r->body_len, 0);
    }
}

static void test_body__is_counted_as_it_is_given_not_as_it_is_sent(void **state)
{
    fixture *f = *state;

    expect_code(get(f, "/bytes/100000"), "");
    assert_int_equal(f->world.result.body_len, 100000);
    expect_code(get(f, "/bytes/100001"), "ERR_FETCH_TOO_LARGE");
    expect_code(get(f, "/chunked/100000"), "");
    expect_code(get(f, "/chunked/100001"), "ERR_FETCH_TOO_LARGE");
    expect_code(get(f, "/bomb/100000"), "");
    assert_int_equal(f->world.result.body_len, 100000);
    expect_code(get(f, "/bomb/100001"), "ERR_FETCH_TOO_LARGE");
    assert_non_null(strstr(f->world.result.message, "limit of 100000 bytes"));
}

static void test_bomb__is_stopped_at_the_limit(void **state)
{
    fixture *f = *state;
    const fetch_result *r = get(f, "/bomb/10000000000");

    expect_code(r, "ERR_FETCH_TOO_LARGE");
    assert_true(r->report_bytes_in <= 100000);
}

static void test_body__without_end_is_stopped_at_the_limit(void **state)
{
    fixture *f = *state;
    const fetch_result *r = get(f, "/endless");

    expect_code(r, "ERR_FETCH_TOO_LARGE");
    assert_true(r->report_bytes_in <= 100000);
}

static void test_body__that_drips_is_given_up(void **state)
{
    fixture *f = *state;

    expect_code(get(f, "/drip"), "ERR_FETCH_TIMEOUT");
    assert_non_null(strstr(f->world.result.message, "came to a stop"));
}

static void test_server__that_says_nothing_is_given_up_in_time(void **state)
{
    fixture *f = *state;

    f->world.policy.fetch.timeout_ms = 200;
    expect_code(get(f, "/hold"), "ERR_FETCH_TIMEOUT");
    assert_non_null(strstr(f->world.result.message, "longer than 200 ms"));
}

/* The limit is for all hops together. */
static void test_redirects__that_take_time_are_given_up_in_time(void **state)
{
    fixture *f = *state;

    f->world.policy.fetch.timeout_ms = 2000;
    expect_code(get(f, "/to/302/%2fto%2f302%2f%252fhold"), "ERR_FETCH_TIMEOUT");
    assert_int_equal(f->world.result.report_hops, 3);
}

/* A thoughtful server is not a slow one. */
static void test_silence__before_the_first_byte_is_not_a_stop(void **state)
{
    fixture *f = *state;

    f->world.policy.fetch.timeout_ms = 2500;
    expect_code(get(f, "/hold"), "ERR_FETCH_TIMEOUT");
    assert_non_null(strstr(f->world.result.message, "longer than 2500 ms"));
}

/* Its body is not waited for, and its length means nothing. */
static void test_redirect__with_a_body_without_end_is_followed(void **state)
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
    fixture *f = *state;

    world_allow(&f->world, "127.0.0.1", server_port(other), LOOPBACK_TOO);
    expect_code(world_get(&f->world, "http://127.0.0.1:%u/go", server_port(other)), "");
    assert_int_equal(f->world.result.body_len, 5);
    expect_code(world_get(&f->world, "http://127.0.0.1:%u/go-long", server_port(other)),
                "");
    server_stop(other);
}

static void test_port__where_nobody_listens_is_an_error(void **state)
{
    server *gone = server_start(NULL);
    uint16_t port = server_port(gone);
    fixture *f = *state;

    server_stop(gone);
    world_allow(&f->world, "127.0.0.1", port, LOOPBACK_TOO);
    expect_code(world_get(&f->world, "http://127.0.0.1:%u/", port),
                "ERR_FETCH_CONNECT");
    assert_string_equal(f->world.result.message,
                        "fetch: cannot connect to '127.0.0.1'");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_answer__that_is_no_response_is_an_error),
        T(test_body__is_counted_as_it_is_given_not_as_it_is_sent),
        T(test_bomb__is_stopped_at_the_limit),
        T(test_body__without_end_is_stopped_at_the_limit),
        T(test_body__that_drips_is_given_up),
        T(test_server__that_says_nothing_is_given_up_in_time),
        T(test_redirects__that_take_time_are_given_up_in_time),
        T(test_silence__before_the_first_byte_is_not_a_stop),
        T(test_redirect__with_a_body_without_end_is_followed),
        T(test_port__where_nobody_listens_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* transport - the embedder's own way to the network, asked only what passed the checks. */
#include "fetch_world.h"

#include "base/cleanup.h"
#include "test.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gbx_http_header plain[] = {{"Content-Type", "text/plain"}};
static const gbx_http_header broken[] = {{"X", "a\r\nEvil: b"}};
static const gbx_http_header to_listed[] = {{"Location", "https://b.example/next"}};
static const gbx_http_header to_unlisted[] = {{"Location", "https://evil.example/"}};
static const gbx_http_header to_inside[] = {{"Location", "http://169.254.169.254/"}};

typedef struct fixture {
    fetch_world world;
    gbx_transport_response responses[4]; /* to the first request, the second... */
    bool answers;                        /* at once, from inside */
    unsigned asked;
    gbx_transport_token token; /* of the last */
    char seen[1024];           /* "METHOD url | name: value | body", of the last */
    uint64_t max_bytes;
} fixture;

static fixture its;
static fixture *const f = &its;

static void on_ask(void *user, gbx_engine *engine, gbx_transport_token token,
                   const gbx_transport_request *request)
{
    size_t len;

    assert_ptr_equal(user, f);
    assert_null(engine);
    assert_int_equal(request->struct_size, sizeof *request);
    f->token = token;
    f->max_bytes = request->max_bytes;
    assert_true(request->timeout_ms > 0 && request->timeout_ms <= 20000);
    len = (size_t)snprintf(f->seen, sizeof f->seen, "%s %s", request->method,
                           request->url);
    for (size_t i = 0; i < request->header_count; i++)
        len += (size_t)snprintf(f->seen + len, sizeof f->seen - len, " | %s: %s",
                                request->headers[i].name, request->headers[i].value);
    (void)snprintf(f->seen + len, sizeof f->seen - len, " | %.*s",
                   (int)request->body_len,
                   request->body_len > 0 ? (const char *)request->body : "");
    if (f->answers)
        assert_int_equal(gbx_fetcher_answer(f->world.fetcher, token,
                                            &f->responses[f->asked], NULL),
                         GBX_OK);
    f->asked++;
}

static int set_up(void **state)
{
    gbx_fetcher_options options = {.transport = on_ask, .transport_user = f};

    *f = (fixture){0};
    for (size_t i = 0; i < GBX_COUNTOF(f->responses); i++) {
        f->responses[i] = (gbx_transport_response)GBX_TRANSPORT_RESPONSE_INIT;
        f->responses[i].status = 200;
        f->responses[i].status_text = "OK";
        f->responses[i].headers = plain;
        f->responses[i].header_count = 1;
        f->responses[i].body = "hello";
        f->responses[i].body_len = 5;
    }
    f->answers = true;
    world_open(&f->world, &options);
    world_allow(&f->world, "a.example", 0, PUBLIC_ONLY);
    world_allow(&f->world, "b.example", 0, PUBLIC_ONLY);
    world_allow(&f->world, "169.254.169.254", 0, PUBLIC_ONLY);
    return 0;
}

static int tear_down(void **state)
{
    world_close(&f->world);
    return 0;
}

TEST_WITH(set_up, tear_down, request__reaches_the_transport_as_it_would_be_sent)
{
    static const char args[] = "[{\"url\":\"https://A.example:443/x?y#z\",\"method\":"
                               "\"post\",\"headers\":[[\"X-A\",\" 1 \"]]}]";
    const fetch_result *r = world_fetch(&f->world, args, "data", 4);

    expect_code(r, "");
    assert_string_equal(f->seen, "POST https://a.example/x?y | X-A: 1 | data");
    assert_int_equal(f->max_bytes, 100000);
    assert_int_equal(r->body_len, 5);
    assert_string_equal(r->json, "{\"status\":200,\"statusText\":\"OK\",\"url\":"
                                 "\"https://a.example/x?y\",\"headers\":[[\"content-"
                                 "type\",\"text/plain\"]],\"redirected\":false}");
}

TEST_WITH(set_up, tear_down, refused__requests_reach_no_transport)
{
    static const char *const refused[] = {
        "[{\"url\":\"https://evil.example/\"}]",
        "[{\"url\":\"https://a.example@evil.example/\"}]",
        "[{\"url\":\"ftp://a.example/\"}]",
        "[{\"url\":\"http://169.254.169.254/\"}]",
        "[{\"url\":\"https://a.example/\",\"method\":\"TRACE\"}]",
        "[{\"url\":\"https://a.example/\",\"headers\":[[\"Host\",\"x\"]]}]",
        "[{\"url\":\"https://a.example/\",\"headers\":[[\"A\",\"{{secret:X}}\"]]}]"};

    for (size_t i = 0; i < GBX_COUNTOF(refused); i++)
        assert_true(world_fetch(&f->world, refused[i], NULL, 0)->is_error);
    assert_int_equal(f->asked, 0);
}

static void redirect_to(const gbx_http_header *location)
{
    f->responses[0].status = 302;
    f->responses[0].headers = location;
}

TEST_WITH(set_up, tear_down, redirects__are_checked_and_asked_for_anew)
{
    static const char args[] = "[{\"url\":\"https://a.example/\",\"headers\":"
                               "[[\"Authorization\",\"t\"],[\"X\",\"y\"]]}]";

    redirect_to(to_listed);
    expect_code(world_fetch(&f->world, args, NULL, 0), "");
    assert_int_equal(f->asked, 2);
    assert_string_equal(f->seen, "GET https://b.example/next | X: y | ");
    f->asked = 0;
    redirect_to(to_unlisted);
    expect_code(world_fetch(&f->world, args, NULL, 0), "ERR_FETCH_NOT_ALLOWED");
    assert_int_equal(f->asked, 1);
    f->asked = 0;
    redirect_to(to_inside);
    expect_code(world_fetch(&f->world, args, NULL, 0), "ERR_FETCH_ADDRESS");
    assert_int_equal(f->asked, 1);
}

TEST_WITH(set_up, tear_down, response__is_held_to_the_same_limits)
{
    static char large[100001];

    f->responses[0].body = large;
    f->responses[0].body_len = sizeof large;
    expect_code(world_get(&f->world, "https://a.example/"), "ERR_FETCH_TOO_LARGE");
    f->asked = 0;
    f->responses[0].body_len = 100000;
    expect_code(world_get(&f->world, "https://a.example/"), "");
    f->asked = 0;
    f->responses[0].headers = broken;
    expect_code(world_get(&f->world, "https://a.example/"), "ERR_FETCH_RESPONSE");
}

TEST_WITH(set_up, tear_down, error__of_the_transport_is_told_in_its_words)
{
    f->responses[0].error = "no route today\x1b[31m";
    expect_code(world_get(&f->world, "https://a.example/"), "ERR_FETCH_TRANSPORT");
    assert_non_null(strstr(f->world.result.message, "no route today\\u{1b}"));
}

TEST_WITH(set_up, tear_down,
          answer__that_is_malformed_is_refused_and_may_be_given_again)
{
    gbx_transport_response bad[5];
    fetch_result result;

    f->answers = false;
    (void)world_start(&f->world, "[{\"url\":\"https://a.example/\"}]", &result);
    while (f->asked == 0)
        (void)event_base_loop(f->world.base, EVLOOP_ONCE);
    for (size_t i = 0; i < GBX_COUNTOF(bad); i++)
        bad[i] = f->responses[0];
    bad[0].struct_size = 7;
    bad[1].status = 199;
    bad[2].status = 600;
    bad[3].headers = NULL;
    bad[4].body = NULL;
    for (size_t i = 0; i < GBX_COUNTOF(bad); i++)
        assert_int_equal(gbx_fetcher_answer(f->world.fetcher, f->token, &bad[i], NULL),
                         GBX_E_USAGE);
    assert_int_equal(gbx_fetcher_answer(f->world.fetcher, f->token, &f->responses[0],
                                        NULL),
                     GBX_OK);
    world_run(&f->world, &result);
    expect_code(&result, "");
    result_free(&result);
}

TEST_WITH(set_up, tear_down, answer__twice_late_and_for_nobody_finds_nobody)
{
    fetch_result result;
    gbx_fetch *fetch;

    expect_code(world_get(&f->world, "https://a.example/"), "");
    assert_int_equal(gbx_fetcher_answer(f->world.fetcher, f->token, &f->responses[0],
                                        NULL),
                     GBX_E_CLOSED);
    f->answers = false;
    fetch = world_start(&f->world, "[{\"url\":\"https://a.example/\"}]", &result);
    while (f->asked == 1)
        (void)event_base_loop(f->world.base, EVLOOP_ONCE);
    gbx_fetch_drop(fetch);
    assert_int_equal(gbx_fetcher_answer(f->world.fetcher, f->token, &f->responses[0],
                                        NULL),
                     GBX_E_CLOSED);
    assert_int_equal(result.told, 0);
    for (gbx_transport_token token = 0; token < 10; token++)
        assert_int_equal(gbx_fetcher_answer(f->world.fetcher, token, &f->responses[0],
                                            NULL),
                         GBX_E_CLOSED);
}

TEST_WITH(set_up, tear_down, answer__that_never_comes_ends_in_time)
{
    f->answers = false;
    f->world.policy.fetch.timeout_ms = 100;
    expect_code(world_get(&f->world, "https://a.example/"), "ERR_FETCH_TIMEOUT");
}

/* Two threads answer every request as soon as it is asked: one of them is heard. */
static void *answer_all(void *user)
{
    uintptr_t heard = 0;

    for (gbx_transport_token token = 1; token <= 200; token++) {
        gbx_status status;

        while (__atomic_load_n(&f->token, __ATOMIC_ACQUIRE) < token)
            continue;
        status = gbx_fetcher_answer(f->world.fetcher, token, &f->responses[0], NULL);
        heard += status == GBX_OK ? 1 : 0;
    }
    return (void *)heard;
}

static void on_ask_many(void *user, gbx_engine *engine, gbx_transport_token token,
                        const gbx_transport_request *request)
{
    __atomic_store_n(&f->token, token, __ATOMIC_RELEASE);
}

TEST(answers__from_two_threads_are_heard_once_each)
{
    static fetch_result results[200];
    gbx_fetcher_options options = {.transport = on_ask_many, .transport_user = f};
    pthread_t threads[2];
    uintptr_t heard = 0;
    *f = (fixture){0};
    world_open(&f->world, &options);
    world_allow(&f->world, "a.example", 0, PUBLIC_ONLY);
    f->responses[0] = (gbx_transport_response)GBX_TRANSPORT_RESPONSE_INIT;
    f->responses[0].status = 204;
    for (size_t i = 0; i < GBX_COUNTOF(results); i++)
        (void)world_start(&f->world, "[{\"url\":\"https://a.example/\"}]", &results[i]);

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, answer_all, NULL), 0);
    for (size_t i = 0; i < GBX_COUNTOF(results); i++)
        world_run(&f->world, &results[i]);
    for (size_t i = 0; i < 2; i++) {
        void *count;

        assert_int_equal(pthread_join(threads[i], &count), 0);
        heard += (uintptr_t)count;
    }

    assert_int_equal(heard, GBX_COUNTOF(results));
    for (size_t i = 0; i < GBX_COUNTOF(results); i++) {
        assert_int_equal(results[i].told, 1);
        expect_code(&results[i], "");
        result_free(&results[i]);
    }
    world_close(&f->world);
}

TEST(fetcher__without_a_transport_takes_no_answers)
{
    gbx_transport_response response = GBX_TRANSPORT_RESPONSE_INIT;
    fetch_world world;
    world_open(&world, NULL);

    assert_int_equal(gbx_fetcher_answer(world.fetcher, 1, &response, NULL),
                     GBX_E_USAGE);

    world_close(&world);
}

TEST_MAIN(NULL, NULL)

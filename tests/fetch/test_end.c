/* SPDX-License-Identifier: MIT */
/* end - a request that is dropped or outlived is told of once, or not at all. */
#include "named_server.h"

#include "base/cleanup.h"
#include "test.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dns_name names[] = {{"silent.test", "silent"},
                                 {"plain.test", "127.0.0.1"}};

static named_server its;
static named_server *const f = &its;

/* Requests that stop somewhere on their way, and how far they come. */
typedef enum stage { ASKING, WAITING, READING, REDIRECTED } stage;
static const struct {
    const char *name;
    const char *path;
    stage stage;
} stages[] = {{"silent.test", "/ok", ASKING},
              {"plain.test", "/hold", WAITING},
              {"plain.test", "/drip", READING},
              {"plain.test", "/to/302/%2fhold", REDIRECTED}};

static int set_up(void **state)
{
    *f = (named_server){0};
    named_server_open(f, names, GBX_COUNTOF(names), NULL);
    return 0;
}

static int tear_down(void **state)
{
    named_server_close(f);
    return 0;
}

static gbx_fetch *start(size_t which, fetch_result *result)
{
    char args[256];

    (void)snprintf(args, sizeof args, "[{\"url\":\"http://%s:%u%s\"}]",
                   stages[which].name, f->port, stages[which].path);
    return world_start(&f->world, args, result);
}

/* Turn the loop until the request is where it stops. */
static void reach(size_t which)
{
    unsigned wanted = stages[which].stage == REDIRECTED ? 2 : 1;
    char last[64] = "";

    if (stages[which].stage == ASKING) {
        while (dns_server_questions(f->dns, "silent.test", '6') == 0)
            (void)event_base_loop(f->world.base, EVLOOP_NONBLOCK);
        return;
    }
    while (server_connections(f->server) < wanted || last[0] == '\0') {
        (void)event_base_loop(f->world.base, EVLOOP_NONBLOCK);
        server_last_request(f->server, last, sizeof last);
    }
}

TEST(drop__tells_the_observer_and_nobody_else)
{
    for (size_t i = 0; i < GBX_COUNTOF(stages); i++) {
        fetch_result result;
        gbx_fetch *fetch;

        if (i > 0)
            (void)set_up(state);
        fetch = start(i, &result);
        reach(i);
        gbx_fetch_drop(fetch);
        (void)event_base_loop(f->world.base, EVLOOP_NONBLOCK);
        assert_int_equal(result.told, 0);
        assert_int_equal(result.reports, 1);
        assert_string_equal(result.report_code, "ERR_FETCH_ABORTED");
        if (i + 1 < GBX_COUNTOF(stages))
            (void)tear_down(state);
    }
}

TEST(drop__before_anything_began_sends_nothing)
{
    fetch_result result;

    gbx_fetch_drop(start(1, &result));
    (void)event_base_loop(f->world.base, EVLOOP_NONBLOCK);

    assert_int_equal(result.told, 0);
    assert_int_equal(result.reports, 1);
    assert_int_equal(server_connections(f->server), 0);
}

TEST(fetcher__that_is_freed_drops_what_is_in_flight)
{
    fetch_result results[GBX_COUNTOF(stages)];

    for (size_t i = 0; i < GBX_COUNTOF(stages); i++)
        (void)start(i, &results[i]);
    reach(0);
    reach(3);
    gbx_fetcher_free(f->world.fetcher);
    f->world.fetcher = NULL;
    (void)event_base_loop(f->world.base, EVLOOP_NONBLOCK);

    for (size_t i = 0; i < GBX_COUNTOF(stages); i++) {
        assert_int_equal(results[i].told, 0);
        assert_int_equal(results[i].reports, 1);
    }
}

/* What done may do: start another, and drop a third. */
typedef struct relay {
    gbx_fetch *victim;
    fetch_result next;
    unsigned told;
} relay;

static void on_first(void *user, const gbx_msg_answer *answer)
{
    relay *r = user;
    char args[128];

    r->told++;
    gbx_fetch_drop(r->victim);
    (void)snprintf(args, sizeof args, "[{\"url\":\"http://plain.test:%u/ok\"}]",
                   f->port);
    (void)world_start(&f->world, args, &r->next);
}

TEST(done__may_start_and_drop)
{
    static const char nonsense[] = "[{\"url\":\"nonsense\"}]";
    gbx_fetcher_options options;
    gbx_span args = {(const uint8_t *)nonsense, sizeof nonsense - 1};
    relay r = {0};
    fetch_result victim;

    /* A fetcher without the world's observer: user is ours here. */
    options = (gbx_fetcher_options){.base = f->world.base};
    r.victim = start(1, &victim);
    reach(1);
    {
        gbx_fetcher *other;

        assert_int_equal(gbx_fetcher_new(&options, &other, NULL), GBX_OK);
        assert_non_null(gbx_fetch_start(other, &f->world.policy, args, (gbx_span){0},
                                        on_first, &r));
        while (r.told == 0 || r.next.told == 0)
            (void)event_base_loop(f->world.base, EVLOOP_ONCE);
        gbx_fetcher_free(other);
    }

    assert_int_equal(victim.told, 0);
    assert_int_equal(victim.reports, 1);
    expect_code(&r.next, "");
    result_free(&r.next);
}

TEST_MAIN_EACH(set_up, tear_down)

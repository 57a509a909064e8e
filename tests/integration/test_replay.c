/* SPDX-License-Identifier: MIT */
/* What is recorded happens again, to the byte, with nothing behind it. */
#include "calls.h"
#include "host_functions.h"
#include "replays.h"
#include "table.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
    gbx_engine *engine;
    host_functions host;
} world;

static world its;
static world *const w = &its;

static int set_up(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    *w = (world){0};
    w->engine = engine_start(&options);
    host_functions_expose(&w->host, w->engine);
    return 0;
}

static int tear_down(void **state)
{
    host_functions_settle(&w->host);
    gbx_engine_free(w->engine);
    return 0;
}

TEST(every_call__is_replayed_to_the_byte_with_nothing_behind)
{
    const table_block *calls;
    size_t count = table_blocks("integration/scripts/replayed.txt", &calls);

    for (size_t i = 0; i < count; i++) {
        gbx_call call = call_of(calls[i].text);
        char *input = NULL;

        if (*calls[i].options != 0) {
            input = strdup(calls[i].options + strlen("input="));
            input[strcspn(input, "\n")] = 0;
            call.input = input;
            call.input_len = strlen(input);
        }
        print_message("%s\n", calls[i].name);
        check_replay(w->engine, &call, 0, false);
        free(input);
    }
}

/* Which answer is first is the machine's choice each time. */
TEST(a_race__is_decided_by_the_recording_each_time)
{
    gbx_call call = call_of(
        "async () => { const order = []; const t = setInterval(() => order.push('t'), 1);"
        " await Promise.all(Array.from({ length: 12 }, (_, i) => (i % 2 ? db.late(i % 3) "
        ": echo(i)).then(() => order.push(i)))); clearInterval(t); "
        "return [order, Math.random(), Date.now()]; }");

    for (int i = 0; i < 20; i++)
        check_replay(w->engine, &call, 0, true);
}

TEST(a_replay__calls_no_function_of_its_engine)
{
    gbx_call call = call_of("async () => [await echo(1), await db.late(1)]");
    char *text = record_call(w->engine, &call, 0, NULL);
    size_t called = w->host.called;
    gbx_result *result = replay_in(w->engine, text, NULL);

    assert_int_equal(gbx_result_replay(result).how, GBX_REPLAYED_SAME);
    assert_int_equal(w->host.called, called);
    gbx_result_free(result);
    free(text);
}

TEST(a_seed_and_a_clock__are_the_callers_where_there_are_any)
{
    gbx_call call = call_of("() => [Math.random(), Date.now()]");
    gbx_result *plain, *recorded;
    char *text;

    call.flags = GBX_CALL_SEEDED | GBX_CALL_FIXED_NOW;
    call.seed = 7;
    call.now_ms = 86400000;
    plain = call_run(w->engine, &call);
    text = record_call(w->engine, &call, 0, &recorded);

    assert_string_equal(gbx_result_value(plain, NULL),
                        gbx_result_value(recorded, NULL));
    gbx_result_free(plain);
    gbx_result_free(recorded);
    free(text);
}

TEST(recordings__have_fresh_seeds)
{
    gbx_call call = call_of("() => Math.random()");
    gbx_result *results[2];

    for (size_t i = 0; i < 2; i++)
        free(record_call(w->engine, &call, 0, &results[i]));

    assert_string_not_equal(gbx_result_value(results[0], NULL),
                            gbx_result_value(results[1], NULL));
    gbx_result_free(results[0]);
    gbx_result_free(results[1]);
}

TEST(submitted_calls__are_recorded_and_replayed_too)
{
    gbx_recording *recording = gbx_recording_new(0);
    gbx_call call = call_of("async () => [await db.late(2), await echo(1)]");
    gbx_call again = GBX_CALL_INIT;
    gbx_ticket first, second;
    inbox box;

    inbox_init(&box, 1000);
    call.record = recording;
    again.replay = recording;
    first = call_submit(w->engine, &call, &box);
    assert_true(inbox_wait(&box, 1, 60000));
    second = call_submit(w->engine, &again, &box);
    assert_true(inbox_wait(&box, 2, 60000));

    check_same(box.results[first], box.results[second]);
    inbox_cleanup(&box);
    gbx_recording_free(recording);
}

TEST_MAIN_EACH(set_up, tear_down)

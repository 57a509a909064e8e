/* SPDX-License-Identifier: MIT */
/* What is recorded happens again, to the byte, with nothing behind it. */
#include "calls.h"
#include "host_functions.h"
#include "replays.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Code that is recorded with the functions of host_functions.h, and replayed. */
static const struct {
    const char *name;
    const char *code;
    const char *input;
} calls[] = {
    {"no host call", "(data) => data.map((x) => x * 2)", "[1,2,3]"},
    {"undefined", "() => undefined", NULL},
    {"an answer at once", "async () => await echo(1, 'two', { three: [3] })", NULL},
    {"undefined as the answer", "async () => [(await nothing()) === undefined]", NULL},
    {"an error as the answer",
     "async () => { try { await fail(); } catch (e) { return [e.name, e.message, e.code, "
     "e.stack, e instanceof TypeError]; } }",
     NULL},
    {"an error that is thrown on", "async () => {\n  await fail();\n}", NULL},
    {"an answer later", "async () => await db.late(5)", NULL},
    {"answers out of order",
     "async () => { const order = []; await Promise.all([30, 1, 15, 0, 8].map(async (ms) "
     "=> { await db.late(ms); order.push(ms); })); return order; }",
     NULL},
    {"200 at once",
     "async () => { const order = []; await Promise.all(Array.from({ length: 200 }, "
     "(_, i) => (i % 3 === 0 ? db.late(i % 7) : echo(i)).then(() => order.push(i)))); "
     "return order; }",
     NULL},
    {"more than may be at once",
     "async () => { const order = []; await Promise.all(Array.from({ length: 600 }, "
     "(_, i) => echo(i).then(() => order.push(i)))); return order; }",
     NULL},
    {"a timer against an answer",
     "async () => { const seen = []; const t = setInterval(() => seen.push(Date.now()), "
     "2); await Promise.all([db.late(9), db.late(4), sleep(3)]); clearInterval(t); "
     "seen.push(await Promise.race([db.late(3), sleep(3).then(() => 'timer')])); return "
     "seen; }",
     NULL},
    {"requests that nobody awaits",
     "async () => { echo('a'); db.late(1); echo('b'); return 7; }", NULL},
    {"an answer to one that nobody awaits any more",
     "async () => { await Promise.race([db.never(), db.late(1)]); return 'raced'; }",
     NULL},
    {"randomness and time",
     "() => [Math.random(), Math.random(), Date.now(), new Date().toISOString(), new "
     "Date().getTimezoneOffset(), Intl.DateTimeFormat().format(new Date())]",
     NULL},
    {"time that timers move",
     "async () => { const a = Date.now(); await sleep(1500); return [a, Date.now() - a]; "
     "}",
     NULL},
    {"console lines",
     "async () => { console.log('a\\nb', { c: 1 }); console.error(await echo(1)); "
     "console.warn('\\u001b[31m'); return null; }",
     NULL},
    {"an error of the code", "(data) => {\n  return data.missing.field;\n}", "{}"},
    {"a promise that never settles", "() => new Promise(() => {})", NULL},
    {"a rejection that nobody meets",
     "async () => { Promise.reject(new Error('unmet')); return await echo(1); }", NULL},
    {"code that is none", "() => {", NULL},
    {"code that is refused", "() => eval('1')", NULL},
    {"an input that is none", "(data) => data", "{\"a\":"},
    {"a value too large", "() => 'x'.repeat(2000000)", NULL},
    {"a large value", "() => 'x'.repeat(300000)", NULL},
    {"large arguments", "async () => (await echo('y'.repeat(200000)))[0].length", NULL},
    {"a large answer", "async () => (await db.huge(3000000)).length", NULL},
    {"arguments that are no JSON",
     "async () => { try { await echo(1n); } catch (e) { return e.message; } }", NULL},
    {"characters of all kinds",
     "async () => [await echo('\\u0000 \\u2028 \\ud83d\\ude00 \\u202e \\ufeff'), "
     "'\\ud800'.length, '\\u0085']",
     NULL},
    {"a name that is not there", "() => [typeof fetch, typeof db.nobody, typeof fs]",
     NULL},
    {"what the names look like",
     "() => [Object.keys(db), echo.name, echo.length, Object.keys(globalThis), "
     "Reflect.ownKeys(globalThis).map(String).sort()]",
     NULL},
};

typedef struct world {
    gbx_engine *engine;
    host_functions host;
} world;

static int set_up(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    world *w = calloc(1, sizeof *w);

    w->engine = engine_start(&options);
    host_functions_expose(&w->host, w->engine);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;

    host_functions_settle(&w->host);
    gbx_engine_free(w->engine);
    free(w);
    return 0;
}

static gbx_call call_with(const char *code, const char *input)
{
    gbx_call call = call_of(code);

    call.input = input;
    call.input_len = input != NULL ? strlen(input) : 0;
    return call;
}

static void test_every_call__is_replayed_to_the_byte_with_nothing_behind(void **state)
{
    world *w = *state;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        gbx_call call = call_with(calls[i].code, calls[i].input);
        gbx_result *recorded, *replayed;
        char *text;

        print_message("%s\n", calls[i].name);
        text = record_call(w->engine, &call, 0, &recorded);
        replayed = replay_alone(text, calls[i].input);
        check_same(recorded, replayed);
        gbx_result_free(replayed);
        gbx_result_free(recorded);
        free(text);
    }
}

/* Which answer is first is the machine's choice each time. */
static void test_a_race__is_decided_by_the_recording_a_hundred_times(void **state)
{
    world *w = *state;
    gbx_call call = call_of(
        "async () => { const order = []; const t = setInterval(() => order.push('t'), 1);"
        " await Promise.all(Array.from({ length: 12 }, (_, i) => (i % 2 ? db.late(i % 3) "
        ": echo(i)).then(() => order.push(i)))); clearInterval(t); "
        "return [order, Math.random(), Date.now()]; }");

    for (int i = 0; i < 100; i++) {
        gbx_result *recorded, *replayed;
        char *text = record_call(w->engine, &call, 0, &recorded);

        replayed = replay_in(w->engine, text, NULL);
        check_same(recorded, replayed);
        gbx_result_free(replayed);
        gbx_result_free(recorded);
        free(text);
    }
}

static void test_a_replay__calls_no_function_of_its_engine(void **state)
{
    world *w = *state;
    gbx_call call = call_of("async () => [await echo(1), await db.late(1)]");
    char *text = record_call(w->engine, &call, 0, NULL);
    size_t called = w->host.called;
    gbx_result *result = replay_in(w->engine, text, NULL);

    assert_int_equal(gbx_result_replay(result).how, GBX_REPLAYED_SAME);
    assert_int_equal(w->host.called, called);
    gbx_result_free(result);
    free(text);
}

static void test_a_seed_and_a_clock__are_the_callers_where_there_are_any(void **state)
{
    world *w = *state;
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

static void test_recordings__have_fresh_seeds(void **state)
{
    world *w = *state;
    gbx_call call = call_of("() => Math.random()");
    gbx_result *results[2];

    for (size_t i = 0; i < 2; i++)
        free(record_call(w->engine, &call, 0, &results[i]));

    assert_string_not_equal(gbx_result_value(results[0], NULL),
                            gbx_result_value(results[1], NULL));
    gbx_result_free(results[0]);
    gbx_result_free(results[1]);
}

static void test_submitted_calls__are_recorded_and_replayed_too(void **state)
{
    world *w = *state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_every_call__is_replayed_to_the_byte_with_nothing_behind, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_race__is_decided_by_the_recording_a_hundred_times, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(test_a_replay__calls_no_function_of_its_engine,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_seed_and_a_clock__are_the_callers_where_there_are_any, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(test_recordings__have_fresh_seeds, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_submitted_calls__are_recorded_and_replayed_too, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_every_call__is_replayed_to_the_byte_with_nothing_behind, set_up,
            tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

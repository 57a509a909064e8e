/* SPDX-License-Identifier: MIT */
/* Functions of the host: what code sees of them, and hosts that answer late, twice,
 * never, too much, or to a call that is gone. */
#include "calls.h"
#include "host_functions.h"
#include "proc.h"
#include "until.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gbx_engine *engine;
static host_functions host;
static footprint quiet;

static int start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    (void)state;
    options.limits.host_in_bytes = 4 << 20;
    options.limits.host_out_bytes = 1 << 20;
    engine = engine_start(&options);
    host_functions_expose(&host, engine);
    for (int i = 0; i < 3; i++) /* which fill the pool: no test has more afterwards */
        check_alive(engine);
    wait_until_full(engine);
    quiet = footprint_take();
    return 0;
}

static int finish(void **state)
{
    (void)state;
    host_functions_settle(&host);
    gbx_engine_free(engine);
    return proc_descendants() == 0 ? 0 : -1;
}

/* After each test: the engine serves, and there is nothing more than before. */
static int look(void **state)
{
    (void)state;
    host_functions_settle(&host);
    check_alive(engine);
    wait_until_full(engine);
    footprint_check(&quiet);
    return 0;
}

/* ---- what code sees --------------------------------------------------------------- */

static const struct row {
    const char *name;
    const char *code;
    const char *value;
} rows[] = {
    {"a value comes back", "async () => await echo(1, 'a', [true, null])",
     "[1,\"a\",[true,null]]"},
    {"undefined comes back", "async () => String(await nothing())", "\"undefined\""},
    {"no arguments are an empty list", "async () => await echo()", "[]"},
    {"undefined as an argument is null", "async () => await echo(undefined)", "[null]"},
    {"text of any kind goes through",
     "async () => (await echo('\\u0000\\ud83d\\ude00\\u2028\"'))[0].length", "5"},
    {"an unpaired surrogate is escaped by JSON",
     "async () => (await echo('\\ud800'))[0].charCodeAt(0)", "55296"},
    {"names are namespaces", "() => Object.keys(db).join()",
     "\"late,never,twice,bad,huge,keep\""},
    {"functions know their names", "() => db.late.name + echo.name", "\"lateecho\""},
    {"a function is no constructor",
     "() => { try { new echo() } catch (e) { return e.name } }", "\"TypeError\""},
    {"an error has name, message and code",
     "async () => { try { await fail() } catch (e) {"
     " return [e.name, e.message, e.code, e instanceof TypeError, e instanceof Error] } }",
     "[\"TypeError\",\"no such table\",\"ENOTABLE\",true,true]"},
    {"an error's stack shows the code alone",
     "async () => { try { await fail() } catch (e) {"
     " return e.stack.split('\\n').every(l => /^[^@]*@code\\.js:\\d+:\\d+$/.test(l)) } }",
     "true"},
    {"errors can be told apart",
     "async () => (await Promise.allSettled([fail(), echo(1)])).map(r => r.status)",
     "[\"rejected\",\"fulfilled\"]"},
    {"what JSON cannot hold is refused by name",
     "async () => { try { await echo({ a: new Map() }) } catch (e) {"
     " return e.message.startsWith('arguments[0].a is a Map') } }",
     "true"},
    {"a function is refused wherever it stands",
     "async () => (await Promise.allSettled([echo(1, () => 1), echo({ a: [class {}] }),"
     " echo({ get f() { return parseInt } }), echo(Object.assign(() => 1, { toJSON: () => 2 }))]))"
     ".map(r => r.value ?? r.reason.message)",
     "[\"arguments[1] is a Function, which JSON cannot hold: pass what it returns, the host "
     "cannot call it\",\"arguments[0].a[0] is a Function, which JSON cannot hold: pass what it "
     "returns, the host cannot call it\",\"what a getter, a toJSON or a proxy gave for a part of "
     "the arguments is a Function, which JSON cannot hold: pass what it returns, the host cannot "
     "call it\",[2]]"},
    {"a symbol is refused",
     "async () => { try { await echo(1, Symbol('x')) } catch (e) {"
     " return e.name + ': ' + e.message } }",
     "\"TypeError: arguments[1] is a Symbol, which JSON cannot hold: use its description\""},
    {"what is no number is null", "async () => await echo(NaN, { a: 1 / 0 })",
     "[null,{\"a\":null}]"},
    {"to the code's own JSON a function is what it was",
     "async () => { let own; await echo({ toJSON() { own = 'toJSON' in Object.keys;"
     " return 1 } }); return [own, JSON.stringify({ f() {} }), parseInt.toJSON === undefined] }",
     "[true,\"{}\",true]"},
    {"a bigint is refused",
     "async () => { try { await echo(1n) } catch (e) { return e.name } }",
     "\"TypeError\""},
    {"a cycle is refused",
     "async () => { const o = {}; o.o = o; try { await echo(o) } catch (e) {"
     " return e.message.includes('cycle') } }",
     "true"},
    {"arguments as deep as any may be go through",
     "async () => { let a = 1; for (let i = 0; i < 999; i++) a = [a];"
     " return JSON.stringify(await echo(a)).length }",
     "2001"},
    {"arguments that are deeper are refused",
     "async () => { let a = 1; for (let i = 0; i < 1000; i++) a = [a];"
     " let b = a; for (let i = 0; i < 5000; i++) b = { b };"
     " return (await Promise.allSettled([echo(a), echo('[', b), echo(1)]))"
     ".map(r => r.value ?? r.reason.name + ': ' + r.reason.message) }",
     "[\"TypeError: the arguments are nested deeper than 1000 levels\","
     "\"TypeError: the arguments are nested deeper than 1000 levels\",[1]]"},
    {"what toJSON throws is the code's own",
     "async () => { try { await echo({ toJSON() { throw 7 } }) } catch (e) { return e } }",
     "7"},
    {"a call that toJSON of an argument makes is a call of its own",
     "async () => { let inner; const outer = await echo({ toJSON() {"
     " inner = echo('in'); return 'out' } }); return [outer, await inner] }",
     "[[\"out\"],[\"in\"]]"},
    {"and hides nothing of what follows it",
     "async () => { try { await echo({ get a() { echo(1) } }, new Map()) } catch (e) {"
     " return e.message.startsWith('arguments[1] is a Map') } }",
     "true"},
    {"answers come in any order",
     "async () => { const order = []; await Promise.all([30, 1].map(async ms => {"
     " await db.late(ms); order.push(ms) })); return order }",
     "[1,30]"},
    {"an answer beside timers",
     "async () => Promise.race([db.late(2000), sleep(1).then(() => 'timer')])",
     "\"timer\""},
    {"a timer beside answers", "async () => Promise.race([sleep(2000), db.late(1)])",
     "\"late\""},
    {"200 at once",
     "async () => (await Promise.all(Array.from({ length: 200 },"
     " (_, i) => db.late(i % 7)))).filter(x => x === 'late').length",
     "200"},
    {"more than may be at once wait and are served",
     "async () => (await Promise.all(Array.from({ length: 2000 }, (_, i) => echo(i))))"
     ".every((x, i) => x[0] === i)",
     "true"},
    {"10,000 in one script",
     "async () => { let n = 0; for (let i = 0; i < 10000; i++) n += (await echo(i))[0];"
     " return n }",
     "49995000"},
    {"one more than the limit",
     "async () => { let n = 0; try { for (;;) { await nothing(); n++ } } catch (e) {"
     " return [n, e.code] } }",
     "[10000,\"ERR_HOST_CALLS\"]"},
    {"arguments up to the limit",
     "async () => (await echo('x'.repeat(1048576 - 4)))[0].length", "1048572"},
    {"arguments over the limit",
     "async () => { try { await echo('x'.repeat(1048576 - 3)) } catch (e) {"
     " return e.code } }",
     "\"ERR_HOST_BYTES\""},
    {"arguments of all calls are counted together",
     "async () => { let n = 0; try { for (;;) { await nothing('x'.repeat(100000)); n++ }"
     " } catch (e) { return [n, e.code] } }",
     "[10,\"ERR_HOST_BYTES\"]"},
    {"an answer over the limit is an error of its own",
     "async () => { try { await db.huge(4194304) } catch (e) {"
     " return [e.code, (await echo(1))[0]] } }",
     "[\"ERR_HOST_BYTES\",1]"},
    {"an answer of 100 MB is an error too",
     "async () => { try { await db.huge(100000000) } catch (e) { return e.code } }",
     "\"ERR_HOST_BYTES\""},
    {"an answer twice counts once", "async () => [await db.twice(), await echo(3)]",
     "[1,[3]]"},
    {"an answer that is no JSON is an error",
     "async () => { try { await db.bad() } catch (e) { return [e.code, e.message] } }",
     "[\"ERR_HOST_ANSWER\",\"the host's answer is not JSON: expected a JSON value\"]"},
    {"an answer that is too deep is one, and says so",
     "async () => { await db.bad(1000); try { await db.bad(1001) } catch (e) { return [e.code, e.message] } }",
     "[\"ERR_HOST_ANSWER\",\"the host's answer is nested deeper than 1000 levels\"]"},
    {"what nobody awaits is asked all the same", "() => { nothing(); return 1 }", "1"},
    {"patched built-ins do not come between",
     "async () => { Array.prototype.push = Promise.prototype.then = JSON.stringify ="
     " JSON.parse = Map.prototype.get = () => { throw 1 };"
     " return (await echo(5))[0] }",
     "5"},
    {"deep in async code",
     "async () => { async function* g() { for (let i = 0; i < 3; i++) yield await echo(i) }"
     " const out = []; for await (const [x] of g()) out.push(x); return out }",
     "[0,1,2]"},
};

static void test_row(void **state)
{
    const struct row *row = *state;

    check_value(engine, row->code, "null", row->value);
}

/* ---- ends ----------------------------------------------------------------------- */

static void check_error(const char *code, gbx_code expected, const char *text)
{
    gbx_call call = call_of(code);
    gbx_limits limits = timeout_of(expected == GBX_CODE_TIMEOUT ? 2000 : 60000);
    gbx_result *result;

    call.limits = &limits;
    result = call_run(engine, &call);
    if (gbx_result_code(result) != expected ||
        strstr(gbx_result_error(result), text) == NULL)
        fail_msg("%s: %s", code, gbx_result_json(result, NULL));
    gbx_result_free(result);
}

static void test_never_answered__is_a_timeout_that_says_by_whom(void **state)
{
    (void)state;
    check_error("async () => await db.never()", GBX_CODE_TIMEOUT,
                "waiting for the host to answer db.never");
}

static void test_uncaught__has_the_place_of_the_call(void **state)
{
    gbx_call call = call_of("async () => {\n  await fail()\n}");
    gbx_result *result = call_run(engine, &call);

    (void)state;
    assert_int_equal(gbx_result_code(result), GBX_CODE_RUNTIME);
    assert_string_equal(gbx_result_error(result), "TypeError: no such table");
    assert_int_equal(gbx_result_location(result).line, 2);
    assert_int_equal(gbx_result_stats(result).host_calls, 1);
    gbx_result_free(result);
}

static void test_result__whose_toJSON_calls_is_as_strict_as_others(void **state)
{
    (void)state;
    check_error("() => [{ toJSON() { echo(1); return 1 } }, new Map()]",
                GBX_CODE_RUNTIME, "a Map");
}

static void test_late__after_the_call_has_ended_finds_nobody(void **state)
{
    size_t closed = host.closed;

    (void)state;
    for (int i = 0; i < 20; i++)
        check_value(engine, "() => { db.late(1500); return 1 }", "null", "1");
    host_functions_settle(&host);
    assert_int_equal(host.closed - closed, 20);
}

static bool was_called(void *user)
{
    return host.called > *(size_t *)user;
}

typedef struct victim {
    gbx_call call;
    gbx_code code;
} victim;

static void *run_victim(void *arg)
{
    victim *v = arg;

    v->code = call_code(engine, &v->call);
    return NULL;
}

static bool serves(void *user)
{
    gbx_call call = call_of("() => 1");

    (void)user;
    return call_code(engine, &call) == GBX_CODE_VALUE;
}

static void test_worker__killed_between_request_and_answer_ends_its_call(void **state)
{
    size_t before = host.called;
    victim v = {call_of("async () => await db.keep()"), -1};
    pid_t workers[64];
    pthread_t thread;
    size_t count;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, run_victim, &v), 0);
    assert_true(until(was_called, &before, 60000));
    count = proc_workers(proc_template(), workers, 64);
    for (size_t i = 0; i < count; i++)
        (void)kill(workers[i], SIGKILL);
    (void)pthread_join(thread, NULL);
    assert_int_equal(v.code, GBX_CODE_CRASHED);
    assert_int_equal(gbx_answer(engine, host.last, "1", 1, NULL), GBX_E_CLOSED);
    assert_true(until(serves, NULL, 60000)); /* idle workers were killed too */
}

static void test_abort__while_the_host_thinks_ends_the_call(void **state)
{
    size_t before = host.called;
    gbx_signal *sig = gbx_signal_new();
    victim v = {call_of("async () => await db.keep()"), -1};
    pthread_t thread;

    (void)state;
    v.call.signal = sig;
    assert_int_equal(pthread_create(&thread, NULL, run_victim, &v), 0);
    assert_true(until(was_called, &before, 60000));
    gbx_signal_abort(sig);
    (void)pthread_join(thread, NULL);
    assert_int_equal(v.code, GBX_CODE_ABORTED);
    assert_int_equal(gbx_answer(engine, host.last, "1", 1, NULL), GBX_E_CLOSED);
    gbx_signal_free(sig);
}

static void test_submitted__calls_are_answered_too(void **state)
{
    gbx_call call = call_of("async () => [await db.late(5), (await echo(1))[0]]");
    inbox box;

    (void)state;
    inbox_init(&box, 100000);
    for (int i = 0; i < 50; i++)
        (void)call_submit(engine, &call, &box);
    assert_true(inbox_wait(&box, 50, 60000));
    assert_int_equal(box.by_code[GBX_CODE_VALUE], 50);
    assert_int_equal(box.twice, 0);
    inbox_cleanup(&box);
}

static void test_answer__to_numbers_that_nobody_gave_finds_nobody(void **state)
{
    static const gbx_request numbers[] = {
        0, 1, 2, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX, UINT64_C(1) << 63 | 1};
    gbx_error error;

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_int_equal(gbx_answer(engine, numbers[i], "1", 1, &error), GBX_E_CLOSED);
    assert_non_null(strstr(error.message, "nobody waits"));
}

static void test_free__with_requests_open_ends_their_calls(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *other = engine_start(&options);
    gbx_call call = call_of("async () => await db.never()");
    host_functions own;
    inbox box;

    (void)state;
    host_functions_expose(&own, other);
    inbox_init(&box, 100);
    for (int i = 0; i < 5; i++)
        (void)call_submit(other, &call, &box);
    gbx_engine_free(other);
    assert_int_equal(box.by_code[GBX_CODE_ABORTED], 5);
    inbox_cleanup(&box);
}

#define ENDING(name) cmocka_unit_test_teardown(name, look)

int main(void)
{
    static const struct CMUnitTest endings[] = {
        ENDING(test_never_answered__is_a_timeout_that_says_by_whom),
        ENDING(test_uncaught__has_the_place_of_the_call),
        ENDING(test_result__whose_toJSON_calls_is_as_strict_as_others),
        ENDING(test_late__after_the_call_has_ended_finds_nobody),
        ENDING(test_worker__killed_between_request_and_answer_ends_its_call),
        ENDING(test_abort__while_the_host_thinks_ends_the_call),
        ENDING(test_submitted__calls_are_answered_too),
        ENDING(test_answer__to_numbers_that_nobody_gave_finds_nobody),
        ENDING(test_free__with_requests_open_ends_their_calls),
    };
    enum {
        ROWS = sizeof rows / sizeof rows[0],
        ENDINGS = sizeof endings / sizeof endings[0]
    };
    static struct CMUnitTest all[ROWS + ENDINGS];

    for (size_t i = 0; i < ROWS; i++)
        all[i] = (struct CMUnitTest){rows[i].name, test_row, NULL, look,
                                     (void *)(uintptr_t)&rows[i]};
    memcpy(all + ROWS, endings, sizeof endings);
    return cmocka_run_group_tests_name("host functions", all, start, finish);
}

/* SPDX-License-Identifier: MIT */
/* Functions of the host: what code sees of them, and hosts that answer late, twice,
 * never, too much, or to a call that is gone. */
#include "child.h"
#include "host_functions.h"
#include "proc.h"
#include "table.h"
#include "test.h"
#include "until.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gbx_engine *engine;
static host_functions host;
static footprint quiet;

static int start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.limits.host_in_bytes = 4 << 20;
    options.limits.host_out_bytes = 1 << 20;
    engine = engine_start(&options);
    host_functions_expose(&host, engine);
    fill_pool(engine);
    quiet = footprint_take();
    return 0;
}

static int finish(void **state)
{
    host_functions_settle(&host);
    gbx_engine_free(engine);
    return proc_descendants() == 0 ? 0 : -1;
}

/* After each test: the engine serves, and there is nothing more than before. */
static int look(void **state)
{
    host_functions_settle(&host);
    check_alive(engine);
    wait_until_full(engine);
    footprint_check(&quiet);
    return 0;
}

/* ---- what code sees --------------------------------------------------------------- */

TEST(code__sees_what_the_table_says)
{
    const table_block *rows;
    size_t count = table_blocks("integration/scripts/host_functions.txt", &rows);

    for (size_t i = 0; i < count; i++) {
        print_message("%s\n", rows[i].name);
        check_value(engine, rows[i].text, "null", rows[i].value);
    }
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

TEST(never_answered__is_a_timeout_that_says_by_whom)
{
    check_error("async () => await db.never()", GBX_CODE_TIMEOUT,
                "waiting for the host to answer db.never");
}

TEST(uncaught__has_the_place_of_the_call)
{
    gbx_call call = call_of("async () => {\n  await fail()\n}");
    gbx_result *result = call_run(engine, &call);

    assert_int_equal(gbx_result_code(result), GBX_CODE_RUNTIME);
    assert_string_equal(gbx_result_error(result), "TypeError: no such table");
    assert_int_equal(gbx_result_location(result).line, 2);
    assert_int_equal(gbx_result_stats(result).host_calls, 1);
    gbx_result_free(result);
}

TEST(result__whose_toJSON_calls_is_as_strict_as_others)
{
    check_error("() => [{ toJSON() { echo(1); return 1 } }, new Map()]",
                GBX_CODE_RUNTIME, "a Map");
}

TEST(late__after_the_call_has_ended_finds_nobody)
{
    size_t closed = host.closed;

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

TEST(worker__killed_between_request_and_answer_ends_its_call)
{
    size_t before = host.called;
    victim v = {call_of("async () => await db.keep()"), -1};
    pid_t workers[64];
    pthread_t thread;
    size_t count;

    assert_int_equal(pthread_create(&thread, NULL, run_victim, &v), 0);
    assert_true(until(was_called, &before, 60000));
    count = proc_workers(proc_template(), workers, 64);
    for (size_t i = 0; i < count; i++)
        (void)kill(workers[i], SIGKILL);
    (void)pthread_join(thread, NULL);
    assert_int_equal(v.code, GBX_CODE_CRASHED);
    assert_int_equal(gbx_answer(engine, host.last, "1", 1, NULL), GBX_E_CLOSED);
    assert_true(
        until(child_is_alive, engine, 60000)); /* idle workers were killed too */
}

TEST(abort__while_the_host_thinks_ends_the_call)
{
    size_t before = host.called;
    gbx_signal *sig = gbx_signal_new();
    victim v = {call_of("async () => await db.keep()"), -1};
    pthread_t thread;

    v.call.signal = sig;
    assert_int_equal(pthread_create(&thread, NULL, run_victim, &v), 0);
    assert_true(until(was_called, &before, 60000));
    gbx_signal_abort(sig);
    (void)pthread_join(thread, NULL);
    assert_int_equal(v.code, GBX_CODE_ABORTED);
    assert_int_equal(gbx_answer(engine, host.last, "1", 1, NULL), GBX_E_CLOSED);
    gbx_signal_free(sig);
}

TEST(submitted__calls_are_answered_too)
{
    gbx_call call = call_of("async () => [await db.late(5), (await echo(1))[0]]");
    inbox box;

    inbox_init(&box, 100000);
    for (int i = 0; i < 50; i++)
        (void)call_submit(engine, &call, &box);
    assert_true(inbox_wait(&box, 50, 60000));
    assert_int_equal(box.by_code[GBX_CODE_VALUE], 50);
    assert_int_equal(box.twice, 0);
    inbox_cleanup(&box);
}

TEST(answer__to_numbers_that_nobody_gave_finds_nobody)
{
    static const gbx_request numbers[] = {
        0, 1, 2, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX, UINT64_C(1) << 63 | 1};
    gbx_error error;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_int_equal(gbx_answer(engine, numbers[i], "1", 1, &error), GBX_E_CLOSED);
    assert_non_null(strstr(error.message, "nobody waits"));
}

TEST(free__with_requests_open_ends_their_calls)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *other = engine_start(&options);
    gbx_call call = call_of("async () => await db.never()");
    host_functions own;
    inbox box;

    host_functions_expose(&own, other);
    inbox_init(&box, 100);
    for (int i = 0; i < 5; i++)
        (void)call_submit(other, &call, &box);
    gbx_engine_free(other);
    assert_int_equal(box.by_code[GBX_CODE_ABORTED], 5);
    inbox_cleanup(&box);
}

int main(void)
{
    tests_each(NULL, look);
    return tests_run(start, finish);
}

/* SPDX-License-Identifier: MIT */
/*
 * Every code with its cause, and every limit at the limit and one past it, with the
 * real worker. What only a hostile worker brings about is in test_hostile_calls.c.
 */
#include "measured.h"
#include "proc.h"
#include "table.h"
#include "test.h"
#include "until.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- codes ---------------------------------------------------------------- */

TEST(value__is_the_json_that_was_returned)
{
    check_value(measured_engine, "(d) => d.map((n) => n * 2)", "[1,2,3]", "[2,4,6]");
    check_value(measured_engine, "() => 'text'", NULL, "\"text\"");
    check_value(measured_engine, "() => undefined", NULL, "");
    check_value(measured_engine, "async (d) => { await sleep(1); return d }",
                "{\"a\":1}", "{\"a\":1}");
}

static gbx_code code_of(const char *name)
{
    for (gbx_code code = GBX_CODE_VALUE; code <= GBX_CODE_VIOLATION; code++)
        if (strcmp(code == GBX_CODE_VALUE ? "VALUE" : gbx_code_name(code), name) == 0)
            return code;
    fail_msg("no such code: %s", name);
    return GBX_CODE_VALUE;
}

/* Within its limit, with an error that names it. */
static void check_row(const char *source, gbx_code code)
{
    gbx_limits limits = code == GBX_CODE_TIMEOUT ? timeout_of(500) : timeout_of(0);
    double begin = now_ms();
    gbx_result *result;
    gbx_stats stats;

    if (code == GBX_CODE_MEMORY)
        limits.memory_bytes = 32 * MIB;
    result = measured_run(source, &limits, code);
    stats = gbx_result_stats(result);
    if (code == GBX_CODE_TIMEOUT) {
        assert_true(now_ms() - begin < 15000); /* not the sleep of 20 s */
        assert_true(stats.wall_ms >= 499);
        assert_non_null(strstr(gbx_result_error(result), "500 ms"));
    } else if (code == GBX_CODE_MEMORY) {
        assert_non_null(strstr(gbx_result_error(result), "32 MiB"));
        assert_true(stats.peak_memory_bytes < (32 + 48) * MIB);
    } else if (code == GBX_CODE_VALUE) {
        assert_true(stats.peak_memory_bytes < 32 * MIB);
    }
    gbx_result_free(result);
}

TEST(code__ends_as_the_table_says)
{
    const table_line *lines;
    size_t count = table_lines("integration/scripts/codes.txt", "codes", false, &lines);

    for (size_t i = 0; i < count; i++)
        check_row(lines[i].cell[0], code_of(lines[i].cell[1]));
    check_alive(measured_engine);
}

TEST(formatter__that_is_made_each_time_is_named)
{
    const table_line *lines;
    size_t count =
        table_lines("integration/scripts/codes.txt", "formatters", false, &lines);

    for (size_t i = 0; i < count; i++) {
        gbx_limits limits = timeout_of(500);
        gbx_call call = call_of(lines[i].cell[0]);
        gbx_result *result;
        const char *hint;

        limits.memory_bytes = 32 * MIB; /* either limit may be the first */
        call.limits = &limits;
        result = call_run(measured_engine, &call);
        hint = gbx_result_hint(result);
        assert_int_not_equal(gbx_result_code(result), GBX_CODE_VALUE);
        if (strcmp(lines[i].cell[1], "-") == 0)
            assert_null(strstr(hint, "Intl"));
        else if (strstr(hint, lines[i].cell[1]) == NULL)
            fail_msg("%s: %s", lines[i].cell[0], hint);
        gbx_result_free(result);
    }
}

TEST(timeout__counts_processor_time_of_its_own)
{
    gbx_limits limits = timeout_of(60000);
    gbx_result *result;

    limits.cpu_ms = 100;
    result = measured_run("() => { for (;;); }", &limits, GBX_CODE_TIMEOUT);

    assert_non_null(strstr(gbx_result_error(result), "processor time"));
    assert_true(gbx_result_stats(result).wall_ms < 59000);
    gbx_result_free(result);
    measured_check("async () => { await sleep(200); return 1 }", &limits,
                   GBX_CODE_VALUE);
}

TEST(memory__is_lowered_for_the_one_call)
{
    static const char code[] = "() => new Uint8Array(60 * 1048576).fill(7).length";
    gbx_limits limits = GBX_LIMITS_INIT;

    measured_check(code, NULL, GBX_CODE_VALUE);
    limits.memory_bytes = 32 * MIB;
    measured_check(code, &limits, GBX_CODE_MEMORY);
    limits.memory_bytes = 128 * MIB;
    measured_check(code, &limits, GBX_CODE_VALUE);
}

TEST(memory__counts_the_input_too)
{
    size_t len = 24 * MIB;
    char *input = malloc(len);
    gbx_call call = call_of("(d) => d.length");
    gbx_limits limits = GBX_LIMITS_INIT;
    gbx_result *result;

    limits.memory_bytes = 16 * MIB;
    memset(input, '1', len);
    for (size_t i = 2; i < len - 2; i += 2)
        input[i] = ',';
    input[0] = '[';
    input[len - 1] = ']';
    call.input = input;
    call.input_len = len;
    call.limits = &limits;
    result = call_run(measured_engine, &call);

    assert_int_equal(gbx_result_code(result), GBX_CODE_MEMORY);
    assert_non_null(strstr(gbx_result_error(result), "input"));
    gbx_result_free(result);
    free(input);
    check_alive(measured_engine);
}

TEST(syntax__says_where)
{
    gbx_result *result =
        measured_run("(d) => {\n  return d +\n}", NULL, GBX_CODE_SYNTAX);

    assert_int_not_equal(gbx_result_location(result).line, 0);
    assert_string_not_equal(gbx_result_location(result).frame, "");
    gbx_result_free(result);
}

TEST(runtime__says_at_once_that_a_promise_never_settles)
{
    double begin = now_ms();

    measured_check("() => new Promise(() => {})", NULL, GBX_CODE_RUNTIME);
    assert_true(now_ms() - begin < 30000); /* not the time limit of a minute */
}

TEST(invalid_data__says_where)
{
    gbx_call call = call_of("(d) => d");
    gbx_result *result;

    call.input = "{\"a\":1,\n \"b\": oops}";
    call.input_len = strlen(call.input);
    result = call_run(measured_engine, &call);

    assert_int_equal(gbx_result_code(result), GBX_CODE_INVALID_DATA);
    assert_non_null(strstr(gbx_result_error(result), "line 2, column 7"));
    gbx_result_free(result);
    check_alive(measured_engine);
}

static void check_error(const gbx_call *call, gbx_code code, const char *error)
{
    gbx_result *result = call_run(measured_engine, call);

    assert_int_equal(gbx_result_code(result), code);
    if (strstr(gbx_result_error(result), error) == NULL)
        fail_msg("'%s', wanted '%s'", gbx_result_error(result), error);
    gbx_result_free(result);
}

TEST(invalid_data__says_which)
{
    static const char *const bad[] = {"[]", "{\"a\":", "null"};
    gbx_call call = call_of("return 1");

    call.form = GBX_FORM_BODY;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        call.bindings = bad[i];
        call.bindings_len = strlen(bad[i]);
        check_error(&call, GBX_CODE_INVALID_DATA, "the bindings are not a JSON object");
    }
    call.bindings = "{}";
    call.bindings_len = 2;
    call.input = "[1";
    call.input_len = 2;
    check_error(&call, GBX_CODE_INVALID_DATA,
                "the input is not JSON: expected ',' or ']' at line 1, column 3");
}

TEST(thrown__is_what_somebody_threw)
{
    static const struct {
        const char *code;
        const char *input;
        const char *name;
        const char *message;
    } cases[] = {
        {"() => { throw new RangeError('far') }", NULL, "RangeError", "far"},
        {"() => { throw 'text' }", NULL, "", "text"},
        {"() => { return ) }", NULL, "SyntaxError", NULL},
        {"(d) => d", "{", "", ""},
        {"() => () => 1", NULL, "", ""},
        {"() => new Promise(() => 0)", NULL, "", ""},
        {"() => 1", NULL, "", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbx_call call = call_of(cases[i].code);
        gbx_result *result;

        call.input = cases[i].input;
        call.input_len = call.input != NULL ? strlen(call.input) : 0;
        result = call_run(measured_engine, &call);
        assert_string_equal(gbx_result_thrown_name(result), cases[i].name);
        if (cases[i].message != NULL)
            assert_string_equal(gbx_result_thrown_message(result), cases[i].message);
        gbx_result_free(result);
    }
}

TEST(aborted__is_what_a_thrown_signal_makes_of_a_call)
{
    gbx_signal *sig = gbx_signal_new();
    gbx_call call = call_of("() => 1");

    gbx_signal_abort(sig);
    call.signal = sig;
    check_code(measured_engine, &call, GBX_CODE_ABORTED);
    gbx_signal_free(sig);
}

TEST(unavailable__when_every_worker_is_taken)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call slow = call_of("async () => { await sleep(600); return 1 }");
    gbx_call fast = call_of("() => 2");
    gbx_limits limits = timeout_of(100);
    gbx_engine *small;
    inbox box;

    options.pool_size = 1;
    options.max_workers = 1;
    small = engine_start(&options);
    wait_until_full(small);
    inbox_init(&box, 10);
    (void)call_submit(small, &slow, &box);
    wait_until_taken(small);
    fast.limits = &limits;
    check_code(small, &fast, GBX_CODE_UNAVAILABLE);
    assert_true(inbox_wait(&box, 1, 60000));
    assert_int_equal(box.by_code[GBX_CODE_VALUE], 1);
    check_alive(small);
    gbx_engine_free(small);
    inbox_cleanup(&box);
}

TEST_MAIN(measured_start, measured_finish)

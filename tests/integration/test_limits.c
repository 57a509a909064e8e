/* SPDX-License-Identifier: MIT */
/*
 * Every limit at the limit and one past it, with the real worker. Which may be asked for at all
 * is in test_settings.c.
 */
#include "measured.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- limits ---------------------------------------------------------------- */

TEST(output__at_its_limit_and_one_past)
{
    gbx_limits limits = GBX_LIMITS_INIT;

    for (uint64_t size = 1000; size <= 10000000; size *= 100) {
        char code[64];
        gbx_result *result;
        size_t len;

        (void)snprintf(code, sizeof code, "() => 'x'.repeat(%d)", (int)size - 2);
        limits.output_bytes = size;
        result = measured_run(code, &limits, GBX_CODE_VALUE);
        (void)gbx_result_value(result, &len);
        assert_int_equal(len, size);
        assert_int_equal(gbx_result_stats(result).output_bytes, size);
        gbx_result_free(result);
        limits.output_bytes = size - 1;
        measured_check(code, &limits, GBX_CODE_OUTPUT_TOO_LARGE);
    }
}

TEST(output__of_one_byte)
{
    gbx_limits limits = GBX_LIMITS_INIT;

    limits.output_bytes = 1;
    measured_check("() => 7", &limits, GBX_CODE_VALUE);
    measured_check("() => undefined", &limits, GBX_CODE_VALUE);
    measured_check("() => 77", &limits, GBX_CODE_OUTPUT_TOO_LARGE);
    measured_check("() => { throw new Error('a longer text than a byte') }", &limits,
                   GBX_CODE_RUNTIME);
}

/* To turn a text into JSON takes several times its room, which may not be there. */
TEST(output__over_its_limit_is_no_want_of_memory)
{
    static const char *const codes[] = {
        "() => 'x'.repeat(1e7)",
        "() => 'x'.repeat(3e7)",
        "() => ({ a: [{ b: 'x'.repeat(1e7) }] })",
        "() => Array(20).fill('x'.repeat(1e6))",
        "() => [new Proxy({}, {}), 'x'.repeat(1e7)]",
        "() => { const a = []; a.length = 2e7; return a }",
    };
    gbx_limits limits = GBX_LIMITS_INIT;

    limits.memory_bytes = 64 * MIB;
    limits.output_bytes = MIB;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        measured_check(codes[i], &limits, GBX_CODE_OUTPUT_TOO_LARGE);
    limits.output_bytes = 64 * MIB;
    measured_check("() => 'x'.repeat(3e7)", &limits, GBX_CODE_MEMORY);
}

static char *code_of_length(size_t len)
{
    char *code = malloc(len + 1);

    memset(code, ' ', len);
    memcpy(code, "() => 1 //", 10);
    code[len] = 0;
    return code;
}

static void check_code_size(gbx_form form, size_t len, const gbx_limits *limits,
                            gbx_code expected)
{
    char *code = code_of_length(len);
    gbx_call call = call_of(code);

    if (form == GBX_FORM_SCRIPT)
        memcpy(code, "return 1//", 10);
    call.form = form;
    call.limits = limits;
    check_code(measured_engine, &call, expected);
    free(code);
}

TEST(code__at_its_limit_and_one_past)
{
    gbx_limits limits = GBX_LIMITS_INIT;

    check_code_size(GBX_FORM_FUNCTION, 65536, NULL, GBX_CODE_VALUE);
    check_code_size(GBX_FORM_FUNCTION, 65537, NULL, GBX_CODE_INVALID_CODE);
    check_code_size(GBX_FORM_SCRIPT, 51200, NULL, GBX_CODE_VALUE);
    check_code_size(GBX_FORM_SCRIPT, 51201, NULL, GBX_CODE_INVALID_CODE);
    limits.code_bytes = 100;
    check_code_size(GBX_FORM_FUNCTION, 100, &limits, GBX_CODE_VALUE);
    check_code_size(GBX_FORM_FUNCTION, 101, &limits, GBX_CODE_INVALID_CODE);
}

TEST(input__of_fifty_megabytes)
{
    size_t len = 50 * 1000 * 1000;
    char *input = malloc(len);
    gbx_call call = call_of("(d) => d.length");
    gbx_result *result;

    memset(input, 'a', len);
    input[0] = input[len - 1] = '"';
    call.input = input;
    call.input_len = len;
    result = call_run(measured_engine, &call);

    assert_int_equal(gbx_result_code(result), GBX_CODE_VALUE);
    assert_string_equal(gbx_result_value(result, NULL), "49999998");
    assert_int_equal(gbx_result_stats(result).input_bytes, len);
    gbx_result_free(result);
    free(input);
    check_alive(measured_engine);
}

TEST(logs__are_cut_at_their_limit)
{
    gbx_limits limits = GBX_LIMITS_INIT;
    gbx_result *result;

    limits.log_bytes = 10000;
    result =
        measured_run("() => { for (let i = 0; i < 1000; i++) console.log('line', i) }",
                     &limits, GBX_CODE_VALUE);

    assert_true(gbx_result_logs_truncated(result));
    assert_true(gbx_result_log_count(result) > 100);
    assert_true(gbx_result_stats(result).log_bytes <= 10000);
    for (size_t i = 0; i + 1 < gbx_result_log_count(result); i++) {
        gbx_log line = gbx_result_log(result, i);

        assert_int_equal(strtoul(line.text + strlen("line "), NULL, 10), i);
    }
    gbx_result_free(result);
    result = measured_run("() => { console.log('a'); console.error('b') }", &limits,
                          GBX_CODE_VALUE);
    assert_false(gbx_result_logs_truncated(result));
    gbx_result_free(result);
}

TEST(logs__and_cost_come_with_every_failure)
{
    static const struct {
        const char *code;
        gbx_code expected;
    } cases[] = {
        {"() => { console.log('before'); for (;;); }", GBX_CODE_TIMEOUT},
        {"() => { console.log('before'); const a = []; for (;;) a.push([1, 2, 3]) }",
         GBX_CODE_MEMORY},
        {"() => { console.log('before'); throw 1 }", GBX_CODE_RUNTIME},
        {"() => { console.log('before'); return 'x'.repeat(9999) }",
         GBX_CODE_OUTPUT_TOO_LARGE},
    };
    gbx_limits limits = GBX_LIMITS_INIT;

    limits.memory_bytes = 24 * MIB;
    limits.output_bytes = 5000;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbx_result *result;

        limits.timeout_ms = cases[i].expected == GBX_CODE_TIMEOUT ? 1500 : 60000;
        result = measured_run(cases[i].code, &limits, cases[i].expected);
        assert_true(gbx_result_log_count(result) >= 1);
        assert_string_equal(gbx_result_log(result, 0).text, "before");
        assert_true(gbx_result_stats(result).wall_ms > 0);
        gbx_result_free(result);
    }
}

/* ---- limits that are refused ------------------------------------------------ */

TEST(limits__are_never_raised_by_a_call)
{
    gbx_limits raised[5];
    gbx_call call = call_of("() => 1");
    gbx_error error;

    for (size_t i = 0; i < 5; i++)
        raised[i] = (gbx_limits)GBX_LIMITS_INIT;
    raised[0].timeout_ms = 600000;
    raised[1].memory_bytes = 1024 * MIB + 1;
    raised[2].output_bytes = 64 * MIB + 1;
    raised[3].code_bytes = 65537;
    raised[4].log_bytes = (10 << 20) + 1;
    for (size_t i = 0; i < 5; i++) {
        gbx_result *result = NULL;

        call.limits = &raised[i];
        assert_int_equal(gbx_execute(measured_engine, &call, &result, &error),
                         GBX_E_USAGE);
        assert_null(result);
        assert_non_null(strstr(error.message, "above the engine's"));
    }
}

TEST_MAIN(measured_start, measured_finish)

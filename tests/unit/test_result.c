/* SPDX-License-Identifier: MIT */
/* result - what a call left behind, and its one JSON shape. */
#include "engine/result.h"
#include "test.h"

#include "base/json.h"

#define TEXT(s) ((gbx_span){(const uint8_t *)(s), sizeof(s) - 1})

/* The result's JSON is what is expected, is JSON, and stays the same. */
static void assert_json(gbx_result *r, const char *expected)
{
    size_t len;
    const char *json = gbx_result_json(r, &len);

    assert_string_equal(json, expected);
    assert_int_equal(len, strlen(expected));
    assert_true(gbx_json_check(json, len, GBX_JSON_DEPTH_MAX, NULL));
    assert_ptr_equal(gbx_result_json(r, NULL), json);
}

#define NO_STATS                                                                       \
    "\"stats\":{\"cpuMs\":0,\"peakMemoryBytes\":0,\"inputBytes\":0,\"outputBytes\":0," \
    "\"logBytes\":0,\"hostCalls\":0}"
#define TAIL NO_STATS ",\"runner\":\"process\",\"call\":0}"

TEST(new__is_undefined_and_empty)
{
    gbx_result *r = gbx_result_new();
    size_t len = 9;

    assert_int_equal(gbx_result_code(r), GBX_CODE_VALUE);
    assert_string_equal(gbx_result_value(r, &len), "");
    assert_int_equal(len, 0);
    assert_string_equal(gbx_result_error(r), "");
    assert_string_equal(gbx_result_hint(r), "");
    assert_string_equal(gbx_result_stack(r), "");
    assert_string_equal(gbx_result_location(r).frame, "");
    assert_int_equal(gbx_result_location(r).line, 0);
    assert_int_equal(gbx_result_log_count(r), 0);
    assert_json(r, "{\"ok\":true,\"executionMs\":0,\"logs\":[]," TAIL);
    gbx_result_free(r);
}

TEST(free__takes_nothing)
{
    gbx_result_free(NULL);
}

TEST(value__is_in_the_json_as_it_came)
{
    gbx_result *r = gbx_result_new();

    assert_true(gbx_result_set_value(r, false, TEXT(" {\"a\" : [1,null]}")));

    assert_string_equal(gbx_result_value(r, NULL), " {\"a\" : [1,null]}");
    assert_json(r, "{\"ok\":true,\"value\": {\"a\" : [1,null]},\"executionMs\":0,"
                   "\"logs\":[]," TAIL);
    gbx_result_free(r);
}

TEST(undefined__has_no_value_in_the_json)
{
    gbx_result *r = gbx_result_new();

    assert_true(gbx_result_set_value(r, true, (gbx_span){0}));

    assert_false(r->has_value);
    assert_json(r, "{\"ok\":true,\"executionMs\":0,\"logs\":[]," TAIL);
    gbx_result_free(r);
}

TEST(cost__is_in_the_json)
{
    gbx_result *r = gbx_result_new();
    r->stats = (gbx_stats){.wall_ms = 1.25,
                           .cpu_ms = 0.75,
                           .peak_memory_bytes = UINT64_MAX,
                           .input_bytes = 7,
                           .output_bytes = 8,
                           .log_bytes = 9,
                           .host_calls = UINT32_MAX};
    r->jit = "off";
    r->call = UINT64_MAX;

    assert_true(gbx_result_stats(r).wall_ms == 1.25);
    assert_json(r, "{\"ok\":true,\"executionMs\":1.25,\"logs\":[],\"stats\":{\"cpuMs\":"
                   "0.75,\"peakMemoryBytes\":18446744073709551615,\"inputBytes\":7,"
                   "\"outputBytes\":8,\"logBytes\":9,\"hostCalls\":4294967295},"
                   "\"runner\":\"process\",\"jit\":\"off\",\"call\":"
                   "18446744073709551615}");
    gbx_result_free(r);
}

TEST(runner__that_does_not_isolate_says_so)
{
    gbx_result *r = gbx_result_new();
    r->runner = "my \"runner\"";
    r->is_isolated = false;

    assert_json(r, "{\"ok\":true,\"executionMs\":0,\"logs\":[]," NO_STATS
                   ",\"runner\":\"my \\\"runner\\\"\",\"isolated\":false,\"call\":0}");
    gbx_result_free(r);
}

/* ---- failures ---------------------------------------------------------------------- */

TEST(failure__takes_the_place_of_the_value)
{
    gbx_result *r = gbx_result_new();
    assert_true(gbx_result_set_value(r, false, TEXT("[1]")));

    assert_true(gbx_result_fail(r, GBX_CODE_TIMEOUT, "too slow", "be quick"));

    assert_int_equal(gbx_result_code(r), GBX_CODE_TIMEOUT);
    assert_string_equal(gbx_result_value(r, NULL), "");
    assert_string_equal(gbx_result_error(r), "too slow");
    assert_string_equal(gbx_result_hint(r), "be quick");
    assert_json(r, "{\"ok\":false,\"code\":\"TIMEOUT\",\"error\":\"too slow\",\"hint\":"
                   "\"be quick\",\"executionMs\":0,\"logs\":[]," TAIL);
    gbx_result_free(r);
}

TEST(failure__has_where_and_the_stack_if_known)
{
    gbx_result *r = gbx_result_new();
    gbx_msg_error error = {.stack = TEXT("f@1:2\ng@3:4")};
    assert_true(gbx_result_set_thrown(r, &error));
    assert_true(gbx_result_fail(r, GBX_CODE_RUNTIME, "Error: x", ""));
    r->location = (gbx_location){.line = 3, .column = 14, .frame = "3 | x\n    ^"};

    assert_json(r,
                "{\"ok\":false,\"code\":\"RUNTIME\",\"error\":\"Error: x\","
                "\"location\":{\"line\":3,\"column\":14,\"frame\":\"3 | x\\n    ^\"},"
                "\"stack\":\"f@1:2\\ng@3:4\",\"executionMs\":0,\"logs\":[]," TAIL);
    gbx_result_free(r);
}

TEST(failure__is_one_line_that_steers_no_terminal)
{
    gbx_result *r = gbx_result_new();

    assert_true(gbx_result_fail(r, GBX_CODE_RUNTIME,
                                "a\nb\x1B[2J\xE2\x80\xAE\xF3\xA0\x80\x81", ""));

    assert_string_equal(gbx_result_error(r), "a\\nb\\u{1b}[2J\\u{202e}\\u{e0001}");
    gbx_result_free(r);
}

TEST(failure__can_be_replaced)
{
    gbx_result *r = gbx_result_new();

    assert_true(gbx_result_fail(r, GBX_CODE_RUNTIME, "first", "hint"));
    assert_true(gbx_result_fail(r, GBX_CODE_ABORTED, "second", ""));

    assert_string_equal(gbx_result_error(r), "second");
    assert_string_equal(gbx_result_hint(r), "");
    gbx_result_free(r);
}

TEST(failure__of_any_byte_is_json)
{
    char text[256];
    for (size_t i = 0; i < 255; i++)
        text[i] = (char)(i + 1);
    text[255] = 0;

    for (size_t at = 0; at < 255; at++) {
        gbx_result *r = gbx_result_new();
        const char *json;
        size_t len;

        assert_true(gbx_result_fail(r, GBX_CODE_RUNTIME, text + at, ""));
        json = gbx_result_json(r, &len);
        assert_true(gbx_json_check(json, len, 8, NULL));
        gbx_result_free(r);
    }
}

TEST(every_code__has_its_name_in_the_json)
{
    for (int code = GBX_CODE_TIMEOUT; code <= GBX_CODE_VIOLATION; code++) {
        gbx_result *r = gbx_result_new();
        size_t len;

        assert_true(gbx_result_fail(r, (gbx_code)code, "why", ""));
        assert_non_null(
            strstr(gbx_result_json(r, &len), gbx_code_name((gbx_code)code)));
        assert_true(gbx_json_check(gbx_result_json(r, &len), len, 8, NULL));
        gbx_result_free(r);
    }
}

/* ---- logs ---------------------------------------------------------------------------- */

TEST(logs__come_with_success_and_with_failure)
{
    gbx_result *r = gbx_result_new();
    assert_true(gbx_result_add_log(r, GBX_LOG_LOG, 0.5, TEXT("a\n\"b\""), 1000, 0));
    assert_true(gbx_result_add_log(r, GBX_LOG_ERROR, 1000, TEXT("\xFF\0"), 1000, 0));
    assert_true(gbx_result_fail(r, GBX_CODE_ABORTED, "x", ""));

    assert_json(r,
                "{\"ok\":false,\"code\":\"ABORTED\",\"error\":\"x\",\"executionMs\":0,"
                "\"logs\":[{\"level\":\"log\",\"timeMs\":0.5,\"text\":"
                "\"a\\n\\\"b\\\"\"},{\"level\":\"error\",\"timeMs\":1000,\"text\":"
                "\"\xEF\xBF\xBD\xEF\xBF\xBD\"}],\"stats\":{\"cpuMs\":0,"
                "\"peakMemoryBytes\":0,\"inputBytes\":0,\"outputBytes\":0,"
                "\"logBytes\":7,\"hostCalls\":0},\"runner\":\"process\","
                "\"call\":0}");
    gbx_result_free(r);
}

TEST(logs__that_were_cut_are_marked)
{
    gbx_result *r = gbx_result_new();

    assert_true(gbx_result_add_log(r, GBX_LOG_LOG, 0,
                                   TEXT("much too long a line, "
                                        "longer than a line costs"),
                                   1, 0));

    assert_int_equal(gbx_result_log_count(r), 0);
    assert_int_equal(gbx_result_logs_truncated(r), 1);
    assert_json(
        r, "{\"ok\":true,\"executionMs\":0,\"logs\":[],\"logsTruncated\":true," TAIL);
    gbx_result_free(r);
}

TEST(logs__every_level_has_a_name)
{
    static const char *const names[] = {"debug", "log", "info", "warn", "error"};
    gbx_result *r = gbx_result_new();
    const char *at;
    for (int level = GBX_LOG_DEBUG; level <= GBX_LOG_ERROR; level++)
        assert_true(gbx_result_add_log(r, (gbx_log_level)level, 0, TEXT(""), 1000, 0));

    at = gbx_result_json(r, NULL);
    for (size_t i = 0; i < 5; i++) {
        at = strstr(at, "\"level\":\"");
        assert_non_null(at);
        at += strlen("\"level\":\"");
        assert_memory_equal(at, names[i], strlen(names[i]));
    }

    gbx_result_free(r);
}

TEST_MAIN(NULL, NULL)

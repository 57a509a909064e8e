/* SPDX-License-Identifier: MIT */
/* A recording is a stranger's file: what is not one is refused, and said where. */
#include "base/cleanup.h"
#include "replay/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static const char *const lines[] = {
    "{\"what\":\"recording\",\"version\":1,\"glovebox\":\"1\",\"engine\":\"E\"}",
    "{\"what\":\"call\",\"form\":\"body\",\"seed\":\"18446744073709551615\",\"now\":-1,"
    "\"entropy\":\"" ZEROS "\",\"code\":\"return 1\",\"bindings\":\"{}\"}",
    "{\"what\":\"limits\",\"timeoutMs\":1,\"cpuMs\":2,\"memoryBytes\":3,\"outputBytes\":4,"
    "\"codeBytes\":5,\"logBytes\":6,\"hostCalls\":7,\"hostCallsAtOnce\":8,"
    "\"hostOutBytes\":9,\"hostInBytes\":10}",
    "{\"what\":\"box\",\"globals\":\"minimal\",\"capabilities\":[\"timers\",\"env\"],"
    "\"functions\":[\"db.query\",\"now\"],\"env\":{\"A\":\"b\"}}",
    "{\"what\":\"dataset\",\"name\":\"d\",\"size\":1,\"sha256\":\"" ZEROS "\"}",
    "{\"what\":\"request\",\"id\":3,\"name\":\"db.query\",\"args\":\"[1]\",\"argsSize\":3,"
    "\"body\":\"AAE=\",\"bodySize\":2,\"sha256\":\"" ZEROS "\",\"atMs\":1.5}",
    "{\"what\":\"cancel\",\"id\":3}",
    "{\"what\":\"wait\",\"ms\":100}",
    "{\"what\":\"answer\",\"id\":3,\"json\":\"{}\",\"bytes\":\"/w==\"}",
    "{\"what\":\"wake\"}",
    "{\"what\":\"end\",\"code\":\"OK\",\"value\":{\"base64\":\"/w==\"},\"valueSize\":1,"
    "\"valueSha256\":\"" ZEROS "\",\"logs\":0,\"logsSha256\":\"" ZEROS
    "\",\"whole\":true}",
};

#define LINES GBX_COUNTOF(lines)

/* The recording, with line number `line` (from 1) in other words; NULL: without it. */
static char *text_with(size_t line, const char *other)
{
    char *text = calloc(1, 8192);

    assert_non_null(text);
    for (size_t i = 0; i < LINES; i++) {
        const char *one = i + 1 == line ? other : lines[i];

        if (one != NULL)
            (void)snprintf(text + strlen(text), 8192 - strlen(text), "%s\n", one);
    }
    return text;
}

static gbx_status check(const char *text, gbx_error *error)
{
    bool is_whole;

    return gbx_record_check(text, strlen(text), &is_whole, error);
}

static void test_every_field__is_read(void **state)
{
    char *text = text_with(0, NULL);
    gbx_record_cursor cursor;
    gbx_record_event e;
    gbx_record_head h;
    (void)state;

    assert_int_equal(check(text, NULL), GBX_OK);
    gbx_record_cursor_init(&cursor, text, strlen(text));
    assert_int_equal(gbx_record_head_read(&cursor, &h, NULL), GBX_OK);
    assert_int_equal(h.form, GBX_FORM_BODY);
    assert_true(h.seed == UINT64_MAX);
    assert_true(h.now_ms == -1);
    assert_int_equal(h.capabilities, GBX_CAP_TIMERS | GBX_CAP_ENV);
    assert_int_equal(h.functions.len, strlen("db.query\nnow"));
    assert_memory_equal(h.functions.data, "db.query\nnow", h.functions.len);
    assert_memory_equal(h.env.data, "{\"A\":\"b\"}", h.env.len);
    assert_int_equal(gbx_record_limits(&h).host_in_bytes, 10);
    assert_int_equal(h.datasets.count, 1);
    assert_false(h.has_input);
    assert_int_equal(gbx_record_next(&cursor, &e, NULL), GBX_OK);
    assert_int_equal(e.kind, GBX_RECORD_REQUEST);
    assert_int_equal(e.line, 6);
    assert_int_equal(e.request.body.len, 2);
    assert_memory_equal(e.request.body.data, "\0\1", 2);
    for (int i = 0; i < 5; i++)
        assert_int_equal(gbx_record_next(&cursor, &e, NULL), GBX_OK);
    assert_int_equal(e.kind, GBX_RECORD_END);
    assert_int_equal(e.end.value.data[0], 0xff);
    gbx_record_head_cleanup(&h);
    gbx_record_cursor_cleanup(&cursor);
    free(text);
}

static void test_every_truncation__is_refused(void **state)
{
    char *text = text_with(0, NULL);
    size_t len = strlen(text);
    (void)state;

    for (size_t n = 0; n < len; n++) {
        bool is_whole;
        char *cut = malloc(n + 1); /* exactly so large, for the sanitizer */

        memcpy(cut, text, n);
        assert_int_equal(gbx_record_check(cut, n, &is_whole, NULL), GBX_E_DATA);
        free(cut);
    }
    free(text);
}

static void test_a_line_that_is_gone__is_missed_or_was_optional(void **state)
{
    (void)state;

    for (size_t i = 1; i <= LINES; i++) {
        /* The dataset, the cancellation, the answer; and a call can end in a wait. */
        gbx_status wanted = i == 5 || i == 7 || i == 9 || i == 10 ? GBX_OK : GBX_E_DATA;
        char *text = text_with(i, NULL);

        assert_int_equal(check(text, NULL), wanted);
        free(text);
    }
}

/* A line in other words, and where it is refused for what. */
static const struct {
    size_t line;
    const char *other;
    uint32_t column;
    const char *message;
} refusals[] = {
    {1, "[]", 1, "an object and nothing else"},
    {1, " {\"what\":\"recording\"}", 1, "an object and nothing else"},
    {1, "{}", 1, "the first member must be \"what\""},
    {1, "{\"version\":1,\"what\":\"recording\"}", 1, "the first member"},
    {1, "{\"what\":1}", 1, "the first member"},
    {1, "{\"what\":\"record\"}", 9, "expected the line \"recording\""},
    {1, "{\"what\":\"recording\",\"version\":2,\"glovebox\":\"\",\"engine\":\"\"}", 1,
     "version 2 is not known"},
    {1, "{\"what\":\"recording\",\"version\":1,\"glovebox\":\"\"}", 1,
     "'engine' is missing"},
    {1, "{\"what\":\"recording\",\"version\":1.0,\"glovebox\":\"\",\"engine\":\"\"}",
     31, "'version' must be a whole number"},
    {1, "{\"what\":\"recording\",\"version\":1,\"version\":1}", 33, "is here twice"},
    {1, "{\"what\":\"recording\",\"\\u001b[2J\":1}", 21,
     "is not a member of this line"},
    {1, "{\"what\":\"recording\",\"x\":[[[1]]]}", 26, "nested too deep"},
    {1, "{\"what\":\"recording\",", 21, "property name"},
    {2, "{\"what\":\"call\",\"form\":\"no\"}", 23, "one of the words"},
    {2, "{\"what\":\"call\",\"seed\":1}", 23, "a string of digits"},
    {2, "{\"what\":\"call\",\"seed\":\"18446744073709551616\"}", 23,
     "a string of digits"},
    {2, "{\"what\":\"call\",\"seed\":\"\"}", 23, "a string of digits"},
    {2, "{\"what\":\"call\",\"now\":9223372036854775808}", 22, "a whole number"},
    {2, "{\"what\":\"call\",\"entropy\":\"00\"}", 26, "64 hexadecimal digits"},
    {2, "{\"what\":\"call\",\"code\":\"\\ud800\"}", 23, "a string, or"},
    {2, "{\"what\":\"call\",\"code\":{\"base64\":\"AB==\"}}", 23, "a string, or"},
    {2, "{\"what\":\"call\",\"code\":{\"base64\":\"AA==\",\"x\":1}}", 23,
     "a string, or"},
    {2, "{\"what\":\"call\",\"unguarded\":1}", 28, "true or false"},
    {3, "{\"what\":\"limits\",\"timeoutMs\":4294967296}", 30, "in its range"},
    {3, "{\"what\":\"limits\",\"timeoutMs\":-1}", 30, "in its range"},
    {3, "{\"what\":\"limits\",\"timeoutMs\":01}", 31, "expected ',' or '}'"},
    {4, "{\"what\":\"box\",\"capabilities\":[\"shell\"]}", 30, "each once"},
    {4, "{\"what\":\"box\",\"capabilities\":[\"env\",\"env\"]}", 30, "each once"},
    {4, "{\"what\":\"box\",\"functions\":[\"\"]}", 27, "an array of names"},
    {4, "{\"what\":\"box\",\"functions\":[\"a\\nb\"]}", 27, "an array of names"},
    {4, "{\"what\":\"box\",\"functions\":[\"a\\u0000b\"]}", 27, "an array of names"},
    {4, "{\"what\":\"box\",\"env\":{\"A\":1}}", 21, "an object of strings"},
    {5, "{\"what\":\"input\",\"size\":1,\"sha256\":\"" ZEROS "\",\"json\":\"1\"}", 1,
     "not what 'size' and 'sha256' say"},
    {6, "{\"what\":\"shout\"}", 9, "unknown event"},
    {6,
     "{\"what\":\"request\",\"id\":0,\"name\":\"a\",\"args\":\"[]\",\"argsSize\":2,"
     "\"sha256\":\"" ZEROS "\"}",
     1, "must grow"},
    {6,
     "{\"what\":\"request\",\"id\":1,\"name\":\"a\",\"args\":\"[]\",\"argsSize\":1,"
     "\"sha256\":\"" ZEROS "\"}",
     1, "sizes of a request"},
    {7, "{\"what\":\"cancel\",\"id\":4}", 1, "cannot be cancelled"},
    {7, "{\"what\":\"cancel\",\"id\":3,\"bytes\":\"!\"}", 25, "is not a member"},
    {7, "{\"what\":\"answer\",\"id\":3}", 1, "does not wait"},
    {7, "{\"what\":\"wake\"}", 1, "does not wait"},
    {8, "{\"what\":\"wait\",\"ms\":600001}", 21, "in its range"},
    {9, "{\"what\":\"answer\",\"id\":4}", 1, "no open request"},
    {9, "{\"what\":\"answer\",\"id\":3,\"json\":\"{\"}", 1, "is not JSON"},
    {9, "{\"what\":\"answer\",\"id\":3,\"bytes\":\"AAA\"}", 33, "a string of base64"},
    {9, "{\"what\":\"wait\",\"ms\":1}", 1, "waits already"},
    {9,
     "{\"what\":\"request\",\"id\":9,\"name\":\"a\",\"args\":\"[]\",\"argsSize\":2,"
     "\"sha256\":\"" ZEROS "\"}",
     1, "while the code waits"},
    {11,
     "{\"what\":\"end\",\"code\":\"DIVERGED\",\"logs\":0,\"logsSha256\":\"" ZEROS
     "\",\"whole\":true}",
     1, "only a replay can end so"},
    {11,
     "{\"what\":\"end\",\"code\":\"OK\",\"value\":\"123\",\"valueSize\":2,\"logs\":0,"
     "\"logsSha256\":\"" ZEROS "\",\"whole\":true}",
     1, "larger than its size"},
};

static void test_what_is_no_recording__is_refused_at_its_place(void **state)
{
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(refusals); i++) {
        char *text = text_with(refusals[i].line, refusals[i].other);
        gbx_error error = {0};

        if (check(text, &error) != GBX_E_DATA || error.line != refusals[i].line ||
            error.column != refusals[i].column ||
            strstr(error.message, refusals[i].message) == NULL)
            fail_msg("%s\nat %u:%u: %s", refusals[i].other, error.line, error.column,
                     error.message);
        assert_null(strchr(error.message, '\x1b'));
        free(text);
    }
}

static void test_what_follows_the_end__is_refused(void **state)
{
    char *text = text_with(0, NULL);
    gbx_error error = {0};
    (void)state;

    text = realloc(text, strlen(text) + 2);
    (void)strcat(text, "\n");
    assert_int_equal(check(text, &error), GBX_E_DATA);
    assert_int_equal(error.line, LINES + 1);
    free(text);
}

static void test_one_answer_more_than_requests__is_refused(void **state)
{
    char twice[256];
    char *text;
    (void)state;

    (void)snprintf(twice, sizeof twice, "%s\n%s", lines[8], lines[8]);
    text = text_with(9, twice);
    assert_int_equal(check(text, NULL), GBX_E_DATA);
    free(text);
}

static void test_requests_without_end__are_bounded(void **state)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    gbx_error error = {0};
    bool is_whole;
    (void)state;

    gbx_buf_init(&text, GBX_MIB(4));
    for (size_t i = 0; i < 5; i++)
        (void)gbx_buf_printf(&text, "%s\n", lines[i]);
    for (uint32_t i = 1; i <= 4097; i++) {
        gbx_msg_hostcall msg = {.id = i,
                                .name = {(const uint8_t *)"a", 1},
                                .args = {(const uint8_t *)"[]", 2}};

        assert_true(gbx_record_put_request(&text, &msg, 0));
    }
    assert_int_equal(gbx_record_check((const char *)text.data, text.len, &is_whole,
                                      &error),
                     GBX_E_DATA);
    assert_int_equal(error.line, 5 + 4097);
}

static void test_what_is_written__is_read_to_the_byte(void **state)
{
    static const uint8_t bytes[] = {0xff, 0, 0x1b, '"', '\\', '\n', 0x7f};
    static const char text[] = "\xE2\x80\xAE\xF0\x9F\x98\x80\x01\"\\";
    gbx_msg_answer msg = {.id = 7,
                          .is_error = 1,
                          .bytes = {bytes, sizeof bytes},
                          .name = {bytes, sizeof bytes},
                          .message = {(const uint8_t *)text, sizeof text - 1},
                          .code = {(const uint8_t *)"E", 1}};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_record_cursor cursor;
    gbx_record_event e;
    (void)state;

    gbx_buf_init(&buf, 4096);
    assert_true(gbx_record_put_answer(&buf, &msg, 1.25));
    for (size_t i = 0; i + 1 < buf.len; i++)
        assert_true(buf.data[i] >= 0x20 && buf.data[i] != 0x7f);
    gbx_record_cursor_init(&cursor, (const char *)buf.data, buf.len);
    assert_int_equal(gbx_record_next(&cursor, &e, NULL), GBX_OK);

    assert_int_equal(e.answer.id, 7);
    assert_true(e.answer.is_error);
    assert_int_equal(e.answer.bytes.len, sizeof bytes);
    assert_memory_equal(e.answer.bytes.data, bytes, sizeof bytes);
    assert_int_equal(e.answer.name.len, sizeof bytes);
    assert_memory_equal(e.answer.name.data, bytes, sizeof bytes);
    assert_int_equal(e.answer.message.len, sizeof text - 1);
    assert_memory_equal(e.answer.message.data, text, sizeof text - 1);
    gbx_record_cursor_cleanup(&cursor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field__is_read),
        cmocka_unit_test(test_every_truncation__is_refused),
        cmocka_unit_test(test_a_line_that_is_gone__is_missed_or_was_optional),
        cmocka_unit_test(test_what_is_no_recording__is_refused_at_its_place),
        cmocka_unit_test(test_what_follows_the_end__is_refused),
        cmocka_unit_test(test_one_answer_more_than_requests__is_refused),
        cmocka_unit_test(test_requests_without_end__are_bounded),
        cmocka_unit_test(test_what_is_written__is_read_to_the_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

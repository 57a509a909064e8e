/* SPDX-License-Identifier: MIT */
/* A recording is a stranger's file: what is not one is refused, and said where. */
#include "base/cleanup.h"
#include "replay/record.h"
#include "table.h"
#include "test.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static const char *const lines[] = {
    "{\"what\":\"recording\",\"version\":2,\"glovebox\":\"1\",\"engine\":\"E\"}",
    "{\"what\":\"call\",\"form\":\"body\",\"now\":-1,"
    "\"entropy\":\"" ZEROS "\",\"code\":\"return 1\",\"bindings\":\"{}\"}",
    "{\"what\":\"limits\",\"timeoutMs\":1,\"cpuMs\":2,\"memoryBytes\":3,\"outputBytes\":4,"
    "\"codeBytes\":5,\"logBytes\":6,\"hostCalls\":7,\"hostCallsAtOnce\":8,"
    "\"hostOutBytes\":9,\"hostInBytes\":10}",
    "{\"what\":\"box\",\"globals\":\"minimal\",\"capabilities\":[\"timers\",\"env\"],"
    "\"functions\":\"db.query\\nnow\",\"env\":\"{\\\"A\\\":\\\"b\\\"}\"}",
    "{\"what\":\"dataset\",\"name\":\"d\",\"size\":1,\"sha256\":\"" ZEROS "\"}",
    "{\"what\":\"request\",\"id\":3,\"name\":\"db.query\",\"args\":\"[1]\",\"argsSize\":3,"
    "\"body\":{\"base64\":\"AAH/\"},\"bodySize\":3,\"sha256\":\"" ZEROS
    "\",\"atMs\":1.5}",
    "{\"what\":\"cancel\",\"id\":3}",
    "{\"what\":\"wait\",\"ms\":100}",
    "{\"what\":\"answer\",\"id\":3,\"json\":\"{}\",\"bytes\":{\"base64\":\"/w==\"}}",
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

TEST(every_field__is_read)
{
    char *text = text_with(0, NULL);
    gbx_record_cursor cursor;
    gbx_record_event e;
    gbx_record_head h;

    assert_int_equal(check(text, NULL), GBX_OK);
    gbx_record_cursor_init(&cursor, text, strlen(text));
    assert_int_equal(gbx_record_head_read(&cursor, &h, NULL), GBX_OK);
    assert_int_equal(h.form, GBX_FORM_BODY);
    assert_true(h.now_ms == -1);
    assert_int_equal(h.capabilities, GBX_CAP_TIMERS | GBX_CAP_ENV);
    assert_int_equal(h.functions.len, strlen("db.query\nnow"));
    assert_memory_equal(h.functions.data, "db.query\nnow", h.functions.len);
    assert_memory_equal(h.env.data, "{\"A\":\"b\"}", h.env.len);
    assert_int_equal(h.limits.host_in_bytes, 10);
    assert_int_equal(h.datasets.count, 1);
    assert_false(h.has_input);
    assert_int_equal(gbx_record_next(&cursor, &e, NULL), GBX_OK);
    assert_int_equal(e.kind, GBX_RECORD_REQUEST);
    assert_int_equal(e.line, 6);
    assert_int_equal(e.request.body.len, 3);
    assert_memory_equal(e.request.body.data, "\0\1\xff", 3);
    for (int i = 0; i < 5; i++)
        assert_int_equal(gbx_record_next(&cursor, &e, NULL), GBX_OK);
    assert_int_equal(e.kind, GBX_RECORD_END);
    assert_int_equal(e.end.value.data[0], 0xff);
    gbx_record_head_cleanup(&h);
    gbx_record_cursor_cleanup(&cursor);
    free(text);
}

TEST(every_truncation__is_refused)
{
    char *text = text_with(0, NULL);
    size_t len = strlen(text);

    for (size_t n = 0; n < len; n++) {
        bool is_whole;
        char *cut = malloc(n + 1); /* exactly so large, for the sanitizer */

        memcpy(cut, text, n);
        assert_int_equal(gbx_record_check(cut, n, &is_whole, NULL), GBX_E_DATA);
        free(cut);
    }
    free(text);
}

TEST(a_line_that_is_gone__is_missed_or_was_optional)
{
    for (size_t i = 1; i <= LINES; i++) {
        /* The dataset, the cancellation, the answer; and a call can end in a wait. */
        gbx_status wanted = i == 5 || i == 7 || i == 9 || i == 10 ? GBX_OK : GBX_E_DATA;
        char *text = text_with(i, NULL);

        assert_int_equal(check(text, NULL), wanted);
        free(text);
    }
}

static bool is_refused(char *head, char *other, size_t len)
{
    size_t line = strtoul(table_word(&head, ":"), NULL, 10);
    uint32_t column = (uint32_t)strtoul(table_word(&head, " "), NULL, 10);
    GBX_CLEANUP(gbx_free) char *text = text_with(line, other);
    gbx_error error = {0};

    if (len > 0 && check(text, &error) == GBX_E_DATA && error.line == line &&
        error.column == column && strstr(error.message, head) != NULL &&
        strchr(error.message, '\x1b') == NULL)
        return true;
    print_error("%s\nat %u:%u: %s\n", other, error.line, error.column, error.message);
    return false;
}

TEST(what_is_no_recording__is_refused_at_its_place)
{
    table_check("unit/replay/records.txt", is_refused, 44);
}

TEST(what_follows_the_end__is_refused)
{
    char *text = text_with(0, NULL);
    gbx_error error = {0};

    text = realloc(text, strlen(text) + 2);
    (void)strcat(text, "\n");
    assert_int_equal(check(text, &error), GBX_E_DATA);
    assert_int_equal(error.line, LINES + 1);
    free(text);
}

TEST(one_answer_more_than_requests__is_refused)
{
    char twice[256];
    char *text;

    (void)snprintf(twice, sizeof twice, "%s\n%s", lines[8], lines[8]);
    text = text_with(9, twice);
    assert_int_equal(check(text, NULL), GBX_E_DATA);
    free(text);
}

TEST(datasets_without_end__are_bounded)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    gbx_error error = {0};
    bool is_whole;

    gbx_buf_init(&text, GBX_MIB(1));
    for (size_t i = 0; i < 4 + 1025; i++)
        (void)gbx_buf_printf(&text, "%s\n", lines[i < 4 ? i : 4]);
    assert_int_equal(gbx_record_check((const char *)text.data, text.len, &is_whole,
                                      &error),
                     GBX_E_DATA);
    assert_int_equal(error.line, 4 + 1025);
}

TEST(a_text_that_is_too_long__is_not_looked_at)
{
    gbx_recording *recording = NULL;
    gbx_error error = {0};

    assert_int_equal(gbx_recording_load("", SIZE_MAX, &recording, &error), GBX_E_DATA);
    assert_non_null(strstr(error.message, " are the limit"));
}

TEST(what_is_written__is_read_to_the_byte)
{
    static const uint8_t bytes[] = {0xff, 0, 0x1b, '"', '\\', '\n', 0x7f};
    static const char text[] = "\xE2\x80\xAE\xF0\x9F\x98\x80\x01\"\\";
    gbx_record_event event = {
        .kind = GBX_RECORD_ANSWER,
        .id = 7,
        .answer = {.is_error = 1,
                   .bytes = {bytes, sizeof bytes},
                   .name = {bytes, sizeof bytes},
                   .message = {(const uint8_t *)text, sizeof text - 1},
                   .code = {(const uint8_t *)"E", 1}},
    };
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_record_cursor cursor;
    gbx_record_event e;

    gbx_buf_init(&buf, 4096);
    assert_true(gbx_record_put(&buf, &event));
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

TEST_MAIN(NULL, NULL)

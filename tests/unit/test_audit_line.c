/* SPDX-License-Identifier: MIT */
/* line - what a line of the security log may never be, whatever text goes into it. */
#include "audit/audit.h"
#include "audit_text.h"
#include "table.h"
#include "test.h"

#include "base/cleanup.h"

static const gbx_log_line_head head = {.wall_ms = INT64_C(1767225599007),
                                       .seq = 41,
                                       .event = "host.call",
                                       .engine = "9f3a61c2",
                                       .call_id = "9f3a61c2-17"};

TEST(line__is_written_field_by_field)
{
    gbx_log_line line;
    size_t len;

    gbx_log_line_begin(&line, &head);
    gbx_log_line_puts(&line, "function", "db.query");
    gbx_log_line_count(&line, "bytes", UINT64_MAX);
    gbx_log_line_number(&line, "ms", 1.25);
    gbx_log_line_bool(&line, "ok", true);
    gbx_log_line_open(&line, "counts", '{');
    gbx_log_line_count(&line, "a", 1);
    gbx_log_line_count(&line, "b", 2);
    gbx_log_line_close(&line);
    gbx_log_line_open(&line, "ids", '[');
    gbx_log_line_puts(&line, NULL, "x");
    gbx_log_line_puts(&line, NULL, "y");
    gbx_log_line_close(&line);
    gbx_log_line_open(&line, "none", '[');
    gbx_log_line_close(&line);

    assert_string_equal(
        gbx_log_line_end(&line, &len),
        "{\"time\":\"2025-12-31T23:59:59.007Z\",\"seq\":41,\"event\":\"host.call\","
        "\"engine\":\"9f3a61c2\",\"callId\":\"9f3a61c2-17\",\"function\":\"db.query\","
        "\"bytes\":18446744073709551615,\"ms\":1.25,\"ok\":true,"
        "\"counts\":{\"a\":1,\"b\":2},\"ids\":[\"x\",\"y\"],\"none\":[]}\n");
    assert_int_equal(len, strlen((const char *)line.space));
}

/* What a text becomes in the string that a JSON parser makes of the line. */
static void check_text(const char *what, const char *text, size_t text_len,
                       const char *parsed)
{
    gbx_log_line line;
    const char *whole;
    json_t *root;
    size_t len;

    gbx_log_line_begin(&line, &head);
    gbx_log_line_text(&line, "target", text, text_len);
    gbx_log_line_puts(&line, "after", "it");
    whole = gbx_log_line_end(&line, &len);
    root = audit_text_parse(whole, len);
    if (strcmp(json_string_value(json_object_get(root, "target")), parsed) != 0)
        fail_msg("%s: %s", what, whole);
    assert_int_equal(json_object_size(root), 7);
    assert_string_equal(json_string_value(json_object_get(root, "after")), "it");
    json_decref(root);
}

TEST(line__cannot_be_forged)
{
    const table_line *rows;
    size_t count = table_lines("unit/audit/texts.txt", "texts", true, &rows);

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;

        check_text(cell[0], cell[1], strlen(cell[1]), cell[2]);
    }
    check_text("NUL", "a\0b", 3, "a\\u{0}b");
}

/* The parsed text of one field of len times piece. */
static char *parsed_of(const char *piece, size_t times)
{
    size_t n = strlen(piece);
    char *text = malloc(n * times + 1);
    gbx_log_line line;
    const char *whole;
    json_t *root;
    char *parsed;
    size_t len;

    assert_non_null(text);
    for (size_t i = 0; i < times; i++)
        memcpy(text + i * n, piece, n);
    gbx_log_line_begin(&line, &head);
    gbx_log_line_text(&line, "x", text, n * times);
    free(text);
    whole = gbx_log_line_end(&line, &len);
    root = audit_text_parse(whole, len);
    assert_null(json_object_get(root, "cut"));
    parsed = strdup(json_string_value(json_object_get(root, "x")));
    json_decref(root);
    assert_non_null(parsed);
    return parsed;
}

TEST(text__is_cut_at_a_character_and_says_so)
{
    static const struct {
        const char *piece;
        size_t times;
        size_t len; /* of what is left, the ellipsis not counted */
        bool is_cut;
    } table[] = {
        {"a", 256, 256, false},
        {"a", 257, 256, true},
        {"a", 1 << 20, 256, true},
        {"\xC3\xA9", 128, 256, false},
        {"\xC3\xA9", 129, 256, true},
        {"\xE4\xB8\xAD", 86, 255, true}, /* 256 is inside a character */
        {"\xF0\x9F\x98\x80", 65, 256, true},
        {"\\", 300, 256, true},
        {"\n", 256, 400 / 5 * 5, true}, /* escapes are whole or not there */
        {"\xFF", 300, 399, true},       /* three bytes each */
        {"\x80", 300, 399, true},       /* in no character: any place is as good */
    };

    for (size_t i = 0; i < GBX_COUNTOF(table); i++) {
        char *parsed = parsed_of(table[i].piece, table[i].times);
        size_t len = strlen(parsed);
        bool is_cut = len >= 3 && strcmp(parsed + len - 3, "\xE2\x80\xA6") == 0;

        if (is_cut != table[i].is_cut || len - (is_cut ? 3 : 0) != table[i].len)
            fail_msg("row %zu: %zu bytes: %s", i, len, parsed);
        free(parsed);
    }
}

/* What is written after what did not fit must not stand there as if nothing were amiss. */
TEST(line__that_is_full_says_so_and_is_whole)
{
    char text[300];

    memset(text, '"', sizeof text);
    for (size_t fields = 0; fields < 40; fields++) {
        gbx_log_line line;
        const char *whole;
        json_t *root;
        size_t len;

        gbx_log_line_begin(&line, &head);
        gbx_log_line_open(&line, "outer", '{');
        gbx_log_line_open(&line, "inner", '[');
        for (size_t i = 0; i < fields; i++)
            gbx_log_line_text(&line, NULL, text, sizeof text - i);
        gbx_log_line_close(&line);
        gbx_log_line_count(&line, "last", 1);
        gbx_log_line_close(&line);
        gbx_log_line_open(&line, "more", '{');
        gbx_log_line_close(&line);
        whole = gbx_log_line_end(&line, &len);
        root = audit_text_parse(whole, len);
        assert_true(
            json_is_array(json_object_get(json_object_get(root, "outer"), "inner")));
        assert_int_equal(json_object_get(root, "cut") != NULL,
                         json_object_get(root, "more") == NULL);
        assert_int_equal(json_object_get(root, "cut") != NULL, fields > 7);
        json_decref(root);
    }
}

/* At every length near the end. */
TEST(line__fits_to_the_byte)
{
    for (size_t n = 0; n < 256; n++) {
        char text[256];
        gbx_log_line line;
        size_t len;

        memset(text, 'a', sizeof text);
        gbx_log_line_begin(&line, &head);
        for (int i = 0; i < 14; i++)
            gbx_log_line_text(&line, "k", text, sizeof text);
        gbx_log_line_text(&line, "k", text, n);
        gbx_log_line_open(&line, "o", '{');
        gbx_log_line_open(&line, "o", '[');
        gbx_log_line_close(&line);
        gbx_log_line_close(&line);
        gbx_log_line_count(&line, "k", 1);
        (void)gbx_log_line_end(&line, &len);
        assert_true(len <= GBX_LINE_MAX);
        assert_int_equal(line.space[len - 1], '\n');
        assert_int_equal(line.space[len - 2], '}');
    }
}

TEST(escape__fits_where_it_is_told)
{
    char to[16];

    assert_int_equal(gbx_log_line_escape("a\nb", 3, to, sizeof to), 4);
    assert_string_equal(to, "a\\nb");
    (void)gbx_log_line_escape("0123456789abcdef", 16, to, sizeof to);
    assert_string_equal(to, "0123456789ab\xE2\x80\xA6");
    (void)gbx_log_line_escape("\033\033\033\033", 4, to, sizeof to);
    assert_string_equal(to, "\\u{1b}\\u{1b}\xE2\x80\xA6");
}

TEST_MAIN(NULL, NULL)

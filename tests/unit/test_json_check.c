/* SPDX-License-Identifier: MIT */
/* json - what RFC 8259 says is JSON, and nothing else; and where it stops being it. */
#include "base/cleanup.h"
#include "base/json.h"
#include "table.h"
#include "test.h"

#define TEXT(s) (s), sizeof(s) - 1

/* In an allocation of its own size: reading past it is seen. */
static bool check(const char *text, size_t len, gbx_json_fault *ret_fault)
{
    char *copy = malloc(len > 0 ? len : 1);
    bool valid;

    assert_non_null(copy);
    memcpy(copy, text, len);
    valid = gbx_json_check(copy, len, GBX_JSON_DEPTH_MAX, ret_fault);
    free(copy);
    return valid;
}

static size_t rows_of(const char *section, const table_line **ret_rows)
{
    return table_lines("unit/base/json_check.txt", section, true, ret_rows);
}

TEST(check__accepts_all_that_is_json)
{
    const table_line *rows;
    size_t count = rows_of("accepted", &rows);
    gbx_json_fault fault;

    for (size_t i = 0; i < count; i++)
        if (!check(rows[i].cell[0], strlen(rows[i].cell[0]), &fault))
            fail_msg("line %u: %s at %zu", rows[i].number, fault.message, fault.offset);
}

static void check_refused(const char *text, size_t len, const char *offset,
                          const char *message)
{
    gbx_json_fault fault;

    if (check(text, len, &fault))
        fail_msg("%s was accepted", text);
    if (fault.offset != strtoul(offset, NULL, 10) ||
        strcmp(fault.message, message) != 0)
        fail_msg("%s: %s at %zu", text, fault.message, fault.offset);
}

TEST(check__refuses_all_that_is_not_and_says_where)
{
    const table_line *rows;
    size_t count = rows_of("refused", &rows);

    for (size_t i = 0; i < count; i++)
        check_refused(rows[i].cell[0], strlen(rows[i].cell[0]), rows[i].cell[1],
                      rows[i].cell[2]);
    check_refused(TEXT("\"\\\0\""), "2", "unknown escape in a string");
    check_refused(TEXT("\"\0\""), "1", "control character in a string: escape it");
    check_refused(TEXT("{\"a\"\0:1}"), "4", "expected ':'");
    check_refused(TEXT("null\0"), "4", "unexpected text after the JSON value");
}

TEST(strict__refuses_what_stringify_does_not_write)
{
    const table_line *rows;
    size_t count = rows_of("not written by JSON.stringify()", &rows);
    gbx_json_fault fault;

    for (size_t i = 0; i < count; i++) {
        const char *text = rows[i].cell[0];

        assert_true(check(text, strlen(text), NULL));
        if (gbx_json_check_strict(text, strlen(text), 10, &fault) ||
            fault.offset != strtoul(rows[i].cell[1], NULL, 10))
            fail_msg("line %u: %s at %zu", rows[i].number, fault.message, fault.offset);
    }
}

TEST(strict__takes_all_that_it_does)
{
    const table_line *rows;
    size_t count = rows_of("written by JSON.stringify()", &rows);
    gbx_json_fault fault;

    for (size_t i = 0; i < count; i++)
        if (!gbx_json_check_strict(rows[i].cell[0], strlen(rows[i].cell[0]), 10,
                                   &fault))
            fail_msg("line %u: %s at %zu", rows[i].number, fault.message, fault.offset);
}

TEST(check__no_truncation_of_a_container_is_json)
{
    static const char text[] =
        "{\"a\":[1.5e3,\"\\u00e9\xC3\xA9\",true,null,{\"b\":{}}]}";

    assert_true(check(TEXT(text), NULL));
    for (size_t len = 0; len < sizeof text - 1; len++)
        assert_false(check(text, len, NULL));
}

/* Text is looked at eight bytes at a time: none may hide among the others. */
TEST(check__sees_every_byte_wherever_it_stands)
{
    gbx_json_fault fault;
    char text[42];

    for (size_t at = 1; at <= sizeof text - 2; at++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            bool is_plain = byte >= 0x20 && byte < 0x80 && byte != '\\' && byte != '"';

            memset(text, 'a', sizeof text);
            text[0] = text[sizeof text - 1] = '"';
            text[at] = (char)byte;
            assert_int_equal(gbx_json_check(text, sizeof text, 1, &fault), is_plain);
            if (is_plain)
                continue;
            /* A quote and an escape are found wrong in what follows. */
            assert_in_range(fault.offset, at, at + 2);
        }
    }
}

TEST(check__takes_no_text_at_all)
{
    gbx_json_fault fault;

    assert_false(gbx_json_check(NULL, 0, GBX_JSON_DEPTH_MAX, &fault));

    assert_int_equal(fault.line, 1);
    assert_int_equal(fault.column, 1);
}

TEST(fault__has_line_and_column_in_characters)
{
    gbx_json_fault fault;

    assert_false(
        check(TEXT("{\n  \"k\xC3\xA9\": 1,\n  \"\xE2\x82\xAC\": oops\n}"), &fault));

    assert_int_equal(fault.line, 3);
    assert_int_equal(fault.column, 8);
}

/* ---- depth ------------------------------------------------------------------- */

/* n levels, each an array or each an object, around nothing. */
static char *nested(size_t n, bool objects, size_t *ret_len)
{
    gbx_buf buf;

    gbx_buf_init(&buf, n * 16 + 16);
    for (size_t i = 0; i < n; i++)
        (void)gbx_buf_puts(&buf, !objects ? "[" : i + 1 < n ? "{\"a\":" : "{");
    for (size_t i = 0; i < n; i++)
        (void)gbx_buf_puts(&buf, objects ? "}" : "]");
    return gbx_buf_take_string(&buf, ret_len);
}

TEST(depth__holds_at_the_limit_and_not_one_past_it)
{
    static const size_t limits[] = {0, 1, 2, 64, GBX_JSON_DEPTH_MAX};

    for (size_t i = 0; i < GBX_COUNTOF(limits) * 4; i++) {
        size_t limit = limits[i / 4];
        bool is_past = i % 2 == 1;
        gbx_json_fault fault;
        size_t len;
        char *text = nested(limit + is_past, i % 4 >= 2, &len);

        if (limit + is_past > 0) {
            assert_int_equal(gbx_json_check(text, len, limit, &fault), !is_past);
            if (is_past)
                assert_string_equal(fault.message, "nested too deep");
        }
        free(text);
    }
}

TEST(depth__asked_for_past_the_maximum_is_the_maximum)
{
    size_t len;
    char *text = nested(GBX_JSON_DEPTH_MAX + 1, false, &len);

    assert_false(gbx_json_check(text, len, SIZE_MAX, NULL));

    free(text);
}

TEST(depth__of_a_million_costs_no_stack)
{
    char *text = malloc(1000000);
    gbx_json_fault fault;
    assert_non_null(text);
    memset(text, '[', 1000000);

    assert_false(gbx_json_check(text, 1000000, GBX_JSON_DEPTH_MAX, &fault));

    assert_int_equal(fault.offset, GBX_JSON_DEPTH_MAX);
    free(text);
}

TEST(depth__is_given_back_by_siblings)
{
    assert_true(gbx_json_check(TEXT("[[],[],{\"a\":[]},[[1]]]"), 3, NULL));
    assert_false(gbx_json_check(TEXT("[[],[],{\"a\":[]},[[1]]]"), 2, NULL));
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/* json - what we write is JSON, whatever the text, the number or the locale. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_view.h"
#include "scratch.h"
#include "table.h"
#include "test.h"

#include <locale.h>
#include <math.h>

/* ---- strings ----------------------------------------------------------------- */

static size_t rows_of(const char *section, const table_line **ret_rows)
{
    return table_lines("unit/base/json.txt", section, true, ret_rows);
}

static void check_text(gbx_buf *buf, const char *expected)
{
    char *text = gbx_buf_take_string(buf, NULL);

    assert_string_equal(text, expected);
    free(text);
}

TEST(string__is_quoted_and_escaped)
{
    const table_line *rows;
    size_t count = rows_of("strings", &rows);
    gbx_buf buf;

    gbx_buf_init(&buf, 256);
    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;

        assert_true(gbx_json_append_string(&buf, cell[0], strlen(cell[0])));
        check_text(&buf, cell[1]);
    }
    assert_true(gbx_json_append_string(&buf, "\0\x1F\x7F", 3));
    check_text(&buf, "\"\\u0000\\u001f\\u007f\"");
}

TEST(shown__has_what_nobody_sees_as_escapes)
{
    const table_line *rows;
    size_t count = rows_of("shown", &rows);
    gbx_buf buf;

    gbx_buf_init(&buf, 256);
    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;

        assert_true(gbx_json_append_shown(&buf, cell[0], strlen(cell[0])));
        check_text(&buf, cell[1]);
    }
}

TEST(string__of_any_two_bytes_is_json)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 64);

    for (unsigned i = 0; i <= 0xFFFF; i++) {
        uint8_t bytes[] = {(uint8_t)(i >> 8), (uint8_t)i};

        buf.len = 0;
        assert_true(gbx_json_append_string(&buf, bytes, sizeof bytes));
        if (!gbx_json_check((const char *)buf.data, buf.len, 1, NULL))
            fail_msg("%04x", i);
    }
}

/* Eight bytes are looked at in one step: each byte at every place among them, and what is
 * read back is what was written. */
TEST(string__is_itself_with_any_byte_at_any_place)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf back;

    gbx_buf_init(&json, 256);
    gbx_buf_init(&back, 256);
    for (unsigned byte = 0; byte < 0x80; byte++)
        for (size_t at = 0; at < 19; at++) {
            char text[] = "0123456789abc\u00e9\u20ac!";
            gbx_view view = {NULL, 0};

            if (((uint8_t)text[at] & 0x80) != 0)
                continue;
            text[at] = (char)byte;
            json.len = back.len = 0;
            assert_true(gbx_json_append_string(&json, text, sizeof text - 1));
            assert_true(gbx_view_open((const char *)json.data, json.len, &view));
            assert_null(memchr(view.at, 0x7F, view.len));
            assert_true(gbx_view_append_text(view, &back));
            assert_int_equal(back.len, sizeof text - 1);
            assert_memory_equal(back.data, text, back.len);
        }
}

TEST(compact__leaves_out_white_space_between_tokens_alone)
{
    static const char *const rows[][2] = {
        {" \t[1 ,\r\n2 ]\n", "[1,2]"},
        {"{ \"a \\\" b\" : \" \\\\\" , \"c\":null }",
         "{\"a \\\" b\":\" \\\\\",\"c\":null}"},
        {"12", "12"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

        gbx_buf_init(&buf, 64);
        assert_true(gbx_json_append_compact(&buf, rows[i][0], strlen(rows[i][0])));
        assert_true(gbx_buf_append(&buf, "", 1));
        assert_string_equal((char *)buf.data, rows[i][1]);
    }
}

TEST(string__says_when_the_ceiling_is_reached)
{
    for (size_t ceiling = 0; ceiling < 11; ceiling++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

        gbx_buf_init(&buf, ceiling);
        assert_false(gbx_json_append_string(&buf, "a\n\xFF\"b", 5));
    }
}

/* ---- numbers ------------------------------------------------------------------ */

static const struct {
    double number;
    const char *json;
} numbers[] = {
    {0, "0"},
    {-0.0, "0"},
    {1, "1"},
    {-1, "-1"},
    {0.5, "0.5"},
    {0.25, "0.25"},
    {0.125, "0.125"},
    {0.0625, "0.063"},
    {0.001, "0.001"},
    {0.0004, "0"},
    {-0.0004, "0"},
    {-0.05, "-0.05"},
    {1.005, "1.005"},
    {1.999, "1.999"},
    {1.9996, "2"},
    {203.088, "203.088"},
    {1e6, "1000000"},
    {123456789.5, "123456789.5"},
    {999999999999999.0, "999999999999999"},
    {1e15, "1000000000000000"},
    {1e21, "1000000000000000000000"},
    {INFINITY, "null"},
    {-INFINITY, "null"},
    {NAN, "null"},
};

static void assert_numbers(void)
{
    for (size_t i = 0; i < GBX_COUNTOF(numbers); i++) {
        gbx_buf buf;
        char *text;

        gbx_buf_init(&buf, 512);
        assert_true(gbx_json_append_number(&buf, numbers[i].number));
        text = gbx_buf_take_string(&buf, NULL);
        assert_string_equal(text, numbers[i].json);
        free(text);
    }
}

TEST(number__has_at_most_three_decimals)
{
    assert_numbers();
}

TEST(number__is_json_up_to_the_largest)
{
    static const double large[] = {1.7976931348623157e308, -1.7976931348623157e308,
                                   5e-324};

    for (size_t i = 0; i < GBX_COUNTOF(large); i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

        gbx_buf_init(&buf, 512);
        assert_true(gbx_json_append_number(&buf, large[i]));
        assert_true(gbx_json_check((const char *)buf.data, buf.len, 1, NULL));
    }
}

/* A locale of our own, "comma", whose decimal point is one: which are installed is the
 * machine's affair. */
static void make_comma_locale(void)
{
    char command[128];

    scratch_write("source", "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\n"
                            "grouping -1\nEND LC_NUMERIC\n");
    /* It misses the other categories, and says so. */
    (void)
        snprintf(command, sizeof command,
                 "cd %s && localedef -c -i ./source ./comma 2>/dev/null; test -d comma",
                 scratch);
    assert_int_equal(system(command), 0);
    assert_int_equal(setenv("LOCPATH", scratch, 1), 0);
}

TEST_WITH(scratch_begin, scratch_end, number__does_not_follow_the_locale)
{
    char text[16];

    make_comma_locale();
    assert_non_null(setlocale(LC_NUMERIC, "comma"));
    (void)snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");

    assert_numbers();
    assert_non_null(setlocale(LC_NUMERIC, "C"));
    assert_int_equal(unsetenv("LOCPATH"), 0);
}

/* ---- lines --------------------------------------------------------------------- */

TEST(lines__become_one_array)
{
    const table_line *rows;
    size_t count = rows_of("lines", &rows);

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;
        gbx_json_fault fault;
        gbx_buf buf;

        gbx_buf_init(&buf, 256);
        assert_true(gbx_json_from_lines(cell[0], strlen(cell[0]), &buf, &fault));
        assert_true(gbx_json_check((const char *)buf.data, buf.len, 10, NULL));
        check_text(&buf, cell[1]);
    }
}

TEST(lines__say_which_is_not_json)
{
    const table_line *rows;
    size_t count = rows_of("bad lines", &rows);

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;
        gbx_json_fault fault;
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

        gbx_buf_init(&buf, 256);
        assert_false(gbx_json_from_lines(cell[0], strlen(cell[0]), &buf, &fault));
        assert_non_null(fault.message);
        assert_int_equal(fault.line, strtoul(cell[1], NULL, 10));
        assert_int_equal(fault.column, strtoul(cell[2], NULL, 10));
        assert_int_equal(fault.offset, strtoul(cell[3], NULL, 10));
    }
}

TEST(lines__past_the_ceiling_are_no_fault_of_theirs)
{
    gbx_json_fault fault = {.message = "left over"};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 4);

    assert_false(gbx_json_from_lines("1\n2\n3", 5, &buf, &fault));

    assert_null(fault.message);
}

TEST(lines__leave_room_for_the_array_around_them)
{
    char text[2 * GBX_JSON_DEPTH_MAX];
    gbx_json_fault fault;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    memset(text, '[', GBX_JSON_DEPTH_MAX);
    memset(text + GBX_JSON_DEPTH_MAX, ']', GBX_JSON_DEPTH_MAX);
    gbx_buf_init(&buf, sizeof text + 2);

    assert_false(gbx_json_from_lines(text, sizeof text, &buf, &fault));
    assert_string_equal(fault.message, "nested too deep");
    assert_true(gbx_json_from_lines(text + 1, sizeof text - 2, &buf, &fault));

    assert_true(
        gbx_json_check((const char *)buf.data, buf.len, GBX_JSON_DEPTH_MAX, NULL));
}

TEST_MAIN(NULL, NULL)

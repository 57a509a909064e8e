/* SPDX-License-Identifier: MIT */
/* utf8 - every boundary of every length, and what a terminal must never see. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "table.h"
#include "test.h"

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

static size_t rows_of(const char *section, const table_line **ret_rows)
{
    return table_lines("unit/base/utf8.txt", section, true, ret_rows);
}

TEST(sequence__knows_every_boundary)
{
    const table_line *rows;
    size_t count = rows_of("sequences", &rows);

    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(rows[i].cell[1]);
        uint8_t *copy = malloc(len > 0 ? len : 1);

        assert_non_null(copy); /* of its own size: reading past it is seen */
        memcpy(copy, rows[i].cell[1], len);
        if (gbx_utf8_sequence(copy, len) != strtoul(rows[i].cell[2], NULL, 10))
            fail_msg("%s", rows[i].cell[0]);
        free(copy);
    }
    assert_int_equal(gbx_utf8_sequence(BYTES("\0")), 1);
}

/* Encode by arithmetic of its own, not by the module's. */
static size_t encode(uint32_t c, uint8_t *out)
{
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0x00, 0xC0, 0xE0, 0xF0};

    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(lead[n] | c);
    return n;
}

TEST(sequence__takes_every_character_and_no_surrogate)
{
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        bool is_surrogate = c >= 0xD800 && c <= 0xDFFF;
        uint8_t bytes[4];
        size_t n = encode(c, bytes);

        if (gbx_utf8_sequence(bytes, n) != (is_surrogate ? 0 : n))
            fail_msg("U+%04X", (unsigned)c);
    }
}

/* Beside it nothing but ASCII, which is taken in steps. */
TEST(valid__finds_a_bad_byte_at_every_place)
{
    uint8_t text[40];
    size_t bad = 0;

    for (size_t len = 1; len <= sizeof text; len++)
        for (size_t at = 0; at < len; at++) {
            memset(text, 'a', len);
            assert_true(gbx_utf8_valid(text, len, &bad));
            text[at] = 0xC3; /* of which one more is needed */
            assert_false(gbx_utf8_valid(text, len, &bad));
            assert_int_equal(bad, at);
            if (at + 1 == len)
                continue;
            text[at + 1] = 0xA9;
            assert_true(gbx_utf8_valid(text, len, &bad));
        }
}

TEST(valid__says_where_it_is_not)
{
    size_t bad = 99;

    assert_true(gbx_utf8_valid(BYTES("h\xC3\xA9 \xF0\x9F\x98\x80"), &bad));
    assert_int_equal(bad, 99);
    assert_true(gbx_utf8_valid(NULL, 0, &bad));
    assert_false(gbx_utf8_valid(BYTES("h\xC3\xA9 \xF0\x9F\x98"), &bad));
    assert_int_equal(bad, 4);

    assert_false(gbx_utf8_valid(BYTES("\x80"), NULL));
}

/* ---- writing ---------------------------------------------------------------- */

static void assert_text(gbx_buf *buf, const char *expected)
{
    char *text = gbx_buf_take_string(buf, NULL);

    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

TEST(utf16__becomes_utf8_and_lone_surrogates_the_mark)
{
    static const uint16_t units[] = {
        'a',    0x7F,   0x80, 0x7FF, 0x800, 0xFFFF, /* each length */
        0xD83D, 0xDE00,                             /* a pair: U+1F600 */
        0xDBFF, 0xDFFF,                             /* the last pair: U+10FFFF */
        0xD800, 'b',                                /* high without low */
        0xDC00,                                     /* low without high */
        0xDC00, 0xD800, /* the wrong way round, at the end */
    };
    gbx_buf buf;
    gbx_buf_init(&buf, 256);

    assert_true(gbx_utf8_append_utf16(&buf, units, GBX_COUNTOF(units)));

    assert_text(&buf, "a\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF"
                      "\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF"
                      "\xEF\xBF\xBD"
                      "b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(lossy__keeps_what_is_valid_and_marks_each_bad_byte)
{
    gbx_buf buf;
    gbx_buf_init(&buf, 256);

    assert_true(gbx_utf8_append_lossy(&buf, "a\xFF\xC3\xA9\xC3(\xE2\x82", 8));

    assert_text(&buf, "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(ends__are_head_and_tail_between_characters)
{
    const table_line *rows;
    size_t count = rows_of("ends", &rows);

    for (size_t i = 0; i < count; i++) {
        const char *text = rows[i].cell[0];
        gbx_buf buf;

        gbx_buf_init(&buf, 64);
        assert_true(gbx_buf_puts(&buf, ""));
        assert_true(gbx_utf8_append_ends(&buf, text, strlen(text),
                                         strtoul(rows[i].cell[1], NULL, 10)));
        assert_text(&buf, rows[i].cell[2]);
    }
}

TEST(ends__of_nothing_are_nothing)
{
    gbx_buf buf;

    gbx_buf_init(&buf, 64);
    assert_true(gbx_utf8_append_ends(&buf, NULL, 0, 8)); /* as of an empty buffer */
    assert_int_equal(buf.len, 0);
}

TEST(writers__say_when_the_ceiling_is_reached)
{
    static const uint16_t units[] = {'a', 0x20AC};

    for (size_t ceiling = 0; ceiling < 4; ceiling++) {
        gbx_buf buf;

        gbx_buf_init(&buf, ceiling);
        assert_false(gbx_utf8_append_utf16(&buf, units, 2));
        gbx_buf_cleanup(&buf);
        assert_false(gbx_utf8_append_lossy(&buf, "ab\xFF", 3));
        gbx_buf_cleanup(&buf);
        assert_false(gbx_utf8_append_escaped(&buf, "\x1B", 1, GBX_ESCAPE_LINE));
        gbx_buf_cleanup(&buf);
    }
}

/* ---- what steers a terminal ------------------------------------------------- */

static void check_escaped(const char *given, gbx_escape how, const char *shown)
{
    gbx_buf buf;

    gbx_buf_init(&buf, 256);
    assert_true(gbx_utf8_append_escaped(&buf, given, strlen(given), how));
    assert_text(&buf, shown);
}

/* What "-" stands for in a cell. */
static const char *or_else(const char *cell, const char *otherwise)
{
    return strcmp(cell, "-") == 0 ? otherwise : cell;
}

TEST(escaped__leaves_nothing_that_steers)
{
    const table_line *rows;
    size_t count = rows_of("escapes", &rows);

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;

        check_escaped(cell[0], GBX_ESCAPE_LINE, cell[1]);
        check_escaped(cell[0], GBX_ESCAPE_TEXT, or_else(cell[2], cell[1]));
    }
}

TEST(copied_line__is_cut_between_characters_and_always_ends)
{
    char to[8];

    gbx_utf8_copy_line(to, sizeof to, "a\nb", 3);
    assert_string_equal(to, "a\\nb");
    gbx_utf8_copy_line(to, sizeof to, "12345\xC3\xA9\xC3\xA9", 9);
    assert_string_equal(to, "12345\xC3\xA9");
    gbx_utf8_copy_line(to, sizeof to, "123\x1B", 4);
    assert_string_equal(to, "123");
    gbx_utf8_copy_line(to, sizeof to, NULL, 0);
    assert_string_equal(to, "");
}

/* Text is kept as it is written; what could hide in it is not. */
TEST(escaped__keeps_joiners_and_selectors_where_text_has_them)
{
    const table_line *rows;
    size_t count = rows_of("joiners", &rows);

    for (size_t i = 0; i < count; i++) {
        const char *given = rows[i].cell[0];
        const char *shown = or_else(rows[i].cell[1], given);

        check_escaped(given, GBX_ESCAPE_TEXT, shown);
        check_escaped(given, GBX_ESCAPE_ALL, rows[i].cell[2]);
        assert_int_equal(gbx_utf8_unescaped(given, strlen(given), GBX_ESCAPE_TEXT) ==
                             strlen(given),
                         shown == given);
    }
}

TEST(escaped__json_stays_the_same_json)
{
    static const char given[] =
        "{\r\n\t\"a\x7F\xC2\x9B\":\r\"\xE2\x80\xAE\xF3\xA0\x81\x81\\u202e\"}";
    gbx_buf buf;
    gbx_buf_init(&buf, 256);

    assert_true(gbx_buf_puts(&buf, "\x1B"));
    assert_true(gbx_buf_append(&buf, given, sizeof given - 1));
    assert_true(gbx_utf8_escape(&buf, 1, GBX_ESCAPE_JSON));
    assert_text(&buf,
                "\x1B{\r\n\t\"a\\u007f\\u009b\": \"\\u202e\\udb40\\udc41\\u202e\"}");
}

TEST(escaped__has_what_fits_in_whole_characters)
{
    static const char *const texts[] = {"abc\xC3\xA9", "abc\x1B",
                                        "abc\xF0\x9F\x98\x80"};

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

        gbx_buf_init(&buf, 4);
        assert_false(
            gbx_utf8_append_escaped(&buf, texts[i], strlen(texts[i]), GBX_ESCAPE_LINE));
        assert_int_equal(buf.len, 3);
        assert_memory_equal(buf.data, "abc", 3);
    }
}

TEST(escaped__shows_nul_too)
{
    gbx_buf buf;
    gbx_buf_init(&buf, 64);

    assert_true(gbx_utf8_append_escaped(&buf, "a\0b", 3, GBX_ESCAPE_TEXT));

    assert_text(&buf, "a\\u{0}b");
}

/* ---- positions --------------------------------------------------------------- */

TEST(position__counts_lines_and_characters)
{
    const table_line *rows;
    size_t count = rows_of("positions", &rows);

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;
        uint32_t line;
        uint32_t column;

        gbx_utf8_position(cell[0], strlen(cell[0]), strtoul(cell[1], NULL, 10), &line,
                          &column);
        assert_int_equal(line, strtoul(cell[2], NULL, 10));
        assert_int_equal(column, strtoul(cell[3], NULL, 10));
    }
}

TEST_MAIN(NULL, NULL)

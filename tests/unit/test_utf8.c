/* SPDX-License-Identifier: MIT */
/* utf8 - every boundary of every length, and what a terminal must never see. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "test.h"

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

/* What stands at the front, and how many bytes of it are one character. */
static const struct {
    const char *what;
    const uint8_t *data;
    size_t len;
    size_t taken;
} sequences[] = {
    {"nothing", BYTES(""), 0},
    {"U+0000", BYTES("\0"), 1},
    {"U+007F", BYTES("\x7F"), 1},
    {"a tail alone", BYTES("\x80"), 0},
    {"the last tail alone", BYTES("\xBF"), 0},
    {"overlong U+0000", BYTES("\xC0\x80"), 0},
    {"overlong U+007F", BYTES("\xC1\xBF"), 0},
    {"U+0080", BYTES("\xC2\x80"), 2},
    {"U+07FF", BYTES("\xDF\xBF"), 2},
    {"two bytes, one there", BYTES("\xC2"), 0},
    {"two bytes, tail too low", BYTES("\xC2\x7F"), 0},
    {"two bytes, tail too high", BYTES("\xC2\xC0"), 0},
    {"overlong U+0080", BYTES("\xE0\x80\x80"), 0},
    {"overlong U+07FF", BYTES("\xE0\x9F\xBF"), 0},
    {"U+0800", BYTES("\xE0\xA0\x80"), 3},
    {"U+D7FF", BYTES("\xED\x9F\xBF"), 3},
    {"the first surrogate", BYTES("\xED\xA0\x80"), 0},
    {"the last high surrogate", BYTES("\xED\xAF\xBF"), 0},
    {"the first low surrogate", BYTES("\xED\xB0\x80"), 0},
    {"the last surrogate", BYTES("\xED\xBF\xBF"), 0},
    {"U+E000", BYTES("\xEE\x80\x80"), 3},
    {"U+FFFF", BYTES("\xEF\xBF\xBF"), 3},
    {"three bytes, two there", BYTES("\xE2\x82"), 0},
    {"three bytes, second is no tail", BYTES("\xE2\x28\xA1"), 0},
    {"three bytes, third is no tail", BYTES("\xE2\x82\x28"), 0},
    {"overlong U+0800", BYTES("\xF0\x80\xA0\x80"), 0},
    {"overlong U+FFFF", BYTES("\xF0\x8F\xBF\xBF"), 0},
    {"U+10000", BYTES("\xF0\x90\x80\x80"), 4},
    {"U+FFFFF", BYTES("\xF3\xBF\xBF\xBF"), 4},
    {"U+10FFFF", BYTES("\xF4\x8F\xBF\xBF"), 4},
    {"U+110000", BYTES("\xF4\x90\x80\x80"), 0},
    {"F5 begins nothing", BYTES("\xF5\x80\x80\x80"), 0},
    {"five bytes", BYTES("\xF8\x88\x80\x80\x80"), 0},
    {"six bytes", BYTES("\xFC\x84\x80\x80\x80\x80"), 0},
    {"FE", BYTES("\xFE\x80\x80\x80"), 0},
    {"FF", BYTES("\xFF\xFF\xFF\xFF"), 0},
    {"four bytes, three there", BYTES("\xF0\x9F\x98"), 0},
    {"four bytes, second is no tail", BYTES("\xF0\x28\x8C\xBC"), 0},
    {"four bytes, third is no tail", BYTES("\xF0\x90\x28\xBC"), 0},
    {"four bytes, fourth is no tail", BYTES("\xF0\x90\x8C\x28"), 0},
    {"the front alone counts", BYTES("\xC3\xA9\xFF"), 2},
};

TEST(sequence__knows_every_boundary)
{
    for (size_t i = 0; i < GBX_COUNTOF(sequences); i++) {
        uint8_t *copy = malloc(sequences[i].len > 0 ? sequences[i].len : 1);

        assert_non_null(copy); /* of its own size: reading past it is seen */
        memcpy(copy, sequences[i].data, sequences[i].len);
        if (gbx_utf8_sequence(copy, sequences[i].len) != sequences[i].taken)
            fail_msg("%s", sequences[i].what);
        free(copy);
    }
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
    static const struct {
        const char *text;
        size_t max;
        const char *expected;
    } rows[] = {
        {"abcdefgh", 8, "abcdefgh"},
        {"abcdefgh", 7, "abc [... 1 bytes ...] efgh"},
        {"abcdefgh", 0, " [... 8 bytes ...] "},
        {"a\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xACz", 8,
         "a\xE2\x82\xAC [... 3 bytes ...] \xE2\x82\xACz"},
        {"a\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xACz", 6, "a [... 9 bytes ...] z"},
        {"", 0, ""},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_buf buf;

        gbx_buf_init(&buf, 64);
        assert_true(gbx_buf_puts(&buf, ""));
        assert_true(gbx_utf8_append_ends(&buf, rows[i].text, strlen(rows[i].text),
                                         rows[i].max));
        assert_text(&buf, rows[i].expected);
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

#define ZWNJ  "\xE2\x80\x8C"
#define ZWJ   "\xE2\x80\x8D"
#define VS15  "\xEF\xB8\x8E"
#define VS16  "\xEF\xB8\x8F"
#define HEART "\xE2\x9D\xA4"
#define WOMAN "\xF0\x9F\x91\xA9"

static const struct {
    const char *given;
    const char *line;
    const char *text;
} escapes[] = {
    {"plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
     "plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
     "plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
    {"a\nb\tc", "a\\nb\\u{9}c", "a\nb\tc"},
    {"a\rb", "a\\u{d}b", "a\\u{d}b"},
    {"a\r\nb\r", "a\\u{d}\\nb\\u{d}", "a\r\nb\\u{d}"},
    {"\x1B[2J", "\\u{1b}[2J", "\\u{1b}[2J"},
    {"\x1B]0;x\x07", "\\u{1b}]0;x\\u{7}", "\\u{1b}]0;x\\u{7}"},
    {"\b\v\f\x7F", "\\u{8}\\u{b}\\u{c}\\u{7f}", "\\u{8}\\u{b}\\u{c}\\u{7f}"},
    {"\xC2\x80\xC2\x9B\xC2\x9F", "\\u{80}\\u{9b}\\u{9f}", "\\u{80}\\u{9b}\\u{9f}"},
    {"\xC2\xA0", "\xC2\xA0", "\xC2\xA0"}, /* the no-break space stays */
    {"\xD8\x9C", "\\u{61c}", "\\u{61c}"}, /* the Arabic letter mark */
    {"\xE2\x80\x8B\xE2\x80\x8E\xE2\x80\x8F", "\\u{200b}\\u{200e}\\u{200f}",
     "\\u{200b}\\u{200e}\\u{200f}"},
    {"\xE2\x80\xA8\xE2\x80\xA9", "\\u{2028}\\u{2029}", "\\u{2028}\\u{2029}"},
    {"\xE2\x80\xAA\xE2\x80\xAE", "\\u{202a}\\u{202e}", "\\u{202a}\\u{202e}"},
    {"\xE2\x80\xAF", "\xE2\x80\xAF", "\xE2\x80\xAF"}, /* U+202F is a space */
    {"\xE2\x81\xA6\xE2\x81\xA9", "\\u{2066}\\u{2069}", "\\u{2066}\\u{2069}"},
    {"\xEF\xBB\xBF", "\\u{feff}", "\\u{feff}"},
    {"\xF3\xA0\x80\x81\xF3\xA0\x81\xBF", "\\u{e0001}\\u{e007f}",
     "\\u{e0001}\\u{e007f}"},
    {"\xC2\xAD\xCD\x8F", "\\u{ad}\\u{34f}", "\\u{ad}\\u{34f}"},
    {"\xE1\x85\x9F\xE1\xA0\x8E\xE2\x81\xA0", "\\u{115f}\\u{180e}\\u{2060}",
     "\\u{115f}\\u{180e}\\u{2060}"},
    {"\xE2\xA0\x80\xE3\x85\xA4\xEF\xBE\xA0", "\\u{2800}\\u{3164}\\u{ffa0}",
     "\\u{2800}\\u{3164}\\u{ffa0}"},
    {"\xEF\xB8\x80\xF0\x9D\x85\xB3\xF3\xA0\x87\xAF", "\\u{fe00}\\u{1d173}\\u{e01ef}",
     "\\u{fe00}\\u{1d173}\\u{e01ef}"},
    {"\xEF\xBF\xB9x\xEF\xBF\xBB\xF0\x93\x90\xB0", "\\u{fff9}x\\u{fffb}\\u{13430}",
     "\\u{fff9}x\\u{fffb}\\u{13430}"},
    {"\xE2\x9C\x94\xEF\xB8\x8F", "\xE2\x9C\x94\xEF\xB8\x8F",
     "\xE2\x9C\x94\xEF\xB8\x8F"}, /* as an emoji, which people write */
    {"\xC2\xAC\xC2\xAE\xE2\xA0\x81\xE3\x85\xA3\xEF\xB7\xBF\xEF\xB8\x90\xEF\xBF\xA1",
     "\xC2\xAC\xC2\xAE\xE2\xA0\x81\xE3\x85\xA3\xEF\xB7\xBF\xEF\xB8\x90\xEF\xBF\xA1",
     "\xC2\xAC\xC2\xAE\xE2\xA0\x81\xE3\x85\xA3\xEF\xB7\xBF\xEF\xB8\x90\xEF\xBF\xA1"}, /* their neighbours */
    {"\xFF\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD",
     "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
};

TEST(escaped__leaves_nothing_that_steers)
{
    gbx_buf buf;
    gbx_buf_init(&buf, 256);

    for (size_t i = 0; i < GBX_COUNTOF(escapes); i++) {
        const char *given = escapes[i].given;

        assert_true(
            gbx_utf8_append_escaped(&buf, given, strlen(given), GBX_ESCAPE_LINE));
        assert_text(&buf, escapes[i].line);
        assert_true(
            gbx_utf8_append_escaped(&buf, given, strlen(given), GBX_ESCAPE_TEXT));
        assert_text(&buf, escapes[i].text);
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
    static const struct {
        const char *given;
        const char *shown;
        const char *all; /* with GBX_ESCAPE_ALL */
    } rows[] = {
        {"\xD9\x85\xDB\x8C" ZWNJ "\xD8\xAE", NULL, "\xD9\x85\xDB\x8C\\u{200c}\xD8\xAE"},
        {WOMAN ZWJ WOMAN, NULL, WOMAN "\\u{200d}" WOMAN},
        {HEART VS16 ZWJ WOMAN, NULL, HEART "\\u{fe0f}\\u{200d}" WOMAN},
        {"1" VS16 "\xE2\x83\xA3", NULL, "1\\u{fe0f}\xE2\x83\xA3"},
        {"12345678" VS16, NULL, "12345678\\u{fe0f}"},
        {HEART VS15, NULL, HEART "\\u{fe0e}"},
        {"a" ZWJ "b" ZWNJ, "a\\u{200d}b\\u{200c}", "a\\u{200d}b\\u{200c}"},
        {"abcdefgh" VS16, "abcdefgh\\u{fe0f}", "abcdefgh\\u{fe0f}"},
        {"1" ZWJ, "1\\u{200d}", "1\\u{200d}"},
        {VS16, "\\u{fe0f}", "\\u{fe0f}"},
        {HEART VS16 VS15, HEART VS16 "\\u{fe0e}", HEART "\\u{fe0f}\\u{fe0e}"},
        {WOMAN ZWJ ZWNJ, WOMAN ZWJ "\\u{200c}", WOMAN "\\u{200d}\\u{200c}"},
        {WOMAN "\xE2\x80\xAE" ZWJ, WOMAN "\\u{202e}\\u{200d}",
         WOMAN "\\u{202e}\\u{200d}"},
    };
    gbx_buf buf;
    gbx_buf_init(&buf, 256);

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        const char *given = rows[i].given;
        const char *shown = rows[i].shown != NULL ? rows[i].shown : given;

        assert_true(
            gbx_utf8_append_escaped(&buf, given, strlen(given), GBX_ESCAPE_TEXT));
        assert_text(&buf, shown);
        assert_true(
            gbx_utf8_append_escaped(&buf, given, strlen(given), GBX_ESCAPE_ALL));
        assert_text(&buf, rows[i].all);
        assert_int_equal(gbx_utf8_unescaped(given, strlen(given), GBX_ESCAPE_TEXT) ==
                             strlen(given),
                         rows[i].shown == NULL);
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

static const struct {
    const char *text;
    size_t offset;
    uint32_t line;
    uint32_t column;
} positions[] = {
    {"", 0, 1, 1},
    {"abc", 0, 1, 1},
    {"abc", 2, 1, 3},
    {"abc", 3, 1, 4},
    {"abc", 99, 1, 4},
    {"a\nb", 1, 1, 2},
    {"a\nb", 2, 2, 1},
    {"\n\n\n", 3, 4, 1},
    {"a\r\nb", 3, 2, 1},
    {"\xC3\xA9x", 2, 1, 2},
    {"\xC3\xA9x", 3, 1, 3},
    {"\xF0\x9F\x98\x80x", 4, 1, 2},
    {"\xF0\x9F\x98\x80\nx", 5, 2, 1},
};

TEST(position__counts_lines_and_characters)
{
    for (size_t i = 0; i < GBX_COUNTOF(positions); i++) {
        uint32_t line;
        uint32_t column;

        gbx_utf8_position(positions[i].text, strlen(positions[i].text),
                          positions[i].offset, &line, &column);
        assert_int_equal(line, positions[i].line);
        assert_int_equal(column, positions[i].column);
    }
}

TEST_MAIN(NULL, NULL)

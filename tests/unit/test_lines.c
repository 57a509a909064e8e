/* SPDX-License-Identifier: MIT */
/* test_lines - JavaScript's ends of lines, every one of them. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "test.h"

/* Three lines each, "a", "bc" and "d". */
static const struct {
    const char *text;
    size_t end_len;
} texts[] = {
    {"a\nbc\nd", 1},
    {"a\rbc\rd", 1},
    {"a\r\nbc\r\nd", 2},
    {"a\xE2\x80\xA8"
     "bc\xE2\x80\xA8"
     "d",
     3},
    {"a\xE2\x80\xA9"
     "bc\xE2\x80\xA9"
     "d",
     3},
};

TEST(find__gives_every_line_without_its_end)
{
    static const char *const lines[] = {"a", "bc", "d"};

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++) {
        size_t len = strlen(texts[i].text);
        size_t start;
        size_t end;

        for (uint32_t n = 1; n <= 3; n++) {
            assert_true(gbx_lines_find(texts[i].text, len, n, &start, &end));
            assert_int_equal(end - start, strlen(lines[n - 1]));
            assert_memory_equal(texts[i].text + start, lines[n - 1], end - start);
        }
        assert_false(gbx_lines_find(texts[i].text, len, 4, &start, &end));
        assert_int_equal(start, len);
        assert_int_equal(end, len);
    }
}

TEST(find__knows_the_empty_line_at_the_end)
{
    size_t start = 7;
    size_t end = 7;

    assert_true(gbx_lines_find("a\r", 2, 2, &start, &end));
    assert_int_equal(start, 2);
    assert_int_equal(end, 2);
    assert_true(gbx_lines_find("", 0, 1, &start, &end));
    assert_int_equal(end, 0);
}

TEST(position__counts_what_the_language_counts)
{
    for (size_t i = 0; i < GBX_COUNTOF(texts); i++) {
        size_t len = strlen(texts[i].text);
        uint32_t line;
        uint32_t column;

        gbx_lines_position(texts[i].text, len, 1, &line, &column);
        assert_true(line == 1 && column == 2);
        gbx_lines_position(texts[i].text, len, 2 + texts[i].end_len, &line, &column);
        assert_true(line == 2 && column == 2);
        gbx_lines_position(texts[i].text, len, len + 1, &line, &column);
        assert_true(line == 3 && column == 2);
    }
}

TEST(position__counts_characters)
{
    static const char text[] = "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80x\xE2\x80\xA7y";
    uint32_t line;
    uint32_t column;

    gbx_lines_position(text, sizeof text - 1, sizeof text - 2, &line, &column);

    assert_true(line == 1 && column == 6);
}

TEST_MAIN(NULL, NULL)

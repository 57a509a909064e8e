/* SPDX-License-Identifier: MIT */
/* lines - whatever the chunks are, the lines are the same, and none costs more memory
 * than the longest may. */
#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"
#include "test.h"

#define LINE_MAX_BYTES 8

/* All lines of text that comes in chunks of so many bytes: "[abc]" a line, "!" for one
 * that was too long, "<abc>" for what was left at the end. */
static char *told_apart(const char *text, size_t text_len, size_t chunk)
{
    gbx_mcp_line_reader lines;
    gbx_mcp_line_kind kind;
    const char *line;
    size_t len;
    gbx_buf told;

    gbx_buf_init(&told, 10000);
    gbx_mcp_line_reader_init(&lines, LINE_MAX_BYTES);
    for (size_t at = 0; at < text_len; at += chunk) {
        gbx_mcp_line_reader_feed(&lines, text + at,
                                 text_len - at < chunk ? text_len - at : chunk);
        while ((kind = gbx_mcp_line_reader_next(&lines, &line, &len)) !=
               GBX_MCP_LINE_NONE) {
            if (kind == GBX_MCP_LINE)
                (void)gbx_buf_printf(&told, "[%.*s]", (int)len, line);
            else
                (void)gbx_buf_puts(&told, "!");
            assert_true(lines.part.capacity <= LINE_MAX_BYTES);
        }
    }
    if (gbx_mcp_line_reader_end(&lines, &line, &len) == GBX_MCP_LINE)
        (void)gbx_buf_printf(&told, "<%.*s>", (int)len, line);
    gbx_mcp_line_reader_cleanup(&lines);
    (void)gbx_buf_puts(&told, "");
    return told.len == 0 ? strdup("") : gbx_buf_take_string(&told, NULL);
}

static const struct {
    const char *text;
    const char *told;
} cases[] = {
    {"", ""},
    {"a\nb\n", "[a][b]"},
    {"a\r\nb\r\n", "[a][b]"},
    {"\n\n \t\r\na\n\n", "[a]"},
    {"a\nhalf", "[a]<half>"},
    {"a\n  \t", "[a]"},
    {"12345678\n", "[12345678]"},
    {"123456789\n", "!"},
    {"123456789\nnext\n", "![next]"},
    {"123456789", "!"},
    {"1234567890123456789012345678901234567890\na\n", "![a]"},
    {"12345678901234567890\n12345678901234567890\n", "!!"},
    {"         \na\n", "![a]"}, /* blank, and longer than a line may be */
    {"a\rb\n", "[a\rb]"},
    {"\xEF\xBB\xBF"
     "a\n\xEF\xBB\xBF"
     "b\r\n",
     "[a][b]"},
    {"\xEF\xBB\xBF\r\n\xEF\xBB\n", "[\xEF\xBB]"},
    {"\xEF\xBB\xBF"
     "a",
     "<a>"},
};

TEST(lines__do_not_depend_on_the_chunks_they_came_in)
{
    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        for (size_t chunk = 1; chunk <= strlen(cases[i].text) + 1; chunk++) {
            GBX_CLEANUP(gbx_free)
            char *told = told_apart(cases[i].text, strlen(cases[i].text), chunk);

            assert_string_equal(told, cases[i].told);
        }
    }
}

TEST(a_byte_that_is_zero__is_a_byte)
{
    gbx_mcp_line_reader lines;
    const char *line;
    size_t len;

    gbx_mcp_line_reader_init(&lines, LINE_MAX_BYTES);
    gbx_mcp_line_reader_feed(&lines, "a\0b\n", 4);
    assert_int_equal(gbx_mcp_line_reader_next(&lines, &line, &len), GBX_MCP_LINE);
    assert_int_equal(len, 3);
    assert_memory_equal(line, "a\0b", 3);
    gbx_mcp_line_reader_cleanup(&lines);
}

TEST(a_whole_line_in_a_chunk__is_not_copied)
{
    static const char chunk[] = "abc\n";
    gbx_mcp_line_reader lines;
    const char *line;
    size_t len;

    gbx_mcp_line_reader_init(&lines, LINE_MAX_BYTES);
    gbx_mcp_line_reader_feed(&lines, chunk, 4);
    assert_int_equal(gbx_mcp_line_reader_next(&lines, &line, &len), GBX_MCP_LINE);
    assert_ptr_equal(line, chunk);
    gbx_mcp_line_reader_cleanup(&lines);
}

TEST(memory_of_a_long_line__is_not_kept)
{
    static char chunk[100000];
    gbx_mcp_line_reader lines;
    const char *line;
    size_t len;

    memset(chunk, 'x', sizeof chunk);
    gbx_mcp_line_reader_init(&lines, GBX_MIB(1));
    for (int i = 0; i < 5; i++) {
        gbx_mcp_line_reader_feed(&lines, chunk, sizeof chunk);
        assert_int_equal(gbx_mcp_line_reader_next(&lines, &line, &len),
                         GBX_MCP_LINE_NONE);
    }
    gbx_mcp_line_reader_feed(&lines, "\n", 1);
    assert_int_equal(gbx_mcp_line_reader_next(&lines, &line, &len), GBX_MCP_LINE);
    assert_int_equal(len, 5 * sizeof chunk);
    assert_int_equal(gbx_mcp_line_reader_next(&lines, &line, &len), GBX_MCP_LINE_NONE);
    assert_int_equal(lines.part.capacity, 0);
    gbx_mcp_line_reader_cleanup(&lines);
}

TEST_MAIN(NULL, NULL)

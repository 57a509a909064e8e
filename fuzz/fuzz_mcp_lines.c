/* SPDX-License-Identifier: MIT */
/* fuzz_mcp_lines - in whatever pieces bytes come, the lines are those of a plain search. */
#include "fuzz.h"

#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST 40

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (strchr(" \t\r", text[i]) == NULL || text[i] == '\0')
            return false;
    return true;
}

/* The next line of the whole text as it must be told; false at the end. */
static bool expect(const char *text, size_t size, size_t *at, const char **ret,
                   size_t *ret_len)
{
    while (*at < size) {
        const char *start = text + *at;
        const char *newline = memchr(start, '\n', size - *at);
        size_t len = newline != NULL ? (size_t)(newline - start) : size - *at;

        *at += len + 1;
        *ret = len > LONGEST ? NULL : start;
        *ret_len = len;
        if (*ret == NULL)
            return true;
        if (len >= 3 && memcmp(start, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
            *ret += 3;
            *ret_len -= 3;
        }
        if (is_blank(*ret, *ret_len))
            continue;
        if (start[len - 1] == '\r')
            (*ret_len)--;
        return true;
    }
    return false;
}

static void compare(gbx_mcp_line_kind kind, const char *line, size_t len,
                    const char *text, size_t size, size_t *at)
{
    const char *expected;
    size_t expected_len;

    assert(expect(text, size, at, &expected, &expected_len));
    assert((kind == GBX_MCP_LINE) == (expected != NULL));
    if (expected == NULL)
        return;
    assert(len == expected_len && memcmp(line, expected, len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_mcp_line_reader lines;
    gbx_mcp_line_kind kind;
    const char *text = (const char *)data + 1;
    size_t chunk = size > 0 ? data[0] % 16 + 1U : 1;
    size_t at = 0;
    const char *line;
    size_t len;

    if (size-- == 0)
        return 0;
    gbx_mcp_line_reader_init(&lines, LONGEST);
    for (size_t i = 0; i < size; i += chunk) {
        /* A copy of its own, so that a sanitizer sees its end. */
        size_t n = size - i < chunk ? size - i : chunk;
        GBX_CLEANUP(gbx_free) char *piece = malloc(n);

        memcpy(piece, text + i, n);
        gbx_mcp_line_reader_feed(&lines, piece, n);
        while ((kind = gbx_mcp_line_reader_next(&lines, &line, &len)) !=
               GBX_MCP_LINE_NONE)
            compare(kind, line, len, text, size, &at);
        assert(lines.part.capacity <= LONGEST);
    }
    kind = gbx_mcp_line_reader_end(&lines, &line, &len);
    if (kind != GBX_MCP_LINE_NONE)
        compare(kind, line, len, text, size, &at);
    assert(!expect(text, size, &at, &line, &len));
    gbx_mcp_line_reader_cleanup(&lines);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* line_reader - only `part` grows, up to the longest line allowed. */
#include "mcp/rpc/rpc.h"

#include <string.h>

/* After a long line, memory beyond this is given back. */
#define KEPT_BYTES ((size_t)64 * 1024)

static void drop_part(gbx_mcp_line_reader *lines)
{
    if (lines->part.capacity > KEPT_BYTES || lines->part.failed)
        gbx_buf_cleanup(&lines->part);
    gbx_buf_consume(&lines->part, lines->part.len);
    lines->given = false;
}

/* Some programs write a byte order mark before everything. */
static size_t mark_len(const char *line, size_t len)
{
    return len >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static bool is_blank(const char *line, size_t len)
{
    size_t mark = mark_len(line, len);

    line += mark;
    len -= mark;
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

/* Take n bytes, and the newline after them if is_end, out of the chunk. */
static const char *take(gbx_mcp_line_reader *lines, size_t n, bool is_end)
{
    const char *at = lines->chunk;

    lines->chunk += n + is_end;
    lines->left -= n + is_end;
    return at;
}

static gbx_mcp_line_kind give(const char *line, size_t len, const char **ret_line,
                              size_t *ret_len)
{
    size_t mark = mark_len(line, len);

    if (len > 0 && line[len - 1] == '\r')
        len--;
    *ret_line = line + mark;
    *ret_len = len - mark;
    return GBX_MCP_LINE;
}

/* Append the bytes up to the newline, or all that is left, to the part;
 * false: too long. */
static bool join(gbx_mcp_line_reader *lines, const char *at, size_t n)
{
    return n == 0 || gbx_buf_append(&lines->part, at, n);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_mcp_line_reader_init(gbx_mcp_line_reader *lines, size_t line_max)
{
    *lines = (gbx_mcp_line_reader){0};
    gbx_buf_init_secret(&lines->part,
                        line_max); /* a server's answer may hold a secret */
}

void gbx_mcp_line_reader_cleanup(gbx_mcp_line_reader *lines)
{
    gbx_buf_cleanup(&lines->part);
}

void gbx_mcp_line_reader_feed(gbx_mcp_line_reader *lines, const char *chunk, size_t len)
{
    lines->chunk = chunk;
    lines->left = len;
}

gbx_mcp_line_kind gbx_mcp_line_reader_next(gbx_mcp_line_reader *lines,
                                           const char **ret_line, size_t *ret_len)
{
    if (lines->given)
        drop_part(lines);
    while (lines->left > 0) {
        const char *newline = memchr(lines->chunk, '\n', lines->left);
        size_t n = newline != NULL ? (size_t)(newline - lines->chunk) : lines->left;
        const char *at = take(lines, n, newline != NULL);

        if (lines->skipping) {
            lines->skipping = newline == NULL;
            continue;
        }
        if (newline != NULL && lines->part.len == 0 && n <= lines->part.ceiling) {
            if (!is_blank(at, n))
                return give(at, n, ret_line, ret_len);
            continue;
        }
        if (!join(lines, at, n)) {
            drop_part(lines);
            lines->skipping = newline == NULL;
            return GBX_MCP_LINE_TOO_LONG;
        }
        if (newline == NULL)
            break;
        lines->given = true;
        if (!is_blank((const char *)lines->part.data, lines->part.len))
            return give((const char *)lines->part.data, lines->part.len, ret_line,
                        ret_len);
        drop_part(lines);
    }
    return GBX_MCP_LINE_NONE;
}

gbx_mcp_line_kind gbx_mcp_line_reader_end(gbx_mcp_line_reader *lines,
                                          const char **ret_line, size_t *ret_len)
{
    if (lines->part.len == 0 || lines->given ||
        is_blank((const char *)lines->part.data, lines->part.len))
        return GBX_MCP_LINE_NONE;
    lines->given = true;
    return give((const char *)lines->part.data, lines->part.len, ret_line, ret_len);
}

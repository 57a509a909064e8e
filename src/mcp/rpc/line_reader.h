/* SPDX-License-Identifier: MIT */
/*
 * line_reader - bytes in, lines out: how messages are told apart on standard input and output.
 *
 * No I/O inside. A line may be so long and no longer: of a longer one nothing is kept,
 * it is reported once, and what follows its newline is read as always. Blank lines are
 * no lines; a carriage return before the newline belongs to it, and so does a byte order
 * mark before the line.
 *
 *     gbx_mcp_line_reader_feed(&lines, chunk, n);
 *     while ((kind = gbx_mcp_line_reader_next(&lines, &text, &len)) != GBX_MCP_LINE_NONE)
 *         ...
 */
#ifndef GBX_MCP_RPC_LINE_READER_H
#define GBX_MCP_RPC_LINE_READER_H

#include "base/buf.h"

typedef enum gbx_mcp_line_kind {
    GBX_MCP_LINE_NONE, /* feed more */
    GBX_MCP_LINE,
    GBX_MCP_LINE_TOO_LONG, /* said as soon as it is known */
} gbx_mcp_line_kind;

typedef struct gbx_mcp_line_reader {
    gbx_buf part;      /* the beginning of a line whose end has not come */
    const char *chunk; /* borrowed from feed until NONE */
    size_t left;
    bool given;    /* part was the last line; it is dropped at the next call */
    bool skipping; /* until the newline of a line that was too long */
} gbx_mcp_line_reader;

void gbx_mcp_line_reader_init(gbx_mcp_line_reader *lines, size_t line_max);
void gbx_mcp_line_reader_cleanup(gbx_mcp_line_reader *lines);

/* Only after next has said NONE, or at first. */
void gbx_mcp_line_reader_feed(gbx_mcp_line_reader *lines, const char *chunk,
                              size_t len);

/* The line is without its newline, not terminated, and valid until the next call. Out of
 * memory is a line that is too long. */
gbx_mcp_line_kind gbx_mcp_line_reader_next(gbx_mcp_line_reader *lines,
                                           const char **ret_line, size_t *ret_len);

/* At the end of input, after NONE: what came after the last newline, if anything did. */
gbx_mcp_line_kind gbx_mcp_line_reader_end(gbx_mcp_line_reader *lines,
                                          const char **ret_line, size_t *ret_len);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * lines - the lines of JavaScript, as engines and editors count them: one ends in "\n",
 * "\r", "\r\n", U+2028 or U+2029. Data has lines of its own (see utf8.h).
 */
#ifndef GBX_BASE_LINES_H
#define GBX_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the line end at text, which has at least one byte; 0 if it is not one. */
size_t gbx_lines_end(const char *text, size_t len);

/* The bytes [*ret_start, *ret_end) of that line (from 1), without its end. If there are
 * fewer lines, false, and both are len. */
bool gbx_lines_find(const char *text, size_t len, uint32_t line, size_t *ret_start,
                    size_t *ret_end);

/* Line and column (from 1; column in characters) of a byte offset. */
void gbx_lines_position(const char *text, size_t len, size_t offset, uint32_t *ret_line,
                        uint32_t *ret_column);

#endif

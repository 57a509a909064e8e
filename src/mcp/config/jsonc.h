/* SPDX-License-Identifier: MIT */
/* jsonc - editors write comments into JSON, commas before closing brackets, and a byte
 * order mark first: all become blanks, so that everything else keeps its place. */
#ifndef GBX_MCP_CONFIG_JSONC_H
#define GBX_MCP_CONFIG_JSONC_H

#include <stddef.h>

/* The offset past the comment at `at`, or `at` if there is none; one without an end is
 * none. */
size_t gbx_jsonc_past_comment(const char *text, size_t len, size_t at);

/* In place; lines stay lines. What is neither JSON nor a comment stays as it is. */
void gbx_jsonc_blank(char *text, size_t len);

/* Of the byte order mark: editors do not count it as a column. 0: there is none. */
size_t gbx_jsonc_mark_len(const char *text, size_t len);

#endif

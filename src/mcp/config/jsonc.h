/* SPDX-License-Identifier: MIT */
/* jsonc - editors write comments into JSON, commas before closing brackets, and a byte
 * order mark first: all become blanks, so that everything else keeps its place. */
#ifndef GBX_MCP_CONFIG_JSONC_H
#define GBX_MCP_CONFIG_JSONC_H

#include <stddef.h>

/* Members of an object that are looked at; "*" is every one. A list ends in a NULL name. */
typedef struct gbx_jsonc_wanted {
    const char *name;
    const struct gbx_jsonc_wanted *below; /* of its own object, only these; NULL: all */
} gbx_jsonc_wanted;

/* The offset past the comment at `at`, or `at` if there is none; one without an end is
 * none. */
size_t gbx_jsonc_past_comment(const char *text, size_t len, size_t at);

/* Blanks from one offset to another, in place; lines stay lines. */
void gbx_jsonc_erase(char *text, size_t from, size_t to);

/* In place; lines stay lines. What is neither JSON nor a comment stays as it is. */
void gbx_jsonc_blank(char *text, size_t len);

/* In place, after gbx_jsonc_blank(): members that are not wanted become blanks. Hosts keep
 * what people wrote beside their servers, and a parser that builds values refuses a whole
 * text for half a surrogate pair, "\u0000" or 1e400 in it. What is not JSON stays. */
void gbx_jsonc_keep(char *text, size_t len, const gbx_jsonc_wanted *wanted);

/* Of the byte order mark: editors do not count it as a column. 0: there is none. */
size_t gbx_jsonc_mark_len(const char *text, size_t len);

#endif

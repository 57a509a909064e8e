/* SPDX-License-Identifier: MIT */
/*
 * unambiguous - does every parser read the same values in JSON text?
 *
 * Where a member is there twice one takes the first and another the last; a number too
 * large, half of a character and "__proto__" are read differently as well. Nothing is
 * built of the values: text of hostile code may hold millions of them.
 */
#ifndef GBX_MCP_RULES_UNAMBIGUOUS_H
#define GBX_MCP_RULES_UNAMBIGUOUS_H

#include <stddef.h>

#define GBX_ALIKE_DEPTH 200

/* text is JSON of at most 16 MiB, no deeper than GBX_ALIKE_DEPTH. NULL, or what is wrong
 * with the value, or with the member of the name, at text[*ret_at], constant. */
const char *gbx_ambiguity(const char *text, size_t len, size_t *ret_at);

#endif

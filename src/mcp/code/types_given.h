/* SPDX-License-Identifier: MIT */
/* types_given - type arguments where the grammar of TypeScript knows none. */
#ifndef GBX_MCP_CODE_TYPES_GIVEN_H
#define GBX_MCP_CODE_TYPES_GIVEN_H

#include "guard/tree.h"

/*
 * t: flat, of `text`. Blanks in text and in `to`, of the same length, type arguments before a
 * template, f<T>`x`; and, if there is an error, before the call of what may be missing,
 * f<T>?.(x). And import("y") becomes a name in text. False if there is none of it.
 */
bool gbx_types_mend_given(const gbx_tree *t, char *text, char *to);

#endif

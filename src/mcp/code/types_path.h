/* SPDX-License-Identifier: MIT */
/* types_path - names of types with dots, which the grammar of TypeScript cuts short. */
#ifndef GBX_MCP_CODE_TYPES_PATH_H
#define GBX_MCP_CODE_TYPES_PATH_H

#include "guard/tree.h"

/*
 * Parse as TypeScript, and lay flat: to the tree, `x as A.B.C` is all type behind x, unless
 * gbx_types_is_cut() says so. What types_words.h and types_given.h mend is blank in `to`, a copy of the text.
 * False if the time bound was reached; then there is no tree.
 * Inside gbx_arena_run().
 */
bool gbx_types_parse(gbx_tree *t, const char *text, size_t len, char *to);

/* True if i is a member to the tree, and to TypeScript the end of a type's name. */
bool gbx_types_is_cut(const gbx_tree *t, uint32_t i);

#endif

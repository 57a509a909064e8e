/* SPDX-License-Identifier: MIT */
/*
 * runtime - the parser's runtime, third-party code, as one unit: the compiler can
 * inline across its files, and all of it gets the hooks. alloc.c (mutable pointers to
 * the allocator) and query.c (not used) are left out.
 */
/* The hooks replace its allocator and its asserts (see arena.h). */
#include "arena.h"

#define ts_malloc  gbx_arena_malloc
#define ts_calloc  gbx_arena_calloc
#define ts_realloc gbx_arena_realloc
#define ts_free    gbx_arena_free

/* The runtime's own ts_assert.h is shadowed by defining its include guard. */
#define TREE_SITTER_ASSERT_H_
#define ts_assert(e) ((e) ? (void)0 : gbx_arena_abandon())

#include "src/get_changed_ranges.c"
#include "src/language.c"
#include "src/lexer.c"
#include "src/node.c"
#include "src/parser.c"
#include "src/stack.c"
#include "src/subtree.c"
#include "src/tree.c"
#include "src/tree_cursor.c"
#include "src/wasm_store.c"

/* ICU's own headers define this; the parser's copy of them does not. */
#ifdef U_PLATFORM
#    error "the system's headers of ICU were read: the build must not depend on them"
#endif

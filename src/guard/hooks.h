/* SPDX-License-Identifier: MIT */
/*
 * hooks - replaces the parser's allocator and asserts by ours (see arena.h). Only
 * runtime.c includes it, before the parser's own files.
 */
#ifndef GBX_GUARD_HOOKS_H
#define GBX_GUARD_HOOKS_H

#include "arena.h"

#define ts_malloc  gbx_arena_malloc
#define ts_calloc  gbx_arena_calloc
#define ts_realloc gbx_arena_realloc
#define ts_free    gbx_arena_free

/* The runtime's own ts_assert.h is shadowed by defining its include guard. */
#define TREE_SITTER_ASSERT_H_
#define ts_assert(e) ((e) ? (void)0 : gbx_arena_abandon())

#endif

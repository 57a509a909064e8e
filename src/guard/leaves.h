/* SPDX-License-Identifier: MIT */
/*
 * leaves - the code as a row of tokens, for what a tree with errors cannot tell.
 *
 * Strings and regular expressions are one token each; comments are none. Lives in the
 * arena, as the tree does.
 */
#ifndef GBX_GUARD_LEAVES_H
#define GBX_GUARD_LEAVES_H

#include "guard/tree.h"

#define GBX_NO_LEAF UINT32_MAX

typedef struct gbx_leaves {
    const gbx_tree *t;
    uint32_t *nodes;
    uint32_t count;
} gbx_leaves;

void gbx_leaves_init(gbx_leaves *l, const gbx_tree *t);

/* True if k is a leaf (GBX_NO_LEAF is none) and its bytes are exactly text. */
bool gbx_leaf_is(const gbx_leaves *l, uint32_t k, const char *text);

/* The same for one of the words, separated by single spaces, in words. */
bool gbx_leaf_is_one_of(const gbx_leaves *l, uint32_t k, const char *words);

/* True if k is a name, a keyword used as one included. */
bool gbx_leaf_is_name(const gbx_leaves *l, uint32_t k);

/* The leaf before k and after it, or GBX_NO_LEAF. */
uint32_t gbx_leaf_before(const gbx_leaves *l, uint32_t k);
uint32_t gbx_leaf_after(const gbx_leaves *l, uint32_t k);

/* The bracket that is open at k, or GBX_NO_LEAF if there is none near. */
uint32_t gbx_leaf_opener(const gbx_leaves *l, uint32_t k);

/* True if the parser had trouble at k: it is part of an error or follows one. */
bool gbx_leaf_is_suspect(const gbx_leaves *l, uint32_t k);

/*
 * If k is where words of TypeScript begin (an annotation, 'as', 'interface', '!' and
 * so on), what to do about it; else NULL.
 */
const char *gbx_leaf_typescript(const gbx_leaves *l, uint32_t k);

#endif

/* SPDX-License-Identifier: MIT */
/* nearest - which of the words that there are may have been meant. */
#ifndef GBX_BASE_NEAREST_H
#define GBX_BASE_NEAREST_H

#include <stddef.h>

/* A longer word is no misspelt one. */
#define GBX_NEAREST_WORD_MAX 40

/* The candidate nearest to word by edit distance, or NULL if none is near. */
const char *gbx_nearest(const char *word, const char *const *candidates, size_t count);

#endif

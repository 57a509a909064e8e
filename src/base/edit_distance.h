/* SPDX-License-Identifier: MIT */
/* edit_distance - which of the words that there are may have been meant. */
#ifndef GBX_BASE_EDIT_DISTANCE_H
#define GBX_BASE_EDIT_DISTANCE_H

#include <stddef.h>

/* A longer word is no misspelt one. */
#define GBX_NEAREST_WORD_MAX 64

/* The candidate nearest to word by edit distance, or NULL if none is near. */
const char *gbx_nearest(const char *word, const char *const *candidates, size_t count);

/* The same of names that others have chosen, as of tools: neither case nor what stands
 * between words counts (readFil is near read_file), and a long one may differ in more. */
const char *gbx_nearest_name(const char *name, const char *const *candidates,
                             size_t count);

#endif

/* SPDX-License-Identifier: MIT */
/* edit_distance - which of the known words may have been meant. */
#ifndef GBX_BASE_EDIT_DISTANCE_H
#define GBX_BASE_EDIT_DISTANCE_H

#include <stddef.h>

/* A longer word is not treated as a misspelling. */
#define GBX_NEAREST_WORD_MAX 64

/* The candidate nearest to word by edit distance, or NULL if none is near. */
const char *gbx_nearest(const char *word, const char *const *candidates, size_t count);

/* The same for names that others chose, such as tools: case and separators between
 * words do not count (readFil is near read_file), and a long name may differ in
 * more. */
const char *gbx_nearest_name(const char *name, const char *const *candidates,
                             size_t count);

#endif

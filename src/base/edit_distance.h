/* SPDX-License-Identifier: MIT */
/* edit_distance - find the known word that a misspelt one may stand for. */
#ifndef GBX_BASE_EDIT_DISTANCE_H
#define GBX_BASE_EDIT_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum length of a word in bytes; a longer one is never matched. */
#define GBX_NEAREST_WORD_MAX 64

/* The candidate nearest to word by edit distance, or NULL if none is near. */
const char *gbx_nearest(const char *word, const char *const *candidates, size_t count);

/* The same for names such as those of tools: case and separators between words do not
 * count (readFil is near read_file), and a long name may have more differences. */
const char *gbx_nearest_name(const char *name, const char *const *candidates,
                             size_t count);

/* True if both have the same letters and digits: createIssue and create_issue. The case of
 * ASCII does not count; other bytes are letters. */
bool gbx_names_alike(const char *a, const char *b);

#endif

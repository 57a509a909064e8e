/* SPDX-License-Identifier: MIT */
/* nearest - see nearest.h. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

#define WORD_MAX GBX_NEAREST_WORD_MAX

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

/* Edit distance, with one row of the table kept; both words are short. */
static size_t distance(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1];
    size_t b_len = strlen(b);

    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t above = row[j];

            row[j] = smallest(above + 1, row[j - 1] + 1,
                              diagonal + (a[i - 1] == b[j - 1] ? 0 : 1));
            diagonal = above;
        }
    }
    return row[b_len];
}

/* Edits from one to the other; what was begun, but not written to its end, is near. */
static size_t edits(const char *word, const char *candidate)
{
    size_t len = strlen(word);

    return len >= 3 && strncmp(candidate, word, len) == 0 ? 1
                                                          : distance(word, candidate);
}

/* False: it is too long. */
static bool fold(const char *name, char ret[WORD_MAX + 1])
{
    size_t n = 0;

    for (; *name != '\0'; name++) {
        if (strchr("_-./ ", *name) != NULL)
            continue;
        if (n == WORD_MAX)
            return false;
        ret[n++] = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
    }
    ret[n] = '\0';
    return true;
}

/* ---- public to other modules -------------------------------------------- */

const char *gbx_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t least = 3; /* more edits than that is another word */
    size_t word_len = strlen(word);

    if (word_len > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t d;

        if (strlen(candidates[i]) > WORD_MAX)
            continue;
        d = edits(word, candidates[i]);
        if (d < least && d < word_len) {
            least = d;
            nearest = candidates[i];
        }
    }
    return nearest;
}

const char *gbx_nearest_name(const char *name, const char *const *candidates,
                             size_t count)
{
    const char *nearest = NULL;
    char word[WORD_MAX + 1];
    char other[WORD_MAX + 1];
    size_t least;
    size_t word_len;

    if (!fold(name, word))
        return NULL;
    word_len = strlen(word);
    least = word_len > 9 ? word_len / 3 : 3;
    for (size_t i = 0; i < count; i++) {
        size_t d = fold(candidates[i], other) ? edits(word, other) : least;

        if (d < least && d < word_len) {
            least = d;
            nearest = candidates[i];
        }
    }
    return nearest;
}

/* SPDX-License-Identifier: MIT */
/* edit_distance - see edit_distance.h. */
#include "base/edit_distance.h"

#include <ctype.h>
#include <string.h>

#define WORD_MAX GBX_NEAREST_WORD_MAX

/*
 * Edit distance, or limit if it is not smaller. Keeps one row of the table; both words
 * are short. Only cells closer to the diagonal than limit can be smaller: most of
 * thousands of candidates are rejected after a few rows.
 */
static size_t distance(const char *a, const char *b, size_t limit)
{
    size_t row[WORD_MAX + 1];
    size_t a_len = strlen(a);
    size_t b_len = strlen(b);

    if ((a_len > b_len ? a_len - b_len : b_len - a_len) >= limit)
        return limit;
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t first = i >= limit ? i - limit + 1 : 1;
        size_t last = i + limit - 1 < b_len ? i + limit - 1 : b_len;
        size_t diagonal = row[first - 1];
        size_t least = row[first - 1] = first == 1 ? i : limit;

        for (size_t j = first; j <= last; j++) {
            size_t above = row[j];

            diagonal += a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = above < row[j - 1] ? above + 1 : row[j - 1] + 1;
            row[j] = diagonal < row[j] ? diagonal : row[j];
            least = row[j] < least ? row[j] : least;
            diagonal = above;
        }
        if (least >= limit)
            return limit;
    }
    return row[b_len];
}

/* The name in lower case without separators. False if it is too long. */
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

/* folds: compare what fold() leaves of a candidate; word is folded already. */
static const char *search(const char *word, const char *const *candidates, size_t count,
                          size_t limit, bool folds)
{
    const char *nearest = NULL;
    size_t word_len = strlen(word);
    char folded[WORD_MAX + 1];

    for (size_t i = 0; i < count; i++) {
        const char *other = folds ? folded : candidates[i];
        size_t d;

        if (folds ? !fold(candidates[i], folded) : strlen(other) > WORD_MAX)
            continue;
        /* A prefix of the candidate with at least three bytes has distance 1. */
        d = word_len >= 3 && strncmp(other, word, word_len) == 0
                ? 1
                : distance(word, other, limit);
        if (d < limit && d < word_len) {
            limit = d;
            nearest = candidates[i];
        }
    }
    return nearest;
}

/* Three edits make a different word. */
const char *gbx_nearest(const char *word, const char *const *candidates, size_t count)
{
    return strlen(word) <= WORD_MAX ? search(word, candidates, count, 3, false) : NULL;
}

const char *gbx_nearest_name(const char *name, const char *const *candidates,
                             size_t count)
{
    char word[WORD_MAX + 1];
    size_t len;

    if (!fold(name, word))
        return NULL;
    len = strlen(word);
    return search(word, candidates, count, len > 9 ? len / 3 : 3, true);
}

/* The next letter or digit, in lower case; 0 at the end. */
static int next_of_name(const char **at)
{
    while (**at != 0 && (unsigned char)**at < 0x80 && !isalnum((unsigned char)**at))
        (*at)++;
    return **at == 0 ? 0 : tolower((unsigned char)*(*at)++);
}

bool gbx_names_alike(const char *a, const char *b)
{
    int c;

    do {
        c = next_of_name(&a);
        if (c != next_of_name(&b))
            return false;
    } while (c != 0);
    return true;
}

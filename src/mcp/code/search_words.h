/* SPDX-License-Identifier: MIT */
/*
 * search_words - a text as the words that a search compares, in one case of all letters.
 *
 * They are cut where a person sees them: readTextFile, read_text_file and read-text-file
 * are the same three, and after them the whole in one, since GitHub is written github, too.
 * Scripts without gaps between words (Chinese, Japanese, Thai, ...) are told in pairs of
 * letters, each with the next; one that stands alone is a word.
 *
 * No state and no memory: one pass, however long the text is.
 */
#ifndef GBX_MCP_CODE_SEARCH_WORDS_H
#define GBX_MCP_CODE_SEARCH_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define GBX_WORD_MAX 64 /* bytes; what is longer has the same beginning */

typedef struct gbx_search_word {
    char text[GBX_WORD_MAX + 1]; /* folded, see rules/letters.h; "files" is "FILE" */
    size_t len;
    size_t letters;
    bool is_stop;  /* "the", "of": it is everywhere, and says nothing */
    bool is_dense; /* of a script without gaps */
} gbx_search_word;

/* The word is borrowed until the function returns. */
typedef void (*gbx_word_fn)(void *user, const gbx_search_word *word);

/* Bytes that are no UTF-8 are gaps. */
void gbx_search_words(const char *text, size_t len, gbx_word_fn each, void *user);

#endif

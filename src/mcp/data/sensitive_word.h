/* SPDX-License-Identifier: MIT */
/*
 * sensitive_word - the words of a name: customerEMail and customer_e-mail are customer, e
 * and mail. Where a capital follows a small letter, a word begins; accents do not count,
 * nor do digits at the end of a word. Letters that stand alone are one word (d.o.b.), and a
 * German number is one in full (Konto-Nr.: konto, nummer).
 */
#ifndef GBX_MCP_DATA_SENSITIVE_WORD_H
#define GBX_MCP_DATA_SENSITIVE_WORD_H

#include <stdbool.h>
#include <stddef.h>

/* More words are no name of a field. */
#define GBX_WORDS_MAX 12
#define GBX_WORD_SIZE 32

typedef struct gbx_words {
    char list[GBX_WORDS_MAX][GBX_WORD_SIZE];
    size_t count;
    char joined[GBX_WORDS_MAX * GBX_WORD_SIZE]; /* all, without anything between */
    size_t joined_len;
    size_t ends[GBX_WORDS_MAX]; /* of the words in it */
    bool is_spelled;            /* the last word, in letters that stand alone */
} gbx_words;

void gbx_words_take(const char *name, size_t len, gbx_words *w);

bool gbx_words_has(const gbx_words *w, const char *word);
bool gbx_words_have_any(const gbx_words *w, const char *const *list, size_t count);

/* Is it one of these and nothing else? */
bool gbx_words_are_any(const gbx_words *w, const char *const *list, size_t count);

/* Does one of these begin where a word does, over words, or end one? In the plural the
 * name of a number says how many there are: none of these then. */
bool gbx_words_have_part(const gbx_words *w, const char *const *parts, size_t count,
                         bool is_number);

#endif

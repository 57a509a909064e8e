/* SPDX-License-Identifier: MIT */
/*
 * blocked_names - the one table of what code may not use, and what to do instead.
 *
 * All of it is absent from the realm anyway: a use would fail when it is reached. The
 * table makes it fail at once, with advice.
 */
#ifndef GBX_GUARD_BLOCKED_NAMES_H
#define GBX_GUARD_BLOCKED_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gbx_word_use {
    GBX_USE_ANY,     /* any use of the free name but typeof NAME */
    GBX_USE_CALL,    /* only NAME(...), new NAME(...) and NAME`...` */
    GBX_USE_HOST,    /* NAME.x, NAME(...) and NAME`...`; the caller may bind the name */
    GBX_USE_KEYWORD, /* no name: found by the statement's or expression's kind */
} gbx_word_use;

typedef struct gbx_word {
    const char *name;
    gbx_word_use use;
    const char *rule;
    const char *what; /* what is wrong with it: follows the name in the message */
    const char *hint;
    uint32_t capability; /* the GBX_CAP_* that does what the name is for, or 0 */
    bool is_given;       /* by the capability, under that very name */
} gbx_word;

/* What a name stands for, as an index; at most 64, so that a set of them is a word. */
#define GBX_WORDS_MAX 64
#define GBX_NO_WORD   GBX_WORDS_MAX

/* The table's index of name, or GBX_NO_WORD. Escapes (\u0065val) are understood. */
size_t gbx_word_find(const char *name, size_t len);

const gbx_word *gbx_word_get(size_t index);

/* False if no word of the table occurs in the text, not even in a string or comment:
 * then no pass over the tree can find a use. */
bool gbx_words_occur(const char *text, size_t len);

/* What to do instead; what is on is better advice than what could be switched on. */
const char *gbx_word_hint(const gbx_word *word, uint32_t capabilities);

/* Is it a name that fs has in Node.js for what would change files? */
bool gbx_word_is_write(const char *name, size_t len);

/* What to do instead of that. */
const char *gbx_word_write_hint(void);

/* Advice for who loads the module of that name, or NULL if it is none we know. */
const char *gbx_module_hint(const char *name, size_t len, uint32_t capabilities);

#endif

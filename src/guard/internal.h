/* SPDX-License-Identifier: MIT */
/* internal - types and functions that only the files of src/guard share. */
#ifndef GBX_GUARD_INTERNAL_H
#define GBX_GUARD_INTERNAL_H

#include "guard/guard.h"
#include "syntax/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- blocked_names.c ----------------------------------------------------- */

/*
 * The names that code may not use, and what to do instead.
 *
 * All of them are absent from the realm anyway: a use would fail when it is reached.
 * With the table it fails at once, with advice.
 */

typedef enum gbx_word_use {
    GBX_USE_ANY,     /* any use of the free name except typeof NAME */
    GBX_USE_CALL,    /* only NAME(...), new NAME(...) and NAME`...` */
    GBX_USE_HOST,    /* NAME.x, NAME(...) and NAME`...`; the caller may bind the name */
    GBX_USE_KEYWORD, /* not a name: found by the statement's or expression's kind */
} gbx_word_use;

typedef struct gbx_word {
    const char *name;
    gbx_word_use use;
    const char *rule;
    const char *what; /* what is wrong with it: follows the name in the message */
    const char *hint;
    uint32_t capability; /* the GBX_CAP_* that serves the name's purpose, or 0 */
    bool is_given;       /* the capability provides it under that name */
} gbx_word;

/* A name's index in the table; at most 64, so that a set of them fits a word. */
#define GBX_WORDS_MAX 64
#define GBX_NO_WORD   GBX_WORDS_MAX

/* The table's index of name, or GBX_NO_WORD. Escapes (\u0065val) are understood. */
size_t gbx_word_find(const char *name, size_t len);

const gbx_word *gbx_word_get(size_t index);

/* What to do instead. It prefers capabilities that are on to those that could be
 * switched on. */
const char *gbx_word_hint(const gbx_word *word, uint32_t capabilities);

/* True if it is the name of a function of Node.js's fs that changes files. */
bool gbx_word_is_write(const char *name, size_t len);

/* What to do instead of changing files. */
#define GBX_WRITE_HINT "return the text instead, and write it outside"

/* Advice for code that loads the module of that name; NULL: an unknown module. */
const char *gbx_module_hint(const char *name, size_t len, uint32_t capabilities);

/* ---- findings.c ----------------------------------------------------------- */

/*
 * The passes' objections, before they become a report.
 *
 * Fixed size, without allocations: a pass may be abandoned at any time.
 */

#define GBX_FINDING_MESSAGE_SIZE 160

typedef struct gbx_finding {
    gbx_code code;
    const char *rule; /* constant */
    size_t offset;    /* in the caller's text */
    const char *hint; /* constant, or "" */
    char message[GBX_FINDING_MESSAGE_SIZE];
} gbx_finding;

typedef struct gbx_findings {
    size_t count; /* at most GBX_GUARD_VIOLATIONS_MAX, the first in the text */
    size_t total;
    gbx_finding list[GBX_GUARD_VIOLATIONS_MAX];
} gbx_findings;

/* Names of rules that more than one place uses. */
#define GBX_RULE_FORM     "form"
#define GBX_RULE_SIZE     "size"
#define GBX_RULE_ENCODING "encoding"
#define GBX_RULE_SYNTAX   "syntax"

/* Insert in order of offset; when full, the one latest in the text is dropped. */
void gbx_findings_add(gbx_findings *f, gbx_code code, const char *rule, size_t offset,
                      const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* The report that gbx_report_free() frees; *ret is NULL if nothing was found. */
gbx_status gbx_findings_report(const gbx_findings *f, const char *text, size_t len,
                               gbx_report **ret, gbx_error *reterr);

/* Add the faults of the flat tree t as SYNTAX findings. base: the offset of the code
 * in the caller's text. */
void gbx_faults_find(gbx_tree *t, size_t base, gbx_findings *f);

/* See guard.h. */
bool gbx_leaves_may_be_typescript(const gbx_leaves *l);

/* ---- form.c -------------------------------------------------------------- */

/*
 * Check that the code is what its form says: one function, a definition of execute, or
 * any code.
 *
 * Only the top of the tree is examined. Code that does not parse is objected to only if
 * it is empty or contains more than code; the engine decides about its syntax.
 */

/*
 * text is the caller's, region the part that t was parsed from (t may have no tree).
 * *code is narrowed to the part for the engine: for the form function, the function.
 * True if the engine can take it unchanged: it certainly is one function or a body.
 */
bool gbx_form_check(const gbx_tree *t, const char *text, gbx_region region,
                    gbx_form form, gbx_region *code, gbx_findings *f);

/* ---- uses.c -------------------------------------------------------------- */

/*
 * Find the uses of blocked names: a pass over the flat tree that knows scopes.
 *
 * A name is a use only if it is free: no scope around it declares it as a parameter,
 * variable, import, class or function, hoisting included. Property names, keys, labels,
 * strings, comments and the text of templates are not names.
 */

/* t is flat. base: offset of the parsed text in the caller's. */
void gbx_uses_find(gbx_tree *t, size_t base, gbx_form form,
                   const gbx_guard_world *world, gbx_findings *f);

#endif

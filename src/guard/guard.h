/* SPDX-License-Identifier: MIT */
/*
 * guard - checks that code has the form that it is called with, and uses nothing that
 * is switched off.
 *
 * tree-sitter parses the code, so a word in a string, a comment, a template's text, a
 * property name or a shadowed local is never mistaken for a use. The guard saves work
 * and gives early, clear errors. It is not a security boundary; the seal is.
 *
 * Reports own their strings. The guard has no state: any thread may call it.
 */
#ifndef GBX_GUARD_GUARD_H
#define GBX_GUARD_GUARD_H

#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>

/* Violations listed, more than a reader wants; further ones are only counted. */
#define GBX_GUARD_VIOLATIONS_MAX 50

#define GBX_GUARD_SITE_SIZE 300

typedef struct gbx_guard_span {
    size_t start;    /* byte offset of the code proper in the text given: after a */
    size_t len;      /* Markdown fence, leading space; before a trailing ';' */
    uint32_t line;   /* where start is, from 1 */
    uint32_t column; /* in characters, from 1 */
    bool is_parsed;  /* certain, form function: the whole is one function; form body: it
                        is the body of an asynchronous one */
} gbx_guard_span;

/*
 * What the code finds besides the language; NULL: nothing. The functions are called
 * only for a use that would otherwise be a violation.
 */
typedef struct gbx_guard_world {
    uint32_t capabilities; /* GBX_CAP_* that are on: their names exist */
    bool may_bind;         /* form body: what the caller binds is not known yet */
    uint32_t code_bytes;   /* gbx_guard_report(): the limit's maximum; 0: not set */

    /* True if the host gives the code a global, or in form body a binding, of that
     * name. NULL: none. */
    bool (*has_name)(void *user, const char *name);

    /* False only if url certainly may not be fetched; site is then the part of it that
     * is not allowed, in harmless characters. NULL: every URL may be fetched. */
    bool (*may_fetch)(void *user, const char *url, size_t len,
                      char site[GBX_GUARD_SITE_SIZE]);

    void *user;
} gbx_guard_world;

/*
 * Check code against form. *ret_span is the text for the engine (for the form function:
 * exactly the function expression). Without an objection *ret_report is NULL, so the
 * common case allocates no report.
 *
 * This does not object to code that does not parse, which may be TypeScript: the worker
 * removes types, and the engine decides about syntax. With a ret_span that is NULL no
 * engine follows, so if nothing else is found, the report lists the syntax errors that
 * the parser sees; gbx_check() and `glovebox check` are such callers.
 */
gbx_status gbx_guard_check(const char *code, size_t len, gbx_form form, size_t max_len,
                           const gbx_guard_world *world, gbx_guard_span *ret_span,
                           gbx_report **ret_report, gbx_error *reterr);

/* True if the parser fails at syntax that only TypeScript has: then only the worker can
 * tell whether the code is valid. code: UTF-8. */
bool gbx_guard_may_be_typescript(const char *code, size_t len);

/* Find the first Intl formatter, such as Intl.NumberFormat, that is made in a loop or
 * in a nested function: many of them take much time and memory. False: none, or the
 * code is not JavaScript. */
bool gbx_guard_find_formatter(const char *code, size_t len, size_t *ret_start,
                              size_t *ret_end);

/* gbx_check() with a world. It checks its arguments; success always has a report. */
gbx_status gbx_guard_report(const char *code, size_t code_len, gbx_form form,
                            const gbx_limits *limits, const gbx_guard_world *world,
                            gbx_report **ret_report, gbx_error *reterr);

/* The line, one before and one after, numbered, with a caret; control characters
 * escaped, long lines cut around the column. Free() it; NULL: out of memory. */
char *gbx_guard_frame(const char *code, size_t len, uint32_t line, uint32_t column);

/* ---- reports ------------------------------------------------------------ */

struct gbx_report {
    size_t count;
    size_t total; /* found, listed or not */
    gbx_violation list[GBX_GUARD_VIOLATIONS_MAX];
    char *text; /* the violations' strings that are not constant */
};

#endif

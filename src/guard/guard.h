/* SPDX-License-Identifier: MIT */
/*
 * guard - is this code of the form it is called with, and does it use what is off?
 *
 * Parsing is tree-sitter's: a word in a string, a comment, a template's text, a
 * property name or a shadowed local is never mistaken for a use. The guard saves work
 * and gives early, clear errors; it is no security boundary: the seal is.
 *
 * Reports own their strings. No state: any thread.
 */
#ifndef GBX_GUARD_GUARD_H
#define GBX_GUARD_GUARD_H

#include "base/fail.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- time_budget.c ------------------------------------------------------- */

/*
 * How long all that a thread parses may take, together.
 *
 * Each parse has a bound of its own (tree.h). Who makes several of one text, or must go on
 * with something else, takes a patience for the thread; a parse that loses it gives up as
 * one that has reached its own bound. Processor time of the thread, not wall clock: a busy
 * machine must not change what is found.
 */

typedef struct gbx_time_budget {
    int64_t left_ns; /* for what is still to come; a zeroed one parses nothing */
    const atomic_bool *stop; /* true, from another thread: at once; or NULL */
    bool is_lost;            /* something was given up for it */
    int64_t until_ns;        /* the rest is its own */
    struct gbx_time_budget *outer;
} gbx_time_budget;

/* From now on, in this thread, until gbx_time_budget_end(); the one within counts. */
void gbx_time_budget_begin(gbx_time_budget *patience);
void gbx_time_budget_end(gbx_time_budget *patience);

/* Has this thread one, and is it lost? */
bool gbx_time_budget_is_over(void);

/* The processor time of this thread. */
int64_t gbx_time_budget_now_ns(void);

/* Room for more violations than any reader wants; the rest is not listed. */
#define GBX_GUARD_VIOLATIONS_MAX 50

#define GBX_GUARD_SITE_SIZE 300

typedef struct gbx_guard_span {
    size_t start;    /* byte offset of the code proper in the text given: after a */
    size_t len;      /* Markdown fence, leading space; before a trailing ';' */
    uint32_t line;   /* where start is, from 1 */
    uint32_t column; /* in characters, from 1 */
    size_t
        last_expr; /* form script: 1 + offset, from start, of the last statement if it
                         is an expression; 0: it is none */
    bool
        is_parsed; /* without a doubt, form function: the whole is one function; body and
                       script: of an asynchronous one, and a script has a return or an
                       await that needs it */
} gbx_guard_span;

/*
 * What the code will find beside the language: NULL stands for nothing at all. The
 * functions are asked only about a use that would else be objected to.
 */
typedef struct gbx_guard_world {
    uint32_t capabilities; /* GBX_CAP_* that are on: their names exist */
    bool may_bind;         /* form body: what the caller binds is not known yet */
    uint32_t code_bytes;   /* gbx_guard_report(): the most of the limits; 0: not said */

    /* Does the host give the code a global, or in form body a binding, of that name?
     * May be NULL: it does not. */
    bool (*has_name)(void *user, const char *name);

    /* May url be fetched? False only if it certainly may not; then site is what of it
     * is not allowed, in characters that are harmless. May be NULL: it may. */
    bool (*may_fetch)(void *user, const char *url, size_t len,
                      char site[GBX_GUARD_SITE_SIZE]);

    void *user;
} gbx_guard_world;

/*
 * Check code against form. *ret_span is what to hand to the engine (for the form
 * function: exactly the function expression). *ret_report is NULL when there is
 * nothing to object to: the common case allocates no report.
 *
 * Code that does not parse is not objected to here: the engine has the last word on
 * syntax, and gbx_guard_explain() finds position and hint when it says no.
 */
gbx_status gbx_guard_check(const char *code, size_t len, gbx_form form, size_t max_len,
                           const gbx_guard_world *world, gbx_guard_span *ret_span,
                           gbx_report **ret_report, gbx_error *reterr);

/* The same and, if it finds nothing, the syntax errors as the parser sees them. This
 * is gbx_check() and `glovebox check`. */
gbx_status gbx_guard_full(const char *code, size_t len, gbx_form form, size_t max_len,
                          const gbx_guard_world *world, gbx_report **ret_report,
                          gbx_error *reterr);

/* gbx_check() in a world; every argument is looked at, and there is always a report. */
gbx_status gbx_guard_report(const char *code, size_t code_len, gbx_form form,
                            const gbx_limits *limits, const gbx_guard_world *world,
                            gbx_report **ret_report, gbx_error *reterr);

/* What the engine said about a failed call, made better for who must repair it.
 * line and column (0: unknown) go in as the engine gave them, in the caller's text,
 * and come out corrected; hint is a constant string or "". message is NULL, or a
 * constant that is said in place of the engine's, which speaks of what we put around the
 * code. */
typedef struct gbx_guard_advice {
    uint32_t line;
    uint32_t column;
    const char *hint;
    const char *message;
} gbx_guard_advice;

/* message is the engine's, as told by the worker: hostile, but only ever compared. */
void gbx_guard_explain(const char *code, size_t len, gbx_form form, gbx_code failed_as,
                       const char *message, gbx_guard_advice *advice);

/* The line, one before and one after, numbered, with a caret; control characters
 * escaped, long lines cut around the column. Free() it; NULL if memory is out. */
char *gbx_guard_frame(const char *code, size_t len, uint32_t line, uint32_t column);

/* ---- reports ------------------------------------------------------------ */

struct gbx_report {
    size_t count;
    size_t total; /* found, listed or not */
    gbx_violation list[GBX_GUARD_VIOLATIONS_MAX];
    char *text; /* what the violations' strings point into, if not constant */
};

#endif

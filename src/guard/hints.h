/* SPDX-License-Identifier: MIT */
/*
 * hints - shared by the files of gbx_guard_explain(), and by no others.
 *
 * Offsets are in the tree's text. Messages are in the engine's wording, which tests
 * compare with the installed engine: an unknown message gets no hint, never a wrong
 * one.
 */
#ifndef GBX_GUARD_HINTS_H
#define GBX_GUARD_HINTS_H

#include "guard/guard.h"
#include "guard/internal.h"

#define GBX_NO_OFFSET SIZE_MAX

typedef struct gbx_case {
    gbx_tree tree; /* flat */
    gbx_leaves leaves;
    gbx_form form;
    const char *message;
    size_t line_start; /* bytes of the line that the engine named */
    size_t line_end;
    size_t offset;    /* where the engine says, or GBX_NO_OFFSET */
    bool past_end;    /* that line is the last of the code, or after it */
    size_t work;      /* nodes that lookups may still visit */
    size_t at;        /* out: where it really is, or GBX_NO_OFFSET to leave it */
    const char *hint; /* out: constant */
    const char *said; /* out: constant, in place of the message, or NULL */
} gbx_case;

/* One row of a table: the first row whose text is part of the message applies. */
typedef struct gbx_wording {
    const char *part;
    const char *hint;
} gbx_wording;

const char *gbx_wording_find(const gbx_wording *table, size_t count,
                             const char *message);

/* The text between open and the next close, after part, in the message. */
bool gbx_message_quoted(const char *message, const char *part, const char *open,
                        const char *close, const char **ret_text, size_t *ret_len);

/* The leaves [*ret_first, *ret_end) that begin on the line of the case. */
void gbx_case_line(const gbx_case *c, uint32_t *ret_first, uint32_t *ret_end);

/* Where leaf k begins. */
size_t gbx_case_leaf_start(const gbx_case *c, uint32_t k);

/* Count one walk over the tree; false after too many. */
bool gbx_case_may_walk(gbx_case *c);

/* hints_promise.c: true if the expression, as the engine quotes it, begins with a
 * promise; or if a pattern, a loop or a spread on the line gets one. */
bool gbx_begins_with_promise(gbx_case *c, const char *text, size_t len);
bool gbx_line_spreads_promise(gbx_case *c);
/* True if a call on the line has a promise among its arguments. */
bool gbx_line_passes_promise(gbx_case *c);

/* hints_syntax_words.c: the hint for a message of the engine, or NULL. */
const char *gbx_syntax_wording(const char *message);

void gbx_explain_syntax(gbx_case *c);
void gbx_explain_runtime(gbx_case *c);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * analysis - the worker's static analysis of a call's code: it removes types, finds
 * what gives a script its value, and finds why code failed.
 *
 * It runs only in sealed processes. They report a row of the table of hints
 * (syntax/hint_table.h) and positions in the code; the host writes the text.
 *
 * No state; any thread.
 */
#ifndef GBX_ANALYSIS_ANALYSIS_H
#define GBX_ANALYSIS_ANALYSIS_H

#include "base/buf.h"
#include "syntax/hint_table.h"

#include <glovebox/glovebox.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- prepare.c ----------------------------------------------------------- */

/* Text that gbx_prepare() inserted; it has no line breaks. */
typedef struct gbx_insert {
    uint32_t line;   /* in what is compiled, from 1 */
    uint32_t column; /* in UTF-16 units, from 1 */
    uint32_t units;  /* its length */
} gbx_insert;

#define GBX_INSERTS_MAX 20

typedef struct gbx_prepared_code {
    char *code; /* what is compiled */
    size_t code_len;
    char *plain; /* the source as JavaScript, with the same length and offsets */
    size_t plain_len;
    gbx_insert inserts[GBX_INSERTS_MAX]; /* in order */
    size_t insert_count;
    bool is_changed;         /* code differs from the source */
    bool is_async;           /* form script: the body of an async function */
    uint32_t fault;          /* the row that says why it cannot run; or GBX_HINT_NONE */
    uint32_t fault_at;       /* byte offset in the source */
    uint32_t uncalled_start; /* in the source: the name of a function that is not */
    uint32_t uncalled_end;   /* called; equal: none */
} gbx_prepared_code;

/*
 * Make JavaScript of code that may be TypeScript, in any form.
 *
 * Form script: a function at the end, or exported as default, is called with the
 * arguments (a list, as text); without one, run(), main(), execute() or handler() is.
 * Other forms: types and exports are removed. Code that the parser does not understand
 * stays unchanged, and the engine reports the error.
 *
 * indent: the number of blanks before the text on its first line. False if out of
 * memory. Clean *ret up in any case.
 */
bool gbx_prepare(const char *text, size_t len, size_t indent, gbx_form form,
                 const char *arguments, gbx_prepared_code *ret);

/* True if it may contain f<T>(x): to the engine two comparisons, not an error. */
bool gbx_may_be_generic(const char *text, size_t len);

/* A zeroed one is empty. */
void gbx_prepared_code_cleanup(gbx_prepared_code *prepared);

/* ---- explain.c ----------------------------------------------------------- */

/* A failure, with the details that help to repair the code. */
typedef struct gbx_explanation {
    uint32_t line;   /* in and out: in the code, from 1; 0: unknown */
    uint32_t column; /* in UTF-16 units, from 1; 0: unknown */
    uint32_t hint;   /* out: row of the table */
    uint32_t start;  /* out: bytes of the code that the hint refers to; equal: none */
    uint32_t end;
} gbx_explanation;

typedef enum gbx_explained_end {
    GBX_ENDING_SYNTAX,  /* the code did not compile */
    GBX_ENDING_THROWN,  /* it threw */
    GBX_ENDING_NOTHING, /* its value is undefined */
} gbx_explained_end;

/* What the code receives: a set of flags. */
enum {
    GBX_GIVEN_DATA = 1,     /* its first argument is a dataset, */
    GBX_GIVEN_ALL = 2,      /* or, with this flag too, the object of all */
    GBX_GIVEN_NO_INPUT = 4, /* its input is missing or null */
    GBX_GIVEN_TEXT = 8,     /* its input is a text */
    GBX_GIVEN_SERVERS = 16, /* it has the servers of code mode */
    GBX_GIVEN_RESULTS = 32, /* results of calls, without a member content */
    GBX_GIVEN_TOOL = GBX_GIVEN_DATA | GBX_GIVEN_SERVERS, /* a tool's arguments */
};

typedef struct gbx_given {
    unsigned flags;
    const char *datasets; /* the names of all, separated by spaces; NULL: none */
    const char *dataset;  /* the name of the first argument, or "" */
} gbx_given;

/* code: JavaScript, valid UTF-8. message: the engine's, after the error's name; or
 * NULL. */
void gbx_explain(const char *code, size_t len, gbx_form form, gbx_explained_end ending,
                 const char *message, const gbx_given *given,
                 gbx_explanation *explanation);

/* ---- members.c ----------------------------------------------------------- */

/* The name of a member: byte offsets in the code. */
typedef struct gbx_member {
    uint32_t start;
    uint32_t end;
} gbx_member;

#define GBX_MEMBERS_MAX 64

/* Find the members that the code reads but neither calls nor defines, each name once,
 * at most GBX_MEMBERS_MAX; returns their number. code: JavaScript, valid UTF-8. */
size_t gbx_members_find(const char *code, size_t len, gbx_member ret[GBX_MEMBERS_MAX]);

#endif

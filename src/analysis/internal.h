/* SPDX-License-Identifier: MIT */
/* internal - types and functions that only src/analysis and its tests share. */
#ifndef GBX_ANALYSIS_INTERNAL_H
#define GBX_ANALYSIS_INTERNAL_H

#include "analysis/analysis.h"
#include "base/clock.h"
#include "syntax/tree.h"

/* Time for all parses of a text: fifteen times what 50 KiB of ordinary code need. */
#define GBX_ANALYSIS_NS (1000 * GBX_NS_PER_MS)

/* Memory for one tree of a text: ordinary code needs about 40 bytes per byte. */
#define GBX_ANALYSIS_ARENA(len) (GBX_MIB(16) + 160 * (len))

/* ---- entry_point.c ------------------------------------------------------- */

/* Find which statement or function of a script gives its value. */

/*
 * t: flat and without errors. to: a copy of its text. Turn the exports of a CommonJS
 * module into the value that is meant: `module.exports =` becomes `export default` of
 * the same length; exports that only list functions by name become blanks. False if the
 * code has neither, or uses `module` or `exports` in another way: then to is unchanged.
 */
bool gbx_exports_take(const gbx_tree *t, char *to);

#define GBX_SHAPE_RETURNS_MAX 16

/* Offsets in the text of the tree. */
typedef struct gbx_entry_point {
    bool
        calls_expression; /* the statement of [start, end) is a function to be called */
    bool keeps;      /* [start, end) is the value, though other statements follow it */
    bool calls_kept; /* it is a function, to be called at the end */
    bool is_void;    /* no value is meant, even if the engine finds one */
    bool is_async;   /* it has an await or a return of its own */
    bool is_module;  /* other statements stand beside an `export default` */
    size_t start;
    size_t end;
    size_t returns
        [GBX_SHAPE_RETURNS_MAX]; /* starts of the expressions that are the value, */
    size_t return_count;         /* in order */
    size_t name_start;      /* the function of this name is to be called at the end; */
    size_t name_end;        /* 0: none */
    size_t last_expression; /* 1 + offset of the last statement, if it is an expression;
                               0: it is not */
    size_t uncalled_start; /* the last function that nothing uses, if none is called; */
    size_t uncalled_end;   /* 0: none */
} gbx_entry_point;

/* t: flat. In a tree with errors nothing is found. to: a copy of its text: `export` and
 * `export default` before a declaration or expression become blanks, even if the tree
 * has errors. */
void gbx_entry_point_find(const gbx_tree *t, char *to, gbx_entry_point *ret);

/* ---- ts_strip.c ---------------------------------------------------------- */

/*
 * Turn TypeScript with erasable types into JavaScript of the same length.
 *
 * Types become blanks, character by character and line by line, so that positions in
 * the result are positions in the source. Syntax that would need translation (an enum,
 * a namespace, a parameter property) is refused.
 */

typedef struct gbx_types_fault {
    uint32_t hint; /* GBX_HINT_NONE: none */
    size_t offset;
} gbx_types_fault;

/*
 * Blank the types in `to`, a copy of the text. False if the text is not TypeScript:
 * then what looks like types is blank, and a fault without a hint has the offset of the
 * first error. Only inside gbx_arena_run().
 */
bool gbx_types_take(const char *text, size_t len, char *to, gbx_types_fault *ret_fault);

/* ---- ts_repair.c --------------------------------------------------------- */

/*
 * Parse as TypeScript and flatten. The grammar cuts the type of `x as A.B.C` short; in
 * this tree all of A.B.C is the type, except where gbx_types_is_cut() holds. Other
 * misread syntax is repaired; in `to`, a copy of the text, it becomes blank if it is
 * not JavaScript. False if time ran out: no tree. Only inside gbx_arena_run().
 */
bool gbx_types_parse(gbx_tree *t, const char *text, size_t len, char *to);

/* True if node i is a member access in the tree, but in TypeScript the end of a type
 * name. */
bool gbx_types_is_cut(const gbx_tree *t, uint32_t i);

/* F(a < b, c > (d)): the grammar alone reads it as a generic call a<b, c>(d). */

typedef struct gbx_types_name {
    const char *text;
    size_t len;
    bool is_type;
} gbx_types_name;

/* The names that the code declares, sorted; {0} until first needed. */
typedef struct gbx_types_names {
    gbx_types_name *items;
    uint32_t count;
} gbx_types_names;

/* True if node i, read as type arguments, is really the operands of comparisons. Before
 * a call: one of them is a variable that the code declares, not a type, or a member of
 * one, and none has a form that only types have. Elsewhere: an operand follows. Only
 * inside gbx_arena_run(). */
bool gbx_types_is_compared(const gbx_tree *t, uint32_t i, gbx_types_names *names);

/* ---- explain.c ----------------------------------------------------------- */

/*
 * Shared by the files of gbx_explain(), and by no others.
 *
 * Offsets are in the tree's text. Messages are in the engine's wording, which tests
 * compare with the installed engine: an unknown message gets no hint, never a wrong
 * one.
 */

#define GBX_NO_OFFSET SIZE_MAX

typedef struct gbx_case {
    gbx_tree tree; /* flat */
    gbx_leaves leaves;
    gbx_form form;
    const char *message;
    size_t line_start; /* bytes of the line that the engine named */
    size_t line_end;
    size_t offset;  /* where the engine says, or GBX_NO_OFFSET */
    bool is_placed; /* the engine named a line */
    bool past_end;  /* that line is the last of the code, or after it */
    size_t work;    /* nodes that lookups may still visit */
    const gbx_given *given;
    size_t at;          /* out: where it really is, or GBX_NO_OFFSET to leave it */
    uint32_t hint;      /* out */
    size_t named_start; /* out: the name that the hint means; equal: none */
    size_t named_end;
} gbx_case;

void gbx_explain_syntax(gbx_case *c);
void gbx_explain_runtime(gbx_case *c);
/* Call it next: what the code is given may be the cause. */
void gbx_explain_given(gbx_case *c);
/* Call it last: a promise may have been used in place of its value. */
void gbx_explain_unawaited(gbx_case *c);
void gbx_explain_nothing(gbx_case *c);

#endif

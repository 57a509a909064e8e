/* SPDX-License-Identifier: MIT */
/*
 * types_writer - shared by the files that write the type of a schema.
 *
 * Work is bounded by the number of schemas and bytes visited; recursion by levels and
 * by nested objects and arrays. What exceeds a bound becomes `unknown`, with a note
 * where to find the schema.
 */
#ifndef GBX_MCP_CODE_TYPES_WRITER_H
#define GBX_MCP_CODE_TYPES_WRITER_H

#include "mcp/code/code_mode.h"

#define GBX_TYPES_CHOICES_MAX 24
#define GBX_TYPES_PARTS_MAX   (GBX_TYPES_CHOICES_MAX + 8)
#define GBX_TYPES_OPEN_MAX    24
#define GBX_TYPES_CUT         "unknown /* see tools() */"

/* The form of a type that was written. */
typedef enum gbx_types_kind {
    GBX_TYPES_NOTHING, /* `unknown` */
    GBX_TYPES_OPEN,    /* `unknown` with other types, or because room ran out */
    GBX_TYPES_CHOICE,  /* a union: needs parentheses where it is joined by & */
    GBX_TYPES_ONE
} gbx_types_kind;

typedef struct gbx_types_writer {
    gbx_buf *to;
    gbx_view root;
    const gbx_types_form *form;
    unsigned indent;
    unsigned nodes;
    unsigned levels;                      /* of nested schemas */
    unsigned nested;                      /* of these, objects and arrays */
    size_t seen;                          /* bytes visited */
    const char *open[GBX_TYPES_OPEN_MAX]; /* targets of references, outside in */
    unsigned open_count;
} gbx_types_writer;

/* Types joined by " & " or " | ". */
typedef struct gbx_types_join {
    const char *between;
    size_t starts[GBX_TYPES_PARTS_MAX];
    size_t end; /* of the last type that was kept */
    unsigned count;
    unsigned nothing; /* of count: `unknown` in a union */
    bool is_open;
    gbx_types_kind first;
} gbx_types_join;

void gbx_types_put(gbx_types_writer *w, const char *text);

/* Write each type between begin and add. A duplicate is removed again, as is a part of
 * & that says nothing. */
void gbx_types_join_begin(gbx_types_writer *w, gbx_types_join *j);
void gbx_types_join_add(gbx_types_writer *w, gbx_types_join *j, gbx_types_kind kind);
/* If no type is left, or none says anything, the result is `unknown`. */
gbx_types_kind gbx_types_join_end(gbx_types_writer *w, gbx_types_join *j);

/* Write the values of an enum: as many as fit, and the kinds of the others. */
gbx_types_kind gbx_types_write_values(gbx_types_writer *w, gbx_view list);
gbx_types_kind gbx_types_write_constant(gbx_types_writer *w, gbx_view value);

/* Write a comment about a member before its name, or nothing. */
void gbx_types_write_note(gbx_types_writer *w, gbx_view schema);

#endif

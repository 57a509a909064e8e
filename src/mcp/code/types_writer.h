/* SPDX-License-Identifier: MIT */
/*
 * types_writer - what the files that write the type of a schema share.
 *
 * Work is bounded by the schemas and the bytes that are looked at, recursion by levels and
 * by the objects and arrays in each other. What is over a bound is `unknown`, and says where
 * the schema is.
 */
#ifndef GBX_MCP_CODE_TYPES_WRITER_H
#define GBX_MCP_CODE_TYPES_WRITER_H

#include "mcp/code/code_mode.h"

#define GBX_TYPES_CHOICES_MAX 24
#define GBX_TYPES_PARTS_MAX   (GBX_TYPES_CHOICES_MAX + 8)
#define GBX_TYPES_OPEN_MAX    24
#define GBX_TYPES_CUT         "unknown /* see tools() */"

/* What was written. */
typedef enum gbx_types_kind {
    GBX_TYPES_NOTHING, /* `unknown` */
    GBX_TYPES_OPEN,    /* `unknown` among others, or for want of room */
    GBX_TYPES_CHOICE,  /* of types: in parentheses where it is joined by & */
    GBX_TYPES_ONE
} gbx_types_kind;

typedef struct gbx_types_writer {
    gbx_buf *to;
    gbx_view root;
    const gbx_types_form *form;
    unsigned indent;
    unsigned nodes;
    unsigned levels;                      /* of schemas in each other */
    unsigned nested;                      /* of them, objects and arrays */
    size_t seen;                          /* bytes that were looked at */
    const char *open[GBX_TYPES_OPEN_MAX]; /* what references led to, from outside in */
    unsigned open_count;
} gbx_types_writer;

/* Types with " & " or " | " between them. */
typedef struct gbx_types_join {
    const char *between;
    size_t starts[GBX_TYPES_PARTS_MAX];
    size_t end; /* of the last that was kept */
    unsigned count;
    unsigned nothing; /* of count: `unknown` in a choice */
    bool is_open;
    gbx_types_kind first;
} gbx_types_join;

void gbx_types_put(gbx_types_writer *w, const char *text);

/* The type of any schema. */
gbx_types_kind gbx_types_write(gbx_types_writer *w, gbx_view schema);

/* Each type stands between the two; one that was there already is taken back, and so is
 * one of & that says nothing. */
void gbx_types_join_begin(gbx_types_writer *w, gbx_types_join *j);
void gbx_types_join_add(gbx_types_writer *w, gbx_types_join *j, gbx_types_kind kind);
/* Of no type, or of none that says anything, `unknown` is left. */
gbx_types_kind gbx_types_join_end(gbx_types_writer *w, gbx_types_join *j);

/* The schemas of a list or the members of an object, joined by |. */
gbx_types_kind gbx_types_write_choices(gbx_types_writer *w, gbx_view list);

gbx_types_kind gbx_types_write_object(gbx_types_writer *w, gbx_view schema);
gbx_types_kind gbx_types_write_array(gbx_types_writer *w, gbx_view schema);

/* The values of an enum: as many as fit, and the kinds of the others. */
gbx_types_kind gbx_types_write_values(gbx_types_writer *w, gbx_view list);
gbx_types_kind gbx_types_write_constant(gbx_types_writer *w, gbx_view value);

/* What is told of a member before its name, or nothing. */
void gbx_types_write_note(gbx_types_writer *w, gbx_view schema);

/* Is there anything in its list of what must be given? */
bool gbx_types_requires_any(gbx_view schema);

#endif

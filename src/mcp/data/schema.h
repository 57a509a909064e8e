/* SPDX-License-Identifier: MIT */
/*
 * schema - the kinds of a dataset's values, field by field, with counts; found in one
 * pass over its JSON.
 *
 * A node stands for all values at one place: all elements of an array share a node, and
 * so do all members of the same name in these objects. Names that are data themselves
 * are keys of a map, not fields: their members share one node. The same holds for the
 * names of many members that are records of one form: they are ids. Everything is
 * bounded: fields, depth, nodes, distinct values. What exceeds a bound is reported as
 * such.
 */
#ifndef GBX_MCP_DATA_SCHEMA_H
#define GBX_MCP_DATA_SCHEMA_H

#include "base/json_view.h"
#include "mcp/data/schema_date.h"

#include <stdatomic.h>

#define GBX_SHAPE_NODES_MAX    2048
#define GBX_SHAPE_FIELDS_MAX   512  /* of one object; more: a map */
#define GBX_SHAPE_ALIKE_MAX    20   /* records of one form; more: a map, too */
#define GBX_SHAPE_COLUMNS_MAX  4096 /* of a table, whose names are never map keys */
#define GBX_SHAPE_DEPTH_MAX    6
#define GBX_SHAPE_DISTINCT_MAX 10000
#define GBX_SHAPE_TOP_MAX      20

enum {
    GBX_SHAPE_NULL = 1,
    GBX_SHAPE_BOOLEAN = 2,
    GBX_SHAPE_INTEGER = 4,
    GBX_SHAPE_NUMBER = 8, /* with a fraction or an exponent */
    GBX_SHAPE_STRING = 16,
    GBX_SHAPE_OBJECT = 32,
    GBX_SHAPE_ARRAY = 64,
};

/* How often one value occurs. */
typedef struct gbx_schema_top {
    uint64_t hash;
    gbx_view value; /* borrowed from the JSON */
    uint64_t count;
} gbx_schema_top;

typedef struct gbx_schema {
    long double sum; /* of the numbers; holds many large ones */
    uint64_t count;  /* values */
    uint64_t nulls;
    uint64_t objects; /* of the values */

    uint64_t numbers;  /* finite ones */
    uint64_t infinite; /* too large for a double */
    uint64_t inexact;  /* integers that lose digits in code */
    double min, max;
    uint64_t dates;
    uint64_t foreign_dates; /* the engine's Date cannot parse them */
    gbx_schema_date first_date, last_date;
    uint64_t elements; /* of all arrays */

    uint64_t *hashes; /* set of the hashes of all scalars; 0 is a free slot */
    size_t hash_room;
    size_t distinct;
    gbx_schema_top *tops; /* at most GBX_SHAPE_TOP_MAX; NULL after more values */
    size_t top_count;

    struct gbx_schema_field *fields; /* in the order of their first appearance */
    size_t field_count;
    size_t field_room;
    size_t next;                /* where to look first for the next member */
    struct gbx_schema *member;  /* of maps, or NULL */
    struct gbx_schema *keyed;   /* of members whose names are data, or NULL */
    gbx_view key;               /* the first of these names, borrowed */
    struct gbx_schema *element; /* of arrays; NULL: none, or too deep */
    unsigned kinds;             /* of the values */
    bool is_map;                /* names are ids: `member` describes all members */
    bool has_more;              /* fields that are not listed */
    bool is_distinct_more;      /* more values than were counted */
} gbx_schema;

typedef struct gbx_schema_field {
    gbx_view name; /* a JSON string, borrowed */
    gbx_schema *shape;
} gbx_schema_field;

/* The result borrows view. NULL: memory is out, or *stop was set. */
gbx_schema *gbx_schema_of(gbx_view view, const atomic_bool *stop);
/* The same for rows of CSV or of a database. In columns after the first
 * GBX_SHAPE_FIELDS_MAX, values are counted, but distinct ones are not. */
gbx_schema *gbx_schema_of_table(gbx_view view, const atomic_bool *stop);
void gbx_schema_free(gbx_schema *shape);

/* Are all values that are not null dates? */
bool gbx_schema_are_dates(const gbx_schema *shape);

#endif

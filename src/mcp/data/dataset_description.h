/* SPDX-License-Identifier: MIT */
/*
 * dataset_description - what a model learns about a dataset: its type and three
 * examples; and what a resource shows: counts, and statistics of the values that may be
 * shown.
 *
 * Field names, kinds and counts are always shown. Letters and digits of values are not,
 * unless the owner of the data allows it: a pattern replaces them.
 *
 * All of it is bounded, and the same for the same data. Texts in it come from the data:
 * they are quoted and cut, and must not be read as instructions.
 */
#ifndef GBX_MCP_DATA_DATASET_DESCRIPTION_H
#define GBX_MCP_DATA_DATASET_DESCRIPTION_H

#include "mcp/data/schema.h"

typedef enum gbx_examples {
    GBX_EXAMPLES_PATTERNS, /* letters are x or X, digits 0, or 9 in a number */
    GBX_EXAMPLES_VALUES,   /* unchanged: everything is shown */
    GBX_EXAMPLES_NONE,
} gbx_examples;

#define GBX_SHOWN_MAX 64

/* Which values may be shown. fields: "NAME" or "NAME.FIELD.FIELD", each with everything
 * below it; borrowed. */
typedef struct gbx_shown {
    gbx_examples examples;
    const char *const *fields;
    size_t count; /* at most GBX_SHOWN_MAX */
} gbx_shown;

struct gbx_place;

/* Append a TypeScript type, in about `room` bytes; what does not fit is mentioned. A
 * field whose values are shown and few has them as its type. */
bool gbx_describe_type(const gbx_schema *shape, const struct gbx_place *place,
                       size_t room, gbx_buf *to);

/* Describe a table without records by its column names, a JSON array. */
bool gbx_describe_columns(gbx_view names, size_t room, gbx_buf *to);

/* "100,000 records", "object with 3 fields", ... */
bool gbx_describe_size(const gbx_schema *shape, gbx_view view, gbx_buf *to);

/* Append up to three records, or the beginning of a single value, one per line after
 * `indent`. shape: of the view. */
bool gbx_describe_examples(gbx_view view, const gbx_schema *shape,
                           const struct gbx_place *place, const char *indent,
                           size_t room, gbx_buf *to);

/* Append a JSON array with one object per field: counts, and statistics of shown
 * values. */
bool gbx_describe_statistics(const gbx_schema *shape, const struct gbx_place *place,
                             gbx_buf *to);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * dataset_description - what a model is told of a dataset: its type, and three examples; and what a
 * resource tells: counts, and figures of what is shown.
 *
 * Names of fields, kinds and counts are always told. No letter and no digit of a value is,
 * unless whoever's data it is has it shown: a pattern stands in its place.
 *
 * All of it is bounded, and the same for the same data. Texts in it come from the data:
 * they are quoted and cut, and are no one's instructions.
 */
#ifndef GBX_MCP_DATA_DATASET_DESCRIPTION_H
#define GBX_MCP_DATA_DATASET_DESCRIPTION_H

#include "mcp/data/schema.h"

typedef enum gbx_examples {
    GBX_EXAMPLES_PATTERNS, /* letters are x or X, digits 0, or 9 in a number */
    GBX_EXAMPLES_VALUES,   /* as they are: everything is shown */
    GBX_EXAMPLES_NONE,
} gbx_examples;

#define GBX_SHOWN_MAX 64

/* Which values may be told. fields: "NAME" or "NAME.FIELD.FIELD", with all below; borrowed. */
typedef struct gbx_shown {
    gbx_examples examples;
    const char *const *fields;
    size_t count; /* at most GBX_SHOWN_MAX */
} gbx_shown;

struct gbx_place;

/* As a type of TypeScript, in about so many bytes: what does not fit is said to be. Where
 * values are shown and a field has few, they are its type. */
bool gbx_describe_type(const gbx_schema *shape, const struct gbx_place *place,
                       size_t room, gbx_buf *to);

/* Of a table without records, by the names of its columns, a JSON array. */
bool gbx_describe_columns(gbx_view names, size_t room, gbx_buf *to);

/* "100,000 records", "object with 3 fields", ... */
bool gbx_describe_size(const gbx_schema *shape, gbx_view view, gbx_buf *to);

/* Up to three records, or the beginning of the one value, a line each after `indent`. shape:
 * of the view. */
bool gbx_describe_examples(gbx_view view, const gbx_schema *shape,
                           const struct gbx_place *place, const char *indent,
                           size_t room, gbx_buf *to);

/* One JSON array: an object a field, with counts, and figures of what is shown. */
bool gbx_describe_statistics(const gbx_schema *shape, const struct gbx_place *place,
                             gbx_buf *to);

#endif

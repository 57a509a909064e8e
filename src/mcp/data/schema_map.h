/* SPDX-License-Identifier: MIT */
/*
 * schema_map - fields that are too many, or records under their ids, become a map: what was
 * seen at many places is then as if it had been at one.
 */
#ifndef GBX_MCP_DATA_SCHEMA_MAP_H
#define GBX_MCP_DATA_SCHEMA_MAP_H

#include "mcp/data/schema.h"

/* One pass over the JSON. */
typedef struct gbx_looking {
    const atomic_bool *stop;
    size_t nodes;
    size_t nodes_max;
    size_t fields_max;
    uint32_t values;
    bool failed;
} gbx_looking;

bool gbx_schema_has_name(const gbx_schema_field *field, gbx_view name);

/* From too many fields to any of them. */
void gbx_schema_make_map(gbx_looking *l, gbx_schema *s);

/* Is one field more too many? */
bool gbx_schema_is_full(const gbx_looking *l, const gbx_schema *s);

/* For one field more. */
bool gbx_schema_has_room(gbx_looking *l, gbx_schema *s);

/* Dates are among those of the shape. Of the same time the text that was first stays. */
void gbx_schema_take_dates(gbx_schema *s, const gbx_schema_date *first,
                           const gbx_schema_date *last);

#endif

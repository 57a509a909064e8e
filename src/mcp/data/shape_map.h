/* SPDX-License-Identifier: MIT */
/*
 * shape_map - fields that are too many, or records under their ids, become a map: what was
 * seen at many places is then as if it had been at one.
 */
#ifndef GBX_MCP_DATA_SHAPE_MAP_H
#define GBX_MCP_DATA_SHAPE_MAP_H

#include "mcp/data/shape.h"

/* One pass over the JSON. */
typedef struct gbx_looking {
    const atomic_bool *stop;
    size_t nodes;
    size_t nodes_max;
    size_t fields_max;
    uint32_t values;
    bool failed;
} gbx_looking;

bool gbx_shape_has_name(const gbx_shape_field *field, gbx_view name);

/* From too many fields to any of them. */
void gbx_shape_make_map(gbx_looking *l, gbx_shape *s);

/* Is one field more too many? */
bool gbx_shape_is_full(const gbx_looking *l, const gbx_shape *s);

/* For one field more. */
bool gbx_shape_has_room(gbx_looking *l, gbx_shape *s);

/* Dates are among those of the shape. Of the same time the text that was first stays. */
void gbx_shape_take_dates(gbx_shape *s, const gbx_shape_date *first,
                          const gbx_shape_date *last);

#endif

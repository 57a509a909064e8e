/* SPDX-License-Identifier: MIT */
/*
 * sibling - what stands beside a value may say what it is: {"name": "password", "value":
 * ...}, ["Cookie", "..."], columns by their names and rows without them, a first row of
 * names. Such a value has the place that it would have under that name.
 */
#ifndef GBX_MCP_DATA_SIBLING_H
#define GBX_MCP_DATA_SIBLING_H

#include "base/json_view.h"
#include "mcp/data/sensitive.h"

/* What the member of that name may be for others of its object; bits. */
enum {
    GBX_SIBLING_NAME = 1,    /* a text: of what `VALUE` is */
    GBX_SIBLING_VALUE = 2,   /* of what `NAME` says */
    GBX_SIBLING_COLUMNS = 4, /* an array: the names of what each of `ROWS` has */
    GBX_SIBLING_ROWS = 8,    /* an array of arrays */
};
unsigned gbx_sibling_role(gbx_view name);

/* The member `name` of the object: `place` is what it is by that, and what is answered, or
 * more, if another member says so. */
gbx_sensitive_place gbx_sibling_place(gbx_view object, gbx_view name,
                                      gbx_sensitive_place place, bool is_number);

/* An array that has the names of what each row of the member `name` has; or no value. */
gbx_view gbx_sibling_columns(gbx_view object, gbx_view name);

/* The first row of an array, if it has nothing but texts, and the next as many elements. */
gbx_view gbx_sibling_header(gbx_view array);

/* The first of two elements, if it is a text. */
gbx_view gbx_sibling_pair(gbx_view array);

/* The element of a command, if it is the name of the next: --password; or no value. */
gbx_view gbx_sibling_flag(gbx_view element);

/* The next of such names, by its cursor: itself, or the "name" that it has. */
gbx_view gbx_sibling_next(gbx_view names, size_t *cursor);

#endif

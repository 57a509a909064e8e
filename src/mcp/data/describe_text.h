/* SPDX-License-Identifier: MIT */
/*
 * describe_text - pieces of descriptions that come from the data, and which of its values
 * may stand in one: none, unless whoever's data it is says so.
 */
#ifndef GBX_MCP_DATA_DESCRIBE_TEXT_H
#define GBX_MCP_DATA_DESCRIBE_TEXT_H

#include "mcp/data/dataset_description.h"

/* Where in a dataset something is. Elements of arrays, and members of maps, are where these
 * are: only names of fields are steps. */
typedef struct gbx_place {
    bool is_shown;
    size_t count;
    const char *paths[GBX_SHOWN_MAX]; /* what is to be shown below; borrowed */
} gbx_place;

gbx_place gbx_place_of(const gbx_shown *shown, const char *dataset);
gbx_place gbx_place_below(const gbx_place *place, gbx_view name);

/* The first path that leads to no field; NULL: all do. */
const char *gbx_place_lost(const gbx_place *place, const gbx_schema *shape);

/* Append a JSON string, cut to about max characters with "…", its characters escaped so
 * that they steer no terminal. Unless it is shown, letters are x or X and digits 0. */
bool gbx_describe_string(gbx_view string, size_t max, bool is_shown, gbx_buf *to);

/* A field's name: as an identifier if it is one, else as a string; cut. A key's pattern. */
bool gbx_describe_name(gbx_view name, gbx_buf *to);

/* Is a member's name data itself? It has an '@', or more digits than a date has without its
 * day; what has many members is a map whatever their names are. */
bool gbx_describe_is_key(gbx_view name);

/* A number's digits as nines. */
bool gbx_describe_number_pattern(gbx_view number, gbx_buf *to);

#endif

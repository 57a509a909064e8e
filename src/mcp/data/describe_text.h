/* SPDX-License-Identifier: MIT */
/* describe_text - pieces of descriptions that come from the data. */
#ifndef GBX_MCP_DATA_DESCRIBE_TEXT_H
#define GBX_MCP_DATA_DESCRIBE_TEXT_H

#include "base/json_view.h"
#include "mcp/data/sensitive.h"
#include "mcp/data/shape.h"

/* A value occurs in so many records before it is no more about one; and a field has values
 * in so many before the least and the greatest of them are not. */
#define GBX_DESCRIBE_OFTEN 5

/* Append a JSON string, cut to about max characters with "…", its characters escaped so
 * that they steer no terminal. is_sensitive: masked as a whole; else by its parts. */
bool gbx_describe_string(gbx_view string, size_t max, bool is_sensitive, gbx_buf *to);

/* A member's name: as an identifier if it is one, else as a string; cut, masked by looks. */
bool gbx_describe_name(gbx_view name, gbx_buf *to);

/* What the value of the member of that name is, in an object that is `place`. */
gbx_sensitive_place gbx_describe_below(gbx_sensitive_place place, gbx_view name,
                                       bool is_number);

/* What an object is that is found there: a person, if one of its members says so. */
gbx_sensitive_place gbx_describe_inside(gbx_sensitive_place place, gbx_view object);
gbx_sensitive_place gbx_describe_inside_all(gbx_sensitive_place place,
                                            const gbx_shape *objects);

/* The same of an array whose elements have these names. */
gbx_sensitive_place gbx_describe_inside_row(gbx_view names);

/* Is a text hidden that is found there? */
bool gbx_describe_hides_text(gbx_sensitive_place place);

/* The same as gbx_describe_below(), of all values of a field of these objects. */
gbx_sensitive_place gbx_describe_below_field(gbx_sensitive_place place,
                                             const gbx_shape *objects,
                                             const gbx_shape_field *field);

/* By looks. */
bool gbx_describe_is_sensitive_value(gbx_view value);

/* A number's digits as nines. */
bool gbx_describe_masked_number(gbx_view number, gbx_buf *to);

#endif

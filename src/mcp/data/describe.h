/* SPDX-License-Identifier: MIT */
/*
 * describe - what a model is told of a dataset: its type, and three examples with what is
 * sensitive masked; and what a resource tells: statistics, never a record.
 *
 * All of it is bounded, and the same for the same data. Texts in it come from the data:
 * they are quoted and cut, and are no one's instructions.
 */
#ifndef GBX_MCP_DATA_DESCRIBE_H
#define GBX_MCP_DATA_DESCRIBE_H

#include "mcp/data/shape.h"

/* As a type of TypeScript, in about so many bytes: what does not fit is said to be. */
bool gbx_describe_type(const gbx_shape *shape, size_t room, gbx_buf *to);

/* Of a table without records, by the names of its columns, a JSON array. */
bool gbx_describe_columns(gbx_view names, size_t room, gbx_buf *to);

/* "100,000 records", "object with 3 fields", ... */
bool gbx_describe_size(const gbx_shape *shape, gbx_view view, gbx_buf *to);

/* Up to three records, or the beginning of the one value, a line each after `indent`. */
bool gbx_describe_examples(gbx_view view, const char *indent, size_t room, gbx_buf *to);

/* One JSON array: an object a field, with counts, and figures where they tell nothing
 * about a single record that looks sensitive. */
bool gbx_describe_statistics(const gbx_shape *shape, gbx_buf *to);

#endif

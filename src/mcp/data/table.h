/* SPDX-License-Identifier: MIT */
/*
 * table - CSV becomes a JSON array of objects, one a record, in two passes: the first
 * finds out of what type each column is, the second writes.
 *
 * The first record names the columns. A column is of integers, decimals or booleans if
 * every cell in it that is not empty is; otherwise its cells are text, as they stand.
 * An empty cell is null, quoted or not.
 */
#ifndef GBX_MCP_DATA_TABLE_H
#define GBX_MCP_DATA_TABLE_H

#include "base/buf.h"
#include "base/fail.h"

#include <stdatomic.h>

/* More than any spreadsheet's use; each is a name in every record. */
#define GBX_TABLE_COLUMNS_MAX 4096

/* Beyond it, columns are no longer told apart quickly. */
#define GBX_TABLE_NAME_MAX 1024

/*
 * Append the JSON to `to`, whose ceiling bounds it. text: UTF-8 without a byte order
 * mark. stop: looked at now and then; GBX_E_CLOSED. delimiter: 0 to find it out.
 * columns: NULL, or what their names are appended to, as a JSON array, if there is no
 * record that says them. GBX_E_DATA has line and column.
 */
gbx_status gbx_table_read(const char *text, size_t len, char delimiter,
                          const atomic_bool *stop, gbx_buf *to, gbx_buf *columns,
                          gbx_error *reterr);

#endif

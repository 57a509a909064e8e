/* SPDX-License-Identifier: MIT */
/*
 * rows - what a query of an SQLite database gives, as a JSON array of objects.
 *
 * The query can read and nothing else: the file is opened read-only, and what a statement
 * may do is decided by an authorizer with a list of what is allowed (selecting, reading,
 * functions, recursion), before it runs. ATTACH, PRAGMA, writing, extensions and temporary
 * tables are refused. A database whose log is empty is read without a lock, and again with
 * one if it was written meanwhile: see sqlite_immutable.h. It is hostile: its views may call no
 * function that does anything, it is not mapped, and sizes and time are bounded.
 */
#ifndef GBX_MCP_DATA_ROWS_H
#define GBX_MCP_DATA_ROWS_H

#include "base/buf.h"
#include "base/fail.h"

#include <stdatomic.h>

/* Beyond it a query is stopped. */
#define GBX_ROWS_MS 60000

/*
 * Integers that a double does not hold are text, and so are blobs, in base64. Columns of
 * one name become name, name_2. columns: NULL, or what their names are appended to, as a
 * JSON array, if there is no row. GBX_E_DATA names the place in the query if that is at
 * fault, and has line and column of it.
 */
gbx_status gbx_rows_read(const char *path, const char *query, const atomic_bool *stop,
                         gbx_buf *to, gbx_buf *columns, gbx_error *reterr);

#endif

/* SPDX-License-Identifier: MIT */
/* sqlite - rows of a database, from a sealed process that reads nothing else. */
#ifndef GBX_ENGINE_SQLITE_H
#define GBX_ENGINE_SQLITE_H

#include <glovebox/glovebox.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct gbx_rows {
    const char *text; /* JSON that nobody has looked at */
    size_t text_len;
    const char *columns; /* of a query without rows: the names, as a JSON array */
    size_t columns_len;  /* 0: it has rows */
    void *mapped;
    size_t mapped_len;
} gbx_rows;

/*
 * Run a query, which can only read, in a process of its own. The result is an array of
 * objects; without a query, an object with such an array for each table. Integers beyond
 * a double's precision become text; blobs become base64 text. Columns of the same name
 * become name, name_2.
 *
 * What is still in the log (-wal) is read as well. The rows are those of one moment: locks
 * keep others from changing the files that are read, or else a change is noticed, and the
 * query runs again. No file is created. Blocks, for a minute at most.
 *
 * options: NULL, or for worker_path,
 * worker_uid and require. stop: NULL, or ends it once it is true. GBX_E_DATA has line and
 * column in the query if that is at fault, and os_errno EBUSY if another process writes:
 * try it later. GBX_E_CLOSED: *stop was set. Clean up *ret on success alone.
 */
gbx_status gbx_rows_read(const gbx_options *options, const char *path,
                         const char *query, const atomic_bool *stop, gbx_rows *ret,
                         gbx_error *reterr);

void gbx_rows_cleanup(gbx_rows *rows);

/* Let sealed readers try the attacks of the table, of which there are count; called with
 * the wait status of each. */
gbx_status gbx_rows_attack(const char *database, size_t count,
                           void (*tried)(void *user, int status), void *user,
                           gbx_error *reterr);

#endif

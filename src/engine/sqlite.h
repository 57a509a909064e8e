/* SPDX-License-Identifier: MIT */
/* sqlite - reads rows of an SQLite database, in a sealed process. */
#ifndef GBX_ENGINE_SQLITE_H
#define GBX_ENGINE_SQLITE_H

#include <glovebox/glovebox.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct gbx_rows {
    const char *text; /* JSON, unchecked */
    size_t text_len;
    const char *columns; /* if there are no rows: the columns' names, as a JSON array */
    size_t columns_len;  /* 0 if there are rows */
    void *mapped;
    size_t mapped_len;
} gbx_rows;

/*
 * Run a read-only query in its own process. The result is an array of objects; if query
 * is NULL, an object with such an array for each table. Integers beyond a double's
 * precision become text; blobs become base64 text. Columns of the same name become
 * name, name_2.
 *
 * The write-ahead log (-wal) is read too. The rows are a consistent snapshot: locks
 * keep other processes from changing the files, or else a change is detected and the
 * query runs again. No file is created. Blocks for at most a minute per attempt.
 *
 * options: NULL, or used for worker_path, worker_uid and require. stop: NULL, or a flag
 * that ends the query. GBX_E_DATA has line and column of an error in the query, and
 * os_errno EBUSY if another process writes: try again later. GBX_E_CLOSED: *stop was
 * set. Clean up *ret only after success.
 */
gbx_status gbx_rows_read(const gbx_options *options, const char *path,
                         const char *query, const atomic_bool *stop, gbx_rows *ret,
                         gbx_error *reterr);

void gbx_rows_cleanup(gbx_rows *rows);

/* Let sealed readers try the first count attacks of the attack table. tried() is called
 * with the wait status of each. */
gbx_status gbx_rows_attack(const char *database, size_t count,
                           void (*tried)(void *user, int status), void *user,
                           gbx_error *reterr);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * sqlite_reader - the reader of databases on bytes in memory, in this very process: no
 * fork, no seal. For damage of which there is too much for a process each.
 */
#ifndef GBX_TESTS_SQLITE_READER_H
#define GBX_TESTS_SQLITE_READER_H

#include "wire/wire.h"

#include <stddef.h>

typedef struct sqlite_bytes {
    const void *data; /* NULL: the file does not exist */
    size_t len;
} sqlite_bytes;

/* What the sealed process would answer, its rows in the room given. A query that takes
 * more than a million steps is interrupted. query "": all tables. */
gbx_sqlite_answer sqlite_reader_run(sqlite_bytes database, sqlite_bytes wal,
                                    const char *query, char *rows, size_t room);

#endif

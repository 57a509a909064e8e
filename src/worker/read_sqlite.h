/* SPDX-License-Identifier: MIT */
/* read_sqlite - the process that runs a query of a database; see wire/wire.h. */
#ifndef GBX_WORKER_READ_SQLITE_H
#define GBX_WORKER_READ_SQLITE_H

#include "wire/wire.h"
#include "worker/worker.h"

#include <sqlite3.h>

/* ---- sqlite_vfs.c ---------------------------------------------------------- */

/* Before the seal: map the files and lock them for as long as this process lives. DONE,
 * BUSY or MEMORY. *ret_is_locked: false if others may write them all the same. */
gbx_sqlite_outcome gbx_sqlite_open_files(bool *ret_is_locked);

/* Opens these files, whatever the name of the database. */
extern sqlite3_vfs gbx_sqlite_vfs;

/* ---- read_sqlite.c --------------------------------------------------------- */

/* Serve one request, in the process that gbx_launch_fork() has made. Returns the exit
 * status. */
int gbx_sqlite_serve(const gbx_launch *launch);

#endif

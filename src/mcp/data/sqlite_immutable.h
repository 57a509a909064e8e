/* SPDX-License-Identifier: MIT */
/*
 * sqlite_immutable - a database whose log is empty, and its file as it lies: all there is of it is
 * there, and can be read without a lock and without a file beside it, in a folder where
 * nothing may be written too, for as long as nobody writes to it. Whether anybody did, the
 * size and the time of the file say afterwards.
 */
#ifndef GBX_MCP_DATA_SQLITE_IMMUTABLE_H
#define GBX_MCP_DATA_SQLITE_IMMUTABLE_H

#include "base/buf.h"

#include <sys/stat.h>

typedef struct gbx_immutable {
    char *path;  /* without links: the log is beside the file itself */
    gbx_buf uri; /* as SQLite has it; ends in NUL */
    struct stat then;
} gbx_immutable;

/* False if it has a log with something in it, or cannot be looked at. *ret is to be cleaned
 * up in any case. */
bool gbx_immutable_look(const char *path, gbx_immutable *ret);

/* Is the file what it was then? */
bool gbx_immutable_lasts(const gbx_immutable *still);

void gbx_immutable_cleanup(gbx_immutable *still);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * still - a database whose log is empty, and its file as it lies: all there is of it is
 * there, and can be read without a lock and without a file beside it, in a folder where
 * nothing may be written too, for as long as nobody writes to it. Whether anybody did, the
 * size and the time of the file say afterwards.
 */
#ifndef GBX_MCP_DATA_STILL_H
#define GBX_MCP_DATA_STILL_H

#include "base/buf.h"

#include <sys/stat.h>

typedef struct gbx_still {
    char *path;  /* without links: the log is beside the file itself */
    gbx_buf uri; /* as SQLite has it; ends in NUL */
    struct stat then;
} gbx_still;

/* False if it has a log with something in it, or cannot be looked at. *ret is to be cleaned
 * up in any case. */
bool gbx_still_look(const char *path, gbx_still *ret);

/* Is the file what it was then? */
bool gbx_still_lasts(const gbx_still *still);

void gbx_still_cleanup(gbx_still *still);

#endif

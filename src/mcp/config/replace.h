/* SPDX-License-Identifier: MIT */
/* replace - a file of a person's gets new contents at once or not at all, and keeps what
 * it was beside it. */
#ifndef GBX_MCP_CONFIG_REPLACE_H
#define GBX_MCP_CONFIG_REPLACE_H

#include "policy/trusted_file.h"

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

/* How long a command waits for a lock; a server that others wait for has less time. */
#define GBX_FILE_LOCK_MS 2000

/*
 * Open the file at path to change it: until *ret_fd, which reads it, is closed, nobody
 * else gets it by this function. Sleeps until who has it lets it go, two seconds at most.
 * The lock is on the file that is there and needs none beside it; where there are no
 * locks, there is none. A file that is not to be trusted is refused, with EPERM.
 */
gbx_status gbx_file_lock(const char *path, gbx_trust trust, int *ret_fd,
                         gbx_error *reterr);
/* The same for a file that need not be there: the lock is on its folder. Who waited for it
 * may find one. Where nothing can be written, there is no lock, and *ret_fd stays. */
gbx_status gbx_file_lock_folder(const char *path, int wait_ms, int *ret_fd,
                                gbx_error *reterr);

/* The folder of the file at path, and those above it, for the user alone where they are
 * not there. */
void gbx_file_make_folders(const char *path);

/*
 * Write len bytes as the file at path; its mode stays, but for the bits in withheld, one
 * that is new has 0600. A symbolic link is followed. backup, if not NULL, gets the path under which the old
 * contents are now (never one that was there before), or "" if there were none.
 *
 * GBX_E_OS: nothing has changed, but for a backup perhaps.
 */
gbx_status gbx_file_replace(const char *path, const char *data, size_t len,
                            mode_t withheld, char backup[PATH_MAX], gbx_error *reterr);

#endif

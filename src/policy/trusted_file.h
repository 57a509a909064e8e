/* SPDX-License-Identifier: MIT */
/*
 * trusted_file - open a file whose contents decide: a policy, a configuration, a secret.
 *
 * Whoever can change such a file decides in the user's place. So it must belong to root or
 * to the effective user, and nobody else may write it. The same holds for every directory
 * and symbolic link on its path; a directory that others may write must have the sticky
 * bit or be mounted read-only, and what lies above the user's own $HOME does not count. Each
 * part of the path is opened relative to the one before and examined through its
 * descriptor, so that nothing can be exchanged in between. Access control lists are not
 * looked at: what they add shows in the bits of the group.
 *
 * A descriptor that is open already is the choice of whoever started us: a pipe behind
 * /dev/stdin or /dev/fd/N is taken, whoever made it.
 */
#ifndef GBX_POLICY_TRUSTED_FILE_H
#define GBX_POLICY_TRUSTED_FILE_H

#include "base/fail.h"

#include <stdbool.h>

typedef enum gbx_trust {
    GBX_TRUST_OWN, /* what only root and the user can change */
    GBX_TRUST_ALL, /* everything: nothing is examined */
} gbx_trust;

typedef struct gbx_trusted_file {
    const char *path;
    const char *what; /* for messages, before its path: "the policy ", or "" */
    int flags;        /* of open(), beside O_CLOEXEC and O_NOCTTY */
    gbx_trust trust;
    bool is_secret; /* others may not read it either, unless it is root's */
} gbx_trusted_file;

/*
 * GBX_E_OS if it cannot be opened, with EPERM if it is refused: the message then has the
 * command that repairs it. warning has GBX_ERROR_MESSAGE_SIZE bytes, or is NULL; it is ""
 * unless the file is taken although others may read it.
 */
gbx_status gbx_trusted_file_open(const gbx_trusted_file *file, int *ret_fd,
                                 char *warning, gbx_error *reterr);

#endif

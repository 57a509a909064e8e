/* SPDX-License-Identifier: MIT */
/*
 * security_log - where `--security-log` puts the engine's lines.
 *
 * A file is opened before the engine is made, appended to, and made readable for its
 * owner alone. A line is one write: several commands may share a file.
 */
#ifndef GBX_CLI_SECURITY_LOG_H
#define GBX_CLI_SECURITY_LOG_H

#include "base/fail.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A reader who takes nothing: what then? A file takes everything. */
typedef enum gbx_log_patience {
    GBX_LOG_WAITS,   /* he is waited for */
    GBX_LOG_GOES_ON, /* for a moment only; lines are left out until he reads again, and
                        that is said at the first */
} gbx_log_patience;

/* Zeroed: there is none. */
typedef struct gbx_security_log {
    int fd; /* with is_open */
    bool is_open;
    bool goes_on;
    bool says;     /* the first line that is not written, on standard error */
    bool is_stuck; /* with the lock: the last line was left out */
    bool is_torn;  /* with the lock: the last line was written in part */
    pthread_mutex_t lock;
    char *name;
    atomic_int error; /* errno of the first line that was not written */
} gbx_security_log;

/* path "-" is standard error. */
gbx_status gbx_security_log_open(gbx_security_log *log, const char *path,
                                 gbx_log_patience patience, gbx_error *reterr);

/* Have the engine that is made of options write here. */
void gbx_security_log_use(gbx_security_log *log, gbx_options *options);

/* After the engine is freed. Not GBX_OK if a line was not written. */
gbx_status gbx_security_log_close(gbx_security_log *log, gbx_error *reterr);

#endif

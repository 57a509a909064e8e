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

#include <stdatomic.h>
#include <stdbool.h>

/* Zeroed: there is none. */
typedef struct gbx_security_log {
    int fd; /* with is_open */
    bool is_open;
    const char *name; /* borrowed */
    atomic_int error; /* errno of the first line that was not written */
} gbx_security_log;

/* path "-" is standard error. */
gbx_status gbx_security_log_open(gbx_security_log *log, const char *path,
                                 gbx_error *reterr);

/* Have the engine that is made of options write here. */
void gbx_security_log_use(gbx_security_log *log, gbx_options *options);

/* After the engine is freed. Not GBX_OK if a line was not written. */
gbx_status gbx_security_log_close(gbx_security_log *log, gbx_error *reterr);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * record_file - the file of --record: opened before anything runs, so that a call is not
 * made whose recording cannot be kept, and never one that is there already.
 */
#ifndef GBX_CLI_RECORD_FILE_H
#define GBX_CLI_RECORD_FILE_H

#include "base/fail.h"

#include <glovebox/record.h>
#include <stdbool.h>

/* Zeroed: there is none. */
typedef struct gbx_record_file {
    gbx_recording *recording;
    const char *path; /* borrowed */
    int fd;
} gbx_record_file;

/* Only the owner may read it, and it is new: a link is no way around that. */
gbx_status gbx_record_file_open(gbx_record_file *file, const char *path,
                                bool keeps_input, gbx_error *reterr);

/* Write the recording and free it; if its call never ran, the file goes again. What is
 * not whole is said to be so. */
gbx_status gbx_record_file_close(gbx_record_file *file, gbx_error *reterr);

#endif

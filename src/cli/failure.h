/* SPDX-License-Identifier: MIT */
/*
 * failure - what a command failed at, printed the same way whoever noticed it: the host
 * (gbx_status), the code (gbx_code of a result) or the command itself.
 */
#ifndef GBX_CLI_FAILURE_H
#define GBX_CLI_FAILURE_H

#include "cli/term.h"

#include "base/fail.h"

typedef struct gbx_trouble {
    int exit; /* status to exit with; 0: there is none */
    const char
        *code; /* "MEMORY": as if a result had it; NULL for the host's failures */
    const char *name; /* "GBX_E_OS", "NO_INPUT"; with code NULL */
    const char *file; /* the position in err is in this file, or NULL; borrowed */
    const char *hint; /* constant, or NULL */
    gbx_error err;
} gbx_trouble;

/* The host's own failure, as the library reported it in trouble->err. */
void gbx_trouble_host(gbx_trouble *trouble, gbx_status status);

/* A file could not be read, as trouble->err says. */
void gbx_trouble_input(gbx_trouble *trouble, gbx_status status);

/* Something cannot be written, as trouble->err says. */
void gbx_trouble_output(gbx_trouble *trouble);

/* The input is at fault as if the worker had said so: trouble->err says why. */
void gbx_trouble_code(gbx_trouble *trouble, gbx_code code, const char *file);

/* `glovebox: MEMORY: message` with position and hint. */
void gbx_trouble_print(const gbx_term *term, const gbx_trouble *trouble);

/* {"ok":false,...}: "code" or "status", "error", and where. */
void gbx_trouble_print_json(const gbx_term *term, const gbx_trouble *trouble);

/* A result that is not a value: headline, position, frame, hint. */
void gbx_result_print_failure(const gbx_term *term, const gbx_result *result);

/* One console line of the code: `[warn] text`. */
void gbx_log_print(const gbx_term *term, const gbx_log *log);

#endif

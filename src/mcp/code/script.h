/* SPDX-License-Identifier: MIT */
/*
 * script - code in any shape that models write, as a script whose value is meant.
 *
 * A function that stands at the end is called with the input, and so is the one that is
 * exported as default; and run(), main() or execute() if nothing else does. Types are taken out. What the parser does not
 * understand stays as it is: the engine says what is wrong with it.
 */
#ifndef GBX_MCP_CODE_SCRIPT_H
#define GBX_MCP_CODE_SCRIPT_H

#include "base/fail.h"

#include <stdbool.h>

/* Of text before which something of ours stands. */
typedef struct gbx_script_insert {
    size_t offset; /* in what is run */
    size_t len;
} gbx_script_insert;

#define GBX_SCRIPT_INSERTS_MAX 16

typedef struct gbx_script {
    char *code; /* what is run, in the form script */
    size_t code_len;
    bool had_types;
    gbx_script_insert
        inserts[GBX_SCRIPT_INSERTS_MAX]; /* in order, without line breaks */
    size_t insert_count;
    size_t uncalled; /* in what was given: the name of a function that nothing calls */
    size_t uncalled_len; /* 0: there is none */
    uint32_t last_line;  /* of what was given */
    const char *message; /* constant: why it cannot be run, or NULL */
    const char *hint;    /* constant */
    uint32_t line;       /* of it, with column, from 1 */
    uint32_t column;
} gbx_script;

/* The input as an argument: where there is none, a default value stands in. */
#define GBX_SCRIPT_INPUT "input ?? undefined"

/* text is copied; arguments are what a function that is called gets: GBX_SCRIPT_INPUT, or
 * "data, input". Only GBX_E_NOMEM fails. */
gbx_status gbx_script_make(const char *text, size_t len, const char *arguments,
                           gbx_script *ret, gbx_error *reterr);

/* From a position in what was run to the one in what was given. */
void gbx_script_map(const gbx_script *script, uint32_t *line, uint32_t *column);

/* A zeroed one is nothing. */
void gbx_script_cleanup(gbx_script *script);

#endif

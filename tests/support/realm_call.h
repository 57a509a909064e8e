/* SPDX-License-Identifier: MIT */
/*
 * realm_call - run one call in a fork of this process, unsealed, and get back in text
 * how it ended.
 *
 * The text of an outcome is one of
 *
 *   [1,2]                                       a value, as JSON
 *   undefined                                   the value undefined
 *   THROWN TypeError: message @2:5              a failure, with position if known
 *   OOM THROWN RangeError: Out of memory @1:3   one that the engine raised itself
 *   SIGNAL 9                                    the child was killed (deadline)
 *
 * after one line "level|text" for each console line ("level#text" if it was cut).
 *
 * A stand-in for the host answers every request when the realm waits: like fetch with
 * status 200 and, as the body, JSON of what it was asked, {"name", "args", "body"}; or
 * as the options answer, body and fail say; with silent=1 not at all. Each request that
 * is withdrawn is a line "cancelled ID".
 */
#ifndef GBX_TESTS_REALM_CALL_H
#define GBX_TESTS_REALM_CALL_H

#include "realm/realm.h"

typedef struct realm_call {
    unsigned globals; /* gbx_globals */
    uint8_t form;
    const char *code;
    size_t code_len;
    const char *input;   /* NULL: none */
    const char *dataset; /* NULL: none */
    const char *bindings;
    const char *dataset_names[4];
    const char *datasets[4];
    unsigned dataset_count;
    gbx_realm_preload preloads[4];
    unsigned preload_count;
    uint32_t capabilities; /* beside console and timers */
    uint32_t withheld;     /* of them, what the call lacks */
    const char *entropy;   /* NULL: none */
    const char *env;       /* NULL: none */
    const char *answer;    /* JSON in place of a response's head */
    const char *body;      /* bytes in place of the echo */
    char *fail;            /* name|message|code: every request fails so */
    bool silent;
    bool console, timers, fixed;
    int64_t now_ms;
    uint64_t seed, output_bytes;
    uint32_t log_bytes, line, column;
    bool with_stack; /* a failure's frames follow it, one a line */
} realm_call;

#define REALM_CALL_INIT                                           \
    {                                                             \
        .console = true, .timers = true, .output_bytes = 1048576, \
        .log_bytes = 1048576, .line = 1, .column = 1              \
    }

/* Execute this program again in the environment that the host's spawn builds, unless
 * it is there already. First thing in main(). */
void realm_environment(char **argv);

/* "key=value": the members of a realm_call under short names, which realm_call.c lists;
 * preload=FILE, data.NAME=JSON, and now=MS, which fixes the clock. */
bool realm_call_option(realm_call *call, char *option);

/* Run in a fork, killed after deadline_ms (0: a minute). free() the text. */
char *realm_outcome(const realm_call *call, unsigned deadline_ms);

/* What the engine alone, not locked down, makes of (code)(): its value as JSON. free()
 * the text. */
char *realm_bare(const char *code);

#endif

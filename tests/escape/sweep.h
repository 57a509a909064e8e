/* SPDX-License-Identifier: MIT */
/*
 * sweep - every system call by its number, each in a fresh sealed process of the real
 * worker program. This is what the test checks and what docs/internals/syscalls.md shows.
 */
#ifndef GBX_TESTS_SWEEP_H
#define GBX_TESTS_SWEEP_H

#include "engine/engine.h"

#include <stdbool.h>
#include <stdio.h>

#define GBX_SWEEP_COUNT 1024

typedef enum gbx_swept_how {
    GBX_SWEPT_LOST, /* no answer: the run is worth nothing */
    GBX_SWEPT_KILLED,
    GBX_SWEPT_RETURNED,
    GBX_SWEPT_EXITED, /* the call itself ended the process, in order */
    GBX_SWEPT_DIED,   /* of a signal that is not the filter's */
} gbx_swept_how;

typedef struct gbx_swept {
    gbx_swept_how how;
    long value; /* RETURNED: the result, or -errno */
} gbx_swept;

/* Call number in a fresh process. */
gbx_swept gbx_sweep_one(gbx_attack_session *session, unsigned number);

/* The same call by the table: what it should come to. */
gbx_swept gbx_sweep_expected(unsigned number);

/* The kernel lets the call pass by every filter; it comes to nothing all the same. */
bool gbx_sweep_is_unfiltered(unsigned number);

/* docs/internals/syscalls.md, from a run. False if a call was lost. */
bool gbx_sweep_print(FILE *to, const gbx_swept swept[GBX_SWEEP_COUNT]);

#endif

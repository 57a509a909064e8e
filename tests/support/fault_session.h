/* SPDX-License-Identifier: MIT */
/*
 * fault_session - the whole life of an engine, in which something is made to fail:
 * made, given a dataset, a call executed, one submitted, one aborted, reported, freed.
 *
 * Whatever fails: a clean status or a code that says so; every submitted call ends
 * once; afterwards the engine answers; nothing is left of it when it is freed.
 */
#ifndef GBX_TESTS_FAULT_SESSION_H
#define GBX_TESTS_FAULT_SESSION_H

#include <stdbool.h>
#include <stddef.h>

/* What fails, the nth time: armed, and disarmed again (true if it did fail). */
typedef struct fault {
    void (*arm)(const void *what, size_t nth);
    bool (*disarm)(void);
    const void *what;
    const char *name;
    bool
        is_real; /* with the worker program; else one that starts sooner, and calls that
                   * are not checked */
} fault;

/* The session for nth = 1, 2, 3 ... until nothing fails; returns how often something
 * did. Asserts. */
size_t fault_sweep(const fault *f);

#endif

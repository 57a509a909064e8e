/* SPDX-License-Identifier: MIT */
/*
 * host_functions - functions of the host for tests: those that answer well, and those
 * that do to the library what hosts do by mistake.
 */
#ifndef GBX_TESTS_HOST_FUNCTIONS_H
#define GBX_TESTS_HOST_FUNCTIONS_H

#include <glovebox/host.h>
#include <stdatomic.h>
#include <stddef.h>

/* What the functions have seen and done since host_functions_expose(). */
typedef struct host_functions {
    atomic_size_t called;      /* requests that arrived */
    atomic_size_t answered;    /* answers that were taken */
    atomic_size_t closed;      /* answers that found nobody */
    atomic_size_t other;       /* answers that failed otherwise */
    atomic_uint_fast64_t last; /* number of the last request */
    gbx_engine *engine;
} host_functions;

/*
 * echo      the array of its arguments, at once
 * nothing   undefined, at once
 * fail      TypeError: no such table (ENOTABLE)
 * db.late   its first argument in milliseconds later, from another thread
 * db.never  no answer
 * db.twice  an answer at once and another at once
 * db.bad    what is not JSON
 * db.huge   a string of its first argument's number of bytes
 * db.keep   no answer, but the request's number is in last
 */
void host_functions_expose(host_functions *f, gbx_engine *engine); /* asserts */

/* Until the threads that answer late have ended; asserts. */
void host_functions_settle(host_functions *f);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * failing_calls - let the n-th system call of one kind fail, in the library, in its
 * threads and in what it forks before it executes another program.
 *
 * Calls of libc and of libevent into the kernel are not seen; libevent's own functions
 * that can fail are kinds too.
 */
#ifndef GBX_TESTS_FAILING_CALLS_H
#define GBX_TESTS_FAILING_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/* One way for one kind of call to fail. */
typedef struct failing_call {
    const char *name;
    int error; /* errno; for functions that return it, what they return */
} failing_call;

/* All that is wrapped, each with errors that it may meet. */
extern const failing_call failing_calls[];
extern const size_t failing_calls_count;

/* The nth call (from 1) of the kind and error of failing_calls[index] fails, once. */
void failing_calls_arm(size_t index, size_t nth);

/* All is well again. True if a call was made to fail since arming. */
bool failing_calls_disarm(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * failing_malloc - let the n-th allocation of the library fail.
 *
 * A program that links this has every malloc, calloc, realloc, reallocarray, strdup,
 * strndup and asprintf of its own objects (the library's among them, but not libc's)
 * counted, and libevent's too. Threads: arm and disarm from one; any thread may allocate
 * meanwhile.
 */
#ifndef GBX_TESTS_FAILING_MALLOC_H
#define GBX_TESTS_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

typedef enum failing_malloc_how {
    FAIL_ONCE,         /* that one, and all are well again */
    FAIL_FROM_THEN_ON, /* that one and all that follow, until disarmed */
} failing_malloc_how;

/* The nth allocation from now on fails; nth counts from 1. */
void failing_malloc_arm(size_t nth, failing_malloc_how how);

/* All is well again. True if an allocation was refused since arming. */
bool failing_malloc_disarm(void);

/* Have libevent allocate through us; before it is first used. */
void failing_malloc_take_libevent(void);

#endif

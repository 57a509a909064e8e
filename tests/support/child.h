/* SPDX-License-Identifier: MIT */
/*
 * child - checks for code that runs in a forked child of the test (see in_child()),
 * where asserts cannot be used: they say what failed and give false.
 */
#ifndef GBX_TESTS_CHILD_H
#define GBX_TESTS_CHILD_H

#include "calls.h"

#include <stdio.h>

#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            (void)dprintf(2, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            return false;                                                    \
        }                                                                    \
    } while (0)

/* A test that runs in a child, and gives whether it is right. */
#define CHILD_TEST(name)               \
    static bool in_child_##name(void); \
    TEST(name)                         \
    {                                  \
        in_child(in_child_##name);     \
    }                                  \
    static bool in_child_##name(void)

/* An engine with a small pool. */
bool child_engine(gbx_engine **ret);

/* Does the code give this JSON? Does it end so, in 150 ms? Does a call, any, work? */
bool child_gives(gbx_engine *engine, const char *code, const char *value);
bool child_ends_as(gbx_engine *engine, const char *code, gbx_code expected);
bool child_is_alive(void *engine); /* an until_fn */

/* One engine from start to end, with the ways a call can end that meet waitpid. */
bool child_life(void);

#endif

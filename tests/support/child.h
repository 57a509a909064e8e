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

/* A row in the table of tests: the function, of this name, in a child. Inside of a function. */
typedef struct child_test {
    bool (*fn)(void);
} child_test;
#define CHILD_TEST(name)                                 \
    {                                                    \
#        name, child_test_run, NULL, NULL, &(child_test) \
        {                                                \
            name                                         \
        }                                                \
    }
void child_test_run(void **state);

/* An engine of all defaults. */
bool child_engine(gbx_engine **ret);

/* Does the code give this JSON? Does it end so, in 150 ms? Does a call, any, work? */
bool child_gives(gbx_engine *engine, const char *code, const char *value);
bool child_ends_as(gbx_engine *engine, const char *code, gbx_code expected);
bool child_is_alive(void *engine); /* an until_fn */

/* One engine from start to end, with the ways a call can end that meet waitpid. */
bool child_life(void);

#endif

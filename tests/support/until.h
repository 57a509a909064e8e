/* SPDX-License-Identifier: MIT */
/* until - wait for what must come to be true, and let threads begin together. */
#ifndef GBX_TESTS_UNTIL_H
#define GBX_TESTS_UNTIL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Ask condition every few milliseconds until it holds or timeout_ms has passed. */
typedef bool (*until_fn)(void *user);
bool until(until_fn condition, void *user, int timeout_ms);

double now_ms(void);

/* Run fn in count threads that begin together; all have ended when it returns. Each is
 * called with user and its number. */
typedef void (*threads_fn)(void *user, size_t number);
void threads_run(size_t count, threads_fn fn, void *user);

#endif

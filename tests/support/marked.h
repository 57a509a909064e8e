/* SPDX-License-Identifier: MIT */
/*
 * marked - processes known by a variable of their environment, wherever they have gone:
 * a daemon that has forked twice and taken a session of its own has it still.
 */
#ifndef GBX_TESTS_MARKED_H
#define GBX_TESTS_MARKED_H

#include <stdbool.h>
#include <stddef.h>

/* "GBX_MARK=..." that nobody else has; in a buffer of the caller's, at least 64 bytes. */
void marked_name(char *text, size_t size);

/* Processes alive that have it, zombies not counted. */
size_t marked_count(const char *mark);

/* Send a signal to each of them. */
void marked_signal(const char *mark, int signal_number);

/* until_fn conditions; user is the mark. */
bool marked_some(void *mark);
bool marked_none(void *mark);

#endif

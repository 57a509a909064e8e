/* SPDX-License-Identifier: MIT */
/*
 * freed - was a text freed, that should have been wiped before? Every block is looked through
 * that the code which is linked statically frees; what a library frees itself is not seen,
 * neither then nor in a block that is made of it.
 */
#ifndef GBX_TESTS_FREED_H
#define GBX_TESTS_FREED_H

#include <stdbool.h>

/* From now on on this thread: head right before tail. Until freed_was_seen(). */
void freed_watch(const char *head, const char *tail);

bool freed_was_seen(void);

#endif

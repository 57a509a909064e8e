/* SPDX-License-Identifier: MIT */
/*
 * secret_memory - memory for secrets: not in core dumps, on pages of its own, wiped
 * before it is freed.
 *
 * It may be swapped out, and a debugger that may trace the process can read it.
 */
#ifndef GBX_BASE_SECRET_MEMORY_H
#define GBX_BASE_SECRET_MEMORY_H

#include <stddef.h>

/* Zeroed; NULL if memory is out. */
void *gbx_secret_memory_new(size_t size);

/* size as it was requested. NULL is ignored. */
void gbx_secret_memory_free(void *data, size_t size);

#endif

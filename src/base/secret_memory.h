/* SPDX-License-Identifier: MIT */
/*
 * secret_memory - memory for what is secret: it is in no core dump, shares its pages with
 * nothing else, and is wiped before it is given back.
 *
 * It may be swapped out, and a debugger that may trace the process reads it.
 */
#ifndef GBX_BASE_SECRET_MEMORY_H
#define GBX_BASE_SECRET_MEMORY_H

#include <stddef.h>

/* Zeroed; NULL if memory is out. */
void *gbx_secret_memory_new(size_t size);

/* size as it was asked for. NULL is ignored. */
void gbx_secret_memory_free(void *data, size_t size);

#endif

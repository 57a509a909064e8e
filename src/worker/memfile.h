/* SPDX-License-Identifier: MIT */
/* memfile - a file in memory, of no folder. */
#ifndef GBX_WORKER_MEMFILE_H
#define GBX_WORKER_MEMFILE_H

#include <stddef.h>

/* A file of so many bytes, all holes. Returns its descriptor, or -1: also where a process may
 * not make a file as large, since to try would be the end of it. */
int gbx_memfile_new(const char *name, size_t size);

#endif

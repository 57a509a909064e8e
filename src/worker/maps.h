/* SPDX-License-Identifier: MIT */
/*
 * maps - what this process has mapped, as the kernel lists it.
 *
 * The list is read to its end before anything is done with it: what is read must not move
 * under the reader. While there is a /proc; single-threaded.
 */
#ifndef GBX_WORKER_MAPS_H
#define GBX_WORKER_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GBX_MAPPING_NAME_MAX 48

typedef struct gbx_mapping {
    uintptr_t from;
    uintptr_t to;
    uint64_t offset; /* in its file, bytes */
    uint64_t file;   /* its number; 0: of no file */
    uint64_t own;    /* KiB that are no file's; only if they were asked for */
    int prot;        /* as mprotect() takes it */
    bool is_private;
    char name[GBX_MAPPING_NAME_MAX]; /* without the folder; longer ones are cut */
} gbx_mapping;

typedef struct gbx_maps {
    size_t count;
    gbx_mapping *list; /* by address */
} gbx_maps;

/* with_own takes the kernel a look at every page. Without a /proc or memory the list ends
 * early. Release with gbx_maps_free(). */
gbx_maps gbx_maps_read(bool with_own);
void gbx_maps_free(gbx_maps *maps);

/* Open /proc/self/pagemap, once, with the identity of the host: a process that may not be
 * traced, or that is another user, may not. */
void gbx_pagemap_open(void);

/* Its descriptor, -1 if it could not be opened. */
int gbx_pagemap(void);
void gbx_pagemap_close(void);

#endif

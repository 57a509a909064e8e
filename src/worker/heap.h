/* SPDX-License-Identifier: MIT */
/*
 * heap - room that workers grow into: reserved once in the template, never touched
 * there, and asked to be of huge pages.
 *
 * A sealed worker cannot advise the kernel about its memory, and a fault for each
 * 4 KiB of a large input costs more than reading it. The room counts as data of the
 * template, so the memory limit of a worker is lowered by it: what it grows into is
 * what it may have, and no more.
 */
#ifndef GBX_WORKER_HEAP_H
#define GBX_WORKER_HEAP_H

#include <stdint.h>

/* In the template, before anything large is allocated: what the engine allocates once is
 * part of the heap, not a mapping each that every fork has to copy. */
void gbx_heap_keep_together(void);

/* In the template, when its own heap has its size. Returns the bytes of room there are
 * now, at most `bytes` and 0 if there are none. */
uint64_t gbx_heap_reserve(uint64_t bytes);

/* In the template: take every free block below the top of the heap, so that what a
 * worker allocates lies side by side in few pages, and not where something old was
 * freed. What is taken is never given back. */
void gbx_heap_close_holes(void);

/* Where the heap begins, found while there is a /proc and known from then on; where what
 * is in use of it ends; and where its huge pages begin, or all of it ends. Of whole pages.
 * NULL: not known. */
char *gbx_heap_begin(void);
char *gbx_heap_used_end(void);
char *gbx_heap_small_end(void);

/* In a sealed worker, before something large is allocated: what follows comes from the
 * part of the room that is of huge pages. The rest stays taken, untouched. */
void gbx_heap_skip_small(void);

/* In a sealed worker, for a call that may have less: take up to `bytes` out of the room,
 * the huge pages first. Returns what was taken. */
uint64_t gbx_heap_lower(uint64_t bytes);

#endif

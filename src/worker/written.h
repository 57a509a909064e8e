/* SPDX-License-Identifier: MIT */
/*
 * written - which pages of the heap a child writes, found without /proc.
 *
 * A sealed template cannot look at page tables. What it loads changes where workers
 * allocate, so it asks once more: in a child whose heap is closed for writing, each page's
 * first write is a fault, which opens the page.
 */
#ifndef GBX_WORKER_WRITTEN_H
#define GBX_WORKER_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fork, let run(user) do what every worker does, and set ret_seen[i] for each page that it
 * writes among `count` pages from `from`, which begins a page of the heap. The caller ends
 * ret_seen with munmap(): it is `count` bytes. NULL: nothing is known. */
uint8_t *gbx_written_learn(char *from, size_t count, bool (*run)(void *user),
                           void *user);

#endif

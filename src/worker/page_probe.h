/* SPDX-License-Identifier: MIT */
/*
 * page_probe - which pages of some ranges a child touches, found by faults.
 *
 * A fork runs with the ranges closed, and each page's first fault opens that page. Closed
 * for reading as for writing it tells what is used; closed for writing alone, what is
 * written. It needs no /proc: a sealed template can still ask.
 */
#ifndef GBX_WORKER_PAGE_PROBE_H
#define GBX_WORKER_PAGE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GBX_RANGES_MAX 64

typedef struct gbx_range {
    uintptr_t from;
    uintptr_t to;
    int prot;     /* what it is opened to */
    size_t first; /* number of its first page among those of all ranges */
} gbx_range;

typedef struct gbx_ranges {
    size_t count;
    size_t pages; /* of all */
    gbx_range list[GBX_RANGES_MAX];
} gbx_ranges;

/* Of whole pages; none of this program, of the C library, of a stack: the handler runs
 * there. More than fit are left out, and so is what begins at 0: not known. */
void gbx_ranges_add(gbx_ranges *ranges, uintptr_t from, uintptr_t to, int prot);

/* Fork, let run(user) do what every worker does with the ranges closed to `closed`, and
 * give a byte for each of ranges->pages: not 0 if that page was touched. NULL: nothing is
 * known. To be released with gbx_page_probe_free(). */
uint8_t *gbx_page_probe_learn(const gbx_ranges *ranges, int closed,
                              bool (*run)(void *user), void *user);
void gbx_page_probe_free(uint8_t *touched, const gbx_ranges *ranges);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * pages - which pages every worker writes, so that it can ask for its copies at once.
 *
 * A fork shares all memory with the template until it writes: a small call writes
 * some 150 pages, always the same, and each costs a fault. Asking for them in runs is
 * cheaper. This is a matter of speed alone: a page too many or too few does no harm.
 */
#ifndef GBX_WORKER_PAGES_H
#define GBX_WORKER_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#define GBX_PAGE_RUNS_MAX 256

typedef struct gbx_pages {
    size_t count;
    struct gbx_page_run {
        char *start;
        size_t len; /* bytes */
    } runs[GBX_PAGE_RUNS_MAX];
} gbx_pages;

/* In the template, while there is a /proc: fork, let run(user) do what every worker
 * does, and see what it wrote. On any trouble nothing is learnt. */
void gbx_pages_learn(gbx_pages *pages, bool (*run)(void *user), void *user);

/* In a worker, before it is sealed. */
void gbx_pages_claim(const gbx_pages *pages);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * pages - which pages every worker writes, so that it has its copies from the start.
 *
 * A fork shares all memory with the template until it writes: a small call writes
 * some 95 pages, always the same, and each costs a fault. A page that is pinned in the
 * template is copied by the fork itself, for a third less; where nothing may be pinned, a
 * worker asks for its copies in runs. This is a matter of speed alone: a page too many or
 * too few does no harm.
 */
#ifndef GBX_WORKER_PAGES_H
#define GBX_WORKER_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#define GBX_PAGE_RUNS_MAX 256

typedef struct gbx_pages {
    size_t count;
    size_t lasting; /* of them: found while there was a /proc */
    bool may_pin;
    struct gbx_page_run {
        char *start;
        size_t len; /* bytes */
        bool of_file;
        bool pinned;
    } runs[GBX_PAGE_RUNS_MAX];
} gbx_pages;

/* In the template, while there is a /proc: fork, let run(user) do what every worker
 * does, and see what it wrote. On any trouble nothing is learnt. */
void gbx_pages_learn(gbx_pages *pages, bool (*run)(void *user), void *user);

/* The same for the heap alone, in a sealed template: its pages from begin to end. What was
 * found the first time stays, and what was found like this before is forgotten. */
void gbx_pages_learn_heap(gbx_pages *pages, char *begin, const char *end,
                          bool (*run)(void *user), void *user);

/* In the template: from now on forks copy what can be pinned.
 * Leaves one descriptor open, which must not reach a worker's code. */
void gbx_pages_pin(gbx_pages *pages);

/* In a worker, before it is sealed. */
void gbx_pages_claim(const gbx_pages *pages);

#endif

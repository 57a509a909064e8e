/* SPDX-License-Identifier: MIT */
/*
 * time_budget - how long all that a thread parses may take, together.
 *
 * Each parse has a bound of its own (tree.h). Who makes several of one text, or must go on
 * with something else, takes a patience for the thread; a parse that loses it gives up as
 * one that has reached its own bound. Processor time of the thread, not wall clock: a busy
 * machine must not change what is found.
 */
#ifndef GBX_GUARD_TIME_BUDGET_H
#define GBX_GUARD_TIME_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct gbx_time_budget {
    int64_t left_ns; /* for what is still to come; a zeroed one parses nothing */
    const atomic_bool *stop; /* true, from another thread: at once; or NULL */
    bool is_lost;            /* something was given up for it */
    int64_t until_ns;        /* the rest is its own */
    struct gbx_time_budget *outer;
} gbx_time_budget;

/* From now on, in this thread, until gbx_time_budget_end(); the one within counts. */
void gbx_time_budget_begin(gbx_time_budget *patience);
void gbx_time_budget_end(gbx_time_budget *patience);

/* Has this thread one, and is it lost? */
bool gbx_time_budget_is_over(void);

/* The processor time of this thread. */
int64_t gbx_time_budget_now_ns(void);

#endif

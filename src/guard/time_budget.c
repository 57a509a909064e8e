/* SPDX-License-Identifier: MIT */
/* time_budget - one per thread, like the arena: the parser's callbacks are called from
 * too deep to pass it. */
#include "guard/guard.h"

#include "base/clock.h"

#include <assert.h>
#include <stddef.h>
#include <time.h>

/* NULL except between begin and end; one function calls both, so nothing leaks. */
static _Thread_local gbx_time_budget *taken;

/* ---- public to other modules -------------------------------------------- */

void gbx_time_budget_begin(gbx_time_budget *patience)
{
    patience->is_lost = false;
    patience->until_ns =
        patience->left_ns > 0 ? gbx_time_budget_now_ns() + patience->left_ns : 0;
    patience->outer = taken;
    taken = patience;
}

void gbx_time_budget_end(gbx_time_budget *patience)
{
    assert(taken == patience);
    taken = patience->outer;
    if (patience->left_ns > 0)
        patience->left_ns = patience->until_ns - gbx_time_budget_now_ns();
}

bool gbx_time_budget_is_over(void)
{
    if (taken == NULL || taken->is_lost)
        return taken != NULL;
    if (taken->until_ns == 0 || (taken->stop != NULL && atomic_load(taken->stop)) ||
        gbx_time_budget_now_ns() >= taken->until_ns)
        taken->is_lost = true;
    return taken->is_lost;
}

int64_t gbx_time_budget_now_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000 * GBX_NS_PER_MS + now.tv_nsec;
}

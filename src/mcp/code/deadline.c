/* SPDX-License-Identifier: MIT */
/*
 * deadline - we keep a run's time limit, not the engine: it pauses while a person is
 * asked.
 */
#include "base/clock.h"
#include "mcp/code/script_run.h"

#include <event2/event.h>

/* The interval of checks, and so the precision of pauses. */
#define TICK_MS 250.0

static double elapsed_ms(const gbx_code_run *run)
{
    return (double)(gbx_clock_now_ns() - run->start_ns) / (double)GBX_NS_PER_MS;
}

static bool is_asking(const gbx_code_run *run)
{
    for (const gbx_nested_call *n = run->calls; n != NULL; n = n->next)
        if (n->passage != NULL && gbx_gate_is_asking(n->passage))
            return true;
    return false;
}

static void arm(gbx_code_run *run)
{
    double wait_ms = gbx_code_run_left_ms(run);
    struct timeval wait;

    if (wait_ms > TICK_MS)
        wait_ms = TICK_MS;
    wait.tv_sec = 0;
    wait.tv_usec = (suseconds_t)(wait_ms * 1000) + 1;
    (void)event_add(run->timer, &wait);
}

static void on_tick(evutil_socket_t fd, short what, void *user)
{
    gbx_code_run *run = user;
    double now_ms = elapsed_ms(run);

    (void)fd;
    (void)what;
    if (is_asking(run))
        run->paused_ms += now_ms - run->seen_ms;
    run->seen_ms = now_ms;
    if (gbx_code_run_left_ms(run) > 0) {
        arm(run);
        return;
    }
    run->is_late = true;
    gbx_code_run_stop(run);
}

/* ---- public to other files of this folder --------------------------------- */

double gbx_code_run_left_ms(const gbx_code_run *run)
{
    double left_ms = run->timeout_ms + run->paused_ms - elapsed_ms(run);

    return left_ms > 0 ? left_ms : 0;
}

bool gbx_code_run_watch(gbx_code_run *run)
{
    run->timer = event_new(gbx_mcp_loop_base(run->code->loop), -1, 0, on_tick, run);
    if (run->timer == NULL)
        return false;
    arm(run);
    return true;
}

void gbx_code_run_unwatch(gbx_code_run *run)
{
    if (run->timer != NULL)
        event_free(run->timer);
    run->timer = NULL;
}

/* SPDX-License-Identifier: MIT */
/* queue - running and waiting calls, by arrival. The engine's lock is held. */
#include "engine/engine.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

/* Overlapping calls at shorter intervals than this use all processors. */
#define LOAD_NS (INT64_C(2) * GBX_NS_PER_MS)

/* Note that a call came this long after the one before it. */
static void note_load(gbx_engine *engine, int64_t gap_ns)
{
    bool is_beside = engine->running.count > 1;

    if (gap_ns >= LOAD_NS)
        engine->load = 0;
    else if (is_beside && engine->load < 2 * engine->settings.options.pool_size)
        engine->load++;
    else if (!is_beside && engine->load > 0)
        engine->load--;
}

/* Count the call in the current sequence of calls without a pause. */
static void note_place(gbx_engine *engine)
{
    if (engine->running.count <= 1 &&
        engine->called_ns - engine->ended_ns >= GBX_PAUSE_NS)
        engine->place = 0;
    if (engine->place <= engine->settings.options.pool_size)
        engine->place++;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_queue_link(gbx_engine *engine, gbx_run *run)
{
    run->next = NULL;
    run->prev = engine->running.last;
    if (run->prev != NULL)
        run->prev->next = run;
    else
        engine->running.first = run;
    engine->running.last = run;
    engine->running.count++;
}

void gbx_queue_unlink(gbx_engine *engine, gbx_run *run)
{
    if (run->prev != NULL)
        run->prev->next = run->next;
    else
        engine->running.first = run->next;
    if (run->next != NULL)
        run->next->prev = run->prev;
    else
        engine->running.last = run->prev;
    engine->running.count--;
    engine->ended_ns = gbx_clock_now_ns();
    engine->calls_ended++;
    if (engine->is_closing)
        gbx_supervisor_wake(engine);
}

void gbx_queue_enter(gbx_engine *engine, gbx_run *run)
{
    run->queued_ns = gbx_clock_now_ns();
    note_load(engine, run->queued_ns - engine->called_ns);
    engine->called_ns = run->queued_ns;
    gbx_pool_note_call(engine, run->queued_ns);
    note_place(engine);
    run->deadline_ns = run->queued_ns + (int64_t)run->limits.timeout_ms * GBX_NS_PER_MS;
    if (atomic_load(&run->is_aborted))
        return;
    if (gbx_pool_take(engine, run) == NULL) {
        if (engine->failed_starts >= GBX_FAILED_STARTS_MAX)
            run->unserved = GBX_END_NO_WORKER;
        else if (engine->waiting.count >= engine->settings.options.queue_length)
            run->unserved = GBX_END_QUEUE_FULL;
        if (run->unserved != GBX_END_SAID)
            return;
        if (engine->waiting.last != NULL)
            engine->waiting.last->next_wait = run;
        else
            engine->waiting.first = run;
        engine->waiting.last = run;
        engine->waiting.count++;
        run->is_waiting = true;
    }
    /* A replacement is requested when the end of the call's worker is reported, off
     * every call's path. It is requested now only if a call waits, and during the
     * call if the next ones may have to wait. */
    if (run->is_waiting)
        gbx_pool_fill(engine);
    else
        run->leaves_few = engine->ready_count + engine->coming < (engine->kept + 1) / 2;
}

void gbx_queue_lacks(gbx_engine *engine, const char *what, int error)
{
    const char *reason = error != 0 ? strerror(error) : "";
    bool says_it = strstr(what, reason) != NULL;

    (void)snprintf(engine->lack, sizeof engine->lack, "%s%s%s", what,
                   says_it ? "" : ": ", says_it ? "" : reason);
}

void gbx_queue_remove(gbx_engine *engine, gbx_run *run)
{
    gbx_run *before = NULL;

    for (gbx_run *at = engine->waiting.first; at != NULL;
         before = at, at = at->next_wait) {
        if (at != run)
            continue;
        if (before != NULL)
            before->next_wait = run->next_wait;
        else
            engine->waiting.first = run->next_wait;
        if (engine->waiting.last == run)
            engine->waiting.last = before;
        engine->waiting.count--;
        run->next_wait = NULL;
        run->is_waiting = false;
        return;
    }
}

gbx_run *gbx_queue_pop(gbx_engine *engine)
{
    gbx_run *run = engine->waiting.first;

    if (run != NULL)
        gbx_queue_remove(engine, run);
    return run;
}

bool gbx_queue_fail_first(gbx_engine *engine, gbx_end how, const char *lack)
{
    gbx_run *run = gbx_queue_pop(engine);

    if (run == NULL)
        return false;
    run->unserved = how;
    (void)snprintf(run->lack, sizeof run->lack, "%s", lack);
    gbx_run_notify(run);
    return true;
}

void gbx_queue_fail_all(gbx_engine *engine)
{
    while (gbx_queue_fail_first(engine, GBX_END_NO_WORKER, ""))
        continue;
}

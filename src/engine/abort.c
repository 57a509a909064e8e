/* SPDX-License-Identifier: MIT */
/*
 * abort - switches that abort calls. Lock order: a signal's own lock, then the
 * engine's.
 */
#include "engine/engine.h"

#include <stdlib.h>

struct gbx_signal {
    pthread_mutex_t lock;
    bool is_thrown;
    gbx_run *runs;
};

/* ---- public to other modules -------------------------------------------- */

bool gbx_signal_attach(gbx_signal *signal, gbx_run *run)
{
    bool attached;

    (void)pthread_mutex_lock(&signal->lock);
    attached = !signal->is_thrown;
    if (attached) {
        run->next_signal = signal->runs;
        signal->runs = run;
    }
    (void)pthread_mutex_unlock(&signal->lock);
    return attached;
}

void gbx_signal_detach(gbx_signal *signal, gbx_run *run)
{
    (void)pthread_mutex_lock(&signal->lock);
    for (gbx_run **at = &signal->runs; *at != NULL; at = &(*at)->next_signal) {
        if (*at == run) {
            *at = run->next_signal;
            break;
        }
    }
    (void)pthread_mutex_unlock(&signal->lock);
}

/* ---- public API ---------------------------------------------------------- */

gbx_signal *gbx_signal_new(void)
{
    gbx_signal *signal = calloc(1, sizeof *signal);

    if (signal != NULL && pthread_mutex_init(&signal->lock, NULL) != 0) {
        free(signal);
        signal = NULL;
    }
    return signal;
}

void gbx_signal_abort(gbx_signal *signal)
{
    (void)pthread_mutex_lock(&signal->lock);
    signal->is_thrown = true;
    for (gbx_run *run = signal->runs; run != NULL; run = run->next_signal) {
        if (!gbx_engine_is_ours(run->engine))
            continue;
        (void)pthread_mutex_lock(&run->engine->lock);
        gbx_run_abort_locked(run);
        (void)pthread_mutex_unlock(&run->engine->lock);
    }
    (void)pthread_mutex_unlock(&signal->lock);
}

void gbx_signal_free(gbx_signal *signal)
{
    if (signal == NULL)
        return;
    (void)pthread_mutex_destroy(&signal->lock);
    free(signal);
}

void gbx_abort(gbx_engine *engine, gbx_ticket ticket)
{
    if (!gbx_engine_is_ours(engine))
        return;
    (void)pthread_mutex_lock(&engine->lock);
    for (gbx_run *run = engine->running.first; run != NULL; run = run->next) {
        if (run->ticket == ticket) {
            gbx_run_abort_locked(run);
            break;
        }
    }
    (void)pthread_mutex_unlock(&engine->lock);
}

/* SPDX-License-Identifier: MIT */
/*
 * template_restart - starts a new template for the engine's changed contents, where the
 * serving template cannot receive them, or should not. The old one serves until the new
 * one does, and stays if that fails.
 */
#include "engine/engine.h"

gbx_status gbx_template_restart(gbx_engine *engine, gbx_error *reterr)
{
    gbx_renewal mine = {.is_done = false};
    gbx_status status;

    engine->content_seq++; /* a template that starts with less must not serve */
    engine->is_loading = true;
    /* Removed again by gbx_template_restart_end(), or by the lines below. */
    /* cppcheck-suppress autoVariables */
    engine->renewal = &mine;
    gbx_supervisor_wake(engine);
    /* Whatever happens to the template, the supervisor bounds this wait. */
    while (!mine.is_done && !engine->is_closing)
        (void)pthread_cond_wait(&engine->changed, &engine->lock);
    engine->renewal = NULL;
    engine->is_loading =
        false; /* not earlier: nobody else may read the lists until then */
    gbx_pool_fill(engine);
    if (!mine.is_done)
        return gbx_fail(reterr, GBX_E_CLOSED, "the engine is being freed");
    status = mine.error.status;
    if (status != GBX_OK) {
        engine->content_seq++; /* the caller removes what it had added */
        if (reterr != NULL)
            *reterr = mine.error;
    }
    return status;
}

void gbx_template_restart_end(gbx_engine *engine, const gbx_template *t,
                              const gbx_error *error)
{
    gbx_renewal *r = engine->renewal;

    /* The waiting thread may wait for another template than this one. */
    if (r == NULL || (t != NULL && t->content_seq != engine->content_seq))
        return;
    if (error != NULL)
        r->error = *error;
    r->is_done = true;
    engine->renewal = NULL;
    (void)pthread_cond_broadcast(&engine->changed);
}

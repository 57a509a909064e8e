/* SPDX-License-Identifier: MIT */
/* engine - the handle: made, loaded with datasets, described, ended. */
#include "engine/engine.h"

#include "base/clock.h"
#include "fetch/libcurl.h"
#include "policy/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gbx_status init_locks(gbx_engine *engine, gbx_error *reterr)
{
    pthread_condattr_t attr;
    int e;

    if (pthread_mutex_init(&engine->lock, NULL) != 0)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot make a lock");
    if (pthread_condattr_init(&attr) != 0)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot make a condition");
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    e = pthread_cond_init(&engine->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    return e == 0 ? GBX_OK : gbx_fail(reterr, GBX_E_NOMEM, "cannot make a condition");
}

/* Wait until the first template serves or has failed. */
static gbx_status wait_for_start(gbx_engine *engine, gbx_error *reterr)
{
    gbx_status status;

    (void)pthread_mutex_lock(&engine->lock);
    while (!engine->has_started)
        (void)pthread_cond_wait(&engine->changed, &engine->lock);
    status = engine->start_error.status;
    if (status != GBX_OK && reterr != NULL)
        *reterr = engine->start_error;
    (void)pthread_mutex_unlock(&engine->lock);
    return status;
}

/* Ask every call, and then the supervisor, to end. */
static void close_engine(gbx_engine *engine)
{
    (void)pthread_mutex_lock(&engine->lock);
    engine->is_closing = true;
    for (gbx_run *run = engine->running.first; run != NULL; run = run->next)
        gbx_run_abort_locked(run);
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_supervisor_wake(engine);
    (void)pthread_join(engine->thread, NULL);
}

/* Free what remains of an engine whose thread has ended or never began. */
static void free_rest(gbx_engine *engine)
{
    if (engine->wake != NULL)
        event_free(engine->wake);
    if (engine->tick != NULL)
        event_free(engine->tick);
    if (engine->pause != NULL)
        event_free(engine->pause);
    if (engine->base != NULL)
        event_base_free(engine->base);
    gbx_confine_close(engine);
    gbx_fd_close(&engine->wake_fd);
    gbx_dataset_loader_free_all(&engine->datasets);
    gbx_dataset_loader_free_all(&engine->preloads);
    gbx_dataset_loader_drop_runner(engine);
    gbx_provider_end(engine);
    gbx_hostcalls_cleanup(engine);
    gbx_guard_cache_cleanup(&engine->known);
    gbx_audit_cleanup(engine);
    gbx_policy_free(engine->settings.options.policy);
    (void)pthread_cond_destroy(&engine->changed);
    (void)pthread_mutex_destroy(&engine->lock);
    engine->magic = 0;
    free(engine);
}

/* Reported now, not at the first request of some code. */
static gbx_status check_fetch(const gbx_engine *engine, gbx_error *reterr)
{
    gbx_libcurl lib;
    gbx_status status;

    if ((engine->settings.options.capabilities & GBX_CAP_FETCH) == 0)
        return GBX_OK;
    status = gbx_libcurl_load(&lib, reterr);
    if (status == GBX_OK)
        gbx_libcurl_unload(&lib);
    return status;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_engine_is_ours(const gbx_engine *engine)
{
    return engine->owner == getpid();
}

gbx_status gbx_engine_need(const gbx_engine *engine, gbx_error *reterr)
{
    if (engine == NULL || engine->magic != GBX_ENGINE_MAGIC)
        return gbx_fail(reterr, GBX_E_USAGE, "engine is not an engine");
    if (!gbx_engine_is_ours(engine))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "the engine belongs to the process that made it: a child of "
                        "fork() makes one of its own");
    return GBX_OK;
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_engine_new(const gbx_options *options, gbx_engine **ret_engine,
                          gbx_error *reterr)
{
    gbx_engine *engine;
    gbx_status status;

    if (ret_engine == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "ret_engine is missing");
    engine = calloc(1, sizeof *engine);
    if (engine == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the engine");
    engine->owner = getpid();
    engine->wake_fd = -1;
    gbx_cgroup_init(&engine->group);
    engine->load_seq = 1;
    engine->kept = 1;
    engine->demand_ns = gbx_clock_now_ns();
    status = gbx_settings_init(&engine->settings, options, reterr);
    if (status == GBX_OK)
        status = init_locks(engine, reterr);
    if (status == GBX_OK)
        status = gbx_guard_cache_init(&engine->known, reterr);
    if (status == GBX_OK)
        status = gbx_hostcalls_init(engine, reterr);
    if (status == GBX_OK)
        status = gbx_audit_init(engine, reterr);
    if (status != GBX_OK) {
        free(engine);
        return status;
    }
    if (engine->settings.options.policy != NULL)
        (void)gbx_policy_ref(engine->settings.options.policy);
    engine->magic = GBX_ENGINE_MAGIC;
    status = check_fetch(engine, reterr);
    if (status != GBX_OK) {
        free_rest(engine);
        return status;
    }
    status = gbx_dataset_loader_take_runner(engine, reterr);
    if (status == GBX_OK)
        status = gbx_preloads_init(engine, reterr);
    if (status == GBX_OK && engine->runner.execute == NULL)
        status = gbx_confine_open(engine, reterr);
    if (status == GBX_OK)
        status = gbx_supervisor_start(engine, reterr);
    if (status != GBX_OK) {
        if (engine->runner_library == NULL)
            engine->runner.dispose = NULL; /* still owned by the caller */
        free_rest(engine);
        return status;
    }
    if (engine->runner.execute == NULL)
        status = wait_for_start(engine, reterr);
    if (status != GBX_OK) {
        close_engine(engine);
        free_rest(engine);
        return status;
    }
    gbx_audit_engine_started(engine);
    *ret_engine = engine;
    return GBX_OK;
}

void gbx_engine_free(gbx_engine *engine)
{
    /* In a child of fork() its processes are the parent's; its memory ends with the
     * child. */
    if (engine == NULL || !gbx_engine_is_ours(engine))
        return;
    close_engine(engine);
    gbx_audit_engine_ended(engine);
    free_rest(engine);
}

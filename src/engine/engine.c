/* SPDX-License-Identifier: MIT */
/* engine - makes an engine, reports about it, and frees it. */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/json.h"
#include "fetch/libcurl.h"
#include "policy/policy.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- the parts of the report ----------------------------------------------------- */

static void put_layers(gbx_buf *to, const gbx_engine_facts *facts)
{
    gbx_json_put_open(to, "layers", '[');
    for (size_t i = 0; i < GBX_LAYER_COUNT; i++) {
        gbx_json_put_open(to, NULL, '{');
        gbx_json_put_text(to, "name", gbx_layers[i].name);
        gbx_json_put_bool(to, "stands", facts->layers[i].stands);
        gbx_json_put_bool(to, "required", gbx_layers[i].is_required);
        gbx_json_put_text(to, "what", gbx_layers[i].what);
        gbx_json_put_text(to, "reason", facts->layers[i].reason);
        (void)gbx_buf_puts(to, "}");
    }
    (void)gbx_buf_puts(to, "]");
}

static void put_pool(gbx_buf *to, const gbx_engine *engine)
{
    const gbx_options *o = &engine->settings.options;
    size_t cold = 0;

    for (const gbx_template *t = engine->templates; t != NULL; t = t->next)
        cold += t->is_cold;
    (void)gbx_buf_printf(
        to,
        ",\"pool\":{\"size\":%u,\"kept\":%u,\"ready\":%u,\"workers\":%u,\"maxWorkers\":%u,"
        "\"running\":%zu,\"waiting\":%zu,\"callsEnded\":%llu,\"templatesStarted\":%llu,"
        "\"coldTemplates\":%zu}",
        o->pool_size, engine->kept, engine->ready_count, engine->alive, o->max_workers,
        engine->running.count, engine->waiting.count,
        (unsigned long long)engine->calls_ended,
        (unsigned long long)engine->templates_started, cold);
    (void)gbx_buf_printf(
        to,
        ",\"limits\":{\"timeoutMs\":%u,\"cpuMs\":%u,\"memoryBytes\":%llu,"
        "\"outputBytes\":%llu,\"logBytes\":%u}",
        o->limits.timeout_ms, o->limits.cpu_ms,
        (unsigned long long)o->limits.memory_bytes,
        (unsigned long long)o->limits.output_bytes, o->limits.log_bytes);
}

/* Writes nothing without a group: the list of layers has the reason. */
static void put_group(gbx_buf *to, const gbx_cgroup *group)
{
    if (group->dir < 0)
        return;
    gbx_json_put_open(to, "cgroup", '{');
    gbx_json_put_text(to, "name", group->name);
    gbx_json_put_integer(to, "memoryBytes", (int64_t)group->limits.memory_bytes);
    gbx_json_put_integer(to, "processes", group->limits.processes);
    if (group->limits.cpu_percent > 0)
        gbx_json_put_integer(to, "cpuPercent", group->limits.cpu_percent);
    (void)gbx_buf_puts(to, "}");
}

static void put_datasets(gbx_buf *to, const gbx_engine *engine)
{
    gbx_json_put_open(to, "datasets", '[');
    for (const gbx_dataset *d = engine->datasets; d != NULL; d = d->next) {
        gbx_json_put_open(to, NULL, '{');
        gbx_json_put_text(to, "name", d->name);
        gbx_json_put_integer(to,
                             (d->format & 0x0F) < GBX_DATA_CSV ? "jsonBytes"
                                                               : "csvBytes",
                             (int64_t)d->size);
        (void)gbx_buf_puts(to, "}");
    }
    (void)gbx_buf_puts(to, "]");
}

/* ---- start and end -------------------------------------------------------------- */

/* Wait until the first template serves or has failed. */
static gbx_status wait_for_start(gbx_engine *engine, gbx_error *reterr)
{
    gbx_status status;

    (void)pthread_mutex_lock(&engine->lock);
    while (!engine->change.is_done && !gbx_engine_leases(engine))
        (void)pthread_cond_wait(&engine->changed, &engine->lock);
    engine->change.kind = GBX_CHANGE_NONE;
    status = engine->change.error.status;
    if (gbx_engine_leases(engine)) /* there is none; but preloads fail now, too */
        status = gbx_contents_renew(engine, engine->preloads != NULL, reterr);
    else if (status != GBX_OK && reterr != NULL)
        *reterr = engine->change.error;
    (void)pthread_mutex_unlock(&engine->lock);
    return status;
}

/* Abort every call, and wait for the supervisor to end. */
static void close_engine(gbx_engine *engine)
{
    gbx_run *run;

    (void)pthread_mutex_lock(&engine->lock);
    engine->is_closing = true;
    TAILQ_FOREACH(run, &engine->running.runs, link)
    gbx_run_abort_locked(run);
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_engine_wake(engine);
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
    gbx_cgroup_close(&engine->group);
    gbx_fd_close(&engine->wake_fd);
    gbx_loader_free_all(&engine->datasets);
    gbx_loader_free_all(&engine->preloads);
    gbx_snapshot_drop(engine->contents);
    /* The runner's library stays loaded: threads of its JavaScript engine live on. */
    if (engine->runner.dispose != NULL)
        engine->runner.dispose(engine->runner.user);
    gbx_provider_end(engine);
    gbx_hostcalls_cleanup(engine);
    gbx_guard_cache_cleanup(&engine->known);
    (void)pthread_mutex_destroy(&engine->audit.lock);
    gbx_policy_free(engine->settings.options.policy);
    (void)pthread_cond_destroy(&engine->changed);
    (void)pthread_mutex_destroy(&engine->lock);
    engine->magic = 0;
    free(engine);
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_engine_new(const gbx_options *options, gbx_engine **ret_engine,
                          gbx_error *reterr)
{
    return gbx_engine_start(options, NULL, ret_engine, reterr);
}

gbx_status gbx_engine_start(const gbx_options *options, const gbx_contents *contents,
                            gbx_engine **ret_engine, gbx_error *reterr)
{
    gbx_engine *engine;
    gbx_libcurl lib;
    gbx_status status;
    bool has_thread;

    if (ret_engine == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "ret_engine is missing");
    engine = calloc(1, sizeof *engine);
    if (engine == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the engine");
    engine->owner = getpid();
    engine->wake_fd = -1;
    gbx_cgroup_init(&engine->group);
    gbx_queues_init(engine);
    engine->load_seq = 1;
    engine->kept = 1;
    engine->demand_ns = gbx_clock_now_ns();
    engine->lock = engine->known.lock = engine->hostcalls.lock = engine->audit.lock =
        (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    engine->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    status = gbx_settings_init(&engine->settings, options, reterr);
    if (status == GBX_OK)
        status = gbx_audit_init(engine, reterr);
    if (status != GBX_OK) {
        free(engine);
        return status;
    }
    if (engine->settings.options.policy != NULL)
        (void)gbx_policy_ref(engine->settings.options.policy);
    engine->magic = GBX_ENGINE_MAGIC;
    if (contents != NULL) { /* for the log */
        (void)gethostname(engine->machine, sizeof engine->machine - 1);
    } else if ((engine->settings.options.capabilities & GBX_CAP_FETCH) != 0) {
        /* Fail now if libcurl is missing, not at a call's first fetch. */
        status = gbx_libcurl_load(&lib, reterr);
        if (status == GBX_OK)
            gbx_libcurl_unload(&lib);
    }
    if (status != GBX_OK) {
        free_rest(engine);
        return status;
    }
    status = gbx_runner_init(engine, reterr);
    if (status == GBX_OK)
        status = gbx_loader_preloads_init(engine, reterr);
    if (status == GBX_OK && contents != NULL)
        status = gbx_loader_contents_init(engine, contents, reterr);
    if (status == GBX_OK && engine->runner.name == NULL)
        status = gbx_confine_open(engine, reterr);
    if (status == GBX_OK)
        status = gbx_supervisor_start(engine, reterr);
    has_thread = status == GBX_OK;
    if (has_thread && engine->runner.execute == NULL)
        status = wait_for_start(engine, reterr);
    if (status != GBX_OK) {
        if (has_thread)
            close_engine(engine);
        if (engine->runner_library == NULL)
            engine->runner.dispose = NULL; /* still owned by the caller */
        free_rest(engine);
        return status;
    }
    gbx_audit_engine_started(engine);
    *ret_engine = engine;
    return GBX_OK;
}

void gbx_engine_free(gbx_engine *engine)
{
    /* In a child of fork(), the engine's processes belong to the parent, and its memory
     * is freed with the child. */
    if (engine == NULL || !gbx_engine_is_ours(engine))
        return;
    close_engine(engine);
    gbx_audit_engine_ended(engine);
    free_rest(engine);
}

gbx_status gbx_engine_report(gbx_engine *engine, char **ret_json, gbx_error *reterr)
{
    static const char *const jits[] = {"default", "full", "baseline", "off", "long"};
    const gbx_options *o;
    const gbx_engine_facts *facts;
    struct utsname uts = {.release = ""};
    struct tm tm = {0};
    const char *day;
    gbx_status status = gbx_engine_need(engine, reterr);
    gbx_buf buf = {.ceiling = GBX_MIB(1)};

    if (status != GBX_OK)
        return status;
    if (ret_json == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "ret_json is missing");
    o = &engine->settings.options;
    facts = &engine->facts;
    (void)uname(&uts);
    (void)pthread_mutex_lock(&engine->lock);
    gbx_json_put_open(&buf, NULL, '{');
    gbx_json_put_text(&buf, "version", GBX_VERSION);
    gbx_json_put_text(&buf, "runner",
                      engine->runner.name != NULL ? engine->runner.name : "process");
    gbx_json_put_bool(&buf, "isolated", engine->runner.execute == NULL);
    gbx_json_put_text(&buf, "kernel", uts.release);
    gbx_json_put_text(&buf, "kernelNeeded", GBX_LINUX_MIN);
    gbx_json_put_text(&buf, "libevent", event_get_version());
    gbx_json_put_text(&buf, "worker", o->worker_path != NULL ? o->worker_path : "");
    gbx_json_put_text(&buf, "jit", jits[o->jit]);
    gbx_json_put_text(&buf, "require",
                      o->require == GBX_REQUIRE_STRICT ? "strict" : "default");
    gbx_json_put_text(&buf, "fresh", o->fresh == GBX_FRESH_EXEC ? "exec" : "fork");
    gbx_json_put_text(&buf, "globals",
                      o->globals == GBX_GLOBALS_MINIMAL ? "minimal" : "standard");
    if (facts->known) {
        gbx_json_put_text(&buf, "engine", facts->engine);
        /* "JavaScriptCore 2.50.6 of 2026-06-30" */
        day = strrchr(facts->engine, ' ');
        if (day != NULL && strptime(day + 1, "%F", &tm) != NULL)
            gbx_json_put_integer(&buf, "engineDays",
                                 (time(NULL) - timegm(&tm)) / 86400);
        if (facts->user[0] != 0) {
            gbx_json_put_text(&buf, "user", facts->user);
            gbx_json_put_text(&buf, "addressLayout", facts->layout);
            gbx_json_put_text(&buf, "speculation", facts->speculation);
            gbx_json_put_text(&buf, "timeZones", facts->time_zones);
        }
        gbx_json_put_integer(&buf, "threads", facts->threads);
        gbx_json_put_integer(&buf, "landlockAbi", facts->landlock_abi);
        gbx_json_put_bool(&buf, "writableCode", facts->jit_page);
        gbx_json_put_bool(&buf, "knowsOutOfMemory", facts->oom_known);
        put_layers(&buf, facts);
    }
    put_pool(&buf, engine);
    put_group(&buf, &engine->group);
    put_datasets(&buf, engine);
    (void)gbx_buf_puts(&buf, "}");
    (void)pthread_mutex_unlock(&engine->lock);
    *ret_json = gbx_buf_take_string(&buf, NULL);
    return *ret_json != NULL
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_NOMEM, "no memory for the report");
}

/* SPDX-License-Identifier: MIT */
/* engines - what an engine for each request, or for each tenant, costs. */
#include "bench/bench.h"

#include "base/clock.h"
#include "base/fail.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define RUNS    15
#define FIRST   6 /* engines until one is a fork of the zygote */
#define AT_ONCE 64
#define TENANTS 256
#define IDLE_MS 3000 /* an engine that nobody calls then keeps one worker */

/* One engine with options and one call. *ret_ms: from its making to the result. */
static gbx_engine *make_and_call(const gbx_options *options, double *ret_ms,
                                 gbx_error *reterr)
{
    gbx_call call = GBX_CALL_INIT;
    gbx_engine *engine = NULL;
    int64_t before = gbx_clock_now_ns();

    call.code = "() => 1";
    call.code_len = strlen(call.code);
    if (gbx_engine_new(options, &engine, reterr) == GBX_OK &&
        gbx_bench_call(engine, &call, GBX_CODE_VALUE, reterr) >= 0) {
        *ret_ms = (double)(gbx_clock_now_ns() - before) / 1e6;
        return engine;
    }
    gbx_engine_free(engine);
    return NULL;
}

/* Engines one after the other; `are_first`: each finds a process that has made none. */
static void one_by_one(gbx_bench *bench, bool are_first, const char *id,
                       const char *label)
{
    gbx_error err = {0};
    double ms[RUNS];

    gbx_zygote_end();
    for (size_t i = 0; i < RUNS + FIRST; i++) {
        gbx_engine *engine;

        if (are_first)
            gbx_zygote_end();
        engine = make_and_call(bench->options, &ms[i < FIRST ? 0 : i - FIRST], &err);
        if (engine == NULL) {
            gbx_bench_skip(bench, id, label, err.message);
            return;
        }
        gbx_engine_free(engine);
    }
    gbx_bench_add(bench, id, label, gbx_bench_percentile(ms, RUNS, 0.5), "ms");
}

typedef struct maker {
    const gbx_options *options;
    gbx_engine *engine;
    gbx_error err;
    pthread_t thread;
    bool has_thread;
} maker;

static void *make(void *arg)
{
    maker *m = arg;
    double ms;

    m->engine = make_and_call(m->options, &ms, &m->err);
    return NULL;
}

static void at_once(gbx_bench *bench)
{
    static const char id[] = "engines_at_once";
    static const char label[] = "64 engines made and called at once";
    static maker all[AT_ONCE];
    const char *reason = NULL;
    int64_t before = gbx_clock_now_ns();
    double ms;

    for (size_t i = 0; i < AT_ONCE; i++) {
        all[i] = (maker){.options = bench->options};
        all[i].has_thread = pthread_create(&all[i].thread, NULL, make, &all[i]) == 0;
    }
    for (size_t i = 0; i < AT_ONCE; i++)
        if (all[i].has_thread)
            (void)pthread_join(all[i].thread, NULL);
    ms = (double)(gbx_clock_now_ns() - before) / 1e6;
    for (size_t i = 0; i < AT_ONCE; i++) {
        if (all[i].engine == NULL)
            reason = all[i].has_thread ? all[i].err.message : "no thread";
        gbx_engine_free(all[i].engine);
    }
    if (reason != NULL)
        gbx_bench_skip(bench, id, label, reason);
    else
        gbx_bench_add(bench, id, label, ms, "ms");
}

/* Each has served a call and is idle. */
static void tenants(gbx_bench *bench)
{
    static const char label[] = "256 idle engines that served a call, processes";
    static const char label_of_memory[] = "the same, memory of each (PSS)";
    static gbx_engine *engines[TENANTS];
    gbx_error err = {0};
    size_t made = 0;
    double ms;

    while (made < TENANTS) {
        engines[made] = make_and_call(bench->options, &ms, &err);
        if (engines[made] == NULL)
            break;
        made++;
    }
    if (made == TENANTS) {
        size_t processes;
        double mib;

        gbx_bench_settle(IDLE_MS);
        mib = gbx_bench_descendants(&processes);
        gbx_bench_add(bench, "idle_engines_processes", label, (double)processes, "");
        if (mib < 0)
            gbx_bench_skip(bench, "idle_engine_pss", label_of_memory,
                           "a process is closed to inspection: only root may look");
        else
            gbx_bench_add(bench, "idle_engine_pss", label_of_memory, mib / TENANTS,
                          "MiB");
    } else {
        gbx_bench_skip(bench, "idle_engines_processes", label, err.message);
        gbx_bench_skip(bench, "idle_engine_pss", label_of_memory, err.message);
    }
    while (made > 0)
        gbx_engine_free(engines[--made]);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_bench_engines(gbx_bench *bench)
{
    one_by_one(bench, true, "engine_first",
               "first engine of a process, to its first result");
    one_by_one(bench, false, "engine_next", "one more engine, to its first result");
    at_once(bench);
    tenants(bench);
}

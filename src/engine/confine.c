/* SPDX-License-Identifier: MIT */
/*
 * confine - the engine's control group and the size of its limits. Processes within
 * their own limits never reach them, unless the options or the machine set less.
 */
#include "engine/engine.h"

#include "base/clock.h"

/* Memory of a worker beyond its limit: the engine's reserve for the shapes of objects,
 * stack, page tables. */
#define WORKER_EXTRA GBX_MIB(48)

/* Memory of a template without datasets, including its file pages. */
#define TEMPLATE_BYTES GBX_MIB(128)

/* Templates alive at once: one serves, one is starting, retired ones still have
 * calls. */
#define TEMPLATES 4

/* Ratio of a dataset's memory as objects to its length as JSON; `[{},{},...]` is the
 * worst case. */
#define DATASET_FACTOR 32

/* Other processes than workers and templates: first children of starts, seal proofs. */
#define PROCESSES_EXTRA 32

/* How often the machine's out-of-memory kills are counted if there is no group. */
#define LOOK_NS (INT64_C(10000) * GBX_NS_PER_MS)

static uint32_t templates_at_once(const gbx_options *o)
{
    return o->fresh == GBX_FRESH_EXEC ? TEMPLATES + o->max_workers : TEMPLATES;
}

static uint64_t dataset_bytes(const gbx_engine *engine)
{
    uint64_t sum = 0;

    for (const gbx_dataset *d = engine->datasets; d != NULL; d = d->next)
        sum += d->size;
    return sum;
}

/* ---- to the other files of this folder ---------------------------------- */

uint64_t gbx_confine_memory(const gbx_options *o, uint64_t bytes)
{
    if (o->total_memory_bytes > 0)
        return o->total_memory_bytes;
    return o->max_workers * (o->limits.memory_bytes + WORKER_EXTRA) +
           templates_at_once(o) * (TEMPLATE_BYTES + DATASET_FACTOR * bytes);
}

gbx_status gbx_confine_open(gbx_engine *engine, gbx_error *reterr)
{
    const gbx_options *o = &engine->settings.options;
    gbx_cgroup_limits limits = {
        .memory_bytes = gbx_confine_memory(o, dataset_bytes(engine)),
        .processes = o->max_workers + templates_at_once(o) + PROCESSES_EXTRA,
        .cpu_percent = (uint32_t)o->total_cpu_percent,
    };

    if (gbx_cgroup_open(&engine->group, &gbx_cgroup_here, &limits))
        return GBX_OK;
    gbx_confine_tick(engine);
    if (o->total_memory_bytes > 0 || o->total_cpu_percent > 0)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "options.%s needs a control group: %s",
                        o->total_memory_bytes > 0 ? "total_memory_bytes"
                                                  : "total_cpu_percent",
                        engine->group.reason);
    return GBX_OK;
}

void gbx_confine_tick(gbx_engine *engine)
{
    int64_t now = gbx_clock_now_ns();

    if (engine->group.dir >= 0 ||
        (engine->kills_ns != 0 && now - engine->kills_ns < LOOK_NS))
        return;
    engine->kills = gbx_cgroup_kills_everywhere(&gbx_cgroup_here);
    engine->kills_ns = now;
}

gbx_shortage gbx_confine_shortage(gbx_engine *engine)
{
    if (engine->group.dir >= 0)
        return gbx_cgroup_take_kill(&engine->group) ? GBX_SHORTAGE_GROUP
                                                    : GBX_SHORTAGE_NONE;
    if (gbx_cgroup_kills_everywhere(&gbx_cgroup_here) <= engine->kills)
        return GBX_SHORTAGE_NONE;
    engine->kills++;
    return GBX_SHORTAGE_MACHINE;
}

void gbx_confine_weigh(gbx_engine *engine)
{
    (void)gbx_cgroup_allow(&engine->group, gbx_confine_memory(&engine->settings.options,
                                                              dataset_bytes(engine)));
}

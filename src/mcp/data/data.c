/* SPDX-License-Identifier: MIT */
/* data - creates `compute` and its datasets, and takes the results of the loader. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fail.h"
#include "mcp/data/datasets.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Characters of all short descriptions, in equal shares. An item that begins within its
 * share is completed; compute_tool.c leaves out what exceeds its own limit. */
#define DESCRIPTIONS_MAX 900
#define DESCRIPTION_MIN  120

/* Interval for retrying a locked database: unlocking it may not change the file. */
#define HELD_MS 3000

/* Limits of all kept values that were too long to show. */
#define ARTIFACT_BYTES (UINT64_C(64) << 20)
#define ARTIFACT_MS    3600000

/* The output limit if the caller sets none: replies are cut, the rest is kept. */
#define OUTPUT_BYTES (UINT64_C(10) << 20)
#define CODE_BYTES   51200

/* Minimum limits of a description. */
#define DESCRIBE_MS         10000
#define DESCRIBE_BYTES      GBX_MIB(4)
#define DESCRIBE_CODE_BYTES 65536

static void on_again(void *user)
{
    gbx_mcp_data *d = user;

    for (size_t i = 0; i < d->count; i++)
        if (d->sets[i].is_held)
            gbx_data_loader_want(&d->loader, i, GBX_SOURCE_WHOLE);
}

static void take_dataset(gbx_mcp_data *d, gbx_load_outcome *o)
{
    gbx_dataset_state *set = &d->sets[o->index];
    bool was_loaded = set->is_loaded;
    bool had_problem = set->problem[0] != 0;

    if (o->told.type != NULL) {
        gbx_told_cleanup(&set->told);
        set->told = o->told;
        o->told = (gbx_told){0};
        if (set->told.lost != NULL)
            gbx_mcp_warn("'--show %s.%s': no record has such a field", set->spec.name,
                         set->told.lost);
    }
    set->is_settled = true;
    set->is_loaded |= o->kind == GBX_LOAD_LOADED;
    memcpy(set->problem, o->problem, sizeof set->problem);
    set->is_held = o->kind == GBX_LOAD_HELD;
    if (o->kind == GBX_LOAD_REFUSED || o->kind == GBX_LOAD_HELD)
        gbx_mcp_warn("dataset '%s': %s%s", set->spec.name, set->problem,
                     set->is_loaded ? "; what was read before stays" : "");
    if (set->is_held && !gbx_mcp_timer_is_set(&d->again))
        gbx_mcp_timer_set(&d->again, HELD_MS);
    gbx_offer_all(d);
    if (was_loaded && (o->kind != GBX_LOAD_UNCHANGED || had_problem))
        gbx_mcp_server_resource_updated(d->server, set->uri);
}

static void on_changed(void *user, size_t index, gbx_source_extent extent)
{
    gbx_mcp_data *d = user;

    gbx_data_loader_want(&d->loader, index, extent);
}

/* ---- scripts --------------------------------------------------------------------- */

static const char *name_at(void *user, size_t index)
{
    const gbx_mcp_data *d = user;

    return d->sets[index].spec.name;
}

static bool is_pending(void *user, const char *code, size_t len)
{
    const gbx_mcp_data *d = user;

    for (size_t i = 0; i < d->count; i++)
        if (!d->sets[i].is_settled && gbx_data_may_read(&d->sets[i], code, len))
            return true;
    return false;
}

/* The engine has started after failures: nothing was loaded before. */
static void reload(void *user)
{
    gbx_mcp_data *d = user;

    for (size_t i = 0; i < d->count; i++) {
        d->sets[i].is_settled = false;
        gbx_data_loader_want(&d->loader, i, GBX_SOURCE_WHOLE);
    }
}

/* ---- creation -------------------------------------------------------------------- */

static gbx_status take_specs(gbx_mcp_data *d, const char *const *specs, size_t count,
                             gbx_error *reterr)
{
    if (count > GBX_DATASETS_MAX)
        return gbx_fail(reterr, GBX_E_USAGE, "there are more than %d datasets",
                        GBX_DATASETS_MAX);
    d->sets = gbx_need(calloc(count, sizeof *d->sets));
    for (size_t i = 0; i < count; i++) {
        gbx_status status = gbx_spec_parse(specs[i], &d->sets[i].spec, reterr);

        if (status != GBX_OK)
            return status;
        if (gbx_data_find(d, d->sets[i].spec.name) != NULL) {
            status = gbx_fail(reterr, GBX_E_USAGE, "there are two datasets named '%s'",
                              d->sets[i].spec.name);
            gbx_spec_cleanup(&d->sets[i].spec);
            return status;
        }
        d->count = i + 1;
        (void)snprintf(d->sets[i].uri, sizeof d->sets[i].uri, "glovebox://dataset/%s",
                       d->sets[i].spec.name);
    }
    return GBX_OK;
}

static gbx_status check_shown(const gbx_mcp_data *d, gbx_error *reterr)
{
    for (size_t i = 0; i < d->shown.count; i++) {
        const char *field = d->shown.fields[i];
        size_t len = strcspn(field, ".");
        bool is_known = false;

        for (size_t k = 0; k < d->count; k++)
            is_known |= strlen(d->sets[k].spec.name) == len &&
                        strncmp(field, d->sets[k].spec.name, len) == 0;
        if (!is_known)
            return gbx_fail(reterr, GBX_E_USAGE, "'--show %s': unknown dataset '%.*s'",
                            field, (int)len, field);
    }
    return GBX_OK;
}

static void arrived(gbx_mcp_data *d, gbx_load_outcome *o)
{
    take_dataset(d, o);
    if (d->is_held && gbx_data_is_ready(d, NULL)) {
        d->is_held = false;
        gbx_mcp_server_release(d->server);
    }
    gbx_box_go_on(d->box);
}

/* ---- limits ---------------------------------------------------------------------- */

/* The limits of a call of `compute`: options, lowered by the policy, or defaults. */
static gbx_limits limits_of(const gbx_options *options)
{
    gbx_limits limits = options->limits;

    if (options->policy != NULL)
        gbx_limits_lower(&limits, &options->policy->limits);
    if (limits.output_bytes == 0)
        limits.output_bytes = OUTPUT_BYTES;
    if (limits.code_bytes == 0)
        limits.code_bytes = CODE_BYTES;
#define COMPLETE(field, name, standard, least, most) \
    if (limits.field == 0)                           \
        limits.field = (standard);
    GBX_LIMIT_MAP(COMPLETE)
#undef COMPLETE
    if (limits.cpu_ms == 0)
        limits.cpu_ms = limits.timeout_ms;
    return limits;
}

gbx_limits gbx_mcp_data_limits(const gbx_options *options)
{
    gbx_limits limits = limits_of(options);

#define RAISE(name, least)     \
    if (limits.name < (least)) \
    limits.name = (least)
    RAISE(timeout_ms, DESCRIBE_MS);
    RAISE(cpu_ms, DESCRIBE_MS);
    RAISE(output_bytes, DESCRIBE_BYTES);
    RAISE(code_bytes, DESCRIBE_CODE_BYTES);
#undef RAISE
    if (options->policy != NULL)
        gbx_limits_lower(&limits, &options->policy->limits);
    return limits;
}

static gbx_status start(gbx_mcp_data *d, gbx_error *reterr)
{
    const gbx_spec *specs[GBX_DATASETS_MAX];
    gbx_options own = d->options;
    gbx_status status;

    if (d->is_alone) {
        own.limits = d->describing;
        d->box = gbx_box_new(d->loop, &own, NULL, 0);
        d->artifacts = gbx_artifacts_new(ARTIFACT_BYTES, ARTIFACT_MS);
        (void)gbx_artifacts_offer(d->server, d->artifacts);
    }
    if (d->box == NULL)
        return gbx_fail(reterr, GBX_E_OS, "cannot start a thread for an engine");
    gbx_box_on_restart(d->box, reload, d);
    gbx_mcp_timer_init(&d->again, d->loop, on_again, d);
    d->loader.room = DESCRIPTIONS_MAX / d->count;
    if (d->loader.room < DESCRIPTION_MIN)
        d->loader.room = DESCRIPTION_MIN;
    for (size_t i = 0; i < d->count; i++)
        specs[i] = &d->sets[i].spec;
    /* Before the first read, or a change in between would be missed. */
    d->watch = gbx_data_watch_new(d->loop, specs, d->count, on_changed, d);
    status = gbx_data_loader_start(&d->loader, d, arrived, reterr);
    if (status != GBX_OK)
        return status;
    gbx_mcp_server_hold(d->server);
    d->is_held = true;
    gbx_offer_all(d);
    return GBX_OK;
}

gbx_status gbx_mcp_data_probe(const char *spec, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_spec_cleanup) gbx_spec parsed = {0};
    gbx_status status = gbx_spec_parse(spec, &parsed, reterr);

    if (status == GBX_OK)
        status = gbx_source_probe(&parsed, reterr);
    return status != GBX_E_OS
               ? status
               : gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", parsed.path,
                          reterr->os_errno != 0 ? gbx_fail_reason(reterr->os_errno)
                                                : "it is not a file");
}

gbx_status gbx_mcp_data_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                            const char *const *specs, size_t count,
                            const gbx_options *options, const gbx_shown *shown,
                            gbx_mcp_code *scripts, gbx_mcp_data **ret,
                            gbx_error *reterr)
{
    gbx_mcp_data *d;
    gbx_status status;

    if (count == 0)
        return gbx_fail(reterr, GBX_E_USAGE, "no dataset is given");
    if (options->runner != NULL ||
        (options->runner_name != NULL && strcmp(options->runner_name, "process") != 0 &&
         strchr(options->runner_name, ':') == NULL))
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "this runner has no datasets: 'process' and 'nats://' have");
    d = gbx_need(calloc(1, sizeof *d));
    d->loop = loop;
    d->server = server;
    d->is_alone = scripts == NULL;
    if (scripts != NULL) {
        d->box = gbx_mcp_code_box(scripts);
        d->artifacts = gbx_mcp_code_artifacts(scripts);
    }
    d->options = *options;
    d->shown = *shown;
    d->describing = gbx_mcp_data_limits(options);
    d->options.limits = limits_of(options);
    status = take_specs(d, specs, count, reterr);
    if (status == GBX_OK)
        status = check_shown(d, reterr);
    if (status == GBX_OK)
        status = start(d, reterr);
    if (status == GBX_OK && scripts != NULL)
        gbx_mcp_code_use_data(scripts,
                              &(gbx_code_data){.count = d->count,
                                               .name = name_at,
                                               .is_pending = is_pending,
                                               .say_missing = gbx_data_say_unread,
                                               .user = d});
    if (status == GBX_OK)
        *ret = d;
    else
        gbx_mcp_data_free(d);
    return status;
}

void gbx_mcp_data_free(gbx_mcp_data *d)
{
    if (d == NULL)
        return;
    gbx_data_watch_free(d->watch);
    gbx_data_loader_stop(&d->loader);
    gbx_compute_end_all(d);
    if (d->is_alone) {
        gbx_box_free(d->box);
        gbx_artifacts_free(d->artifacts);
    }
    gbx_mcp_timer_cleanup(&d->again);
    for (size_t i = 0; i < d->count; i++) {
        gbx_spec_cleanup(&d->sets[i].spec);
        gbx_told_cleanup(&d->sets[i].told);
    }
    free(d->sets);
    free(d);
}

/* SPDX-License-Identifier: MIT */
/*
 * preload_loader - the host's own scripts are kept in sealed memfds, like datasets.
 * Every template gets all of them before its HELLO, so adding one means a new template.
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/lines.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glovebox/preload.h>

#define NAME_MAX_BYTES 128

static bool is_name(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > NAME_MAX_BYTES ||
        !gbx_utf8_valid((const uint8_t *)name, len, NULL))
        return false;
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)name[i] < 0x20 || name[i] == 0x7F)
            return false;
    return true;
}

static gbx_status check(const char *name, const char *source, size_t len,
                        gbx_error *reterr)
{
    uint32_t line, column;
    size_t bad;

    if (name == NULL || !is_name(name))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "a preload's name must have 1 to %d bytes of UTF-8 without "
                        "control characters",
                        NAME_MAX_BYTES);
    if (source == NULL && len > 0)
        return gbx_fail(reterr, GBX_E_USAGE, "the preload '%s' has no source", name);
    if (len > GBX_PRELOAD_MAX)
        return gbx_fail(reterr, GBX_E_USAGE, "the preload '%s' is larger than %llu MiB",
                        name, (unsigned long long)(GBX_PRELOAD_MAX >> 20));
    if (gbx_utf8_valid((const uint8_t *)source, len, &bad))
        return GBX_OK;
    gbx_lines_position(source, len, bad, &line, &column);
    return gbx_fail_at(reterr, GBX_E_DATA, line, column,
                       "the preload '%s' is not UTF-8 at line %u, column %u", name,
                       line, column);
}

static gbx_status make(const char *name, const char *source, size_t len,
                       gbx_dataset **ret, gbx_error *reterr)
{
    gbx_status status = check(name, source, len, reterr);

    if (status != GBX_OK)
        return status;
    return gbx_dataset_loader_keep("preload", name, source, len, ret, reterr);
}

static size_t count(const gbx_engine *engine)
{
    size_t n = 0;

    for (const gbx_dataset *d = engine->preloads; d != NULL; d = d->next)
        n++;
    return n;
}

static gbx_status preload(gbx_engine *engine, gbx_dataset *d, gbx_error *reterr)
{
    gbx_dataset *old = NULL;
    gbx_status status;

    (void)pthread_mutex_lock(&engine->lock);
    status = gbx_dataset_loader_settle(engine, reterr);
    if (status == GBX_OK) {
        d->serial = ++engine->next_dataset;
        gbx_dataset_loader_link(&engine->preloads, d, &old);
        if (count(engine) > GBX_PRELOADS_MAX)
            status = gbx_fail(reterr, GBX_E_USAGE, "an engine has at most %u preloads",
                              GBX_PRELOADS_MAX);
        else
            status = gbx_template_restart(engine, reterr);
        if (status != GBX_OK)
            gbx_dataset_loader_unlink(&engine->preloads, d, old);
    }
    if (status != GBX_OK)
        old = d;
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_supervisor_wake(engine);
    if (old != NULL)
        gbx_dataset_loader_free(old);
    return status;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_preloads_init(gbx_engine *engine, gbx_error *reterr)
{
    const gbx_options *o = &engine->settings.options;
    gbx_status status = GBX_OK;

    if (o->preload_count > GBX_PRELOADS_MAX ||
        (o->preload_count > 0 && o->preloads == NULL))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "options.preload_count must be from 0 to %u, with as many "
                        "options.preloads",
                        GBX_PRELOADS_MAX);
    if (o->preload_count > 0 && engine->runner.execute != NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "the runner '%s' has no preloads",
                        engine->runner.name);
    for (size_t i = 0; i < o->preload_count && status == GBX_OK; i++) {
        const gbx_preload *p = &o->preloads[i];
        gbx_dataset *d = NULL;
        gbx_dataset *old = NULL;

        status = make(p->name, p->source, p->source_len, &d, reterr);
        if (status != GBX_OK)
            break;
        d->serial = ++engine->next_dataset;
        gbx_dataset_loader_link(&engine->preloads, d, &old);
        if (old == NULL)
            continue;
        gbx_dataset_loader_free(old);
        status =
            gbx_fail(reterr, GBX_E_USAGE, "two preloads have the name '%s'", p->name);
    }
    engine->settings.options.preloads = NULL; /* those belong to the caller */
    return status;
}

bool gbx_preloads_send(gbx_template *t)
{
    for (const gbx_dataset *d = t->engine->preloads; d != NULL; d = d->next)
        if (!gbx_template_send_preload(t, d))
            return false;
    return true;
}

uint32_t gbx_preloads_count(const gbx_engine *engine)
{
    return (uint32_t)count(engine);
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_engine_preload(gbx_engine *engine, const char *name, const char *source,
                              size_t source_len, gbx_error *reterr)
{
    gbx_dataset *d = NULL;
    gbx_status status = gbx_engine_need(engine, reterr);

    if (status != GBX_OK)
        return status;
    if (engine->runner.execute != NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "the runner '%s' has no preloads",
                        engine->runner.name);
    status = make(name, source, source_len, &d, reterr);
    return status == GBX_OK ? preload(engine, d, reterr) : status;
}

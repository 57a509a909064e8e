/* SPDX-License-Identifier: MIT */
/*
 * contents - what the templates of an engine have, as a list that does not change: for
 * runners that make templates elsewhere.
 */
#include "engine/engine.h"

#include "base/utf8.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

void gbx_snapshot_drop(gbx_snapshot *s)
{
    if (s == NULL || --s->holders > 0)
        return;
    for (size_t i = 0; i < s->pub.count; i++) {
        gbx_fd_close(&s->items[i].fd);
        free((void *)(uintptr_t)s->items[i].name);
    }
    free((void *)(uintptr_t)s->pub.functions);
    free(s);
}

/* False if memory or descriptors are out. */
static bool add_list(gbx_snapshot *s, const gbx_dataset *list, gbx_content_kind kind)
{
    for (const gbx_dataset *d = list; d != NULL; d = d->next) {
        gbx_content *c = &s->items[s->pub.count++];

        *c = (gbx_content){.kind = kind,
                           .format = d->format,
                           .name = strdup(d->name),
                           .size = d->size,
                           .fd = fcntl(d->memfd, F_DUPFD_CLOEXEC, 0)};
        memcpy(c->sha256, d->sha256, sizeof c->sha256);
        if (c->name == NULL || c->fd < 0)
            return false;
    }
    return true;
}

/* Of what is in the lists now, with one holder; NULL: see above. The lock is held. */
static gbx_snapshot *new_snapshot(gbx_engine *engine)
{
    const gbx_options *o = &engine->settings.options;
    gbx_buf functions = {.ceiling = GBX_CONFIG_MAX / 2};
    gbx_snapshot *s;
    size_t count = 0;

    for (const gbx_dataset *d = engine->preloads; d != NULL; d = d->next)
        count++;
    for (const gbx_dataset *d = engine->datasets; d != NULL; d = d->next)
        count++;
    s = calloc(1, sizeof *s + count * sizeof s->items[0]);
    if (s == NULL)
        return NULL;
    (void)gbx_hostcalls_names(engine, o->policy, false, &functions, NULL);
    s->holders = 1;
    s->pub = (gbx_contents){.struct_size = sizeof s->pub,
                            .globals = o->globals,
                            .jit = o->jit,
                            .require = o->require,
                            .speculation = o->speculation,
                            .capabilities = o->capabilities,
                            .cpu_ms = o->limits.cpu_ms,
                            .memory_bytes = o->limits.memory_bytes,
                            .functions = gbx_buf_take_string(&functions, NULL),
                            .items = s->items};
    if (s->pub.functions != NULL &&
        add_list(s, engine->preloads, GBX_CONTENT_PRELOAD) &&
        add_list(s, engine->datasets, GBX_CONTENT_DATASET))
        return s;
    gbx_snapshot_drop(s);
    return NULL;
}

gbx_status gbx_contents_renew(gbx_engine *engine, bool asks, gbx_error *reterr)
{
    const gbx_runner *runner = &engine->runner;
    gbx_snapshot *s = NULL;
    gbx_error error = {0};
    char text[sizeof error.message];

    engine->change = (gbx_change){.kind = GBX_CHANGE_UPDATE}; /* the lists stay so */
    (void)pthread_mutex_unlock(&engine->lock);
    error.status = gbx_sources_digest(engine, &error);
    (void)pthread_mutex_lock(&engine->lock);
    if (error.status == GBX_OK)
        s = new_snapshot(engine);
    if (error.status == GBX_OK && s == NULL)
        (void)gbx_fail(&error, GBX_E_NOMEM, "no memory or no descriptor is left");
    (void)pthread_mutex_unlock(&engine->lock);
    if (s != NULL && asks && runner->prepare != NULL)
        error.status = runner->prepare(runner->user, &s->pub, &error);
    (void)pthread_mutex_lock(&engine->lock);
    engine->change.kind = GBX_CHANGE_NONE;
    if (error.status != GBX_OK) {
        gbx_snapshot_drop(s);
        gbx_utf8_copy_line(text, sizeof text, error.message,
                           strnlen(error.message, sizeof error.message));
        return gbx_fail_at(reterr, error.status, error.line, error.column, "%s", text);
    }
    gbx_snapshot_drop(engine->contents);
    engine->contents = s;
    engine->load_seq++;
    return GBX_OK;
}

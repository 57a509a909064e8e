/* SPDX-License-Identifier: MIT */
/*
 * engines - the engines of a runner: one for each contents that callers have asked for, at
 * most as many as its options say. It is made, on a thread of its own, of what the first
 * caller that needs it has; meanwhile the others hear that there is no seat. One with
 * calls stays; of the others the least recently used one goes for a new one. Nothing is
 * parsed before its hash was checked.
 */
#include "base/clock.h"
#include "base/thread.h"
#include "base/timeouts.h"
#include "remote/lessor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#define FETCHES_OPEN 4u

/* ---- what lessor.c uses too -------------------------------------------------------- */

void gbx_lessor_wake(gbx_lessor *s, int64_t ns)
{
    if (ns < s->due_ns) {
        s->due_ns = ns;
        (void)eventfd_write(s->wake, 1);
    }
}

bool gbx_lessor_allows(const gbx_lessor *s, uint32_t capabilities)
{
    return (capabilities & (GBX_CAP_NONE - 1u) & ~s->options->capabilities) == 0;
}

void *gbx_lessor_listen(gbx_lessor *s, const char *kind, const char *token,
                        const char *last, const char *group)
{
    char subject[GBX_REMOTE_SUBJECT_MAX + 1];

    return gbx_remote_subject(subject, s->url->pool, kind, token, last)
               ? s->bus->ops->subscribe(s->bus, subject, group, s->on_bus, s)
               : NULL;
}

void gbx_lessor_refuse(gbx_lessor *s, const char *caller, uint64_t number,
                       gbx_remote_why why, const gbx_error *error)
{
    gbx_remote_refuse msg = {.why = (uint8_t)why,
                             .line = error->line,
                             .column = error->column,
                             .text =
                                 gbx_remote_text(error->message, GBX_REMOTE_TEXT_MAX)};

    (void)gbx_remote_send(s->bus, caller, NULL, number, GBX_REMOTE_REFUSE, &msg);
}

/* ---- making one ------------------------------------------------------------------- */

/* What is only needed to make it. */
static void drop_needs(gbx_kept *e)
{
    int fd = e->fill != NULL ? gbx_blob_end(e->fill) : -1;

    gbx_fd_close(&fd);
    for (size_t i = 0; i < e->ready; i++)
        gbx_fd_close(&e->items[i].fd);
    free(e->items);
    gbx_buf_cleanup(&e->setup);
    e->fill = NULL;
    e->ready = 0;
    e->items = NULL;
    e->due_ns = INT64_MAX;
}

/* Its caller hears why, and it goes unless it is an engine now. */
static void end(gbx_kept *e, gbx_remote_why why, const gbx_error *error)
{
    gbx_lessor_refuse(e->server, e->caller, e->number, why, error);
    drop_needs(e);
    if (e->engine == NULL) {
        TAILQ_REMOVE(&e->server->engines, e, link);
        free(e);
    }
}

void gbx_kept_fail(gbx_kept *e, const char *text)
{
    gbx_error error = {0};

    (void)gbx_fail(&error, GBX_E_DATA, "%s", text);
    end(e, GBX_WHY_NOT_HERE, &error);
}

/* Without the lock, which handlers of the bus take. It is in no list. */
static void free_kept(gbx_kept *e)
{
    gbx_lessor *s = e->server;

    if (e->subscription != NULL)
        s->bus->ops->unsubscribe(s->bus, e->subscription);
    if (e->engine != NULL)
        s->options->api->engine_free(e->engine);
    free(e);
}

static void *run_making(void *user)
{
    gbx_kept *e = user;
    gbx_lessor *s = e->server;
    char token[GBX_SHA256_HEX_SIZE];
    gbx_error error = {0};
    gbx_engine *engine = NULL;
    gbx_status status;

    if (e->old != NULL)
        free_kept(e->old);
    for (size_t i = 0; i < e->contents.count; i++)
        gbx_blobs_write(s->blobs, e->items[i].sha256, e->items[i].fd, e->items[i].size);
    status =
        s->options->api->engine(&e->contents, &s->options->engine, &engine, &error);
    gbx_sha256_print(e->key, token);
    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < e->contents.count; i++)
        gbx_blobs_written(s->blobs, e->items[i].sha256);
    e->engine = engine;
    if (status == GBX_OK)
        e->subscription =
            gbx_lessor_listen(s, GBX_SUBJECT_KEY, token, NULL, GBX_SUBJECT_GROUP);
    end(e,
        status == GBX_OK       ? GBX_WHY_READY
        : status == GBX_E_DATA ? GBX_WHY_CONTENTS
                               : GBX_WHY_NOT_HERE,
        &error);
    s->threads--;
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* A place for e, or that of the least recently used engine. False: all have calls. */
static bool find_place(gbx_kept *e)
{
    gbx_lessor *s = e->server;
    uint32_t count = 0;
    gbx_kept *i;

    TAILQ_FOREACH(i, &s->engines, link)
    {
        count += i->is_made;
        if (i->engine != NULL && i->calls == 0)
            e->old = i;
    }
    if (count < s->options->max_engines)
        e->old = NULL;
    else if (e->old != NULL)
        TAILQ_REMOVE(&s->engines, e->old, link);
    return count < s->options->max_engines || e->old != NULL;
}

static void make(gbx_kept *e)
{
    gbx_lessor *s = e->server;
    pthread_t thread;

    e->due_ns = INT64_MAX;
    if (!find_place(e)) {
        end(e, GBX_WHY_BUSY, &(gbx_error){.message = "all engines have calls"});
        return;
    }
    e->is_made = true;
    s->threads++;
    if (gbx_thread_start(&thread, run_making, e) == 0) {
        (void)pthread_detach(thread);
        return;
    }
    s->threads--;
    if (e->old != NULL)
        TAILQ_INSERT_TAIL(&s->engines, e->old, link);
    gbx_kept_fail(e, "the runner cannot start a thread");
}

/* ---- what it is made of ------------------------------------------------------------ */

static void fetch(gbx_kept *e, gbx_span hash, uint64_t size)
{
    gbx_lessor *s = e->server;
    size_t chunk = s->bus->chunk;

    e->due_ns = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_MAKING);
    gbx_lessor_wake(s, e->due_ns);
    while (e->asked < size && e->asked - e->got < FETCHES_OPEN * chunk) {
        uint64_t left = size - e->asked;
        gbx_remote_fetch msg = {.runner = gbx_span_of(s->own),
                                .sha256 = hash,
                                .offset = e->asked,
                                .length = (uint32_t)(left < chunk ? left : chunk)};

        (void)gbx_remote_send(s->bus, e->caller, NULL, e->number, GBX_REMOTE_FETCH,
                              &msg);
        e->asked += msg.length;
    }
}

/* The next item is here already, or the caller is asked for it. */
static void go_on(gbx_kept *e)
{
    gbx_blobs *blobs = e->server->blobs;

    while (e->ready < e->contents.count) {
        gbx_content *item = &e->items[e->ready];
        gbx_error error = {0};
        uint64_t size = item->size;

        e->asked = e->got = 0;
        item->fd = gbx_blobs_get(blobs, item->sha256, &size);
        if (item->fd < 0) {
            e->fill = gbx_blobs_begin(blobs, item->sha256, item->size, &error);
            if (e->fill == NULL) { /* or another caller brings it */
                end(e, error.status == GBX_E_USAGE ? GBX_WHY_BUSY : GBX_WHY_NOT_HERE,
                    &error);
                return;
            }
            if (item->size > 0) {
                fetch(e, (gbx_span){item->sha256, sizeof item->sha256}, item->size);
                return;
            }
            item->fd = gbx_blob_end(e->fill);
            e->fill = NULL;
        }
        e->ready++;
        if (item->fd < 0 || size != item->size) {
            gbx_kept_fail(e, "a dataset does not have the size that was said");
            return;
        }
    }
    make(e);
}

static void read_setup(gbx_kept *e)
{
    uint8_t key[GBX_SHA256_SIZE];

    gbx_sha256_of(e->setup.data, e->setup.len, key);
    if (memcmp(key, e->key, sizeof key) != 0 ||
        !gbx_remote_get_setup((gbx_span){e->setup.data, e->setup.len}, &e->contents,
                              &e->items))
        gbx_kept_fail(e, "what the engine needs is not what was asked for");
    else if (!gbx_lessor_allows(e->server, e->contents.capabilities))
        gbx_kept_fail(e, "the runner does not allow such an engine");
    else
        go_on(e);
}

void gbx_kept_put(gbx_kept *e, const gbx_remote_blob *part)
{
    gbx_content *item = e->items != NULL ? &e->items[e->ready] : NULL;
    uint64_t size = item != NULL ? item->size : e->setup_bytes;
    gbx_span hash = {item != NULL ? item->sha256 : e->key, GBX_SHA256_SIZE};
    uint64_t left = size - e->got;
    size_t chunk = e->server->bus->chunk;

    if (memcmp(part->sha256.data, hash.data, hash.len) != 0)
        return;
    if (part->offset != e->got || part->bytes.len != (left < chunk ? left : chunk) ||
        !(item == NULL ? gbx_buf_append(&e->setup, part->bytes.data, part->bytes.len)
                       : gbx_blob_put(e->fill, part->offset, part->bytes))) {
        gbx_kept_fail(e, "a part of what the engine needs is missing");
        return;
    }
    e->got += part->bytes.len;
    if (e->got < size) {
        fetch(e, hash, size);
    } else if (item == NULL) {
        read_setup(e);
    } else {
        item->fd = gbx_blob_end(e->fill);
        e->fill = NULL;
        e->ready++;
        if (item->fd >= 0)
            go_on(e);
        else
            gbx_kept_fail(e, "a dataset does not have the hash that was said");
    }
}

/* ---- all of them ------------------------------------------------------------------- */

/* Its caller has kept it waiting for long: others need not wait for that. */
static bool is_stale(const gbx_kept *e)
{
    return !e->is_made && e->due_ns - gbx_timeout_ns(GBX_TIMEOUT_MAKING) +
                                  gbx_timeout_ns(GBX_TIMEOUT_NOBODY) <=
                              gbx_clock_now_ns();
}

bool gbx_kept_begin(gbx_lessor *s, uint64_t number, const gbx_remote_want *w)
{
    gbx_kept *stale = NULL;
    uint32_t count = 0;
    gbx_kept *e;

    TAILQ_FOREACH(e, &s->engines, link)
    {
        bool is_same = memcmp(e->key, w->key.data, sizeof e->key) == 0;

        count += e->engine == NULL;
        if (is_same && !is_stale(e))
            return false;
        if (is_same || (is_stale(e) && stale == NULL))
            stale = e;
    }
    if (stale != NULL && (count >= s->options->max_engines ||
                          memcmp(stale->key, w->key.data, sizeof stale->key) == 0)) {
        gbx_kept_fail(stale, "its parts came too slowly, and others wait");
        count--;
    }
    e = count < s->options->max_engines ? calloc(1, sizeof *e) : NULL;
    if (e == NULL)
        return false;
    e->server = s;
    e->number = number;
    (void)memcpy(e->key, w->key.data, sizeof e->key);
    (void)memcpy(e->caller, w->caller.data, w->caller.len);
    e->setup_bytes = w->setup_bytes;
    gbx_buf_init(&e->setup, w->setup_bytes);
    TAILQ_INSERT_HEAD(&s->engines, e, link);
    fetch(e, (gbx_span){e->key, sizeof e->key}, w->setup_bytes);
    return true;
}

void gbx_kept_free_all(gbx_lessor *s)
{
    gbx_kept *e;

    (void)pthread_mutex_lock(&s->lock);
    while (s->threads > 0)
        (void)pthread_cond_wait(&s->changed, &s->lock);
    while ((e = TAILQ_FIRST(&s->engines)) != NULL) {
        TAILQ_REMOVE(&s->engines, e, link);
        drop_needs(e);
        (void)pthread_mutex_unlock(&s->lock);
        free_kept(e);
        (void)pthread_mutex_lock(&s->lock);
    }
    (void)pthread_mutex_unlock(&s->lock);
}

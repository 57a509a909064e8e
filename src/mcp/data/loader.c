/* SPDX-License-Identifier: MIT */
/*
 * loader - one thread starts the engine while another reads the first file; what they
 * find is posted. A post that fails for want of memory is lost: then the lists wait no
 * longer than they are patient.
 */
#include "base/cleanup.h"
#include "mcp/data/describe.h"
#include "mcp/data/inner.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_MAX GBX_MIB(2)

static void arrive(void *arg);

static void post(gbx_load_outcome *o)
{
    if (gbx_mcp_loop_post(o->data->loop, arrive, o))
        return;
    gbx_told_cleanup(&o->told);
    free(o);
}

static gbx_load_outcome *outcome_new(gbx_data_loader *l, size_t index,
                                     gbx_load_kind kind)
{
    gbx_load_outcome *o = calloc(1, sizeof *o);

    if (o != NULL)
        *o = (gbx_load_outcome){.data = l->data, .index = index, .kind = kind};
    return o;
}

static void tell(gbx_data_loader *l, size_t index, gbx_load_kind kind, gbx_told *told,
                 const char *problem)
{
    gbx_load_outcome *o = outcome_new(l, index, kind);

    if (o == NULL)
        return;
    if (told != NULL) {
        o->has_told = true;
        o->told = *told;
        *told = (gbx_told){0};
    }
    (void)snprintf(o->problem, sizeof o->problem, "%s", problem);
    post(o);
}

/* ---- the engine's thread ----------------------------------------------------------- */

static void *make_engine(void *user)
{
    gbx_data_loader *l = user;
    gbx_error error = {0};
    gbx_engine *engine = NULL;
    gbx_status status = gbx_engine_new(&l->data->options, &engine, &error);

    (void)pthread_mutex_lock(&l->lock);
    l->engine = engine;
    l->is_engine_done = true;
    (void)pthread_cond_broadcast(&l->changed);
    (void)pthread_mutex_unlock(&l->lock);
    tell(l, 0, GBX_LOAD_ENGINE, NULL, status == GBX_OK ? "" : error.message);
    return NULL;
}

/* NULL: there will be none. */
static gbx_engine *wait_for_engine(gbx_data_loader *l)
{
    gbx_engine *engine;

    (void)pthread_mutex_lock(&l->lock);
    while (!l->is_engine_done)
        (void)pthread_cond_wait(&l->changed, &l->lock);
    engine = l->engine;
    (void)pthread_mutex_unlock(&l->lock);
    return engine;
}

/* ---- the files' thread --------------------------------------------------------------- */

static char *take(gbx_buf *text, bool ok)
{
    if (!ok)
        text->failed = true;
    return gbx_buf_take_string(text, NULL);
}

/* False if memory is out, or nobody waits. */
static bool make_told(gbx_data_loader *l, const gbx_source *source, gbx_told *told)
{
    gbx_shape *shape = gbx_shape_of(source->view, &l->stop);
    gbx_buf text;

    *told = (gbx_told){.bytes = source->view.len, .format = source->format};
    if (shape == NULL)
        return false;
    gbx_buf_init(&text, TOLD_MAX);
    told->type = take(&text, gbx_describe_type(shape, l->room / 2, &text));
    gbx_buf_init(&text, TOLD_MAX);
    told->size = take(&text, gbx_describe_size(shape, source->view, &text));
    gbx_buf_init(&text, TOLD_MAX);
    told->examples =
        take(&text, gbx_describe_examples(source->view, "  ", l->room / 2, &text));
    gbx_buf_init(&text, TOLD_MAX);
    told->statistics = take(&text, gbx_describe_statistics(shape, &text));
    gbx_shape_free(shape);
    return told->type != NULL && told->size != NULL && told->examples != NULL &&
           told->statistics != NULL;
}

static gbx_status put_into_engine(gbx_data_loader *l, size_t index,
                                  const gbx_source *source, gbx_error *reterr)
{
    gbx_engine *engine = wait_for_engine(l);

    if (engine == NULL || atomic_load(&l->stop))
        return gbx_fail(reterr, GBX_E_CLOSED, "there is no engine");
    return gbx_engine_load(engine, l->data->sets[index].spec.name, source->view.at,
                           source->view.len, GBX_DATA_JSON, reterr);
}

/* The file was read: tell of it and load it, unless it is what it was. */
static void take_source(gbx_data_loader *l, size_t index, const gbx_source *source)
{
    gbx_load_slot *slot = &l->slots[index];
    uint8_t sha256[GBX_SHA256_SIZE];
    gbx_error error = {0};
    gbx_told told = {0};
    bool is_first = !slot->was_loaded;

    if (!is_first) {
        gbx_sha256_of(source->view.at, source->view.len, sha256);
        if (memcmp(sha256, slot->sha256, sizeof sha256) == 0) {
            tell(l, index, GBX_LOAD_UNCHANGED, NULL, "");
            return;
        }
    }
    if (!make_told(l, source, &told)) {
        gbx_told_cleanup(&told);
        tell(l, index, GBX_LOAD_REFUSED, NULL, "no memory to describe it");
        return;
    }
    if (is_first)
        tell(l, index, GBX_LOAD_DESCRIBED, &told, "");
    if (put_into_engine(l, index, source, &error) == GBX_OK) {
        slot->was_loaded = true;
        tell(l, index, GBX_LOAD_LOADED, is_first ? NULL : &told, "");
        if (is_first)
            gbx_sha256_of(source->view.at, source->view.len, sha256);
        memcpy(slot->sha256, sha256, sizeof sha256);
    } else {
        tell(l, index, GBX_LOAD_REFUSED, NULL, error.message);
    }
    gbx_told_cleanup(&told);
}

static void tell_refused(gbx_data_loader *l, size_t index, const gbx_error *error)
{
    char problem[GBX_ERROR_MESSAGE_SIZE + 64];

    (void)snprintf(problem, sizeof problem, "%s%s%s", error->message,
                   error->os_errno != 0 && error->status == GBX_E_OS ? ": " : "",
                   error->os_errno != 0 && error->status == GBX_E_OS
                       ? strerror(error->os_errno)
                       : "");
    tell(l, index, GBX_LOAD_REFUSED, NULL, problem);
}

static void load(gbx_data_loader *l, size_t index)
{
    gbx_error error = {0};
    gbx_source source;

    if (gbx_source_read(&l->data->sets[index].spec, &l->stop, &source, &error) !=
        GBX_OK) {
        tell_refused(l, index, &error);
        return;
    }
    take_source(l, index, &source);
    gbx_source_cleanup(&source);
}

/* The next that is wanted; false at the end. */
static bool take_wanted(gbx_data_loader *l, size_t *ret)
{
    bool found = false;

    (void)pthread_mutex_lock(&l->lock);
    while (!found && !atomic_load(&l->stop)) {
        for (size_t i = 0; i < l->data->count && !found; i++)
            if (l->slots[i].is_wanted) {
                l->slots[i].is_wanted = false;
                found = true;
                *ret = i;
            }
        if (!found)
            (void)pthread_cond_wait(&l->changed, &l->lock);
    }
    (void)pthread_mutex_unlock(&l->lock);
    return found;
}

static void *read_files(void *user)
{
    gbx_data_loader *l = user;
    size_t index;

    while (take_wanted(l, &index))
        load(l, index);
    return NULL;
}

/* ---- on the loop --------------------------------------------------------------------- */

static void arrive(void *arg)
{
    gbx_load_outcome *o = arg;

    gbx_data_arrived(o->data, o);
    gbx_told_cleanup(&o->told);
    free(o);
}

/* Signals are the loop's. */
static int start_thread(pthread_t *ret, void *(*run)(void *), void *user)
{
    sigset_t all, before;
    int status;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    status = pthread_create(ret, NULL, run, user);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_data_loader_start(gbx_data_loader *l, gbx_mcp_data *data,
                                 gbx_error *reterr)
{
    l->data = data;
    atomic_init(&l->stop, false);
    l->slots = calloc(data->count, sizeof *l->slots);
    if (l->slots == NULL || pthread_mutex_init(&l->lock, NULL) != 0)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for datasets");
    (void)pthread_cond_init(&l->changed, NULL);
    for (size_t i = 0; i < data->count; i++)
        l->slots[i].is_wanted = true;
    l->has_file_thread = start_thread(&l->file_thread, read_files, l) == 0;
    if (l->has_file_thread)
        l->has_engine_thread = start_thread(&l->engine_thread, make_engine, l) == 0;
    return l->has_engine_thread
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_OS, "cannot start a thread for datasets");
}

void gbx_data_loader_want(gbx_data_loader *l, size_t index)
{
    (void)pthread_mutex_lock(&l->lock);
    l->slots[index].is_wanted = true;
    (void)pthread_cond_broadcast(&l->changed);
    (void)pthread_mutex_unlock(&l->lock);
}

void gbx_data_loader_stop(gbx_data_loader *l)
{
    if (l->slots == NULL)
        return;
    atomic_store(&l->stop, true);
    (void)pthread_mutex_lock(&l->lock);
    l->is_engine_done |= !l->has_engine_thread; /* nobody else will say so */
    (void)pthread_cond_broadcast(&l->changed);
    (void)pthread_mutex_unlock(&l->lock);
    if (l->has_engine_thread)
        (void)pthread_join(l->engine_thread, NULL);
    if (l->has_file_thread)
        (void)pthread_join(l->file_thread, NULL);
    gbx_engine_free(l->engine);
    (void)pthread_cond_destroy(&l->changed);
    (void)pthread_mutex_destroy(&l->lock);
    free(l->slots);
    l->slots = NULL;
}

void gbx_told_cleanup(gbx_told *told)
{
    free(told->type);
    free(told->size);
    free(told->examples);
    free(told->statistics);
    *told = (gbx_told){0};
}

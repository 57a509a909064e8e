/* SPDX-License-Identifier: MIT */
/*
 * dataset_loader - a dataset is kept as a sealed memfd. Every template, the first and
 * its replacements, reads the same bytes; the host's heap holds none of them.
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/timeouts.h"

#include <assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define DATASET_NAME_MAX 64

/* A template's heap cannot reuse the memory of a dataset that is replaced in it
 * (worker/worker.h), and nothing is forked while it parses. So only little is
 * replaced in place; for more, a new template is started while the old one serves. */
#define REPLACED_MAX  GBX_MIB(1)
#define REPLACED_EACH GBX_KIB(16)

/* An identifier, so that datasets.NAME can be written; ASCII is enough for a name. */
static bool is_name(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > DATASET_NAME_MAX || isdigit((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '$')
            return false;
    return strcmp(name, "__proto__") != 0;
}

static gbx_status make_dataset(const char *name, const char *json, size_t len,
                               gbx_data_format format, gbx_dataset **ret,
                               gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf lines;
    gbx_json_fault fault = {0};
    bool ok;

    gbx_buf_init(&lines, len * 2 + 16);
    ok = format == GBX_DATA_NDJSON
             ? gbx_json_from_lines(json, len, &lines, &fault)
             : gbx_json_check(json, len, GBX_JSON_DEPTH_MAX, &fault);
    if (!ok && fault.message == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the dataset '%s'", name);
    if (!ok)
        return gbx_fail_at(reterr, GBX_E_DATA, fault.line, fault.column,
                           "the dataset '%s' is not JSON: %s at line %u, column %u",
                           name, fault.message, fault.line, fault.column);
    return gbx_dataset_loader_keep("dataset", name,
                                   format == GBX_DATA_NDJSON ? (const char *)lines.data
                                                             : json,
                                   format == GBX_DATA_NDJSON ? lines.len : len, ret,
                                   reterr);
}

/* Writing past the file size limit kills a process, even for a file in memory: that
 * must not happen to our host. */
static bool may_write(size_t len)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur >= len;
}

static bool is_settled(const gbx_engine *engine)
{
    if (engine->is_loading || engine->is_spawning || engine->current == NULL)
        return false;
    for (const gbx_template *t = engine->templates; t != NULL; t = t->next)
        if (t->state < GBX_TEMPLATE_SERVING)
            return false;
    return true;
}

static bool wait_changed(gbx_engine *engine, int64_t until_ns)
{
    struct timespec ts = {.tv_sec = until_ns / 1000000000,
                          .tv_nsec = until_ns % 1000000000};

    return pthread_cond_timedwait(&engine->changed, &engine->lock, &ts) != ETIMEDOUT;
}

/* What is sent to a serving template. */
typedef struct update {
    const char *what; /* for messages: "load the dataset" */
    const char *name;
    const gbx_dataset *dataset; /* NULL: name is a function's */
    gbx_status failure;         /* returned if the template refuses it */
} update;

/* Send it to the serving template and wait for its answer; the lock is held. */
static gbx_status send_and_wait(gbx_engine *engine, const update *u, gbx_error *reterr)
{
    int64_t until = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_LOAD);
    bool sent;

    engine->is_loading = true;
    engine->load_done = false;
    engine->load_failed = false;
    engine->load_message[0] = 0;
    engine->current->loads_pending++;
    sent = u->dataset != NULL ? gbx_template_send_load(engine->current, u->dataset)
                              : gbx_template_send_expose(engine->current, u->name);
    if (!sent) {
        engine->load_failed = true;
        engine->load_done = true;
    }
    while (!engine->load_done && !engine->is_closing)
        if (!wait_changed(engine, until))
            engine->load_failed = engine->load_done = true;
    engine->is_loading = false;
    /* Half a frame may have been sent, or the answer may be mistaken for that of
     * another load: start another template, which knows what the engine has. */
    if (engine->load_failed && engine->load_message[0] == 0 && engine->current != NULL)
        gbx_template_kill(engine->current);
    if (!engine->load_done)
        return gbx_fail(reterr, GBX_E_CLOSED, "the engine is being freed");
    if (engine->load_failed)
        return gbx_fail(reterr, u->failure, "cannot %s '%s': %s", u->what, u->name,
                        engine->load_message[0] != 0 ? engine->load_message
                                                     : "the template does not answer");
    return GBX_OK;
}

/* Workers without the update are of no use any more; the lock is held. */
static void replace_workers(gbx_engine *engine)
{
    engine->load_seq++;
    engine->coming = 0;
    gbx_pool_discard_stale(engine);
    gbx_pool_fill(engine);
}

static uint64_t cost_in_place(const gbx_dataset *d, const gbx_dataset *old)
{
    return old == NULL ? 0 : d->size + old->size + REPLACED_EACH;
}

/* The lock is held. */
static gbx_status put_in_place(gbx_engine *engine, const gbx_dataset *d, uint64_t cost,
                               gbx_error *reterr)
{
    update u = {"load the dataset", d->name, d, GBX_E_DATA};
    gbx_status status = send_and_wait(engine, &u, reterr);

    if (status == GBX_OK) {
        if (engine->current != NULL)
            engine->current->replaced_bytes += cost;
        replace_workers(engine);
    }
    return status;
}

/* The lock is held. */
static gbx_status put_in_new(gbx_engine *engine, const gbx_dataset *d,
                             gbx_error *reterr)
{
    gbx_error error = {0};
    gbx_status status = gbx_template_restart(engine, &error);

    return status == GBX_OK
               ? GBX_OK
               : gbx_fail(reterr, status, "cannot load the dataset '%s': %s", d->name,
                          error.message);
}

static gbx_status load(gbx_engine *engine, gbx_dataset *d, gbx_error *reterr)
{
    gbx_dataset *old = NULL;
    uint64_t cost;
    gbx_status status;

    (void)pthread_mutex_lock(&engine->lock);
    status = gbx_dataset_loader_settle(engine, reterr);
    if (status != GBX_OK) {
        (void)pthread_mutex_unlock(&engine->lock);
        gbx_dataset_loader_free(d);
        return status;
    }
    assert(d != NULL); /* otherwise making it has failed */
    d->serial = ++engine->next_dataset;
    gbx_dataset_loader_link(&engine->datasets, d, &old);
    gbx_confine_weigh(engine);
    cost = cost_in_place(d, old);
    if (engine->current->replaced_bytes + cost > REPLACED_MAX)
        status = put_in_new(engine, d, reterr);
    else
        status = put_in_place(engine, d, cost, reterr);
    if (status != GBX_OK) {
        gbx_dataset_loader_unlink(&engine->datasets, d, old);
        gbx_confine_weigh(engine);
        old = d;
    }
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_supervisor_wake(engine);
    if (old != NULL)
        gbx_dataset_loader_free(old);
    return status;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_dataset_loader_is_busy(const gbx_engine *engine)
{
    return engine->is_loading && engine->renewal == NULL;
}

gbx_status gbx_dataset_loader_expose(gbx_engine *engine, const gbx_function *function,
                                     gbx_error *reterr)
{
    update u = {"expose the function", function->name, NULL, GBX_E_USAGE};
    gbx_status status;

    (void)pthread_mutex_lock(&engine->lock);
    status = gbx_dataset_loader_settle(engine, reterr);
    if (status == GBX_OK && engine->current->function_serial < function->serial)
        status = send_and_wait(engine, &u, reterr);
    if (status == GBX_OK)
        replace_workers(engine);
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_supervisor_wake(engine);
    return status;
}

gbx_status gbx_dataset_loader_keep(const char *what, const char *name, const void *data,
                                   size_t len, gbx_dataset **ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    gbx_dataset *d;

    if (!may_write(len)) {
        errno = EFBIG;
        return gbx_fail(reterr, GBX_E_OS,
                        "cannot keep the %s '%s': its %zu bytes are more than this "
                        "process may write to a file (RLIMIT_FSIZE)",
                        what, name, len);
    }
    fd = memfd_create("glovebox", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || !gbx_fd_write(fd, data, len) ||
        fcntl(fd, F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot keep the %s '%s': %s", what, name,
                        strerror(errno));
    d = calloc(1, sizeof *d);
    if (d == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the %s '%s'", what, name);
    (void)snprintf(d->name, sizeof d->name, "%s", name);
    d->size = len;
    d->memfd = gbx_fd_take(&fd);
    *ret = d;
    return GBX_OK;
}

void gbx_dataset_loader_free(gbx_dataset *d)
{
    gbx_fd_close(&d->memfd);
    free(d);
}

void gbx_dataset_loader_link(gbx_dataset **list, gbx_dataset *d, gbx_dataset **ret_old)
{
    gbx_dataset **at = list;

    *ret_old = NULL;
    while (*at != NULL && strcmp((*at)->name, d->name) != 0)
        at = &(*at)->next;
    if (*at != NULL) {
        *ret_old = *at;
        d->next = (*at)->next;
    }
    *at = d;
}

void gbx_dataset_loader_unlink(gbx_dataset **list, gbx_dataset *d, gbx_dataset *old)
{
    gbx_dataset **at = list;

    while (*at != d)
        at = &(*at)->next;
    if (old != NULL)
        old->next = d->next;
    *at = old != NULL ? old : d->next;
}

gbx_status gbx_dataset_loader_settle(gbx_engine *engine, gbx_error *reterr)
{
    int64_t until = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_LOAD);

    while (!is_settled(engine) && !engine->is_closing)
        if (!wait_changed(engine, until))
            break;
    return is_settled(engine) ? GBX_OK
                              : gbx_fail(reterr, GBX_E_CLOSED, "no template serves");
}

gbx_status gbx_dataset_loader_find(gbx_engine *engine, const char *name,
                                   gbx_error *reterr)
{
    const gbx_dataset *d;
    bool is_there;

    (void)pthread_mutex_lock(&engine->lock);
    d = engine->datasets;
    while (d != NULL && strcmp(name, "*") != 0 && strcmp(name, d->name) != 0)
        d = d->next;
    is_there = d != NULL;
    (void)pthread_mutex_unlock(&engine->lock);
    return is_there ? GBX_OK
                    : gbx_fail(reterr, GBX_E_USAGE,
                               "call.dataset is not the name of one that is loaded");
}

void gbx_dataset_loader_free_all(gbx_dataset **list)
{
    while (*list != NULL) {
        gbx_dataset *d = *list;

        *list = d->next;
        gbx_dataset_loader_free(d);
    }
}

gbx_status gbx_dataset_loader_take_runner(gbx_engine *engine, gbx_error *reterr)
{
    typedef gbx_status (*open_fn)(const gbx_options *options, gbx_runner *ret,
                                  gbx_error *reterr);
    const gbx_options *o = &engine->settings.options;
    const gbx_runner *given = o->runner;
    char library[128];
    union {
        void *address;
        open_fn function;
    } open_runner;

    if (given != NULL) {
        if (given->struct_size != sizeof *given || given->name == NULL ||
            given->execute == NULL)
            return gbx_fail(reterr, GBX_E_USAGE,
                            "options.runner lacks a name or execute");
        if (strlen(given->name) >= sizeof engine->settings.runner_name)
            return gbx_fail(reterr, GBX_E_USAGE, "options.runner.name is too long");
        (void)snprintf(engine->settings.runner_name,
                       sizeof engine->settings.runner_name, "%s", given->name);
        engine->runner = *given;
        engine->runner.name = engine->settings.runner_name;
        return GBX_OK;
    }
    if (o->runner_name == NULL || strcmp(o->runner_name, "process") == 0)
        return GBX_OK;
    for (const char *c = o->runner_name; *c != 0; c++)
        if (!islower((unsigned char)*c))
            return gbx_fail(reterr, GBX_E_USAGE, "options.runner_name is not a name");
    (void)snprintf(library, sizeof library, "libglovebox-runner-%s.so.0",
                   o->runner_name);
    engine->runner_library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (engine->runner_library == NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "cannot load the runner '%s': %s",
                        o->runner_name, dlerror());
    open_runner.address = dlsym(engine->runner_library, "gbx_runner_open");
    if (open_runner.address == NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "'%s' is not a runner", library);
    engine->runner = (gbx_runner)GBX_RUNNER_INIT;
    return open_runner.function(o, &engine->runner, reterr);
}

void gbx_dataset_loader_drop_runner(gbx_engine *engine)
{
    if (engine->runner.dispose != NULL)
        engine->runner.dispose(engine->runner.user);
    /* A library with a live engine cannot be unloaded: its threads outlive it. */
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_engine_load(gbx_engine *engine, const char *name, const char *json,
                           size_t json_len, gbx_data_format format, gbx_error *reterr)
{
    gbx_dataset *d = NULL;
    gbx_status status = gbx_engine_need(engine, reterr);

    if (status != GBX_OK)
        return status;
    if (name == NULL || json == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "name or json is missing");
    if (format > GBX_DATA_NDJSON)
        return gbx_fail(reterr, GBX_E_USAGE, "format is not one of its values");
    if (!is_name(name))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "a dataset's name must be an identifier of at most %d letters, "
                        "digits, '_' or '$'",
                        DATASET_NAME_MAX);
    if (engine->runner.execute != NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "the runner '%s' has no datasets",
                        engine->runner.name);
    status = make_dataset(name, json, json_len, format, &d, reterr);
    return status == GBX_OK ? load(engine, d, reterr) : status;
}

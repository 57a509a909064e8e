/* SPDX-License-Identifier: MIT */
/*
 * loader - adds datasets, preloads and functions to an engine.
 *
 * Datasets and preloads are kept as sealed memfds: every template reads the same bytes,
 * and the host's heap holds none of them. A template gets all preloads before its
 * HELLO, so adding one requires a new template.
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/timeouts.h"
#include "base/utf8.h"
#include "engine/sqlite.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glovebox/preload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define DATASET_NAME_MAX  64
#define PRELOAD_NAME_MAX  128
#define FUNCTION_NAME_MAX 128

/* A template cannot reuse the memory of a dataset that is replaced in it
 * (worker/worker.h), and does not fork while it parses. So only this much is replaced
 * in place; beyond it, a new template is started while the old one serves. */
#define REPLACED_MAX  GBX_MIB(1)
#define REPLACED_EACH GBX_KIB(16)

/* ---- lists of memfds ------------------------------------------------------------- */

/* Make an entry for a list, with the bytes in a sealed memfd: a new one, or a duplicate of
 * that one. what: "dataset" or the like, for messages. */
static gbx_status keep_bytes(const char *what, const char *name, const void *data,
                             size_t len, int memfd, gbx_dataset **ret,
                             gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    bool is_new = memfd < 0;
    struct rlimit limit;
    gbx_dataset *d;

    /* Writing past the limit would kill the host, even for a file in memory. */
    if (is_new && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < len) {
        errno = EFBIG;
        return gbx_fail(reterr, GBX_E_OS,
                        "cannot keep the %s '%s': its %zu bytes are more than this "
                        "process may write to a file (RLIMIT_FSIZE)",
                        what, name, len);
    }
    fd = is_new ? memfd_create("glovebox", MFD_CLOEXEC | MFD_ALLOW_SEALING)
                : fcntl(memfd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0 || (is_new && (!gbx_fd_write(fd, data, len) ||
                              fcntl(fd, F_ADD_SEALS,
                                    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE |
                                        F_SEAL_SEAL) < 0)))
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

static void free_dataset(gbx_dataset *d)
{
    gbx_fd_close(&d->memfd);
    free(d);
}

/* Add d to the list, or replace the entry of the same name; *ret_old is that entry, or
 * NULL. The lock is held. */
static void link_dataset(gbx_dataset **list, gbx_dataset *d, gbx_dataset **ret_old)
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

/* Add d to the list before a template has it; on failure, free what had its name. */
static gbx_status link_early(gbx_engine *engine, gbx_dataset **list, const char *what,
                             gbx_dataset *d, gbx_error *reterr)
{
    gbx_dataset *old;

    d->serial = ++engine->next_dataset;
    link_dataset(list, d, &old);
    if (old == NULL)
        return GBX_OK;
    free_dataset(old);
    return gbx_fail(reterr, GBX_E_USAGE, "two %ss have the name '%s'", what, d->name);
}

/* ---- sending contents to a template ---------------------------------------------- */

static bool is_settled(const gbx_engine *engine)
{
    if (gbx_engine_leases(engine))
        return !gbx_engine_is_loading(engine);
    if (gbx_engine_is_loading(engine) || engine->is_spawning || engine->current == NULL)
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

    return pthread_cond_clockwait(&engine->changed, &engine->lock, CLOCK_MONOTONIC,
                                  &ts) != ETIMEDOUT;
}

/* Wait until a template serves and no other change is open; the lock is held. */
static gbx_status settle(gbx_engine *engine, gbx_error *reterr)
{
    int64_t until = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_LOAD);

    while (!is_settled(engine) && !engine->is_closing)
        if (!wait_changed(engine, until))
            break;
    return is_settled(engine) ? GBX_OK
                              : gbx_fail(reterr, GBX_E_CLOSED, "no template serves");
}

/* A dataset or a function's name for the serving template. */
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
    gbx_change done;
    bool is_silent;

    engine->change = (gbx_change){.kind = GBX_CHANGE_UPDATE};
    engine->current->loads_pending++;
    is_silent = u->dataset != NULL
                    ? !gbx_template_send_load(engine->current, u->dataset)
                    : !gbx_template_send_expose(engine->current, u->name);
    while (!engine->change.is_done && !is_silent && !engine->is_closing)
        is_silent = !wait_changed(engine, until);
    done = engine->change;
    engine->change.kind = GBX_CHANGE_NONE;
    /* Half a frame may have been sent, or a late answer may be taken for that of the
     * next load: replace the template. The new one gets what the engine has. */
    if (is_silent && engine->current != NULL)
        gbx_pidfd_kill(engine->current->process.pidfd);
    if (is_silent)
        return gbx_fail(reterr, u->failure,
                        "cannot %s '%s': the template does not answer", u->what,
                        u->name);
    if (!done.is_done)
        return gbx_fail(reterr, GBX_E_CLOSED, "the engine is being freed");
    if (done.error.status != GBX_OK)
        return gbx_fail_at(reterr, u->failure, done.error.line, done.error.column,
                           "cannot %s '%s': %s", u->what, u->name, done.error.message);
    return GBX_OK;
}

/* Replace the ready workers, which lack the update; the lock is held. */
static void replace_workers(gbx_engine *engine)
{
    engine->load_seq++;
    engine->coming = 0;
    gbx_pool_discard_stale(engine);
    gbx_pool_fill(engine);
}

/*
 * Start a template with the current lists, and wait until it serves: for contents that
 * the serving template cannot or should not receive. The old one serves until then, and
 * also after a failure. The lock is held, and the engine is settled.
 */
static gbx_status restart(gbx_engine *engine, gbx_error *reterr)
{
    gbx_change done;

    if (gbx_engine_leases(engine))
        return gbx_contents_renew(engine, true, reterr);
    engine->content_seq++; /* a template that starts with less must not serve */
    engine->change = (gbx_change){.kind = GBX_CHANGE_RENEWAL};
    gbx_engine_wake(engine);
    /* No timeout here: the supervisor ends the change, also if the template fails. */
    while (!engine->change.is_done && !engine->is_closing)
        (void)pthread_cond_wait(&engine->changed, &engine->lock);
    done = engine->change;
    /* Not earlier: no other thread may change the lists until then. */
    engine->change.kind = GBX_CHANGE_NONE;
    gbx_pool_fill(engine);
    if (!done.is_done)
        return gbx_fail(reterr, GBX_E_CLOSED, "the engine is being freed");
    if (done.error.status != GBX_OK) {
        engine->content_seq++; /* the caller will remove what it added */
        if (reterr != NULL)
            *reterr = done.error;
    }
    return done.error.status;
}

/* ---- datasets -------------------------------------------------------------------- */

/* True for an identifier, so that code can write datasets.NAME. ASCII only. */
static bool is_dataset_name(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > DATASET_NAME_MAX || isdigit((unsigned char)name[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '$')
            return false;
    return strcmp(name, "__proto__") != 0;
}

static bool is_data_format(gbx_data_format format)
{
    unsigned kind = (unsigned)format & 0x0F;
    unsigned how = (unsigned)format & ~0x0Fu;
    unsigned ends = GBX_DATA_UNFINISHED | GBX_DATA_GROWS;
    unsigned tables =
        GBX_DATA_NO_HEADER | GBX_DATA_SKIP_BAD | GBX_DATA_SKIP_LINES(65535);
    unsigned may = kind == GBX_DATA_JSON     ? 0
                   : kind == GBX_DATA_NDJSON ? ends
                                             : ends | tables;

    return kind <= GBX_DATA_TSV && (how & ~may) == 0 && (how & ends) != ends;
}

/* Pass on d, which replaced old in the list (NULL: d is new). The lock is held. */
static gbx_status put_dataset(gbx_engine *engine, const gbx_dataset *d,
                              const gbx_dataset *old, gbx_error *reterr)
{
    uint64_t cost = old == NULL ? 0 : d->size + old->size + REPLACED_EACH;
    update u = {"load the dataset", d->name, d, GBX_E_DATA};
    gbx_error error = {0};
    gbx_status status;

    if (gbx_engine_leases(engine) || engine->current->is_cold ||
        engine->current->replaced_bytes + cost > REPLACED_MAX) {
        status = restart(engine, &error);
        return status == GBX_OK ? GBX_OK
                                : gbx_fail_at(reterr, status, error.line, error.column,
                                              "cannot load the dataset '%s': %s",
                                              d->name, error.message);
    }
    status = send_and_wait(engine, &u, reterr);
    if (status != GBX_OK)
        return status;
    if (engine->current != NULL)
        engine->current->replaced_bytes += cost;
    replace_workers(engine);
    return GBX_OK;
}

/* Add d to this list of the engine, and to its templates; on failure, free it. */
static gbx_status add(gbx_engine *engine, gbx_dataset **list, gbx_dataset *d,
                      gbx_error *reterr)
{
    gbx_dataset *old = NULL;
    size_t count = 0;
    gbx_status status;

    (void)pthread_mutex_lock(&engine->lock);
    status = settle(engine, reterr);
    if (status == GBX_OK) {
        d->serial = ++engine->next_dataset;
        link_dataset(list, d, &old);
        gbx_confine_weigh(engine);
        for (const gbx_dataset *p = engine->preloads; p != NULL; p = p->next)
            count++;
        if (list == &engine->datasets)
            status = put_dataset(engine, d, old, reterr);
        else
            status =
                count <= GBX_PRELOADS_MAX
                    ? restart(engine, reterr)
                    : gbx_fail(reterr, GBX_E_USAGE, "an engine has at most %u preloads",
                               GBX_PRELOADS_MAX);
        if (status != GBX_OK) {
            gbx_dataset **at = list;

            while (*at != d)
                at = &(*at)->next;
            if (old != NULL)
                old->next = d->next;
            *at = old != NULL ? old : d->next;
            gbx_confine_weigh(engine);
        }
    }
    if (status != GBX_OK)
        old = d;
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_engine_wake(engine);
    if (old != NULL)
        free_dataset(old);
    return status;
}

/* ---- preloads -------------------------------------------------------------------- */

static bool is_preload_name(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > PRELOAD_NAME_MAX ||
        !gbx_utf8_valid((const uint8_t *)name, len, NULL))
        return false;
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)name[i] < 0x20 || name[i] == 0x7F)
            return false;
    return true;
}

static gbx_status make_preload(const char *name, const char *source, size_t len,
                               gbx_dataset **ret, gbx_error *reterr)
{
    uint32_t line, column;
    size_t bad;

    if (name == NULL || !is_preload_name(name))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "a preload's name must have 1 to %d bytes of UTF-8 without "
                        "control characters",
                        PRELOAD_NAME_MAX);
    if (source == NULL && len > 0)
        return gbx_fail(reterr, GBX_E_USAGE, "the preload '%s' has no source", name);
    if (len > GBX_PRELOAD_MAX)
        return gbx_fail(reterr, GBX_E_USAGE, "the preload '%s' is larger than %llu MiB",
                        name, (unsigned long long)(GBX_PRELOAD_MAX >> 20));
    if (!gbx_utf8_valid((const uint8_t *)source, len, &bad)) {
        gbx_lines_position(source, len, bad, &line, &column);
        return gbx_fail_at(reterr, GBX_E_DATA, line, column,
                           "the preload '%s' is not UTF-8 at line %u, column %u", name,
                           line, column);
    }
    return keep_bytes("preload", name, source, len, -1, ret, reterr);
}

/* ---- functions of the host ------------------------------------------------------- */

/* Identifiers with dots between. None of them may be the name of a property that
 * objects or functions have: it must not be shadowed by accident. */
static bool is_function_name(const char *name)
{
    static const char *const never[] = {"__proto__", "prototype", "constructor"};
    const char *at = name;

    if (strlen(name) > FUNCTION_NAME_MAX)
        return false;
    for (;;) {
        size_t len = 0;

        while (isalnum((unsigned char)at[len]) || at[len] == '_' || at[len] == '$')
            len++;
        if (len == 0 || isdigit((unsigned char)at[0]))
            return false;
        for (size_t i = 0; i < GBX_COUNTOF(never); i++)
            if (strlen(never[i]) == len && memcmp(at, never[i], len) == 0)
                return false;
        at += len;
        if (*at == 0)
            return true;
        if (*at++ != '.')
            return false;
    }
}

/* Append: templates get the names in the order of exposing. Returns the function whose name
 * collides with it, or NULL. */
static const gbx_function *link_function(gbx_hostcalls *h, gbx_function *function)
{
    gbx_function **at = &h->functions;
    const gbx_function *taken;

    (void)pthread_mutex_lock(&h->lock);
    for (; *at != NULL; at = &(*at)->next) {
        const char *a = (*at)->name, *b = function->name;
        size_t len = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

        /* "db" and "db.query" cannot both be functions. */
        if (memcmp(a, b, len) == 0 && (a[len] == 0 || a[len] == '.') &&
            (b[len] == 0 || b[len] == '.'))
            break;
    }
    taken = *at;
    if (taken == NULL) {
        function->serial = ++h->function_serial;
        *at = function;
    }
    (void)pthread_mutex_unlock(&h->lock);
    return taken;
}

/* Send the template the function's name, unless it has it, and replace the workers. */
static gbx_status expose(gbx_engine *engine, const gbx_function *function,
                         gbx_error *reterr)
{
    update u = {"expose the function", function->name, NULL, GBX_E_USAGE};
    gbx_status status;

    (void)pthread_mutex_lock(&engine->lock);
    status = settle(engine, reterr);
    if (status == GBX_OK && gbx_engine_leases(engine))
        status = gbx_contents_renew(engine, false, reterr);
    else if (status == GBX_OK && engine->current->function_serial < function->serial)
        status = send_and_wait(engine, &u, reterr);
    if (status == GBX_OK)
        replace_workers(engine);
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_engine_wake(engine);
    return status;
}

gbx_status gbx_loader_preloads_init(gbx_engine *engine, gbx_error *reterr)
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

        status = make_preload(p->name, p->source, p->source_len, &d, reterr);
        if (status != GBX_OK || d == NULL)
            break;
        status = link_early(engine, &engine->preloads, "preload", d, reterr);
    }
    engine->settings.options.preloads = NULL; /* those belong to the caller */
    return status;
}

/* A function of another machine: it is never called here. */
static gbx_status add_name(gbx_engine *engine, gbx_span name, gbx_error *reterr)
{
    gbx_function *function = calloc(1, sizeof *function + name.len + 1);

    if (function == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a function's name");
    memcpy(function->name, name.data, name.len);
    if (strlen(function->name) == name.len && is_function_name(function->name) &&
        link_function(&engine->hostcalls, function) == NULL)
        return GBX_OK;
    free(function);
    return gbx_fail(reterr, GBX_E_USAGE, "the name of a function is none, or taken");
}

static gbx_status add_content(gbx_engine *engine, const gbx_content *c,
                              gbx_error *reterr)
{
    bool is_dataset = c->kind == GBX_CONTENT_DATASET;
    const char *what = is_dataset ? "dataset" : "preload";
    gbx_dataset *d = NULL;
    gbx_status status;

    if (is_dataset ? !is_dataset_name(c->name) || !is_data_format(c->format)
                   : !is_preload_name(c->name) || c->size > GBX_PRELOAD_MAX)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "a %s has a name, a format or a size that none can have", what);
    status = keep_bytes(what, c->name, NULL, c->size, c->fd, &d, reterr);
    if (status != GBX_OK || d == NULL)
        return status;
    d->format = c->format;
    return link_early(engine, is_dataset ? &engine->datasets : &engine->preloads, what,
                      d, reterr);
}

/* Each name is compared with all before it. */
#define NAMES_MAX 8192u

gbx_status gbx_loader_contents_init(gbx_engine *engine, const gbx_contents *contents,
                                    gbx_error *reterr)
{
    gbx_span names = gbx_span_of(contents->functions);
    gbx_status status = GBX_OK;
    gbx_span one;
    unsigned count = 0;

    while (status == GBX_OK && gbx_span_line(&names, &one))
        status =
            count++ < NAMES_MAX
                ? add_name(engine, one, reterr)
                : gbx_fail(reterr, GBX_E_USAGE,
                           "an engine for others has at most %u functions", NAMES_MAX);
    for (size_t i = 0; i < contents->count && status == GBX_OK; i++)
        status = add_content(engine, &contents->items[i], reterr);
    return status;
}

gbx_status gbx_loader_find(gbx_engine *engine, const char *name, gbx_error *reterr)
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

void gbx_loader_free_all(gbx_dataset **list)
{
    while (*list != NULL) {
        gbx_dataset *d = *list;

        *list = d->next;
        free_dataset(d);
    }
}

/* ---- public API ---------------------------------------------------------- */

/* Fails unless the engine can have a dataset of that name. */
static gbx_status check_dataset(const gbx_engine *engine, const char *name,
                                gbx_error *reterr)
{
    gbx_status status = gbx_engine_need(engine, reterr);

    if (status != GBX_OK)
        return status;
    if (name == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "the dataset's name is missing");
    if (!is_dataset_name(name))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "a dataset's name must be an identifier of at most %d letters, "
                        "digits, '_' or '$'",
                        DATASET_NAME_MAX);
    if (engine->runner.execute != NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "the runner '%s' has no datasets",
                        engine->runner.name);
    return GBX_OK;
}

gbx_status gbx_engine_load(gbx_engine *engine, const char *name, const char *text,
                           size_t len, gbx_data_format format, gbx_error *reterr)
{
    gbx_dataset *d = NULL;
    gbx_status status = check_dataset(engine, name, reterr);

    if (status != GBX_OK)
        return status;
    if (text == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "the dataset's text is missing");
    if (!is_data_format(format))
        return gbx_fail(reterr, GBX_E_USAGE, "format is not one of its values");
    /* Only the template parses the text, and reports errors in it. */
    status = keep_bytes("dataset", name, text, len, -1, &d, reterr);
    if (status != GBX_OK || d == NULL)
        return status;
    d->format = format;
    return add(engine, &engine->datasets, d, reterr);
}

gbx_status gbx_engine_load_sqlite(gbx_engine *engine, const char *name,
                                  const char *path, const char *query,
                                  gbx_error *reterr)
{
    gbx_status status = check_dataset(engine, name, reterr);
    gbx_rows rows;

    if (status != GBX_OK)
        return status;
    if (path == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "the database's path is missing");
    status = gbx_rows_read(&engine->settings.options, path, query, NULL, &rows, reterr);
    if (status != GBX_OK)
        return status;
    status =
        gbx_engine_load(engine, name, rows.text, rows.text_len, GBX_DATA_JSON, reterr);
    gbx_rows_cleanup(&rows);
    return status;
}

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
    status = make_preload(name, source, source_len, &d, reterr);
    return status == GBX_OK && d != NULL ? add(engine, &engine->preloads, d, reterr)
                                         : status;
}

gbx_status gbx_engine_expose(gbx_engine *engine, const char *name, gbx_host_fn fn,
                             void *user, gbx_error *reterr)
{
    gbx_function *function, **at;
    const gbx_function *taken;
    const gbx_policy *policy;
    gbx_hostcalls *h;
    gbx_status status = gbx_engine_need(engine, reterr);

    if (status != GBX_OK)
        return status;
    h = &engine->hostcalls;
    if (name == NULL || fn == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "name or fn is missing");
    if (engine->runner.execute != NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "the runner '%s' has no functions of the host",
                        engine->runner.name);
    policy = engine->settings.options.policy;
    if (!is_function_name(name))
        return gbx_fail(
            reterr, GBX_E_USAGE,
            "'%.64s' is not the name of a function: one or more identifiers "
            "with dots between, at most %d bytes",
            name, FUNCTION_NAME_MAX);
    function = calloc(1, sizeof *function + strlen(name) + 1);
    if (function == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the function '%s'", name);
    function->fn = fn;
    function->user = user;
    memcpy(function->name, name, strlen(name) + 1);
    /* Linked first, so that a template that starts meanwhile gets it too. */
    taken = link_function(h, function);
    if (taken != NULL) {
        free(function);
        return gbx_fail(reterr, GBX_E_USAGE, "the name '%s' is taken by '%s'", name,
                        taken->name);
    }
    if (policy == NULL || gbx_policy_allows_function(policy, name))
        status = expose(engine, function, reterr);
    if (status == GBX_OK)
        return GBX_OK;
    /* It stays until the engine is freed: a worker that was started meanwhile may call
     * it. */
    (void)pthread_mutex_lock(&h->lock);
    for (at = &h->functions; *at != function;)
        at = &(*at)->next;
    *at = function->next;
    function->next = h->withdrawn;
    h->withdrawn = function;
    (void)pthread_mutex_unlock(&h->lock);
    return status;
}

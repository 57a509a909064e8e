/* SPDX-License-Identifier: MIT */
/*
 * datasets - the threads that load datasets, and look-ups of the datasets' state.
 *
 * The engine starts while threads read files; results are posted to the loop.
 *
 * A query may take a minute, so at least one reader runs no query.
 */
#include "mcp/data/datasets.h"
#include "base/cleanup.h"
#include "base/thread.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MAX 20 /* datasets in a list of names */

/* How many readers may run queries. */
#define QUERIES_MAX (GBX_LOADER_READERS - 1)

static gbx_load_outcome *take_found(gbx_data_loader *l)
{
    gbx_load_outcome *o;

    (void)pthread_mutex_lock(&l->lock);
    o = l->found;
    if (o != NULL)
        l->found = o->next;
    if (l->found == NULL)
        l->found_last = &l->found;
    (void)pthread_mutex_unlock(&l->lock);
    return o;
}

static void outcome_free(gbx_load_outcome *o)
{
    gbx_told_cleanup(&o->told);
    free(o);
}

/* Results that the loop does not take are freed with the loader. */
static void tell(gbx_data_loader *l, size_t index, gbx_load_kind kind, gbx_told *told,
                 const char *problem)
{
    gbx_load_outcome *o = gbx_need(calloc(1, sizeof *o));

    o->index = index;
    o->kind = kind;
    if (told != NULL)
        o->told = *told;
    (void)snprintf(o->problem, sizeof o->problem, "%s", problem);
    (void)pthread_mutex_lock(&l->lock);
    *l->found_last = o;
    l->found_last = &o->next;
    (void)pthread_mutex_unlock(&l->lock);
    gbx_mcp_loop_post(l->data->loop, &l->arrival);
}

/* ---- a dataset's turn with the engine -------------------------------------------- */

/* True if no earlier dataset waits, and no other is being loaded. With the lock. */
static bool is_turn(const gbx_data_loader *l, size_t index)
{
    if (l->is_giving)
        return false;
    for (size_t i = 0; i < index; i++)
        if (l->slots[i].is_waiting)
            return false;
    return true;
}

/*
 * Datasets that are ready are loaded one by one, in the order of the list, so that the
 * object of all datasets has its members in that order. A slow one does not delay the
 * others. NULL: no engine could be started.
 */
static gbx_engine *take_turn(gbx_data_loader *l, size_t index, gbx_error *reterr)
{
    gbx_engine *engine;

    (void)pthread_mutex_lock(&l->lock);
    l->slots[index].is_waiting = true;
    (void)pthread_mutex_unlock(&l->lock);
    engine = gbx_box_engine(l->data->box, reterr);
    (void)pthread_mutex_lock(&l->lock);
    while (!is_turn(l, index))
        (void)pthread_cond_wait(&l->changed, &l->lock);
    l->slots[index].is_waiting = false;
    l->is_giving = true;
    (void)pthread_mutex_unlock(&l->lock);
    return engine;
}

/* ---- the readers' threads -------------------------------------------------------- */

static void make_told(gbx_data_loader *l, gbx_engine *engine, size_t index,
                      const gbx_source *source, gbx_told *told)
{
    bool is_table = source->format == GBX_SPEC_CSV || source->format == GBX_SPEC_TSV ||
                    source->format == GBX_SPEC_SQLITE;
    const gbx_description of = {
        .name = l->data->sets[index].spec.name,
        .shown = &l->data->shown,
        .columns = source->rows.columns,
        .columns_len = source->rows.columns_len,
        .brief = l->room / 2,
        .is_table = is_table,
        .limits = &l->data->describing,
        .signal = l->signal,
    };
    gbx_error error = {0};
    char size[GBX_ERROR_MESSAGE_SIZE + 32];

    *told = (gbx_told){0};
    if (gbx_describe(engine, &of, told, &error) != GBX_OK) { /* it can still be used */
        (void)snprintf(size, sizeof size, "cannot be described (%s)", error.message);
        told->type = gbx_need(strdup("unknown"));
        told->brief = gbx_need(strdup("unknown"));
        told->size = gbx_need(strdup(size));
        told->names = gbx_need(strdup(""));
        told->examples = gbx_need(strdup(""));
        told->statistics = gbx_need(strdup("[]"));
    }
    told->file_bytes = source->file_bytes;
    told->json_bytes = source->rows.text_len;
    told->format = source->format;
    told->is_table = is_table;
    if (source->rows.columns_len > 0)
        told->columns =
            gbx_need(strndup(source->rows.columns, source->rows.columns_len));
}

static gbx_status give(gbx_engine *engine, const char *name, const gbx_source *source,
                       gbx_error *reterr)
{
    gbx_view text = gbx_source_text(source);

    return gbx_engine_load(engine, name, text.at, text.len,
                           gbx_source_data_format(source), reterr);
}

/* Returns the engine that now has the dataset; NULL: it was refused. */
static gbx_engine *put_into_engine(gbx_data_loader *l, size_t index, gbx_source *source,
                                   gbx_error *reterr)
{
    gbx_engine *engine = take_turn(l, index, reterr);
    const char *name = l->data->sets[index].spec.name;
    bool is_guess = source->format == GBX_SPEC_GUESS;
    gbx_status status = GBX_E_CLOSED;

    if (engine != NULL && !atomic_load(&l->stop))
        status = give(engine, name, source, reterr);
    if (is_guess)
        source->format = status == GBX_E_DATA ? GBX_SPEC_NDJSON : GBX_SPEC_JSON;
    if (is_guess && status == GBX_E_DATA)
        status = give(engine, name, source, reterr);
    (void)pthread_mutex_lock(&l->lock);
    l->is_giving = false;
    (void)pthread_cond_broadcast(&l->changed);
    (void)pthread_mutex_unlock(&l->lock);
    return status == GBX_OK ? engine : NULL;
}

static void digest(const gbx_source *source, uint8_t ret[GBX_SHA256_SIZE])
{
    gbx_view text = gbx_source_text(source);
    uint64_t also[] = {text.len, source->grows};
    gbx_sha256 sum;

    gbx_sha256_init(&sum);
    gbx_sha256_add(&sum, also, sizeof also);
    gbx_sha256_add(&sum, text.at, text.len);
    gbx_sha256_add(&sum, source->rows.columns, source->rows.columns_len);
    gbx_sha256_end(&sum, ret);
}

/* Load what was read, unless it is unchanged, and report the result. */
static void take_source(gbx_data_loader *l, size_t index, gbx_source *source)
{
    gbx_load_slot *slot = &l->slots[index];
    uint8_t sum[GBX_SHA256_SIZE];
    gbx_error error = {0};
    gbx_told told = {0};
    gbx_engine *engine;
    const char *why;

    if (slot->was_loaded) {
        digest(source, sum);
        if (memcmp(sum, slot->loaded, sizeof sum) == 0) {
            tell(l, index, GBX_LOAD_UNCHANGED, NULL, "");
            return;
        }
    }
    engine = put_into_engine(l, index, source, &error);
    if (engine == NULL) {
        why = strstr(error.message, "': "); /* without the dataset's name */
        tell(l, index, GBX_LOAD_REFUSED, NULL, why != NULL ? why + 3 : error.message);
        return;
    }
    slot->was_loaded = true;
    make_told(l, engine, index, source, &told);
    tell(l, index, GBX_LOAD_LOADED, &told, "");
    digest(source, slot->loaded); /* last: nothing waits for it */
}

static void load(gbx_data_loader *l, size_t index, gbx_source_extent extent)
{
    char problem[GBX_ERROR_MESSAGE_SIZE + 64];
    gbx_error error = {0};
    gbx_source source;
    bool has_reason;

    if (gbx_source_read(&l->data->options, &l->data->sets[index].spec, extent,
                        &l->slots[index].past, &l->stop, &source, &error) == GBX_OK) {
        take_source(l, index, &source);
        gbx_source_cleanup(&source);
        return;
    }
    has_reason = error.os_errno != 0 && error.status == GBX_E_OS;
    (void)snprintf(problem, sizeof problem, "%s%s%s", error.message,
                   has_reason ? ": " : "", has_reason ? strerror(error.os_errno) : "");
    tell(l, index,
         error.status == GBX_E_DATA && error.os_errno == EBUSY ? GBX_LOAD_HELD
                                                               : GBX_LOAD_REFUSED,
         NULL, problem);
}

static bool is_query(const gbx_data_loader *l, size_t index)
{
    return l->data->sets[index].spec.format == GBX_SPEC_SQLITE;
}

/* Find a dataset to read that may be read now. Search starts after the last one, so
 * that a dataset requested again and again delays no other. With the lock. */
static bool find_wanted(const gbx_data_loader *l, size_t *ret)
{
    for (size_t i = 0; i < l->data->count; i++) {
        size_t index = (l->next + i) % l->data->count;
        const gbx_load_slot *slot = &l->slots[index];

        if (!slot->is_wanted || slot->is_busy ||
            (is_query(l, index) && l->queries == QUERIES_MAX))
            continue;
        *ret = index;
        return true;
    }
    return false;
}

/* Take the next requested dataset, and mark it busy. False: the loader stops. */
static bool take_wanted(gbx_data_loader *l, size_t *ret, gbx_source_extent *ret_extent)
{
    bool found = false;

    (void)pthread_mutex_lock(&l->lock);
    while (!atomic_load(&l->stop) && !(found = find_wanted(l, ret)))
        (void)pthread_cond_wait(&l->changed, &l->lock);
    if (found) {
        *ret_extent = l->slots[*ret].extent;
        l->slots[*ret].is_wanted = false;
        l->slots[*ret].is_busy = true;
        l->queries += is_query(l, *ret);
        l->next = *ret + 1;
    }
    (void)pthread_mutex_unlock(&l->lock);
    return found;
}

static void *read_wanted(void *user)
{
    gbx_data_loader *l = user;
    gbx_source_extent extent;
    size_t index;

    while (take_wanted(l, &index, &extent)) {
        load(l, index, extent);
        (void)pthread_mutex_lock(&l->lock);
        l->slots[index].is_busy = false;
        l->queries -= is_query(l, index);
        (void)pthread_cond_broadcast(&l->changed);
        (void)pthread_mutex_unlock(&l->lock);
    }
    return NULL;
}

/* ---- on the loop ----------------------------------------------------------------- */

static void arrive(void *arg)
{
    gbx_data_loader *l = arg;
    gbx_load_outcome *o;

    while ((o = take_found(l)) != NULL) {
        l->arrived(l->data, o);
        outcome_free(o);
    }
}

gbx_status gbx_data_loader_start(gbx_data_loader *l, gbx_mcp_data *data,
                                 gbx_load_arrived_fn *arrived, gbx_error *reterr)
{
    l->data = data;
    l->arrived = arrived;
    l->arrival = (gbx_mcp_post){.run = arrive, .arg = l};
    atomic_init(&l->stop, false);
    l->slots = gbx_need(calloc(data->count, sizeof *l->slots));
    l->signal = gbx_need(gbx_signal_new());
    l->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    l->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    l->found_last = &l->found;
    for (size_t i = 0; i < data->count; i++)
        l->slots[i].is_wanted = true;
    while (l->reader_count < GBX_LOADER_READERS && l->reader_count < data->count &&
           gbx_thread_start(&l->readers[l->reader_count], read_wanted, l) == 0)
        l->reader_count++;
    return l->reader_count > 0 /* fewer readers are only slower */
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_OS, "cannot start a thread for datasets");
}

void gbx_data_loader_want(gbx_data_loader *l, size_t index, gbx_source_extent extent)
{
    (void)pthread_mutex_lock(&l->lock);
    l->slots[index].is_wanted = true;
    l->slots[index].extent = extent;
    (void)pthread_cond_broadcast(&l->changed);
    (void)pthread_mutex_unlock(&l->lock);
}

void gbx_data_loader_stop(gbx_data_loader *l)
{
    gbx_load_outcome *o;

    if (l->slots == NULL)
        return;
    atomic_store(&l->stop, true);
    gbx_signal_abort(l->signal);
    (void)pthread_mutex_lock(&l->lock);
    (void)pthread_cond_broadcast(&l->changed);
    (void)pthread_mutex_unlock(&l->lock);
    for (size_t i = 0; i < l->reader_count; i++)
        (void)pthread_join(l->readers[i], NULL);
    gbx_signal_free(l->signal);
    while ((o = take_found(l)) != NULL)
        outcome_free(o);
    (void)pthread_cond_destroy(&l->changed);
    (void)pthread_mutex_destroy(&l->lock);
    free(l->slots);
    l->slots = NULL;
}

/* ---- their state ----------------------------------------------------------------- */

static bool is_of_name(char character)
{
    return isalnum((unsigned char)character) || character == '_' || character == '$';
}

/* Does the code have that name as a word? */
static bool mentions(const char *code, size_t code_len, const char *name)
{
    const char *end = code + code_len;
    size_t len = strlen(name);

    for (const char *at = code;
         (at = memmem(at, (size_t)(end - at), name, len)) != NULL; at++)
        if ((at == code || !is_of_name(at[-1])) &&
            (at + len == end || !is_of_name(at[len])))
            return true;
    return false;
}

bool gbx_data_may_read(const gbx_dataset_state *set, const char *code, size_t len)
{
    return mentions(code, len, set->spec.name) || mentions(code, len, "datasets");
}

void gbx_data_say_unread(void *user, const char *code, size_t len, gbx_buf *to)
{
    const gbx_mcp_data *d = user;
    bool is_named = false;

    for (size_t i = 0; i < d->count; i++)
        is_named |= !d->sets[i].is_loaded && mentions(code, len, d->sets[i].spec.name);
    for (size_t i = 0; i < d->count; i++)
        if (!d->sets[i].is_loaded &&
            mentions(code, len, is_named ? d->sets[i].spec.name : "datasets"))
            (void)gbx_buf_printf(to, "%sdataset '%s' could not be read: %s",
                                 to->len > 0 ? "; " : "", d->sets[i].spec.name,
                                 d->sets[i].problem);
}

bool gbx_data_is_ready(const gbx_mcp_data *d, const gbx_dataset_state *set)
{
    if (set != NULL)
        return set->is_settled;
    for (size_t i = 0; i < d->count; i++)
        if (!d->sets[i].is_settled)
            return false;
    return true;
}

const gbx_dataset_state *gbx_data_find(const gbx_mcp_data *d, const char *name)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->sets[i].spec.name, name) == 0)
            return &d->sets[i];
    return NULL;
}

void gbx_data_say_names(const gbx_mcp_data *d, gbx_buf *to)
{
    (void)gbx_buf_printf(to, "there %s ", d->count == 1 ? "is" : "are");
    for (size_t i = 0; i < d->count && i < NAMED_MAX; i++)
        (void)gbx_buf_printf(to, "%s%s", i > 0 ? ", " : "", d->sets[i].spec.name);
    (void)gbx_buf_puts(to, d->count > NAMED_MAX ? ", ..." : "");
}

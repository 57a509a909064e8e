/* SPDX-License-Identifier: MIT */
/* recorder - writes a call to its recording, which contains only whole lines. */
#include "engine/engine.h"

#include "base/clock.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- digests of datasets and preloads --------------------------------------------- */

/* Reading takes a while, so it is done without the lock, through a duplicate descriptor,
 * and the digest is kept with the source. */

static bool digest_of(int fd, uint64_t size, uint8_t *ret)
{
    uint8_t data[GBX_KIB(16)];
    gbx_sha256 s;

    gbx_sha256_init(&s);
    for (uint64_t at = 0; at < size;) {
        ssize_t n = pread(fd, data, sizeof data, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        gbx_sha256_add(&s, data, (size_t)n);
        at += (uint64_t)n;
    }
    gbx_sha256_end(&s, ret);
    return true;
}

static const gbx_dataset *first_without(const gbx_dataset *list)
{
    while (list != NULL && list->has_sha256)
        list = list->next;
    return list;
}

/* Find a source without a digest and duplicate its descriptor; -1: all have one. */
static int find_without(gbx_engine *engine, uint64_t *ret_size, uint64_t *ret_serial)
{
    const gbx_dataset *d;
    int fd = -1;

    (void)pthread_mutex_lock(&engine->lock);
    d = first_without(engine->datasets);
    if (d == NULL)
        d = first_without(engine->preloads);
    if (d != NULL) {
        fd = fcntl(d->memfd, F_DUPFD_CLOEXEC, 0);
        *ret_size = d->size;
        *ret_serial = d->serial;
        if (fd < 0)
            fd = -errno - 1;
    }
    (void)pthread_mutex_unlock(&engine->lock);
    return fd;
}

static void keep_digest(gbx_engine *engine, uint64_t serial, const uint8_t *digest)
{
    gbx_dataset *lists[2];

    (void)pthread_mutex_lock(&engine->lock);
    lists[0] = engine->datasets;
    lists[1] = engine->preloads;
    for (size_t i = 0; i < GBX_COUNTOF(lists); i++) {
        for (gbx_dataset *d = lists[i]; d != NULL; d = d->next) {
            if (d->serial == serial) {
                memcpy(d->sha256, digest, sizeof d->sha256);
                d->has_sha256 = true;
            }
        }
    }
    (void)pthread_mutex_unlock(&engine->lock);
}

static gbx_status make_digests(gbx_engine *engine, gbx_error *reterr)
{
    for (;;) {
        uint8_t digest[GBX_SHA256_SIZE];
        uint64_t size = 0, serial = 0;
        GBX_CLEANUP(gbx_fd_close) int fd = find_without(engine, &size, &serial);

        if (fd == -1)
            return GBX_OK;
        if (fd < 0 || !digest_of(fd, size, digest))
            return gbx_fail(reterr, GBX_E_OS,
                            "cannot read a dataset or preload once more");
        keep_digest(engine, serial, digest);
    }
}

/* False if memory is out, or if a source was added meanwhile. The lock is held. */
static bool copy_all(const gbx_dataset *list, gbx_record_head *to,
                     gbx_record_sources *ret)
{
    size_t count = 0;

    for (const gbx_dataset *d = list; d != NULL; d = d->next)
        count++;
    ret->list = calloc(count + 1, sizeof *ret->list);
    if (ret->list == NULL)
        return false;
    for (const gbx_dataset *d = list; d != NULL; d = d->next) {
        gbx_record_source *s = &ret->list[ret->count];
        size_t len = strlen(d->name);
        uint8_t *name = gbx_record_chunk(to, len);

        if (name == NULL || !d->has_sha256)
            return false;
        memcpy(name, d->name, len);
        *s = (gbx_record_source){.name = {name, len}, .size = d->size};
        memcpy(s->sha256, d->sha256, sizeof s->sha256);
        ret->count++;
    }
    return true;
}

gbx_status gbx_sources_take(gbx_engine *engine, gbx_record_head *to,
                            uint64_t *ret_load_seq, gbx_error *reterr)
{
    gbx_status status = make_digests(engine, reterr);
    bool ok;

    if (status != GBX_OK)
        return status;
    (void)pthread_mutex_lock(&engine->lock);
    ok = copy_all(engine->datasets, to, &to->datasets) &&
         copy_all(engine->preloads, to, &to->preloads);
    /* A source that is being loaded is in the lists, but no worker has it yet: none
     * fits. */
    *ret_load_seq = engine->is_loading ? 0 : engine->load_seq;
    (void)pthread_mutex_unlock(&engine->lock);
    return ok ? GBX_OK
              : gbx_fail(
                    reterr, GBX_E_NOMEM,
                    "no memory for the recording, or a dataset or preload has just come");
}

/* ---- lines -------------------------------------------------------------------------- */

static double at_ms(const gbx_run *run)
{
    return (double)(gbx_clock_now_ns() - run->exchange.start_ns) / 1e6;
}

/* Where the next line goes, or NULL; *ret_len is the length before it. */
static gbx_buf *begin_line(gbx_run *run, size_t *ret_len)
{
    gbx_recording *r = run->recording;

    if (r->is_cut)
        return NULL;
    *ret_len = r->text.len;
    return &r->text;
}

static void end_line(gbx_run *run, size_t len)
{
    gbx_recording *r = run->recording;

    if (!r->text.failed)
        return;
    r->text.failed = false;
    r->text.len = len;
    r->is_cut = true;
}

/* ---- what the call was given -------------------------------------------------------- */

void gbx_recorder_spread_seed(uint64_t seed, uint8_t entropy[GBX_ENTROPY_SIZE])
{
    for (size_t i = 0; i < GBX_ENTROPY_SIZE; i++)
        entropy[i] = (uint8_t)(seed >> (8 * (i % 8)));
}

/* Choose everything that the caller left to chance, for good. */
static gbx_status fix_chance(gbx_run *run, gbx_error *reterr)
{
    gbx_call *call = &run->call;
    struct {
        uint64_t seed;
        uint8_t entropy[GBX_ENTROPY_SIZE];
    } random;

    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return gbx_fail(reterr, GBX_E_OS, "cannot get a seed");
    if ((call->flags & GBX_CALL_SEEDED) == 0) {
        call->seed = random.seed;
        memcpy(run->entropy, random.entropy, sizeof run->entropy);
    } else {
        gbx_recorder_spread_seed(call->seed, run->entropy);
    }
    run->has_entropy = true;
    if ((call->flags & GBX_CALL_FIXED_NOW) == 0)
        call->now_ms = gbx_clock_wall_ms();
    call->flags |= GBX_CALL_SEEDED | GBX_CALL_FIXED_NOW;
    return GBX_OK;
}

static void take_limits(const gbx_limits *from, gbx_record_head *to)
{
    to->limits.timeout_ms = from->timeout_ms;
    to->limits.cpu_ms = from->cpu_ms;
    to->limits.memory_bytes = from->memory_bytes;
    to->limits.output_bytes = from->output_bytes;
    to->limits.code_bytes = from->code_bytes;
    to->limits.log_bytes = from->log_bytes;
    to->limits.host_calls = from->host_calls;
    to->limits.host_calls_at_once = from->host_calls_at_once;
    to->limits.host_out_bytes = from->host_out_bytes;
    to->limits.host_in_bytes = from->host_in_bytes;
}

static void take_call(const gbx_run *run, gbx_record_head *to)
{
    const gbx_call *call = &run->call;

    to->library = (gbx_span){(const uint8_t *)GBX_VERSION, strlen(GBX_VERSION)};
    to->form = (int)call->form;
    to->no_guard = (call->flags & GBX_CALL_NO_GUARD) != 0;
    to->seed = call->seed;
    to->now_ms = call->now_ms;
    memcpy(to->entropy, run->entropy, sizeof to->entropy);
    to->code = (gbx_span){(const uint8_t *)call->code, call->code_len};
    to->dataset = (gbx_span){(const uint8_t *)call->dataset,
                             call->dataset != NULL ? strlen(call->dataset) : 0};
    to->bindings = (gbx_span){(const uint8_t *)call->bindings, call->bindings_len};
    take_limits(&run->limits, to);
    if (call->input == NULL)
        return;
    to->has_input = true;
    to->input_size = call->input_len;
    gbx_sha256_of(call->input, call->input_len, to->input_sha256);
    if ((call->record->flags & GBX_RECORD_INPUT) != 0)
        to->input = (gbx_span){(const uint8_t *)call->input, call->input_len};
}

/* Lists of the head: a line for each entry, or JSON. */
typedef struct lists {
    gbx_buf functions;
    gbx_buf env;
    gbx_buf sites;
} lists;

static void init_lists(lists *l)
{
    gbx_buf_init(&l->functions, GBX_CONFIG_MAX);
    gbx_buf_init(&l->env, GBX_CONFIG_MAX);
    gbx_buf_init(&l->sites, GBX_CONFIG_MAX);
}

static void cleanup_lists(lists *l)
{
    gbx_buf_cleanup(&l->functions);
    gbx_buf_cleanup(&l->env);
    gbx_buf_cleanup(&l->sites);
}

static gbx_span span_of_buf(const gbx_buf *buf)
{
    return (gbx_span){buf->data, buf->len};
}

static bool put_sites(const gbx_fetch_policy *fetch, gbx_buf *to)
{
    char text[GBX_SITE_TEXT_SIZE];

    for (size_t i = 0; i < fetch->site_count; i++)
        (void)gbx_buf_printf(to, "%s%s", i > 0 ? "\n" : "",
                             gbx_site_print(&fetch->sites[i], text));
    return !to->failed;
}

/* What the code finds in its realm. */
static bool take_box(const gbx_run *run, gbx_record_head *to, lists *l)
{
    const gbx_policy *policy = gbx_run_policy(run);

    to->globals = (int)run->engine->settings.options.globals;
    to->capabilities = gbx_run_capabilities(run) & (GBX_CAP_NONE - 1u);
    if (!gbx_hostcalls_names(run->engine, policy, false, &l->functions, NULL))
        return false;
    to->functions = span_of_buf(&l->functions);
    if (policy == NULL)
        return true;
    to->has_policy = true;
    gbx_policy_digest(policy, to->policy);
    if ((to->capabilities & GBX_CAP_FETCH) && !put_sites(&policy->fetch, &l->sites))
        return false;
    if ((to->capabilities & GBX_CAP_ENV) && !gbx_policy_put_env(policy, &l->env))
        return false;
    to->sites = span_of_buf(&l->sites);
    to->env = span_of_buf(&l->env);
    return true;
}

static gbx_status put_head(gbx_run *run, gbx_record_head *head, gbx_buf *to,
                           gbx_error *reterr)
{
    GBX_CLEANUP(cleanup_lists) lists l;
    char engine[sizeof run->engine->facts.engine];
    gbx_status status;

    init_lists(&l);
    (void)pthread_mutex_lock(&run->engine->lock);
    memcpy(engine, run->engine->facts.engine, sizeof engine);
    (void)pthread_mutex_unlock(&run->engine->lock);
    head->engine = (gbx_span){(const uint8_t *)engine, strlen(engine)};
    take_call(run, head);
    status = gbx_sources_take(run->engine, head, &run->recorded_load_seq, reterr);
    if (status != GBX_OK)
        return status;
    if (!take_box(run, head, &l))
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the recording");
    if (!gbx_record_put_head(to, head))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "the call is larger than a recording can be, or memory is out");
    return GBX_OK;
}

/* ---- how it ended --------------------------------------------------------------------- */

static void digest_logs(const gbx_result *r, uint8_t *ret)
{
    gbx_sha256 s;

    gbx_sha256_init(&s);
    for (size_t i = 0; i < r->log_count; i++) {
        const gbx_log *log = &r->logs[i];
        uint8_t head[9] = {(uint8_t)log->level};

        for (size_t b = 0; b < 8; b++)
            head[1 + b] = (uint8_t)((uint64_t)log->text_len >> (8 * b));
        gbx_sha256_add(&s, head, sizeof head);
        gbx_sha256_add(&s, log->text, log->text_len);
    }
    gbx_sha256_end(&s, ret);
}

static gbx_span span_of(const char *text)
{
    return (gbx_span){(const uint8_t *)text, strlen(text)};
}

gbx_status gbx_recorder_begin(gbx_run *run, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_record_head_cleanup) gbx_record_head head = {0};
    gbx_recording *r = run->call.record;
    gbx_status status;

    if (r->state != GBX_RECORDING_EMPTY)
        return gbx_fail(reterr, GBX_E_USAGE, "call.record is not empty");
    if (run->engine->runner.execute != NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "calls of the runner '%s' cannot be recorded",
                        run->engine->runner.name);
    run->recording = r;
    r->state = GBX_RECORDING_FILLING;
    status = fix_chance(run, reterr);
    return status == GBX_OK ? put_head(run, &head, &r->text, reterr) : status;
}

void gbx_recorder_start(gbx_run *run)
{
    /* Datasets or functions were replaced while it waited for its worker. */
    if (run->worker->load_seq != run->recorded_load_seq)
        run->recording->is_cut = true;
}

void gbx_recorder_request(gbx_run *run, const gbx_msg_hostcall *msg)
{
    size_t len;
    gbx_buf *to = begin_line(run, &len);

    if (to == NULL)
        return;
    (void)gbx_record_put_request(to, msg, at_ms(run));
    end_line(run, len);
}

void gbx_recorder_cancel(gbx_run *run, uint32_t id)
{
    size_t len;
    gbx_buf *to = begin_line(run, &len);

    if (to == NULL)
        return;
    (void)gbx_record_put_cancel(to, id);
    end_line(run, len);
}

void gbx_recorder_wait(gbx_run *run, uint32_t ms)
{
    size_t len;
    gbx_buf *to = begin_line(run, &len);

    if (to == NULL)
        return;
    (void)gbx_record_put_wait(to, ms);
    end_line(run, len);
}

void gbx_recorder_answer(gbx_run *run, const gbx_msg_answer *msg)
{
    size_t len;
    gbx_buf *to = begin_line(run, &len);

    if (to == NULL)
        return;
    (void)gbx_record_put_answer(to, msg, at_ms(run));
    end_line(run, len);
}

void gbx_recorder_wake(gbx_run *run)
{
    size_t len;
    gbx_buf *to = begin_line(run, &len);

    if (to == NULL)
        return;
    (void)gbx_record_put_wake(to);
    end_line(run, len);
}

void gbx_record_end_of(const gbx_result *r, gbx_record_end *ret)
{
    *ret = (gbx_record_end){
        .code = (int)r->code,
        .error = span_of(gbx_result_error(r)),
        .stack = span_of(gbx_result_stack(r)),
        .line = r->location.line,
        .column = r->location.column,
        .logs = r->log_count,
        .logs_cut = r->is_truncated,
        .wall_ms = r->stats.wall_ms,
    };
    if (r->has_value) {
        ret->value = (gbx_span){(const uint8_t *)r->value, r->value_len};
        ret->value_size = r->value_len;
        gbx_sha256_of(r->value, r->value_len, ret->value_sha256);
    }
    digest_logs(r, ret->logs_sha256);
}

void gbx_recorder_end(gbx_run *run)
{
    gbx_recording *r = run->recording;
    gbx_record_end end;

    gbx_record_end_of(run->result, &end);
    end.is_whole = !r->is_cut;
    r->text.ceiling = r->text.len + GBX_RECORD_END_MAX;
    /* A recording without its end is not valid. */
    if (gbx_record_put_end(&r->text, &end) && gbx_buf_append(&r->text, "", 1)) {
        r->state = GBX_RECORDING_DONE;
        run->recording = NULL;
    }
}

void gbx_recorder_leave(gbx_run *run)
{
    gbx_recording *r = run->recording;

    gbx_buf_cleanup(&r->text);
    gbx_buf_init(&r->text, GBX_RECORD_MAX);
    r->is_cut = false;
    r->state = GBX_RECORDING_EMPTY;
    run->recording = NULL;
}

/* SPDX-License-Identifier: MIT */
/* recorder - writes a call to its recording, in whole lines only. */
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

/* ---- digests of datasets and preloads -------------------------------------------- */

/* Reading takes a while, so it is done without the lock, through a duplicate
 * descriptor. The digest is then stored with the source. */

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

/* The source with that serial number; for 0, one without a digest. The lock is held. */
static gbx_dataset *find_source(const gbx_engine *engine, uint64_t serial)
{
    gbx_dataset *const lists[] = {engine->datasets, engine->preloads};

    for (size_t i = 0; i < GBX_COUNTOF(lists); i++)
        for (gbx_dataset *d = lists[i]; d != NULL; d = d->next)
            if (serial != 0 ? d->serial == serial : !d->has_sha256)
                return d;
    return NULL;
}

gbx_status gbx_sources_digest(gbx_engine *engine, gbx_error *reterr)
{
    for (;;) {
        GBX_CLEANUP(gbx_fd_close) int fd = -1;
        uint8_t digest[GBX_SHA256_SIZE];
        gbx_dataset *d;
        uint64_t size = 0, serial = 0;

        (void)pthread_mutex_lock(&engine->lock);
        d = find_source(engine, 0);
        if (d != NULL) {
            fd = fcntl(d->memfd, F_DUPFD_CLOEXEC, 0);
            size = d->size;
            serial = d->serial;
        }
        (void)pthread_mutex_unlock(&engine->lock);
        if (serial == 0)
            return GBX_OK;
        if (fd < 0 || !digest_of(fd, size, digest))
            return gbx_fail(reterr, GBX_E_OS,
                            "cannot read a dataset or preload once more");
        (void)pthread_mutex_lock(&engine->lock);
        d = find_source(engine, serial); /* it may have been replaced */
        if (d != NULL) {
            memcpy(d->sha256, digest, sizeof d->sha256);
            d->has_sha256 = true;
        }
        (void)pthread_mutex_unlock(&engine->lock);
    }
}

/* False if memory is out, or a newly added source has no digest. The lock is held. */
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
    gbx_status status = gbx_sources_digest(engine, reterr);
    bool ok;

    if (status != GBX_OK)
        return status;
    (void)pthread_mutex_lock(&engine->lock);
    ok = copy_all(engine->datasets, to, &to->datasets) &&
         copy_all(engine->preloads, to, &to->preloads);
    /* A source that is being loaded is in the lists, but no worker has it yet: 0 equals
     * no worker's load_seq. */
    *ret_load_seq = gbx_engine_is_loading(engine) ? 0 : engine->load_seq;
    (void)pthread_mutex_unlock(&engine->lock);
    return ok ? GBX_OK
              : gbx_fail(
                    reterr, GBX_E_NOMEM,
                    "no memory for the recording, or a dataset or preload has just come");
}

/* ---- the call's inputs ----------------------------------------------------------- */

void gbx_recorder_spread_seed(uint64_t seed, uint8_t entropy[GBX_ENTROPY_SIZE])
{
    for (size_t i = 0; i < GBX_ENTROPY_SIZE; i++)
        entropy[i] = (uint8_t)(seed >> (8 * (i % 8)));
}

/* Fix the seed, the entropy and the clock where the caller did not. */
static gbx_status fix_chance(gbx_run *run, gbx_error *reterr)
{
    gbx_call *call = &run->call;
    uint8_t *entropy = call->record->entropy;

    if (getrandom(entropy, GBX_ENTROPY_SIZE, 0) != (ssize_t)GBX_ENTROPY_SIZE)
        return gbx_fail(reterr, GBX_E_OS, "cannot get a seed");
    if ((call->flags & GBX_CALL_SEEDED) != 0)
        gbx_recorder_spread_seed(call->seed, entropy);
    memcpy(&call->seed, entropy, sizeof call->seed);
    run->entropy = entropy;
    if ((call->flags & GBX_CALL_FIXED_NOW) == 0)
        call->now_ms = gbx_clock_wall_ms();
    call->flags |= GBX_CALL_SEEDED | GBX_CALL_FIXED_NOW;
    return GBX_OK;
}

static void take_call(const gbx_run *run, gbx_record_head *to)
{
    const gbx_call *call = &run->call;

    to->version = GBX_RECORD_VERSION;
    to->library = gbx_span_of(GBX_VERSION);
    to->recorded_at = (double)gbx_clock_wall_ms();
    to->form = (int)call->form;
    to->no_guard = (call->flags & GBX_CALL_NO_GUARD) != 0;
    to->now_ms = call->now_ms;
    memcpy(to->entropy, run->entropy, sizeof to->entropy);
    to->code = (gbx_span){(const uint8_t *)call->code, call->code_len};
    if (call->dataset != NULL)
        to->dataset = gbx_span_of(call->dataset);
    to->bindings = (gbx_span){(const uint8_t *)call->bindings, call->bindings_len};
    to->limits = run->limits;
    if (call->input == NULL)
        return;
    to->has_input = true;
    to->input_size = call->input_len;
    gbx_sha256_of(call->input, call->input_len, to->input_sha256);
    if ((call->record->flags & GBX_RECORD_INPUT) != 0)
        to->input = (gbx_span){(const uint8_t *)call->input, call->input_len};
}

/* Globals, capabilities, functions, sites and env of the code; bufs hold the lists. */
static bool take_box(const gbx_run *run, gbx_record_head *to, gbx_buf bufs[3])
{
    const gbx_policy *policy = gbx_run_policy(run);
    gbx_span *const spans[] = {&to->functions, &to->sites, &to->env};
    char site[GBX_SITE_TEXT_SIZE];
    bool done;

    to->globals = (int)run->engine->settings.options.globals;
    to->capabilities = run->capabilities & (GBX_CAP_NONE - 1u);
    done = gbx_hostcalls_names(run->engine, policy, false, &bufs[0], NULL);
    if (policy != NULL) {
        for (size_t i = 0; i < policy->fetch.site_count; i++)
            if (to->capabilities & GBX_CAP_FETCH)
                done = gbx_buf_printf(&bufs[1], "%s%s", i > 0 ? "\n" : "",
                                      gbx_site_print(&policy->fetch.sites[i], site)) &&
                       done;
        if (to->capabilities & GBX_CAP_ENV)
            done = gbx_policy_put_env(policy, &bufs[2]) && done;
    }
    for (size_t i = 0; i < GBX_COUNTOF(spans); i++)
        *spans[i] = (gbx_span){bufs[i].data, bufs[i].len};
    return done;
}

static gbx_status put_head(gbx_run *run, gbx_buf *to, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_record_head_cleanup) gbx_record_head head = {0};
    char engine[GBX_ENGINE_NAME_SIZE];
    gbx_buf bufs[3];
    gbx_status status;
    bool done;

    gbx_engine_name(run->engine, engine);
    head.engine = gbx_span_of(engine);
    take_call(run, &head);
    status = gbx_sources_take(run->engine, &head, &run->call.record->load_seq, reterr);
    if (status != GBX_OK)
        return status;
    for (size_t i = 0; i < GBX_COUNTOF(bufs); i++)
        gbx_buf_init(&bufs[i], GBX_CONFIG_MAX);
    done = take_box(run, &head, bufs);
    if (!done)
        status = gbx_fail(reterr, GBX_E_NOMEM, "no memory for the recording");
    else if (!gbx_record_put_head(to, &head))
        status =
            gbx_fail(reterr, GBX_E_USAGE,
                     "the call is larger than a recording can be, or memory is out");
    for (size_t i = 0; i < GBX_COUNTOF(bufs); i++)
        gbx_buf_cleanup(&bufs[i]);
    return status;
}

/* ---- how it ended ---------------------------------------------------------------- */

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

void gbx_record_end_of(const gbx_result *r, gbx_record_end *ret)
{
    *ret = (gbx_record_end){
        .code = (int)r->code,
        .error = gbx_record_kept(gbx_span_of(gbx_result_error(r))),
        .stack = gbx_record_kept(gbx_span_of(gbx_result_stack(r))),
        .line = r->location.line,
        .column = r->location.column,
        .logs = r->log_count,
        .logs_cut = r->is_truncated,
        .wall_ms = r->stats.wall_ms,
    };
    if (r->has_value) {
        ret->value =
            gbx_record_kept((gbx_span){(const uint8_t *)r->value, r->value_len});
        ret->value_size = r->value_len;
        gbx_sha256_of(r->value, r->value_len, ret->value_sha256);
    }
    digest_logs(r, ret->logs_sha256);
}

/* ---- while it runs: between the run and the host --------------------------------- */

/* Append a line. If it does not fit, the recording is cut: nothing more is added. */
static void add(gbx_run *run, gbx_record_event *event)
{
    gbx_recording *r = run->call.record;
    size_t len = r->text.len;

    if (r->is_cut)
        return;
    event->at_ms = (double)(gbx_clock_now_ns() - run->exchange.start_ns) / 1e6;
    if (gbx_record_put(&r->text, event))
        return;
    r->text.failed = false;
    r->text.len = len;
    r->is_cut = true;
}

static void record_open(gbx_run *run, gbx_buf *withheld, gbx_buf *env)
{
    gbx_live_host.open(run, withheld, env);
    /* Datasets or functions changed while the call waited for its worker. */
    if (run->worker->load_seq != run->call.record->load_seq)
        run->call.record->is_cut = true;
}

static void record_request(gbx_run *run, const gbx_msg_hostcall *msg)
{
    gbx_record_event event = {.kind = GBX_RECORD_REQUEST, .id = msg->id};

    gbx_record_request_of(msg, &event.request);
    add(run, &event);
    gbx_live_host.request(run, msg);
}

static void record_cancel(gbx_run *run, uint32_t id)
{
    add(run, &(gbx_record_event){.kind = GBX_RECORD_CANCEL, .id = id});
    gbx_live_host.cancel(run, id);
}

static bool record_wake(gbx_run *run, int64_t now_ns)
{
    if (run->wake_ns == 0)
        add(run,
            &(gbx_record_event){.kind = GBX_RECORD_WAIT, .ms = run->exchange.wake_ms});
    if (!gbx_live_host.wake(run, now_ns))
        return false;
    add(run, &(gbx_record_event){.kind = GBX_RECORD_WAKE});
    return true;
}

static bool record_answer(gbx_run *run, const gbx_msg_answer *msg)
{
    add(run,
        &(gbx_record_event){.kind = GBX_RECORD_ANSWER, .id = msg->id, .answer = *msg});
    return gbx_live_host.answer(run, msg);
}

/* Complete the recording. If the run failed, or its end cannot be written, empty it. */
static void record_close(gbx_run *run, gbx_status status)
{
    gbx_recording *r = run->call.record;
    gbx_record_event event = {.kind = GBX_RECORD_END};

    if (status == GBX_OK) {
        gbx_record_end_of(run->result, &event.end);
        event.end.is_whole = !r->is_cut;
        r->text.ceiling = r->text.len + GBX_RECORD_END_MAX;
        if (gbx_record_put(&r->text, &event) && gbx_buf_append(&r->text, "", 1))
            r->state = GBX_RECORDING_DONE;
    }
    if (r->state != GBX_RECORDING_DONE) {
        gbx_buf_cleanup(&r->text);
        gbx_buf_init(&r->text, GBX_RECORD_MAX);
        r->is_cut = false;
        r->state = GBX_RECORDING_EMPTY;
    }
}

static const gbx_run_host record_host = {
    .open = record_open,
    .request = record_request,
    .cancel = record_cancel,
    .wake = record_wake,
    .answer = record_answer,
    .close = record_close,
};

gbx_status gbx_recorder_begin(gbx_run *run, gbx_error *reterr)
{
    gbx_recording *r = run->call.record;
    gbx_status status;

    if (r->state != GBX_RECORDING_EMPTY)
        return gbx_fail(reterr, GBX_E_USAGE, "call.record is not empty");
    if (run->engine->runner.execute != NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "calls of the runner '%s' cannot be recorded",
                        run->engine->runner.name);
    run->host = &record_host;
    r->state = GBX_RECORDING_FILLING;
    status = fix_chance(run, reterr);
    return status == GBX_OK ? put_head(run, &r->text, reterr) : status;
}

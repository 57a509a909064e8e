/* SPDX-License-Identifier: MIT */
/*
 * replayer - compares a call with its recording, and describes how they differ. It
 * always holds the recording's next event. The whole text has been checked before, so
 * an event is never malformed; it may only differ from the actual one.
 */
#include "engine/engine.h"

#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum length of the text about an actual or expected event, in bytes. */
#define SHOWN_MAX 2000u

typedef struct gbx_replayer {
    gbx_record_head head;
    gbx_record_cursor cursor;
    gbx_record_event next; /* the expected event */
    gbx_limits limits;
    char dataset[GBX_NAME_MAX]; /* name of the call's dataset, or "" */
    gbx_policy *sites;          /* for the guard only; nothing is fetched */
    bool is_over;
    uint32_t seen; /* requests of the worker */
} gbx_replayer;

/* ---- how two events differ --------------------------------------------------- */

static bool spans_equal(gbx_span a, gbx_span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* How two ends may differ, most important first. */
typedef enum difference {
    IN_NOTHING,
    IN_CODE,
    IN_VALUE,
    IN_ERROR,
    IN_STACK,
    IN_LOGS,
} difference;

static difference end_difference(const gbx_record_end *a, const gbx_record_end *b)
{
    if (a->code != b->code)
        return IN_CODE;
    if ((a->value.data == NULL) != (b->value.data == NULL) ||
        a->value_size != b->value_size ||
        memcmp(a->value_sha256, b->value_sha256, sizeof a->value_sha256) != 0)
        return IN_VALUE;
    if (!spans_equal(a->error, b->error) || a->line != b->line ||
        a->column != b->column)
        return IN_ERROR;
    if (!spans_equal(a->stack, b->stack))
        return IN_STACK;
    if (a->logs != b->logs || a->logs_cut != b->logs_cut ||
        memcmp(a->logs_sha256, b->logs_sha256, sizeof a->logs_sha256) != 0)
        return IN_LOGS;
    return IN_NOTHING;
}

static void stop(gbx_run *run)
{
    run->replayer->is_over = true;
    run->exchange.state = GBX_EXCHANGE_STOPPED;
}

static gbx_span cut(gbx_span text)
{
    return (gbx_span){text.data, gbx_utf8_cut(text.data, text.len, SHOWN_MAX)};
}

/* As a line of a recording. Long texts are cut: their digests show the difference. */
static void show(const gbx_record_event *event, gbx_buf *to)
{
    gbx_record_event e = *event;

    if (e.kind == GBX_RECORD_REQUEST) {
        e.request.args = cut(e.request.args);
        e.request.body = cut(e.request.body);
    } else if (e.kind == GBX_RECORD_END) {
        e.end.value = cut(e.end.value);
        e.end.error = cut(e.end.error);
        e.end.stack = cut(e.end.stack);
    }
    (void)gbx_record_put(to, &e);
}

/* End the replay: the call differs from its recording. what: how; host_call: at which
 * one, or 0. Both events are shown as lines of a recording. */
static void diverge(gbx_run *run, const char *what, uint32_t host_call,
                    const gbx_record_event *recorded, const gbx_record_event *came)
{
    const gbx_record_event *const sides[] = {recorded, came};
    gbx_result *r = run->result;
    char message[320];

    r->replay.how = GBX_REPLAYED_DIVERGED;
    r->replay.what = what;
    r->replay.host_call = host_call;
    r->replay.line = recorded->line;
    for (size_t i = 0; i < GBX_COUNTOF(sides); i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {.ceiling = GBX_RECORD_END_MAX};

        show(sides[i], &line);
        gbx_result_set_replay(r, i == 0 ? GBX_REPLAY_RECORDED : GBX_REPLAY_CAME,
                              (gbx_span){line.data, line.len});
    }
    stop(run);
    r->location = (gbx_location){.frame = ""};
    if (host_call > 0)
        (void)snprintf(message, sizeof message,
                       "the replay diverged at host call %u: %s", host_call, what);
    else
        (void)snprintf(message, sizeof message,
                       "the replay diverged after %u host calls: %s",
                       r->replay.host_calls, what);
    (void)gbx_result_fail(r, GBX_CODE_DIVERGED, message,
                          "code, data, preloads and the version of the JavaScript "
                          "engine must be those of the recording");
}

/* Compare the results of two calls that both ended by themselves. */
static void compare_ends(gbx_run *run, gbx_record_event *came)
{
    static const char *const words[] = {
        [IN_CODE] = "the call ends in another way", [IN_VALUE] = "the value is another",
        [IN_ERROR] = "the error is another",        [IN_STACK] = "the stack is another",
        [IN_LOGS] = "the console lines are others",
    };
    gbx_record_event *recorded = &run->replayer->next;
    difference what = end_difference(&recorded->end, &came->end);

    if (what == IN_NOTHING) {
        run->result->replay.how = GBX_REPLAYED_SAME;
        return;
    }
    if (what > IN_ERROR) /* what is equal, and long, is not shown */
        recorded->end.value = recorded->end.error = came->end.value = came->end.error =
            (gbx_span){0};
    if (what > IN_STACK)
        recorded->end.stack = came->end.stack = (gbx_span){0};
    diverge(run, words[what], 0, recorded, came);
}

/* ---- the call and its recording, event by event -------------------------------- */

/* Go to the next event; if memory is out, the call ends. */
static void advance(gbx_run *run)
{
    gbx_replayer *p = run->replayer;

    if (gbx_record_next(&p->cursor, &p->next, NULL) == GBX_OK)
        return;
    run->exchange.is_nomem = true;
    p->is_over = true;
}

/* True if the recorded call was stopped here by something that cannot be repeated. */
static bool is_stopped(const gbx_replayer *p)
{
    return p->next.kind == GBX_RECORD_END &&
           (gbx_record_is_chance((gbx_code)p->next.end.code) || !p->next.end.is_whole);
}

/* The actual event differs from the expected one: end the replay. */
static void refuse(gbx_run *run, const char *what, uint32_t host_call,
                   const gbx_record_event *came)
{
    gbx_replayer *p = run->replayer;

    if (!is_stopped(p)) {
        diverge(run, what, host_call, &p->next, came);
        return;
    }
    run->result->replay.how = GBX_REPLAYED_UP_TO;
    stop(run);
}

static gbx_status misuse(gbx_error *reterr, const char *field)
{
    return gbx_fail(reterr, GBX_E_USAGE,
                    "call.%s comes from the recording: leave it alone", field);
}

/* Fails if the call sets anything that comes from the recording. asked: its limits. */
static gbx_status check_alone(const gbx_call *call, const gbx_limits *asked,
                              gbx_error *reterr)
{
    gbx_limits other = *asked;

    if (call->record != NULL)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "call.record and call.replay exclude each other");
    if (call->code_len > 0)
        return misuse(reterr, "code");
    if (call->form != 0)
        return misuse(reterr, "form");
    if (call->flags != 0)
        return misuse(reterr, "flags");
    if (call->bindings != NULL)
        return misuse(reterr, "bindings");
    if (call->dataset != NULL)
        return misuse(reterr, "dataset");
    if (call->policy != NULL)
        return misuse(reterr, "policy");
    other.struct_size = 0;
    other.timeout_ms = other.cpu_ms = 0;
    return memcmp(&other, &(gbx_limits){0}, sizeof other) == 0
               ? GBX_OK
               : misuse(reterr, "limits, but for its times,");
}

static void take_call(gbx_run *run, const gbx_limits *asked)
{
    gbx_replayer *p = run->replayer;
    const gbx_record_head *h = &p->head;
    gbx_call *call = &run->call;

    p->limits = h->limits;
    if (asked->timeout_ms != 0)
        p->limits.timeout_ms = p->limits.cpu_ms = asked->timeout_ms;
    if (asked->cpu_ms != 0)
        p->limits.cpu_ms = asked->cpu_ms;
    call->limits = &p->limits;
    call->form = (gbx_form)h->form;
    call->flags = GBX_CALL_SEEDED | GBX_CALL_FIXED_NOW;
    if (h->no_guard)
        call->flags |= GBX_CALL_NO_GUARD;
    memcpy(&call->seed, h->entropy, sizeof call->seed);
    call->now_ms = h->now_ms;
    run->entropy = h->entropy;
    run->capabilities = h->capabilities;
    run->sites = p->sites;
    call->code = (const char *)h->code.data;
    call->code_len = h->code.len;
    if (h->dataset.data != NULL) {
        /* A longer name, or one with a NUL, will not be found. */
        (void)snprintf(p->dataset, sizeof p->dataset, "%.*s", (int)h->dataset.len,
                       (const char *)h->dataset.data);
        call->dataset = p->dataset;
    }
    call->bindings = (const char *)h->bindings.data;
    call->bindings_len = h->bindings.len;
    if (call->input == NULL && h->input.data != NULL) {
        call->input = (const char *)h->input.data;
        call->input_len = h->input.len;
    }
}

static void replay_request(gbx_run *run, const gbx_msg_hostcall *msg)
{
    gbx_replayer *p = run->replayer;
    const gbx_record_request *wanted = &p->next.request;
    gbx_record_event came = {.kind = GBX_RECORD_REQUEST, .id = msg->id};
    const char *what = NULL;

    if (p->is_over)
        return;
    p->seen++;
    run->result->stats.host_calls++;
    gbx_record_request_of(msg, &came.request);
    if (p->next.kind != GBX_RECORD_REQUEST)
        what = "the code calls a function of the host";
    else if (!spans_equal(wanted->name, came.request.name) ||
             wanted->args_size != came.request.args_size ||
             wanted->body_size != came.request.body_size ||
             memcmp(wanted->sha256, came.request.sha256, sizeof wanted->sha256) != 0)
        what = "the code calls another function, or with other arguments";
    else if (p->next.id != msg->id)
        what = "the code has made other calls before";
    if (what == NULL) {
        run->result->replay.host_calls++;
        advance(run);
        return;
    }
    refuse(run, what, p->seen, &came);
}

static void replay_cancel(gbx_run *run, uint32_t id)
{
    gbx_replayer *p = run->replayer;
    gbx_record_event came = {.kind = GBX_RECORD_CANCEL, .id = id};

    if (p->is_over)
        return;
    if (p->next.kind == GBX_RECORD_CANCEL && p->next.id == id) {
        advance(run);
        return;
    }
    refuse(run, "the code cancels a call of the host", p->seen, &came);
}

static bool replay_wake(gbx_run *run, int64_t now_ns)
{
    gbx_replayer *p = run->replayer;
    gbx_record_event came = {.kind = GBX_RECORD_WAIT, .ms = run->exchange.wake_ms};

    if (p->next.kind == GBX_RECORD_WAIT && p->next.ms == came.ms) {
        for (advance(run); !p->is_over && p->next.kind == GBX_RECORD_ANSWER;
             advance(run))
            if (!gbx_live_host.answer(run, &p->next.answer))
                run->exchange.is_nomem = true;
        if (!p->is_over && p->next.kind == GBX_RECORD_WAKE) {
            advance(run);
            return !p->is_over;
        }
    }
    if (!p->is_over)
        refuse(run, "the code waits for the host", p->seen, &came);
    return false;
}

/* The recorded call was stopped: its result replaces the replay's. */
static void end_as_recorded(gbx_run *run)
{
    const gbx_record_end *end = &run->replayer->next.end;
    gbx_result *r = run->result;
    gbx_buf text = {.ceiling = GBX_RECORD_KEPT * 3};
    char *message;

    (void)gbx_utf8_append_lossy(&text, end->error.data, end->error.len);
    message = gbx_buf_take_string(&text, NULL);
    r->replay.how = GBX_REPLAYED_UP_TO;
    r->location = (gbx_location){.frame = ""};
    (void)gbx_result_fail(r, (gbx_code)end->code, message != NULL ? message : "",
                          "the recorded call was stopped here; a replay cannot be "
                          "stopped at the same moment");
    free(message);
}

/* The run has its result: add how it compares with the recorded one. */
static void compare(gbx_run *run)
{
    gbx_replayer *p = run->replayer;
    gbx_replay *found = &run->result->replay;
    bool was_stopped = gbx_record_is_chance(run->result->code);
    gbx_record_event came = {.kind = GBX_RECORD_END};
    char engine[GBX_ENGINE_NAME_SIZE];

    gbx_engine_name(run->engine, engine);
    gbx_result_set_replay(run->result, GBX_REPLAY_RECORDED_ENGINE, p->head.engine);
    gbx_result_set_replay(run->result, GBX_REPLAY_ENGINE, gbx_span_of(engine));
    if (p->is_over && found->how == GBX_REPLAYED_NOT) {
        found->how = GBX_REPLAYED_UNFINISHED; /* memory was out */
    } else if (!p->is_over && was_stopped && !is_stopped(p)) {
        found->how = GBX_REPLAYED_UNFINISHED;
    } else if (!p->is_over && !is_stopped(p)) {
        gbx_record_end_of(run->result, &came.end);
        if (p->next.kind != GBX_RECORD_END)
            refuse(run, "the call ends", 0, &came);
        else
            compare_ends(run, &came);
    }
    if (is_stopped(p) && found->how != GBX_REPLAYED_DIVERGED &&
        found->how != GBX_REPLAYED_UNFINISHED)
        end_as_recorded(run);
    /* The recorded end comes later in the text if the call diverged. */
    while (p->next.kind != GBX_RECORD_END)
        if (gbx_record_next(&p->cursor, &p->next, NULL) != GBX_OK)
            return;
    found->recorded_code = (gbx_code)p->next.end.code;
}

static void replay_open(gbx_run *run, gbx_buf *withheld, gbx_buf *env)
{
    gbx_span recorded = run->replayer->head.env;

    (void)gbx_buf_append(env, recorded.data, recorded.len);
}

static void replay_close(gbx_run *run, gbx_status status)
{
    gbx_replayer *p = run->replayer;

    if (status == GBX_OK)
        compare(run);
    gbx_record_cursor_cleanup(&p->cursor);
    gbx_record_head_cleanup(&p->head);
    gbx_policy_free(p->sites);
    free(p);
}

static const gbx_run_host replay_host = {
    .open = replay_open,
    .request = replay_request,
    .cancel = replay_cancel,
    .wake = replay_wake,
    .close = replay_close,
};

gbx_status gbx_replayer_begin(gbx_run *run, gbx_error *reterr)
{
    const gbx_recording *r = run->call.replay;
    gbx_status status;
    const char *text;
    bool is_whole;
    gbx_limits asked;
    size_t len;

    status = gbx_limits_import(run->call.limits, &asked, reterr);
    if (status == GBX_OK)
        status = check_alone(&run->call, &asked, reterr);
    if (status != GBX_OK)
        return status;
    if (run->engine->runner.execute != NULL) /* it does not ask as a worker does */
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "the runner '%s' cannot replay",
                        run->engine->runner.name);
    text = gbx_recording_text(r, &len);
    if (len == 0)
        return gbx_fail(reterr, GBX_E_USAGE, "call.replay is empty");
    /* Recordings made by this process are checked too. */
    if (!r->is_checked)
        status = gbx_record_check(text, len, &is_whole, reterr);
    if (status != GBX_OK)
        return status;
    run->replayer = calloc(1, sizeof *run->replayer);
    if (run->replayer == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the replay");
    run->host = &replay_host;
    gbx_record_cursor_init(&run->replayer->cursor, text, len);
    status = gbx_record_head_read(&run->replayer->cursor, &run->replayer->head, reterr);
    if (status == GBX_OK)
        status = gbx_record_next(&run->replayer->cursor, &run->replayer->next, reterr);
    if (status == GBX_OK && (run->replayer->head.capabilities & GBX_CAP_FETCH) != 0)
        status = gbx_replay_as_data(gbx_policy_of_sites(run->replayer->head.sites,
                                                        &run->replayer->sites, reterr),
                                    reterr);
    if (status != GBX_OK)
        return status;
    take_call(run, &asked);
    return gbx_replay_check(run, &run->replayer->head, reterr);
}

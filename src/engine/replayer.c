/* SPDX-License-Identifier: MIT */
/*
 * replayer - always holds the next event of the recording. The whole text has been
 * checked: an event cannot be malformed, only differ from the actual one.
 */
#include "engine/engine.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Go to the next event; if memory is out, the call ends. */
static void advance(gbx_run *run)
{
    gbx_replayer *p = run->replayer;

    if (gbx_record_next(&p->cursor, &p->next, NULL) == GBX_OK)
        return;
    run->exchange.is_nomem = true;
    p->is_over = true;
}

/* Was the recorded call stopped here, by something that cannot be repeated? */
static bool is_stopped(const gbx_replayer *p)
{
    return p->next.kind == GBX_RECORD_END &&
           (gbx_record_is_chance((gbx_code)p->next.end.code) || !p->next.end.is_whole);
}

/* The actual event differs from the recorded one, or no event should follow.
 * request: the actual event, if it was one. */
static void refuse(gbx_run *run, const char *what, uint32_t host_call,
                   const gbx_record_request *request, gbx_buf *came)
{
    gbx_replayer *p = run->replayer;
    gbx_buf recorded;

    if (is_stopped(p)) {
        run->result->replay.how = GBX_REPLAYED_UP_TO;
        p->is_over = true;
        gbx_buf_cleanup(came);
        return;
    }
    gbx_buf_init(&recorded, GBX_COMPARED_MAX);
    gbx_describe_event(&p->next, &recorded);
    /* They differ in a part that is not shown. */
    if (request != NULL && p->next.kind == GBX_RECORD_REQUEST &&
        recorded.len == came->len &&
        memcmp(recorded.data, came->data, came->len) == 0) {
        gbx_describe_digest(&p->next.request, &recorded);
        gbx_describe_digest(request, came);
    }
    gbx_replayer_diverge(run, what, host_call, &recorded, came);
}

static gbx_status misuse(gbx_error *reterr, const char *field)
{
    return gbx_fail(reterr, GBX_E_USAGE,
                    "call.%s comes from the recording: leave it alone", field);
}

/* The call must not set what the recording decides. */
static gbx_status check_alone(const gbx_call *call, gbx_error *reterr)
{
    gbx_limits other;

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
    if (call->limits == NULL)
        return GBX_OK;
    other = *call->limits;
    other.struct_size = 0;
    other.timeout_ms = other.cpu_ms = 0;
    return memcmp(&other, &(gbx_limits){0}, sizeof other) == 0
               ? GBX_OK
               : misuse(reterr, "limits, but for its times,");
}

static void take_call(gbx_run *run)
{
    gbx_replayer *p = run->replayer;
    const gbx_record_head *h = &p->head;
    gbx_call *call = &run->call;

    p->limits = gbx_record_limits(h);
    if (call->limits != NULL && call->limits->timeout_ms != 0)
        p->limits.timeout_ms = p->limits.cpu_ms = call->limits->timeout_ms;
    if (call->limits != NULL && call->limits->cpu_ms != 0)
        p->limits.cpu_ms = call->limits->cpu_ms;
    call->limits = &p->limits;
    call->form = (gbx_form)h->form;
    call->flags = GBX_CALL_SEEDED | GBX_CALL_FIXED_NOW;
    if (h->no_guard)
        call->flags |= GBX_CALL_NO_GUARD;
    call->seed = h->seed;
    call->now_ms = h->now_ms;
    memcpy(run->entropy, h->entropy, sizeof run->entropy);
    run->has_entropy = true;
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

gbx_status gbx_replay_as_data(gbx_status status, gbx_error *reterr)
{
    if (status != GBX_E_USAGE && status != GBX_E_POLICY)
        return status;
    if (reterr != NULL)
        reterr->status = GBX_E_DATA;
    return GBX_E_DATA;
}

static gbx_status take_sites(gbx_replayer *replayer, gbx_error *reterr)
{
    const gbx_record_head *h = &replayer->head;

    if ((h->capabilities & GBX_CAP_FETCH) == 0)
        return GBX_OK;
    return gbx_replay_as_data(gbx_policy_of_sites(h->sites, &replayer->sites, reterr),
                              reterr);
}

gbx_status gbx_replayer_begin(gbx_run *run, gbx_error *reterr)
{
    const gbx_recording *r = run->call.replay;
    gbx_status status;
    const char *text;
    bool is_whole;
    size_t len;

    status = check_alone(&run->call, reterr);
    if (status != GBX_OK)
        return status;
    if (run->engine->runner.execute != NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "the runner '%s' cannot replay",
                        run->engine->runner.name);
    text = gbx_recording_text(r, &len);
    if (len == 0)
        return gbx_fail(reterr, GBX_E_USAGE, "call.replay is empty");
    /* A text of our own is checked, too. */
    if (!r->is_checked)
        status = gbx_record_check(text, len, &is_whole, reterr);
    if (status != GBX_OK)
        return status;
    run->replayer = calloc(1, sizeof *run->replayer);
    if (run->replayer == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the replay");
    gbx_record_cursor_init(&run->replayer->cursor, text, len);
    status = gbx_record_head_read(&run->replayer->cursor, &run->replayer->head, reterr);
    if (status == GBX_OK)
        status = gbx_record_next(&run->replayer->cursor, &run->replayer->next, reterr);
    if (status == GBX_OK)
        status = take_sites(run->replayer, reterr);
    if (status == GBX_OK)
        take_call(run);
    return status;
}

void gbx_replayer_request(void *user, const gbx_msg_hostcall *msg)
{
    gbx_run *run = user;
    gbx_replayer *p = run->replayer;
    gbx_record_request came;
    const char *what = NULL;
    gbx_buf text;

    if (p->is_over)
        return;
    p->seen++;
    run->result->stats.host_calls++;
    gbx_record_request_of(msg, &came);
    if (p->next.kind != GBX_RECORD_REQUEST)
        what = "the code calls a function of the host";
    else if (!gbx_request_equals(&p->next.request, &came))
        what = "the code calls another function, or with other arguments";
    else if (p->next.id != msg->id)
        what = "the code has made other calls before";
    if (what == NULL) {
        run->result->replay.host_calls++;
        advance(run);
        return;
    }
    gbx_buf_init(&text, GBX_COMPARED_MAX);
    gbx_describe_request(&came, &text);
    refuse(run, what, p->seen, &came, &text);
}

void gbx_replayer_cancel(void *user, uint32_t id)
{
    gbx_run *run = user;
    gbx_replayer *p = run->replayer;
    gbx_record_event came = {.kind = GBX_RECORD_CANCEL, .id = id};
    gbx_buf text;

    if (p->is_over)
        return;
    if (p->next.kind == GBX_RECORD_CANCEL && p->next.id == id) {
        advance(run);
        return;
    }
    gbx_buf_init(&text, GBX_COMPARED_MAX);
    gbx_describe_event(&came, &text);
    refuse(run, "the code cancels a call of the host", p->seen, NULL, &text);
}

bool gbx_replayer_wake(gbx_run *run)
{
    gbx_replayer *p = run->replayer;
    gbx_record_event came = {.kind = GBX_RECORD_WAIT, .ms = run->exchange.wake_ms};
    gbx_buf text;

    if (p->next.kind != GBX_RECORD_WAIT || p->next.ms != came.ms) {
        gbx_buf_init(&text, GBX_COMPARED_MAX);
        gbx_describe_event(&came, &text);
        refuse(run, "the code waits for the host", p->seen, NULL, &text);
        return false;
    }
    for (advance(run); !p->is_over && p->next.kind == GBX_RECORD_ANSWER; advance(run))
        if (!gbx_exchange_answer(&run->exchange, &p->next.answer))
            run->exchange.is_nomem = true;
    if (p->is_over)
        return false;
    if (p->next.kind == GBX_RECORD_WAKE) {
        advance(run);
        return !p->is_over;
    }
    gbx_buf_init(&text, GBX_COMPARED_MAX);
    gbx_describe_event(&came, &text);
    refuse(run, "the code waits for the host", p->seen, NULL, &text);
    return false;
}

/* The result of a call that was stopped is the recorded one. */
static void end_as_recorded(gbx_run *run)
{
    const gbx_record_end *end = &run->replayer->next.end;
    gbx_result *r = run->result;
    gbx_buf text;
    char *message;

    gbx_buf_init(&text, GBX_RECORD_KEPT * 3);
    (void)gbx_utf8_append_lossy(&text, end->error.data, end->error.len);
    message = gbx_buf_take_string(&text, NULL);
    r->replay.how = GBX_REPLAYED_UP_TO;
    r->location = (gbx_location){.frame = ""};
    (void)gbx_result_fail(r, (gbx_code)end->code, message != NULL ? message : "",
                          "the recorded call was stopped here; a replay cannot be "
                          "stopped at the same moment");
    free(message);
}

static void end_early(gbx_run *run)
{
    gbx_record_event came = {.kind = GBX_RECORD_END};
    gbx_buf text;

    gbx_record_end_of(run->result, &came.end);
    gbx_buf_init(&text, GBX_COMPARED_MAX);
    gbx_describe_event(&came, &text);
    refuse(run, "the call ends", 0, NULL, &text);
}

/* If the call diverged, the recorded end comes later in the text. */
static void find_recorded_code(gbx_replayer *p, gbx_replay *found)
{
    while (p->next.kind != GBX_RECORD_END)
        if (gbx_record_next(&p->cursor, &p->next, NULL) != GBX_OK)
            return;
    found->recorded_code = (gbx_code)p->next.end.code;
}

static void name_engines(gbx_run *run)
{
    gbx_span recorded = run->replayer->head.engine;
    char engine[sizeof run->engine->facts.engine];

    (void)pthread_mutex_lock(&run->engine->lock);
    memcpy(engine, run->engine->facts.engine, sizeof engine);
    (void)pthread_mutex_unlock(&run->engine->lock);
    gbx_result_set_replay(run->result, GBX_REPLAY_RECORDED_ENGINE, recorded);
    gbx_result_set_replay(run->result, GBX_REPLAY_ENGINE,
                          (gbx_span){(const uint8_t *)engine, strlen(engine)});
}

void gbx_replayer_end(gbx_run *run)
{
    gbx_replayer *p = run->replayer;
    gbx_replay *found = &run->result->replay;
    bool was_stopped = gbx_record_is_chance(run->result->code);

    name_engines(run);
    if (p->is_over && found->how == GBX_REPLAYED_NOT) {
        found->how = GBX_REPLAYED_UNFINISHED; /* memory was out */
    } else if (!p->is_over && was_stopped && !is_stopped(p)) {
        found->how = GBX_REPLAYED_UNFINISHED;
    } else if (!p->is_over && !is_stopped(p)) {
        if (p->next.kind != GBX_RECORD_END)
            end_early(run);
        else
            gbx_replayer_compare_ends(run);
    }
    if (is_stopped(p) && found->how != GBX_REPLAYED_DIVERGED &&
        found->how != GBX_REPLAYED_UNFINISHED)
        end_as_recorded(run);
    find_recorded_code(p, found);
}

void gbx_replayer_free(gbx_replayer *replayer)
{
    gbx_record_cursor_cleanup(&replayer->cursor);
    gbx_record_head_cleanup(&replayer->head);
    gbx_policy_free(replayer->sites);
    free(replayer);
}

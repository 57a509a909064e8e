/* SPDX-License-Identifier: MIT */
/*
 * hostcall - functions of the host, open requests and their answers. The high half of a
 * request's number is its call's ticket; the low half is the id that the worker gave it,
 * which the exchange accepts only once.
 */
#include "engine/engine.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "engine/hostcall.h"
#include "fetch/fetch.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes that each answer counts against the limit besides its contents. */
#define REPLY_COST 64u

/* ---- open requests; the lock is held -------------------------------------------- */

static gbx_request number_of(const gbx_run *run, uint32_t wire_id)
{
    return run->ticket << 32 | wire_id;
}

static gbx_pending *find(gbx_hostcalls *h, gbx_request request)
{
    gbx_pending *p;
    gbx_run *run;

    LIST_FOREACH(run, &h->runs, calls.link)
    if ((uint32_t)run->ticket == request >> 32)
        break;
    if (run == NULL)
        return NULL;
    LIST_FOREACH(p, &run->calls.pending, link)
    if (p->id == request)
        break;
    return p;
}

static void give_up(gbx_pending *p)
{
    gbx_run *run = p->run;

    LIST_REMOVE(p, link);
    if (LIST_EMPTY(&run->calls.pending))
        LIST_REMOVE(run, calls.link);
    free(p->asked.note);
    free(p);
}

/* ---- answers -------------------------------------------------------------------- */

#define SPANS 5

/* The spans of an answer; the first two are data, the others text. */
static void find_spans(gbx_msg_answer *m, gbx_span *ret[SPANS])
{
    ret[0] = &m->json;
    ret[1] = &m->bytes;
    ret[2] = &m->name;
    ret[3] = &m->message;
    ret[4] = &m->code;
}

static uint64_t size_of(const gbx_msg_answer *m)
{
    return REPLY_COST + m->json.len + m->bytes.len + m->name.len + m->message.len +
           m->code.len;
}

/* The first max bytes of text, without splitting a character. */
static gbx_span text_span(const char *text, size_t max)
{
    size_t len = text != NULL ? strnlen(text, max + 1) : 0;

    return (gbx_span){(const uint8_t *)text, gbx_utf8_cut(text, len, max)};
}

/* An error as an answer; borrows the texts, any of which may be NULL, and cuts them. */
static gbx_msg_answer gbx_error_answer(const char *name, const char *message,
                                       const char *code)
{
    return (gbx_msg_answer){.is_error = 1,
                            .name = text_span(name, GBX_NAME_MAX - 1),
                            .message = text_span(message, GBX_MESSAGE_MAX - 1),
                            .code = text_span(code, GBX_NAME_MAX - 1)};
}

gbx_reply *gbx_reply_copy(const gbx_msg_answer *msg)
{
    gbx_reply *r = malloc(sizeof *r + (size_t)size_of(msg));
    gbx_span *spans[SPANS];
    uint8_t *at;

    if (r == NULL)
        return NULL;
    at = (uint8_t *)(r + 1);
    *r = (gbx_reply){.msg = *msg};
    find_spans(&r->msg, spans);
    for (size_t i = 0; i < SPANS; i++) {
        if (spans[i]->data != NULL)
            memcpy(at, spans[i]->data, spans[i]->len);
        spans[i]->data = at;
        at += spans[i]->len;
    }
    return r;
}

void gbx_reply_wipe(gbx_reply *reply)
{
    if (reply != NULL)
        explicit_bzero(reply, sizeof *reply + (size_t)size_of(&reply->msg));
    free(reply);
}

/* Charge an answer to the limit; an error replaces one that exceeds the rest of it. */
static gbx_reply *fit(gbx_run *run, gbx_reply *reply)
{
    gbx_msg_answer refusal;

    if (size_of(&reply->msg) <= run->calls.in_left) {
        run->calls.in_left -= size_of(&reply->msg);
        return reply;
    }
    free(reply);
    refusal = gbx_error_answer("RangeError",
                               "the answers of the host are together over the limit of"
                               " this call",
                               "ERR_HOST_BYTES");
    reply = gbx_reply_copy(&refusal);
    if (reply != NULL)
        reply->is_over = true;
    return reply;
}

/* ---- removing secrets (policy/policy.h) ----------------------------------------- */

/* Replace the spans of msg that contain secrets by copies in bufs; the caller frees
 * bufs in any case. False if the search failed: do not pass the answer on. policy is
 * the engine's. */
static bool redact_answer(const gbx_policy *policy, gbx_msg_answer *msg,
                          gbx_buf bufs[SPANS])
{
    gbx_span *spans[SPANS];

    find_spans(msg, spans);
    for (size_t i = 0; i < SPANS; i++) {
        gbx_span *span = spans[i];
        bool changed = false;

        gbx_buf_init(&bufs[i], gbx_secrets_ceiling(span->len));
        if (!gbx_secrets_strip(policy, i < 2 ? GBX_SECRET_DATA : GBX_SECRET_LINE, *span,
                               NULL, &bufs[i], &changed))
            return false;
        if (changed)
            *span = (gbx_span){bufs[i].data, bufs[i].len};
    }
    return true;
}

/* The answer without secrets; NULL if memory is out. */
static gbx_reply *make_reply(const gbx_engine *engine, gbx_msg_answer msg)
{
    const gbx_policy *policy = engine->settings.options.policy;
    gbx_buf bufs[SPANS] = {{0}};
    gbx_reply *reply;

    if (!redact_answer(policy, &msg, bufs))
        msg = gbx_error_answer("Error",
                               "the answer could not be looked through for secrets",
                               "ERR_HOST_ANSWER");
    reply = gbx_reply_copy(&msg);
    for (size_t i = 0; i < SPANS; i++)
        gbx_buf_cleanup(&bufs[i]);
    return reply;
}

static bool answer(gbx_engine *engine, gbx_request request, const gbx_msg_answer *msg,
                   bool is_ours)
{
    gbx_hostcalls *h = &engine->hostcalls;
    gbx_reply *reply = make_reply(engine, *msg);
    gbx_pending *p;
    gbx_run *run = NULL;

    (void)pthread_mutex_lock(&h->lock);
    p = find(h, request);
    if (p != NULL) {
        bool is_first;
        bool is_here; /* the driver itself answers */

        run = p->run;
        is_first = run->calls.replies == NULL;
        is_here = run->calls.is_dispatching &&
                  pthread_equal(run->calls.driver, pthread_self());
        reply = reply != NULL ? fit(run, reply) : NULL;
        if (reply != NULL) {
            reply->msg.id = (uint32_t)p->id;
            reply->asked = p->asked;
            reply->is_ours = is_ours || p->asked.is_ours;
            p->asked.note = NULL;
            if (engine->audit.is_heard)
                reply->end_ns = gbx_clock_now_ns();
            *run->calls.replies_end = reply;
            run->calls.replies_end = &reply->next;
        } else {
            run->calls.is_nomem = true;
        }
        reply = NULL;
        give_up(p);
        /* For an earlier answer it was woken already. */
        if (!is_here && (is_first || run->calls.is_nomem))
            gbx_run_notify(run);
    }
    (void)pthread_mutex_unlock(&h->lock);
    free(reply);
    return run != NULL;
}

bool gbx_hostcall_reply(gbx_engine *engine, gbx_request request,
                        const gbx_msg_answer *msg)
{
    return answer(engine, request, msg, false);
}

void gbx_hostcall_report(gbx_engine *engine, gbx_request request,
                         const gbx_fetch_report *report)
{
    gbx_hostcalls *h = &engine->hostcalls;
    gbx_audit_detail note = {0};
    gbx_pending *p;

    if (!engine->audit.is_heard)
        return;
    gbx_audit_detail_fetch(&note, engine->settings.options.policy, report);
    (void)pthread_mutex_lock(&h->lock);
    p = find(h, request);
    if (p != NULL && p->asked.note != NULL) {
        if (*note.target == 0) /* the report has none: keep that of the request */
            memcpy(note.target, p->asked.note->target, sizeof note.target);
        *p->asked.note = note;
    }
    (void)pthread_mutex_unlock(&h->lock);
}

bool gbx_hostcalls_names(gbx_engine *engine, const gbx_policy *policy, bool withheld,
                         gbx_buf *to, uint32_t *ret_serial)
{
    gbx_hostcalls *h = &engine->hostcalls;

    (void)pthread_mutex_lock(&h->lock);
    if (ret_serial != NULL)
        *ret_serial = h->function_serial;
    for (const gbx_function *f = h->functions; f != NULL; f = f->next) {
        bool is_allowed = policy == NULL || gbx_policy_allows_function(policy, f->name);

        if (is_allowed != withheld)
            (void)gbx_buf_printf(to, "%s%s", to->len > 0 ? "\n" : "", f->name);
    }
    (void)pthread_mutex_unlock(&h->lock);
    return !to->failed;
}

static void free_functions(gbx_function *function)
{
    while (function != NULL) {
        gbx_function *next = function->next;

        free(function);
        function = next;
    }
}

void gbx_hostcalls_cleanup(gbx_engine *engine)
{
    gbx_hostcalls *h = &engine->hostcalls;

    free_functions(h->functions);
    free_functions(h->withdrawn);
    (void)pthread_mutex_destroy(&h->lock);
}

/* The request's answer is no longer wanted: drop its fetch. The lock is held. */
static void forget_job(gbx_engine *engine, gbx_request request)
{
    gbx_job *job;

    LIST_FOREACH(job, &engine->providers.fetches, link)
    if (job->request == request)
        break;
    if (job == NULL)
        return;
    job->is_unwanted = true;
    gbx_engine_wake(engine);
}

/* Remove one open request of the run; false if none is left. */
static bool take_open(gbx_run *run, gbx_audit_asked *ret)
{
    gbx_hostcalls *h = &run->engine->hostcalls;
    gbx_pending *p;
    bool has;

    (void)pthread_mutex_lock(&h->lock);
    p = LIST_FIRST(&run->calls.pending);
    has = p != NULL;
    if (has) {
        *ret = p->asked;
        p->asked.note = NULL;
        forget_job(run->engine, p->id);
        give_up(p);
    }
    (void)pthread_mutex_unlock(&h->lock);
    return has;
}

gbx_reply *gbx_hostcall_replies(gbx_run *run)
{
    gbx_hostcalls *h = &run->engine->hostcalls;
    gbx_reply *replies;

    (void)pthread_mutex_lock(&h->lock);
    replies = run->calls.replies;
    run->calls.replies = NULL;
    run->calls.replies_end = &run->calls.replies;
    if (run->calls.is_nomem)
        run->exchange.is_nomem = true;
    (void)pthread_mutex_unlock(&h->lock);
    return replies;
}

gbx_reply *gbx_hostcall_log(gbx_run *run, gbx_reply *reply)
{
    gbx_reply *next = reply->next;

    gbx_audit_answered(run, reply);
    free(reply->asked.note);
    free(reply);
    return next;
}

/* Open requests first: once none is left, no more answers can arrive. */
void gbx_run_calls_end(gbx_run *run)
{
    gbx_reply never = {.is_missing = true};
    gbx_reply *replies;

    while (take_open(run, &never.asked)) {
        never.end_ns = gbx_clock_now_ns();
        gbx_audit_answered(run, &never);
        free(never.asked.note);
    }
    replies = gbx_hostcall_replies(run);
    while (replies != NULL)
        replies = gbx_hostcall_log(run, replies);
}

gbx_request gbx_hostcall_open(gbx_run *run, const char *name, bool is_ours,
                              const gbx_msg_hostcall *msg)
{
    gbx_hostcalls *h = &run->engine->hostcalls;
    gbx_request request = number_of(run, msg->id);
    gbx_pending *p = calloc(1, sizeof *p);

    if (p == NULL)
        return 0;
    p->id = request;
    p->run = run;
    p->asked = (gbx_audit_asked){.name = name != NULL ? name : "",
                                 .is_ours = is_ours,
                                 .bytes_out = (uint64_t)msg->args.len + msg->bytes.len,
                                 .start_ns = gbx_clock_now_ns()};
    if (is_ours && run->audit.is_open)
        p->asked.note = gbx_audit_detail_new(p->asked.name, msg);
    (void)pthread_mutex_lock(&h->lock);
    run->calls.driver = pthread_self();
    if (LIST_EMPTY(&run->calls.pending))
        LIST_INSERT_HEAD(&h->runs, run, calls.link);
    LIST_INSERT_HEAD(&run->calls.pending, p, link);
    (void)pthread_mutex_unlock(&h->lock);
    return request;
}

void gbx_hostcall_refuse(gbx_engine *engine, gbx_request request, const char *name,
                         const char *message, const char *code)
{
    gbx_msg_answer msg = gbx_error_answer(name, message, code);

    (void)answer(engine, request, &msg, true);
}

void gbx_hostcall_cancel(gbx_run *run, uint32_t wire_id)
{
    gbx_hostcalls *h = &run->engine->hostcalls;
    gbx_request request = number_of(run, wire_id);
    bool is_open;

    (void)pthread_mutex_lock(&h->lock);
    is_open = find(h, request) != NULL;
    if (is_open)
        forget_job(run->engine, request);
    (void)pthread_mutex_unlock(&h->lock);
    if (is_open) /* otherwise it has been answered */
        gbx_hostcall_refuse(run->engine, request, "AbortError",
                            "the request was cancelled", "ABORT_ERR");
}

const char *gbx_hostcall_awaited(gbx_run *run)
{
    gbx_hostcalls *h = &run->engine->hostcalls;
    const char *name = NULL;
    const gbx_pending *p;

    if (!run->has_exchange || run->exchange.state != GBX_EXCHANGE_WAITING)
        return NULL;
    (void)pthread_mutex_lock(&h->lock);
    LIST_FOREACH(p, &run->calls.pending, link)
    name = p->asked.name; /* the oldest is last */
    (void)pthread_mutex_unlock(&h->lock);
    return name;
}

/* ---- public API ---------------------------------------------------------- */

static gbx_status nobody_waits(gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_CLOSED,
                    "nobody waits for this answer: it was given before, or the call "
                    "has ended");
}

gbx_status gbx_answer(gbx_engine *engine, gbx_request request, const char *json,
                      size_t json_len, gbx_error *reterr)
{
    gbx_msg_answer msg = {.json = {(const uint8_t *)json, json != NULL ? json_len : 0}};
    gbx_json_fault fault = {0};
    gbx_status status = gbx_engine_need(engine, reterr);
    char message[128];

    if (status != GBX_OK)
        return status;
    if ((json == NULL && json_len > 0) || json_len > UINT32_MAX / 2)
        return gbx_fail(reterr, GBX_E_USAGE, "json is missing, or too long");
    if (json != NULL && !gbx_json_check(json, json_len, GBX_JSON_DEPTH_MAX, &fault)) {
        /* The code learns what is wrong; only the host also gets the position. */
        if (strcmp(fault.message, "nested too deep") == 0)
            (void)snprintf(message, sizeof message,
                           "the host's answer is nested deeper than %d levels",
                           GBX_JSON_DEPTH_MAX);
        else
            (void)snprintf(message, sizeof message, "the host's answer is not JSON: %s",
                           fault.message);
        msg = gbx_error_answer("Error", message, "ERR_HOST_ANSWER");
        (void)gbx_hostcall_reply(engine, request, &msg);
        return gbx_fail_at(reterr, GBX_E_DATA, fault.line, fault.column,
                           "the answer is not JSON: %s at line %u, column %u",
                           fault.message, fault.line, fault.column);
    }
    return gbx_hostcall_reply(engine, request, &msg) ? GBX_OK : nobody_waits(reterr);
}

gbx_status gbx_answer_error(gbx_engine *engine, gbx_request request, const char *name,
                            const char *message, const char *code, gbx_error *reterr)
{
    gbx_msg_answer msg = gbx_error_answer(name, message, code);
    gbx_status status = gbx_engine_need(engine, reterr);

    if (status != GBX_OK)
        return status;
    if (!gbx_utf8_valid(msg.name.data, msg.name.len, NULL) ||
        !gbx_utf8_valid(msg.message.data, msg.message.len, NULL) ||
        !gbx_utf8_valid(msg.code.data, msg.code.len, NULL))
        msg = gbx_error_answer("Error", "the host's error is not UTF-8",
                               "ERR_HOST_ANSWER");
    return gbx_hostcall_reply(engine, request, &msg) ? GBX_OK : nobody_waits(reterr);
}

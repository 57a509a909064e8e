/* SPDX-License-Identifier: MIT */
/*
 * audit - writes the log lines and events of an engine and its calls, and passes them
 * to the embedder's callbacks.
 *
 * A line gets its number when it is begun, and is passed on when it is complete. Lines
 * of two threads may arrive out of order; the numbers give the order.
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "engine/audit.h"
#include "guard/guard.h"
#include "policy/policy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* One event while it is written. */
typedef struct entry {
    gbx_engine *engine;
    gbx_run *run; /* NULL: the engine itself */
    gbx_audit_event event;
    bool is_logged;
    bool is_told; /* to the callback */
    int64_t wall_ms;
    gbx_log_line line;
} entry;

/* False if no callback gets this event. Otherwise the caller adds fields to e->line and
 * calls hand_over(). */
static bool begin(entry *e, gbx_engine *engine, gbx_run *run, gbx_audit_event event)
{
    const gbx_options *o = &engine->settings.options;
    gbx_log_line_head head = {.event = gbx_audit_name(event),
                              .engine = engine->audit.id,
                              .call_id = run != NULL ? run->result->call_id : NULL};
    const char *machine = run != NULL && run->result->machine[0] != 0
                              ? run->result->machine
                              : engine->machine;

    e->engine = engine;
    e->run = run;
    e->event = event;
    e->is_logged = o->on_audit != NULL && gbx_audit_is_for(event, GBX_AUDIT_LOG);
    e->is_told = o->on_event != NULL && gbx_audit_is_for(event, GBX_AUDIT_EVENT);
    if (!e->is_logged && !e->is_told)
        return false;
    head.wall_ms = e->wall_ms = gbx_clock_wall_ms();
    head.seq = e->is_logged ? ++engine->audit.seq : 0;
    gbx_log_line_begin(&e->line, &head);
    if (*machine != 0)
        gbx_log_line_puts(&e->line, "machine", machine);
    return true;
}

/* Call the listeners. The formatted text is the detail for the event callback. */
static void __attribute__((format(printf, 2, 3)))
hand_over(entry *e, const char *format, ...)
{
    const gbx_options *o = &e->engine->settings.options;
    char detail[GBX_ERROR_MESSAGE_SIZE];
    gbx_event event = {.name = gbx_audit_name(e->event),
                       .call = e->run != NULL ? e->run->ticket : 0,
                       .detail = detail,
                       .time_ms = (uint64_t)e->wall_ms,
                       .call_id = e->run != NULL ? e->run->result->call_id : ""};
    va_list args;

    if (e->is_logged) {
        size_t len;
        const char *line = gbx_log_line_end(&e->line, &len);

        o->on_audit(o->audit_user, line, len);
    }
    if (!e->is_told)
        return;
    va_start(args, format);
    (void)vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    o->on_event(o->event_user, &event);
}

void gbx_call_id(const gbx_engine *engine, gbx_ticket ticket, char *to)
{
    (void)snprintf(to, GBX_CALL_ID_SIZE, "%s-%llu", engine->audit.id,
                   (unsigned long long)ticket);
}

/* True if the rate limit allows one more line about a refusal. */
static bool take_token(gbx_audit *a)
{
    bool may;

    (void)pthread_mutex_lock(&a->lock);
    may = gbx_bucket_take(&a->refusals, gbx_clock_now_ns());
    (void)pthread_mutex_unlock(&a->lock);
    return may;
}

static void say_suspicious(gbx_run *run, const gbx_cluster *c)
{
    entry e;

    if (!begin(&e, run->engine, run, GBX_AUDIT_SUSPICIOUS))
        return;
    gbx_log_line_count(&e.line, "refusals", c->total);
    gbx_log_line_open(&e.line, "counts", '{');
    for (unsigned i = 0; i < GBX_SUSPECT_COUNT; i++)
        if (c->counts.of[i] > 0)
            gbx_log_line_count(&e.line, gbx_suspect_name((gbx_suspect)i),
                               c->counts.of[i]);
    gbx_log_line_close(&e.line);
    gbx_log_line_open(&e.line, "callIds", '[');
    for (size_t i = 0; i < c->call_count; i++) {
        char id[GBX_CALL_ID_SIZE];

        gbx_call_id(run->engine, c->calls[i], id);
        gbx_log_line_puts(&e.line, NULL, id);
    }
    gbx_log_line_close(&e.line);
    hand_over(&e, "%u refusals or kills in %zu calls", c->total, c->call_count);
}

gbx_status gbx_audit_init(gbx_engine *engine, gbx_error *reterr)
{
    gbx_audit *a = &engine->audit;
    const gbx_options *o = &engine->settings.options;
    uint32_t id;

    if (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id)
        return gbx_fail(reterr, GBX_E_OS, "no randomness for the engine's name");
    (void)snprintf(a->id, sizeof a->id, "%08x", id);
    a->is_heard = o->on_audit != NULL || o->on_event != NULL;
    a->start_ns = gbx_clock_now_ns();
    gbx_bucket_init(&a->refusals, GBX_AUDIT_REFUSALS_AT_ONCE, GBX_AUDIT_REFUSALS_PER_S,
                    a->start_ns);
    gbx_suspicion_init(&a->suspicion, o->suspicious_refusals, o->suspicious_ms);
    return GBX_OK;
}

/* The field "capabilities": an array of names. */
static void put_capabilities(gbx_log_line *line, uint32_t bits)
{
    gbx_log_line_open(line, "capabilities", '[');
    for (unsigned i = 0; 1u << i <= GBX_CAP_ENV; i++) /* the helpers reach nothing */
        if (bits & 1u << i)
            gbx_log_line_puts(line, NULL, gbx_record_capability(i));
    gbx_log_line_close(line);
}

void gbx_audit_engine_event(gbx_engine *engine, gbx_audit_event event,
                            const char *detail)
{
    entry e;

    if (!begin(&e, engine, NULL, event))
        return;
    if (*detail != 0)
        gbx_log_line_puts(&e.line, "message", detail);
    hand_over(&e, "%s", detail);
}

void gbx_audit_engine_refusal(gbx_engine *engine, gbx_audit_event event,
                              const char *detail)
{
    if (!engine->audit.is_heard)
        return;
    if (take_token(&engine->audit))
        gbx_audit_engine_event(engine, event, detail);
    else
        engine->audit.dropped++;
}

void gbx_audit_engine_started(gbx_engine *engine)
{
    static const char *const jits[] = {"default", "full", "baseline", "off", "long"};
    const gbx_options *o = &engine->settings.options;
    entry e;

    engine->audit.has_started = true;
    if (!begin(&e, engine, NULL, GBX_AUDIT_ENGINE_STARTED))
        return;
    gbx_log_line_puts(&e.line, "version", GBX_VERSION);
    gbx_log_line_count(&e.line, "pid", (uint64_t)getpid());
    gbx_log_line_puts(&e.line, "runner",
                      engine->runner.name != NULL ? engine->runner.name : "process");
    gbx_log_line_bool(&e.line, "isolated", engine->runner.execute == NULL);
    gbx_log_line_puts(&e.line, "jit", jits[o->jit]);
    put_capabilities(&e.line, o->capabilities);
    (void)pthread_mutex_lock(&engine->lock);
    if (engine->facts.known) {
        gbx_log_line_open(&e.line, "layersMissing", '[');
        for (size_t i = 0; i < GBX_LAYER_COUNT; i++)
            if (!engine->facts.layers[i].stands)
                gbx_log_line_puts(&e.line, NULL, gbx_layers[i].name);
        gbx_log_line_close(&e.line);
    }
    (void)pthread_mutex_unlock(&engine->lock);
    hand_over(&e, "%s", "");
}

void gbx_audit_engine_ended(gbx_engine *engine)
{
    gbx_audit *a = &engine->audit;
    entry e;

    if (!a->has_started || !begin(&e, engine, NULL, GBX_AUDIT_ENGINE_ENDED))
        return;
    gbx_log_line_count(&e.line, "calls", engine->next_ticket);
    gbx_log_line_number(&e.line, "upMs",
                        (double)(gbx_clock_now_ns() - a->start_ns) / 1e6);
    gbx_log_line_count(&e.line, "linesDropped", a->dropped);
    hand_over(&e, "%s", "");
}

/* Count a suspicious act of a call; at the threshold, report it. */
static void suspect(gbx_run *run, gbx_suspect kind)
{
    gbx_audit *a = &run->engine->audit;
    gbx_cluster cluster;
    bool is_cluster;

    if (!a->is_heard)
        return;
    (void)pthread_mutex_lock(&a->lock);
    is_cluster = gbx_suspicion_add(&a->suspicion, kind, run->ticket,
                                   &run->audit.suspects, gbx_clock_now_ns(), &cluster);
    (void)pthread_mutex_unlock(&a->lock);
    if (is_cluster)
        say_suspicious(run, &cluster);
}

/* ---- one call, from its first line to its last ----------------------------------- */

/* Lines never contain the input, the value or console text; of a thrown error, only the
 * code. */

/*
 * Error codes of refused requests, and the suspicion that each counts as. Only for the
 * library's own answers: an embedder's function may answer with any code.
 */
static const struct refusal {
    const char *code;
    bool is_suspect;
    gbx_suspect kind;
} refusals[] = {
    {"ERR_NOT_ALLOWED", true, GBX_SUSPECT_FUNCTION},
    {"ERR_SECRET", true, GBX_SUSPECT_SECRET},
    {"ERR_HOST_BUSY", false, 0},
    {"ERR_FILE_NOT_ALLOWED", true, GBX_SUSPECT_PATH},
    {"ERR_FILE_TOO_LARGE", false, 0},
    {"ERR_FETCH_NOT_ALLOWED", true, GBX_SUSPECT_SITE},
    {"ERR_FETCH_ADDRESS", true, GBX_SUSPECT_SITE},
    {"ERR_FETCH_URL", false, 0},
    {"ERR_FETCH_METHOD", false, 0},
    {"ERR_FETCH_HEADER", false, 0},
    {"ERR_FETCH_SECRET", true, GBX_SUSPECT_SECRET},
    {"ERR_FETCH_TOO_LARGE", false, 0},
};

/* True if the limits allow one more line of this event; if not, counts it. */
static bool may_say(gbx_run *run, gbx_audit_event event)
{
    gbx_run_audit *a = &run->audit;
    bool is_call = event == GBX_AUDIT_HOST_CALL;
    uint32_t *lines = is_call ? &a->host_lines : &a->refusal_lines;
    bool may = *lines < (is_call ? GBX_AUDIT_HOST_LINES : GBX_AUDIT_REFUSAL_LINES) &&
               (is_call || take_token(&run->engine->audit));

    *lines += may;
    a->dropped += !may;
    if (!may)
        run->engine->audit.dropped++;
    return may;
}

static void put_span(gbx_log_line *line, const char *key, gbx_span text)
{
    if (text.len > 0)
        gbx_log_line_text(line, key, text.data, text.len);
}

static void put_text(gbx_log_line *line, const char *key, const char *text)
{
    if (*text != 0)
        gbx_log_line_puts(line, key, text);
}

/* The target of a request and, for a fetch, its outcome. */
static void put_note(gbx_log_line *line, const gbx_audit_detail *note)
{
    if (note == NULL)
        return;
    put_text(line, "method", note->method);
    if (note->status != 0)
        gbx_log_line_count(line, "status", note->status);
    if (note->hops > 0)
        gbx_log_line_count(line, "hops", note->hops);
    put_text(line, "address", note->address);
    put_text(line, "target", note->target);
    put_text(line, "detail", note->detail);
}

static void put_effort(gbx_log_line *line, const gbx_reply *reply)
{
    gbx_log_line_number(line, "durationMs",
                        (double)(reply->end_ns - reply->asked.start_ns) / 1e6);
    gbx_log_line_count(line, "bytesOut", reply->asked.bytes_out);
    gbx_log_line_count(line, "bytesIn", reply->msg.json.len + reply->msg.bytes.len);
}

static void say_host_call(gbx_run *run, const gbx_reply *reply)
{
    const gbx_msg_answer *msg = &reply->msg;
    entry e;

    if (!begin(&e, run->engine, run, GBX_AUDIT_HOST_CALL))
        return;
    gbx_log_line_puts(&e.line, "function", reply->asked.name);
    gbx_log_line_puts(&e.line, "outcome",
                      reply->is_missing ? "unanswered"
                      : msg->is_error   ? "error"
                                        : "ok");
    put_effort(&e.line, reply);
    if (msg->is_error)
        put_span(&e.line, "code", msg->code.len > 0 ? msg->code : msg->name);
    put_note(&e.line, reply->asked.note);
    hand_over(&e, "%s", "");
}

static void say_refused(gbx_run *run, const gbx_reply *reply)
{
    const gbx_audit_asked *asked = &reply->asked;
    const gbx_msg_answer *msg = &reply->msg;
    const char *function =
        *asked->name != 0 || asked->note == NULL ? asked->name : asked->note->function;
    char name[128];
    entry e;

    if (!begin(&e, run->engine, run, GBX_AUDIT_HOST_REFUSED))
        return;
    put_span(&e.line, "code", msg->code);
    put_effort(&e.line, reply);
    put_text(&e.line, "function", function);
    put_note(&e.line, asked->note);
    put_span(&e.line, "message", msg->message);
    (void)gbx_log_line_escape(function, strlen(function), name, sizeof name);
    hand_over(&e, "%s: %.*s", name, (int)msg->code.len, (const char *)msg->code.data);
}

static void say_end(gbx_run *run, gbx_audit_event event, const gbx_verdict *v)
{
    const gbx_stats *s = &run->result->stats;
    entry e;

    if (!begin(&e, run->engine, run, event))
        return;
    if (event == GBX_AUDIT_CALL_TIMEOUT) {
        gbx_log_line_number(&e.line, "wallMs", s->wall_ms);
        gbx_log_line_number(&e.line, "cpuMs", s->cpu_ms);
        gbx_log_line_count(&e.line, "timeoutMs", run->limits.timeout_ms);
        gbx_log_line_count(&e.line, "cpuLimitMs", run->limits.cpu_ms);
    } else if (event == GBX_AUDIT_CALL_MEMORY) {
        gbx_log_line_count(&e.line, "peakMemoryBytes", s->peak_memory_bytes);
        gbx_log_line_count(&e.line, "memoryBytes", run->limits.memory_bytes);
    }
    gbx_log_line_puts(&e.line, "message", v->message);
    hand_over(&e, "%s", v->message);
}

static void put_cost(gbx_log_line *line, const gbx_run *run)
{
    const gbx_stats *s = &run->result->stats;
    uint64_t out = run->has_exchange
                       ? run->limits.host_out_bytes - run->exchange.host_out_left
                       : 0;

    gbx_log_line_number(line, "wallMs", s->wall_ms);
    gbx_log_line_number(line, "cpuMs", s->cpu_ms);
    gbx_log_line_count(line, "peakMemoryBytes", s->peak_memory_bytes);
    gbx_log_line_count(line, "inputBytes", s->input_bytes);
    gbx_log_line_count(line, "outputBytes", s->output_bytes);
    gbx_log_line_count(line, "logBytes", s->log_bytes);
    gbx_log_line_count(line, "hostCalls", s->host_calls);
    gbx_log_line_count(line, "hostBytesOut", out);
    gbx_log_line_count(line, "hostBytesIn", run->audit.bytes_in);
}

void gbx_audit_call_started(gbx_run *run)
{
    const gbx_call *call = &run->call;
    uint32_t capabilities = run->engine->settings.options.capabilities;
    entry e;

    if (run->audit.is_open || !run->engine->audit.is_heard)
        return;
    run->audit.is_open = true;
    if (!begin(&e, run->engine, run, GBX_AUDIT_CALL_STARTED))
        return;
    if (call->policy != NULL)
        capabilities &= call->policy->capabilities;
    gbx_log_line_puts(&e.line, "form", gbx_form_name(call->form));
    gbx_log_line_bool(&e.line, "guard", (call->flags & GBX_CALL_NO_GUARD) == 0);
    gbx_log_line_count(&e.line, "codeBytes", call->code_len);
    gbx_log_line_count(&e.line, "inputBytes", call->input_len);
    gbx_log_line_count(&e.line, "timeoutMs", run->limits.timeout_ms);
    gbx_log_line_count(&e.line, "memoryBytes", run->limits.memory_bytes);
    put_capabilities(&e.line, capabilities);
    hand_over(&e, "%s", "");
}

void gbx_audit_guard(gbx_run *run, const gbx_report *report)
{
    gbx_audit_call_started(run); /* unless it was */
    if (!run->audit.is_open)
        return;
    for (size_t i = 0; i < report->count; i++) {
        const gbx_violation *v = &report->list[i];
        entry e;

        if (may_say(run, GBX_AUDIT_GUARD_VIOLATION) &&
            begin(&e, run->engine, run, GBX_AUDIT_GUARD_VIOLATION)) {
            gbx_log_line_puts(&e.line, "rule", v->rule);
            gbx_log_line_count(&e.line, "line", v->line);
            gbx_log_line_count(&e.line, "column", v->column);
            hand_over(&e, "%s at line %u, column %u", v->rule, v->line, v->column);
        }
        /* Rules about how code is written show nothing about its intent. */
        if (!gbx_text_is_listed("form size encoding syntax", v->rule, strlen(v->rule)))
            suspect(run, GBX_SUSPECT_PATTERN);
    }
}

void gbx_audit_verdict(gbx_run *run, gbx_end how, const gbx_verdict *v)
{
    bool is_kill = v->code == GBX_CODE_VIOLATION && how == GBX_END_DIED;
    entry e;

    if (v->code == GBX_CODE_VIOLATION)
        say_end(run, is_kill ? GBX_AUDIT_SECCOMP_KILL : GBX_AUDIT_PROTOCOL_VIOLATION,
                v);
    if (v->code == GBX_CODE_CRASHED)
        say_end(run, GBX_AUDIT_WORKER_CRASHED, v);
    if (v->code == GBX_CODE_TIMEOUT) {
        say_end(run, GBX_AUDIT_CALL_TIMEOUT, v);
        suspect(run, GBX_SUSPECT_TIMEOUT);
    }
    if (v->code == GBX_CODE_MEMORY) {
        say_end(run, GBX_AUDIT_CALL_MEMORY, v);
        suspect(run, GBX_SUSPECT_MEMORY);
    }
    if (is_kill)
        suspect(run, GBX_SUSPECT_SEAL);
    else if (v->code == GBX_CODE_VIOLATION && run->has_exchange)
        suspect(run, GBX_SUSPECT_PROTOCOL);
    if (run->worker != NULL &&
        (v->code == GBX_CODE_TIMEOUT || v->code == GBX_CODE_MEMORY ||
         v->code == GBX_CODE_ABORTED) &&
        begin(&e, run->engine, run, GBX_AUDIT_WORKER_KILLED))
        hand_over(&e, "%s", v->message);
}

void gbx_audit_answered(gbx_run *run, const gbx_reply *reply)
{
    const struct refusal *refusal = NULL;

    run->audit.bytes_in += reply->msg.json.len + reply->msg.bytes.len;
    if (!run->audit.is_open)
        return;
    for (size_t i = 0; i < GBX_COUNTOF(refusals); i++)
        if (reply->msg.is_error && reply->is_ours &&
            strlen(refusals[i].code) == reply->msg.code.len &&
            memcmp(refusals[i].code, reply->msg.code.data, reply->msg.code.len) == 0)
            refusal = &refusals[i];
    if (refusal == NULL && !reply->is_over) {
        if (run->engine->settings.options.on_audit != NULL &&
            may_say(run, GBX_AUDIT_HOST_CALL))
            say_host_call(run, reply);
        return;
    }
    if (may_say(run, GBX_AUDIT_HOST_REFUSED))
        say_refused(run, reply);
    if (refusal != NULL && refusal->is_suspect)
        suspect(run, refusal->kind);
}

void gbx_audit_limited(void *user, uint8_t limit)
{
    gbx_run *run = user;
    bool is_calls = limit == GBX_LIMITED_CALLS;
    const char *code = is_calls ? "ERR_HOST_CALLS" : "ERR_HOST_BYTES";
    entry e;

    if (!run->audit.is_open || !may_say(run, GBX_AUDIT_HOST_REFUSED) ||
        !begin(&e, run->engine, run, GBX_AUDIT_HOST_REFUSED))
        return;
    gbx_log_line_puts(&e.line, "code", code);
    gbx_log_line_count(&e.line, "limit",
                       is_calls ? run->limits.host_calls : run->limits.host_out_bytes);
    hand_over(&e, "%s", code);
}

void gbx_audit_call_ended(gbx_run *run, gbx_status status)
{
    entry e;

    run->audit.is_open = false;
    if (run->audit.dropped > 0 && begin(&e, run->engine, run, GBX_AUDIT_LOG_DROPPED)) {
        gbx_log_line_count(&e.line, "lines", run->audit.dropped);
        hand_over(&e, "%u lines", run->audit.dropped);
    }
    if (!begin(&e, run->engine, run, GBX_AUDIT_CALL_ENDED))
        return;
    if (status == GBX_OK)
        gbx_log_line_puts(&e.line, "code", gbx_code_name(run->result->code));
    else
        gbx_log_line_puts(&e.line, "status", gbx_status_name(status));
    put_cost(&e.line, run);
    hand_over(&e, "%s", "");
}

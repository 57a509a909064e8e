/* SPDX-License-Identifier: MIT */
/*
 * audit - what an engine says about itself and its calls: its identity, its listeners,
 * and how an event is sent.
 *
 * A line gets its number when it is begun and is handed over when it is complete. Lines
 * of two threads may overtake each other; the numbers give the order.
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "engine/audit.h"
#include "guard/guard.h"
#include "policy/policy.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static void gbx_entry_begin(gbx_audit_entry *e, gbx_engine *engine, gbx_run *run,
                            gbx_audit_event event)
{
    bool is_logged = engine->settings.options.on_audit != NULL &&
                     gbx_audit_is_for(event, GBX_AUDIT_LOG);
    gbx_log_line_head head = {.wall_ms = gbx_clock_wall_ms(),
                              .seq = is_logged ? ++engine->audit.seq : 0,
                              .event = gbx_audit_name(event),
                              .engine = engine->audit.id,
                              .call_id = run != NULL ? run->call_id : NULL};

    e->engine = engine;
    e->run = run;
    e->event = event;
    e->wall_ms = head.wall_ms;
    gbx_log_line_begin(&e->line, &head);
}

/* Fields are added to entry->line between these two. detail: one line, for the
 * callback. */
static void gbx_entry_emit(gbx_audit_entry *e, const char *detail)
{
    const gbx_options *o = &e->engine->settings.options;
    gbx_event event = {.name = gbx_audit_name(e->event),
                       .call = e->run != NULL ? e->run->ticket : 0,
                       .detail = detail,
                       .time_ms = (uint64_t)e->wall_ms,
                       .call_id = e->run != NULL ? e->run->call_id : ""};
    size_t len;
    const char *line;

    if (o->on_audit != NULL && gbx_audit_is_for(e->event, GBX_AUDIT_LOG)) {
        line = gbx_log_line_end(&e->line, &len);
        o->on_audit(o->audit_user, line, len);
    }
    if (o->on_event != NULL && gbx_audit_is_for(e->event, GBX_AUDIT_EVENT))
        o->on_event(o->event_user, &event);
}

void gbx_call_id(const gbx_engine *engine, gbx_ticket ticket, char *to)
{
    char digits[20];
    size_t n = 0;
    char *at = to + 8;

    memcpy(to, engine->audit.id, 8);
    *at++ = '-';
    do
        digits[n++] = (char)('0' + ticket % 10);
    while ((ticket /= 10) != 0);
    while (n > 0)
        *at++ = digits[--n];
    *at = 0;
}

/* Does anybody listen to this event? */
static bool gbx_audit_hears(const gbx_engine *engine, gbx_audit_event event)
{
    const gbx_options *o = &engine->settings.options;

    return (o->on_audit != NULL && gbx_audit_is_for(event, GBX_AUDIT_LOG)) ||
           (o->on_event != NULL && gbx_audit_is_for(event, GBX_AUDIT_EVENT));
}

static void put_missing_layers(gbx_log_line *line, const gbx_engine_facts *facts)
{
    static const char *const names[] = {
#define XX(name, text, required, what) text,
        GBX_LAYER_MAP(XX)
#undef XX
    };

    gbx_log_line_open(line, "layersMissing", '[');
    for (size_t i = 0; i < GBX_LAYER_COUNT; i++)
        if (!facts->layers[i].stands)
            gbx_log_line_puts(line, NULL, names[i]);
    gbx_log_line_close(line);
}

static void say_suspicious(gbx_run *run, const gbx_cluster *c)
{
    char detail[64];
    gbx_audit_entry e;

    gbx_entry_begin(&e, run->engine, run, GBX_AUDIT_SUSPICIOUS);
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
    (void)snprintf(detail, sizeof detail, "%u refusals in %zu calls", c->total,
                   c->call_count);
    gbx_entry_emit(&e, detail);
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
static void gbx_audit_put_capabilities(gbx_log_line *line, uint32_t bits)
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
    gbx_audit_entry e;

    if (!gbx_audit_hears(engine, event))
        return;
    gbx_entry_begin(&e, engine, NULL, event);
    if (*detail != 0)
        gbx_log_line_puts(&e.line, "message", detail);
    gbx_entry_emit(&e, detail);
}

void gbx_audit_engine_refusal(gbx_engine *engine, gbx_audit_event event,
                              const char *detail)
{
    gbx_audit *a = &engine->audit;
    bool may;

    if (!gbx_audit_hears(engine, event))
        return;
    (void)pthread_mutex_lock(&a->lock);
    may = gbx_bucket_take(&a->refusals, gbx_clock_now_ns());
    (void)pthread_mutex_unlock(&a->lock);
    if (may)
        gbx_audit_engine_event(engine, event, detail);
    else
        a->dropped++;
}

void gbx_audit_engine_started(gbx_engine *engine)
{
    static const char *const jits[] = {"default", "full", "baseline", "off"};
    const gbx_options *o = &engine->settings.options;
    gbx_engine_facts facts;
    gbx_audit_entry e;

    engine->audit.has_started = true;
    if (!gbx_audit_hears(engine, GBX_AUDIT_ENGINE_STARTED))
        return;
    (void)pthread_mutex_lock(&engine->lock);
    facts = engine->facts;
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_entry_begin(&e, engine, NULL, GBX_AUDIT_ENGINE_STARTED);
    gbx_log_line_puts(&e.line, "version", GBX_VERSION);
    gbx_log_line_count(&e.line, "pid", (uint64_t)getpid());
    gbx_log_line_puts(&e.line, "runner",
                      engine->runner.name != NULL ? engine->runner.name : "process");
    gbx_log_line_bool(&e.line, "isolated", engine->runner.execute == NULL);
    gbx_log_line_puts(&e.line, "jit", jits[o->jit]);
    gbx_audit_put_capabilities(&e.line, o->capabilities);
    if (facts.known)
        put_missing_layers(&e.line, &facts);
    gbx_entry_emit(&e, "");
}

void gbx_audit_engine_ended(gbx_engine *engine)
{
    gbx_audit *a = &engine->audit;
    gbx_audit_entry e;

    if (!a->has_started || !gbx_audit_hears(engine, GBX_AUDIT_ENGINE_ENDED))
        return;
    gbx_entry_begin(&e, engine, NULL, GBX_AUDIT_ENGINE_ENDED);
    gbx_log_line_count(&e.line, "calls", engine->next_ticket);
    gbx_log_line_number(&e.line, "upMs",
                        (double)(gbx_clock_now_ns() - a->start_ns) / 1e6);
    gbx_log_line_count(&e.line, "linesDropped", a->dropped);
    gbx_entry_emit(&e, "");
}

/* A call tried something that counts as suspicious; reported if enough adds up. */
static void gbx_audit_suspect(gbx_run *run, gbx_suspect kind)
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

/* It never contains the input, the value or console text; of a thrown error only the
 * code. */

/*
 * Error codes that code receives, and what each counts as. Only the library's own
 * answers are looked up: an embedder's function may answer with any code.
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

static const struct refusal *find_refusal(gbx_span code)
{
    for (size_t i = 0; i < GBX_COUNTOF(refusals); i++)
        if (strlen(refusals[i].code) == code.len &&
            memcmp(refusals[i].code, code.data, code.len) == 0)
            return &refusals[i];
    return NULL;
}

/* May one more line of this event be written? If not, it is counted. */
static bool may_say(gbx_run *run, gbx_audit_event event, const char *function)
{
    gbx_audit *a = &run->engine->audit;
    bool may;

    if (event == GBX_AUDIT_HOST_CALL) {
        may = run->audit.host_lines < GBX_AUDIT_HOST_LINES;
        run->audit.host_lines += may;
    } else {
        may = run->audit.refusal_lines < GBX_AUDIT_REFUSAL_LINES;
        if (may) {
            (void)pthread_mutex_lock(&a->lock);
            may = gbx_bucket_take(&a->refusals, gbx_clock_now_ns());
            (void)pthread_mutex_unlock(&a->lock);
        }
        run->audit.refusal_lines += may;
    }
    if (!may) {
        gbx_tally_add(&run->audit.dropped, event, function);
        a->dropped++;
    }
    return may;
}

static void say_dropped(gbx_run *run)
{
    char detail[64];
    gbx_audit_entry e;

    gbx_entry_begin(&e, run->engine, run, GBX_AUDIT_LOG_DROPPED);
    gbx_tally_put(&run->audit.dropped, &e.line);
    (void)snprintf(detail, sizeof detail, "%u lines", run->audit.dropped.total);
    gbx_entry_emit(&e, detail);
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

/* The outcome of a fetch, before its target. */
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
    gbx_audit_entry e;

    gbx_entry_begin(&e, run->engine, run, GBX_AUDIT_HOST_CALL);
    gbx_log_line_puts(&e.line, "function", reply->asked.name);
    gbx_log_line_puts(&e.line, "outcome",
                      reply->is_missing ? "unanswered"
                      : msg->is_error   ? "error"
                                        : "ok");
    put_effort(&e.line, reply);
    if (msg->is_error)
        put_span(&e.line, "code", msg->code.len > 0 ? msg->code : msg->name);
    put_note(&e.line, reply->asked.note);
    gbx_entry_emit(&e, "");
}

static void say_refused(gbx_run *run, const gbx_reply *reply)
{
    const gbx_audit_asked *asked = &reply->asked;
    const gbx_msg_answer *msg = &reply->msg;
    const char *function =
        *asked->name != 0 || asked->note == NULL ? asked->name : asked->note->function;
    char name[128];
    char detail[256];
    gbx_audit_entry e;

    gbx_entry_begin(&e, run->engine, run, GBX_AUDIT_HOST_REFUSED);
    put_span(&e.line, "code", msg->code);
    put_effort(&e.line, reply);
    put_text(&e.line, "function", function);
    put_note(&e.line, asked->note);
    put_span(&e.line, "message", msg->message);
    (void)gbx_log_line_escape(function, strlen(function), name, sizeof name);
    (void)snprintf(detail, sizeof detail, "%s: %.*s", name, (int)msg->code.len,
                   (const char *)msg->code.data);
    gbx_entry_emit(&e, detail);
}

/* Rules about how code is written show nothing about its intent. */
static bool is_forbidden_name(const gbx_violation *v)
{
    static const char *const plain[] = {"form", "size", "encoding", "syntax"};

    for (size_t i = 0; i < GBX_COUNTOF(plain); i++)
        if (strcmp(v->rule, plain[i]) == 0)
            return false;
    return true;
}

static void say_violation(gbx_run *run, const gbx_violation *v)
{
    char detail[96];
    gbx_audit_entry e;

    gbx_entry_begin(&e, run->engine, run, GBX_AUDIT_GUARD_VIOLATION);
    gbx_log_line_puts(&e.line, "rule", v->rule);
    gbx_log_line_count(&e.line, "line", v->line);
    gbx_log_line_count(&e.line, "column", v->column);
    (void)snprintf(detail, sizeof detail, "%s at line %u, column %u", v->rule, v->line,
                   v->column);
    gbx_entry_emit(&e, detail);
}

/* The event for a worker's end; false if it is not worth an event. */
static bool name_of_end(gbx_code code, gbx_end how, gbx_audit_event *ret)
{
    switch (code) {
    case GBX_CODE_VIOLATION:
        *ret =
            how == GBX_END_DIED ? GBX_AUDIT_SECCOMP_KILL : GBX_AUDIT_PROTOCOL_VIOLATION;
        return true;
    case GBX_CODE_CRASHED: *ret = GBX_AUDIT_WORKER_CRASHED; return true;
    case GBX_CODE_TIMEOUT: *ret = GBX_AUDIT_CALL_TIMEOUT; return true;
    case GBX_CODE_MEMORY: *ret = GBX_AUDIT_CALL_MEMORY; return true;
    case GBX_CODE_VALUE:
    case GBX_CODE_SYNTAX:
    case GBX_CODE_RUNTIME:
    case GBX_CODE_OUTPUT_TOO_LARGE:
    case GBX_CODE_INVALID_CODE:
    case GBX_CODE_UNAVAILABLE:
    case GBX_CODE_ABORTED:
    case GBX_CODE_INVALID_DATA:
    case GBX_CODE_DIVERGED: return false;
    }
    return false;
}

static void say_end(gbx_run *run, gbx_audit_event event, const gbx_verdict *v)
{
    const gbx_stats *s = &run->result->stats;
    gbx_audit_entry e;

    gbx_entry_begin(&e, run->engine, run, event);
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
    gbx_entry_emit(&e, v->message);
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
    gbx_audit_entry e;

    run->audit.is_open = true;
    if (!gbx_audit_hears(run->engine, GBX_AUDIT_CALL_STARTED))
        return;
    if (call->policy != NULL)
        capabilities &= call->policy->capabilities;
    gbx_entry_begin(&e, run->engine, run, GBX_AUDIT_CALL_STARTED);
    gbx_log_line_puts(&e.line, "form", gbx_form_name(call->form));
    gbx_log_line_bool(&e.line, "guard", (call->flags & GBX_CALL_NO_GUARD) == 0);
    gbx_log_line_count(&e.line, "codeBytes", call->code_len);
    gbx_log_line_count(&e.line, "inputBytes", call->input_len);
    gbx_log_line_count(&e.line, "timeoutMs", run->limits.timeout_ms);
    gbx_log_line_count(&e.line, "memoryBytes", run->limits.memory_bytes);
    gbx_audit_put_capabilities(&e.line, capabilities);
    gbx_entry_emit(&e, "");
}

void gbx_audit_guard(gbx_run *run, const gbx_report *report)
{
    if (!run->audit.is_open)
        return;
    for (size_t i = 0; i < report->count; i++) {
        if (may_say(run, GBX_AUDIT_GUARD_VIOLATION, NULL))
            say_violation(run, &report->list[i]);
        if (is_forbidden_name(&report->list[i]))
            gbx_audit_suspect(run, GBX_SUSPECT_PATTERN);
    }
}

void gbx_audit_verdict(gbx_run *run, gbx_end how, const gbx_verdict *v)
{
    gbx_audit_event event;
    gbx_audit_entry e;

    if (name_of_end(v->code, how, &event)) {
        say_end(run, event, v);
        if (event == GBX_AUDIT_SECCOMP_KILL)
            gbx_audit_suspect(run, GBX_SUSPECT_SEAL);
        if (event == GBX_AUDIT_PROTOCOL_VIOLATION && run->has_exchange)
            gbx_audit_suspect(run, GBX_SUSPECT_PROTOCOL);
    }
    if (run->worker != NULL &&
        (v->code == GBX_CODE_TIMEOUT || v->code == GBX_CODE_MEMORY ||
         v->code == GBX_CODE_ABORTED)) {
        gbx_entry_begin(&e, run->engine, run, GBX_AUDIT_WORKER_KILLED);
        gbx_entry_emit(&e, v->message);
    }
}

void gbx_audit_answered(gbx_run *run, const gbx_reply *reply)
{
    const char *name = reply->asked.name;
    const struct refusal *refusal = NULL;

    run->audit.bytes_in += reply->msg.json.len + reply->msg.bytes.len;
    if (!run->audit.is_open)
        return;
    if (reply->msg.is_error && reply->is_ours)
        refusal = find_refusal(reply->msg.code);
    if (refusal == NULL && !reply->is_over) {
        if (gbx_audit_hears(run->engine, GBX_AUDIT_HOST_CALL) &&
            may_say(run, GBX_AUDIT_HOST_CALL, name))
            say_host_call(run, reply);
        return;
    }
    if (may_say(run, GBX_AUDIT_HOST_REFUSED, *name != 0 ? name : NULL))
        say_refused(run, reply);
    if (refusal != NULL && refusal->is_suspect)
        gbx_audit_suspect(run, refusal->kind);
}

void gbx_audit_limited(void *user, uint8_t limit)
{
    gbx_run *run = user;
    bool is_calls = limit == GBX_LIMITED_CALLS;
    const char *code = is_calls ? "ERR_HOST_CALLS" : "ERR_HOST_BYTES";
    gbx_audit_entry e;

    if (!run->audit.is_open || !may_say(run, GBX_AUDIT_HOST_REFUSED, NULL))
        return;
    gbx_entry_begin(&e, run->engine, run, GBX_AUDIT_HOST_REFUSED);
    gbx_log_line_puts(&e.line, "code", code);
    gbx_log_line_count(&e.line, "limit",
                       is_calls ? run->limits.host_calls : run->limits.host_out_bytes);
    gbx_entry_emit(&e, code);
}

void gbx_audit_call_ended(gbx_run *run, gbx_status status)
{
    gbx_audit_entry e;
    if (run->audit.dropped.total > 0)
        say_dropped(run);
    run->audit.is_open = false;
    if (!gbx_audit_hears(run->engine, GBX_AUDIT_CALL_ENDED))
        return;
    gbx_entry_begin(&e, run->engine, run, GBX_AUDIT_CALL_ENDED);
    if (status == GBX_OK)
        gbx_log_line_puts(&e.line, "code", gbx_code_name(run->result->code));
    else
        gbx_log_line_puts(&e.line, "status", gbx_status_name(status));
    if (run->result != NULL)
        put_cost(&e.line, run);
    gbx_entry_emit(&e, "");
}

/* SPDX-License-Identifier: MIT */
/*
 * audit - the engine's part: its identity, its listeners, and how an event is sent.
 *
 * A line gets its number when it is begun and is handed over when it is complete. Lines
 * of two threads may overtake each other; the numbers give the order.
 */
#include "engine/audit.h"

#include "base/clock.h"
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const struct {
    unsigned bit;
    const char *name;
} capabilities[] = {
    {GBX_CAP_CONSOLE, "console"}, {GBX_CAP_TIMERS, "timers"}, {GBX_CAP_FETCH, "fetch"},
    {GBX_CAP_FILE, "file"},       {GBX_CAP_CRYPTO, "crypto"}, {GBX_CAP_ENV, "env"},
};

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

/* ---- public to other modules -------------------------------------------- */

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
    a->has_lock = pthread_mutex_init(&a->lock, NULL) == 0;
    return a->has_lock ? GBX_OK : gbx_fail(reterr, GBX_E_NOMEM, "cannot make a lock");
}

void gbx_audit_cleanup(gbx_engine *engine)
{
    if (engine->audit.has_lock)
        (void)pthread_mutex_destroy(&engine->audit.lock);
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

void gbx_audit_put_capabilities(gbx_log_line *line, uint32_t bits)
{
    gbx_log_line_open(line, "capabilities", '[');
    for (size_t i = 0; i < GBX_COUNTOF(capabilities); i++)
        if (bits & capabilities[i].bit)
            gbx_log_line_puts(line, NULL, capabilities[i].name);
    gbx_log_line_close(line);
}

bool gbx_audit_hears(const gbx_engine *engine, gbx_audit_event event)
{
    const gbx_options *o = &engine->settings.options;

    return (o->on_audit != NULL && gbx_audit_is_for(event, GBX_AUDIT_LOG)) ||
           (o->on_event != NULL && gbx_audit_is_for(event, GBX_AUDIT_EVENT));
}

void gbx_entry_begin(gbx_audit_entry *e, gbx_engine *engine, gbx_run *run,
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

void gbx_entry_emit(gbx_audit_entry *e, const char *detail)
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

void gbx_audit_suspect(gbx_run *run, gbx_suspect kind)
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

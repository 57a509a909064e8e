/* SPDX-License-Identifier: MIT */
/*
 * conclude - the end of a call: its cost as the kernel measured it, the verdict, and an
 * error text for whoever repairs the code.
 */
#include "engine/run.h"

#include "base/json.h"
#include "base/json_view.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "engine/engine.h"
#include "engine/replayer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t field_kib(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Cost: from the report of the worker's end if there is one, else from the live
 * worker. Resident memory is growth since READY: the template's pages are shared. */
static void measure(gbx_run *run, int64_t now_ns, gbx_evidence *evidence)
{
    gbx_stats *stats = &run->result->stats;
    gbx_worker *w = run->worker;
    uint64_t peak_kib;
    int64_t cpu_ns;

    stats->wall_ms = (double)(now_ns - run->exchange.start_ns) / 1e6;
    (void)pthread_mutex_lock(&run->engine->lock);
    evidence->wait_status = (int)w->exit.status;
    evidence->shortage = w->shortage;
    evidence->group_bytes = run->engine->group.limits.memory_bytes;
    if (w->has_exited && !w->is_lost) {
        peak_kib = w->exit.max_rss_kib;
        cpu_ns = (int64_t)w->exit.cpu_us * 1000;
        (void)pthread_mutex_unlock(&run->engine->lock);
    } else {
        (void)pthread_mutex_unlock(&run->engine->lock);
        peak_kib = gbx_worker_rss_kib(w, true);
        cpu_ns = gbx_worker_cpu_ns(w);
    }
    if (cpu_ns >= 0 && run->cpu_start_ns >= 0 && cpu_ns > run->cpu_start_ns)
        stats->cpu_ms = (double)(cpu_ns - run->cpu_start_ns) / 1e6;
    if (peak_kib > w->rss_kib && w->rss_kib > 0)
        stats->peak_memory_bytes = (peak_kib - w->rss_kib) << 10;
    evidence->growth_bytes = stats->peak_memory_bytes;
    evidence->cpu_ms = stats->cpu_ms;
}

/* Another thread may change the text while it is read. */
static const char *copy_lack(gbx_engine *engine, char to[sizeof engine->lack])
{
    (void)pthread_mutex_lock(&engine->lock);
    memcpy(to, engine->lack, sizeof engine->lack);
    (void)pthread_mutex_unlock(&engine->lock);
    return to;
}

/* The value is only the worker's claim until it has been checked. */
static void check_value(gbx_result *r, gbx_verdict *v)
{
    gbx_json_fault fault;

    if (!r->has_value ||
        gbx_json_check_strict(r->value, r->value_len, GBX_JSON_DEPTH_MAX, &fault))
        return;
    if (strcmp(fault.message, "nested too deep") == 0) {
        v->code = GBX_CODE_RUNTIME;
        (void)snprintf(v->message, sizeof v->message,
                       "the result is nested deeper than %d levels",
                       GBX_JSON_DEPTH_MAX);
        v->hint = "return a flatter value";
    } else {
        v->code = GBX_CODE_VIOLATION;
        (void)snprintf(v->message, sizeof v->message,
                       "the worker sent a result that is not JSON as JSON.stringify() "
                       "writes it: %s",
                       fault.message);
    }
}

/* The engine counts columns in UTF-16 units; people count characters. */
static uint32_t to_characters(const gbx_call *call, uint32_t line, uint32_t units)
{
    const char *code = call->code;
    uint32_t column = 1;
    uint32_t unit = 1;
    size_t at;
    size_t end;

    (void)gbx_lines_find(code, call->code_len, line, &at, &end);
    while (at < end && unit < units) {
        size_t n = gbx_utf8_sequence((const uint8_t *)code + at, end - at);

        unit += n == 4 ? 2 : 1;
        column++;
        at += n == 0 ? 1 : n;
    }
    return units == 0 ? 0 : column + (units - unit);
}

/* "Name: message" of what was thrown. */
static char *thrown_text(const gbx_result *r)
{
    const char *name = r->thrown_name != NULL ? r->thrown_name : "";
    const char *message = r->thrown_message != NULL ? r->thrown_message : "";
    char *text = NULL;

    if (*name != 0 && *message != 0) {
        if (asprintf(&text, "%s: %s", name, message) < 0)
            return NULL;
        return text;
    }
    return strdup(*message != 0 ? message : *name != 0 ? name : "unknown error");
}

/* Where it happened, what it means, and the lines around it. */
static void locate(gbx_run *run, gbx_verdict *v, const char *text)
{
    gbx_result *r = run->result;
    gbx_guard_advice advice = {.line = r->thrown_line, .hint = ""};

    advice.column = to_characters(&run->call, r->thrown_line, r->thrown_column);
    gbx_guard_explain(run->call.code, run->call.code_len, run->call.form, v->code, text,
                      &advice);
    if (*v->hint == 0)
        v->hint = advice.hint;
    if (advice.message != NULL) {
        (void)snprintf(v->message, sizeof v->message, "SyntaxError: %s",
                       advice.message);
        free(r->thrown_message);
        r->thrown_message = strdup(advice.message);
    }
    r->location.line = advice.line;
    r->location.column = advice.column;
    if (advice.line == 0)
        return;
    r->frame =
        gbx_guard_frame(run->call.code, run->call.code_len, advice.line, advice.column);
    if (r->frame != NULL)
        r->location.frame = r->frame;
}

static bool binds_no_object(const gbx_call *call)
{
    gbx_view bindings;

    return call->form == GBX_FORM_BODY && call->bindings_len > 0 &&
           !(gbx_view_open(call->bindings, call->bindings_len, &bindings) &&
             gbx_view_kind(bindings) == '{');
}

/* INVALID_DATA: the engine does not say why; the checker finds which text fails, and
 * where. */
static void say_which_data_fails(const gbx_call *call, gbx_verdict *v)
{
    gbx_json_fault fault;

    v->hint = "pass one JSON value";
    if (call->input != NULL &&
        !gbx_json_check(call->input, call->input_len, GBX_JSON_DEPTH_MAX, &fault)) {
        (void)snprintf(v->message, sizeof v->message,
                       "the input is not JSON: %s at line %u, column %u", fault.message,
                       fault.line, fault.column);
    } else if (binds_no_object(call)) {
        (void)snprintf(v->message, sizeof v->message,
                       "the bindings are not a JSON object");
        v->hint = "pass one JSON object, a value for each name";
    } else {
        (void)snprintf(v->message, sizeof v->message, "the input is not JSON");
    }
}

/* If a call ran out of time because nobody answered it, its code was not slow. */
static void say_what_it_awaited(gbx_run *run, gbx_verdict *v)
{
    const char *name = v->code == GBX_CODE_TIMEOUT ? gbx_hostcall_awaited(run) : NULL;
    size_t len = strlen(v->message);

    if (name != NULL)
        (void)snprintf(v->message + len, sizeof v->message - len,
                       ", waiting for the host to answer %s", name);
    if (name != NULL)
        v->hint = "the host did not answer in time; try again, or raise the limit";
}

/* Other texts of a worker were not thrown: the engine only reports a failure. */
static bool was_thrown(const gbx_run *run)
{
    return run->has_exchange && run->exchange.state == GBX_EXCHANGE_ERROR &&
           (run->exchange.failure == GBX_FAILURE_THROWN ||
            run->exchange.failure == GBX_FAILURE_SYNTAX);
}

static void fill(gbx_run *run, gbx_verdict *v)
{
    gbx_result *r = run->result;
    char *thrown = NULL;
    const char *text = v->message;

    if (v->code == GBX_CODE_INVALID_DATA)
        say_which_data_fails(&run->call, v);
    if (*v->message == 0) {
        thrown = thrown_text(r);
        text = thrown != NULL ? thrown : "no memory for the error";
    }
    if (run->has_exchange && run->exchange.state == GBX_EXCHANGE_ERROR &&
        v->code != GBX_CODE_INVALID_DATA)
        locate(run, v, text);
    if (*v->message != 0)
        text = v->message;
    (void)gbx_result_fail(r, v->code, text, v->hint);
    free(thrown);
    if (!was_thrown(run))
        gbx_result_clear_thrown(r);
}

/* ---- public to other modules -------------------------------------------- */

int64_t gbx_worker_cpu_ns(const gbx_worker *worker)
{
    return gbx_pidfd_cpu_ns(worker->pidfd, worker->pid);
}

uint64_t gbx_worker_rss_kib(const gbx_worker *worker, bool peak)
{
    char text[2048];
    ssize_t n;

    if (worker->status_fd < 0)
        return 0;
    n = pread(worker->status_fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return 0;
    text[n] = 0;
    return field_kib(text, peak ? "VmHWM:" : "VmRSS:");
}

void gbx_run_finish(gbx_run *run, gbx_end how, int64_t now_ns)
{
    gbx_evidence evidence = {.end = how,
                             .exchange = run->has_exchange ? &run->exchange : NULL,
                             .limits = &run->limits,
                             .lack = run->lack,
                             .input_bytes = run->call.input_len};
    gbx_result *r = run->result;
    gbx_verdict verdict;
    char lack[sizeof run->engine->lack];

    r->jit = "";
    if (run->worker != NULL && run->has_exchange) {
        static const char *const jits[] = {"", "full", "baseline", "off"};

        measure(run, now_ns, &evidence);
        gbx_exchange_end(&run->exchange);
        r->jit = jits[run->engine->settings.options.jit];
    }
    if (run->has_exchange && run->exchange.is_nomem) {
        gbx_result_fail(r, GBX_CODE_UNAVAILABLE, "the host is out of memory", "");
        return;
    }
    if (how == GBX_END_REPLAYED) /* the replay has decided */
        return;
    if (how == GBX_END_NO_WORKER) {
        evidence.is_late = now_ns >= run->deadline_ns;
        evidence.lack = copy_lack(run->engine, lack);
    }
    gbx_verdict_decide(&evidence, &verdict);
    if (verdict.code == GBX_CODE_VALUE)
        check_value(r, &verdict);
    if (verdict.code == GBX_CODE_VALUE) {
        r->code = GBX_CODE_VALUE;
        r->stats.output_bytes = r->value_len;
        return;
    }
    say_what_it_awaited(run, &verdict);
    fill(run, &verdict);
    gbx_audit_verdict(run, how, &verdict);
}

void gbx_run_conclude(gbx_run *run)
{
    gbx_replayer_end(run);
    gbx_recorder_end(run);
}

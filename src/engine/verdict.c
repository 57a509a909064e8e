/* SPDX-License-Identifier: MIT */
/*
 * verdict - ends a call. gbx_verdict_decide() is pure, and decides by signals, clocks
 * and resource usage. The worker's claims (a failure's kind, "the kernel refused
 * memory") only choose between codes that are equally harmless if a hijacked worker
 * lies. The second part measures the worker, gets the verdict, and writes the error
 * text for the author of the code.
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/json_view.h"
#include "base/utf8.h"
#include "engine/verdict.h"
#include "guard/guard.h"
#include "syntax/hint_table.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GBX_PLACE_TEXT_SIZE 81

static void __attribute__((format(printf, 4, 5)))
say(gbx_verdict *v, gbx_code code, const char *hint, const char *format, ...)
{
    va_list args;

    v->code = code;
    v->hint = hint;
    va_start(args, format);
    (void)vsnprintf(v->message, sizeof v->message, format, args);
    va_end(args);
}

static void say_memory(const gbx_evidence *e, gbx_verdict *v)
{
    unsigned long long limit = e->limits->memory_bytes >> 20;

    if (e->input_bytes > e->limits->memory_bytes / 4)
        say(v, GBX_CODE_MEMORY, "raise the memory limit, or load the data as a dataset",
            "the input of %llu bytes does not fit the memory limit of %llu MiB",
            (unsigned long long)e->input_bytes, limit);
    else
        say(v, GBX_CODE_MEMORY,
            "work on the data in smaller pieces, or raise the memory limit",
            "needed more memory than the limit of %llu MiB", limit);
}

/* Several processes together exceeded a limit, and this one used most of it. */
static void say_shortage(const gbx_evidence *e, gbx_verdict *v)
{
    if (e->shortage == GBX_SHORTAGE_GROUP)
        say(v, GBX_CODE_MEMORY, "run fewer calls at once, or raise total_memory_bytes",
            "the engine's calls together needed more memory than their limit of %llu "
            "MiB",
            (unsigned long long)e->group_bytes >> 20);
    else
        say(v, GBX_CODE_MEMORY,
            "run fewer calls at once, or with a smaller memory limit",
            "the kernel killed the worker: this machine, or the container around it, "
            "had no memory left");
}

static void say_timeout(const gbx_evidence *e, gbx_verdict *v)
{
    const char *hint = "look for a loop that does not end, or raise the limit";

    if (e->end == GBX_END_DEADLINE)
        say(v, GBX_CODE_TIMEOUT, hint, "ran past the time limit of %u ms",
            e->limits->timeout_ms);
    else
        say(v, GBX_CODE_TIMEOUT, hint, "used more than %u ms of processor time",
            e->limits->cpu_ms);
}

/* A worker's part of the engine's reserve for the shapes of objects
 * (seal/reserve.c). Its size does not depend on the limit; filling it needs further
 * memory. */
#define RESERVE_BYTES GBX_MIB(32)

/*
 * The worker died of a signal that the host did not send. JavaScript engines react to a
 * refused allocation with any of those from SIGSEGV to SIGILL. Without a refusal,
 * growth past a quarter of the limit or past the reserve means that the engine's
 * reservations are exhausted; otherwise it is a crash.
 */
static void judge_signal(const gbx_evidence *e, int sig, gbx_verdict *v)
{
    bool was_refused = e->exchange != NULL && e->exchange->was_refused;
    bool has_grown = e->growth_bytes > e->limits->memory_bytes / 4;
    bool is_full = has_grown || e->growth_bytes > RESERVE_BYTES;

    switch (sig) {
    case SIGSYS:
        say(v, GBX_CODE_VIOLATION, "",
            "the worker asked for a system call outside its table and was killed");
        return;
    case SIGXCPU: say_timeout(e, v); return;
    case SIGKILL: /* not from us or for lack of memory: those are known */
        if (e->cpu_ms + 50 >= e->limits->cpu_ms)
            say_timeout(e, v);
        else if (was_refused)
            say_memory(e, v);
        else
            say(v, GBX_CODE_CRASHED,
                "find who killed it: a person, a program, or the kernel for want of "
                "memory (its log says so)",
                "the worker was killed by signal 9 (KILL) from outside");
        return;
    case SIGSEGV:
        /* No allocation was refused, so the engine's reserve for shapes is full. Its
         * size is fixed (seal/reserve.c). */
        if (is_full && !was_refused) {
            say(v, GBX_CODE_MEMORY,
                "use a Map, or arrays, where names of fields are data",
                "made objects of too many different sets of field names: there is room "
                "for about 250,000");
            return;
        }
        /* fallthrough */
    case SIGBUS:
    case SIGABRT:
    case SIGTRAP:
    case SIGILL:
        if (was_refused || is_full) {
            say_memory(e, v);
            return;
        }
        break;
    default: break;
    }
    say(v, GBX_CODE_CRASHED, "", "the worker died of signal %d (%s)", sig,
        sigabbrev_np(sig) != NULL ? sigabbrev_np(sig) : "unknown");
}

/* The call waited for a busy worker, or for one that the host could not make. */
static void say_no_worker(const gbx_evidence *e, gbx_verdict *v)
{
    const char *lack = e->lack != NULL ? e->lack : "";
    char within[32] = "";
    const char *hint;

    if (e->is_late)
        (void)snprintf(within, sizeof within, " within %u ms", e->limits->timeout_ms);
    if (e->machine != NULL)
        hint = "nothing of the call has run: try again, or look at the runners";
    else if (*lack != 0)
        hint =
            "the host lacks what a worker needs: free some of it, or raise its limit";
    else if (e->is_late)
        hint = "run fewer calls at once, or raise max_workers";
    else
        hint = "the engine starts another template; try again";
    say(v, GBX_CODE_UNAVAILABLE, hint, "no worker could be had%s%s%.200s", within,
        *lack != 0 ? ": " : "", lack);
}

static void judge_error(const gbx_evidence *e, gbx_verdict *v)
{
    static const gbx_code codes[] = {
        [GBX_FAILURE_SYNTAX] = GBX_CODE_SYNTAX,
        [GBX_FAILURE_THROWN] = GBX_CODE_RUNTIME,
        [GBX_FAILURE_NOT_JSON] = GBX_CODE_RUNTIME,
        [GBX_FAILURE_OUTPUT] = GBX_CODE_OUTPUT_TOO_LARGE,
        [GBX_FAILURE_INPUT] = GBX_CODE_INVALID_DATA,
        [GBX_FAILURE_NEVER] = GBX_CODE_RUNTIME,
        [GBX_FAILURE_BAD_FORM] = GBX_CODE_INVALID_CODE,
    };

    if (e->exchange->is_out_of_memory) {
        say_memory(e, v);
        return;
    }
    v->code = codes[e->exchange->failure];
    if (v->code == GBX_CODE_OUTPUT_TOO_LARGE)
        say(v, v->code, "return less: a summary, a page, or the fields that are needed",
            "the result is larger than the output limit of %llu bytes",
            (unsigned long long)e->limits->output_bytes);
    else if (e->exchange->failure == GBX_FAILURE_NEVER)
        say(v, v->code, "resolve it on every path, and await what it depends on",
            "the promise returned can never settle: nothing is left that could resolve "
            "it");
}

void gbx_verdict_decide(const gbx_evidence *e, gbx_verdict *v)
{
    *v = (gbx_verdict){.hint = ""};
    if (e->shortage != GBX_SHORTAGE_NONE &&
        (e->end == GBX_END_DIED || e->end == GBX_END_LOST)) {
        say_shortage(e, v);
        return;
    }
    switch (e->end) {
    case GBX_END_SAID:
        assert(e->exchange != NULL);
        if (e->exchange->state == GBX_EXCHANGE_VALUE)
            v->code = GBX_CODE_VALUE;
        else
            judge_error(e, v);
        break;
    case GBX_END_BROKEN:
        if (e->exchange != NULL)
            say(v, GBX_CODE_VIOLATION, "",
                "the worker broke the protocol and was killed: %s",
                e->exchange->reason);
        else
            say(v, GBX_CODE_VIOLATION, "", "%.200s", e->lack);
        break;
    case GBX_END_DEADLINE:
    case GBX_END_CPU: say_timeout(e, v); break;
    case GBX_END_ABORT:
        say(v, GBX_CODE_ABORTED, "", "the caller aborted the call");
        break;
    case GBX_END_DIED:
        if (WIFSIGNALED(e->wait_status))
            judge_signal(e, WTERMSIG(e->wait_status), v);
        else
            say(v, GBX_CODE_CRASHED, "",
                "the worker exited with status %d before its result",
                WEXITSTATUS(e->wait_status));
        break;
    case GBX_END_CLOSED:
        say(v, GBX_CODE_CRASHED, "",
            "the worker closed its channel before its result and was killed");
        break;
    case GBX_END_LOST:
        say(v, GBX_CODE_CRASHED, "the engine starts another template; try again",
            "the worker was lost: its template died");
        break;
    case GBX_END_NO_WORKER: say_no_worker(e, v); break;
    case GBX_END_GONE:
        say(v, GBX_CODE_LOST, "look whether its effects are there before you repeat it",
            "machine '%s' is gone: the call may have run%s%.160s", e->machine,
            *e->lack != 0 ? ": " : "", e->lack);
        break;
    case GBX_END_QUEUE_FULL:
        say(v, GBX_CODE_UNAVAILABLE, "run fewer calls at once, or raise queue_length",
            "too many calls are waiting for a worker");
        break;
    }
}

/* ---- measuring, deciding, describing ------------------------------------------ */

/* Measure the cost: from the report of the worker's end, or else from the live worker.
 * Memory is the growth since READY, because the template's pages are shared. */
static void measure(gbx_run *run, int64_t now_ns, gbx_evidence *evidence)
{
    gbx_stats *stats = &run->result->stats;
    gbx_worker *w = run->worker;
    uint64_t peak_kib;
    int64_t cpu_ns;

    stats->wall_ms = (double)(now_ns - run->exchange.start_ns) / 1e6;
    if (run->lease != NULL) {
        gbx_lease_measure(run, evidence);
        return;
    }
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
        peak_kib = gbx_proc_number(w->status_fd, "\nVmHWM:");
        cpu_ns = gbx_pidfd_cpu_ns(w->pidfd, w->pid);
    }
    if (cpu_ns >= 0 && run->cpu_start_ns >= 0 && cpu_ns > run->cpu_start_ns)
        stats->cpu_ms = (double)(cpu_ns - run->cpu_start_ns) / 1e6;
    if (peak_kib > w->rss_kib && w->rss_kib > 0)
        stats->peak_memory_bytes = (peak_kib - w->rss_kib) << 10;
    evidence->growth_bytes = stats->peak_memory_bytes;
    evidence->cpu_ms = stats->cpu_ms;
}

/* The value is only the worker's claim until it has been checked. */
static void check_value(gbx_result *r, gbx_verdict *v)
{
    gbx_json_fault fault;

    if (!r->has_value ||
        gbx_json_check_strict(r->value, r->value_len, GBX_JSON_DEPTH_MAX, &fault))
        return;
    if (strcmp(fault.message, "nested too deep") == 0)
        say(v, GBX_CODE_RUNTIME, "return a flatter value",
            "the result is nested deeper than %d levels", GBX_JSON_DEPTH_MAX);
    else
        say(v, GBX_CODE_VIOLATION, "",
            "the worker sent a result that is not JSON as JSON.stringify() writes it: "
            "%s",
            fault.message);
}

/* A hint that quotes the code; NULL if there is no place to quote, or memory is out. */
static char *complete_hint(const gbx_run *run)
{
    const gbx_exchange *x = &run->exchange;
    const char *dataset = run->call.dataset != NULL ? run->call.dataset : "";
    char named[GBX_PLACE_TEXT_SIZE] = "";
    const char *place;
    size_t len;
    uint32_t line, column;
    char *text = NULL;
    int n = 0;

    if (x->place.start > x->place.end || x->place.end > run->span.len)
        return NULL;
    place = run->call.code + run->span.start + x->place.start;
    len = x->place.end - x->place.start;
    /* Quote one short line only. */
    if (len < sizeof named && memchr(place, '\n', len) == NULL &&
        gbx_utf8_valid((const uint8_t *)place, len, NULL))
        gbx_utf8_copy_line(named, sizeof named, place, len);
    gbx_lines_position(run->call.code, run->call.code_len,
                       run->span.start + x->place.start, &line, &column);
    if (x->hint == GBX_HINT_UNAWAITED || x->hint == GBX_HINT_UNAWAITED_LIST)
        n = asprintf(&text,
                     "did you forget await? %s on line %u gives a promise: write %s",
                     named[0] != 0 ? named : "the call", line,
                     x->hint == GBX_HINT_UNAWAITED
                         ? "await before it"
                         : "await Promise.all(...) around the "
                           "list");
    else if (named[0] == 0)
        return NULL;
    else if (x->hint == GBX_HINT_UNCALLED)
        n = asprintf(&text, "%s is declared but not called", named);
    else if (x->hint == GBX_HINT_DATASET_OF_ALL)
        n = asprintf(&text, "write datasets.%s: data is an object of all datasets",
                     named);
    else if (x->hint == GBX_HINT_DATASET_OTHER)
        n = asprintf(&text, "write datasets.%s: data is the dataset '%s' itself", named,
                     dataset);
    else if (x->hint == GBX_HINT_DATASET_ITSELF)
        n = asprintf(&text,
                     "data is the dataset '%s' itself: write (data) => ..., without "
                     "braces",
                     dataset);
    else if (x->hint == GBX_HINT_NO_DATASET)
        n = asprintf(&text, "unknown dataset '%s'", named);
    else
        n = asprintf(&text, "no %s has '%s' (line %u)%s%s%s",
                     x->hint == GBX_HINT_MISSING_FIELD ? "record" : "result of a call",
                     named, line, x->field[0] != 0 ? ": did you mean '" : "", x->field,
                     x->field[0] != 0 ? "'?" : "");
    return n < 0 ? NULL : text;
}

static const char *hint_of(gbx_run *run)
{
    uint32_t hint = run->exchange.hint;
    gbx_result *r = run->result;

    if (hint < GBX_HINT_UNAWAITED || hint > GBX_HINT_NO_DATASET)
        return gbx_hint_row_of(hint)->hint;
    free(r->own_hint);
    r->own_hint = complete_hint(run);
    return r->own_hint != NULL ? r->own_hint : "";
}

/* Set the hint and the position of the error, as the worker reported them. */
static void locate(gbx_run *run, gbx_verdict *v)
{
    gbx_result *r = run->result;

    if (v->code == GBX_CODE_SYNTAX || v->code == GBX_CODE_RUNTIME) {
        const gbx_hint_row *row = gbx_hint_row_of(run->exchange.hint);

        if (*v->hint == 0)
            v->hint = hint_of(run);
        if (row->message != NULL && v->code == GBX_CODE_SYNTAX) {
            (void)snprintf(v->message, sizeof v->message, "SyntaxError: %s",
                           row->message);
            free(r->thrown_message);
            r->thrown_message = strdup(row->message);
        }
    }
    gbx_run_point_at(run, r->thrown_line,
                     gbx_lines_column(run->call.code, run->call.code_len,
                                      r->thrown_line, r->thrown_column));
}

/* For INVALID_DATA. The engine gives no reason, so our own parser finds which text
 * fails and where. */
static void say_which_data_fails(const gbx_call *call, gbx_verdict *v)
{
    gbx_json_fault fault;
    gbx_view bindings;

    if (call->input != NULL &&
        !gbx_json_check(call->input, call->input_len, GBX_JSON_DEPTH_MAX, &fault))
        say(v, v->code, "pass one JSON value",
            "the input is not JSON: %s at line %u, column %u", fault.message,
            fault.line, fault.column);
    else if (call->form == GBX_FORM_BODY && call->bindings_len > 0 &&
             !(gbx_view_open(call->bindings, call->bindings_len, &bindings) &&
               gbx_view_kind(bindings) == '{'))
        say(v, v->code, "pass one JSON object, a value for each name",
            "the bindings are not a JSON object");
    else
        say(v, v->code, "pass one JSON value", "the input is not JSON");
}

/* A call that timed out while it waited for the host was not slow itself: say so. */
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

/* Ordinary code runs out of memory or time most often because it makes formatters in a
 * loop. The worker was killed, so the host looks for them in the code. */
static void say_formatter(gbx_run *run, gbx_verdict *v)
{
    char name[GBX_PLACE_TEXT_SIZE];
    uint32_t line, column;
    size_t start, end;

    if ((v->code != GBX_CODE_MEMORY && v->code != GBX_CODE_TIMEOUT) ||
        !gbx_guard_find_formatter(run->call.code, run->call.code_len, &start, &end) ||
        end - start >= sizeof name)
        return;
    gbx_utf8_copy_line(name, sizeof name, run->call.code + start, end - start);
    gbx_lines_position(run->call.code, run->call.code_len, start, &line, &column);
    free(run->result->own_hint);
    if (asprintf(&run->result->own_hint,
                 "line %u makes an %s each time: make it once, before the loop or "
                 "function, and use it again",
                 line, name) < 0)
        run->result->own_hint = NULL;
    v->hint = run->result->own_hint != NULL ? run->result->own_hint : v->hint;
}

static void fill(gbx_run *run, gbx_verdict *v)
{
    gbx_result *r = run->result;
    char *thrown = NULL;
    const char *text = v->message;
    bool is_error = run->has_exchange && run->exchange.state == GBX_EXCHANGE_ERROR;

    if (v->code == GBX_CODE_INVALID_DATA)
        say_which_data_fails(&run->call, v);
    else if (is_error)
        locate(run, v);
    if (*v->message == 0) { /* "Name: message" of the thrown error */
        const char *name = r->thrown_name != NULL ? r->thrown_name : "";
        const char *message = r->thrown_message != NULL ? r->thrown_message : "";
        bool is_both = *name != 0 && *message != 0;

        if (*name == 0 && *message == 0)
            message = "unknown error";
        if (asprintf(&thrown, "%s%s%s", name, is_both ? ": " : "", message) < 0)
            thrown = NULL;
        text = thrown != NULL ? thrown : "no memory for the error";
    }
    (void)gbx_result_fail(r, v->code, text, v->hint);
    free(thrown);
    if (!is_error || (run->exchange.failure != GBX_FAILURE_THROWN &&
                      run->exchange.failure != GBX_FAILURE_SYNTAX)) {
        /* No code threw it: the worker reports such failures itself. */
        free(r->thrown_name);
        free(r->thrown_message);
        r->thrown_name = r->thrown_message = NULL;
    }
}

bool gbx_run_finish(gbx_run *run, gbx_end how)
{
    /* Not the time at which the step began: the worker may have run since. */
    int64_t now_ns = gbx_clock_now_ns();
    gbx_evidence evidence = {.end = how,
                             .exchange = run->has_exchange ? &run->exchange : NULL,
                             .limits = &run->limits,
                             .lack = run->lack,
                             .machine = gbx_engine_leases(run->engine)
                                            ? run->result->machine
                                            : NULL,
                             .input_bytes = run->call.input_len};
    gbx_result *r = run->result;
    gbx_verdict verdict;
    char lack[sizeof run->engine->lack];

    run->phase = GBX_RUN_ENDED;
    r->jit = "";
    if (run->worker != NULL && run->has_exchange) {
        static const char *const jits[] = {"", "full", "baseline", "off", "long"};

        measure(run, now_ns, &evidence);
        gbx_exchange_end(&run->exchange);
        r->jit = jits[run->engine->settings.options.jit];
    }
    if (how == GBX_END_NO_WORKER) {
        evidence.is_late = now_ns >= run->deadline_ns;
        if (!gbx_engine_leases(run->engine)) {
            (void)pthread_mutex_lock(&run->engine->lock); /* others change the text */
            memcpy(lack, run->engine->lack, sizeof lack);
            (void)pthread_mutex_unlock(&run->engine->lock);
            evidence.lack = lack;
        }
    }
    if (run->host->ended != NULL)
        return run->host->ended(run, &evidence);
    if (run->has_exchange && run->exchange.is_nomem) {
        gbx_result_fail(r, run->lease != NULL ? GBX_CODE_LOST : GBX_CODE_UNAVAILABLE,
                        "the host is out of memory", "");
        return true;
    }
    if (run->has_exchange && run->exchange.state == GBX_EXCHANGE_STOPPED)
        return true;
    gbx_verdict_decide(&evidence, &verdict);
    if (verdict.code == GBX_CODE_VALUE)
        check_value(r, &verdict);
    if (verdict.code == GBX_CODE_VALUE) {
        r->code = GBX_CODE_VALUE;
        r->stats.output_bytes = r->value_len;
        if (run->has_exchange && run->exchange.hint != GBX_HINT_NONE)
            r->hint = hint_of(run);
        return true;
    }
    say_formatter(run, &verdict);
    say_what_it_awaited(run, &verdict);
    fill(run, &verdict);
    if (run->audit.is_open)
        gbx_audit_verdict(run, how, &verdict);
    return true;
}

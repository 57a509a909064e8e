/* SPDX-License-Identifier: MIT */
/*
 * verdict - decides by signals, clocks, resource usage and the worker's failed step.
 * The worker's claims (a failure's kind, "the kernel refused memory") only choose
 * between codes that are equally harmless if a hijacked worker lies.
 */
#include "engine/verdict.h"

#include "base/cleanup.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define SAY(v, ...) ((void)snprintf((v)->message, sizeof(v)->message, __VA_ARGS__))

static void say_memory(const gbx_evidence *e, gbx_verdict *v)
{
    unsigned long long limit = e->limits->memory_bytes >> 20;

    v->code = GBX_CODE_MEMORY;
    if (e->input_bytes > e->limits->memory_bytes / 4) {
        SAY(v, "the input of %llu bytes does not fit the memory limit of %llu MiB",
            (unsigned long long)e->input_bytes, limit);
        v->hint = "raise the memory limit, or load the data as a dataset";
    } else {
        SAY(v, "needed more memory than the limit of %llu MiB", limit);
        v->hint = "work on the data in smaller pieces, or raise the memory limit";
    }
}

/* No allocation was refused: the engine's reserve for shapes is full, which no limit
 * enlarges (seal/reserve.c). */
static void say_shapes(gbx_verdict *v)
{
    v->code = GBX_CODE_MEMORY;
    SAY(v, "made objects of too many different sets of field names: there is room for "
           "about 250,000");
    v->hint = "use a Map, or arrays, where names of fields are data";
}

/* A sum exceeded its limit, and this process used most of it. */
static void say_shortage(const gbx_evidence *e, gbx_verdict *v)
{
    v->code = GBX_CODE_MEMORY;
    if (e->shortage == GBX_SHORTAGE_GROUP) {
        SAY(v,
            "the engine's calls together needed more memory than their limit of %llu "
            "MiB",
            (unsigned long long)e->group_bytes >> 20);
        v->hint = "run fewer calls at once, or raise total_memory_bytes";
    } else {
        SAY(v,
            "the kernel killed the worker: this machine, or the container around it, "
            "had no memory left");
        v->hint = "run fewer calls at once, or with a smaller memory limit";
    }
}

/* Neither a limit nor the host has killed it. */
static void say_killed(gbx_verdict *v)
{
    v->code = GBX_CODE_CRASHED;
    SAY(v, "the worker was killed by signal 9 (KILL) from outside");
    v->hint =
        "find who killed it: a person, a program, or the kernel for want of memory "
        "(its log says so)";
}

static void say_timeout(const gbx_evidence *e, gbx_verdict *v)
{
    v->code = GBX_CODE_TIMEOUT;
    if (e->end == GBX_END_DEADLINE)
        SAY(v, "ran past the time limit of %u ms", e->limits->timeout_ms);
    else
        SAY(v, "used more than %u ms of processor time", e->limits->cpu_ms);
    v->hint = "look for a loop that does not end, or raise the limit";
}

/* A worker's part of the engine's reserve for the shapes of objects
 * (seal/reserve.c). Its size does not depend on the limit; filling it needs further
 * memory. */
#define RESERVE_BYTES GBX_MIB(32)

/*
 * The worker was ended by a signal that was not ours. Engines answer a refused
 * allocation with any of these. Without a refusal, growth past a quarter of the limit
 * or past the reserve distinguishes exhaustion of the engine's reservations from a
 * crash.
 */
static void judge_signal(const gbx_evidence *e, int sig, gbx_verdict *v)
{
    bool was_refused = e->exchange != NULL && e->exchange->was_refused;
    bool has_grown = e->growth_bytes > e->limits->memory_bytes / 4;
    bool is_full = has_grown || e->growth_bytes > RESERVE_BYTES;

    switch (sig) {
    case SIGSYS:
        v->code = GBX_CODE_VIOLATION;
        SAY(v, "the worker asked for a system call outside its table and was killed");
        return;
    case SIGXCPU: say_timeout(e, v); return;
    case SIGKILL: /* not ours, nor an out-of-memory kill: those are known */
        if (e->cpu_ms + 50 >= e->limits->cpu_ms)
            say_timeout(e, v);
        else if (was_refused)
            say_memory(e, v);
        else
            say_killed(v);
        return;
    case SIGSEGV:
        if (is_full && !was_refused) {
            say_shapes(v);
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
    v->code = GBX_CODE_CRASHED;
    SAY(v, "the worker died of signal %d (%s)", sig,
        sigabbrev_np(sig) != NULL ? sigabbrev_np(sig) : "unknown");
}

/* It waited for a busy worker, or for one that the host cannot make. */
static void say_no_worker(const gbx_evidence *e, gbx_verdict *v)
{
    const char *lack = e->lack != NULL ? e->lack : "";
    char within[32] = "";

    if (e->is_late)
        (void)snprintf(within, sizeof within, " within %u ms", e->limits->timeout_ms);
    v->code = GBX_CODE_UNAVAILABLE;
    SAY(v, "no worker could be had%s%s%.200s", within, *lack != 0 ? ": " : "", lack);
    if (*lack != 0)
        v->hint = "the host lacks what a worker needs: free some of it, or raise its "
                  "limit";
    else if (e->is_late)
        v->hint = "run fewer calls at once, or raise max_workers";
    else
        v->hint = "the engine starts another template; try again";
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
    if (v->code == GBX_CODE_OUTPUT_TOO_LARGE) {
        SAY(v, "the result is larger than the output limit of %llu bytes",
            (unsigned long long)e->limits->output_bytes);
        v->hint = "return less: a summary, a page, or the fields that are needed";
    } else if (e->exchange->failure == GBX_FAILURE_NEVER) {
        SAY(v, "the promise returned can never settle: nothing is left that could "
               "resolve it");
        v->hint = "resolve it on every path, and await what it depends on";
    }
}

/* ---- public to other modules -------------------------------------------- */

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
        if (e->exchange->state == GBX_EXCHANGE_VALUE)
            v->code = GBX_CODE_VALUE;
        else
            judge_error(e, v);
        break;
    case GBX_END_BROKEN:
        v->code = GBX_CODE_VIOLATION;
        if (e->exchange != NULL)
            SAY(v, "the worker broke the protocol and was killed: %s",
                e->exchange->reason);
        else
            SAY(v, "%.200s", e->lack);
        break;
    case GBX_END_DEADLINE:
    case GBX_END_CPU: say_timeout(e, v); break;
    case GBX_END_ABORT:
        v->code = GBX_CODE_ABORTED;
        SAY(v, "the caller aborted the call");
        break;
    case GBX_END_DIED:
        if (WIFSIGNALED(e->wait_status)) {
            judge_signal(e, WTERMSIG(e->wait_status), v);
        } else {
            v->code = GBX_CODE_CRASHED;
            SAY(v, "the worker exited with status %d before its result",
                WEXITSTATUS(e->wait_status));
        }
        break;
    case GBX_END_CLOSED:
        v->code = GBX_CODE_CRASHED;
        SAY(v, "the worker closed its channel before its result and was killed");
        break;
    case GBX_END_LOST:
        v->code = GBX_CODE_CRASHED;
        SAY(v, "the worker was lost: its template died");
        v->hint = "the engine starts another template; try again";
        break;
    case GBX_END_NO_WORKER: say_no_worker(e, v); break;
    case GBX_END_QUEUE_FULL:
        v->code = GBX_CODE_UNAVAILABLE;
        SAY(v, "too many calls are waiting for a worker");
        v->hint = "run fewer calls at once, or raise queue_length";
        break;
    case GBX_END_REPLAYED: v->code = GBX_CODE_DIVERGED; break;
    }
}

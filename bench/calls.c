/* SPDX-License-Identifier: MIT */
/* calls - what one call costs, and how exactly it can be ended. */
#include "bench/bench.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fail.h"

#include <glovebox/host.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define WARM_CALLS    1000
#define WARM_PAUSE_MS 2
#define LOOP_THREADS  2
#define LOOP_MS       2000
#define HOST_ROUNDS   7
#define END_CALLS     25
#define END_MS        40

static const char small_code[] = "(data) => data.length";
static const char small_input[] = "[1,2,3]";
static const char endless_code[] = "() => { for (;;) {} }";

static gbx_call small_call(void)
{
    gbx_call call = GBX_CALL_INIT;

    call.code = small_code;
    call.code_len = strlen(small_code);
    call.input = small_input;
    call.input_len = strlen(small_input);
    return call;
}

static gbx_call endless_call(void)
{
    gbx_call call = GBX_CALL_INIT;

    call.code = endless_code;
    call.code_len = strlen(endless_code);
    return call;
}

static void free_engine(gbx_engine **engine)
{
    gbx_engine_free(*engine);
}

/* Two rows: median and ninety-ninth percentile, with a pause before each call. */
static void small_calls(gbx_bench *bench, gbx_engine *engine, unsigned pause_ms,
                        const char *const ids[2], const char *const labels[2])
{
    double ms[WARM_CALLS];
    gbx_error err;

    for (size_t i = 0; i < WARM_CALLS; i++) {
        gbx_call call = small_call();

        if (pause_ms > 0)
            gbx_bench_settle(pause_ms);
        ms[i] = gbx_bench_call(engine, &call, GBX_CODE_VALUE, &err);
        if (ms[i] < 0) {
            gbx_bench_skip(bench, ids[0], labels[0], err.message);
            return;
        }
    }
    gbx_bench_add(bench, ids[0], labels[0], gbx_bench_percentile(ms, WARM_CALLS, 0.5),
                  "ms");
    gbx_bench_add(bench, ids[1], labels[1], gbx_bench_percentile(ms, WARM_CALLS, 0.99),
                  "ms");
}

static void warm(gbx_bench *bench, gbx_engine *engine)
{
    static const char *const ids[] = {"warm_call_median", "warm_call_p99"};
    static const char *const labels[] = {"warm call, median", "warm call, p99"};

    small_calls(bench, engine, WARM_PAUSE_MS, ids, labels);
}

static void back_to_back(gbx_bench *bench, gbx_engine *engine)
{
    static const char *const ids[] = {"back_to_back_median", "back_to_back_p99"};
    static const char *const labels[] = {"one call after the other, median",
                                         "one call after the other, p99"};

    small_calls(bench, engine, 0, ids, labels);
}

/* One closed loop: the next call when the last has ended. */
typedef struct loop {
    gbx_engine *engine;
    int64_t until_ns;
    size_t calls;
    gbx_error err;
    bool failed;
} loop;

static void *run_loop(void *argument)
{
    loop *self = argument;

    while (!self->failed && gbx_clock_now_ns() < self->until_ns) {
        gbx_call call = small_call();

        self->failed =
            gbx_bench_call(self->engine, &call, GBX_CODE_VALUE, &self->err) < 0;
        self->calls += !self->failed;
    }
    return NULL;
}

static void throughput(gbx_bench *bench, gbx_engine *engine)
{
    static const char label[] = "single-use calls a second, 2 callers";
    int64_t start = gbx_clock_now_ns();
    pthread_t threads[LOOP_THREADS];
    loop loops[LOOP_THREADS];
    const char *failure = NULL;
    size_t calls = 0;
    size_t started = 0;

    for (size_t i = 0; i < LOOP_THREADS; i++) {
        loops[i] =
            (loop){.engine = engine, .until_ns = start + LOOP_MS * GBX_NS_PER_MS};
        if (pthread_create(&threads[i], NULL, run_loop, &loops[i]) != 0)
            break;
        started++;
    }
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
        calls += loops[i].calls;
        if (loops[i].failed)
            failure = loops[i].err.message;
    }
    if (started < LOOP_THREADS)
        failure = "no thread could be started";
    if (failure != NULL)
        gbx_bench_skip(bench, "calls_per_second", label, failure);
    else
        gbx_bench_add(bench, "calls_per_second", label,
                      (double)calls * 1e9 / (double)(gbx_clock_now_ns() - start),
                      "calls/s");
}

/* ---- functions of the host ------------------------------------------------------ */

static void answer(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    (void)!gbx_answer(engine, call->request, NULL, 0, NULL);
}

/* Ten thousand calls of the function within one call. */
static void round_trips(gbx_bench *bench, gbx_engine *engine, const char *id,
                        const char *label, const char *code)
{
    double per_second[HOST_ROUNDS];
    gbx_error err;

    for (size_t i = 0; i < HOST_ROUNDS; i++) {
        gbx_call call = GBX_CALL_INIT;
        double ms;

        call.code = code;
        call.code_len = strlen(code);
        ms = gbx_bench_call(engine, &call, GBX_CODE_VALUE, &err);
        if (ms < 0) {
            gbx_bench_skip(bench, id, label, err.message);
            return;
        }
        per_second[i] = 10000 / ms * 1e3;
    }
    gbx_bench_add(bench, id, label, gbx_bench_percentile(per_second, HOST_ROUNDS, 0.5),
                  "calls/s");
}

static void host_calls(gbx_bench *bench, gbx_engine *engine)
{
    static const char label[] = "empty function of the host, round trips in one call";
    gbx_error err;

    if (gbx_engine_expose(engine, "answer", answer, NULL, &err) != GBX_OK) {
        gbx_bench_skip(bench, "host_calls_per_second", label, err.message);
        return;
    }
    round_trips(bench, engine, "host_calls_per_second", label,
                "async () => { for (let i = 0; i < 10000; i++) await answer() }");
    round_trips(bench, engine, "host_calls_at_once_per_second", "the same, 100 at once",
                "async () => { for (let i = 0; i < 100; i++) await Promise.all("
                "Array.from({ length: 100 }, () => answer())) }");
}

/* ---- ends --------------------------------------------------------------------- */

static void late_deadline(gbx_bench *bench, gbx_engine *engine)
{
    static const char label[] = "deadline to result, median";
    static const char next_label[] = "next call after a kill, median";
    gbx_limits limits = GBX_LIMITS_INIT;
    double late[END_CALLS];
    double next[END_CALLS];
    gbx_error err;

    limits.timeout_ms = END_MS;
    for (size_t i = 0; i < END_CALLS; i++) {
        gbx_call endless = endless_call();
        gbx_call small = small_call();

        endless.limits = &limits;
        late[i] = gbx_bench_call(engine, &endless, GBX_CODE_TIMEOUT, &err) - END_MS;
        next[i] = gbx_bench_call(engine, &small, GBX_CODE_VALUE, &err);
        if (late[i] < -END_MS / 2.0 || next[i] < 0) {
            gbx_bench_skip(bench, "deadline_to_result", label, err.message);
            return;
        }
    }
    gbx_bench_add(bench, "deadline_to_result", label,
                  gbx_bench_percentile(late, END_CALLS, 0.5), "ms");
    gbx_bench_add(bench, "call_after_kill", next_label,
                  gbx_bench_percentile(next, END_CALLS, 0.5), "ms");
}

/* Throws a switch after a while and notes when. */
typedef struct aborter {
    gbx_signal *signal;
    int64_t thrown_ns;
} aborter;

static void *run_aborter(void *argument)
{
    aborter *self = argument;

    gbx_bench_settle(END_MS);
    self->thrown_ns = gbx_clock_now_ns();
    gbx_signal_abort(self->signal);
    return NULL;
}

/* From the abort to the result in milliseconds, or -1. */
static double abort_one(gbx_engine *engine, gbx_error *err)
{
    aborter self = {.signal = gbx_signal_new()};
    gbx_call call = endless_call();
    pthread_t thread;
    double ms = -1;

    call.signal = self.signal;
    if (self.signal == NULL || pthread_create(&thread, NULL, run_aborter, &self) != 0) {
        gbx_signal_free(self.signal);
        (void)gbx_fail(err, GBX_E_NOMEM, "no thread could be started");
        return -1;
    }
    if (gbx_bench_call(engine, &call, GBX_CODE_ABORTED, err) >= 0) {
        int64_t now = gbx_clock_now_ns();

        (void)pthread_join(thread, NULL);
        ms = (double)(now - self.thrown_ns) / 1e6;
    } else {
        (void)pthread_join(thread, NULL);
    }
    gbx_signal_free(self.signal);
    return ms;
}

static void late_abort(gbx_bench *bench, gbx_engine *engine)
{
    static const char label[] = "abort to result, median";
    double ms[END_CALLS];
    gbx_error err;

    for (size_t i = 0; i < END_CALLS; i++) {
        ms[i] = abort_one(engine, &err);
        if (ms[i] < 0) {
            gbx_bench_skip(bench, "abort_to_result", label, err.message);
            return;
        }
    }
    gbx_bench_add(bench, "abort_to_result", label,
                  gbx_bench_percentile(ms, END_CALLS, 0.5), "ms");
}

/* ---- public to other modules -------------------------------------------- */

void gbx_bench_calls(gbx_bench *bench)
{
    gbx_error err;
    GBX_CLEANUP(free_engine)
    gbx_engine *engine = gbx_bench_engine(bench, NULL, 0, &err);

    if (engine == NULL) {
        gbx_bench_skip(bench, "warm_call_median", "warm call", err.message);
        return;
    }
    gbx_bench_settle(50);
    warm(bench, engine);
    back_to_back(bench, engine);
    throughput(bench, engine);
    host_calls(bench, engine);
}

void gbx_bench_ends(gbx_bench *bench)
{
    gbx_error err;
    GBX_CLEANUP(free_engine)
    gbx_engine *engine = gbx_bench_engine(bench, NULL, 0, &err);

    if (engine == NULL) {
        gbx_bench_skip(bench, "deadline_to_result", "deadline to result", err.message);
        return;
    }
    gbx_bench_settle(50);
    late_deadline(bench, engine);
    late_abort(bench, engine);
}

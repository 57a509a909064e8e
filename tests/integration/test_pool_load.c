/* SPDX-License-Identifier: MIT */
/*
 * The pool under load: every call gets exactly one result, the right one, and when all
 * is over there are as many processes and descriptors as before.
 */
#include "calls.h"
#include "proc.h"
#include "sanitized.h"
#include "test.h"
#include "until.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS          8
#define CALLS_PER_THREAD 50

/* ---- four hundred calls of every kind ----------------------------------------- */

typedef struct load {
    gbx_engine *real;
    gbx_engine *hostile;
    inbox real_box;
    inbox hostile_box;
    atomic_size_t real_submitted;
    atomic_size_t hostile_submitted;
    atomic_size_t results;
    atomic_size_t wrong;
    atomic_size_t by_code[16];
    char first_wrong[512];
} load;

/* Not of time: on a busy machine a worker can be long in coming. */
static gbx_limits cpu_limit_of(uint32_t cpu_ms)
{
    gbx_limits limits = GBX_LIMITS_INIT;

    limits.cpu_ms = cpu_ms;
    return limits;
}

static void note_wrong(load *l, const char *what, gbx_result *result)
{
    if (atomic_fetch_add(&l->wrong, 1) == 0)
        (void)snprintf(l->first_wrong, sizeof l->first_wrong, "%s: %s", what,
                       result != NULL ? gbx_result_json(result, NULL) : "no result");
}

/* Blocking; the value must be `value` if the code is VALUE. */
static void execute(load *l, gbx_engine *engine, const gbx_call *call,
                    gbx_code expected, const char *value)
{
    gbx_result *result = NULL;

    if (gbx_execute(engine, call, &result, NULL) != GBX_OK) {
        note_wrong(l, "execute", NULL);
        return;
    }
    atomic_fetch_add(&l->results, 1);
    atomic_fetch_add(&l->by_code[gbx_result_code(result)], 1);
    if (expected == GBX_CODE_TIMEOUT && gbx_result_code(result) == GBX_CODE_UNAVAILABLE)
        expected = GBX_CODE_UNAVAILABLE; /* its short time was over in the queue */
    if (gbx_result_code(result) != expected ||
        (expected == GBX_CODE_VALUE &&
         strcmp(gbx_result_value(result, NULL), value) != 0))
        note_wrong(l, call->code, result);
    gbx_result_free(result);
}

static void submit(load *l, gbx_engine *engine, const gbx_call *call, bool is_hostile)
{
    inbox *box = is_hostile ? &l->hostile_box : &l->real_box;

    if (gbx_submit(engine, call, inbox_done, box, NULL, NULL) == GBX_OK)
        atomic_fetch_add(is_hostile ? &l->hostile_submitted : &l->real_submitted, 1);
    else
        note_wrong(l, "submit", NULL);
}

static void throw_soon(void *user, const gbx_log *log)
{
    gbx_signal_abort(user);
}

static void abort_one(load *l)
{
    gbx_call call = call_of("() => { console.log('running'); for (;;); }");
    gbx_signal *sig = gbx_signal_new();

    call.signal = sig;
    call.on_log = throw_soon;
    call.log_user = sig;
    execute(l, l->real, &call, GBX_CODE_ABORTED, "");
    gbx_signal_free(sig);
}

static void one_call(load *l, size_t thread, size_t i)
{
    gbx_limits limits = cpu_limit_of(30);
    gbx_call spin = call_of("() => { for (;;); }");
    gbx_call crash = script_of("signal 11");
    gbx_call thrown = call_of("() => { throw new Error('x') }");
    char code[64];
    char value[32];
    gbx_call good;

    (void)snprintf(code, sizeof code, "() => %zu * 1000 + %zu", thread, i);
    (void)snprintf(value, sizeof value, "%zu", thread * 1000 + i);
    good = call_of(code);
    spin.limits = &limits;
    switch (i % 10) {
    case 0: execute(l, l->real, &spin, GBX_CODE_TIMEOUT, ""); break;
    case 1: abort_one(l); break;
    case 2: execute(l, l->hostile, &crash, GBX_CODE_CRASHED, ""); break;
    case 3: execute(l, l->real, &thrown, GBX_CODE_RUNTIME, ""); break;
    case 4: submit(l, l->real, &good, false); break;
    case 5: submit(l, l->hostile, &crash, true); break;
    default: execute(l, l->real, &good, GBX_CODE_VALUE, value); break;
    }
}

static void run_load(void *user, size_t thread)
{
    for (size_t i = 0; i < CALLS_PER_THREAD; i++)
        one_call(user, thread, i);
}

TEST(load__of_every_kind_gives_each_call_one_result)
{
    footprint before = footprint_take();
    gbx_options real = GBX_OPTIONS_INIT;
    gbx_options hostile = hostile_options("");
    static load l;
    footprint busy;

    real.limits.timeout_ms = hostile.limits.timeout_ms = 60000;
    l.real = engine_start(&real);
    l.hostile = engine_start(&hostile);
    inbox_init(&l.real_box, 2 * THREADS * CALLS_PER_THREAD);
    inbox_init(&l.hostile_box, 2 * THREADS * CALLS_PER_THREAD);
    wait_until_full(l.real);
    wait_until_full(l.hostile);
    busy = footprint_take();
    threads_run(THREADS, run_load, &l);
    assert_true(inbox_wait(&l.real_box, l.real_submitted, 60000));
    assert_true(inbox_wait(&l.hostile_box, l.hostile_submitted, 60000));

    if (l.wrong > 0)
        fail_msg("%zu calls went wrong, the first: %s", (size_t)l.wrong, l.first_wrong);
    assert_int_equal(l.results + l.real_submitted + l.hostile_submitted,
                     THREADS * CALLS_PER_THREAD);
    assert_int_equal(l.real_box.twice + l.hostile_box.twice, 0);
    assert_int_equal(l.real_box.by_code[GBX_CODE_VALUE], l.real_submitted);
    assert_int_equal(l.hostile_box.by_code[GBX_CODE_CRASHED], l.hostile_submitted);
    check_alive(l.real);
    wait_until_full(l.real);
    wait_until_full(l.hostile);
    footprint_check(&busy);
    gbx_engine_free(l.real);
    gbx_engine_free(l.hostile);
    footprint_check(&before);
    inbox_cleanup(&l.real_box);
    inbox_cleanup(&l.hostile_box);
}

/* ---- workers killed at any moment -------------------------------------------- */

typedef struct killing {
    gbx_engine *engine;
    pid_t template_pid;
    atomic_bool is_over;
    atomic_size_t good;
    atomic_size_t crashed;
    atomic_size_t wrong;
} killing;

static void kill_some(killing *k)
{
    static const int signals[] = {SIGSEGV, SIGABRT, SIGILL, SIGBUS, SIGFPE, SIGTRAP};
    struct timespec pause = {0, 3000000};
    unsigned seed = 1;

    while (!k->is_over) {
        pid_t pids[64];
        size_t count = proc_workers(k->template_pid, pids, 64);

        seed = seed * 1103515245u + 12345u;
        if (count > 0)
            (void)kill(pids[seed / 7 % count], signals[seed / 64 % 6]);
        (void)nanosleep(&pause, NULL);
    }
}

static void call_while_killed(void *user, size_t thread)
{
    killing *k = user;

    if (thread == 0) {
        kill_some(k);
        return;
    }
    for (int i = 0; i < 70; i++) {
        gbx_call call = call_of(
            "() => { let n = 0; for (let i = 0; i < 3e5; i++) n += i; return n }");
        gbx_result *result = NULL;

        if (gbx_execute(k->engine, &call, &result, NULL) != GBX_OK)
            atomic_fetch_add(&k->wrong, 1);
        else if (gbx_result_code(result) == GBX_CODE_CRASHED)
            atomic_fetch_add(&k->crashed, 1);
        else if (gbx_result_code(result) == GBX_CODE_VALUE &&
                 strcmp(gbx_result_value(result, NULL), "44999850000") == 0)
            atomic_fetch_add(&k->good, 1);
        else
            atomic_fetch_add(&k->wrong, 1);
        gbx_result_free(result);
    }
    k->is_over = true;
}

TEST(workers__killed_at_any_moment_harm_their_own_call_alone)
{
    footprint before = footprint_take();
    gbx_options options = GBX_OPTIONS_INIT;
    static killing k;

    k.engine = engine_start(&options);
    wait_until_full(k.engine);
    k.template_pid = proc_template();
    assert_int_not_equal(k.template_pid, 0);
    threads_run(4, call_while_killed, &k);

    assert_int_equal(k.wrong, 0);
    assert_int_equal(k.good + k.crashed, 210);
    assert_true(k.good > 0);
    wait_until_full(k.engine);
    check_alive(k.engine);
    gbx_engine_free(k.engine);
    footprint_check(&before);
}

/* ---- good calls beside hostile ones ------------------------------------------ */

static void call_one_of_hundred(void *user, size_t number)
{
    load *l = user;

    for (size_t i = 0; i < 2; i++) {
        gbx_limits limits = cpu_limit_of(100);
        gbx_call bad =
            script_of(number % 20 == 0 ? "spin" : "length 4294967295\nresult 1");
        char script[64];
        char value[32];
        gbx_call good;

        (void)snprintf(value, sizeof value, "%zu", number * 10 + i);
        (void)snprintf(script, sizeof script, "sleep 2\nresult %s", value);
        good = script_of(script);
        bad.limits = &limits;
        if (number % 10 == 0)
            execute(l, l->hostile, &bad,
                    number % 20 == 0 ? GBX_CODE_TIMEOUT : GBX_CODE_VIOLATION, "");
        else
            execute(l, l->hostile, &good, GBX_CODE_VALUE, value);
    }
}

TEST(load__of_one_in_ten_hostile_leaves_the_others_right)
{
    gbx_options options = hostile_options("");
    static load l;

    options.limits.timeout_ms = 60000;
    l.hostile = engine_start(&options);
    threads_run(50, call_one_of_hundred, &l);

    if (l.wrong > 0)
        fail_msg("%zu calls went wrong, the first: %s", (size_t)l.wrong, l.first_wrong);
    assert_int_equal(l.results, 100);
    gbx_engine_free(l.hostile);
}

/* ---- bounds of the pool ------------------------------------------------------ */

typedef struct crowd {
    gbx_engine *engine;
    pid_t template_pid;
    atomic_size_t most;
    atomic_size_t called;
    atomic_size_t good;
    atomic_size_t ended;
} crowd;

static void call_in_a_crowd(void *user, size_t number)
{
    static const struct timespec pause = {0, 2000000};
    crowd *c = user;
    gbx_call call = script_of("sleep 20\nresult 1");

    if (number == 0) { /* counts */
        while (c->ended < 12) {
            pid_t pids[64];
            size_t count = proc_workers(c->template_pid, pids, 64);

            if (count > c->most)
                c->most = count;
            (void)nanosleep(&pause, NULL);
        }
        return;
    }
    /* On a busy machine it can be long until two are seen at once. */
    for (int i = 0; i < 4 || (c->most < 2 && i < 1000); i++) {
        atomic_fetch_add(&c->called, 1);
        if (call_code(c->engine, &call) == GBX_CODE_VALUE)
            atomic_fetch_add(&c->good, 1);
    }
    atomic_fetch_add(&c->ended, 1);
}

TEST(max_workers__is_never_passed)
{
    gbx_options options = hostile_options("");
    static crowd c;

    options.pool_size = 2;
    options.max_workers = 3;
    options.limits.timeout_ms = 20000;
    c.engine = engine_start(&options);
    wait_until_full(c.engine);
    c.template_pid = proc_template();
    threads_run(13, call_in_a_crowd, &c);

    assert_true(c.called >= 48);
    assert_int_equal(c.good, c.called);
    assert_true(c.most <= 3);
    assert_true(c.most >= 2);
    gbx_engine_free(c.engine);
}

TEST(queue__past_its_length_is_unavailable_at_once)
{
    gbx_options options = hostile_options("");
    gbx_call slow = script_of("sleep 2000\nresult 1");
    gbx_ticket tickets[5];
    gbx_engine *engine;
    inbox box;

    options.pool_size = 1;
    options.max_workers = 1;
    options.queue_length = 2;
    options.limits.timeout_ms = 60000;
    engine = engine_start(&options);
    wait_until_full(engine);
    inbox_init(&box, 100);
    tickets[0] = call_submit(engine, &slow, &box);
    wait_until_taken(engine);
    for (size_t i = 1; i < 5; i++)
        tickets[i] = call_submit(engine, &slow, &box);
    assert_true(inbox_wait(&box, 2, 60000));

    assert_int_equal(inbox_code(&box, tickets[0]), (gbx_code)-1);
    assert_int_equal(inbox_code(&box, tickets[3]), GBX_CODE_UNAVAILABLE);
    assert_int_equal(inbox_code(&box, tickets[4]), GBX_CODE_UNAVAILABLE);
    check_code(engine, &slow, GBX_CODE_UNAVAILABLE); /* blocking calls too */
    assert_true(inbox_wait(&box, 5, 60000));
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(inbox_code(&box, tickets[i]), GBX_CODE_VALUE);
    check_hostile_alive(engine);
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

TEST(queue__is_served_in_order)
{
    gbx_options options = hostile_options("");
    gbx_call call = script_of("sleep 5\nresult 1");
    gbx_ticket last = 0;
    gbx_engine *engine;
    inbox box;

    options.pool_size = 1;
    options.max_workers = 1;
    engine = engine_start(&options);
    inbox_init(&box, 100);
    for (int i = 0; i < 10; i++)
        last = call_submit(engine, &call, &box);
    while (!inbox_wait(&box, box.count + 1, 60000) ||
           inbox_code(&box, last) == (gbx_code)-1)
        continue;

    assert_int_equal(box.count, 10); /* the last to come was the last to end */
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

TEST(queue__ends_calls_whose_time_is_over)
{
    gbx_options options = hostile_options("");
    gbx_call slow = script_of("sleep 3000\nresult 1");
    gbx_call fast = script_of("result 2");
    gbx_limits limits = timeout_of(150);
    gbx_engine *engine;
    gbx_ticket ticket;
    inbox box;

    options.pool_size = 1;
    options.max_workers = 1;
    engine = engine_start(&options);
    wait_until_full(engine);
    inbox_init(&box, 100);
    (void)call_submit(engine, &slow, &box);
    wait_until_taken(engine);
    fast.limits = &limits;
    ticket = call_submit(engine, &fast, &box);
    check_code(engine, &fast, GBX_CODE_UNAVAILABLE);
    assert_true(inbox_wait(&box, 1, 60000));

    assert_int_equal(inbox_code(&box, ticket), GBX_CODE_UNAVAILABLE);
    assert_true(inbox_wait(&box, 2, 60000));
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

/* ---- nothing grows ------------------------------------------------------------- */

static void call_often(gbx_engine *engine, int count)
{
    gbx_call good = call_of("(d) => { console.log('a line'); return d }");
    gbx_call bad = call_of("() => { throw new Error('x'.repeat(1000)) }");

    good.input = "[\"some input\"]";
    good.input_len = strlen(good.input);
    for (int i = 0; i < count; i++)
        check_code(engine, i % 4 == 0 ? &bad : &good,
                   i % 4 == 0 ? GBX_CODE_RUNTIME : GBX_CODE_VALUE);
}

TEST(host__does_not_grow_with_the_calls)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = engine_start(&options);
    footprint before;
    size_t rss_kib;

    call_often(engine, 200);
    wait_until_full(engine);
    before = footprint_take();
    rss_kib = proc_rss_kib();
    call_often(engine, 800);
    wait_until_full(engine);

    footprint_check(&before);
#if !IS_SANITIZED /* which keeps what is freed for a while */
    if (proc_rss_kib() > rss_kib + 256)
        fail_msg("%zu KiB more after 800 calls", proc_rss_kib() - rss_kib);
#else
    (void)rss_kib; /* a sanitizer keeps what was freed */
#endif
    gbx_engine_free(engine);
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/* Aborting calls: before, during and after; one, many, and none by mistake. */
#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gbx_engine *engine;
static footprint quiet;

static int start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    *state = engine = engine_start(&options);
    fill_pool(engine);
    quiet = footprint_take();
    return 0;
}

/* After each test: the engine serves, and there is nothing more than before. */
static int look(void **state)
{
    check_alive(engine);
    wait_until_full(engine);
    footprint_check(&quiet);
    return 0;
}

static bool has_ended(void *user)
{
    inbox *box = user;

    return inbox_wait(box, 1, 0);
}

TEST(abort__before_the_start_uses_no_worker)
{
    gbx_signal *sig = gbx_signal_new();
    gbx_call call = call_of("() => 1");
    pid_t template_pid = proc_template();
    pid_t before[64];
    pid_t after[64];
    size_t count;
    inbox box;

    gbx_signal_abort(sig);
    call.signal = sig;
    count = proc_workers(template_pid, before, 64);
    inbox_init(&box, 100000);
    for (int i = 0; i < 20; i++) {
        gbx_result *result = call_run(engine, &call);

        assert_int_equal(gbx_result_code(result), GBX_CODE_ABORTED);
        assert_true(gbx_result_stats(result).cpu_ms == 0);
        gbx_result_free(result);
        (void)call_submit(engine, &call, &box);
    }
    assert_true(inbox_wait(&box, 20, 60000));

    assert_int_equal(box.by_code[GBX_CODE_ABORTED], 20);
    assert_int_equal(proc_workers(template_pid, after, 64), count);
    assert_memory_equal(before, after, count * sizeof before[0]);
    gbx_signal_free(sig);
    inbox_cleanup(&box);
}

TEST(abort__ends_a_running_call_at_once)
{
    static const char *const codes[] = {
        "() => { for (;;); }",
        "async () => { await sleep(20000) }",
        "async () => { for (;;) await 0 }",
        "() => /^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))",
        "() => { for (;;) console.log('flood') }",
    };

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        gbx_call call = call_of(codes[i]);
        gbx_ticket ticket;
        double begin;
        inbox box;

        inbox_init(&box, 100000);
        wait_until_full(engine);
        ticket = call_submit(engine, &call, &box);
        assert_false(until(has_ended, &box, 30));
        begin = now_ms();
        gbx_abort(engine, ticket);
        assert_true(inbox_wait(&box, 1, 60000));
        assert_int_equal(inbox_code(&box, ticket), GBX_CODE_ABORTED);
        assert_true(now_ms() - begin < 15000); /* not the sleep of 20 s */
        inbox_cleanup(&box);
    }
}

TEST(abort__is_idempotent_and_after_the_end_nothing)
{
    gbx_call call = call_of("() => { for (;;); }");
    gbx_call good = call_of("() => 5");
    gbx_ticket ticket;
    inbox box;

    inbox_init(&box, 100000);
    ticket = call_submit(engine, &call, &box);
    for (int i = 0; i < 100; i++)
        gbx_abort(engine, ticket);
    assert_true(inbox_wait(&box, 1, 60000));
    for (int i = 0; i < 100; i++)
        gbx_abort(engine, ticket);
    gbx_abort(engine, 0);
    gbx_abort(engine, UINT64_MAX);
    gbx_abort(engine, ticket + 1); /* not submitted yet: names nothing */
    ticket = call_submit(engine, &good, &box);
    assert_true(inbox_wait(&box, 2, 60000));
    gbx_abort(engine, ticket);

    assert_int_equal(inbox_code(&box, ticket), GBX_CODE_VALUE);
    assert_int_equal(box.twice, 0);
    inbox_cleanup(&box);
}

TEST(abort__of_one_never_touches_its_neighbours)
{
    gbx_ticket tickets[12];
    char code[12][80];
    inbox box;

    inbox_init(&box, 100000);
    for (size_t i = 0; i < 12; i++) {
        gbx_call call;

        (void)snprintf(code[i], sizeof code[i],
                       "async () => { await sleep(120); return %zu }", i);
        call = call_of(code[i]);
        tickets[i] = call_submit(engine, &call, &box);
    }
    for (size_t i = 0; i < 12; i += 3)
        gbx_abort(engine, tickets[i]);
    assert_true(inbox_wait(&box, 12, 60000));

    for (size_t i = 0; i < 12; i++) {
        char value[8];

        if (i % 3 == 0) {
            assert_int_equal(inbox_code(&box, tickets[i]), GBX_CODE_ABORTED);
            continue;
        }
        (void)snprintf(value, sizeof value, "%zu", i);
        assert_int_equal(inbox_code(&box, tickets[i]), GBX_CODE_VALUE);
        assert_string_equal(gbx_result_value(box.results[tickets[i]], NULL), value);
    }
    inbox_cleanup(&box);
}

TEST(abort__of_a_waiting_call_leaves_the_running_one)
{
    gbx_options options = hostile_options("");
    gbx_call slow = script_of("sleep 300\nresult 1");
    gbx_ticket running;
    gbx_ticket waiting;
    gbx_engine *small;
    inbox box;

    options.pool_size = options.max_workers = 1;
    small = engine_start(&options);
    wait_until_full(small);
    inbox_init(&box, 100);
    running = call_submit(small, &slow, &box);
    wait_until_taken(small);
    waiting = call_submit(small, &slow, &box);
    gbx_abort(small, waiting);
    assert_true(inbox_wait(&box, 1, 60000));

    assert_int_equal(inbox_code(&box, waiting), GBX_CODE_ABORTED);
    assert_int_equal(inbox_code(&box, running), (gbx_code)-1);
    assert_true(inbox_wait(&box, 2, 60000));
    assert_int_equal(inbox_code(&box, running), GBX_CODE_VALUE);
    gbx_engine_free(small);
    inbox_cleanup(&box);
}

/* ---- one signal, many calls -------------------------------------------------- */

typedef struct shared {
    gbx_signal *signal;
    atomic_size_t started;
    atomic_size_t aborted;
    atomic_size_t good;
} shared;

static void count_start(void *user, const gbx_log *log)
{
    atomic_fetch_add((atomic_size_t *)user, 1);
}

static bool have_started(void *user)
{
    return ((shared *)user)->started >= 6;
}

static void share(void *user, size_t number)
{
    shared *s = user;
    gbx_call call = call_of("async () => { console.log('on'); await sleep(20000) }");
    gbx_call other = call_of("async () => { await sleep(300); return 1 }");

    if (number == 0) {
        (void)until(have_started, s, 60000);
        gbx_signal_abort(s->signal);
    } else if (number <= 6) {
        call.signal = s->signal;
        call.on_log = count_start;
        call.log_user = &s->started;
        if (call_code(engine, &call) == GBX_CODE_ABORTED)
            atomic_fetch_add(&s->aborted, 1);
    } else if (call_code(engine, &other) == GBX_CODE_VALUE) {
        atomic_fetch_add(&s->good, 1);
    }
}

TEST(signal__aborts_every_call_that_has_it_and_no_other)
{
    shared s = {.signal = gbx_signal_new()};
    gbx_call call = call_of("() => 1");
    double begin = now_ms();

    threads_run(9, share, &s);

    assert_int_equal(s.aborted, 6);
    assert_int_equal(s.good, 2);
    assert_true(now_ms() - begin < 15000);
    call.signal = s.signal; /* it stays thrown */
    check_code(engine, &call, GBX_CODE_ABORTED);
    gbx_signal_free(s.signal);
}

TEST(signal__is_shared_by_two_engines)
{
    gbx_options options = hostile_options("");
    gbx_engine *other = engine_start(&options);
    gbx_call here = call_of("() => { for (;;); }");
    gbx_call there = script_of("hang");
    gbx_signal *sig = gbx_signal_new();
    inbox box;
    inbox box2;

    inbox_init(&box, 100000);
    inbox_init(&box2, 100000);
    here.signal = there.signal = sig;
    (void)call_submit(engine, &here, &box);
    (void)call_submit(other, &there, &box2);
    gbx_signal_abort(sig);
    gbx_signal_abort(sig);
    assert_true(inbox_wait(&box, 1, 60000) && inbox_wait(&box2, 1, 60000));

    assert_int_equal(box.by_code[GBX_CODE_ABORTED] + box2.by_code[GBX_CODE_ABORTED], 2);
    gbx_engine_free(other);
    gbx_signal_free(sig);
    inbox_cleanup(&box);
    inbox_cleanup(&box2);
}

static void abort_by_log(void *user, const gbx_log *log)
{
    gbx_abort(engine, atomic_load((_Atomic gbx_ticket *)user));
}

TEST(abort__may_be_called_by_the_log_callback)
{
    gbx_call call = call_of("async () => { await sleep(50); console.log('now'); "
                            "for (;;); }");
    _Atomic gbx_ticket ticket = 0;
    gbx_ticket submitted;
    inbox box;

    inbox_init(&box, 100000);
    call.on_log = abort_by_log;
    call.log_user = &ticket;
    submitted = call_submit(engine, &call, &box);
    atomic_store(&ticket, submitted);
    assert_true(inbox_wait(&box, 1, 4000));

    assert_int_equal(inbox_code(&box, submitted), GBX_CODE_ABORTED);
    assert_int_equal(gbx_result_log_count(box.results[submitted]), 1);
    inbox_cleanup(&box);
}

/* ---- at random moments -------------------------------------------------------- */

typedef struct chances {
    inbox box;
    atomic_size_t submitted;
} chances;

static void take_chances(void *user, size_t number)
{
    chances *c = user;
    unsigned seed = (unsigned)number + 1;

    for (int i = 0; i < 400; i++) {
        gbx_call call = call_of("(d) => d.length + 1");
        gbx_ticket ticket = 0;
        struct timespec wait = {0, 0};

        call.input = "[1,2,3]";
        call.input_len = 7;
        if (gbx_submit(engine, &call, inbox_done, &c->box, &ticket, NULL) == GBX_OK)
            atomic_fetch_add(&c->submitted, 1);
        seed = seed * 1103515245u + 12345u;
        wait.tv_nsec = seed / 16 % 1500000;
        if (seed % 3 != 0)
            (void)nanosleep(&wait, NULL);
        gbx_abort(engine, ticket);
    }
}

TEST(abort__at_a_random_moment_leaves_exactly_one_result)
{
    static chances c;

    inbox_init(&c.box, 1000000);
    threads_run(4, take_chances, &c);
    assert_true(inbox_wait(&c.box, c.submitted, 60000));

    assert_int_equal(c.submitted, 1600);
    assert_int_equal(c.box.twice, 0);
    assert_int_equal(c.box.by_code[GBX_CODE_VALUE] + c.box.by_code[GBX_CODE_ABORTED],
                     1600);
    inbox_cleanup(&c.box);
}

static void execute_with_chances(void *user, size_t number)
{
    gbx_signal **signals = user;
    struct timespec wait = {0, 0};
    unsigned seed = (unsigned)number * 77 + 5;

    if (number % 2 == 0) {
        for (size_t i = 0; i < 100; i++) {
            gbx_call call = call_of("() => 1");

            call.signal = signals[number / 2 * 100 + i];
            (void)call_code(engine, &call);
        }
        return;
    }
    for (size_t i = 0; i < 100; i++) {
        seed = seed * 1103515245u + 12345u;
        wait.tv_nsec = seed / 16 % 800000;
        (void)nanosleep(&wait, NULL);
        gbx_signal_abort(signals[number / 2 * 100 + i]);
    }
}

TEST(signal__thrown_while_calls_begin_and_end)
{
    static gbx_signal *signals[300];

    for (size_t i = 0; i < 300; i++)
        signals[i] = gbx_signal_new();
    threads_run(6, execute_with_chances, signals);
    for (size_t i = 0; i < 300; i++)
        gbx_signal_free(signals[i]);
}

int main(void)
{
    tests_each(NULL, look);
    return tests_run(start, engine_after_test);
}

/* SPDX-License-Identifier: MIT */
/*
 * A worker that is killed, stopped or ends by itself at each step of the protocol: the
 * call has one result, the right code, and the next one finds everything in order.
 */
#include "child.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct action {
    const char *name;
    gbx_code code; /* of the call in which it happens */
    gbx_code or ;
} actions[] = {
    {"exit", GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {"kill", GBX_CODE_MEMORY, GBX_CODE_CRASHED},
    {"segv", GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {"abrt", GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {"ill", GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {"bus", GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {"fpe", GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {"trap", GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {"term", GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {"sys", GBX_CODE_VIOLATION, GBX_CODE_VIOLATION},
    {"stop", GBX_CODE_TIMEOUT, GBX_CODE_TIMEOUT},
    {"hang", GBX_CODE_TIMEOUT, GBX_CODE_TIMEOUT},
};

#define ACTIONS (sizeof actions / sizeof actions[0])

/* The first six workers do it, those after them are well. */
static void check_step(const char *step, const struct action *action, bool has_result)
{
    footprint before = footprint_take();
    char plan[64];
    gbx_options options;
    gbx_engine *hostile;
    gbx_call call = script_of("result 1");
    bool times_out = !has_result && action->code == GBX_CODE_TIMEOUT;

    (void)snprintf(plan, sizeof plan, "at-%s=%s,first=6", step, action->name);
    options = hostile_options(plan);
    options.pool_size = 1;
    options.limits.timeout_ms = times_out ? 150 : 60000;
    hostile = engine_start(&options);
    for (int i = 0; i < 3; i++) {
        gbx_result *result = call_run(hostile, &call);
        gbx_code code = gbx_result_code(result);

        if (has_result ? code != GBX_CODE_VALUE
                       : code != action->code && code != action->or)
            fail_msg("%s: %s", plan, gbx_result_json(result, NULL));
        gbx_result_free(result);
    }
    assert_true(until(is_hostile_alive, hostile, 60000));
    gbx_engine_free(hostile);
    footprint_check(&before);
}

TEST(worker__that_ends_with_half_of_its_call_read)
{
    for (size_t i = 0; i < ACTIONS; i++)
        check_step("header", &actions[i], false);
}

TEST(worker__that_ends_with_its_call_read)
{
    for (size_t i = 0; i < ACTIONS; i++)
        check_step("call", &actions[i], false);
}

TEST(worker__that_ends_after_its_result)
{
    for (size_t i = 0; i < ACTIONS; i++)
        check_step("end", &actions[i], true);
}

/* ---- the real worker, killed from outside -------------------------------------- */

static const struct {
    int number;
    gbx_code code;
    gbx_code or ;
} signals[] = {
    {SIGKILL, GBX_CODE_MEMORY, GBX_CODE_CRASHED},
    {SIGSEGV, GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {SIGABRT, GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {SIGILL, GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {SIGBUS, GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {SIGFPE, GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {SIGTRAP, GBX_CODE_CRASHED, GBX_CODE_CRASHED},
    {SIGTERM, GBX_CODE_TIMEOUT, GBX_CODE_TIMEOUT}, /* asks the host, no worker */
    {SIGSTOP, GBX_CODE_TIMEOUT, GBX_CODE_TIMEOUT},
};

#define SIGNALS (sizeof signals / sizeof signals[0])

static gbx_engine *engine;
static footprint quiet;

static int start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.pool_size = 2;
    *state = engine = engine_start(&options);
    fill_pool(engine);
    quiet = footprint_take();
    return 0;
}

static void count_start(void *user, const gbx_log *log)
{
    atomic_store((atomic_bool *)user, true);
}

static bool is_set(void *user)
{
    return atomic_load((atomic_bool *)user);
}

/* Only where the time limit is to end the call may it do so. */
static gbx_limits limits_for(gbx_code code)
{
    return timeout_of(code == GBX_CODE_TIMEOUT ? 1500 : 60000);
}

/* Send a signal to every worker while a call runs: its own is among them. */
static void check_killed(const char *code, size_t number)
{
    gbx_limits limits = limits_for(signals[number].code);
    gbx_call call = call_of(code);
    atomic_bool has_started = false;
    gbx_ticket ticket;
    pid_t pids[64];
    size_t count;
    inbox box;

    call.limits = &limits;
    call.on_log = count_start;
    call.log_user = &has_started;
    inbox_init(&box, 100000);
    ticket = call_submit(engine, &call, &box);
    assert_true(until(is_set, &has_started, 60000));
    assert_int_not_equal(proc_template(), 0);
    count = proc_workers(proc_template(), pids, 64);
    for (size_t i = 0; i < count; i++)
        (void)kill(pids[i], signals[number].number);
    assert_true(inbox_wait(&box, 1, 60000));

    if (inbox_code(&box, ticket) != signals[number].code &&
            inbox_code(&box, ticket) != signals[number].or)
        fail_msg("signal %d: %s", signals[number].number,
                 gbx_result_json(box.results[ticket], NULL));
    assert_int_equal(box.twice, 0);
    inbox_cleanup(&box);
    for (size_t i = 0; i < count; i++) /* stopped ones that nobody has yet */
        (void)kill(pids[i], SIGKILL);
}

static void check_in_order(void)
{
    assert_true(until(child_is_alive, engine, 60000));
    wait_until_full(engine);
    check_alive(engine);
    wait_until_full(engine);
    footprint_check(&quiet);
}

TEST(real_worker__killed_while_it_computes)
{
    for (size_t i = 0; i < SIGNALS; i++) {
        check_killed("() => { console.log('on'); for (;;); }", i);
        check_in_order();
    }
}

TEST(real_worker__killed_while_it_waits)
{
    for (size_t i = 0; i < SIGNALS; i++) {
        check_killed("async () => { console.log('on'); await sleep(20000) }", i);
        check_in_order();
    }
}

TEST(real_worker__killed_idle)
{
    for (size_t i = 0; i < SIGNALS - 1; i++) {
        pid_t pids[64];
        size_t count = proc_workers(proc_template(), pids, 64);

        assert_in_range(count, 1, 2); /* the pool lets one go after a while */
        for (size_t n = 0; n < count; n++)
            (void)kill(pids[n], signals[i].number);
        check_in_order();
    }
}

TEST(real_worker__stopped_idle_costs_one_call_its_time)
{
    gbx_limits limits = limits_for(GBX_CODE_TIMEOUT);
    gbx_call call = call_of("() => 1");
    pid_t pids[64];
    size_t count = proc_workers(proc_template(), pids, 64);
    gbx_ticket tickets[64] = {0};
    inbox box;

    call.limits = &limits;
    inbox_init(&box, 100000);
    for (size_t i = 0; i < count; i++)
        (void)kill(pids[i], SIGSTOP);
    for (size_t i = 0; i < count; i++)
        tickets[i] = call_submit(engine, &call, &box);
    assert_true(inbox_wait(&box, count, 60000));
    assert_int_equal(inbox_code(&box, tickets[0]), GBX_CODE_TIMEOUT);
    for (size_t i = 1; i < count; i++) /* by then one that is well may be the newest */
        if (inbox_code(&box, tickets[i]) != GBX_CODE_TIMEOUT)
            assert_int_equal(inbox_code(&box, tickets[i]), GBX_CODE_VALUE);
    inbox_cleanup(&box);
    for (size_t i = 0; i < count; i++) /* stopped ones that nobody has had */
        (void)kill(pids[i], SIGKILL);
    check_in_order();
}

TEST(real_worker__has_one_descriptor)
{
    pid_t pids[64];
    size_t count = proc_workers(proc_template(), pids, 64);

    for (size_t i = 0; i < count; i++) {
        long fds = proc_fds_of(pids[i]);

        if (fds < 0 && geteuid() != 0) {
            print_message("only root may look into the processes\n");
            skip();
        }
        assert_int_equal(fds, 1);
    }
}

TEST_MAIN(start, engine_after_test)

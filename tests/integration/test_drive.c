/* SPDX-License-Identifier: MIT */
/* Calls that an event loop of the caller's drives: in steps, on one thread. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "calls.h"
#include "loop_runner.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <glovebox/drive.h>
#include <glovebox/host.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For what must come, on whatever machine. */
#define PATIENCE_MS 30000

#define MANY 48

static gbx_drive *drive_of(gbx_engine *engine, const gbx_call *call)
{
    gbx_drive *drive = NULL;
    gbx_error error;

    if (gbx_drive_new(engine, call, &drive, NULL, &error) != GBX_OK)
        fail_msg("no drive: %s", error.message);
    assert_true(gbx_drive_fd(drive) >= 0);
    return drive;
}

static bool is_readable(const gbx_drive *drive, int timeout_ms)
{
    struct pollfd fd = {.fd = gbx_drive_fd(drive), .events = POLLIN};

    return poll(&fd, 1, timeout_ms) == 1;
}

static gbx_result *result_of(gbx_drive *drive)
{
    gbx_result *result = NULL;

    while (result == NULL) {
        assert_true(is_readable(drive, PATIENCE_MS));
        result = gbx_drive_step(drive);
    }
    return result;
}

static void check_end(gbx_drive *drive, gbx_code code, const char *value)
{
    gbx_result *result = result_of(drive);

    if (gbx_result_code(result) != code)
        fail_msg("%s", gbx_result_json(result, NULL));
    if (value != NULL)
        assert_string_equal(gbx_result_value(result, NULL), value);
    gbx_result_free(result);
    assert_null(gbx_drive_step(drive)); /* once */
    gbx_drive_free(drive);
}

static gbx_engine *shared;

static int start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.pool_size = 2;
    options.max_workers = 4;
    options.limits.output_bytes = GBX_MIB(8);
    *state = shared = engine_start(&options);
    return 0;
}

/* ---- tests ------------------------------------------------------------------ */

TEST(drive__ends_in_the_value_and_leaves_nothing)
{
    gbx_call call = call_of("(d) => d.length");
    footprint before;

    call.input = "[1,2,3]";
    call.input_len = 7;
    if (loop_runner_is_on()) /* its engine begins with the first call */
        fill_pool(shared);
    wait_until_full(shared);
    before = footprint_take();

    for (size_t i = 0; i < 20; i++)
        check_end(drive_of(shared, &call), GBX_CODE_VALUE, "3");

    wait_until_full(shared);
    footprint_check(&before);
}

TEST(drive__that_the_guard_refuses_says_so_in_its_first_step)
{
    gbx_call call = call_of("() => import('fs')");
    gbx_drive *drive = drive_of(shared, &call);

    assert_true(is_readable(drive, 0));
    check_end(drive, GBX_CODE_INVALID_CODE, NULL);
}

TEST(drive__carries_inputs_and_results_larger_than_a_socket)
{
    size_t len = GBX_MIB(4);
    char *input = malloc(len);
    gbx_call call = call_of("(d) => [d.length, d]");
    gbx_result *result;
    gbx_drive *drive;
    size_t value_len;

    memset(input, 'a', len);
    input[0] = input[len - 1] = '"';
    call.input = input;
    call.input_len = len;
    call.flags = GBX_CALL_LENT;
    drive = drive_of(shared, &call);
    result = result_of(drive);

    assert_int_equal(gbx_result_code(result), GBX_CODE_VALUE);
    (void)gbx_result_value(result, &value_len);
    assert_int_equal(value_len, len + strlen("[4194302,]"));
    gbx_result_free(result);
    gbx_drive_free(drive);
    free(input);
}

TEST(drive__keeps_time_though_nobody_says_anything)
{
    gbx_limits limits = timeout_of(1000);
    gbx_call call = call_of("() => { for (;;); }");
    int64_t start;

    wait_until_full(shared); /* the time is not spent on the wait for a worker */
    start = gbx_clock_now_ns();
    call.limits = &limits;
    check_end(drive_of(shared, &call), GBX_CODE_TIMEOUT, NULL);
    assert_true(gbx_clock_now_ns() - start >= 1000 * GBX_NS_PER_MS);
    call = call_of("async () => { await sleep(30); return 7 }");
    check_end(drive_of(shared, &call), GBX_CODE_VALUE, "7");
}

/* Whoever drives only looks when the descriptor says so: it must not say so for nothing. */
TEST(drive__is_silent_while_the_worker_is)
{
    gbx_call call = call_of("() => { for (;;); }");
    gbx_drive *drive = drive_of(shared, &call);
    size_t steps = 0;

    while (is_readable(drive, 50) && steps < 100) {
        assert_null(gbx_drive_step(drive));
        steps++;
    }
    assert_true(steps < 5);
    gbx_drive_free(drive);
}

TEST(drive__waits_for_a_worker_as_others_do)
{
    gbx_call call = call_of("() => 1");
    gbx_drive *drives[MANY];
    size_t ended = 0;

    for (size_t i = 0; i < MANY; i++)
        drives[i] = drive_of(shared, &call);
    while (ended < MANY) {
        struct pollfd fds[MANY];

        for (size_t i = 0; i < MANY; i++)
            fds[i] =
                (struct pollfd){.fd = drives[i] != NULL ? gbx_drive_fd(drives[i]) : -1,
                                .events = POLLIN};
        assert_true(poll(fds, MANY, PATIENCE_MS) > 0);
        for (size_t i = 0; i < MANY; i++) {
            gbx_result *result = fds[i].revents != 0 ? gbx_drive_step(drives[i]) : NULL;

            if (result == NULL)
                continue;
            assert_int_equal(gbx_result_code(result), GBX_CODE_VALUE);
            gbx_result_free(result);
            gbx_drive_free(drives[i]);
            drives[i] = NULL;
            ended++;
        }
    }
}

TEST(drive__is_aborted_by_its_ticket_and_by_its_signal)
{
    gbx_call call = call_of("() => { for (;;); }");
    gbx_signal *signal = gbx_signal_new();
    gbx_drive *drive;
    gbx_ticket ticket;

    assert_int_equal(gbx_drive_new(shared, &call, &drive, &ticket, NULL), GBX_OK);
    gbx_abort(shared, ticket);
    check_end(drive, GBX_CODE_ABORTED, NULL);
    gbx_abort(shared, ticket); /* of a call that is over */

    call.signal = signal;
    drive = drive_of(shared, &call);
    gbx_signal_abort(signal);
    check_end(drive, GBX_CODE_ABORTED, NULL);
    drive = drive_of(shared, &call); /* thrown before it began */
    check_end(drive, GBX_CODE_ABORTED, NULL);
    gbx_signal_free(signal);
}

TEST(drive__can_be_freed_at_any_time)
{
    gbx_call call = call_of("() => { for (;;); }");
    gbx_drive *drives[MANY];
    footprint before;

    wait_until_full(shared);
    before = footprint_take();
    for (size_t i = 0; i < MANY; i++) /* some run, the others wait */
        drives[i] = drive_of(shared, &call);
    for (size_t i = 0; i < MANY; i++)
        gbx_drive_free(drives[i]);
    gbx_drive_free(NULL);

    wait_until_full(shared);
    footprint_check(&before);
}

/* ---- functions of the host --------------------------------------------------- */

typedef struct asked {
    pthread_t thread;
    gbx_engine *engine;
    gbx_request request;
    size_t count;
    size_t logs;
    bool at_once;
} asked;

static void on_call(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    asked *a = user;

    a->thread = pthread_self();
    a->engine = engine;
    a->request = call->request;
    a->count++;
    if (a->at_once)
        assert_int_equal(gbx_answer(engine, call->request, "2", 1, NULL), GBX_OK);
}

static void on_log(void *user, const gbx_log *log)
{
    asked *a = user;

    a->logs += pthread_equal(pthread_self(), a->thread) != 0;
}

static void *answer_elsewhere(void *arg)
{
    asked *a = arg;

    return gbx_answer(a->engine, a->request, "5", 1, NULL) == GBX_OK ? arg : NULL;
}

TEST(functions__are_asked_on_the_thread_that_steps)
{
    asked a = {.thread = pthread_self(), .at_once = true};
    gbx_call call = call_of("async () => { let s = 0; for (let i = 0; i < 50; i++) {"
                            " s += await ask(i); console.log(i) } return s }");

    assert_int_equal(gbx_engine_expose(shared, "ask", on_call, &a, NULL), GBX_OK);
    call.on_log = on_log;
    call.log_user = &a;
    check_end(drive_of(shared, &call), GBX_CODE_VALUE, "100");

    assert_int_equal(a.count, 50);
    assert_int_equal(a.logs, 50);
    assert_true(pthread_equal(a.thread, pthread_self()));
}

/* However quickly the worker asks again: a step is one answer, and the loop is free. */
TEST(functions__that_are_asked_without_end_leave_the_loop_free)
{
    asked a = {.at_once = true};
    gbx_call call = call_of("async () => { for (;;) await endless() }");
    gbx_drive *drive;

    assert_int_equal(gbx_engine_expose(shared, "endless", on_call, &a, NULL), GBX_OK);
    drive = drive_of(shared, &call);
    for (size_t i = 0; i < 100; i++) {
        size_t before = a.count;

        assert_true(is_readable(drive, PATIENCE_MS));
        assert_null(gbx_drive_step(drive));
        assert_true(a.count - before <= 1);
    }
    gbx_drive_free(drive);
}

TEST(functions__are_answered_by_any_thread)
{
    asked a = {0};
    gbx_call call = call_of("async () => await later() + await later()");
    gbx_drive *drive;

    assert_int_equal(gbx_engine_expose(shared, "later", on_call, &a, NULL), GBX_OK);
    drive = drive_of(shared, &call);
    for (size_t i = 1; i <= 2; i++) {
        pthread_t thread;
        void *answered = NULL;

        while (a.count < i) {
            assert_true(is_readable(drive, PATIENCE_MS));
            assert_null(gbx_drive_step(drive));
        }
        assert_int_equal(pthread_create(&thread, NULL, answer_elsewhere, &a), 0);
        assert_int_equal(pthread_join(thread, &answered), 0);
        assert_non_null(answered);
    }
    check_end(drive, GBX_CODE_VALUE, "10");
    assert_int_equal(gbx_answer(a.engine, a.request, "5", 1, NULL), GBX_E_CLOSED);
}

typedef struct keep_asked {
    gbx_request requests[8];
    size_t count;
} keep_asked;

static void keep_call(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    keep_asked *a = user;

    assert_true(a->count < sizeof a->requests / sizeof a->requests[0]);
    a->requests[a->count++] = call->request;
}

static void step_until_asked(gbx_drive *drive, const keep_asked *a, size_t count)
{
    while (a->count < count) {
        assert_true(is_readable(drive, PATIENCE_MS));
        assert_null(gbx_drive_step(drive));
    }
}

static void answer_kept(gbx_engine *engine, const keep_asked *a, size_t number)
{
    assert_int_equal(gbx_answer(engine, a->requests[number], "1", 1, NULL), GBX_OK);
}

TEST(turns__are_taken_while_one_thing_is_under_way)
{
    keep_asked a = {.count = 0};
    gbx_call call =
        call_of("async () => { let s = await kept();"
                " for (const n of await Promise.all([kept(), kept()])) s += n;"
                " return s + await kept() }");
    gbx_call other = call_of("async () => { await sleep(20000) }");
    int first, both, last, crowded;
    gbx_drive *drive, *beside;

    if (loop_runner_is_on()) {
        print_message("skipped: this thread and a worker elsewhere never take turns\n");
        skip();
    }
    assert_int_equal(gbx_engine_expose(shared, "kept", keep_call, &a, NULL), GBX_OK);
    drive = drive_of(shared, &call);
    step_until_asked(drive, &a, 1);
    first = gbx_drive_takes_turns(drive);

    answer_kept(shared, &a, 0);
    step_until_asked(drive, &a, 3);
    both = gbx_drive_takes_turns(drive);

    answer_kept(shared, &a, 1);
    answer_kept(shared, &a, 2);
    step_until_asked(drive, &a, 4);
    last = gbx_drive_takes_turns(drive);

    beside = drive_of(shared, &other);
    answer_kept(shared, &a, 3);
    assert_true(is_readable(drive, PATIENCE_MS));
    assert_null(gbx_drive_step(drive));
    crowded = gbx_drive_takes_turns(drive);
    gbx_drive_free(beside);
    check_end(drive, GBX_CODE_VALUE, "4");

    assert_true(first);
    assert_false(both); /* two are open */
    assert_true(last);
    assert_false(crowded); /* another call is under way */
}

/* One that has ended meanwhile says nothing. */
static bool are_placed_nowhere(void)
{
    pid_t workers[16];
    size_t count = proc_workers(proc_template(), workers, 16);
    cpu_set_t ours, its;
    size_t placed = 0;

    assert_int_equal(sched_getaffinity(0, sizeof ours, &ours), 0);
    for (size_t i = 0; i < count; i++)
        if (sched_getaffinity(workers[i], sizeof its, &its) == 0)
            placed += !CPU_EQUAL(&its, &ours);
    return count > 0 && placed == 0;
}

/* Whoever is woken on our processor may leave it. */
TEST(turns__leave_a_worker_where_it_may_run)
{
    keep_asked a = {.count = 0};
    gbx_call call =
        call_of("async () => { for (let i = 0; i < 5; i++) await placed() }");
    gbx_drive *drive;
    size_t nowhere = 0;

    assert_int_equal(gbx_engine_expose(shared, "placed", keep_call, &a, NULL), GBX_OK);
    drive = drive_of(shared, &call);
    for (size_t i = 0; i < 5; i++) {
        step_until_asked(drive, &a, i + 1);
        nowhere += are_placed_nowhere();
        answer_kept(shared, &a, i);
    }
    check_end(drive, GBX_CODE_VALUE, NULL);

    assert_int_equal(nowhere, 5);
}

/* ---- wrong use ----------------------------------------------------------------- */

TEST(drive__without_a_call_is_refused)
{
    gbx_call call = call_of("() => 1");
    gbx_drive *drive = NULL;
    gbx_error error;

    assert_int_equal(gbx_drive_new(NULL, &call, &drive, NULL, &error), GBX_E_USAGE);
    assert_int_equal(gbx_drive_new(shared, NULL, &drive, NULL, &error), GBX_E_USAGE);
    call.flags = 1u << 30;
    assert_int_equal(gbx_drive_new(shared, &call, &drive, NULL, &error), GBX_E_USAGE);
    assert_null(drive);
}

TEST_MAIN(start, engine_after_test)

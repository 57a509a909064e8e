/* SPDX-License-Identifier: MIT */
/*
 * Engines begin, end, lose their template and get another: nothing of one reaches
 * another, nothing is left behind, and no call is lost.
 */
#include "child.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <glovebox/drive.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static footprint before_test;

static int start(void **state)
{
    before_test = footprint_take();
    return 0;
}

static int finish(void **state)
{
    footprint_check(&before_test);
    return 0;
}

/* As pid 1 of its namespace it minds SIGKILL and SIGSTOP alone. */
static void kill_template(int sig)
{
    pid_t pid = proc_template();

    assert_true(pid > 1);
    assert_int_equal(kill(pid, sig), 0);
}

static gbx_engine *engine_of(uint32_t pool_size)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.pool_size = pool_size;
    return engine_start(&options);
}

/* ---- the end of an engine ------------------------------------------------------ */

typedef struct ending {
    gbx_engine *engine;
    atomic_size_t started;
    atomic_size_t aborted;
    atomic_size_t closed;
    atomic_size_t other;
    inbox box;
} ending;

static void count_start(void *user, const gbx_log *log)
{
    atomic_fetch_add((atomic_size_t *)user, 1);
}

static bool have_started(void *user)
{
    return ((ending *)user)->started >= 8;
}

static void end_while_running(void *user, size_t number)
{
    ending *e = user;
    gbx_call call = call_of("() => { console.log('on'); for (;;); }");
    gbx_result *result = NULL;
    gbx_status status;

    if (number == 0) {
        (void)until(have_started, e, 60000);
        gbx_engine_free(e->engine);
        return;
    }
    call.on_log = count_start;
    call.log_user = &e->started;
    status = gbx_execute(e->engine, &call, &result, NULL);
    if (status == GBX_E_CLOSED)
        atomic_fetch_add(&e->closed, 1);
    else if (status == GBX_OK && gbx_result_code(result) == GBX_CODE_ABORTED)
        atomic_fetch_add(&e->aborted, 1);
    else
        atomic_fetch_add(&e->other, 1);
    gbx_result_free(result);
}

TEST_WITH(start, finish, free__aborts_what_is_running_and_what_waits)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call spin = call_of("() => { console.log('on'); for (;;); }");
    static ending e;

    options.max_workers = 8;
    options.limits.timeout_ms = 60000;
    e.engine = engine_start(&options);
    inbox_init(&e.box, 100);
    spin.on_log = count_start;
    spin.log_user = &e.started;
    for (int i = 0; i < 12; i++)
        (void)call_submit(e.engine, &spin, &e.box);
    threads_run(9, end_while_running, &e);

    assert_int_equal(e.other, 0);
    assert_int_equal(e.aborted + e.closed, 8);
    assert_int_equal(e.box.by_code[GBX_CODE_ABORTED], 12);
    assert_int_equal(e.box.twice, 0);
    inbox_cleanup(&e.box);
}

TEST_WITH(start, finish, free__at_once_after_new)
{
    for (int i = 0; i < 5; i++)
        gbx_engine_free(engine_of(8));
    gbx_engine_free(NULL);
}

TEST_WITH(start, finish, what_gives_something__needs_a_place_for_it)
{
    gbx_call call = {.struct_size = sizeof call, .code = "() => 1", .code_len = 7};
    gbx_engine *engine = engine_of(1);
    gbx_error error;

    assert_int_equal(gbx_engine_new(NULL, NULL, &error), GBX_E_USAGE);
    assert_string_equal(error.message, "ret_engine is missing");
    assert_int_equal(gbx_execute(engine, &call, NULL, &error), GBX_E_USAGE);
    assert_string_equal(error.message, "ret_result is missing");
    assert_int_equal(gbx_drive_new(engine, &call, NULL, NULL, &error), GBX_E_USAGE);
    assert_string_equal(error.message, "ret_drive is missing");
    assert_int_equal(gbx_engine_report(engine, NULL, &error), GBX_E_USAGE);
    assert_string_equal(error.message, "ret_json is missing");
    gbx_engine_free(engine);
}

TEST_WITH(start, finish, free__leaves_no_process_when_it_returns)
{
    gbx_engine *engine = engine_of(8);

    wait_until_full(engine);
    gbx_engine_free(engine);

    assert_int_equal(proc_descendants(), 0);
    assert_int_equal(proc_zombies(), 0);
}

/* ---- several engines ----------------------------------------------------------- */

static void live_a_life(void *user, size_t number)
{
    atomic_size_t *good = user;

    for (int i = 0; i < 2; i++) {
        gbx_options options = GBX_OPTIONS_INIT;
        gbx_engine *engine = NULL;
        gbx_call call = call_of("(d) => d");
        char input[16];

        options.pool_size = 1 + (uint32_t)number % 3;
        (void)snprintf(input, sizeof input, "%zu", number);
        call.input = input;
        call.input_len = strlen(input);
        if (gbx_engine_new(&options, &engine, NULL) != GBX_OK)
            continue;
        for (int n = 0; n < 5; n++) {
            gbx_result *result = NULL;

            if (gbx_execute(engine, &call, &result, NULL) == GBX_OK &&
                gbx_result_code(result) == GBX_CODE_VALUE &&
                strcmp(gbx_result_value(result, NULL), input) == 0)
                atomic_fetch_add(good, 1);
            gbx_result_free(result);
        }
        gbx_engine_free(engine);
    }
}

TEST_WITH(start, finish, engines__may_live_beside_each_other)
{
    atomic_size_t good = 0;

    threads_run(8, live_a_life, &good);

    assert_int_equal(good, 8 * 2 * 5);
}

TEST_WITH(start, finish, engines__share_neither_workers_nor_datasets)
{
    gbx_engine *a = engine_of(2);
    gbx_engine *b = engine_of(2);
    proc_tree tree;

    assert_int_equal(gbx_engine_load(a, "d", "\"a\"", 3, GBX_DATA_JSON, NULL), GBX_OK);
    assert_int_equal(gbx_engine_load(b, "d", "\"b\"", 3, GBX_DATA_JSON, NULL), GBX_OK);
    assert_int_equal(gbx_engine_load(b, "e", "\"e\"", 3, GBX_DATA_JSON, NULL), GBX_OK);
    wait_until_full(a);
    wait_until_full(b);

    for (int i = 0; i < 3; i++) { /* until each keeps two */
        check_value(a, "() => datasets.d", NULL, "\"a\"");
        check_value(b, "() => datasets.d", NULL, "\"b\"");
    }
    check_value(a, "() => typeof datasets.e", NULL, "\"undefined\"");
    wait_until_full(a);
    wait_until_full(b);
    proc_look(getpid(), &tree);
    assert_int_equal(tree.count, 2 * (1 + 2));
    gbx_engine_free(a);
    wait_until_full(b);
    proc_look(getpid(), &tree);
    assert_int_equal(tree.count, 1 + 2); /* the other's are all there still */
    check_value(b, "() => datasets.d + datasets.e", NULL, "\"be\"");
    gbx_engine_free(b);
}

/* ---- the template dies ----------------------------------------------------------- */

TEST_WITH(start, finish, template__killed_in_a_call_makes_it_crashed)
{
    gbx_engine *engine = engine_of(2);

    for (int i = 0; i < 2; i++) {
        gbx_call call = call_of("async () => { await sleep(60000) }");
        gbx_ticket ticket;
        inbox box;

        wait_until_full(engine);
        inbox_init(&box, 100);
        ticket = call_submit(engine, &call, &box);
        assert_false(inbox_wait(&box, 1, 50));
        kill_template(SIGKILL);
        assert_true(inbox_wait(&box, 1, 60000));
        assert_int_equal(inbox_code(&box, ticket), GBX_CODE_CRASHED);
        check_alive(engine); /* with no help from the host */
        inbox_cleanup(&box);
    }
    gbx_engine_free(engine);
}

static bool is_replaced(void *user)
{
    pid_t now = proc_template();

    return now != 0 && now != *(pid_t *)user;
}

TEST_WITH(start, finish, template__killed_idle_is_replaced_with_its_datasets)
{
    gbx_engine *engine = engine_of(2);

    assert_int_equal(gbx_engine_load(engine, "d", "[1,2]", 5, GBX_DATA_JSON, NULL),
                     GBX_OK);
    for (int i = 0; i < 3; i++) {
        pid_t old;

        wait_until_full(engine);
        old = proc_template();
        kill_template(SIGKILL);
        assert_true(until(is_replaced, &old, 60000));
        check_value(engine, "() => datasets.d.length", NULL, "2");
    }
    gbx_engine_free(engine);
}

static void call_a_while(void *user, size_t number)
{
    ending *e = user;

    if (number == 0) {
        for (int i = 0; i < 6; i++) {
            pid_t pid = proc_template();

            if (pid > 0)
                (void)kill(pid, SIGKILL);
            /* Starts that fail one after the other would be another story. */
            (void)until(child_is_alive, e->engine, 60000);
        }
        e->started = 1;
        return;
    }
    while (e->started == 0) {
        gbx_call call = call_of("() => 1");
        gbx_code code = call_code(e->engine, &call);

        if (code != GBX_CODE_VALUE && code != GBX_CODE_CRASHED)
            atomic_fetch_add(&e->other, 1);
    }
}

TEST_WITH(start, finish, template__killed_again_and_again_under_load)
{
    static ending e;

    e.engine = engine_of(4);
    threads_run(4, call_a_while, &e);

    assert_int_equal(e.other, 0);
    assert_true(until(child_is_alive, e.engine, 60000));
    gbx_engine_free(e.engine);
}

TEST_WITH(start, finish, template__stopped_leaves_ready_workers_of_use)
{
    gbx_engine *engine = engine_of(4); /* one of them while nobody calls */
    gbx_call call = call_of("() => 1");
    gbx_limits limits = timeout_of(300);
    pid_t pid;

    wait_until_full(engine);
    pid = proc_template();
    kill_template(SIGSTOP);
    check_code(engine, &call, GBX_CODE_VALUE);
    call.limits = &limits;
    check_code(engine, &call, GBX_CODE_UNAVAILABLE);
    assert_int_equal(kill(pid, SIGCONT), 0);

    assert_true(until(child_is_alive, engine, 60000));
    assert_int_equal(proc_template(), pid);
    gbx_engine_free(engine);
}

TEST_WITH(start, finish, free__does_not_wait_for_a_stopped_template)
{
    gbx_engine *engine = engine_of(2);
    double begin;

    wait_until_full(engine);
    kill_template(SIGSTOP);
    begin = now_ms();
    gbx_engine_free(engine);

    assert_true(now_ms() - begin < 15000);
}

/* ---- the host dies ------------------------------------------------------------------ */

static bool have_both_started(void *user)
{
    return ((ending *)user)->started == 2;
}

/* A host with an engine, a call that computes and one that waits; tells when they do. */
static _Noreturn void be_host(int told)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call spin = call_of("() => { console.log('on'); for (;;); }");
    gbx_call sleeps = call_of("async () => { console.log('on'); await sleep(600000) }");
    gbx_engine *engine = NULL;
    static ending e;
    inbox box;

    options.limits =
        timeout_of(600000); /* the first must not end while the other starts */
    spin.on_log = sleeps.on_log = count_start;
    spin.log_user = sleeps.log_user = &e.started;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* where the test fails before it kills */
    (void)signal(SIGSEGV, SIG_DFL);         /* cmocka's */
    inbox_init(&box, 100);
    if (gbx_engine_new(&options, &engine, NULL) != GBX_OK ||
        gbx_submit(engine, &spin, inbox_done, &box, NULL, NULL) != GBX_OK ||
        gbx_submit(engine, &sleeps, inbox_done, &box, NULL, NULL) != GBX_OK)
        _exit(1);
    if (!until(have_both_started, &e, 60000))
        _exit(1);
    (void)!write(told, "x", 1);
    for (;;)
        (void)pause();
}

static bool have_gone(void *user)
{
    proc_tree tree;

    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;               /* they are ours now, and so are their ends */
    proc_look(getpid(), &tree); /* one may have ended since */
    return tree.count == 0 && tree.zombies == 0;
}

static void check_host_dies(int sig)
{
    int ends[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)close(ends[0]);
        be_host(ends[1]);
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_true(proc_descendants() >= 4);
    assert_int_equal(kill(pid, sig), 0);
    assert_true(until(have_gone, NULL, 60000));
    (void)close(ends[0]);
}

TEST_WITH(start, finish, host__killed_takes_everything_with_it)
{
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    check_host_dies(SIGKILL);
    check_host_dies(SIGTERM);
    check_host_dies(SIGSEGV);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

TEST(processes__come_after_their_host_where_both_want_a_processor)
{
    gbx_engine *engine = engine_start(NULL);
    int below = least(getpriority(PRIO_PROCESS, 0) + 5, 19);
    pid_t workers[8];
    size_t count;

    wait_until_full(engine);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)proc_template()), below);
    count = proc_workers(proc_template(), workers, 8);
    assert_in_range(count, 1, 8);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(getpriority(PRIO_PROCESS, (id_t)workers[i]), below);
    gbx_engine_free(engine);
}

TEST_MAIN(NULL, NULL)

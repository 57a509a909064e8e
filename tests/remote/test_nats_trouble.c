/* SPDX-License-Identifier: MIT */
/*
 * nats_trouble - what happens to calls on other machines when credentials expire, a runner is
 * drained under load, callers change their mind, clocks differ, and very many calls wait.
 */
#include "calls.h"
#include "host_functions.h"
#include "nats_identity.h"
#include "nats_runner.h"
#include "nats_server.h"
#include "proc.h"
#include "scratch.h"
#include "test.h"
#include "until.h"

#include <glovebox/runner.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static nats_server server;
static nats_runner runners[2];
static inbox box;

static int each_begin(void **state)
{
    if (scratch_begin(state) != 0)
        return -1;
    nats_server_start(&server, "");
    return 0;
}

static int each_end(void **state)
{
    nats_runner_stop(&runners[0]);
    nats_runner_stop(&runners[1]);
    nats_server_stop(&server, SIGKILL);
    return scratch_end(state);
}

static gbx_engine *engine_at(const char *address)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.runner_name = address;
    options.queue_length = 2000;
    return engine_start(&options);
}

static void submit_many(gbx_engine *engine, const char *code, uint32_t timeout_ms,
                        unsigned count)
{
    gbx_limits limits = timeout_of(timeout_ms);
    gbx_call call = call_of(code);

    call.limits = &limits;
    while (count-- > 0)
        (void)call_submit(engine, &call, &box);
}

/* ---- credentials ----------------------------------------------------------------------- */

/* The server ends the connection of a caller, or of a runner, whose token has expired. */
static void expire(const char *who)
{
    char options[8192];
    char addresses[2][256];
    host_functions functions;
    gbx_engine *engine;
    bool is_runner = strcmp(who, "runner") == 0;

    nats_server_stop(&server, SIGKILL);
    nats_identity_operator(options, sizeof options);
    nats_server_start(&server, options);
    nats_identity_creds("caller", is_runner ? 100 : 4);
    nats_identity_creds("runner", is_runner ? 4 : 100);
    for (int i = 0; i < 2; i++)
        (void)snprintf(addresses[i], sizeof addresses[i], "%s?creds=%s", server.url,
                       scratch_path(i == 0 ? "caller" : "runner"));
    nats_runner_start_as(&runners[0], addresses[1], "", addresses[0]);
    engine = engine_at(addresses[0]);
    host_functions_expose(&functions, engine);
    inbox_init(&box, 8);
    submit_many(engine, "async () => { await echo(1); await sleep(15000) }", 20000, 1);
    assert_true(inbox_wait(&box, 1, 15000));
    assert_int_equal(box.by_code[GBX_CODE_LOST], 1);
    assert_int_equal(functions.called, 1);
    nats_identity_creds(who, 100);
    for (unsigned i = 0; i < 20 && box.by_code[GBX_CODE_VALUE] == 0; i++) {
        gbx_call call = call_of("() => 1");

        box.by_code[GBX_CODE_VALUE] = call_code(engine, &call) == GBX_CODE_VALUE;
    }
    assert_int_equal(box.by_code[GBX_CODE_VALUE], 1);
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

TEST(call__of_a_caller_whose_credentials_expire_is_lost_and_new_ones_serve)
{
    expire("caller");
}

TEST(call__on_a_runner_whose_credentials_expire_is_lost_and_new_ones_serve)
{
    expire("runner");
}

/* ---- drain ------------------------------------------------------------------------------ */

TEST(drain__under_load_costs_no_call)
{
    gbx_engine *engine;

    nats_runner_start(&runners[0], server.url, "--max-workers 4");
    nats_runner_start(&runners[1], server.url, "--max-workers 4");
    engine = engine_at(server.url);
    inbox_init(&box, 202);
    submit_many(engine, "async () => { await sleep(40); return 1 }", 30000, 200);
    assert_true(inbox_wait(&box, 20, 30000));
    nats_runner_signal(&runners[0], SIGTERM);
    nats_runner_await_end(&runners[0]);
    assert_true(WIFEXITED(runners[0].status) && WEXITSTATUS(runners[0].status) == 0);
    assert_true(inbox_wait(&box, 200, 30000));
    assert_int_equal(box.by_code[GBX_CODE_VALUE], 200);
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

/* ---- a caller who changes their mind ----------------------------------------------------- */

/* Does a process of the runner compute? */
static bool computes(void)
{
    static proc_tree tree;

    proc_look(runners[0].pid, &tree);
    for (size_t i = 0; i < tree.count; i++)
        if (proc_state(tree.pids[i]) == 'R')
            return true;
    return false;
}

/* In ten looks that follow each other: then it is the call, or its end. */
static bool is_so(void *user)
{
    unsigned times = 0;

    while (times < 10 && computes() == *(bool *)user)
        times++;
    return times == 10;
}

TEST(abort__reaches_the_process_on_the_other_machine)
{
    gbx_call call = call_of("async () => { await echo(1); for (;;); }");
    gbx_limits limits = timeout_of(30000);
    host_functions functions;
    gbx_engine *engine;
    double ms[10];

    nats_runner_start(&runners[0], server.url, "");
    engine = engine_at(server.url);
    host_functions_expose(&functions, engine);
    call.limits = &limits;
    inbox_init(&box, 16);
    for (unsigned i = 0; i < 10; i++) {
        size_t before = functions.called;
        gbx_ticket ticket = call_submit(engine, &call, &box);
        bool spins = true;

        while (functions.called == before)
            usleep(1000);
        assert_true(until(is_so, &spins, 10000));
        spins = false;
        ms[i] = now_ms();
        gbx_abort(engine, ticket);
        assert_true(until(is_so, &spins, 10000));
        ms[i] = now_ms() - ms[i];
        assert_true(inbox_wait(&box, i + 1, 5000));
    }
    assert_int_equal(box.by_code[GBX_CODE_ABORTED], 10);
    for (unsigned i = 0; i < 10; i++)
        print_message("%.1f ms ", ms[i]);
    print_message("from abort to a runner at rest\n");
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

/* ---- clocks ------------------------------------------------------------------------------ */

/* Its monotonic clock is another one; the wall clock is not looked at. */
static void call_with_clock(const char *seconds)
{
    char options[256];
    gbx_engine *engine;
    double from;

    (void)snprintf(options, sizeof options, "--monotonic %s", seconds);
    nats_runner_start_in(&runners[0], server.url, options);
    engine = engine_at(server.url);
    inbox_init(&box, 8);
    from = now_ms();
    submit_many(engine, "() => 7", 5000, 1);
    submit_many(engine, "() => { for (;;); }", 3000, 1);
    submit_many(engine, "async () => { await sleep(4000); return 8 }", 8000, 1);
    assert_true(inbox_wait(&box, 3, 30000));
    assert_true(now_ms() - from >= 4000);
    assert_int_equal(box.by_code[GBX_CODE_VALUE], 2);
    assert_int_equal(box.by_code[GBX_CODE_TIMEOUT], 1);
    gbx_engine_free(engine);
    inbox_cleanup(&box);
    nats_runner_stop(&runners[0]);
}

TEST(deadlines__hold_with_clocks_that_differ_by_a_minute)
{
    if (!nats_runner_may_start_in()) {
        print_message("skipped: no time namespace for this user\n");
        skip();
    }
    call_with_clock("61");
    call_with_clock("-61");
}

/* ---- many that wait ----------------------------------------------------------------------- */

TEST(waiting_calls__need_little_memory_and_all_are_served)
{
    gbx_engine *engine;
    size_t before;
    size_t after;

    nats_runner_start(&runners[0], server.url, "--max-workers 4");
    engine = engine_at(server.url);
    check_value(engine, "() => 1", NULL, "1");
    inbox_init(&box, 1010);
    before = proc_rss_kib();
    submit_many(engine, "async () => { await sleep(5); return 1 }", 60000, 1000);
    after = proc_rss_kib();
    print_message("1,000 calls: %zu KiB\n", after - before);
    assert_true(after < before + 16 * 1024);
    assert_true(inbox_wait(&box, 1000, 60000));
    assert_int_equal(box.by_code[GBX_CODE_VALUE], 1000);
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

typedef struct share {
    gbx_engine *engine;
    atomic_uint served;
} share;

static void keep_busy(void *user, size_t number)
{
    share *shares = user;
    share *s = &shares[number % 2];
    gbx_call call = call_of("async () => { await sleep(2); return 1 }");
    gbx_limits limits = timeout_of(30000);

    call.limits = &limits;
    while (shares[0].served + shares[1].served < 600)
        if (call_code(s->engine, &call) == GBX_CODE_VALUE)
            s->served++;
}

TEST(two_callers__share_a_full_runner)
{
    share shares[2] = {{.engine = NULL}};
    double ratio;

    nats_runner_start(&runners[0], server.url, "--max-workers 2");
    for (int i = 0; i < 2; i++) {
        shares[i].engine = engine_at(server.url);
        check_value(shares[i].engine, "() => 1", NULL, "1");
    }
    threads_run(32, keep_busy, shares);
    ratio = (double)shares[0].served / shares[1].served;
    print_message("%u and %u calls: %.2f\n", shares[0].served, shares[1].served, ratio);
    assert_true(ratio > 0.5 && ratio < 2);
    gbx_engine_free(shares[0].engine);
    gbx_engine_free(shares[1].engine);
}

int main(void)
{
    nats_server_need();
    tests_each(each_begin, each_end);
    return tests_run(NULL, NULL);
}

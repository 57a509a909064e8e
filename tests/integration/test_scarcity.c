/* SPDX-License-Identifier: MIT */
/*
 * Machines with nothing to spare: no descriptor, no process, no file, no processor. An engine
 * says clearly what it cannot do, and does it when it can again.
 */
#include "base/cleanup.h"
#include "child.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glovebox/drive.h>
#include <glovebox/preload.h>

/* With n descriptors left an engine starts and works or says clearly why not; with
 * enough again it works. */
CHILD_TEST(host__that_runs_out_of_descriptors)
{
    struct rlimit limit;

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    for (rlim_t spare = 0; spare <= 40; spare += spare < 12 ? 1 : 4) {
        struct rlimit tight = {proc_fds() + spare, limit.rlim_max};
        gbx_engine *engine = NULL;
        gbx_error error = {0};
        gbx_status status;

        CHECK(setrlimit(RLIMIT_NOFILE, &tight) == 0);
        status = gbx_engine_new(NULL, &engine, &error);
        if (status == GBX_OK) {
            gbx_limits limits = timeout_of(200);
            gbx_call call = call_of("() => 1");

            call.limits = &limits;
            for (int i = 0; i < 3; i++) {
                gbx_code code = call_code(engine, &call);

                CHECK(code == GBX_CODE_VALUE || code == GBX_CODE_UNAVAILABLE);
            }
        } else {
            CHECK(status == GBX_E_OS || status == GBX_E_NOMEM);
            CHECK(*error.message != 0);
        }
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        CHECK(status != GBX_OK || until(child_is_alive, engine, 60000));
        gbx_engine_free(engine);
        CHECK(proc_descendants() == 0);
    }
    return child_life();
}

/* As a thread of the host does that starts a program. */
static void *open_and_close(void *arg)
{
    atomic_bool *is_over = arg;

    while (!atomic_load(is_over)) {
        int fds[8];
        int count = 0;

        while (count < 8 && (fds[count] = dup(0)) >= 0)
            count++;
        while (count > 0)
            (void)close(fds[--count]);
    }
    return NULL;
}

/* What was free a moment ago need not be free when it is needed. */
CHILD_TEST(host__that_takes_the_descriptors_itself)
{
    atomic_bool is_over = false;
    struct rlimit limit;
    struct rlimit tight;
    pthread_t other;

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    tight = (struct rlimit){proc_fds() + 8, limit.rlim_max};
    CHECK(pthread_create(&other, NULL, open_and_close, &is_over) == 0);
    for (int i = 0; i < 2000; i++) {
        gbx_engine *engine = NULL;
        gbx_error error = {0};

        CHECK(setrlimit(RLIMIT_NOFILE, &tight) == 0);
        CHECK(gbx_engine_new(NULL, &engine, &error) != GBX_OK);
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    }
    atomic_store(&is_over, true);
    return pthread_join(other, NULL) == 0;
}

/* The same in the middle of an engine's life. */
CHILD_TEST(host__that_runs_out_of_descriptors_later)
{
    struct rlimit limit;
    gbx_engine *engine = NULL;

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    CHECK(child_engine(&engine));
    for (rlim_t spare = 0; spare <= 8; spare++) {
        struct rlimit tight = {proc_fds() + spare, limit.rlim_max};

        CHECK(until(child_is_alive, engine, 60000));
        CHECK(setrlimit(RLIMIT_NOFILE, &tight) == 0);
        for (int i = 0; i < 6; i++)
            (void)child_ends_as(engine, "() => 1", GBX_CODE_VALUE);
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        CHECK(until(child_is_alive, engine, 60000));
    }
    gbx_engine_free(engine);
    CHECK(proc_descendants() == 0 && proc_zombies() == 0);
    return true;
}

/* Not a time that has not passed, nor that there are too many calls. */
CHILD_TEST(unavailable__says_that_descriptors_are_out)
{
    struct rlimit limit;
    gbx_limits limits = timeout_of(1000);
    gbx_call call = call_of("() => 1");
    gbx_engine *engine = NULL;
    gbx_result *result = NULL;
    double begin;

    CHECK(child_engine(&engine));
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 3; /* what is open stays */
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    call.limits = &limits;
    do {
        gbx_result_free(result);
        begin = now_ms();
        CHECK(gbx_execute(engine, &call, &result, NULL) == GBX_OK);
    } while (gbx_result_code(result) == GBX_CODE_VALUE);
    CHECK(gbx_result_code(result) == GBX_CODE_UNAVAILABLE);
    CHECK(strstr(gbx_result_error(result), "within 1000 ms") == NULL ||
          now_ms() - begin >= 999);
    CHECK(strstr(gbx_result_error(result), strerror(EMFILE)) != NULL);
    CHECK(strstr(gbx_result_hint(result), "max_workers") == NULL);
    gbx_result_free(result);
    gbx_engine_free(engine);
    return true;
}

static bool is_full(void *engine)
{
    return pool_is_full(engine);
}

/* Calls for which there is nothing left, beside one that runs. */
CHILD_TEST(calls__that_run_when_descriptors_are_out_go_on)
{
    gbx_limits limits = timeout_of(300);
    gbx_call call = call_of("() => 1");
    gbx_call longer = call_of("async () => { await sleep(1500); return 2; }");
    gbx_engine *engine = NULL;
    struct rlimit limit;
    struct rlimit none;
    gbx_ticket ticket;
    inbox box;
    pid_t pid;

    inbox_init(&box, 100);
    CHECK(child_engine(&engine));
    CHECK(until(is_full, engine, 60000));
    pid = proc_template();
    CHECK(gbx_submit(engine, &longer, inbox_done, &box, &ticket, NULL) == GBX_OK);
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = (struct rlimit){3, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    call.limits = &limits;
    for (gbx_code code = GBX_CODE_VALUE; code != GBX_CODE_UNAVAILABLE;) {
        code = call_code(engine, &call);
        CHECK(code == GBX_CODE_VALUE || code == GBX_CODE_UNAVAILABLE);
    }
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(until(child_is_alive, engine, 60000));
    CHECK(proc_template() == pid);
    CHECK(inbox_wait(&box, 1, 60000) && inbox_code(&box, ticket) == GBX_CODE_VALUE);
    inbox_cleanup(&box);
    gbx_engine_free(engine);
    CHECK(proc_descendants() == 0 && proc_zombies() == 0);
    return true;
}

/* As many driven calls at once as there are descriptors for, and more of them as soon as
 * some have ended: each takes what a worker would need. */
CHILD_TEST(calls__leave_descriptors_for_the_workers_they_wait_for)
{
    gbx_call call = call_of("() => 1");
    gbx_drive *drives[64] = {NULL};
    gbx_engine *engine = NULL;
    size_t begun = 0;
    size_t ended = 0;
    size_t refused = 0;
    struct rlimit limit;
    gbx_error error;

    CHECK(child_engine(&engine));
    CHECK(child_is_alive(engine));
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = proc_fds() + 60;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    while (ended < 200) {
        size_t i = begun < 200 ? 0 : GBX_COUNTOF(drives);

        for (; i < GBX_COUNTOF(drives); i++) {
            if (drives[i] != NULL)
                continue;
            if (gbx_drive_new(engine, &call, &drives[i], NULL, &error) != GBX_OK)
                break;
            begun++;
        }
        refused += i < GBX_COUNTOF(drives);
        CHECK(i == GBX_COUNTOF(drives) ||
              strstr(error.message, strerror(EMFILE)) != NULL);
        for (i = 0; i < GBX_COUNTOF(drives); i++) {
            gbx_result *result = drives[i] != NULL ? gbx_drive_step(drives[i]) : NULL;

            if (result == NULL)
                continue;
            CHECK(gbx_result_code(result) == GBX_CODE_VALUE);
            gbx_result_free(result);
            gbx_drive_free(drives[i]);
            drives[i] = NULL;
            ended++;
        }
    }
    CHECK(refused > 0);
    for (size_t i = 0; i < GBX_COUNTOF(drives); i++)
        gbx_drive_free(drives[i]);
    gbx_engine_free(engine);
    return true;
}

/* ---- processes ----------------------------------------------------------------------- */

CHILD_TEST(host__that_runs_out_of_processes)
{
    struct rlimit limit;
    struct rlimit none = {0, 0};
    gbx_engine *engine = NULL;
    gbx_limits limits = timeout_of(300);
    gbx_call call = call_of("() => 1");
    pid_t pid;

    CHECK(child_engine(&engine));
    CHECK(until(is_full, engine, 60000));
    pid = proc_template();
    CHECK(pid > 1);
    if (prlimit(pid, RLIMIT_NPROC, NULL, &limit) != 0) {
        gbx_engine_free(engine);
        return true; /* not allowed to */
    }
    none.rlim_max = limit.rlim_max;
    CHECK(prlimit(pid, RLIMIT_NPROC, &none, NULL) == 0);
    call.limits = &limits;
    for (int i = 0; i < 8; i++) {
        gbx_code code = call_code(engine, &call);

        CHECK(code == GBX_CODE_VALUE || code == GBX_CODE_UNAVAILABLE);
        CHECK(i < 5 || code == GBX_CODE_UNAVAILABLE);
    }
    CHECK(prlimit(pid, RLIMIT_NPROC, &limit, NULL) == 0);
    CHECK(until(child_is_alive, engine, 60000));
    CHECK(proc_template() == pid);
    gbx_engine_free(engine);
    return true;
}

/* ---- files ---------------------------------------------------------------------------- */

/* What is kept for templates is a file to the kernel, which ends who writes too much. */
CHILD_TEST(host__that_may_write_no_large_file)
{
    static const char data[] =
        "[1,                                                   2]";
    const struct rlimit none = {0, 0};
    struct rlimit limit;
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    CHECK(child_engine(&engine));
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = sizeof data / 2;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(gbx_engine_load(engine, "data", data, sizeof data - 1, GBX_DATA_JSON,
                          &error) == GBX_E_OS);
    CHECK(error.os_errno == EFBIG && strstr(error.message, "RLIMIT_FSIZE") != NULL);
    CHECK(gbx_engine_preload(engine, "x.js", data, sizeof data - 1, &error) ==
          GBX_E_OS);
    CHECK(error.os_errno == EFBIG && strstr(error.message, "RLIMIT_FSIZE") != NULL);
    CHECK(gbx_engine_load(engine, "data", "[1,2]", 5, GBX_DATA_JSON, &error) == GBX_OK);
    CHECK(child_gives(engine, "() => datasets.data", "[1,2]"));
    gbx_engine_free(engine);
    CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
    return child_life();
}

/* ---- a busy machine ------------------------------------------------------------------------ */

#define SPINNERS 4

TEST(deadlines__hold_on_a_busy_machine)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = engine_start(&options);
    pid_t spinners[SPINNERS];
    double worst = 0;

    for (size_t i = 0; i < SPINNERS; i++) {
        spinners[i] = fork();
        if (spinners[i] == 0)
            for (volatile unsigned n = 0;; n++)
                continue;
    }
    for (int i = 0; i < 8; i++) {
        gbx_limits limits = timeout_of(100);
        gbx_call spin = call_of("() => { for (;;); }");
        gbx_result *result;
        double wall;

        spin.limits = &limits;
        result = call_run(engine, &spin);
        wall = gbx_result_stats(result).wall_ms;
        if (gbx_result_code(result) != GBX_CODE_UNAVAILABLE) {
            assert_int_equal(gbx_result_code(result), GBX_CODE_TIMEOUT);
            assert_true(wall >= 99);
            worst = wall > worst ? wall : worst;
        }
        gbx_result_free(result);
        check_alive(engine);
    }
    for (size_t i = 0; i < SPINNERS; i++) {
        (void)kill(spinners[i], SIGKILL);
        (void)waitpid(spinners[i], NULL, 0);
    }

    assert_true(worst < 15000); /* a bound against hangs, not a measurement */
    gbx_engine_free(engine);
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/*
 * Every case of tests/escape/bombs: memory bombs, forged and genuine errors, and the
 * lines that kill sandboxes of one process; each with every memory limit it names,
 * while a neighbour on the same engine makes innocent calls.
 */
#include "judge.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* ---- the neighbour -------------------------------------------------------------- */

static struct {
    pthread_t thread;
    atomic_bool ended;
    size_t wrong;
} neighbour;

static void ask(void)
{
    static const char code[] = "(d) => d.map((x) => x * 2).join()";
    gbx_call call = GBX_CALL_INIT;
    gbx_result *result = NULL;

    call.code = code;
    call.code_len = sizeof code - 1;
    call.input = "[1,2,3]";
    call.input_len = 7;
    if (gbx_execute(judge_engine(WORLD_STANDARD), &call, &result, NULL) != GBX_OK ||
        strcmp(gbx_result_value(result, NULL), "\"2,4,6\"") != 0)
        neighbour.wrong++;
    gbx_result_free(result);
}

static void *ask_on(void *user)
{
    /* Ten calls a second leave the processors to the case. */
    static const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};

    do {
        ask();
        (void)nanosleep(&pause, NULL);
    } while (!atomic_load(&neighbour.ended));
    return NULL;
}

static void neighbour_begin(void)
{
    atomic_store(&neighbour.ended, false);
    assert_int_equal(pthread_create(&neighbour.thread, NULL, ask_on, NULL), 0);
}

static void neighbour_end(void)
{
    atomic_store(&neighbour.ended, true);
    assert_int_equal(pthread_join(neighbour.thread, NULL), 0);
}

/* ---- all of them ---------------------------------------------------------------- */

static void test_case_ends_as_it_must(void **state)
{
    const test_case *c = *state;

    for (size_t i = 0; i == 0 || (i < CASE_MEMORIES_MAX && c->memories[i] != 0); i++) {
        neighbour_begin();
        judge_calls(c, c->memories[i]);
        neighbour_end();
        assert_int_equal(neighbour.wrong, 0);
    }
    judge_after(c);
}

static int start(void **state)
{
    judge_start(1U << WORLD_STANDARD);
    return 0;
}

static int stop(void **state)
{
    judge_stop();
    return 0;
}

int main(void)
{
    return cases_run("bombs", test_case_ends_as_it_must, NULL, 0, start, stop);
}

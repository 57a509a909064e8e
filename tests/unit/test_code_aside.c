/* SPDX-License-Identifier: MIT */
/* What is short is done at once; what takes long is done elsewhere, and can be given up. */
#include "base/clock.h"
#include "mcp/code/code.h"
#include "mcp/data/datasets.h"
#include "test.h"

#include <pthread.h>

#define LONG (GBX_ASIDE_SHORT + 1)

typedef struct scene {
    gbx_mcp_loop *loop;
    gbx_parse_thread *aside;
    gbx_time_budget patience;
    gbx_parse_thread_job job;
    pthread_t home;
    atomic_bool has_begun;
    atomic_bool may_end;
    int works;
    int works_at_home;
    int dones;
} scene;

static void note_work(void *user)
{
    scene *s = user;

    s->works++;
    s->works_at_home += pthread_equal(pthread_self(), s->home) != 0;
}

/* Ends when its patience does. */
static void lose_patience(void *user)
{
    note_work(user);
    while (!gbx_time_budget_is_over())
        continue;
}

static void wait_for_leave(void *user)
{
    scene *s = user;

    note_work(s);
    atomic_store(&s->has_begun, true);
    while (!atomic_load(&s->may_end))
        continue;
}

static void wait_for_the_end(void *user)
{
    scene *s = user;

    atomic_store(&s->has_begun, true);
    lose_patience(s);
}

static void note_done(void *user)
{
    scene *s = user;

    s->dones += pthread_equal(pthread_self(), s->home) != 0;
    gbx_mcp_loop_stop(s->loop, 0);
}

static void await_begin(scene *s)
{
    while (!atomic_load(&s->has_begun))
        continue;
}

static int start(void **state)
{
    scene *s = calloc(1, sizeof *s);

    if (s == NULL)
        return -1;
    s->loop = gbx_mcp_loop_new();
    s->aside = s->loop != NULL ? gbx_parse_thread_new(s->loop) : NULL;
    s->home = pthread_self();
    s->job = (gbx_parse_thread_job){note_work, note_done, s, .patience = &s->patience};
    *state = s;
    if (s->aside == NULL)
        return -1;
    s->patience = gbx_parse_thread_patience(s->aside, LONG);
    return 0;
}

static int finish(void **state)
{
    scene *s = *state;

    gbx_parse_thread_free(s->aside);
    gbx_mcp_loop_free(s->loop);
    free(s);
    return 0;
}

TEST(short_code__is_read_at_once_where_it_is)
{
    scene *s = *state;

    assert_int_equal(gbx_parse_thread_read(s->aside, &s->job, GBX_ASIDE_SHORT),
                     GBX_ASIDE_NOW);
    assert_int_equal(s->works_at_home, 1);
    assert_int_equal(s->dones, 0);
}

TEST(long_code__is_read_in_another_thread_and_done_on_the_loop)
{
    scene *s = *state;

    assert_int_equal(gbx_parse_thread_read(s->aside, &s->job, LONG), GBX_ASIDE_LATER);
    (void)gbx_mcp_loop_run(s->loop);

    assert_int_equal(s->works, 1);
    assert_int_equal(s->works_at_home, 0);
    assert_int_equal(s->dones, 1);
}

TEST(short_code__that_takes_long_is_read_again_in_the_thread)
{
    scene *s = *state;

    s->job.work = lose_patience;
    assert_int_equal(gbx_parse_thread_read(s->aside, &s->job, 1), GBX_ASIDE_LATER);
    (void)gbx_mcp_loop_run(s->loop);

    assert_int_equal(s->works, 2);
    assert_int_equal(s->works_at_home, 1);
    assert_int_equal(s->dones, 1);
    assert_true(s->patience.is_lost);
    assert_true(s->patience.left_ns <= 0);
}

TEST(a_job__can_be_withdrawn_until_it_is_begun)
{
    scene *s = *state;
    gbx_parse_thread_job second = s->job, third = s->job;

    s->job.work = wait_for_leave;
    assert_true(gbx_parse_thread_give(s->aside, &s->job));
    await_begin(s);
    assert_true(gbx_parse_thread_give(s->aside, &second));
    assert_true(gbx_parse_thread_give(s->aside, &third));

    assert_false(gbx_parse_thread_withdraw(s->aside, &s->job));
    assert_true(gbx_parse_thread_withdraw(s->aside, &third));
    assert_true(gbx_parse_thread_withdraw(s->aside, &second));
    assert_false(gbx_parse_thread_withdraw(s->aside, &second));
    assert_true(gbx_parse_thread_give(s->aside, &second));
    assert_true(gbx_parse_thread_withdraw(s->aside, &second));

    atomic_store(&s->may_end, true);
    (void)gbx_mcp_loop_run(s->loop);
    assert_int_equal(s->works, 1);
    assert_int_equal(s->dones, 1);
}

/* It would else be waited for as long as its patience lasts: a day. */
TEST(the_end__does_not_wait_for_what_is_being_read)
{
    scene *s = *state;

    s->patience.left_ns = INT64_C(86400000) * GBX_NS_PER_MS;
    s->job.work = wait_for_the_end;
    assert_true(gbx_parse_thread_give(s->aside, &s->job));
    await_begin(s);

    gbx_parse_thread_free(s->aside);
    s->aside = NULL;
    assert_true(s->patience.is_lost);
    assert_int_equal(s->dones, 0);
}

/* ---- patience ------------------------------------------------------------------------- */

/* Thousands of parameters, and as many uses of the last of them: minutes without one. */
TEST(patience__bounds_the_search_for_names)
{
    char *code = malloc(100000);
    char *at = code;
    gbx_time_budget patience = {.left_ns = 50 * GBX_NS_PER_MS};

    assert_non_null(code);
    at = stpcpy(at, "[].map((");
    for (int i = 0; i < 8000; i++)
        at = stpcpy(at, "a, ");
    at = stpcpy(at, "z) => {");
    for (int i = 0; i < 4000; i++)
        at = stpcpy(at, "z.orders;");
    at = stpcpy(at, "})");
    gbx_time_budget_begin(&patience);
    assert_true(gbx_code_reads(code, (size_t)(at - code), "orders"));
    gbx_time_budget_end(&patience);

    assert_true(patience.is_lost);
    assert_true(patience.left_ns > -500 * GBX_NS_PER_MS);
    free(code);
}

TEST_MAIN_EACH(start, finish)

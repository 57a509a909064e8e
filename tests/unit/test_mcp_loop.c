/* SPDX-License-Identifier: MIT */
/* loop - posts of all threads run on one, in order, and not after the end. */
#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"
#include "test.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#define THREADS 4
#define POSTS   2000

typedef struct scene {
    gbx_mcp_loop *loop;
    pthread_t home;
    int last[THREADS]; /* number of the last post of each thread */
    int ran;
    int strangers; /* posts that ran on another thread */
    int disorder;
} scene;

typedef struct job {
    scene *scene;
    int thread;
    int number;
    gbx_mcp_post post;
} job;

static job jobs[THREADS][POSTS];

static void run_job(void *arg)
{
    job *j = arg;
    scene *s = j->scene;

    s->strangers += !pthread_equal(pthread_self(), s->home);
    s->disorder += j->number != s->last[j->thread] + 1;
    s->last[j->thread] = j->number;
    if (++s->ran == THREADS * POSTS)
        gbx_mcp_loop_stop(s->loop, 42);
}

static void *post_all(void *arg)
{
    job *mine = arg;

    for (int i = 0; i < POSTS; i++) {
        mine[i].post = (gbx_mcp_post){.run = run_job, .arg = &mine[i]};
        gbx_mcp_loop_post(mine[i].scene->loop, &mine[i].post);
    }
    return NULL;
}

TEST(posts_of_all_threads__run_on_the_loop_in_order)
{
    scene s = {.loop = gbx_mcp_loop_new(), .home = pthread_self()};
    pthread_t threads[THREADS];

    assert_non_null(s.loop);
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < POSTS; i++)
            jobs[t][i] = (job){.scene = &s, .thread = t, .number = i + 1};
        assert_int_equal(pthread_create(&threads[t], NULL, post_all, jobs[t]), 0);
    }
    assert_int_equal(gbx_mcp_loop_run(s.loop), 42);
    for (int t = 0; t < THREADS; t++)
        (void)pthread_join(threads[t], NULL);
    gbx_mcp_loop_free(s.loop);

    assert_int_equal(s.ran, THREADS * POSTS);
    assert_int_equal(s.strangers, 0);
    assert_int_equal(s.disorder, 0);
}

static void stop_it(void *arg)
{
    gbx_mcp_loop_stop(arg, 3);
}

static void never(void *arg)
{
    fail_msg("a post ran after the end");
}

TEST(posts_after_the_stop__are_dropped)
{
    gbx_mcp_loop *loop = gbx_mcp_loop_new();
    gbx_mcp_post stop = {.run = stop_it, .arg = loop};
    gbx_mcp_post *before = calloc(1, sizeof *before);
    gbx_mcp_post after = {.run = never};

    assert_non_null(before);
    before->run = never;
    gbx_mcp_loop_post(loop, &stop);
    gbx_mcp_loop_post(loop, before);
    assert_int_equal(gbx_mcp_loop_run(loop), 3);
    free(before); /* it is not the loop's any more */
    gbx_mcp_loop_post(loop, &after);
    assert_false(after.is_posted);
    gbx_mcp_loop_free(loop);
}

typedef struct again {
    gbx_mcp_loop *loop;
    gbx_mcp_post post;
    int ran;
} again;

static void run_again(void *arg)
{
    again *a = arg;

    a->ran++;
    if (a->ran == 3)
        gbx_mcp_loop_stop(a->loop, 0);
    else
        gbx_mcp_loop_post(a->loop, &a->post);
}

TEST(what_is_posted_already__runs_once_and_can_be_posted_again)
{
    again a = {.loop = gbx_mcp_loop_new()};
    gbx_mcp_post other = {.run = never};

    a.post = (gbx_mcp_post){.run = run_again, .arg = &a};
    gbx_mcp_loop_post(a.loop, &a.post);
    gbx_mcp_loop_post(a.loop, &a.post);
    assert_int_equal(gbx_mcp_loop_run(a.loop), 0);
    assert_int_equal(a.ran, 3);
    gbx_mcp_loop_post(a.loop, &other); /* the list is whole */
    gbx_mcp_loop_free(a.loop);
}

TEST(a_stop_before_the_run__is_not_lost)
{
    gbx_mcp_loop *loop = gbx_mcp_loop_new();

    gbx_mcp_loop_stop(loop, 5);
    gbx_mcp_loop_stop(loop, 6); /* the first one counts */
    assert_int_equal(gbx_mcp_loop_run(loop), 5);
    gbx_mcp_loop_free(loop);
    gbx_mcp_loop_free(NULL);
}

typedef struct busy {
    gbx_mcp_loop *loop;
    gbx_mcp_post stop;
    struct event *event;
    unsigned turns;
} busy;

/* Due again before it returns; not for ever, or the test would have no end. */
static void on_busy(evutil_socket_t fd, short what, void *arg)
{
    busy *b = arg;

    if (b->turns == 10)
        gbx_mcp_loop_post(b->loop, &b->stop);
    if (++b->turns < 100000000)
        event_active(b->event, 0, 0);
    else
        gbx_mcp_loop_stop(b->loop, 1);
}

TEST(what_is_always_due__does_not_hold_up_what_is_posted)
{
    busy b = {.loop = gbx_mcp_loop_new()};

    b.stop = (gbx_mcp_post){.run = stop_it, .arg = b.loop};
    b.event = event_new(gbx_mcp_loop_base(b.loop), -1, 0, on_busy, &b);
    event_active(b.event, 0, 0);

    assert_int_equal(gbx_mcp_loop_run(b.loop), 3);
    event_free(b.event);
    gbx_mcp_loop_free(b.loop);
}

/* Not the end of the process. */
TEST(a_loop_without_descriptors__is_none)
{
    int next = dup(0);
    struct rlimit limit;

    assert_true(next >= 0);
    (void)close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    for (rlim_t spare = 0; spare <= 4; spare++) {
        struct rlimit tight = {(rlim_t)next + spare, limit.rlim_max};
        gbx_mcp_loop *loop;

        assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
        loop = gbx_mcp_loop_new();
        assert_int_equal(loop != NULL, spare == 4);
        gbx_mcp_loop_free(loop);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST_MAIN(NULL, NULL)

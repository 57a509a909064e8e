/* SPDX-License-Identifier: MIT */
/* io_thread - every job that was taken is run once or dropped once, and in order. */
#include "file/file.h"
#include "test.h"

#include "proc.h"
#include "until.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define JOBS_MAX 64

typedef struct scene {
    gbx_io *io;
    sem_t entered; /* a job that waits has begun */
    sem_t go_on;
    pthread_t runner;
    size_t order[JOBS_MAX]; /* numbers of jobs that ran */
    size_t ran;
    size_t dropped[JOBS_MAX];
    size_t drops;
    pthread_t dropper;
    sigset_t mask;
} scene;

typedef struct job {
    scene *scene;
    size_t number;
} job;

static void note(void *user)
{
    const job *j = user;
    scene *s = j->scene;

    s->runner = pthread_self();
    s->order[s->ran++] = j->number;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
}

static void note_drop(void *user)
{
    const job *j = user;
    scene *s = j->scene;

    s->dropper = pthread_self();
    s->dropped[s->drops++] = j->number;
}

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) != 0 && errno == EINTR)
        continue;
}

static void note_and_wait(void *user)
{
    const job *j = user;

    note(user);
    (void)sem_post(&j->scene->entered);
    wait_for(&j->scene->go_on);
}

static void begin(scene *s, size_t queue_max)
{
    *s = (scene){.io = gbx_io_start(queue_max)};
    assert_non_null(s->io);
    assert_int_equal(sem_init(&s->entered, 0, 0), 0);
    assert_int_equal(sem_init(&s->go_on, 0, 0), 0);
}

static bool submit(scene *s, void (*run)(void *), job *j, size_t number)
{
    gbx_io_job io_job = {.run = run, .drop = note_drop, .user = j};

    *j = (job){.scene = s, .number = number};
    return gbx_io_submit(s->io, &io_job);
}

static size_t threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    size_t count = 0;

    assert_non_null(tasks);
    while ((entry = readdir(tasks)) != NULL)
        count += entry->d_name[0] != '.';
    (void)closedir(tasks);
    return count;
}

TEST(start__makes_no_thread_and_stop_drops_nothing)
{
    size_t before = threads();
    scene s;

    begin(&s, 1);
    assert_int_equal(threads(), before);
    gbx_io_stop(s.io);
    gbx_io_stop(NULL);

    assert_int_equal(s.drops, 0);
}

TEST(start__refuses_a_queue_without_room)
{
    assert_null(gbx_io_start(0));
    assert_null(gbx_io_start(SIZE_MAX));
}

TEST(jobs__run_in_order_on_one_other_thread)
{
    job jobs[JOBS_MAX];
    scene s;
    begin(&s, JOBS_MAX);

    for (size_t i = 0; i < JOBS_MAX - 1; i++)
        assert_true(submit(&s, note, &jobs[i], i));
    assert_true(submit(&s, note_and_wait, &jobs[JOBS_MAX - 1], JOBS_MAX - 1));
    wait_for(&s.entered);
    (void)sem_post(&s.go_on);
    gbx_io_stop(s.io);

    assert_int_equal(s.ran, JOBS_MAX);
    for (size_t i = 0; i < JOBS_MAX; i++)
        assert_int_equal(s.order[i], i);
    assert_false(pthread_equal(s.runner, pthread_self()));
    assert_int_equal(s.drops, 0);
}

TEST(thread__has_every_signal_blocked_and_the_caller_none_more)
{
    sigset_t before;
    sigset_t after;
    job j;
    scene s;
    begin(&s, 1);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &before);

    assert_true(submit(&s, note_and_wait, &j, 0));
    wait_for(&s.entered);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &after);
    (void)sem_post(&s.go_on);
    gbx_io_stop(s.io);

    for (int sig = 1; sig < 32; sig++) {
        assert_int_equal(sigismember(&before, sig), sigismember(&after, sig));
        if (sig != SIGKILL && sig != SIGSTOP)
            assert_int_equal(sigismember(&s.mask, sig), 1);
    }
}

TEST(submit__says_no_when_the_queue_is_full)
{
    job jobs[4];
    scene s;
    begin(&s, 2);

    assert_true(submit(&s, note_and_wait, &jobs[0], 0));
    wait_for(&s.entered); /* it runs: the queue is empty again */
    assert_true(submit(&s, note, &jobs[1], 1));
    assert_true(submit(&s, note, &jobs[2], 2));
    assert_false(submit(&s, note, &jobs[3], 3));
    (void)sem_post(&s.go_on);
    gbx_io_stop(s.io);

    assert_int_equal(s.ran + s.drops, 3);
}

typedef struct stop_later {
    gbx_io *io;
    _Atomic pid_t tid;
} stop_later;

static void *stop(void *arg)
{
    stop_later *later = arg;

    atomic_store(&later->tid, gettid());
    gbx_io_stop(later->io);
    return NULL;
}

/* It sleeps: it waits for the thread that it has told to end. */
static bool is_joining(void *user)
{
    pid_t tid = atomic_load(&((stop_later *)user)->tid);

    return tid != 0 && proc_state(tid) == 'S';
}

TEST(stop__waits_for_the_running_job_and_drops_the_rest)
{
    stop_later later = {0};
    pthread_t stopper;
    job jobs[4];
    scene s;
    begin(&s, 3);
    later.io = s.io;
    assert_true(submit(&s, note_and_wait, &jobs[0], 0));
    wait_for(&s.entered);
    assert_true(submit(&s, note, &jobs[1], 1));
    assert_true(submit(&s, note, &jobs[2], 2));

    assert_int_equal(pthread_create(&stopper, NULL, stop, &later), 0);
    assert_true(until(is_joining, &later, 60000));
    assert_false(submit(&s, note, &jobs[3], 3));
    (void)sem_post(&s.go_on);
    assert_int_equal(pthread_join(stopper, NULL), 0);

    assert_int_equal(s.ran, 1);
    assert_int_equal(s.drops, 2);
    assert_int_equal(s.dropped[0], 1);
    assert_int_equal(s.dropped[1], 2);
    assert_true(pthread_equal(s.dropper, stopper));
}

static void run_and_submit(void *user)
{
    static _Atomic size_t left = 10;
    job *j = user;
    gbx_io_job again = {.run = run_and_submit, .drop = note_drop, .user = j};

    note(user);
    if (atomic_fetch_sub(&left, 1) > 1)
        (void)gbx_io_submit(j->scene->io, &again);
    else
        (void)sem_post(&j->scene->entered);
}

TEST(job__may_submit_the_next_one)
{
    job j;
    scene s;
    begin(&s, 1);

    assert_true(submit(&s, run_and_submit, &j, 7));
    wait_for(&s.entered);
    gbx_io_stop(s.io);

    assert_int_equal(s.ran, 10);
}

/* ---- many threads --------------------------------------------------------- */

typedef struct crowd {
    gbx_io *io;
    _Atomic size_t taken;
    _Atomic size_t ended;
} crowd;

static void count_end(void *user)
{
    crowd *c = user;

    (void)atomic_fetch_add(&c->ended, 1);
}

static void *submit_many(void *arg)
{
    crowd *c = arg;
    gbx_io_job io_job = {.run = count_end, .drop = count_end, .user = c};

    for (int i = 0; i < 2000; i++)
        if (gbx_io_submit(c->io, &io_job))
            (void)atomic_fetch_add(&c->taken, 1);
    return NULL;
}

TEST(many_threads__each_job_that_was_taken_ends_once)
{
    pthread_t threads[4];
    crowd c = {.io = gbx_io_start(16)};
    assert_non_null(c.io);

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &c), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    gbx_io_stop(c.io);

    assert_true(atomic_load(&c.taken) > 0);
    assert_int_equal(atomic_load(&c.ended), atomic_load(&c.taken));
}

TEST_MAIN(NULL, NULL)

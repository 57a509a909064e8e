/* SPDX-License-Identifier: MIT */
/* Where processes and threads wake up; on a machine with one processor nothing is done. */
#include "base/thread.h"
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static cpu_set_t all;

static bool has_several(void)
{
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    return CPU_COUNT(&all) > 1;
}

static void need_several(void)
{
    if (!has_several())
        skip();
}

/* The n-th of those that we may run on. */
static size_t processor(int n)
{
    size_t cpu = 0;

    while (!CPU_ISSET(cpu, &all) || n-- > 0)
        cpu++;
    return cpu;
}

static void hold(pid_t pid, size_t cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(pid, sizeof one, &one), 0);
}

static void check_free(pid_t pid)
{
    cpu_set_t now;

    assert_int_equal(sched_getaffinity(pid, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&now, &all));
}

static void check_held(pid_t pid, size_t cpu)
{
    cpu_set_t now;

    assert_int_equal(sched_getaffinity(pid, sizeof now, &now), 0);
    assert_int_equal(CPU_COUNT(&now), 1);
    assert_true(CPU_ISSET(cpu, &now));
}

/* ---- another process ------------------------------------------------------------ */

typedef struct sleeper {
    pid_t pid;
    int ask, answer;
} sleeper;

/* Says on which processor it has woken up. */
static _Noreturn void sleep_and_tell(int ask, int answer)
{
    char byte;

    while (read(ask, &byte, 1) == 1) {
        uint32_t cpu = (uint32_t)sched_getcpu();

        if (write(answer, &cpu, sizeof cpu) != (ssize_t)sizeof cpu)
            _exit(1);
    }
    _exit(0);
}

static sleeper make_sleeper(void)
{
    int asks[2], answers[2];
    sleeper s;

    assert_int_equal(pipe(asks), 0);
    assert_int_equal(pipe(answers), 0);
    s.pid = fork();
    assert_true(s.pid >= 0);
    if (s.pid == 0) {
        (void)close(asks[1]);
        sleep_and_tell(asks[0], answers[1]);
    }
    (void)close(asks[0]);
    (void)close(answers[1]);
    s.ask = asks[1];
    s.answer = answers[0];
    return s;
}

static size_t wake(const sleeper *s)
{
    uint32_t cpu;

    assert_int_equal(write(s->ask, "", 1), 1);
    assert_int_equal(read(s->answer, &cpu, sizeof cpu), sizeof cpu);
    return cpu;
}

static void end_sleeper(const sleeper *s)
{
    int status;

    (void)close(s->ask);
    (void)close(s->answer);
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
}

TEST(here__is_where_a_sleeping_process_wakes_up)
{
    cpu_set_t before;
    sleeper s;

    need_several();
    s = make_sleeper();
    for (int n = 0; n < 2; n++) {
        hold(s.pid, processor(1 - n));
        assert_int_equal(wake(&s), processor(1 - n));
        assert_int_equal(sched_setaffinity(s.pid, sizeof all, &all), 0);

        hold(0, processor(n));
        assert_true(gbx_cpu_here(s.pid, &before));
        check_held(s.pid, processor(n));
        assert_int_equal(wake(&s), processor(n));
        gbx_cpu_anywhere(s.pid, &before);
        check_free(s.pid);
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    end_sleeper(&s);
}

TEST(here__leaves_alone_who_has_one_processor_or_another)
{
    cpu_set_t before;
    sleeper s;

    need_several();
    s = make_sleeper();
    hold(0, processor(0));
    hold(s.pid, processor(0));
    assert_false(gbx_cpu_here(s.pid, &before));
    hold(s.pid, processor(1));
    assert_false(gbx_cpu_here(s.pid, &before));
    check_held(s.pid, processor(1));
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    end_sleeper(&s);
}

TEST(here__is_nothing_for_who_is_not_there)
{
    cpu_set_t before;
    sleeper s = make_sleeper();

    end_sleeper(&s);
    assert_false(gbx_cpu_here(s.pid, &before));
    assert_false(gbx_cpu_here(0, &before));
    assert_false(gbx_cpu_here(-1, &before));
}

/* ---- this thread ----------------------------------------------------------------- */

TEST(stay__lasts_until_the_thread_roams)
{
    cpu_set_t now;

    need_several();
    for (int i = 0; i < 2; i++) {
        gbx_cpu_stay();
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        assert_int_equal(CPU_COUNT(&now), 1);
        gbx_cpu_stay(); /* what it was before is not forgotten */
        gbx_cpu_roam();
        check_free(0);
    }
}

TEST(roam__leaves_what_others_have_decided)
{
    need_several();
    hold(0, processor(1));
    gbx_cpu_roam();
    check_held(0, processor(1));
    gbx_cpu_stay(); /* there is nowhere else */
    gbx_cpu_roam();
    check_held(0, processor(1));
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void *stay_and_end(void *arg)
{
    gbx_cpu_stay();
    return NULL;
}

TEST(stay__is_of_one_thread)
{
    pthread_t other;

    need_several();
    assert_int_equal(pthread_create(&other, NULL, stay_and_end, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    check_free(0);
    gbx_cpu_roam();
    check_free(0);
}

int main(void)
{
    if (!has_several())
        (void)puts("there is one processor to run on: nothing to choose from");
    return tests_run(NULL, NULL);
}

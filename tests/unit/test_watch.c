/* SPDX-License-Identifier: MIT */
/* watch - a template that hangs is ended, and a kill for want of memory is told from any
 * other. */
#include "base/clock.h"
#include "base/timeouts.h"
#include "puppet.h"
#include "scratch.h"
#include "test.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS (INT64_C(1000) * GBX_NS_PER_MS)

/* The template is a child that does what it is told; one FORK is under way. */
typedef struct stage {
    puppet p;
    pid_t child;
} stage;

/* Was the child killed? If not, it dies of another signal now. */
static bool end(stage *s)
{
    siginfo_t info = {0};

    kill(s->child, SIGTERM);
    kill(s->child, SIGCONT);
    assert_int_equal(waitid(P_PID, (id_t)s->child, &info, WEXITED | WNOWAIT), 0);
    s->p.engine.waiting = (gbx_run_list){0};
    puppet_cleanup(&s->p); /* reaps it */
    return info.si_status == SIGKILL;
}

static void begin(stage *s, void (*does)(void), int64_t asked_before_ns)
{
    gbx_engine *e = &s->p.engine;
    gbx_options options = GBX_OPTIONS_INIT;

    options.pool_size = 1;
    puppet_init(&s->p, &options);
    assert_true(puppet_say_hello(&s->p));
    assert_non_null(LIST_FIRST(&e->workers));
    LIST_FIRST(&e->workers)->asked_ns -= asked_before_ns;
    s->child = fork();
    if (s->child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            does();
    }
    assert_true(s->child > 0);
    s->p.template->process.pid = s->child;
    s->p.template->process.pidfd = (int)syscall(SYS_pidfd_open, s->child, 0);
    if (s->p.template->process.pidfd < 0) { /* under valgrind */
        (void)end(s);
        (void)waitpid(s->child, NULL, 0);
        print_message("skipped: no pidfd, as under valgrind\n");
        skip();
    }
}

static void watch(stage *s, int times)
{
    while (times-- > 0)
        gbx_watch_templates(&s->p.engine);
}

static void sleeps(void)
{
    (void)pause();
}

static void computes(void)
{
}

/* ---- tests ------------------------------------------------------------------ */

TEST(watch__leaves_one_that_loads_a_dataset)
{
    stage s = {0};

    begin(&s, sleeps, 60 * SECOND_NS);
    s.p.engine.change.kind = GBX_CHANGE_UPDATE;

    watch(&s, 10);

    assert_false(end(&s));
}

TEST(watch__leaves_one_that_may_still_answer)
{
    stage s = {0};

    begin(&s, sleeps, gbx_timeout_ns(GBX_TIMEOUT_FORK) - 5 * SECOND_NS);

    watch(&s, 10);

    assert_false(end(&s));
}

TEST(watch__ends_whatever_has_not_answered_for_long)
{
    stage s = {0};

    begin(&s, computes, gbx_timeout_ns(GBX_TIMEOUT_FORK) + SECOND_NS);

    watch(&s, 1);

    assert_true(end(&s));
}

TEST(watch__ends_a_retired_one_too)
{
    stage s = {0};

    begin(&s, sleeps, gbx_timeout_ns(GBX_TIMEOUT_FORK) + SECOND_NS);
    gbx_template_retire(s.p.template);

    watch(&s, 1);

    assert_true(end(&s));
}

/* ---- kills for want of memory --------------------------------------------- */

/* As long as the kernel's own. */
TEST_WITH(scratch_begin, scratch_end, kills__everywhere_are_what_the_machine_counts)
{
    gbx_cgroup_world world = {.proc = scratch};
    char text[6100];

    assert_int_equal(gbx_cgroup_kills_everywhere(&world), 0);
    (void)snprintf(text, sizeof text, "%06000d\noom_kill 7\nzswpin 9\n", 0);
    scratch_write("vmstat", text);
    assert_int_equal(gbx_cgroup_kills_everywhere(&world), 7);
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/*
 * A template is forked by a process that lives for that alone. Whoever kills processes (the
 * kernel, for want of memory) may choose that one, as soon as there is the other.
 */
#include "calls.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What the host says of itself by its status. */
enum { ALL_WELL = 0, NOT_TRACED = 10, NO_ENGINE, TOLD_WHY, NO_CALL, LEFT_A_CHILD };

/* An engine, a call and its end; then there is no child, known or not. */
static _Noreturn void be_host(void)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call = call_of("() => 1");
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit(NOT_TRACED);
    (void)raise(SIGSTOP);
    if (gbx_engine_new(&options, &engine, &error) != GBX_OK)
        _exit(strstr(error.message, "the process that starts it was killed") != NULL
                  ? TOLD_WHY
                  : NO_ENGINE);
    if (call_code(engine, &call) != GBX_CODE_VALUE)
        _exit(NO_CALL);
    gbx_engine_free(engine);
    _exit(waitpid(-1, NULL, 0) > 0 ? LEFT_A_CHILD : ALL_WELL);
}

typedef struct trace {
    pid_t host;
    pid_t helper; /* forked by the host; 0 until then */
    bool at_birth;
    bool killed;
    pid_t template;
} trace;

static pid_t new_one(pid_t pid)
{
    unsigned long made = 0;

    return ptrace(PTRACE_GETEVENTMSG, pid, NULL, &made) < 0 ? 0 : (pid_t)made;
}

/* pid has forked. The helper has no moment to do anything, or to say whom it has forked. */
static void on_fork(trace *t, pid_t pid)
{
    bool is_first = t->helper == 0;

    if (is_first)
        t->helper = new_one(pid);
    else if (pid == t->helper)
        t->template = new_one(pid);
    if (t->at_birth ? is_first : pid == t->helper) {
        assert_int_equal(kill(t->helper, SIGKILL), 0);
        t->killed = true;
    }
}

/* One stop of one thread; the template goes its own way. */
static void on_stop(trace *t, pid_t pid, int status)
{
    int sig = WSTOPSIG(status);
    int event = status >> 16;

    if (event == PTRACE_EVENT_FORK)
        on_fork(t, pid);
    if (event != 0 || sig == SIGSTOP || sig == SIGTRAP)
        sig = 0;
    (void)ptrace(pid == t->template ? PTRACE_DETACH : PTRACE_CONT, pid, NULL, sig);
}

/* Until the host has ended: its status. */
static int follow(trace *t)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status))
            on_stop(t, pid, status);
        else if (pid == t->host)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    return -1;
}

/* What becomes of a host whose helper is killed. */
static void check_ends(bool at_birth, int expected)
{
    trace t = {.at_birth = at_birth};
    int status;

    t.host = fork();
    assert_true(t.host >= 0);
    if (t.host == 0)
        be_host();
    assert_int_equal(waitpid(t.host, &status, 0), t.host);
    if (WIFEXITED(status)) {
        assert_int_equal(WEXITSTATUS(status), NOT_TRACED);
        print_message("no process may be traced here\n");
        skip();
    }
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, t.host, NULL,
                            PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE |
                                PTRACE_O_EXITKILL),
                     0);
    assert_int_equal(ptrace(PTRACE_CONT, t.host, NULL, 0), 0);

    assert_int_equal(follow(&t), expected);
    assert_true(t.killed);
}

static void test_start__outlives_the_process_that_has_forked_the_template(void **state)
{
    (void)state;
    check_ends(false, ALL_WELL);
}

static void test_start__says_that_the_process_was_killed_before_it_forked(void **state)
{
    (void)state;
    check_ends(true, TOLD_WHY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start__outlives_the_process_that_has_forked_the_template),
        cmocka_unit_test(test_start__says_that_the_process_was_killed_before_it_forked),
    };

    return cmocka_run_group_tests_name("starts of which a part is killed", tests, NULL,
                                       NULL);
}

/* SPDX-License-Identifier: MIT */
/* turns - become short and usual again, and nothing else about a thread changes. */
#include "base/turns.h"

#include <linux/sched/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct sched_attr look(void)
{
    struct sched_attr attr;

    memset(&attr, 0, sizeof attr);
    assert_int_equal(syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0), 0);
    return attr;
}

/* Ten milliseconds, to see whether they can be asked for at all. */
static bool are_known(void)
{
    struct sched_attr attr = look();
    bool known;

    attr.sched_runtime = 10000000;
    known = syscall(SYS_sched_setattr, 0, &attr, 0) == 0 &&
            look().sched_runtime == 10000000;
    gbx_turns_make_usual();
    return known;
}

static void test_turns__are_short_and_usual_again(void **state)
{
    uint64_t usual = look().sched_runtime;
    (void)state;

    if (!are_known()) {
        puts(
            "skipped: this kernel knows no turns of its own for a thread (Linux 6.12)");
        skip();
    }
    gbx_turns_make_short();
    assert_in_range(look().sched_runtime, 100000, 1000000);
    gbx_turns_make_usual();
    assert_int_equal(look().sched_runtime, usual);
}

static void test_turns__leave_the_priority_alone(void **state)
{
    pid_t child = fork(); /* what is lowered cannot be raised again */
    int status;
    (void)state;

    if (child == 0) {
        if (setpriority(PRIO_PROCESS, 0, 7) < 0)
            _exit(1);
        gbx_turns_make_short();
        _exit(getpriority(PRIO_PROCESS, 0) == 7 && look().sched_policy == 0 ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns__are_short_and_usual_again),
        cmocka_unit_test(test_turns__leave_the_priority_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Without the kernel's help: every system call in the life of an engine fails once,
 * with each error it may meet, in the host and in what it forks. */
#include "support/failing_calls.h"
#include "support/fault_session.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void arm(const void *what, size_t nth)
{
    failing_calls_arm((size_t)((const failing_call *)what - failing_calls), nth);
}

TEST(every_call__can_fail)
{
    size_t total = 0;
    size_t kinds = 0;

    for (size_t i = 0; i < failing_calls_count; i++) {
        char name[96];
        fault call = {arm, failing_calls_disarm, &failing_calls[i], name, false};
        size_t count;

        (void)snprintf(name, sizeof name, "%s with %s", failing_calls[i].name,
                       strerrorname_np(failing_calls[i].error));
        count = fault_sweep(&call);
        total += count;
        kinds += count > 0;
        if (count == 0)
            print_message("%s: never called\n", name);
    }

    print_message("%zu calls of %zu kinds failed, one at a time\n", total, kinds);
    /* event_assign() is needed only where a worker does not answer at once. */
    assert_true(kinds >= failing_calls_count - 1);
}

TEST_MAIN(NULL, NULL)

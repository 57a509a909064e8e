/* SPDX-License-Identifier: MIT */
/* Without memory: every allocation in the life of an engine fails once, the library's
 * and libevent's. */
#include "support/failing_malloc.h"
#include "support/fault_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void arm(const void *what, size_t nth)
{
    (void)what;
    failing_malloc_arm(nth, FAIL_ONCE);
}

static void test_every_allocation__can_fail(void **state)
{
    const fault allocation = {arm, failing_malloc_disarm, NULL, "allocation"};
    size_t count;
    (void)state;

    count = fault_sweep(&allocation);

    print_message("%zu allocations failed, one at a time\n", count);
    assert_in_range(count, 30, 3000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation__can_fail),
    };

    failing_malloc_take_libevent();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

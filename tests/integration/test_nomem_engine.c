/* SPDX-License-Identifier: MIT */
/* Without memory: every allocation in the life of an engine fails once, the library's
 * and libevent's. */
#include "support/failing_malloc.h"
#include "support/fault_session.h"

#include "calls.h"
#include "test.h"

#include <glovebox/drive.h>
#include <glovebox/host.h>
#include <poll.h>
#include <stdlib.h>

static void arm(const void *what, size_t nth)
{
    failing_malloc_arm(nth, FAIL_ONCE);
}

TEST(every_allocation__can_fail)
{
    const fault allocation = {arm, failing_malloc_disarm, NULL, "allocation", true};
    size_t count;

    count = fault_sweep(&allocation);

    print_message("%zu allocations failed, one at a time\n", count);
    assert_in_range(count, 30, 3000);
}

static void on_call(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    *(gbx_request *)user = call->request;
}

static gbx_result *step(gbx_drive *drive)
{
    struct pollfd fd = {.fd = gbx_drive_fd(drive), .events = POLLIN};

    assert_int_equal(poll(&fd, 1, 20000), 1);
    return gbx_drive_step(drive);
}

TEST(an_answer_that_cannot_be_kept__ends_the_call)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call = call_of("async () => await f()");
    gbx_result *result = NULL;
    gbx_request request = 0;
    gbx_drive *drive;
    gbx_engine *engine;

    options.limits.timeout_ms = 60000;
    engine = engine_start(&options);
    assert_int_equal(gbx_engine_expose(engine, "f", on_call, &request, NULL), GBX_OK);
    assert_int_equal(gbx_drive_new(engine, &call, &drive, NULL, NULL), GBX_OK);
    while (request == 0)
        assert_null(step(drive));
    /* The worker waits, and says nothing more. */
    while (poll(&(struct pollfd){.fd = gbx_drive_fd(drive), .events = POLLIN}, 1, 200) >
           0)
        assert_null(gbx_drive_step(drive));

    failing_malloc_arm(1, FAIL_ONCE);
    assert_int_equal(gbx_answer(engine, request, "2", 1, NULL), GBX_OK);
    assert_true(failing_malloc_disarm());
    while (result == NULL)
        result = step(drive);

    assert_int_equal(gbx_result_code(result), GBX_CODE_UNAVAILABLE);
    gbx_result_free(result);
    gbx_drive_free(drive);
    gbx_engine_free(engine);
}

int main(void)
{
    failing_malloc_take_libevent();
    return tests_run(NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* fail - one way to fail: a status, a message that always fits, errno kept. */
#include "base/clock.h"
#include "base/fail.h"
#include "test.h"

#include <errno.h>

TEST(fail__fills_status_and_message)
{
    gbx_error error;

    assert_int_equal(gbx_fail(&error, GBX_E_USAGE, "bad '%s' at %d", "x", 7),
                     GBX_E_USAGE);

    assert_int_equal(error.status, GBX_E_USAGE);
    assert_string_equal(error.message, "bad 'x' at 7");
    assert_int_equal(error.os_errno, 0);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
}

TEST(fail__needs_no_one_to_listen)
{
    assert_int_equal(gbx_fail(NULL, GBX_E_NOMEM, "nothing"), GBX_E_NOMEM);
    assert_int_equal(gbx_fail_at(NULL, GBX_E_DATA, 1, 2, "nothing"), GBX_E_DATA);
}

TEST(fail__keeps_errno_and_tells_it_for_os_errors_alone)
{
    gbx_error error;
    errno = EMFILE;

    (void)gbx_fail(&error, GBX_E_OS, "cannot open");
    assert_int_equal(error.os_errno, EMFILE);
    (void)gbx_fail(&error, GBX_E_DATA, "not JSON");

    assert_int_equal(error.os_errno, 0);
    assert_int_equal(errno, EMFILE);
}

TEST(fail__cuts_a_message_that_does_not_fit)
{
    char text[GBX_ERROR_MESSAGE_SIZE * 2];
    gbx_error error;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;

    (void)gbx_fail(&error, GBX_E_USAGE, "%s", text);

    assert_int_equal(strlen(error.message), GBX_ERROR_MESSAGE_SIZE - 1);
}

TEST(fail_at__carries_the_position)
{
    gbx_error error;

    (void)gbx_fail_at(&error, GBX_E_DATA, 3, 14, "expected ','");

    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 14);
    assert_string_equal(error.message, "expected ','");
}

TEST(call_reason__names_the_linux_that_has_the_call)
{
    static const int lacks[] = {ENOSYS, EPERM};
    char text[GBX_CALL_REASON_SIZE];

    for (size_t i = 0; i < 2; i++) {
        (void)gbx_fail_call_reason("pidfd_open", lacks[i], text);
        assert_memory_equal(text, "pidfd_open: ", 12);
        assert_non_null(strstr(text, strerror(lacks[i])));
        assert_non_null(strstr(text, "Linux 5.3 or later"));
        assert_non_null(strstr(text, "seccomp profile"));
    }
    assert_non_null(strstr(gbx_fail_call_reason("close_range", ENOSYS, text),
                           "Linux " GBX_LINUX_MIN " or later"));
}

TEST(call_reason__blames_no_kernel_for_another_error)
{
    char text[GBX_CALL_REASON_SIZE];

    assert_string_equal(gbx_fail_call_reason("pidfd_open", EMFILE, text),
                        "pidfd_open: Too many open files");
    assert_string_equal(gbx_fail_call_reason("unshare", EPERM, text),
                        "unshare: Operation not permitted");
}

TEST(clock__does_not_go_back)
{
    int64_t before = gbx_clock_now_ns();

    for (int i = 0; i < 1000; i++) {
        int64_t now = gbx_clock_now_ns();

        assert_true(now >= before);
        before = now;
    }
}

TEST(clock__counts_wall_time_from_1970)
{
    /* Between 2024 and 2100: the unit is the millisecond. */
    assert_true(gbx_clock_wall_ms() > INT64_C(1704067200000));
    assert_true(gbx_clock_wall_ms() < INT64_C(4102444800000));
}

TEST_MAIN(NULL, NULL)

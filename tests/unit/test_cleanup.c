/* SPDX-License-Identifier: MIT */
/* cleanup - what a scope holds goes when the scope is left, unless it was taken. */
#include "base/cleanup.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static int open_one(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

static void test_fd_close__closes_and_forgets(void **state)
{
    int fd = open_one();
    int copy = fd;
    (void)state;

    gbx_fd_close(&fd);

    assert_int_equal(fd, -1);
    assert_false(is_open(copy));
}

static void test_fd_close__ignores_none(void **state)
{
    int fd = -1;
    (void)state;

    gbx_fd_close(&fd);

    assert_int_equal(fd, -1);
}

static void test_fd_take__moves_the_descriptor_out(void **state)
{
    int taken = -1;
    (void)state;

    {
        GBX_CLEANUP(gbx_fd_close) int fd = open_one();

        taken = gbx_fd_take(&fd);
        assert_int_equal(fd, -1);
    }

    assert_true(is_open(taken));
    gbx_fd_close(&taken);
}

static void test_scope__closes_what_was_not_taken(void **state)
{
    int copy;
    (void)state;

    {
        GBX_CLEANUP(gbx_fd_close) int fd = open_one();

        copy = fd;
    }

    assert_false(is_open(copy));
}

static void test_scope__frees_memory_of_any_pointer_type(void **state)
{
    GBX_CLEANUP(gbx_free) char *text = malloc(16);
    GBX_CLEANUP(gbx_free) int *numbers = calloc(4, sizeof *numbers);
    GBX_CLEANUP(gbx_free) void *nothing = NULL;
    (void)state;

    /* The leak checkers of the sanitizer and valgrind runs are the assertion. */
    assert_non_null(text);
    assert_non_null(numbers);
    assert_null(nothing);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fd_close__closes_and_forgets),
        cmocka_unit_test(test_fd_close__ignores_none),
        cmocka_unit_test(test_fd_take__moves_the_descriptor_out),
        cmocka_unit_test(test_scope__closes_what_was_not_taken),
        cmocka_unit_test(test_scope__frees_memory_of_any_pointer_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

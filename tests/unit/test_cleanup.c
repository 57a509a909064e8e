/* SPDX-License-Identifier: MIT */
/* cleanup - what a scope holds goes when the scope is left, unless it was taken. */
#include "base/cleanup.h"
#include "test.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

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

TEST(fd_close__closes_and_forgets)
{
    int fd = open_one();
    int copy = fd;

    gbx_fd_close(&fd);

    assert_int_equal(fd, -1);
    assert_false(is_open(copy));
}

TEST(fd_close__ignores_none)
{
    int fd = -1;

    gbx_fd_close(&fd);

    assert_int_equal(fd, -1);
}

TEST(fd_take__moves_the_descriptor_out)
{
    int taken = -1;

    {
        GBX_CLEANUP(gbx_fd_close) int fd = open_one();

        taken = gbx_fd_take(&fd);
        assert_int_equal(fd, -1);
    }

    assert_true(is_open(taken));
    gbx_fd_close(&taken);
}

TEST(fd_start__is_text_that_ends_where_there_is_no_room)
{
    static const struct {
        const char *path;
        ssize_t len;
    } rows[] = {{"/dev/null", 0}, {"/dev/zero", 7}, {"/dev/missing", -1}, {"/dev", -1}};

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        char text[9];

        memset(text, 'x', sizeof text);
        assert_int_equal(gbx_fd_start(AT_FDCWD, rows[i].path, text, 8), rows[i].len);
        assert_int_equal(text[rows[i].len > 0 ? rows[i].len : 0], 0);
        assert_int_equal(text[8], 'x');
    }
}

TEST(scope__closes_what_was_not_taken)
{
    int copy;

    {
        GBX_CLEANUP(gbx_fd_close) int fd = open_one();

        copy = fd;
    }

    assert_false(is_open(copy));
}

TEST(scope__frees_memory_of_any_pointer_type)
{
    GBX_CLEANUP(gbx_free) char *text = malloc(16);
    GBX_CLEANUP(gbx_free) int *numbers = calloc(4, sizeof *numbers);
    GBX_CLEANUP(gbx_free) void *nothing = NULL;

    /* The leak checkers of the sanitizer and valgrind runs are the assertion. */
    assert_non_null(text);
    assert_non_null(numbers);
    assert_null(nothing);
}

TEST_MAIN(NULL, NULL)

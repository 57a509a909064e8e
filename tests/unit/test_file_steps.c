/* SPDX-License-Identifier: MIT */
/*
 * file_steps - what happens to a file between the steps of reading it, and what the
 * kernel is asked. The linker's --wrap leads the module's calls through here.
 */
#include "base/cleanup.h"
#include "file_tree.h"
#include "scratch.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void (*meanwhile)(void);

static struct watch {
    meanwhile after_walk;
    meanwhile before_read;
    int walk_error; /* of openat2, so many times */
    int walk_errors;
    int open_error;
    int read_error;
    int read_errors;
    size_t walks;
    size_t opens;
    struct open_how how; /* of the last walk */
    int open_flags;
    char opened[64];
} watch;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    va_list args;
    long a[4];
    long result;

    va_start(args, number);
    for (size_t i = 0; i < 4; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number != SYS_openat2)
        return __real_syscall(number, a[0], a[1], a[2], a[3]);
    watch.walks++;
    memcpy(&watch.how, (const void *)a[2], sizeof watch.how); /* NOLINT */
    if (watch.walk_errors > 0) {
        watch.walk_errors--;
        errno = watch.walk_error;
        return -1;
    }
    result = __real_syscall(number, a[0], a[1], a[2], a[3]);
    if (watch.after_walk != NULL)
        watch.after_walk();
    return result;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    if (strncmp(path, "/tmp/", 5) == 0) /* the test's own: it makes what it opens */
        return __real_open(path, flags, 0644);
    watch.opens++;
    watch.open_flags = flags;
    (void)snprintf(watch.opened, sizeof watch.opened, "%s", path);
    if (watch.open_error != 0) {
        errno = watch.open_error;
        return -1;
    }
    return __real_open(path, flags, 0);
}

ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size)
{
    if (watch.before_read != NULL)
        watch.before_read();
    if (watch.read_errors > 0) {
        watch.read_errors--;
        errno = watch.read_error;
        return -1;
    }
    return __real_read(fd, to, size);
}

/* Read while watched; what was noted stays, what was to happen is over. */
static bool reads(const char *path, const char *code, const char *contents)
{
    gbx_msg_answer answer = {0};
    gbx_buf bytes;
    bool as_expected;

    tree_read(tree_listing, path, &bytes, &answer);
    as_expected =
        tree_has_code(&answer, code) &&
        (*code != '\0' || (answer.bytes.len == strlen(contents) &&
                           memcmp(answer.bytes.data, contents, answer.bytes.len) == 0));
    if (!as_expected)
        print_message("'%s': %.*s\n", path, (int)bytes.len, (const char *)bytes.data);
    watch.after_walk = watch.before_read = NULL;
    watch.walk_errors = watch.open_error = watch.read_errors = 0;
    gbx_buf_cleanup(&bytes);
    return as_expected;
}

static int renew(void **state)
{
    (void)tree_begin(state);
    scratch_put("data/f", "inside", 6);
    watch = (struct watch){0};
    return 0;
}

/* ---- what the kernel is asked --------------------------------------------------- */

TEST(kernel__is_asked_to_refuse_in_all_four_ways)
{
    assert_true(reads("./data/f", "", "inside"));

    assert_int_equal(watch.walks, 1);
    assert_int_equal(watch.how.resolve, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                            RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV);
    assert_int_equal(watch.how.flags, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

TEST(file__is_opened_by_its_inode_and_never_by_its_name)
{
    assert_true(reads("./data/f", "", "inside"));

    assert_int_equal(watch.opens, 1);
    assert_memory_equal(watch.opened, "/proc/self/fd/", 14);
    assert_int_equal(watch.open_flags, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

TEST(what_is_no_file__is_never_opened)
{
    static const char *const paths[] = {"fifo", "socket",   "zero",        "disk",
                                        "sub",  "link-out", "policy.json", "nothing"};

    for (size_t i = 0; i < GBX_COUNTOF(paths); i++) {
        gbx_msg_answer answer = {0};
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes;

        tree_read(tree_listing, paths[i], &bytes, &answer);
        assert_true(answer.is_error != 0);
    }

    assert_int_equal(watch.opens, 0);
}

/* ---- where there is no openat2 ---------------------------------------------------- */

TEST(openat2__that_is_missing_means_that_nothing_is_read)
{
    static const struct {
        int error;
        const char *code;
    } rows[] = {
        {ENOSYS, "ERR_FILE_UNAVAILABLE"}, /* a kernel before 5.6 */
        {E2BIG, "ERR_FILE_UNAVAILABLE"},
        {EINVAL, "ERR_FILE_UNAVAILABLE"}, /* a flag it does not know */
        {EPERM, "EACCES"},                /* a container's filter */
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        watch.walk_error = rows[i].error;
        watch.walk_errors = 1000;
        assert_true(reads("f", rows[i].code, ""));
    }

    assert_int_equal(watch.opens, 0);
}

TEST(walk__that_a_rename_disturbed_is_tried_again)
{
    watch.walk_error = EAGAIN;
    watch.walk_errors = 5;
    assert_true(reads("f", "", "inside"));
    watch.walk_error = EINTR;
    watch.walk_errors = 5;
    assert_true(reads("f", "", "inside"));
}

TEST(walk__that_is_always_disturbed_ends)
{
    watch.walk_error = EAGAIN;
    watch.walk_errors = 1000000;

    assert_true(reads("f", "EAGAIN", ""));

    assert_true(watch.walks < 100);
}

TEST(host__that_lacks_something_says_so_in_its_own_words)
{
    static const struct {
        int error;
        const char *code;
    } rows[] = {
        {EMFILE, "EMFILE"}, {ENFILE, "EMFILE"}, {ENOMEM, "ENOMEM"},
        {EIO, "EIO"},       {ENXIO, "EIO"},     {ENOENT, "EIO"}, /* no /proc */
        {EACCES, "EACCES"}, {EAGAIN, "EAGAIN"},                  /* a lease */
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        watch.open_error = rows[i].error;
        assert_true(reads("./data/f", rows[i].code, ""));
    }
}

TEST(read__that_fails_gives_no_part_of_the_file)
{
    watch.read_error = EIO;
    watch.read_errors = 1;
    assert_true(reads("f", "EIO", ""));
    watch.read_error = EINTR;
    watch.read_errors = 3;
    assert_true(reads("f", "", "inside"));
}

/* ---- what others do meanwhile ----------------------------------------------------- */

static void swap_for_link(void)
{
    assert_int_equal(unlink(scratch_path("data/f")), 0);
    assert_int_equal(symlink("../outside/secret.txt", scratch_path("data/f")), 0);
}

static void swap_for_fifo(void)
{
    assert_int_equal(unlink(scratch_path("data/f")), 0);
    assert_int_equal(mkfifo(scratch_path("data/f"), 0644), 0);
}

static void swap_for_other(void)
{
    scratch_put("data/new", "replaced", 8);
    assert_int_equal(rename(scratch_path("data/new"), scratch_path("data/f")), 0);
}

static void swap_folder_for_link(void)
{
    assert_int_equal(rename(scratch_path("data"), scratch_path("gone")), 0);
    assert_int_equal(symlink("outside", scratch_path("data")), 0);
}

TEST(file__swapped_after_the_walk_is_the_one_that_was_found)
{
    static const meanwhile swaps[] = {swap_for_link, swap_for_fifo, swap_for_other,
                                      swap_folder_for_link};

    for (size_t i = 0; i < GBX_COUNTOF(swaps); i++) {
        watch.after_walk = swaps[i];
        assert_true(reads("./data/f", "", "inside"));
        (void)tree_end(state);
        (void)renew(state);
    }
}

static void grow_a_little(void)
{
    scratch_put("data/f", "inside and more", 15);
    watch.before_read = NULL;
}

static void grow_past_the_limit(void)
{
    assert_int_equal(truncate(scratch_path("data/f"), 1 << 30), 0);
    watch.before_read = NULL;
}

static void shrink(void)
{
    assert_int_equal(truncate(scratch_path("data/f"), 2), 0);
    watch.before_read = NULL;
}

/* One byte longer at each look. */
static void grow_for_ever(void)
{
    int fd = open(scratch_path("data/f"), O_WRONLY | O_APPEND | O_CLOEXEC);

    assert_int_equal(write(fd, "x", 1), 1);
    (void)close(fd);
}

TEST(size__is_what_was_read_and_not_what_the_file_was_said_to_be)
{
    watch.before_read = grow_a_little;
    assert_true(reads("f", "", "inside and more"));
    watch.before_read = shrink;
    assert_true(reads("f", "", "in"));
    watch.before_read = grow_past_the_limit;
    assert_true(reads("f", "ERR_FILE_TOO_LARGE", ""));
}

TEST(file__that_grows_for_ever_ends_at_the_limit)
{
    watch.before_read = grow_for_ever;

    assert_true(reads("f", "ERR_FILE_TOO_LARGE", ""));
}

int main(void)
{
    if (!tree_can_be_read())
        return 77;
    tests_each(renew, tree_end);
    return tests_run(NULL, NULL);
}

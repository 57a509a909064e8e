/* SPDX-License-Identifier: MIT */
/* blobs - datasets by their hash: what others send, and what is found in a folder. */
#include "base/cleanup.h"
#include "remote/lessor.h"
#include "scratch.h"
#include "test.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint8_t sha256[GBX_SHA256_SIZE];

static gbx_blobs *blobs;

static size_t there(void)
{
    uint64_t bytes;

    return gbx_blobs_count(blobs, &bytes);
}

static void begin(uint64_t max, const char *folder)
{
    gbx_error err;

    blobs = gbx_blobs_new(max, folder, &err);
    if (blobs == NULL)
        fail_msg("%s", err.message);
}

static void end(void)
{
    gbx_blobs_free(blobs);
    blobs = NULL;
}

static gbx_span text_of(char c, size_t len)
{
    static uint8_t bytes[1024 * 1024];

    memset(bytes, c, len);
    return (gbx_span){bytes, len};
}

static void hash_of(char c, size_t len, sha256 ret)
{
    gbx_sha256_of(text_of(c, len).data, len, ret);
}

/* A blob of len times c, in pieces of 1000. Returns the descriptor. */
static int put(char c, size_t len)
{
    gbx_span bytes = text_of(c, len);
    gbx_blob *fill;
    gbx_error err;
    sha256 hash;
    int fd;

    hash_of(c, len, hash);
    fill = gbx_blobs_begin(blobs, hash, len, &err);
    if (fill == NULL)
        fail_msg("%s", err.message);
    for (size_t at = 0; at < len; at += 1000)
        if (!gbx_blob_put(fill, at,
                          (gbx_span){bytes.data + at,
                                     len - at < 1000 ? len - at : 1000}))
            break;
    fd = gbx_blob_end(fill);
    if (fd >= 0) {
        gbx_blobs_write(blobs, hash, fd, len);
        gbx_blobs_written(blobs, hash);
    }
    return fd;
}

static void keep(char c, size_t len)
{
    int fd = put(c, len);

    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static bool has(char c, size_t len)
{
    uint64_t size = 0;
    sha256 hash;
    int fd;

    hash_of(c, len, hash);
    fd = gbx_blobs_get(blobs, hash, &size);
    if (fd < 0)
        return false;
    assert_int_equal(size, len);
    (void)close(fd);
    return true;
}

static const char *file_of(char c, size_t len)
{
    char hex[GBX_SHA256_HEX_SIZE];
    char path[128];
    sha256 hash;

    hash_of(c, len, hash);
    gbx_sha256_print(hash, hex);
    (void)snprintf(path, sizeof path, "data/%s", hex);
    return scratch_path(path);
}

/* Says why the folder is refused. */
static void refuses(const char *folder, const char *because)
{
    gbx_error err;

    blobs = gbx_blobs_new(1000, folder, &err);
    assert_null(blobs);
    assert_int_equal(err.status, GBX_E_OS);
    if (strstr(err.message, because) == NULL)
        fail_msg("%s", err.message);
}

TEST(blobs__hold_sealed_bytes_that_each_caller_may_read)
{
    char text[4] = "";
    uint64_t bytes;
    uint64_t size;
    sha256 hash;
    int one;
    int two;

    begin(10000, NULL);
    one = put('a', 2500);
    hash_of('a', 2500, hash);
    two = gbx_blobs_get(blobs, hash, &size);
    assert_true(one >= 0 && two >= 0 && one != two);
    assert_int_equal(pread(one, text, 3, 2497), 3);
    assert_string_equal(text, "aaa");
    assert_int_equal(pread(two, text, 4, 2498), 2);
    assert_true(pwrite(one, "b", 1, 0) < 0);
    assert_true(ftruncate(one, 1) < 0);
    assert_int_equal(gbx_blobs_count(blobs, &bytes), 1);
    assert_int_equal(bytes, 2500);
    assert_int_equal(there(), 1);
    end();
    assert_int_equal(pread(two, text, 2, 0), 2); /* outlives the store */
    (void)close(one);
    (void)close(two);
}

TEST(blobs__are_there_only_with_their_hash)
{
    gbx_blob *fill;
    uint64_t bytes;
    sha256 hash;

    begin(10000, NULL);
    hash_of('a', 100, hash);
    fill = gbx_blobs_begin(blobs, hash, 100, NULL);
    assert_true(gbx_blob_put(fill, 0, text_of('b', 100)));
    assert_false(has('a', 100));
    assert_int_equal(gbx_blob_end(fill), -1);
    assert_false(has('a', 100));
    assert_false(has('b', 100));
    assert_int_equal(gbx_blobs_count(blobs, &bytes), 0);
    assert_int_equal(there(), 0);
    keep('a', 100); /* the lie has cost nothing that stays */
    keep('c', 9900);
    assert_true(has('a', 100));
    end();
}

TEST(blobs__take_no_byte_more_than_their_size_and_none_twice)
{
    static const struct {
        uint64_t offset;
        size_t len;
    } wrong[] = {{0, 101}, {1, 10}, {0, 0}, {UINT64_MAX, 10}, {100, 1}};
    gbx_blob *fill;
    sha256 hash;

    begin(10000, NULL);
    hash_of('a', 100, hash);
    for (size_t i = 0; i < GBX_COUNTOF(wrong); i++) {
        fill = gbx_blobs_begin(blobs, hash, 100, NULL);
        assert_false(gbx_blob_put(fill, wrong[i].offset, text_of('a', wrong[i].len)));
        assert_false(gbx_blob_put(fill, 0, text_of('a', 100)));
        assert_int_equal(gbx_blob_end(fill), -1);
    }
    fill = gbx_blobs_begin(blobs, hash, 100, NULL);
    assert_true(gbx_blob_put(fill, 0, text_of('a', 50)));
    assert_false(gbx_blob_put(fill, 0, text_of('a', 50)));
    assert_int_equal(gbx_blob_end(fill), -1);
    fill = gbx_blobs_begin(blobs, hash, 100, NULL);
    assert_true(gbx_blob_put(fill, 0, text_of('a', 99)));
    assert_int_equal(gbx_blob_end(fill), -1);
    keep('a', 100);
    end();
}

TEST(blobs__are_taken_once)
{
    gbx_blob *fill;
    gbx_error err;
    sha256 hash;

    begin(10000, NULL);
    hash_of('a', 100, hash);
    fill = gbx_blobs_begin(blobs, hash, 100, &err);
    assert_null(gbx_blobs_begin(blobs, hash, 100, &err));
    assert_int_equal(err.status, GBX_E_USAGE);
    assert_int_equal(gbx_blob_end(fill), -1);
    keep('a', 100);
    assert_null(gbx_blobs_begin(blobs, hash, 100, &err));
    assert_null(gbx_blobs_begin(blobs, hash, UINT64_MAX, &err));
    hash_of('b', 100, hash);
    assert_null(gbx_blobs_begin(blobs, hash, UINT64_MAX, &err));
    assert_int_equal(err.status, GBX_E_DATA);
    assert_non_null(strstr(err.message, "10000"));
    end();
}

TEST(blobs__make_room_by_the_least_recently_used)
{
    begin(1000, NULL);
    keep('a', 300);
    keep('b', 300);
    keep('c', 300);
    assert_true(has('a', 300));
    keep('d', 300);
    assert_false(has('b', 300));
    assert_true(has('a', 300) && has('c', 300) && has('d', 300));
    assert_int_equal(there(), 3);
    keep('e', 1000);
    assert_int_equal(there(), 1);
    end();
}

TEST(blobs__stop_streams_that_together_are_larger_than_the_limit)
{
    gbx_blob *fills[3];
    sha256 hash;

    begin(1000, NULL);
    for (int i = 0; i < 3; i++) {
        hash_of((char)('a' + i), 900, hash);
        fills[i] = gbx_blobs_begin(blobs, hash, 900, NULL);
        assert_non_null(fills[i]);
    }
    assert_true(gbx_blob_put(fills[0], 0, text_of('a', 500)));
    assert_true(gbx_blob_put(fills[1], 0, text_of('b', 500)));
    assert_false(gbx_blob_put(fills[2], 0, text_of('c', 1)));
    assert_false(gbx_blob_put(fills[0], 500, text_of('a', 400)));
    for (int i = 0; i < 3; i++)
        assert_int_equal(gbx_blob_end(fills[i]), -1);
    keep('d', 1000);
    end();
}

TEST(blobs__stay_in_a_folder_for_the_next_start_and_go_with_the_limit)
{
    struct stat st;

    begin(1000, scratch_path("data"));
    keep('a', 400);
    keep('b', 400);
    assert_int_equal(stat(file_of('a', 400), &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0600);
    end();
    begin(1000, scratch_path("data"));
    assert_int_equal(there(), 2);
    assert_true(has('a', 400) && has('b', 400));
    assert_true(has('a', 400));
    keep('c', 400);
    assert_int_equal(stat(file_of('b', 400), &st), -1);
    assert_int_equal(stat(file_of('a', 400), &st), 0);
    end();
    begin(500, scratch_path("data")); /* a smaller limit */
    assert_int_equal(there(), 1);
    assert_int_equal(access(file_of('a', 400), F_OK) + access(file_of('c', 400), F_OK),
                     -1);
    end();
}

TEST(blobs__check_the_hash_of_a_file_again)
{
    FILE *file;

    begin(1000, scratch_path("data"));
    keep('a', 400);
    keep('b', 400);
    end();
    file = fopen(file_of('a', 400), "r+e");
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(file_of('b', 400), 399), 0);
    begin(1000, scratch_path("data"));
    assert_int_equal(there(), 0);
    assert_int_equal(access(file_of('a', 400), F_OK), -1);
    keep('a', 400);
    assert_true(has('a', 400));
    end();
}

TEST(blobs__have_no_file_before_they_are_whole)
{
    gbx_blob *fill;
    sha256 hash;

    begin(1000, scratch_path("data"));
    hash_of('a', 400, hash);
    fill = gbx_blobs_begin(blobs, hash, 400, NULL);
    assert_true(gbx_blob_put(fill, 0, text_of('a', 200)));
    end(); /* as if it were killed */
    begin(1000, scratch_path("data"));
    assert_int_equal(there(), 0);
    end();
}

TEST(blobs__leave_no_file_if_they_go_while_it_is_written)
{
    sha256 hash;
    int fd;

    begin(1000, scratch_path("data"));
    fd = put('a', 600);
    hash_of('a', 600, hash);
    keep('b', 600); /* a goes */
    gbx_blobs_write(blobs, hash, fd, 600);
    assert_int_equal(access(file_of('a', 600), F_OK), 0);
    gbx_blobs_written(blobs, hash);
    assert_int_equal(access(file_of('a', 600), F_OK), -1);
    gbx_blobs_written(blobs, hash);
    (void)close(fd);
    end();
}

TEST(blobs__refuse_a_folder_with_what_is_not_theirs_and_leave_it)
{
    scratch_folder("data");
    assert_int_equal(chmod(scratch_path("data"), 0700), 0);
    scratch_write("data/notes.txt", "mine");
    refuses(scratch_path("data"), "notes.txt");
    assert_int_equal(access(scratch_path("data/notes.txt"), F_OK), 0);
    assert_int_equal(unlink(scratch_path("data/notes.txt")), 0);

    scratch_write("secret", "secret");
    assert_int_equal(symlink(scratch_path("secret"), file_of('a', 400)), 0);
    refuses(scratch_path("data"), "not a dataset");
    assert_int_equal(unlink(file_of('a', 400)), 0);
    assert_int_equal(chmod(scratch_path("secret"), 0600), 0);
    assert_int_equal(link(scratch_path("secret"), file_of('a', 400)), 0);
    refuses(scratch_path("data"), "not a dataset");
    assert_int_equal(unlink(file_of('a', 400)), 0);
    assert_int_equal(mkfifo(file_of('a', 400), 0600), 0);
    refuses(scratch_path("data"), "not a dataset");
    assert_int_equal(unlink(file_of('a', 400)), 0);

    begin(1000, scratch_path("data"));
    keep('a', 400);
    end();
    assert_int_equal(chmod(file_of('a', 400), 0644), 0);
    refuses(scratch_path("data"), "not a dataset");
    assert_int_equal(unlink(file_of('a', 400)), 0);
    assert_int_equal(chmod(scratch_path("data"), 0777), 0);
    refuses(scratch_path("data"), "others may write it");
    refuses(scratch_path("none/of/these"), "cannot open");
    assert_int_equal(access(scratch_path("secret"), F_OK), 0);
}

static bool write_map(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && gbx_fd_write(fd, text, strlen(text)) && close(fd) == 0;
}

/* A mount namespace with a disk of 64 KiB; false if that may not be. */
static bool mount_small_disk(void)
{
    bool is_root = geteuid() == 0;
    char users[32];
    char groups[32];

    (void)snprintf(users, sizeof users, "0 %u 1", (unsigned)geteuid());
    (void)snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWNS | (is_root ? 0 : CLONE_NEWUSER)) < 0 ||
        (!is_root && (!write_map("/proc/self/uid_map", users) ||
                      !write_map("/proc/self/setgroups", "deny") ||
                      !write_map("/proc/self/gid_map", groups))))
        return false;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", scratch_path("data"), "tmpfs", 0, "size=64k,mode=0700") == 0;
}

/* In a child of its own. Returns its exit status. */
static int on_small_disk(void)
{
    if (!mount_small_disk())
        return 77;
    begin(1000000, scratch_path("data"));
    if (put('a', 500000) < 0 || !has('a', 500000))
        return 1; /* the memory has it */
    if (access(file_of('a', 500000), F_OK) == 0)
        return 2; /* and the disk has no part of it */
    return put('b', 1000) >= 0 && access(file_of('b', 1000), F_OK) == 0 ? 0 : 3;
}

TEST(blobs__do_without_a_disk_that_is_full)
{
    int status;
    pid_t child;

    scratch_folder("data");
    child = fork();
    if (child == 0)
        _exit(on_small_disk());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_MAIN_EACH(scratch_begin, scratch_end)

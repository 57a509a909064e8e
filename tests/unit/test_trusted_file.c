/* SPDX-License-Identifier: MIT */
/*
 * trusted_file - who can change a file that decides. Run as root, the tests act as an
 * ordinary user whose number nobody has, and root and a third person are there too.
 */
#include "policy/policy.h"
#include "scratch.h"
#include "test.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define USER     12345 /* who is asked for, where root runs the tests */
#define STRANGER 23456

static bool is_root;

/* What takes the place of the file, after it has been examined. */
static const char *other;

int __real_openat(int dir, const char *name, int flags);
int __wrap_openat(int dir, const char *name, int flags);
int __wrap___openat_2(int dir, const char *name, int flags);

int __wrap_openat(int dir, const char *name, int flags)
{
    if (other != NULL && (flags & O_PATH) == 0) {
        assert_int_equal(renameat(dir, other, dir, name), 0);
        other = NULL;
    }
    return __real_openat(dir, name, flags);
}

int __wrap___openat_2(int dir, const char *name, int flags)
{
    return __wrap_openat(dir, name, flags);
}

static void as(uid_t uid)
{
    if (is_root && (seteuid(0) != 0 || seteuid(uid) != 0))
        abort();
}

static int setup(void **state)
{
    is_root = geteuid() == 0;
    (void)umask(0);
    if (scratch_begin(state) != 0 || (is_root && chown(scratch, USER, USER) != 0) ||
        (is_root && setegid(USER) != 0) || chdir(scratch) != 0)
        return -1;
    as(USER);
    return 0;
}

static int teardown(void **state)
{
    as(0);
    return scratch_end(state);
}

/* Every test finds an empty directory. */
static int empty(void **state)
{
    as(0);
    if (system("rm -rf ./*") != 0)
        return -1;
    as(USER);
    return 0;
}

static void make_file(const char *path, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "decides", 7), 7);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(close(fd), 0);
}

static void make_folder(const char *path, mode_t mode)
{
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void give(const char *path, uid_t uid)
{
    as(0);
    assert_int_equal(lchown(path, uid, USER), 0);
    as(USER);
}

static gbx_trusted_file plain(const char *path)
{
    return (gbx_trusted_file){.path = path, .what = "the policy ", .flags = O_RDONLY};
}

static gbx_trusted_file secret(const char *path)
{
    return (gbx_trusted_file){.path = path,
                              .what = "the secret ",
                              .flags = O_RDONLY,
                              .is_secret = true};
}

static void assert_taken_with(gbx_trusted_file file, const char *wanted)
{
    char warning[GBX_ERROR_MESSAGE_SIZE] = "?";
    char text[8] = "";
    gbx_error err = {0};
    int fd = -1;

    if (gbx_trusted_file_open(&file, &fd, warning, &err) != GBX_OK)
        fail_msg("%s", err.message);
    assert_string_equal(warning, wanted);
    assert_int_equal(read(fd, text, 7), 7);
    assert_string_equal(text, "decides");
    assert_int_equal(close(fd), 0);
}

#define assert_taken(file) assert_taken_with(file, "")

static gbx_error failure(gbx_trusted_file file, int os_errno)
{
    gbx_error err = {0};
    int fd = -1;

    assert_int_equal(gbx_trusted_file_open(&file, &fd, NULL, &err), GBX_E_OS);
    assert_int_equal(err.os_errno, os_errno);
    assert_int_equal(fd, -1);
    return err;
}

static gbx_error refusal(gbx_trusted_file file)
{
    gbx_error err = failure(file, EPERM);

    file.trust = GBX_TRUST_ALL;
    assert_taken(file);
    return err;
}

/* Refused for that; and taken once somebody has run what the refusal says. */
static void assert_repairable(gbx_trusted_file file, const char *why)
{
    gbx_error err = refusal(file);
    char *command = strstr(err.message, ": run ");
    char *end = strstr(err.message, " (the option trust-files");

    if (strstr(err.message, why) == NULL || command == NULL || end == NULL)
        fail_msg("%s", err.message);
    *end = '\0';
    command += strlen(": run ");
    if (strncmp(command, "sudo ", 5) == 0)
        command += 5;
    as(0);
    assert_int_equal(system(command), 0);
    as(USER);
    assert_taken(file);
}

static void need_root(void)
{
    if (!is_root) {
        print_message("skipped: only root can give a file to somebody else\n");
        skip();
    }
}

/* ---- rights -------------------------------------------------------------------- */

TEST(what_only_its_owner_can_change__is_taken)
{
    const char *path = scratch_path("folder/file");

    make_file("mine", 0644);
    make_folder("folder", 0755);
    make_file("folder/file", 0600);
    make_folder("shared", 01777);
    make_file("shared/file", 0755);
    assert_int_equal(symlink("../folder/../mine", "shared/link"), 0);
    assert_int_equal(symlink(path, "whole"), 0);

    assert_taken(plain("mine"));
    assert_taken(plain("./folder//file"));
    assert_taken(plain("folder/../shared/file"));
    assert_taken(plain("shared/link"));
    assert_taken(plain("whole"));
    assert_taken(secret(path));
}

TEST(what_others_can_write__is_refused_with_its_repair)
{
    static const char why[] = "since others may write it";

    make_file("group", 0664);
    make_file("world", 0646);
    make_folder("-it's a folder", 0777);
    make_folder("-it's a folder/inner", 0775);
    make_file("-it's a folder/inner/file", 0666);
    make_folder("link", 0757);
    make_file("safe", 0600);
    assert_int_equal(symlink("../safe", "link/link"), 0);

    assert_repairable(plain("group"), why);
    assert_repairable(plain("world"), why);
    assert_repairable(plain("-it's a folder/inner/file"), why);
    assert_repairable(plain("link/link"), why);
}

TEST(a_secret__is_not_read_by_others_either)
{
    static const char why[] = "since others may read or write it";

    make_file("group", 0640);
    make_file("world", 0604);
    make_file("both", 0666);
    assert_repairable(secret("group"), why);
    assert_repairable(secret("world"), why);
    assert_repairable(secret("both"), why);
}

TEST(a_secret_of_roots__may_be_read_with_a_warning)
{
    need_root();
    make_file("world", 0444);
    make_file("group", 0440);
    give("world", 0);
    give("group", 0);
    assert_taken_with(secret("world"),
                      "others may read the secret 'world': it is taken "
                      "since root owns it");
    assert_taken(secret("group")); /* a member of the group reads it in no other way */
    as(0);
    give(".", 0);
    as(0);
    assert_taken_with(secret("group"),
                      "others may read the secret 'group': it is taken "
                      "since root owns it");
    give(".", USER);
}

TEST(a_file_that_is_not_there__is_not_one_that_is_refused)
{
    make_folder("open", 0777);
    make_file("open/file", 0600);
    assert_int_equal(symlink("loop", "open/loop"), 0);
    (void)failure(plain("open/none"), ENOENT);
    (void)failure(plain("open/file/none"), ENOTDIR);
    (void)failure(plain("open/file/"), ENOTDIR);
    (void)failure(plain("open"), EISDIR);
    (void)failure(plain("/"), EISDIR);
    (void)failure(plain("open/loop"), ELOOP);
    (void)failure(plain(""), ENOENT);
}

/* ---- owners -------------------------------------------------------------------- */

TEST(what_root_has__is_taken)
{
    need_root();
    make_folder("folder", 0755);
    make_file("folder/file", 0644);
    assert_int_equal(symlink("folder", "link"), 0);
    give("folder", 0);
    give("folder/file", 0);
    give("link", 0);
    assert_taken(plain("link/file"));
}

TEST(what_a_stranger_has__is_refused)
{
    static const char why[] = "since it belongs to another user";
    gbx_error err;

    need_root();
    make_file("file", 0644);
    make_folder("folder", 0755);
    make_file("folder/file", 0644);
    assert_int_equal(symlink("folder/file", "link"), 0);
    give("file", STRANGER);
    give("link", STRANGER);
    assert_repairable(plain("file"), why);
    assert_repairable(plain("link"), why);

    give("folder", STRANGER);
    err = refusal(plain("folder/file"));
    assert_non_null(strstr(err.message, "directory of another user: copy it by cp "
                                        "folder/file ~/ ("));
    as(0); /* root does not take what a user has, either */
    (void)refusal(plain("file"));
}

TEST(what_is_above_the_users_home__does_not_count)
{
    make_folder("open", 0777);
    make_folder("open/home", 0755);
    make_file("open/home/file", 0600);
    make_folder("open/home/open", 0777);
    make_file("open/home/open/file", 0600);
    (void)refusal(plain("open/home/file"));
    (void)setenv("HOME", scratch_path("open/home"), 1);
    assert_taken(plain("open/home/file"));
    (void)refusal(plain("open/home/open/file"));
    if (is_root) {
        give("open/home", STRANGER); /* as sudo may have it */
        (void)refusal(plain("open/home/file"));
    }
    (void)unsetenv("HOME");
}

/* ---- what is no file ------------------------------------------------------------ */

TEST(a_pipe_that_is_open_already__is_taken)
{
    char path[64];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "decidesdecides", 14), 14);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_taken(secret(path));
    as(0); /* it is still the user's */
    assert_taken(secret(path));
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
}

TEST(a_file_that_is_open_already__is_looked_at)
{
    char path[64];
    int fd;

    make_file("file", 0666);
    fd = open("file", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_repairable(plain(path), "since others may write it");
    assert_int_equal(close(fd), 0);
}

TEST(a_fifo__is_judged_before_it_is_waited_for)
{
    int writer;

    assert_int_equal(mkfifo("fifo", 0622), 0);
    (void)failure(plain("fifo"), EPERM);
    assert_int_equal(chmod("fifo", 0600), 0);
    writer = open("fifo", O_RDWR);
    assert_int_equal(write(writer, "decides", 7), 7);
    assert_taken(plain("fifo"));
    assert_int_equal(close(writer), 0);
}

TEST(a_file_that_is_exchanged__is_judged_too)
{
    make_file("file", 0600);
    make_file("writable", 0622);
    make_file("mine", 0600);
    other = "mine";
    assert_taken(plain("file"));
    other = "writable";
    (void)failure(plain("file"), EPERM);
}

int main(void)
{
    tests_each(empty, NULL);
    return tests_run(setup, teardown);
}

/* SPDX-License-Identifier: MIT */
/*
 * trusted_spaces - files that decide, where users and mounts are others: in containers.
 * What is looked at is done in a child, as an ordinary user with a namespace of its own.
 */
#include "policy/policy.h"
#include "scratch.h"
#include "test.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER     12345 /* where root runs the tests */
#define STRANGER 23456
#define NOBODY   65534
#define SKIP     77

static bool is_root;

static int setup(void **state)
{
    is_root = geteuid() == 0;
    (void)umask(0);
    if (scratch_begin(state) != 0 || chdir(scratch) != 0 ||
        mkdir("volume", 0755) != 0 || mknod("file", S_IFREG | 0644, 0) != 0 ||
        mkdir("shared", 0755) != 0 || mkdir("shared/folder", 0755) != 0 ||
        mknod("shared/folder/file", S_IFREG | 0644, 0) != 0 ||
        chmod("shared", 01777) != 0)
        return -1;
    if (is_root &&
        (chown(".", USER, USER) != 0 || chown("volume", USER, USER) != 0 ||
         chown("file", USER, USER) != 0 || chown("shared", USER, USER) != 0 ||
         chown("shared/folder", STRANGER, USER) != 0 ||
         chown("shared/folder/file", USER, USER) != 0))
        return -1;
    return 0;
}

static bool takes(const char *path)
{
    gbx_trusted_file file = {.path = path, .what = "", .flags = O_RDONLY};
    gbx_error err = {0};
    int fd = -1;

    if (gbx_trusted_file_open(&file, &fd, NULL, &err) != GBX_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return false;
    }
    return close(fd) == 0;
}

static bool put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    return fd >= 0 && close(fd) == 0 && done;
}

/* The maps of a process whose namespace has these users. */
static bool map_users(pid_t pid, const uid_t *users, size_t count)
{
    char path[64];
    char text[128] = "";

    (void)snprintf(path, sizeof path, "/proc/%d/uid_map", (int)pid);
    for (size_t i = 0; i < count; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%u %u 1\n",
                       (unsigned)users[i], (unsigned)users[i]);
    return put(path, text);
}

/* A namespace that knows these users alone; the first is who this process is. More than
 * one only root can have mapped: a process that stays outside. */
static bool enter_namespace(const uid_t *users, size_t count)
{
    int ends[2];
    pid_t mapper = -1;
    int status = 1;
    char group[32];
    char byte = 0;

    if (pipe(ends) != 0)
        return false;
    if (count > 1)
        mapper = fork();
    if (mapper == 0)
        _exit(read(ends[0], &byte, 1) == 1 && map_users(getppid(), users, count) ? 0
                                                                                 : 1);
    if (is_root &&
        (setresgid(USER, USER, USER) != 0 || setresuid(USER, USER, USER) != 0))
        return false;
    (void)prctl(PR_SET_DUMPABLE, 1); /* or its maps are root's */
    (void)snprintf(group, sizeof group, "%u %u 1", (unsigned)getgid(),
                   (unsigned)getgid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || write(ends[1], "", 1) != 1)
        return false;
    if (mapper > 0)
        return waitpid(mapper, &status, 0) == mapper && status == 0;
    return map_users(getpid(), users, count) && put("/proc/self/setgroups", "deny") &&
           put("/proc/self/gid_map", group);
}

/* inside() returns 0, or SKIP where something cannot be had. */
static void in_namespace(uid_t another, int (*inside)(void))
{
    const uid_t users[] = {is_root ? USER : getuid(), another};
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(enter_namespace(users, another != 0 ? 2 : 1) ? inside() : SKIP);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIP) {
        print_message("skipped: no such user namespace to be had, or no mount in it\n");
        skip();
    }
    assert_int_equal(status, 0);
}

/* Root is nobody in particular there, and the path begins with its directory. */
static int look_at_unmapped(void)
{
    if (!takes(scratch_path("file")) || takes("/proc/sys/kernel/ostype"))
        return 1;
    return is_root && takes("shared/folder/file") ? 2 : 0;
}

TEST(directories_of_an_unknown_root__lead_to_a_file)
{
    in_namespace(0, look_at_unmapped);
}

/* Root has the number of a user who is known, and the file system of processes is root's. */
static int look_at_pipe(void)
{
    char path[64];
    int ends[2];

    if (pipe(ends) != 0 || chdir("/proc") != 0)
        return SKIP;
    (void)snprintf(path, sizeof path, "self/fd/%d", ends[0]);
    if (!takes(path))
        return 1;
    return takes("/proc/self/stat") ? 2 : 0; /* by the directory of root */
}

TEST(a_pipe__is_taken_whoever_root_is)
{
    in_namespace(NOBODY, look_at_pipe);
}

/* Kubernetes gives the directory of a ConfigMap all rights, and mounts it so. */
static int look_at_mounted(void)
{
    if (mount("none", "volume", "tmpfs", 0, "mode=0777") != 0 ||
        mknod("volume/file", S_IFREG | 0644, 0) != 0)
        return SKIP;
    if (takes("volume/file"))
        return 1;
    if (mount(NULL, "volume", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) != 0)
        return SKIP;
    return takes("volume/file") ? 0 : 2;
}

TEST(a_directory_that_is_read_only__may_have_all_rights)
{
    in_namespace(0, look_at_mounted);
}

TEST_MAIN(setup, scratch_end)

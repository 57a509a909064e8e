/* SPDX-License-Identifier: MIT */
/* pidfd - what a template may hand over as the process of a worker. */
#include "engine/engine.h"
#include "test.h"

#include "base/cleanup.h"
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_pidfd(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0 && errno == ENOSYS) {
        print_message("skipped: no pidfd, as under valgrind\n");
        exit(77);
    }
    return fd;
}

/* A child that waits, with a child that waits. */
typedef struct family {
    pid_t child;
    pid_t grandchild;
    int child_fd;
    int grandchild_fd;
} family;

static family start_family(void)
{
    family f;
    int ends[2];

    if (pipe(ends) < 0)
        abort();
    f.child = fork();
    if (f.child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        f.grandchild = fork();
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (f.grandchild > 0)
            (void)!write(ends[1], &f.grandchild, sizeof f.grandchild);
        for (;;)
            (void)pause();
    }
    if (read(ends[0], &f.grandchild, sizeof f.grandchild) != sizeof f.grandchild)
        abort();
    (void)close(ends[0]);
    (void)close(ends[1]);
    f.child_fd = open_pidfd(f.child);
    f.grandchild_fd = open_pidfd(f.grandchild);
    return f;
}

static void end_child(const family *f)
{
    (void)syscall(SYS_pidfd_send_signal, f->child_fd, SIGKILL, NULL, 0);
    (void)waitpid(f->child, NULL, 0);
}

static void end_family(family *f)
{
    (void)syscall(SYS_pidfd_send_signal, f->grandchild_fd, SIGKILL, NULL, 0);
    gbx_fd_close(&f->child_fd);
    gbx_fd_close(&f->grandchild_fd);
}

/* Is it taken for the pidfd of a child of parent, with number pid and its status? */
static bool is_child(int fd, pid_t parent, int parent_fd, pid_t pid)
{
    gbx_spawned template = {.pid = parent, .pidfd = parent_fd};
    char text[64] = "";
    pid_t found = -1;
    int status_fd = -2;
    bool is = gbx_pidfd_is_child(fd, &template, &found, &status_fd);

    if (is && (found != pid || (status_fd >= 0) != (pid != 0)))
        return false;
    if (is && pid != 0 && (read(status_fd, text, 5) != 5 || strcmp(text, "Name:") != 0))
        return false;
    if (status_fd >= 0)
        (void)close(status_fd);
    return is;
}

/* The name of what is taken for something else, or NULL; in two ways of the kernel. */
static const char *find_mistake(void)
{
    family f = start_family();
    int own = open_pidfd(getpid());
    int others[] = {open("/dev/null", O_RDONLY), open("/proc/self", O_RDONLY),
                    eventfd(0, 0), -1};
    const char *mistake = NULL;

    for (size_t i = 0; i < GBX_COUNTOF(others); i++)
        if (is_child(others[i], getpid(), own, 0))
            mistake = "no pidfd";
    if (is_child(own, getpid(), own, getpid()))
        mistake = "the parent itself";
    if (!is_child(f.child_fd, getpid(), own, f.child))
        mistake = "a child";
    if (!is_child(f.grandchild_fd, f.child, f.child_fd, f.grandchild))
        mistake = "a child of another";
    if (is_child(f.grandchild_fd, getpid(), own, f.grandchild))
        mistake = "a child's child";
    if (is_child(f.child_fd, f.grandchild, f.grandchild_fd, f.child))
        mistake = "a stranger";
    end_child(&f);
    if (!is_child(f.child_fd, f.grandchild, f.grandchild_fd, 0))
        mistake = "one that has ended";
    end_family(&f);
    (void)close(own);
    for (size_t i = 0; i < GBX_COUNTOF(others) - 1; i++)
        (void)close(others[i]);
    return mistake;
}

TEST(child__is_told_from_everything_else)
{
    const char *mistake = find_mistake();

    if (mistake != NULL)
        fail_msg("%s", mistake);
}

TEST(child__is_told_by_proc_where_the_kernel_says_nothing)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        /* PIDFD_GET_INFO is not there either. */
        const char *mistake =
            proc_forbid(SYS_ioctl, ENOTTY) ? find_mistake() : "the filter";

        if (mistake != NULL)
            (void)fprintf(stderr, "%s\n", mistake);
        _exit(mistake != NULL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

TEST(number__of_one_that_was_reaped_is_not_looked_at)
{
    family f = start_family();

    assert_true(gbx_pidfd_is_there(f.child_fd));
    assert_true(gbx_pidfd_cpu_ns(f.child_fd, f.child) >= 0);
    end_child(&f);

    /* As if the number were another's by now: our own. */
    assert_false(gbx_pidfd_is_there(f.child_fd));
    assert_int_equal(gbx_pidfd_cpu_ns(f.child_fd, getpid()), -1);
    end_family(&f);
}

TEST_MAIN(NULL, NULL)

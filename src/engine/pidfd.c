/* SPDX-License-Identifier: MIT */
/* pidfd - what the kernel reports about a process that a pidfd holds; see engine.h. */
#include "engine/engine.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The id of another process's CPU clock, as clock_getcpuclockid() makes it. */
#define PROCESS_CLOCK(pid) ((clockid_t)(~(unsigned)(pid) << 3 | 2u))

/* Linux 6.13; not in Debian 12's headers. */
typedef struct pidfd_info {
    uint64_t mask;
    uint64_t cgroup_id;
    uint32_t pid;
    uint32_t thread_group;
    uint32_t parent;
    uint32_t others[9];
} pidfd_info;

#define PIDFD_INFO_PID UINT64_C(1)
#define PIDFD_GET_INFO _IOWR(0xFF, 11, pidfd_info)

uint64_t gbx_proc_number(int fd, const char *name)
{
    char text[2048];
    const char *at;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    if (n <= 0)
        return 0;
    text[n] = 0;
    at = strstr(text, name);
    return at != NULL ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* The process's pid in our /proc, which may be mounted for another pid namespace. */
static pid_t number_in_proc(int pidfd)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? (pid_t)gbx_proc_number(fd, "\nPid:") : 0;
}

static int open_in_proc(pid_t number, const char *name)
{
    char path[64];

    if (number <= 0)
        return -1;
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)number, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The pid and its parent's, from the kernel without /proc; false before Linux 6.13. */
static bool ask_kernel(int pidfd, pid_t *ret_pid, pid_t *ret_parent)
{
    pidfd_info info = {.mask = PIDFD_INFO_PID};

    if (ioctl(pidfd, PIDFD_GET_INFO, &info) < 0 || (info.mask & PIDFD_INFO_PID) == 0)
        return false;
    *ret_pid = (pid_t)info.pid;
    *ret_parent = (pid_t)info.parent;
    return true;
}

bool gbx_pidfd_is_there(int pidfd)
{
    return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0 || errno != ESRCH;
}

void gbx_pidfd_kill(int pidfd)
{
    if (pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

bool gbx_pidfd_is_child(int pidfd, const gbx_spawned *parent, pid_t *ret_pid,
                        int *ret_status_fd)
{
    char self[16] = "";
    bool is_ours = readlink("/proc/self", self, sizeof self - 1) > 0 &&
                   strtol(self, NULL, 10) == getpid(); /* /proc is of our namespace */
    siginfo_t info;
    bool is_child;
    pid_t pid;
    pid_t above;
    int status_fd;

    *ret_pid = 0;
    *ret_status_fd = -1;
    /* EBADF: it is no pidfd. ECHILD: its process is not our child. */
    if (waitid((idtype_t)3 /* P_PIDFD */, (id_t)pidfd, &info,
               WEXITED | WNOHANG | WNOWAIT) != 0 &&
        errno != ECHILD)
        return false;
    if (ask_kernel(pidfd, &pid, &above)) {
        status_fd = open_in_proc(is_ours ? pid : number_in_proc(pidfd), "status");
        is_child = above == parent->pid;
    } else {
        pid = number_in_proc(pidfd);
        status_fd = open_in_proc(pid, "status");
        if (status_fd >= 0)
            is_child = (pid_t)gbx_proc_number(status_fd, "\nPPid:") ==
                       (is_ours ? parent->pid : number_in_proc(parent->pidfd));
        else /* /proc hides the process, so its parent is unknown */
            is_child = pid > 0 && errno == ENOENT;
        if (!is_ours)
            pid = 0;
    }
    if (!gbx_pidfd_is_there(pidfd)) { /* reaped: signals to it reach no process */
        gbx_fd_close(&status_fd);
        return true;
    }
    *ret_pid = pid;
    *ret_status_fd = status_fd;
    return is_child;
}

int64_t gbx_pidfd_cpu_ns(int pidfd, pid_t pid)
{
    struct timespec ts;

    if (pid <= 0 || clock_gettime(PROCESS_CLOCK(pid), &ts) != 0 ||
        !gbx_pidfd_is_there(pidfd))
        return -1;
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

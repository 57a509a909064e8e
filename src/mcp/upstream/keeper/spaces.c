/* SPDX-License-Identifier: MIT */
/*
 * spaces - a pid namespace for one server: when its process 1 dies, the kernel kills
 * all others in it, however often they have forked and whatever they ignore.
 *
 * Root creates the namespaces directly. Other users need a user namespace for that. In
 * it they keep their ids: files stay theirs, and they gain no new rights.
 */
#include "mcp/upstream/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    size_t len = strlen(text);
    bool written = fd >= 0 && write(fd, text, len) == (ssize_t)len;

    if (fd >= 0)
        (void)close(fd);
    return written;
}

static bool map_ids(unsigned uid, unsigned gid)
{
    char line[48];

    (void)snprintf(line, sizeof line, "%u %u 1\n", uid, uid);
    if (!write_file("/proc/self/uid_map", line))
        return false;
    /* Without this, no group may be mapped; our groups are kept anyway. */
    (void)write_file("/proc/self/setgroups", "deny");
    (void)snprintf(line, sizeof line, "%u %u 1\n", gid, gid);
    return write_file("/proc/self/gid_map", line);
}

/* Mount a /proc that shows this namespace's processes instead of ours. Where parts of
 * /proc are hidden, as in most containers, ordinary users may not do so. */
static bool mount_proc(void)
{
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
           mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

/* Process 1 finishes the namespaces before its parent reports them. */
static bool settle(bool in_user_ns, unsigned uid, unsigned gid, gbx_containment *ret)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* our parent may die meanwhile */
    if (in_user_ns && !map_ids(uid, gid))
        return false;
    *ret = mount_proc() ? GBX_CONTAIN_PID_NS : GBX_CONTAIN_PID_NS_ONLY;
    /* Entering the namespace changed our credentials, which clears the signal. */
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

/* ---- the rest of the keeper ----------------------------------------------- */

int gbx_keeper_fork(gbx_containment *ret_how)
{
    unsigned uid = geteuid();
    unsigned gid = getegid();
    unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | SIGCHLD;
    gbx_containment how = GBX_CONTAIN_UNKNOWN;
    int ends[2];
    long pid;

    if (uid != 0)
        flags |= CLONE_NEWUSER;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        if (!settle(uid != 0, uid, gid, &how) ||
            write(ends[1], &how, sizeof how) != (ssize_t)sizeof how)
            _exit(127);
        (void)close(ends[0]);
        (void)close(ends[1]);
        *ret_how = how;
        return 0;
    }
    (void)close(ends[1]);
    if (pid > 0 && read(ends[0], &how, sizeof how) != (ssize_t)sizeof how) {
        (void)waitpid((pid_t)pid, NULL, 0);
        pid = -1;
        errno = EPERM;
    }
    (void)close(ends[0]);
    *ret_how = how;
    return (int)pid;
}

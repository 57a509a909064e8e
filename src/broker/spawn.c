/* SPDX-License-Identifier: MIT */
/*
 * spawn - two forks: the first takes the namespaces, which a process cannot do for
 * its own pid; the second is made with CLONE_PARENT, so that the template is our
 * child and its pid 1. Between fork and exec only system calls are made: the host is
 * threaded, and any lock may be held.
 */
#include "broker/spawn.h"

#include "base/cleanup.h"
#include "broker/environment.h"
#include "seal/layers.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTROL_FD 3

/* The pipe says that the template has been executed, unless another thread of the host
 * forked a process meanwhile that has the pipe too and executes nothing: then this time
 * does, and a template that could not be is found dead a little later. */
#define EXEC_PATIENCE_MS 2000

/* Who a root host's template is: nobody, so that even kernel objects it could still
 * name would not be root's. */
#define NOBODY 65534

/* Shared between the host and its two children; everything they tell us. */
typedef struct start {
    int program_fd;
    int control;
    int null_fd;
    const char *const *environment;
    uint32_t layers_off;
    int cgroup;      /* or -1 */
    bool is_grouped; /* it was made there */
    bool user_ns;    /* try one */
    bool is_root;
    pid_t pid; /* of the template; 0 until it is forked */
    uint32_t ns_made;
    int ns_errno;
    int user_ns_errno;
    int cgroup_errno;
    const char *failed; /* what failed, or NULL */
    int failed_errno;
} start;

static const struct space {
    int flag;
    gbx_layer layer;
} spaces[] = {
    {CLONE_NEWPID, GBX_LAYER_PID_NS}, {CLONE_NEWNS, GBX_LAYER_MOUNT_NS},
    {CLONE_NEWNET, GBX_LAYER_NET_NS}, {CLONE_NEWIPC, GBX_LAYER_IPC_NS},
    {CLONE_NEWUTS, GBX_LAYER_UTS_NS}, {CLONE_NEWCGROUP, GBX_LAYER_CGROUP_NS},
};

/* Not _exit(): where a thread sanitizer is, that takes locks which another thread may have
 * held at the fork. */
static _Noreturn void leave(int status)
{
    for (;;)
        (void)syscall(SYS_exit_group, status);
}

static _Noreturn void give_up(start *s, const char *what)
{
    s->failed = what;
    s->failed_errno = errno;
    leave(127);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    size_t len = strlen(text);
    bool written = fd >= 0 && write(fd, text, len) == (ssize_t)len;

    if (fd >= 0)
        (void)close(fd);
    return written;
}

/* "0 ID 1\n" without printf, which may take locks. */
static void format_map(char *to, unsigned id)
{
    char digits[12];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + id % 10);
        id /= 10;
    } while (id > 0);
    *to++ = '0';
    *to++ = ' ';
    while (n > 0)
        *to++ = digits[--n];
    memcpy(to, " 1\n", 4);
}

/* The raw calls: glibc's would signal every thread that it believes we have. A root that may
 * not change its ids, or in whose namespace there is no nobody, is a user like any other. */
static void become_nobody(start *s)
{
    if ((syscall(SYS_setgroups, 0, NULL) < 0 && errno != EPERM) ||
        ((syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY) < 0 ||
          syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY) < 0) &&
         errno != EPERM && errno != EINVAL))
        give_up(s, "become nobody");
}

static void enter_user_ns(start *s)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    char map[24];

    /* A change of ids, ours just now or the host's long ago, makes /proc/self root's;
     * the maps are written through it. */
    (void)prctl(PR_SET_DUMPABLE, 1);
    if (unshare(CLONE_NEWUSER) < 0) {
        s->user_ns_errno = errno;
        leave(1);
    }
    (void)write_file("/proc/self/setgroups", "deny");
    format_map(map, uid);
    if (!write_file("/proc/self/uid_map", map)) {
        s->user_ns_errno = errno;
        leave(1);
    }
    format_map(map, gid);
    if (!write_file("/proc/self/gid_map", map)) {
        s->user_ns_errno = errno;
        leave(1);
    }
    s->ns_made |= GBX_LAYER_BIT(GBX_LAYER_USER_NS);
}

static void enter_other_ns(start *s)
{
    for (size_t i = 0; i < GBX_COUNTOF(spaces); i++) {
        if (s->layers_off & GBX_LAYER_BIT(spaces[i].layer))
            continue;
        if (unshare(spaces[i].flag) == 0)
            s->ns_made |= GBX_LAYER_BIT(spaces[i].layer);
        else if (s->ns_errno == 0)
            s->ns_errno = errno;
    }
}

/* The template-to-be: descriptors in place, then exec. */
static void become_template(start *s)
{
    static const char *const argv[] = {"glovebox-worker", "--serve", NULL};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int fd = 0; fd <= 2; fd++)
        if (dup2(s->null_fd, fd) < 0)
            give_up(s, "open /dev/null");
    if (dup2(s->control, CONTROL_FD) < 0)
        give_up(s, "place the control socket");
    /* All others are close-on-exec or will be: the program's own is needed till then. */
    if (syscall(SYS_close_range, CONTROL_FD + 1, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */) < 0)
        give_up(s, "close the host's descriptors");
    (void)syscall(SYS_execveat, s->program_fd, "", argv, s->environment, AT_EMPTY_PATH);
    give_up(s, "execute the worker program");
}

/* Where the kernel cannot make a process in a group at once. */
static void enter_cgroup(start *s)
{
    int fd = openat(s->cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);

    if (fd >= 0 && write(fd, "0", 1) == 1)
        s->is_grouped = true;
    else
        s->cgroup_errno = errno;
    if (fd >= 0)
        (void)close(fd);
}

/* The first child. */
static void take_namespaces(start *s)
{
    long pid;

    if (s->cgroup >= 0 && !s->is_grouped)
        enter_cgroup(s); /* still with the host's rights */
    if (s->is_grouped)
        s->ns_made |= GBX_LAYER_BIT(GBX_LAYER_CGROUP);
    if (s->is_root && s->user_ns)
        become_nobody(s);
    if (s->user_ns)
        enter_user_ns(s);
    enter_other_ns(s);
    /* The kernel itself says who it is: this process may be killed as soon as it is. */
    pid = syscall(SYS_clone, CLONE_PARENT | CLONE_PARENT_SETTID | SIGCHLD, NULL,
                  &s->pid, NULL, NULL);
    if (pid < 0)
        give_up(s, "fork the template");
    if (pid == 0)
        become_template(s);
    leave(0);
}

/* A fork into the group: to move a process there afterwards takes the kernel as long as
 * the start of the engine does. */
static pid_t fork_into(const start *s)
{
    struct clone_args args = {.flags = CLONE_INTO_CGROUP,
                              .exit_signal = SIGCHLD,
                              .cgroup = (unsigned)s->cgroup};

    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

static pid_t fork_first(start *s)
{
    pid_t pid = -1;

    /* What the child is to know is written before it is. */
    s->is_grouped = s->cgroup >= 0;
    if (s->is_grouped)
        pid = fork_into(s);
    if (pid < 0) {
        s->is_grouped = false;
        pid = _Fork();
    }
    return pid;
}

/* Fork the first child and wait until both have let go of the pipe: the second at
 * its exec. Not waitpid alone: a host that ignores SIGCHLD has nothing to wait for. */
static gbx_status run_children(start *s, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int theirs = -1;
    GBX_CLEANUP(gbx_fd_close) int ours = -1;
    sigset_t all;
    sigset_t before;
    int ends[2];
    struct pollfd end = {.events = POLLIN};
    pid_t first;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot open a pipe");
    ours = ends[0];
    theirs = ends[1];
    end.fd = ours;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    first = fork_first(s);
    if (first == 0)
        take_namespaces(s);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (first < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot fork");
    gbx_fd_close(&theirs);
    while (poll(&end, 1, EXEC_PATIENCE_MS) < 0 && errno == EINTR)
        continue;
    while (waitpid(first, NULL, 0) < 0 && errno == EINTR)
        continue;
    return GBX_OK;
}

/* Once with a user namespace, and if that cannot be had once without. */
static gbx_status attempt(start *s, gbx_error *reterr)
{
    gbx_status status;

    s->user_ns = !(s->layers_off & GBX_LAYER_BIT(GBX_LAYER_USER_NS));
    status = run_children(s, reterr);
    if (status == GBX_OK && s->user_ns && s->user_ns_errno != 0) {
        s->user_ns = false;
        s->ns_errno = s->user_ns_errno;
        s->ns_made = 0;
        status = run_children(s, reterr);
    }
    return status;
}

static gbx_status collect(start *s, gbx_spawned *ret, const char *path,
                          gbx_error *reterr)
{
    if (s->failed != NULL || s->pid == 0) {
        errno = s->failed_errno;
        if (s->pid > 0)
            while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        errno = s->failed_errno;
        if (s->failed == NULL)
            return gbx_fail(reterr, GBX_E_OS,
                            "cannot start '%s': the process that starts it was killed",
                            path);
        return gbx_fail(reterr, GBX_E_OS, "cannot start '%s': %s: %s", path, s->failed,
                        strerror(s->failed_errno));
    }
    ret->pid = s->pid;
    ret->ns_made = s->ns_made;
    ret->ns_errno = s->ns_errno;
    ret->cgroup_errno = s->cgroup_errno;
    ret->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
    if (ret->pidfd < 0) {
        (void)gbx_fail(reterr, GBX_E_OS, "cannot open a descriptor of the template: %s",
                       strerror(errno));
        (void)kill(s->pid, SIGKILL);
        while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        return GBX_E_OS;
    }
    return GBX_OK;
}

/* A host with few descriptors open gets low numbers, where the template's own will be
 * put: one must not overwrite another. */
static bool move_clear(int *fd)
{
    int moved;

    if (*fd > CONTROL_FD)
        return true;
    moved = fcntl(*fd, F_DUPFD_CLOEXEC, CONTROL_FD + 1);
    if (moved < 0)
        return false;
    gbx_fd_close(fd);
    *fd = moved;
    return true;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_spawn(const gbx_spawn_options *options, gbx_spawned *ret,
                     gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int ours = -1;
    GBX_CLEANUP(gbx_fd_close) int theirs = -1;
    GBX_CLEANUP(gbx_fd_close) int program = -1;
    GBX_CLEANUP(gbx_fd_close) int null_fd = -1;
    gbx_spawned spawned = {.control = -1, .pidfd = -1};
    char path[512];
    gbx_status status;
    start *s;
    int pair[2];

    status = gbx_worker_program_open(options->worker_path, &program, path, sizeof path,
                                     reterr);
    if (status != GBX_OK)
        return status;
    null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot open '/dev/null': %s",
                        strerror(errno));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot open the control socket: %s",
                        strerror(errno));
    ours = pair[0];
    theirs = pair[1];
    if (!move_clear(&program) || !move_clear(&null_fd) || !move_clear(&theirs))
        return gbx_fail(reterr, GBX_E_OS, "cannot place descriptors: %s",
                        strerror(errno));
    s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
             0);
    if (s == MAP_FAILED)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot map a page to start the template");
    *s = (start){.program_fd = program,
                 .control = theirs,
                 .null_fd = null_fd,
                 .environment = gbx_worker_environment(options->jit),
                 .layers_off = options->layers_off,
                 .cgroup = options->cgroup,
                 .is_root = geteuid() == 0};
    status = attempt(s, reterr);
    if (status == GBX_OK)
        status = collect(s, &spawned, path, reterr);
    (void)munmap(s, sizeof *s);
    if (status != GBX_OK)
        return status;
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0) {
        gbx_spawned_close(&spawned);
        return gbx_fail(reterr, GBX_E_OS, "cannot set up the control socket");
    }
    spawned.control = gbx_fd_take(&ours);
    *ret = spawned;
    return GBX_OK;
}

void gbx_spawned_kill(gbx_spawned *spawned)
{
    /* The closed socket alone would end it, too: waiting is never for ever. */
    gbx_fd_close(&spawned->control);
    if (spawned->pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, spawned->pidfd, SIGKILL, NULL, 0);
}

void gbx_spawned_reap(gbx_spawned *spawned)
{
    while (spawned->pidfd >= 0 &&
           waitid((idtype_t)3 /* P_PIDFD */, (id_t)spawned->pidfd, NULL, WEXITED) < 0 &&
           errno == EINTR)
        continue;
    gbx_fd_close(&spawned->pidfd);
    spawned->pid = 0;
}

void gbx_spawned_close(gbx_spawned *spawned)
{
    gbx_spawned_kill(spawned);
    gbx_spawned_reap(spawned);
}

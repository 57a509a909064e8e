/* SPDX-License-Identifier: MIT */
/*
 * spawn - executes the worker program, which then turns itself into a template
 * (worker/launch.c).
 *
 * The host forks, and the fork executes at once. Until then it keeps the host's
 * identity, since it has the host's memory and descriptors: only processes that may
 * trace the host may trace it. Between fork and exec it makes only system calls: the
 * host has several threads, and any lock may be held.
 */
#include "engine/spawn.h"

#include "base/cleanup.h"
#include "engine/engine.h"
#include "wire/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Closed by the exec of the new program. */
#define PROGRAM_FD (GBX_CONTROL_FD + 1)

/* The step of the fork that failed. */
enum {
    FAILED_GROUP = 1,
    FAILED_DESCRIPTORS,
    FAILED_CLOSE_RANGE,
    FAILED_DATABASE,
    FAILED_EXEC
};

/* Number of arguments of a bundle's loader; the last is the program's path. */
enum { LOADER_ARGS = 7 };

/* Memory shared by host and fork until the exec. */
typedef struct fault {
    uint32_t failed;
    int error;
    int cgroup_errno;
} fault;

/* Everything is prepared before the fork. */
typedef struct start {
    int program;
    int null;
    int said; /* the program's error output */
    int control;
    int rows; /* -1: not the reader of a database */
    char *const *paths;
    int cgroup;      /* or -1 */
    bool is_grouped; /* the fork is made in the group */
    fault *fault;
    const char *const *environment;
    const char *argv[LOADER_ARGS + GBX_START_ARGS + 1];
    const char **args; /* the worker program's own, at the end of argv */
    char version[12];
    char number[12]; /* layers_off or huge_pages */
    bool is_bundled;
    char path[PATH_MAX]; /* of the worker program */
    char search_path[2 * PATH_MAX];
} start;

/* Not _exit(): under a thread sanitizer it takes locks, which another thread may have
 * held at the fork. */
static _Noreturn void give_up(const start *s, uint32_t failed)
{
    s->fault->failed = failed;
    s->fault->error = errno;
    for (;;)
        (void)syscall(SYS_exit_group, 127);
}

static void place(const start *s, int fd, int to, int flags)
{
    if (dup3(fd, to, flags) < 0)
        give_up(s, FAILED_DESCRIPTORS);
}

/* In the fork, with the host's identity: the host must not close them (sqlite.c). */
static void open_database(const start *s)
{
    for (int to = GBX_SQLITE_DATABASE_FD; to < GBX_SQLITE_FDS_END; to++) {
        int fd = open(s->paths[to - GBX_SQLITE_DATABASE_FD],
                      O_RDONLY | O_NONBLOCK | O_NOCTTY);

        /* An existing log or journal must be readable, or the rows would be wrong. The
         * index (-shm) only has locks. */
        if (fd < 0 && to != GBX_SQLITE_SHM_FD &&
            (errno != ENOENT || to == GBX_SQLITE_DATABASE_FD))
            give_up(s, FAILED_DATABASE);
        if (fd != to) /* missing; an open file gets `to`, as lower numbers are taken */
            place(s, 0, to, 0);
    }
}

/* The fork's code. */
static _Noreturn void execute(start *s)
{
    /* Not a session: the scheduler would balance it as a whole against the host's. */
    if (syscall(SYS_setpgid, 0, 0) < 0)
        give_up(s, FAILED_GROUP);
    if (s->cgroup >= 0 && !s->is_grouped) { /* this kernel cannot fork into it */
        int fd = openat(s->cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);

        s->is_grouped = fd >= 0 && write(fd, "0", 1) == 1;
        if (!s->is_grouped)
            s->fault->cgroup_errno = errno;
        if (fd >= 0)
            (void)close(fd);
    }
    if (s->is_grouped)
        s->args[GBX_START_IS_GROUPED] = "1";
    for (int fd = 0; fd <= 1; fd++)
        place(s, s->null, fd, 0);
    place(s, s->said, 2, 0);
    place(s, s->control, GBX_CONTROL_FD, 0);
    place(s, s->program, PROGRAM_FD, O_CLOEXEC);
    if (s->rows >= 0)
        place(s, s->rows, GBX_SQLITE_ROWS_FD, 0);
    if (syscall(SYS_close_range, s->rows >= 0 ? GBX_SQLITE_DATABASE_FD : PROGRAM_FD + 1,
                ~0u, 0) < 0)
        give_up(s, FAILED_CLOSE_RANGE);
    if (s->rows >= 0)
        open_database(s);
    /* The host may have been started with fixed addresses, executable data and the
     * like. */
    (void)syscall(SYS_personality, 0);
    (void)syscall(SYS_execveat, PROGRAM_FD, "", s->argv, s->environment, AT_EMPTY_PATH);
    give_up(s, FAILED_EXEC);
}

/* Returns in the host once the fork has executed or ended. Forks into the control group
 * if possible: entering it later takes the kernel as long as starting the engine. */
static long fork_until_exec(start *s, int *ret_pidfd)
{
    struct clone_args args = {.flags = CLONE_VFORK | CLONE_PIDFD | CLONE_INTO_CGROUP,
                              .pidfd = (uintptr_t)ret_pidfd,
                              .exit_signal = SIGCHLD,
                              .cgroup = (unsigned)s->cgroup};
    long pid = -1;

    /* Set before the fork, which reads it. */
    s->is_grouped = s->cgroup >= 0;
    if (s->is_grouped)
        pid = syscall(SYS_clone3, &args, sizeof args);
    if (pid < 0) {
        s->is_grouped = false;
        pid = syscall(SYS_clone, CLONE_VFORK | CLONE_PIDFD | SIGCHLD, NULL, ret_pidfd,
                      NULL, NULL);
    }
    if (pid == 0)
        execute(s);
    return pid;
}

static gbx_status failed(const start *s, const char *path, gbx_error *reterr)
{
    char reason[GBX_CALL_REASON_SIZE];
    int error = s->fault->error;

    switch (s->fault->failed) {
    case FAILED_CLOSE_RANGE:
        (void)gbx_fail_call_reason("close_range", error, reason);
        break;
    case FAILED_EXEC:
        (void)snprintf(reason, sizeof reason, "%s", strerror(error));
        break;
    case FAILED_GROUP: (void)gbx_fail_call_reason("setpgid", error, reason); break;
    default:
        (void)snprintf(reason, sizeof reason, "its descriptors: %s", strerror(error));
    }
    errno = 0; /* the message contains it */
    if (s->fault->failed == FAILED_DATABASE)
        return gbx_fail(reterr, GBX_E_OS, "cannot read the database: %s",
                        gbx_fail_reason(error));
    errno = error;
    return gbx_fail(reterr, GBX_E_OS, "cannot execute '%s': %s", path, reason);
}

static gbx_status run(start *s, const char *path, gbx_spawned *ret, gbx_error *reterr)
{
    sigset_t all;
    sigset_t before;
    long pid;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = fork_until_exec(s, &ret->pidfd);
    error = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid < 0) {
        char reason[GBX_CALL_REASON_SIZE];

        ret->pidfd = -1;
        errno = error;
        return gbx_fail(reterr, GBX_E_OS, "cannot fork: %s",
                        gbx_fail_call_reason("clone", error, reason));
    }
    ret->pid = (pid_t)pid;
    ret->cgroup_errno = s->fault->cgroup_errno;
    return s->fault->failed == 0 ? GBX_OK : failed(s, path, reterr);
}

/* Move a descriptor above the numbers that the program will use, so that placing one
 * there does not overwrite it. */
static bool move_clear(int *fd)
{
    int moved;

    if (*fd >= GBX_SQLITE_FDS_END)
        return true;
    moved = fcntl(*fd, F_DUPFD_CLOEXEC, GBX_SQLITE_FDS_END);
    if (moved < 0)
        return false;
    gbx_fd_close(fd);
    *fd = moved;
    return true;
}

gbx_status gbx_spawned_open(gbx_spawned *ret, int type, int *ret_control, int *ret_said,
                            gbx_error *reterr)
{
    int pair[2] = {-1, -1};
    int on = 1;

    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot open the control socket: %s",
                        strerror(errno));
    ret->control = pair[0];
    *ret_control = pair[1];
    /* Excessive output is cut; writing never blocks on the reader. */
    if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot open a pipe: %s", strerror(errno));
    ret->said = pair[0];
    *ret_said = pair[1];
    if (fcntl(ret->control, F_SETFL, O_NONBLOCK) < 0 ||
        (type == SOCK_STREAM &&
         setsockopt(ret->control, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0))
        return gbx_fail(reterr, GBX_E_OS, "cannot set up the control socket: %s",
                        strerror(errno));
    return GBX_OK;
}

/* Our ends go into ret, the others into s; the caller closes all. */
static gbx_status open_channels(start *s, int type, gbx_spawned *ret, gbx_error *reterr)
{
    gbx_status status;

    s->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (s->null < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot open '/dev/null': %s",
                        strerror(errno));
    status = gbx_spawned_open(ret, type, &s->control, &s->said, reterr);
    if (status != GBX_OK)
        return status;
    if (!move_clear(&s->program) || !move_clear(&s->null) || !move_clear(&s->said) ||
        !move_clear(&s->control))
        return gbx_fail(reterr, GBX_E_OS, "cannot place descriptors: %s",
                        strerror(errno));
    return GBX_OK;
}

static void write_arguments(start *s, const gbx_spawn_options *options)
{
    const char *loader[LOADER_ARGS] = {
        "glovebox-worker", "--inhibit-cache", "--library-path", s->search_path,
        "--argv0",         "glovebox-worker", s->path};
    bool is_zygote = options->kind == GBX_SPAWN_ZYGOTE;

    (void)snprintf(s->version, sizeof s->version, "%u", GBX_WIRE_VERSION);
    (void)snprintf(s->number, sizeof s->number, "%u",
                   is_zygote ? options->huge_pages : options->layers_off);
    s->argv[0] = "glovebox-worker";
    s->args = s->argv;
    if (s->is_bundled) { /* the program's own follow the loader's, at its path */
        memcpy(s->argv, loader, sizeof loader);
        s->args += LOADER_ARGS - 1;
    }
    s->args[GBX_START_SERVE] = is_zygote                           ? "--zygote"
                               : options->kind == GBX_SPAWN_SQLITE ? "--sqlite"
                                                                   : "--serve";
    s->args[GBX_START_VERSION] = s->version;
    s->args[GBX_START_LAYERS_OFF] = s->number;
    if (is_zygote)
        return;
    s->args[GBX_START_IS_GROUPED] = "0";
    s->args[GBX_START_UIDS] = options->uids;
}

static void wait_for(int pidfd, int flags)
{
    while (waitid((idtype_t)3 /* P_PIDFD */, (id_t)pidfd, NULL, WEXITED | flags) < 0 &&
           errno == EINTR)
        continue;
}

gbx_status gbx_spawn(const gbx_spawn_options *options, gbx_spawned *ret,
                     gbx_error *reterr)
{
    start s = {.program = -1,
               .null = -1,
               .said = -1,
               .control = -1,
               .rows = -1,
               .paths = options->paths,
               .cgroup = options->cgroup,
               .environment = gbx_worker_environment(options->jit)};
    gbx_spawned spawned = GBX_SPAWNED_INIT;
    gbx_status status = gbx_worker_program_open(options->worker_path, &s.program,
                                                s.path, sizeof s.path, reterr);

    if (status == GBX_OK) {
        int loader =
            gbx_worker_loader_open(s.path, s.search_path, sizeof s.search_path);

        if (loader >= 0) { /* in a bundle it is executed, and loads the program */
            gbx_fd_close(&s.program);
            s.program = loader;
        }
        spawned.is_bundled = s.is_bundled = loader >= 0;
        gbx_worker_program_hide(&s.program);
        status = open_channels(&s,
                               options->kind == GBX_SPAWN_ZYGOTE ? SOCK_SEQPACKET
                                                                 : SOCK_STREAM,
                               &spawned, reterr);
    }
    if (status == GBX_OK && options->kind == GBX_SPAWN_SQLITE) {
        s.rows = fcntl(options->rows, F_DUPFD_CLOEXEC, GBX_SQLITE_FDS_END);
        if (s.rows < 0)
            status = gbx_fail(reterr, GBX_E_OS, "cannot place descriptors: %s",
                              strerror(errno));
    }
    if (status == GBX_OK) {
        s.fault = mmap(NULL, sizeof *s.fault, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (s.fault == MAP_FAILED)
            status = gbx_fail(reterr, GBX_E_NOMEM, "no memory to start the template");
    }
    if (status == GBX_OK) {
        write_arguments(&s, options);
        status = run(&s, s.path, &spawned, reterr);
        (void)munmap(s.fault, sizeof *s.fault);
    }
    gbx_fd_close(&s.program);
    gbx_fd_close(&s.null);
    gbx_fd_close(&s.said);
    gbx_fd_close(&s.control);
    gbx_fd_close(&s.rows);
    if (status != GBX_OK)
        gbx_spawned_close(&spawned);
    *ret = spawned;
    return status;
}

bool gbx_spawned_settle(gbx_spawned *spawned, pid_t pid)
{
    int off = 0;
    int pidfd;

    (void)setsockopt(spawned->control, SOL_SOCKET, SO_PASSCRED, &off, sizeof off);
    if (pid != spawned->pid) {
        if (pid <= 0 || getpgid(pid) != spawned->pid)
            return false;
        pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0)
            return false;
        /* End the executed program: the template has taken its place. */
        gbx_pidfd_kill(spawned->pidfd);
        wait_for(spawned->pidfd, 0);
        (void)close(spawned->pidfd);
        spawned->pidfd = pidfd;
        spawned->pid = pid;
    }
    gbx_fd_close(&spawned->said); /* a template reports by messages */
    spawned->is_settled = true;
    return true;
}

void gbx_spawned_kill(gbx_spawned *spawned)
{
    /* The closed socket ends it too, so a wait for its end is bounded. */
    gbx_fd_close(&spawned->control);
    if (spawned->pidfd >= 0)
        gbx_pidfd_kill(spawned->pidfd);
}

void gbx_spawned_reap(gbx_spawned *spawned)
{
    pid_t group = spawned->pid;

    /* The executed program and its forks are our children, in one process group. The
     * group's number is the program's pid, which cannot be reused before the program is
     * waited for. */
    if (spawned->pidfd >= 0 && !spawned->is_settled) {
        gbx_pidfd_kill(spawned->pidfd);
        wait_for(spawned->pidfd, WNOWAIT);
        /* It has ended, and can fork no more. */
        (void)kill(-group, SIGKILL);
        while (waitid(P_PGID, (id_t)group, NULL, WEXITED) == 0 || errno == EINTR)
            continue;
    }
    if (spawned->pidfd >= 0) /* also if it could not make its group */
        wait_for(spawned->pidfd, 0);
    gbx_fd_close(&spawned->pidfd);
    gbx_fd_close(&spawned->said);
    spawned->pid = 0;
}

void gbx_spawned_close(gbx_spawned *spawned)
{
    gbx_spawned_kill(spawned);
    gbx_spawned_reap(spawned);
}

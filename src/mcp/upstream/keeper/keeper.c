/* SPDX-License-Identifier: MIT */
/*
 * keeper - starts a server, whose processes cannot escape, and waits for its end.
 *
 * There are two keeper processes if a pid namespace is available: this one, and process
 * 1 of the namespace, which reaps orphans. Each watches the socket to our starter, and
 * also dies with its parent by a signal: the socket does not depend on the thread that
 * started us, and the signal works even while we are stopped.
 *
 *     glovebox -> keeper -> keeper, process 1 -> command -> what it starts
 *     glovebox -> keeper, subreaper           -> command -> what it starts
 */
#include "mcp/upstream/keeper/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- namespaces --------------------------------------------------------------
 *
 * A pid namespace for one server: when its process 1 dies, the kernel kills
 * all others in it, however often they have forked and whatever they ignore.
 *
 * Root creates the namespaces directly. Other users need a user namespace for that. In
 * it they keep their ids: files stay theirs, and they gain no new rights.
 */

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    size_t len = strlen(text);
    bool written = fd >= 0 && write(fd, text, len) == (ssize_t)len;

    if (fd >= 0)
        (void)close(fd);
    return written;
}

/* Process 1 finishes the namespaces, while its parent waits for the result. */
static bool settle(bool in_user_ns, unsigned uid, unsigned gid, gbx_containment *ret)
{
    char line[48];
    bool has_proc;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* our parent may die meanwhile */
    if (in_user_ns) {
        (void)snprintf(line, sizeof line, "%u %u 1\n", uid, uid);
        if (!write_file("/proc/self/uid_map", line))
            return false;
        /* Without this, no group may be mapped; our groups are kept anyway. */
        (void)write_file("/proc/self/setgroups", "deny");
        (void)snprintf(line, sizeof line, "%u %u 1\n", gid, gid);
        if (!write_file("/proc/self/gid_map", line))
            return false;
    }
    /* Mount a /proc that shows this namespace's processes instead of ours. Where parts of
     * /proc are hidden, as in most containers, ordinary users may not do so. */
    has_proc =
        mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
    *ret = has_proc ? GBX_CONTAIN_PID_NS : GBX_CONTAIN_PID_NS_ONLY;
    /* Entering the namespace changed our credentials, which clears the signal. */
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

/* Fork into new namespaces. 0 in the child, which is process 1; the child's id in the
 * parent, or -1 with errno if namespaces are not available. */
static int fork_into_namespaces(gbx_containment *ret_how)
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

/* ---- the tree of processes -----------------------------------------------------
 *
 * Without a namespace, the processes below this one are found by descent.
 *
 * This process is their subreaper: an orphan becomes our child, so a process does not
 * escape by forking twice. They may fork faster than they are found; the caller
 * searches again until none is left.
 */

#define PROCESSES_MAX 16384

typedef struct process {
    int pid;
    int parent;
    bool is_below;
} process;

static process processes[PROCESSES_MAX];

static int parent_of(int pid)
{
    char path[64];
    char line[512];
    const char *end;
    FILE *file;
    int parent = -1;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return -1;
    /* The name is in parentheses, and may itself hold any character, even
     * parentheses. */
    if (fgets(line, sizeof line, file) != NULL && (end = strrchr(line, ')')) != NULL &&
        strlen(end) > 4)
        parent = (int)strtol(end + 4, NULL, 10);
    (void)fclose(file);
    return parent;
}

static size_t list_processes(void)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    size_t count = 0;

    if (proc == NULL)
        return 0;
    while ((entry = readdir(proc)) != NULL && count < PROCESSES_MAX) {
        int pid = (int)strtol(entry->d_name, NULL, 10);

        if (pid > 0)
            processes[count++] = (process){.pid = pid, .parent = parent_of(pid)};
    }
    (void)closedir(proc);
    return count;
}

static bool is_below(size_t count, int parent)
{
    for (size_t i = 0; i < count; i++)
        if (processes[i].pid == parent)
            return processes[i].is_below;
    return false;
}

/* Send a signal to every process below this one; returns how many there were. */
static unsigned signal_tree(int signal_number)
{
    size_t count = list_processes();
    int self = (int)getpid();
    unsigned found = 0;
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            process *p = &processes[i];

            if (p->is_below || (p->parent != self && !is_below(count, p->parent)))
                continue;
            p->is_below = more = true;
            (void)kill(p->pid, signal_number);
            found++;
        }
    }
    return found;
}

/* ---- the keeper ------------------------------------------------------------- */

#define EXIT_USAGE 64
#define EXIT_LOST  70

/* Pause between two searches for processes that forked while they were being killed. */
#define KILL_STEP_MS 2

typedef struct keeper {
    int signals;       /* a signalfd */
    pid_t child;       /* the command, or process 1; -1: it was reaped */
    bool is_subreaper; /* every other process is a descendant of ours */
    bool is_first;     /* process 1 of the namespace */
    bool tells;        /* is the command's parent, and so reports its end */
} keeper;

static void report(gbx_keeper_said said, int value)
{
    gbx_keeper_report r = {.said = said, .value = value};

    (void)send(GBX_KEEPER_FD, &r, sizeof r, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Give up the server's stdin and stdout: when the server closes its output, its reader
 * must see the end. */
static bool let_go_of_stdio(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    bool done = fd >= 0;

    for (int to = 0; to <= 2 && done; to++)
        done = dup2(fd, to) == to;
    if (fd > 2)
        (void)close(fd);
    return done;
}

/* argv: descriptors, directory, command, its arguments. */
static void become_command(char **argv)
{
    rlim_t soft = strtoull(argv[0], NULL, 10);
    const char *directory = argv[1];
    struct rlimit limit;
    sigset_t none;

    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (*directory != 0 && chdir(directory) < 0) {
        report(GBX_KEEPER_NO_DIRECTORY, errno);
        _exit(127);
    }
    (void)setsid();
    /* Restore our starter's limit: ours may be too high for a program that uses
     * select(). */
    if (soft != 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 && soft <= limit.rlim_max) {
        limit.rlim_cur = soft;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    (void)execvp(argv[2], argv + 2);
    report(GBX_KEEPER_NO_COMMAND, errno);
    _exit(127);
}

/* Kill everything below us, and exit. Process 1 just exits: the kernel then
 * kills the rest. */
static void kill_all(const keeper *k)
{
    if (k->is_first)
        _exit(0);
    if (!k->is_subreaper) {
        if (k->child > 0) {
            (void)kill(k->child, SIGKILL);
            (void)waitpid(k->child, NULL, 0);
        }
        _exit(0);
    }
    while (waitpid(-1, NULL, WNOHANG) >= 0 || errno == EINTR) {
        (void)signal_tree(SIGKILL);
        (void)poll(NULL, 0, KILL_STEP_MS);
    }
    _exit(0);
}

static void terminate(const keeper *k)
{
    if (k->is_first)
        (void)kill(-1, SIGTERM);
    else if (k->is_subreaper)
        (void)signal_tree(SIGTERM);
    else
        (void)kill(k->child, SIGTERM);
}

/* When the child ends, the server has ended, and its other processes have no client.
 * The child's pid may be reused from now on. */
static void reap(keeper *k)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != k->child)
            continue;
        if (k->tells)
            report(GBX_KEEPER_ENDED, status);
        k->child = -1;
        kill_all(k);
    }
}

static void on_signal(keeper *k)
{
    struct signalfd_siginfo info;

    while (read(k->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            reap(k);
        else if (info.ssi_signo == SIGHUP)
            kill_all(k); /* our parent is dead */
        else
            terminate(k);
    }
}

static void on_control(const keeper *k, short what)
{
    char word = 0;

    if (!k->is_first && recv(GBX_KEEPER_FD, &word, 1, MSG_DONTWAIT) == 1) {
        if (word == GBX_KEEPER_TERMINATE)
            terminate(k);
        else
            kill_all(k);
        return;
    }
    if ((what & (POLLHUP | POLLERR)) != 0)
        kill_all(k);
}

static void watch(keeper *k)
{
    struct pollfd fds[] = {
        {.fd = GBX_KEEPER_FD, .events = (short)(k->is_first ? 0 : POLLIN)},
        {.fd = k->signals, .events = POLLIN},
    };

    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            kill_all(k);
        if (fds[1].revents != 0)
            on_signal(k);
        if (fds[0].revents != 0)
            on_control(k, fds[0].revents);
    }
}

/* Fork the command, and stay to wait for it. */
static void keep_command(keeper *k, char **argv)
{
    k->tells = true;
    k->child = fork();
    if (k->child == 0) {
        if (k->is_subreaper)
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        become_command(argv);
    }
    if (k->child < 0) {
        report(GBX_KEEPER_NO_COMMAND, errno);
        _exit(EXIT_LOST);
    }
    if (!let_go_of_stdio())
        kill_all(k);
    watch(k);
}

/* True if our starter died before we asked for a signal on its death. */
static bool is_abandoned(void)
{
    struct pollfd fd = {.fd = GBX_KEEPER_FD};

    return poll(&fd, 1, 0) == 1 && (fd.revents & (POLLHUP | POLLERR)) != 0;
}

int main(int argc, char **argv)
{
    keeper k = {0};
    gbx_containment how = GBX_CONTAIN_UNKNOWN;
    sigset_t set;

    if (argc < 5) {
        (void)dprintf(2, "usage: glovebox-keeper " GBX_KEEPER_BEST "|" GBX_KEEPER_PLAIN
                         " DESCRIPTORS DIRECTORY COMMAND [ARGUMENT...]\n"
                         "It is started by glovebox mcp, for one server each.\n");
        return EXIT_USAGE;
    }
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)fcntl(GBX_KEEPER_FD, F_SETFD, FD_CLOEXEC);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_SETMASK, &set, NULL) < 0)
        return EXIT_LOST;
    k.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (k.signals < 0)
        return EXIT_LOST;
    k.child = strcmp(argv[1], GBX_KEEPER_PLAIN) == 0 ? -1 : fork_into_namespaces(&how);
    if (k.child == 0) {
        k.is_first = true;
        report(GBX_KEEPER_CONTAINED, how);
        if (!is_abandoned())
            keep_command(&k, argv + 2);
        return EXIT_LOST;
    }
    if (k.child > 0) {
        if (is_abandoned() || !let_go_of_stdio())
            kill_all(&k);
        watch(&k);
    }
    k.is_subreaper = true;
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)prctl(PR_SET_PDEATHSIG, SIGHUP);
    report(GBX_KEEPER_CONTAINED, GBX_CONTAIN_SUBREAPER);
    if (!is_abandoned())
        keep_command(&k, argv + 2);
    return EXIT_LOST;
}

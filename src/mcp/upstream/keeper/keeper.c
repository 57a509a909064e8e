/* SPDX-License-Identifier: MIT */
/*
 * keeper - starts a server so that none of its processes can escape, and waits.
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

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

static int take_signals(void)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_SETMASK, &set, NULL) < 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
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

/* Restore our starter's limit: ours may be too high for a program that uses
 * select(). */
static void limit_descriptors(const char *number)
{
    rlim_t soft = strtoull(number, NULL, 10);
    struct rlimit limit;

    if (soft == 0 || getrlimit(RLIMIT_NOFILE, &limit) < 0 || soft > limit.rlim_max)
        return;
    limit.rlim_cur = soft;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* argv: descriptors, directory, command, its arguments. */
static void become_command(char **argv)
{
    const char *directory = argv[1];
    sigset_t none;

    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (*directory != 0 && chdir(directory) < 0) {
        report(GBX_KEEPER_NO_DIRECTORY, errno);
        _exit(127);
    }
    (void)setsid();
    limit_descriptors(argv[0]);
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
        (void)gbx_keeper_signal_tree(SIGKILL);
        (void)poll(NULL, 0, KILL_STEP_MS);
    }
    _exit(0);
}

static void terminate(const keeper *k)
{
    if (k->is_first)
        (void)kill(-1, SIGTERM);
    else if (k->is_subreaper)
        (void)gbx_keeper_signal_tree(SIGTERM);
    else
        (void)kill(k->child, SIGTERM);
}

/* The child's end is the server's end: its other processes serve nobody any more. The
 * child's pid may be reused from now on. */
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

/* Did our starter die before we had asked for a signal on its death? */
static bool is_abandoned(void)
{
    struct pollfd fd = {.fd = GBX_KEEPER_FD};

    return poll(&fd, 1, 0) == 1 && (fd.revents & (POLLHUP | POLLERR)) != 0;
}

int main(int argc, char **argv)
{
    keeper k = {0};
    gbx_containment how = GBX_CONTAIN_UNKNOWN;

    if (argc < 5) {
        (void)dprintf(2, "usage: glovebox-keeper " GBX_KEEPER_BEST "|" GBX_KEEPER_PLAIN
                         " DESCRIPTORS DIRECTORY COMMAND [ARGUMENT...]\n"
                         "It is started by glovebox mcp, for one server each.\n");
        return EXIT_USAGE;
    }
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)fcntl(GBX_KEEPER_FD, F_SETFD, FD_CLOEXEC);
    k.signals = take_signals();
    if (k.signals < 0)
        return EXIT_LOST;
    k.child = strcmp(argv[1], GBX_KEEPER_PLAIN) == 0 ? -1 : gbx_keeper_fork(&how);
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

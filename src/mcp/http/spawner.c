/* SPDX-License-Identifier: MIT */
/*
 * spawner - the process that forks children. It is forked before the first client
 * connects, and does nothing but fork, so a child's memory is as clean as that of a new
 * process.
 */
#include "mcp/http/http.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Over stdio, a client waits for the end of the output that we have inherited. */
static bool leave_standard(void)
{
    GBX_CLEANUP(gbx_fd_close) int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    return fd >= 0 && dup2(fd, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0;
}

/* Die with the parent. False: the parent is dead already. */
static bool follow(pid_t parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

/* Fork a child for each request. Returns 0 in a child, 1 on failure and at the end. */
static int serve_front(int socket, gbx_http_caller *caller, int *ret_console)
{
    pid_t self = getpid();
    int fds[2];

    while (gbx_fd_receive(socket, caller, sizeof *caller, fds, 2, MSG_CMSG_CLOEXEC) ==
           sizeof *caller) {
        pid_t child = fds[0] >= 0 ? fork() : -1;

        caller->name[sizeof caller->name - 1] = 0;
        if (child == 0) {
            *ret_console = fds[1];
            if (!follow(self) || dup2(fds[0], STDIN_FILENO) < 0 ||
                dup2(fds[0], STDOUT_FILENO) < 0)
                return 1;
            (void)signal(SIGCHLD, SIG_DFL);
            (void)close(socket);
            (void)close(fds[0]);
            return 0;
        }
        /* After a failed fork this tells the front: its end of the socket is closed. */
        gbx_fd_close(&fds[0]);
        gbx_fd_close(&fds[1]);
    }
    return 1;
}

gbx_status gbx_spawner_start(int *ret_socket, gbx_http_caller *ret_caller,
                             int *ret_console, gbx_error *reterr)
{
    pid_t front = getpid();
    int pair[2];
    pid_t pid;
    int fd;

    /* Open the standard descriptors: otherwise our sockets could get their numbers. */
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0 || close(fd) != 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot make a socket: %s", strerror(errno));
    pid = fork();
    if (pid < 0) {
        (void)close(pair[0]);
        (void)close(pair[1]);
        return gbx_fail(reterr, GBX_E_OS, "cannot fork: %s", strerror(errno));
    }
    if (pid > 0) {
        (void)close(pair[1]);
        *ret_socket = pair[0];
        return GBX_OK;
    }
    (void)close(pair[0]);
    gbx_http_close_inherited(front);
    /* Signals of the terminal go only to the front, which ends us in order. */
    (void)setpgid(0, 0);
    (void)signal(SIGCHLD, SIG_IGN); /* the kernel reaps */
    if (!follow(front) || !leave_standard() ||
        serve_front(pair[1], ret_caller, ret_console) != 0)
        _exit(0);
    *ret_socket = -1;
    return GBX_OK;
}

bool gbx_spawner_fork(int spawner, const gbx_http_caller *caller, int console,
                      int *ret_fd)
{
    int pair[2] = {-1, -1};
    bool is_sent = false;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0)
        is_sent = gbx_fd_send(spawner, caller, sizeof *caller,
                              (int[]){pair[1], console}, console >= 0 ? 2 : 1,
                              MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof *caller;
    gbx_fd_close(&console);
    gbx_fd_close(&pair[1]);
    if (!is_sent)
        gbx_fd_close(&pair[0]);
    else
        *ret_fd = pair[0];
    return is_sent;
}

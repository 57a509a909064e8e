/* SPDX-License-Identifier: MIT */
/*
 * spawner - forks a process for each client. It is forked itself before anything is known
 * of any client, and does nothing but fork: a child's memory is as clean as that of a
 * fresh process.
 */
#include "mcp/http/http.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Standard descriptors that are closed would be taken by our sockets. */
static bool fill_standard(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    return fd >= 0 && close(fd) == 0;
}

/* Die with the parent. False: it is dead already. */
static bool follow(pid_t parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

/* Become the server of the client behind fd. */
static bool become_child(int socket, int fd, pid_t parent)
{
    if (!follow(parent) || dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
        return false;
    (void)signal(SIGCHLD, SIG_DFL);
    (void)close(socket);
    (void)close(fd);
    return true;
}

/* Fork a child for every request. Returns in a child: 0, or an exit status. */
static int serve_front(int socket)
{
    pid_t self = getpid();
    char ask;
    int fd;

    while (gbx_fd_receive(socket, &ask, 1, &fd, 1, MSG_CMSG_CLOEXEC) > 0) {
        pid_t child = fd >= 0 ? fork() : -1;

        if (child == 0)
            return become_child(socket, fd, self) ? 0 : 1;
        /* After a failed fork the front sees its own end closed. */
        gbx_fd_close(&fd);
    }
    return 1;
}

gbx_status gbx_spawner_start(int *ret_socket, gbx_error *reterr)
{
    pid_t front = getpid();
    int pair[2];
    pid_t pid;

    if (!fill_standard() ||
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
    /* Keys of the terminal are for the front, which ends us in order. */
    (void)setpgid(0, 0);
    (void)signal(SIGCHLD, SIG_IGN); /* the kernel reaps */
    if (!follow(front) || serve_front(pair[1]) != 0)
        _exit(0);
    *ret_socket = -1;
    return GBX_OK;
}

bool gbx_spawner_fork(int spawner, int *ret_fd)
{
    int pair[2];
    bool is_sent;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return false;
    is_sent =
        gbx_fd_send(spawner, "c", 1, &pair[1], 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
    (void)close(pair[1]);
    if (!is_sent)
        gbx_fd_close(&pair[0]);
    else
        *ret_fd = pair[0];
    return is_sent;
}

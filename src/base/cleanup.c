/* SPDX-License-Identifier: MIT */
/* cleanup - see cleanup.h. */
#include "base/cleanup.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define SPARE_MAX 16

void *gbx_need(void *memory)
{
    static const char text[] = "glovebox: memory is out\n";

    if (memory == NULL) {
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(71); /* the exit status of GBX_E_NOMEM */
    }
    return memory;
}

char *gbx_printed(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    int len;

    va_start(args, format);
    len = vasprintf(&text, format, args);
    va_end(args);
    return gbx_need(len >= 0 ? text : NULL);
}

void gbx_wipe(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    free(text);
}

size_t gbx_fd_put(int fd, const void *data, size_t len)
{
    const char *at = data;
    size_t done = 0;

    while (done < len) {
        ssize_t n = write(fd, at + done, len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

bool gbx_fd_write(int fd, const void *data, size_t len)
{
    return gbx_fd_put(fd, data, len) == len;
}

union control {
    struct cmsghdr align;
    char space[CMSG_SPACE(GBX_FDS_MAX * sizeof(int))];
};

ssize_t gbx_fd_send(int socket, const void *data, size_t len, const int *fds,
                    size_t fd_count, int flags)
{
    union control control = {0};
    struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = CMSG_SPACE(fd_count * sizeof *fds)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    ssize_t n;

    assert(fd_count > 0 && fd_count <= GBX_FDS_MAX);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fd_count * sizeof *fds);
    memcpy(CMSG_DATA(c), fds, fd_count * sizeof *fds);
    do
        n = sendmsg(socket, &msg, flags | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n;
}

ssize_t gbx_fd_receive(int socket, void *data, size_t len, int *fds, size_t fd_count,
                       int flags)
{
    union control control;
    struct iovec iov = {.iov_base = data, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control};
    const struct cmsghdr *c;
    ssize_t n;

    assert(fd_count > 0 && fd_count <= GBX_FDS_MAX);
    memset(fds, 0xff, fd_count * sizeof *fds);
    do {
        /* Not CMSG_SPACE(), whose padding could hold one more. */
        msg.msg_controllen = CMSG_LEN(fd_count * sizeof *fds);
        n = recvmsg(socket, &msg, flags | MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    return n;
}

bool gbx_fd_has_room(int fd, int wait_ms)
{
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    int n;

    do
        n = poll(&out, 1, wait_ms);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        errno = EAGAIN;
    return n == 1;
}

bool gbx_fd_offer(int fd, const void *data, size_t len, int wait_ms)
{
    return gbx_fd_has_room(fd, wait_ms) && gbx_fd_write(fd, data, len);
}

ssize_t gbx_fd_start(int dir, const char *path, char *text, size_t size)
{
    GBX_CLEANUP(gbx_fd_close) int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : 0;
    ssize_t n = len;

    while (n >= 0 && (size_t)len < size - 1) {
        n = read(fd, text + len, size - 1 - (size_t)len);
        if (n == 0)
            break;
        len = n < 0 ? -1 : len + n;
    }
    text[len > 0 ? len : 0] = 0;
    return len;
}

void gbx_fd_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

int gbx_fd_take(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

bool gbx_fd_has_spare(size_t count)
{
    int fds[SPARE_MAX];
    size_t n = 0;
    int e;

    assert(count <= SPARE_MAX);
    while (n < count && (fds[n] = eventfd(0, EFD_CLOEXEC)) >= 0)
        n++;
    e = errno;
    for (size_t i = 0; i < n; i++)
        (void)close(fds[i]);
    errno = e;
    return n == count;
}

void gbx_free(void *pointer_to_pointer)
{
    void *p;

    memcpy(&p, pointer_to_pointer, sizeof p);
    free(p);
}

/* SPDX-License-Identifier: MIT */
/* channel - a sealed worker may only read and write: gbx_channel_read() and
 * gbx_channel_write() must not use other calls. */
#include "worker/worker.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FDS_MAX 2

ssize_t gbx_channel_read_some(int fd, void *data, size_t len)
{
    ssize_t n;

    do
        n = read(fd, data, len);
    while (n < 0 && errno == EINTR);
    return n;
}

bool gbx_channel_read(int fd, void *data, size_t len)
{
    uint8_t *at = data;

    while (len > 0) {
        ssize_t n = gbx_channel_read_some(fd, at, len);

        if (n <= 0)
            return false;
        at += n;
        len -= (size_t)n;
    }
    return true;
}

bool gbx_channel_write(int fd, const void *data, size_t len)
{
    return gbx_fd_write(fd, data, len);
}

bool gbx_channel_read_header(int fd, gbx_header *ret)
{
    uint8_t data[GBX_FRAME_HEADER_SIZE];

    return gbx_channel_read(fd, data, sizeof data) && gbx_header_decode(data, ret);
}

bool gbx_channel_read_header_fd(int fd, gbx_header *ret, int *ret_fd)
{
    uint8_t data[GBX_FRAME_HEADER_SIZE];
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = {.iov_base = data, .iov_len = sizeof data};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof control};
    struct cmsghdr *c;
    ssize_t n;

    *ret_fd = -1;
    do
        n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return false;
    c = CMSG_FIRSTHDR(&msg);
    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(ret_fd, CMSG_DATA(c), sizeof *ret_fd);
    return gbx_channel_read(fd, data + n, sizeof data - (size_t)n) &&
           gbx_header_decode(data, ret);
}

bool gbx_channel_write_fds(int fd, const void *data, size_t len, const int *fds,
                           size_t fd_count)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int) * FDS_MAX)];
    } control;
    struct iovec iov;
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = CMSG_SPACE(sizeof(int) * fd_count)};
    struct cmsghdr *c;
    ssize_t n;

    assert(fd_count > 0 && fd_count <= FDS_MAX);
    memcpy(&iov.iov_base, &data, sizeof data);
    iov.iov_len = len;
    memset(&control, 0, sizeof control);
    c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
    memcpy(CMSG_DATA(c), fds, sizeof(int) * fd_count);
    do
        n = sendmsg(fd, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n > 0 && gbx_channel_write(fd, (const uint8_t *)data + n, len - (size_t)n);
}

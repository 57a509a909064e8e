/* SPDX-License-Identifier: MIT */
/* channel - whole frames over a socket. A sealed worker may only read and write, so
 * gbx_channel_read() and gbx_channel_write() must not use other system calls. */
#include "worker/worker.h"

#include <errno.h>
#include <unistd.h>

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
    ssize_t n = gbx_fd_receive(fd, data, sizeof data, ret_fd, 1, 0);

    if (n <= 0)
        return false;
    return gbx_channel_read(fd, data + n, sizeof data - (size_t)n) &&
           gbx_header_decode(data, ret);
}

bool gbx_channel_write_fds(int fd, const void *data, size_t len, const int *fds,
                           size_t fd_count)
{
    ssize_t n = gbx_fd_send(fd, data, len, fds, fd_count, 0);

    return n > 0 && gbx_channel_write(fd, (const uint8_t *)data + n, len - (size_t)n);
}

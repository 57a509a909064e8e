/* SPDX-License-Identifier: MIT */
/*
 * channel - whole frames over a blocking stream socket, as template and worker need
 * them: their peer is the host, which they trust. One thread.
 */
#ifndef GBX_WORKER_CHANNEL_H
#define GBX_WORKER_CHANNEL_H

#include "wire/messages.h"

#include <sys/types.h>

/* Read what there is, up to len bytes: 0 at the end of the stream, -1 on an error. */
ssize_t gbx_channel_read_some(int fd, void *data, size_t len);

/* Read exactly len bytes; false at the end of the stream or on an error. */
bool gbx_channel_read(int fd, void *data, size_t len);

/* Write all of it. */
bool gbx_channel_write(int fd, const void *data, size_t len);

/* Read a header; false at the end of the stream or if it is malformed. */
bool gbx_channel_read_header(int fd, gbx_header *ret);

/* The same, taking one descriptor that may come with it; *ret_fd is -1 if none. */
bool gbx_channel_read_header_fd(int fd, gbx_header *ret, int *ret_fd);

/* Write all of it with descriptors attached to the first byte. */
bool gbx_channel_write_fds(int fd, const void *data, size_t len, const int *fds,
                           size_t fd_count);

#endif

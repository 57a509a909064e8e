/* SPDX-License-Identifier: MIT */
/*
 * cleanup - leave a scope early without leaking what it holds.
 *
 * GBX_CLEANUP(fn) calls fn(&variable) when the variable goes out of scope; the
 * take functions move the value out, so that nothing is left to clean up.
 */
#ifndef GBX_BASE_CLEANUP_H
#define GBX_BASE_CLEANUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define GBX_CLEANUP(fn) __attribute__((cleanup(fn)))
#define GBX_COUNTOF(a)  (sizeof(a) / sizeof((a)[0]))
#define GBX_KIB(n)      ((size_t)(n)*1024)
#define GBX_MIB(n)      ((size_t)(n)*1024 * 1024)

/* Write all of it, despite signals. Returns the number of bytes written; if that is
 * less than len, errno is set. */
size_t gbx_fd_put(int fd, const void *data, size_t len);

/* The same; false with errno, and the number of bytes written is unknown. */
bool gbx_fd_write(int fd, const void *data, size_t len);

/* Wait up to wait_ms for room to write. False with errno, which is EAGAIN if none
 * came. */
bool gbx_fd_has_room(int fd, int wait_ms);

/* Write all of it if there is room within wait_ms, without waiting longer. False with
 * errno, which is EAGAIN without room. At most PIPE_BUF bytes, from one thread at a
 * time. */
bool gbx_fd_offer(int fd, const void *data, size_t len, int wait_ms);

/* Descriptors that one message may carry. */
#define GBX_FDS_MAX 3

/* Send data in one call with fd_count descriptors, as send() does; restarted after a
 * signal. */
ssize_t gbx_fd_send(int socket, const void *data, size_t len, const int *fds,
                    size_t fd_count, int flags);

/* Receive with up to fd_count descriptors, as recv() does; restarted after a signal.
 * Places in fds that got none are -1; the kernel closes those that are too many. */
ssize_t gbx_fd_receive(int socket, void *data, size_t len, int *fds, size_t fd_count,
                       int flags);

/* Close *fd if it is open, and set it to -1. */
void gbx_fd_close(int *fd);

/* Move the descriptor out of *fd, leaving -1. */
int gbx_fd_take(int *fd);

/* Can so many more descriptors be opened? At most 16 are tested; false with errno. For
 * libraries that end the process when they get none. */
bool gbx_fd_has_spare(size_t count);

/* For the command and the MCP server: memory, or whatever else is NULL only without any.
 * NULL ends the process with a message. The library must not use it. */
void *gbx_need(void *memory) __attribute__((returns_nonnull));

/* free() for GBX_CLEANUP; the argument is a pointer to the pointer. */
void gbx_free(void *pointer_to_pointer);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * cleanup - release resources at the end of a scope, and helpers for descriptors.
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

/* The same; false with errno if only a part, of unknown length, was written. */
bool gbx_fd_write(int fd, const void *data, size_t len);

/* Wait up to wait_ms until fd is writable. False with errno, which is EAGAIN after that
 * time. */
bool gbx_fd_has_room(int fd, int wait_ms);

/* Write all of it if fd becomes writable within wait_ms; never wait longer. False with
 * errno, which is EAGAIN after that time. len is at most PIPE_BUF. One thread at a time
 * may call it for fd. */
bool gbx_fd_offer(int fd, const void *data, size_t len, int wait_ms);

/* Maximum number of descriptors in one message. */
#define GBX_FDS_MAX 3

/* Send data and fd_count descriptors in one message. Returns as send() does; restarted
 * after a signal. */
ssize_t gbx_fd_send(int socket, const void *data, size_t len, const int *fds,
                    size_t fd_count, int flags);

/* Receive data and up to fd_count descriptors. Returns as recv() does; restarted after
 * a signal. Unused elements of fds are -1; the kernel closes surplus descriptors. */
ssize_t gbx_fd_receive(int socket, void *data, size_t len, int *fds, size_t fd_count,
                       int flags);

/* Open a file below dir and read its start as text: at most size - 1 bytes, then a NUL.
 * Returns their number; -1, with an empty text, if the file cannot be read. For the
 * small files of the kernel. */
ssize_t gbx_fd_start(int dir, const char *path, char *text, size_t size);

/* Close *fd if it is open, and set it to -1. */
void gbx_fd_close(int *fd);

/* Move the descriptor out of *fd, leaving -1. */
int gbx_fd_take(int *fd);

/* True if count more descriptors (at most 16) can be opened; else false with errno. For
 * libraries that end the process if they cannot open one. */
bool gbx_fd_has_spare(size_t count);

/* Return memory. NULL, which must mean that memory is out, ends the process with a
 * message. For the command and the MCP server: the library must not use it. */
void *gbx_need(void *memory) __attribute__((returns_nonnull));

/* A text printed to a format, to be freed. It ends the process as gbx_need() does. */
char *gbx_printed(const char *format, ...)
    __attribute__((format(printf, 1, 2), returns_nonnull));

/* Wipe a text, which may be a secret, and free it. NULL is ignored. */
void gbx_wipe(char *text);

/* free() for GBX_CLEANUP; the argument is a pointer to the pointer. */
void gbx_free(void *pointer_to_pointer);

#endif

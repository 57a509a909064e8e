/* SPDX-License-Identifier: MIT */
/*
 * failing_calls - the linker's --wrap leads the library's calls here. What is armed is
 * kept in shared memory: forked children count too.
 */
#include "failing_calls.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

const failing_call failing_calls[] = {
    {"socketpair", EMFILE},
    {"pipe2", ENFILE},
    {"mmap", ENOMEM},
    {"memfd_create", EMFILE},
    {"eventfd", EMFILE},
    {"open", EMFILE},
    {"open", EACCES},
    {"fstat", EIO},
    {"readlink", ENOENT},
    {"read", EINTR},
    {"read", EIO},
    {"pread", ESRCH},
    {"write", ENOSPC},
    {"write", EINTR},
    {"send", EPIPE},
    {"send", EAGAIN},
    {"send", EINTR},
    {"sendmsg", EPIPE},
    {"sendmsg", EAGAIN},
    {"recv", ECONNRESET},
    {"recv", EAGAIN},
    {"recv", EINTR},
    {"recvmsg", ECONNRESET},
    {"recvmsg", EAGAIN},
    {"recvmsg", EMFILE},
    {"ppoll", EINTR},
    {"ppoll", ENOMEM},
    {"fcntl", EINVAL},
    {"dup3", EMFILE},
    {"setsockopt", ENOMEM},
    {"syscall", EPERM},
    {"syscall", ENOMEM},
    {"syscall", ENOSYS},
    {"waitid", EINTR},
    {"getrandom", ENOSYS},
    {"clock_gettime", EINVAL},
    {"pthread_create", EAGAIN},
    {"event_new", ENOMEM},
    {"event_add", ENOMEM},
    {"event_assign", EINVAL},
};

const size_t failing_calls_count = sizeof failing_calls / sizeof failing_calls[0];

static struct shared {
    _Atomic(const failing_call *) armed;
    atomic_long left;
    atomic_bool has_failed;
} * shared;

/* Should this call fail? Then errno says how. */
static bool is_due(const char *name)
{
    const failing_call *armed;
    long before;

    armed = shared != NULL ? atomic_load(&shared->armed) : NULL;
    if (armed == NULL || strcmp(armed->name, name) != 0)
        return false;
    before = atomic_fetch_sub(&shared->left, 1);
    if (before != 1)
        return false;
    atomic_store(&shared->has_failed, true);
    errno = armed->error;
    return true;
}

/* Shared libraries refer to what is wrapped, too. */
#pragma GCC visibility push(default)

/* A call that takes these, returns -1 with errno, and is otherwise the real one. */
#define WRAP(type, name, parameters, ...)                             \
    type __real_##name parameters;                                    \
    type __wrap_##name parameters;                                    \
    type __wrap_##name parameters                                     \
    {                                                                 \
        return is_due(#name) ? (type)-1 : __real_##name(__VA_ARGS__); \
    }

/* The same, but the failure is returned. */
#define WRAP_RETURNING(name, parameters, ...)                      \
    int __real_##name parameters;                                  \
    int __wrap_##name parameters;                                  \
    int __wrap_##name parameters                                   \
    {                                                              \
        return is_due(#name) ? errno : __real_##name(__VA_ARGS__); \
    }

/* The same, but the failure is NULL. */
#define WRAP_POINTER(type, name, parameters, ...)                 \
    type __real_##name parameters;                                \
    type __wrap_##name parameters;                                \
    type __wrap_##name parameters                                 \
    {                                                             \
        return is_due(#name) ? NULL : __real_##name(__VA_ARGS__); \
    }

WRAP(int, socketpair, (int domain, int type, int protocol, int *pair), domain, type,
     protocol, pair)
WRAP(int, pipe2, (int *ends, int flags), ends, flags)
WRAP(int, memfd_create, (const char *name, unsigned flags), name, flags)
WRAP(int, eventfd, (unsigned count, int flags), count, flags)
WRAP(int, fstat, (int fd, struct stat *st), fd, st)
WRAP(ssize_t, readlink, (const char *path, char *to, size_t size), path, to, size)
WRAP(ssize_t, read, (int fd, void *to, size_t size), fd, to, size)
WRAP(ssize_t, pread, (int fd, void *to, size_t size, off_t at), fd, to, size, at)
WRAP(ssize_t, write, (int fd, const void *data, size_t len), fd, data, len)
WRAP(ssize_t, send, (int fd, const void *data, size_t len, int flags), fd, data, len,
     flags)
WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags), fd, msg, flags)
WRAP(ssize_t, recv, (int fd, void *to, size_t size, int flags), fd, to, size, flags)
WRAP(ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags), fd, msg, flags)
WRAP(int, ppoll,
     (struct pollfd * fds, nfds_t count, const struct timespec *left,
      const sigset_t *mask),
     fds, count, left, mask)
WRAP(int, dup3, (int from, int to, int flags), from, to, flags)
WRAP(int, setsockopt, (int fd, int level, int name, const void *to, socklen_t size), fd,
     level, name, to, size)
WRAP(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), type, id,
     info, options)
WRAP(ssize_t, getrandom, (void *to, size_t size, unsigned flags), to, size, flags)
WRAP(int, event_add, (struct event * event, const struct timeval *timeout), event,
     timeout)
WRAP(int, event_assign,
     (struct event * event, struct event_base *base, evutil_socket_t fd, short what,
      event_callback_fn fn, void *user),
     event, base, fd, what, fn, user)
WRAP_RETURNING(pthread_create,
               (pthread_t * thread, const pthread_attr_t *attr, void *(*fn)(void *),
                void *user),
               thread, attr, fn, user)
WRAP_POINTER(struct event *, event_new,
             (struct event_base * base, evutil_socket_t fd, short what,
              event_callback_fn fn, void *user),
             base, fd, what, fn, user)

/* Of the clocks only other processes' can be missing. */
int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
    if (clock < 0 && is_due("clock_gettime"))
        return -1;
    return __real_clock_gettime(clock, ret);
}

void *__real_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    return is_due("mmap") ? MAP_FAILED : __real_mmap(at, size, prot, flags, fd, offset);
}

/* Variadic ones: every argument the kernel could want is passed on. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    return is_due("open") ? -1 : __real_open(path, flags, 0);
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...)
{
    va_list args;
    long argument;

    va_start(args, command);
    argument = va_arg(args, long);
    va_end(args);
    return is_due("fcntl") ? -1 : __real_fcntl(fd, command, argument);
}

/* No call of the library's has more than five arguments after its number. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    va_list args;
    long a[5];

    va_start(args, number);
    for (size_t i = 0; i < 5; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    return is_due("syscall") ? -1
                             : __real_syscall(number, a[0], a[1], a[2], a[3], a[4]);
}

void failing_calls_arm(size_t index, size_t nth)
{
    if (shared == NULL) {
        shared = __real_mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
            abort();
    }
    atomic_store(&shared->has_failed, false);
    atomic_store(&shared->left, (long)nth);
    atomic_store(&shared->armed, &failing_calls[index]);
}

bool failing_calls_disarm(void)
{
    atomic_store(&shared->armed, NULL);
    return atomic_load(&shared->has_failed);
}

#pragma GCC visibility pop

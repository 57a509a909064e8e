/* SPDX-License-Identifier: MIT */
/*
 * shortmemory - a library to be preloaded: when the program reads "nth":N, the N-th
 * allocation from then on fails, once. 0 is none. Threads are counted together.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library's own, which stand behind ours. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
ssize_t __read_chk(int fd, void *to, size_t len, size_t size);

static atomic_long left; /* until the one that fails; 0: not armed */

static int is_refused(void)
{
    if (atomic_load(&left) <= 0 || atomic_fetch_sub(&left, 1) != 1)
        return 0;
    errno = ENOMEM;
    return 1;
}

static ssize_t read_and_look(int fd, void *to, size_t len)
{
    static const char key[] = "\"nth\":";
    ssize_t n = syscall(SYS_read, fd, to, len);
    const char *at = n > 0 ? memmem(to, (size_t)n, key, sizeof key - 1) : NULL;

    /* The number ends inside: what is read are whole lines. */
    if (at != NULL)
        atomic_store(&left, atol(at + sizeof key - 1));
    return n;
}

#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return is_refused() ? NULL : __libc_realloc(memory, size);
}

ssize_t read(int fd, void *to, size_t len)
{
    return read_and_look(fd, to, len);
}

ssize_t __read_chk(int fd, void *to, size_t len, size_t size)
{
    if (len > size)
        abort();
    return read_and_look(fd, to, len);
}

#pragma GCC visibility pop

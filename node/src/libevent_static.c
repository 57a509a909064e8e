/* SPDX-License-Identifier: MIT */
/*
 * libevent_static - two symbols that Debian's static libevent needs in the addon. Only
 * for random numbers it would require glibc 2.36, which many systems with Node.js lack:
 * they are made here. It also reads stderr in a way that a shared library cannot: the
 * linker makes it read __wrap_stderr.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

extern FILE *__real_stderr;
FILE *__wrap_stderr;

__attribute__((constructor)) static void set_stderr(void)
{
    __wrap_stderr = __real_stderr;
}

/* For the numbers of DNS queries, which must be unpredictable. size is at most 256. */
void arc4random_buf(void *buf, size_t size)
{
    if (getrandom(buf, size, 0) != (ssize_t)size)
        abort();
}

uint32_t arc4random(void)
{
    uint32_t number;

    arc4random_buf(&number, sizeof number);
    return number;
}

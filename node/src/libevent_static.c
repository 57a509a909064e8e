/* SPDX-License-Identifier: MIT */
/*
 * libevent_static - two things that Debian's static libevent needs inside the addon. The shared
 * libevent would need glibc 2.36, which many systems with Node.js do not have, only for its random
 * numbers: they are made here. The static one reads stderr as code of a program may and code
 * of a library may not: the linker makes it read __wrap_stderr.
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

/* For the numbers of questions to name servers, which nobody may guess. size is at most 256. */
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

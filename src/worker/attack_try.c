/* SPDX-License-Identifier: MIT */
/* attack_try - see worker.h. */
#include "worker/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Higher than any pid of a machine with default settings and some uptime. */
#define PIDS_TRIED 65536

/* ---- to the attacks -------------------------------------------------------- */

long gbx_try(gbx_attack *a, const char *name, long number, const long args[6])
{
    long result = syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
    int e = errno;

    if (result == -1)
        (void)snprintf(a->note, sizeof a->note, "%s: %s", name, strerrorname_np(e));
    else
        (void)snprintf(a->note, sizeof a->note, "%s returned %ld", name, result);
    errno = e;
    return result;
}

gbx_attack_verdict gbx_attack_verdict_of(long result)
{
    if (result >= 0)
        return GBX_BREACH;
    return errno == ENOSYS || errno == EOPNOTSUPP || errno == EAFNOSUPPORT
               ? GBX_ABSENT
               : GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_verdict_of_permission(long result)
{
    if (result < 0 && errno != EPERM && errno != EACCES && errno != ENOSYS)
        return GBX_BREACH;
    return gbx_attack_verdict_of(result);
}

long gbx_next_outside(long after)
{
    long self = syscall(SYS_getpid);
    long parent = syscall(SYS_getppid);

    /* Pid 1 of a namespace is its template: all other processes are its workers. */
    if (parent == 1)
        return 0;
    for (long pid = after + 1; pid < PIDS_TRIED; pid++)
        if (pid != self && pid != parent &&
            (syscall(SYS_kill, pid, 0) == 0 || errno == EPERM))
            return pid;
    return 0;
}

unsigned char *gbx_make_code(void)
{
#if defined(__x86_64__)
    static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};
#elif defined(__aarch64__)
    static const unsigned char code[] = {0x40, 0x05, 0x80, 0x52,
                                         0xc0, 0x03, 0x5f, 0xd6};
#else
    static const unsigned char code[1];
#endif
    unsigned char *page = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return NULL;
    memcpy(page, code, sizeof code);
    return page;
}

bool gbx_code_runs(const void *code)
{
    int (*function)(void);

    memcpy(&function, &code, sizeof function);
    __builtin___clear_cache((char *)(intptr_t)code, (char *)(intptr_t)code + 16);
    return function() == 42;
}

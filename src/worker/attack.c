/* SPDX-License-Identifier: MIT */
/*
 * attack - runs one line of the table, or one system call by its number.
 *
 * The attacking process has the channel and, with all layers, nothing else. It writes
 * its note to the channel; its exit status is the verdict.
 */
#include "worker/worker.h"

#include "base/cleanup.h"
#include "seal/seal.h"

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

gbx_attack_verdict gbx_attack_done(long result)
{
    if (result >= 0)
        return GBX_BREACH;
    return errno == ENOSYS || errno == EOPNOTSUPP || errno == EAFNOSUPPORT
               ? GBX_ABSENT
               : GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_permitted(long result)
{
    if (result < 0 && errno != EPERM && errno != EACCES && errno != ENOSYS)
        return GBX_BREACH;
    return gbx_attack_done(result);
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

static _Noreturn void finish(const gbx_attack *a, int status)
{
    char line[GBX_ATTACK_NOTE_SIZE + 1];
    size_t len = strlen(a->note);

    memcpy(line, a->note, len);
    line[len++] = '\n';
    (void)syscall(SYS_write, GBX_CHANNEL_FD, line, len);
    (void)syscall(SYS_exit_group, status);
    for (;;)
        continue;
}

/*
 * Arguments of a swept call: harmless if it is executed, but past the filter's tests,
 * and such that an executed call and an answered one differ.
 */
static void sweep_args(long number, long args[6])
{
    for (int i = 0; i < 6; i++)
        args[i] = -1;
    switch (number) {
    case SYS_read:
    case SYS_write:
        args[0] = GBX_CHANNEL_FD;
        args[1] = 0;
        args[2] = 0;
        break;
    case SYS_mmap: /* length 0: EINVAL, if it is executed */
        args[1] = 0;
        args[2] = PROT_READ | PROT_WRITE;
        args[3] = MAP_PRIVATE | MAP_ANONYMOUS;
        break;
    case SYS_mprotect: /* an unaligned address: EINVAL, if it is executed */
        args[0] = 1;
        args[1] = 0;
        args[2] = PROT_READ | PROT_WRITE;
        break;
    case SYS_exit:
    case SYS_exit_group: args[0] = GBX_ATTACK_SWEEP_STATUS; break;
    case SYS_brk: args[0] = 0; break;
    default: break;
    }
}

static _Noreturn void sweep(uint32_t number)
{
    gbx_attack a = {{0}};
    long args[6];
    long result;

    sweep_args((long)number, args);
    /* As in a register: the kernel looks at 32 bits of it. */
    result =
        syscall((long)number, args[0], args[1], args[2], args[3], args[4], args[5]);
    (void)snprintf(a.note, sizeof a.note, "returned %ld", result < 0 ? -errno : result);
    finish(&a, GBX_ATTACK_EXIT_REFUSED);
}

void gbx_attack_run(uint32_t index)
{
    gbx_attack a = {{0}};
    gbx_attack_verdict verdict = GBX_ABSENT;

    if (index >= GBX_ATTACK_SWEEP)
        sweep(index - GBX_ATTACK_SWEEP);
    (void)(gbx_attack_files(&a, &index, &verdict) ||
           gbx_attack_processes(&a, &index, &verdict) ||
           gbx_attack_network(&a, &index, &verdict) ||
           gbx_attack_kernel(&a, &index, &verdict));
    finish(&a, (int)verdict);
}

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
    /* Passed as a whole register, of which the kernel looks at 32 bits. */
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

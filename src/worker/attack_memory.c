/* SPDX-License-Identifier: MIT */
/* attack_memory - attacks that add code, or more memory than allowed. */
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE      4096
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define RWX       (PROT_READ | PROT_WRITE | PROT_EXEC)
#define RX        (PROT_READ | PROT_EXEC)

#ifndef SYS_memfd_secret
#    define SYS_memfd_secret 447
#endif

static void *as_pointer(long address)
{
    return (void *)(intptr_t)address;
}

/* The mapping claims to be executable: does it execute? */
static gbx_attack_verdict run(long result, const void *code)
{
    if (result < 0)
        return gbx_attack_verdict_of(result);
    return gbx_code_runs(code) ? GBX_BREACH : GBX_REFUSED;
}

/* ---- new code ------------------------------------------------------------------- */

gbx_attack_verdict gbx_attack_map_executable(gbx_attack *a)
{
    const unsigned char *code = gbx_make_code();
    long at = GBX_TRY(a, mmap, 0, PAGE, RWX, ANONYMOUS, -1, 0);

    if (at >= 0 && code != NULL)
        memcpy(as_pointer(at), code, 16);
    return run(at, as_pointer(at));
}

gbx_attack_verdict gbx_attack_protect_executable(gbx_attack *a)
{
    const unsigned char *code = gbx_make_code();

    return run(GBX_TRY(a, mprotect, GBX_P(code), PAGE, RX), code);
}

gbx_attack_verdict gbx_attack_pkey_executable(gbx_attack *a)
{
    const unsigned char *code = gbx_make_code();

    return run(GBX_TRY(a, pkey_mprotect, GBX_P(code), PAGE, RX, -1), code);
}

gbx_attack_verdict gbx_attack_map_memfd_executable(gbx_attack *a)
{
    const unsigned char *code = gbx_make_code();
    long fd = GBX_TRY(a, memfd_create, GBX_P("code"), 0);
    long at;

    if (fd < 0 || code == NULL)
        return gbx_attack_verdict_of(fd);
    if (GBX_TRY(a, write, fd, GBX_P(code), 16) != 16)
        return GBX_BREACH;
    at = GBX_TRY(a, mmap, 0, PAGE, RX, MAP_PRIVATE, fd, 0);
    return run(at, as_pointer(at));
}

/* After this, readable pages are executable; a page that became so is the breach. */
gbx_attack_verdict gbx_attack_read_implies_exec(gbx_attack *a)
{
    long result = GBX_TRY(a, personality, READ_IMPLIES_EXEC);
    const unsigned char *code;

    if (result < 0)
        return gbx_attack_verdict_of(result);
    code = gbx_make_code();
    if (code == NULL) {
        (void)snprintf(a->note, sizeof a->note, "mmap: %s", strerrorname_np(errno));
        return GBX_REFUSED;
    }
    return run(0, code);
}

/* ---- what is mapped ---------------------------------------------------------------- */

gbx_attack_verdict gbx_attack_map_channel(gbx_attack *a)
{
    return gbx_attack_verdict_of(
        GBX_TRY(a, mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0));
}

gbx_attack_verdict gbx_attack_memfd(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, memfd_create, GBX_P("memory"), 0));
}

gbx_attack_verdict gbx_attack_memfd_secret(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, memfd_secret, 0));
}

/* Not touched: the limit applies to what could be filled. */
gbx_attack_verdict gbx_attack_map_past_limit(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, mmap, 0, 16L << 30, PROT_READ | PROT_WRITE,
                                         ANONYMOUS | MAP_NORESERVE, -1, 0));
}

/* Unwritable memory does not count as data, but it still exists. One page of each
 * piece is touched, which is enough to show that all could be. */
gbx_attack_verdict gbx_attack_forget_memory(gbx_attack *a)
{
    const long piece = 64L << 20;
    const long enough = 8L << 30;

    for (long total = 0; total < enough; total += piece) {
        long at = GBX_TRY(a, mmap, 0, piece, PROT_READ | PROT_WRITE, ANONYMOUS, -1, 0);

        if (at < 0)
            return gbx_attack_verdict_of(at);
        *(volatile char *)as_pointer(at) = 1;
        if (GBX_TRY(a, mprotect, at, piece, PROT_NONE) < 0)
            return gbx_attack_verdict_of(-1);
    }
    (void)snprintf(a->note, sizeof a->note, "8 GiB could be filled");
    return GBX_BREACH;
}

gbx_attack_verdict gbx_attack_grow_mapping(gbx_attack *a)
{
    unsigned char *page = gbx_make_code();

    if (page == NULL)
        return GBX_REFUSED;
    return gbx_attack_verdict_of(
        GBX_TRY(a, mremap, GBX_P(page), PAGE, 16L * PAGE, MREMAP_MAYMOVE));
}

gbx_attack_verdict gbx_attack_merge_memory(gbx_attack *a)
{
    unsigned char *page = gbx_make_code();

    if (GBX_TRY(a, madvise, GBX_P(page), PAGE, MADV_MERGEABLE) == 0)
        return GBX_BREACH;
    /* The kernel lacks the feature, or the filter answers as if it did. */
    return GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_lock_memory(gbx_attack *a)
{
    unsigned char *page = gbx_make_code();

    return gbx_attack_verdict_of(GBX_TRY(a, mlock, GBX_P(page), PAGE));
}

/* ---- what the host shares --------------------------------------------------------- */

gbx_attack_verdict gbx_attack_shared_segment(gbx_attack *a)
{
    long id = GBX_TRY(a, shmget, GBX_ATTACK_VICTIM_KEY, 0, 0);
    long at;

    if (id < 0)
        return gbx_attack_verdict_of(id);
    at = GBX_TRY(a, shmat, id, 0, SHM_RDONLY);
    if (at < 0)
        return gbx_attack_verdict_of(at);
    return *(const volatile char *)as_pointer(at) != 0 ? GBX_BREACH : GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_message_queue(gbx_attack *a)
{
    return gbx_attack_verdict_of(
        GBX_TRY(a, mq_open, GBX_P(GBX_ATTACK_VICTIM_NAME), O_RDONLY, 0, 0));
}

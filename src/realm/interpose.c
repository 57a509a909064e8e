/* SPDX-License-Identifier: MIT */
/*
 * interpose - functions of the C library and of the engine that the worker program has
 * instead.
 *
 * The entry to the allocator tracks how much memory is in use, and whether the kernel has
 * refused any.
 *
 * The program that links this file overrides malloc and mmap for every library in it,
 * the engine's included. The file must be linked into the executable itself: a shared
 * library's definitions come too late to be found first.
 *
 * Large blocks are padded. For `new Array(N)` with a constant even N of about 1,000 and
 * more, the engine's top tier (2.50.6, FTL) allocates eight bytes too few: it forgets
 * the header of the elements but writes the last element. With the C library's
 * allocator that overwrites the size field of the next block. Without the padding a
 * plain loop over such an array kills the worker; test_realm__survives_the_short_array
 * shows it.
 */
#include "realm/internal.h"

#include "realm/realm.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* From this size on the engine gives each array a block of its own; rounded down. */
#define PAD_FROM  2048u
#define PAD_BYTES 16u

/* The C library's own allocator, by the names that it reserves for interposers. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

/* The engine's library must find these first: the program exports them. */
#define EXPORTED __attribute__((visibility("default")))

static struct {
    size_t used; /* bytes of blocks and mappings in use */
    bool refused;
    void (*notify)(void *user);
    void *user;
} state;

/* Called by the allocator only. Does not allocate. */
static void gbx_refusal_note(void)
{
    if (state.refused)
        return;
    state.refused = true;
    if (state.notify != NULL)
        state.notify(state.user);
}

static void *noted(void *block)
{
    if (block != NULL)
        state.used += malloc_usable_size(block);
    else if (errno == ENOMEM)
        gbx_refusal_note();
    return block;
}

static size_t padded(size_t size)
{
    return size >= PAD_FROM && size <= PTRDIFF_MAX - PAD_BYTES ? size + PAD_BYTES
                                                               : size;
}

EXPORTED void *malloc(size_t size)
{
    return noted(__libc_malloc(padded(size)));
}

EXPORTED void *calloc(size_t nmemb, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(nmemb, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return noted(__libc_calloc(1, padded(total)));
}

EXPORTED void *realloc(void *ptr, size_t size)
{
    size_t before = malloc_usable_size(ptr);
    void *moved;

    if (size == 0) {
        free(ptr);
        return NULL; /* freed, not refused */
    }
    moved = noted(__libc_realloc(ptr, padded(size)));
    if (moved != NULL)
        state.used -= before;
    return moved;
}

EXPORTED void free(void *ptr)
{
    if (ptr == NULL)
        return;
    if (gbx_block_give(ptr)) {
        state.used -= GBX_BLOCK_BYTES;
        return;
    }
    state.used -= malloc_usable_size(ptr);
    __libc_free(ptr);
}

void *memalign(size_t alignment, size_t size);
EXPORTED void *memalign(size_t alignment, size_t size)
{
    void *block;

    if (alignment != GBX_BLOCK_BYTES || size != GBX_BLOCK_BYTES)
        return noted(__libc_memalign(alignment, size));
    block = gbx_block_take();
    if (block == NULL)
        return noted(NULL);
    state.used += GBX_BLOCK_BYTES;
    return block;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

EXPORTED int posix_memalign(void **memptr, size_t alignment, size_t size)
{
    int before = errno;
    void *block;

    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    block = memalign(alignment, size);
    errno = before;
    if (block == NULL)
        return ENOMEM;
    *memptr = block;
    return 0;
}

EXPORTED void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
    long at = syscall(SYS_mmap, addr, len, prot, flags, fd, offset);

    if (at != -1)
        state.used += (flags & MAP_FIXED) != 0 ? 0 : len; /* it replaces another */
    else if (errno == ENOMEM)
        gbx_refusal_note();
    return (void *)at; /* -1 is MAP_FAILED */
}

EXPORTED int munmap(void *addr, size_t len)
{
    long result = syscall(SYS_munmap, addr, len);

    if (result == 0)
        state.used -= len;
    return (int)result;
}

size_t gbx_memory_used(void)
{
    return state.used;
}

void gbx_realm_on_refusal(void (*notify)(void *user), void *user)
{
    state.refused = false;
    state.notify = notify;
    state.user = user;
}

bool gbx_realm_was_refused(void)
{
    return state.refused;
}

/* ---- the clock ------------------------------------------------------------------ */

/*
 * The time of day that the engine sees.
 *
 * A fixed clock applies to Date in all its forms and to Intl, without a replaced Date
 * that code could detect. Monotonic clocks are never touched.
 */

typedef int (*clock_fn)(clockid_t id, struct timespec *ret);

static struct {
    clock_fn real; /* the C library's: no system call where there is a vDSO */
    bool fixed;
    struct timespec at;
} day;

__attribute__((constructor)) static void find_real(void)
{
    void *found = dlsym(RTLD_NEXT, "clock_gettime");

    __builtin_memcpy(&day.real, &found, sizeof found);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock_id,
                                                         struct timespec *tp)
{
    if (clock_id == CLOCK_REALTIME && day.fixed) {
        *tp = day.at;
        return 0;
    }
    /* Other libraries' constructors may call this before ours has run. */
    if (day.real == NULL)
        return (int)syscall(SYS_clock_gettime, clock_id, tp);
    return day.real(clock_id, tp);
}

void gbx_wallclock_fix(double ms)
{
    double seconds = floor(ms / 1000.0);

    day.at.tv_sec = (time_t)seconds;
    /* A microsecond more: the engine rounds its own product down to milliseconds. */
    day.at.tv_nsec = (long)((ms - seconds * 1000.0) * 1e6) + 1000;
    day.fixed = true;
}

void gbx_wallclock_release(void)
{
    day.fixed = false;
}

/* ---- threads of the engine --------------------------------------------------------- */

/*
 * With the JIT on, the engine's allocator of compiled code starts a thread
 * that gives memory back, even with Malloc=1. A fork would not have that thread, would
 * try to start it again some seconds later and die in the filter. The engine's library
 * exports a switch in 2.50, declared in no header. If a version lacks it, the template,
 * which counts its threads before it serves, refuses to serve with two.
 */

extern bool pas_scavenger_is_enabled __attribute__((weak));

void gbx_realm_forbid_threads(void)
{
    bool *is_enabled = &pas_scavenger_is_enabled;

    if (is_enabled != 0)
        *is_enabled = false;
}

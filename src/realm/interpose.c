/* SPDX-License-Identifier: MIT */
/*
 * interpose - the worker program's own versions of functions of the C library: the
 * allocator, mmap and the clock.
 *
 * The allocator's entry points track how much memory is in use, and whether the kernel
 * has refused any.
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
#include <string.h>
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

/* ---- blocks of cells ----------------------------------------------------- */

/*
 * The blocks in which the engine keeps its cells, many to one allocation.
 *
 * A block is aligned to its own size. The C library's allocator puts a header before
 * each, so two blocks never touch: the hole between them is as large as a block, and a
 * memory limit holds half as many cells as it could. A slab is one allocation that is
 * cut into blocks; it is freed when all of its blocks are free.
 */

/* The size of the engine's block of cells. */
#define BLOCK_BYTES ((size_t)16384)

#define SLAB_BLOCKS 64u
#define SLAB_BYTES  (SLAB_BLOCKS * BLOCK_BYTES)
#define ALL_FREE    UINT64_MAX

#define SLABS_FIRST 64u

typedef struct slab {
    char *start;
    uint64_t free; /* a bit for each block */
} slab;

static struct {
    slab *list; /* by address */
    size_t count;
    size_t capacity;
    size_t hint; /* where the last free block was */
    size_t free; /* blocks in all slabs */
} slabs;

/* The number of slabs that begin at or before `at`. */
static size_t rank(const char *at)
{
    size_t low = 0;
    size_t high = slabs.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (slabs.list[middle].start <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool grow_list(void)
{
    size_t capacity = slabs.capacity == 0 ? SLABS_FIRST : slabs.capacity * 2;
    slab *list;

    if (slabs.count < slabs.capacity)
        return true;
    list = __libc_realloc(slabs.list, capacity * sizeof *list);
    if (list == NULL)
        return false;
    slabs.list = list;
    slabs.capacity = capacity;
    return true;
}

static bool add_slab(void)
{
    char *start = grow_list() ? __libc_memalign(BLOCK_BYTES, SLAB_BYTES) : NULL;
    size_t at;

    if (start == NULL)
        return false;
    at = rank(start);
    memmove(slabs.list + at + 1, slabs.list + at,
            (slabs.count - at) * sizeof *slabs.list);
    slabs.list[at] = (slab){.start = start, .free = ALL_FREE};
    slabs.count++;
    slabs.free += SLAB_BLOCKS;
    slabs.hint = at;
    return true;
}

static void *take_block(void)
{
    slab *s;
    unsigned bit;

    if (slabs.free == 0 && !add_slab())
        return NULL;
    for (size_t i = 0; i < slabs.count; i++, slabs.hint++) {
        if (slabs.hint >= slabs.count)
            slabs.hint = 0;
        if (slabs.list[slabs.hint].free != 0)
            break;
    }
    s = &slabs.list[slabs.hint];
    bit = (unsigned)__builtin_ctzll(s->free);
    s->free &= ~(UINT64_C(1) << bit);
    slabs.free--;
    return s->start + (size_t)bit * BLOCK_BYTES;
}

void gbx_realm_leave_slabs(void)
{
    for (size_t i = 0; i < slabs.count; i++)
        slabs.list[i].free = 0;
    slabs.free = 0;
}

/* Free a block of a slab; false if it is not one. */
static bool give_block(void *block)
{
    size_t at = (uintptr_t)block % BLOCK_BYTES == 0 ? rank(block) : 0;
    slab *s = at > 0 ? &slabs.list[at - 1] : NULL;
    size_t offset = s != NULL ? (size_t)((char *)block - s->start) : SLAB_BYTES;

    if (offset >= SLAB_BYTES)
        return false;
    s->free |= UINT64_C(1) << offset / BLOCK_BYTES;
    slabs.free++;
    if (s->free != ALL_FREE || slabs.free <= SLAB_BLOCKS)
        return true;
    __libc_free(s->start);
    slabs.count--;
    slabs.free -= SLAB_BLOCKS;
    memmove(s, s + 1, (slabs.count - (at - 1)) * sizeof *s);
    return true;
}

/* ---- memory in use ------------------------------------------------------- */

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
    if (give_block(ptr)) {
        state.used -= BLOCK_BYTES;
        return;
    }
    state.used -= malloc_usable_size(ptr);
    __libc_free(ptr);
}

void *memalign(size_t alignment, size_t size);
EXPORTED void *memalign(size_t alignment, size_t size)
{
    void *block;

    if (alignment != BLOCK_BYTES || size != BLOCK_BYTES)
        return noted(__libc_memalign(alignment, size));
    block = take_block();
    if (block == NULL)
        return noted(NULL);
    state.used += BLOCK_BYTES;
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

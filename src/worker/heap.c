/* SPDX-License-Identifier: MIT */
/* heap - the room is the allocator's own top of the heap, so using it needs no other
 * code. */
#include "worker/worker.h"

#include "base/cleanup.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE      4096u
#define HUGE_PAGE GBX_MIB(2)

/* The start of the room keeps small pages: a small call touches a few of them, and
 * should not have two mebibytes cleared for it. */
#define SMALL_BYTES GBX_MIB(2)

/* The largest block that the allocator takes from its heap; it maps larger ones. */
#define BLOCK_MAX GBX_MIB(32)

/* The maximum number of mapped blocks: the C library's default. */
#define MAPPED_MAX 65536

/* Sizes of holes to close. A larger one fills many pages before it is used up. */
#define HOLE_MAX GBX_KIB(64)
#define HOLE_MIN ((size_t)16)

/* Holes of this size are rare. */
#define LARGE_HOLE GBX_MIB(1)
#define HOLES_MAX  16

/* The part of the top that stays: its head, and rounding. */
#define TOP_MIN GBX_KIB(4)

/* Where the huge pages of the room begin; NULL: none. */
static char *huge_from;

/* In a worker: the part of the room before them, while it is allocated. */
static void *volatile small_room;

/* The page in which the free end of a heap begins, if the heap ends here. */
static uintptr_t page_of_top(const char *end)
{
    return ((uintptr_t)end - mallinfo2().keepcost) & ~(uintptr_t)(PAGE - 1);
}

/* Make the allocator extend the heap, with a block that fits neither its top nor any
 * hole below it. */
static void grow(size_t free_top)
{
    size_t size = free_top + 1 > LARGE_HOLE ? free_top + 1 : LARGE_HOLE;
    const char *before = sbrk(0);
    void *blocks[HOLES_MAX];
    size_t count = 0;

    do
        blocks[count++] = malloc(size);
    while (count < HOLES_MAX && sbrk(0) == before);
    while (count > 0)
        free(blocks[--count]);
}

/* Allocate a block for good. A compiler may remove an unused allocation, and assume
 * that it succeeds; the volatile pointer prevents that. */
static bool take(size_t bytes)
{
    static void *volatile taken;

    taken = malloc(bytes);
    return taken != NULL;
}

void gbx_heap_keep_together(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, (int)BLOCK_MAX);
}

uint64_t gbx_heap_reserve(uint64_t bytes)
{
    size_t free_top = mallinfo2().keepcost;
    char *before = sbrk(0);
    char *end;
    uintptr_t top;
    uintptr_t first;

    if (free_top >= bytes) /* already reserved */
        return bytes;
    gbx_heap_keep_together();
    (void)mallopt(M_TRIM_THRESHOLD, -1);
    (void)mallopt(M_TOP_PAD, (int)bytes);
    grow(free_top);
    (void)mallopt(M_TOP_PAD, (int)GBX_KIB(128));
    end = sbrk(0);
    if (end == before || mallinfo2().keepcost < bytes)
        return 0;
    top = page_of_top(end);
    first = (top + SMALL_BYTES + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    if (first >= (uintptr_t)end)
        return bytes;
    /* Loaded data may have grown into the huge pages of the previous room. */
    (void)madvise((void *)top, first - top, MADV_NOHUGEPAGE);
    if (madvise((void *)first, (size_t)((uintptr_t)end - first), MADV_HUGEPAGE) == 0)
        huge_from = (char *)first;
    return bytes;
}

char *gbx_heap_used_end(void)
{
    return (char *)page_of_top(sbrk(0));
}

void gbx_heap_close_holes(void)
{
    char *top = (char *)sbrk(0) - mallinfo2().keepcost;

    /* Give whole free pages back: a fork need not map them, and one that it writes
     * comes cleared, not copied. The top is the room, and stays. */
    (void)malloc_trim(SIZE_MAX);
    /* Largest first: the rest of a divided block is found again, smaller. */
    for (size_t size = HOLE_MAX; size >= HOLE_MIN; size -= HOLE_MIN) {
        char *block;

        while ((block = malloc(size)) != NULL && block < top)
            continue;
        free(block); /* it came from the top: no hole of that size is left */
    }
}

void gbx_heap_skip_small(void)
{
    char *volatile probe = malloc(HOLE_MAX + 1); /* too large for any hole */
    char *top = probe;

    free(probe);
    if (top != NULL && top < huge_from)
        small_room = malloc((size_t)(huge_from - top));
}

uint64_t gbx_heap_lower(uint64_t bytes)
{
    uint64_t taken = 0;
    size_t top;

    if (small_room == NULL)
        gbx_heap_skip_small();
    top = mallinfo2().keepcost;
    if (top > TOP_MIN) {
        taken = bytes < top - TOP_MIN ? bytes : top - TOP_MIN;
        (void)mallopt(M_MMAP_MAX,
                      0); /* one block of any size: only a page of it is touched */
        if (!take((size_t)taken))
            taken = 0;
        (void)mallopt(M_MMAP_MAX, MAPPED_MAX);
    }
    free(small_room);
    small_room = NULL;
    return taken;
}

__attribute__((noinline)) void gbx_stack_clear(void)
{
    char below[GBX_KIB(32)];

    explicit_bzero(below, sizeof below);
}

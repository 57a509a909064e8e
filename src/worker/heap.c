/* SPDX-License-Identifier: MIT */
/* heap - the room is the allocator's own top of the heap, so it needs no other code. */
#include "worker/heap.h"

#include "base/cleanup.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE GBX_MIB(2)

/* The first of it stays of small pages: a small call touches some, and should not have
 * two mebibytes cleared for it. */
#define SMALL_BYTES GBX_MIB(2)

/* The most that the allocator takes from its heap for one block; larger ones it maps. */
#define BLOCK_MAX GBX_MIB(32)

#define PIECE GBX_MIB(16)

/* Holes of this size, if there are any, are few. */
#define LARGE_HOLE GBX_MIB(1)
#define HOLES_MAX  16

/* Holes that are larger fill many pages before they are cut up. */
#define HOLE_MAX GBX_KIB(64)
#define HOLE_MIN ((size_t)16)

static void advise(char *end, uint64_t bytes)
{
    uintptr_t from = (uintptr_t)end - (size_t)bytes + SMALL_BYTES;
    uintptr_t first = (from + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);

    if (first < (uintptr_t)end)
        (void)madvise((void *)first, (size_t)((uintptr_t)end - first), MADV_HUGEPAGE);
}

/* Make the allocator ask for more, by a block that fits nothing that it has: not its
 * top, and not a hole below it either. */
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

/* ---- public to other modules -------------------------------------------- */

uint64_t gbx_heap_reserve(uint64_t bytes)
{
    size_t free_top = mallinfo2().keepcost;
    char *before = sbrk(0);
    char *end;

    (void)mallopt(M_MMAP_THRESHOLD, (int)BLOCK_MAX);
    (void)mallopt(M_TRIM_THRESHOLD, -1);
    (void)mallopt(M_TOP_PAD, (int)bytes);
    grow(free_top);
    (void)mallopt(M_TOP_PAD, (int)GBX_KIB(128));
    end = sbrk(0);
    if (end == before || mallinfo2().keepcost < bytes)
        return 0;
    advise(end, bytes);
    return bytes;
}

void gbx_heap_close_holes(void)
{
    char *top = (char *)sbrk(0) - mallinfo2().keepcost;

    /* Whole pages of holes are nobody's: a fork need not map them, and one that it does
     * write comes cleared, not copied. The top is the room, and stays. */
    (void)malloc_trim(SIZE_MAX);
    /* Largest first: what is left of a block that was cut is met again, smaller. */
    for (size_t size = HOLE_MAX; size >= HOLE_MIN; size -= HOLE_MIN) {
        char *block;

        while ((block = malloc(size)) != NULL && block < top)
            continue;
        free(block); /* from the top: there was no such hole, or there is none left */
    }
}

void gbx_heap_lower(uint64_t bytes)
{
    while (bytes > PIECE) {
        if (malloc(PIECE) == NULL)
            return;
        bytes -= PIECE;
    }
    (void)!malloc((size_t)bytes);
}

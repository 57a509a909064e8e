/* SPDX-License-Identifier: MIT */
/*
 * cell_blocks - the blocks in which the engine keeps its cells, many to one allocation.
 *
 * A block is aligned to its own size. The C library's allocator puts a header before
 * each, so two blocks never touch: the hole between them is as large as a block, and a
 * memory limit holds half as many cells as it could. A slab is one allocation that is
 * cut into blocks; it is freed when all of its blocks are free.
 */
#include "realm/internal.h"

#include <stdint.h>
#include <string.h>

#define SLAB_BLOCKS 64u
#define SLAB_BYTES  (SLAB_BLOCKS * GBX_BLOCK_BYTES)
#define ALL_FREE    UINT64_MAX

#define SLABS_FIRST 64u

/* The C library's own allocator, by the names that it reserves for interposers. */
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

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
    char *start = grow_list() ? __libc_memalign(GBX_BLOCK_BYTES, SLAB_BYTES) : NULL;
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

static void remove_slab(size_t at)
{
    __libc_free(slabs.list[at].start);
    slabs.count--;
    slabs.free -= SLAB_BLOCKS;
    memmove(slabs.list + at, slabs.list + at + 1,
            (slabs.count - at) * sizeof *slabs.list);
}

/* ---- public to other files of this folder ----------------------------------- */

void *gbx_block_take(void)
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
    return s->start + (size_t)bit * GBX_BLOCK_BYTES;
}

bool gbx_block_give(void *block)
{
    size_t at = (uintptr_t)block % GBX_BLOCK_BYTES == 0 ? rank(block) : 0;
    slab *s = at > 0 ? &slabs.list[at - 1] : NULL;
    size_t offset = s != NULL ? (size_t)((char *)block - s->start) : SLAB_BYTES;

    if (offset >= SLAB_BYTES)
        return false;
    s->free |= UINT64_C(1) << offset / GBX_BLOCK_BYTES;
    slabs.free++;
    if (s->free == ALL_FREE && slabs.free > SLAB_BLOCKS)
        remove_slab(at - 1);
    return true;
}

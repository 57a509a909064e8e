/* SPDX-License-Identifier: MIT */
/*
 * arena - only take() counts memory, before it is allocated. Blocks up to SMALL_MAX are
 * cut from chunks and recycled by size class; larger ones come from malloc and are
 * listed, so that abandoning a run frees them too.
 */
#include "syntax/arena.h"
#include "syntax/tree.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLASS_MIN_SHIFT 5 /* the smallest block: 32 bytes, half of it header */
#define CLASS_MAX_SHIFT 13
#define CLASSES         (CLASS_MAX_SHIFT - CLASS_MIN_SHIFT + 1)
#define CLASS_LARGE     CLASSES
#define CHUNK_FIRST     GBX_KIB(32)
#define CHUNK_MAX       GBX_MIB(1)

/* Under AddressSanitizer each block comes from malloc, so that its ends are watched. */
#if defined(__SANITIZE_ADDRESS__)
#    define SMALL_MAX ((size_t)0)
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define SMALL_MAX ((size_t)0)
#    endif
#endif
#ifndef SMALL_MAX
#    define SMALL_MAX (((size_t)1 << CLASS_MAX_SHIFT) - sizeof(struct block))
#endif

struct block {
    size_t size; /* usable bytes after this header */
    size_t class;
};

struct large {
    struct large *next;
    struct large *prev;
    struct block block; /* last: the payload follows it */
};

struct chunk {
    struct chunk *next;
    max_align_t data[];
};

struct arena {
    size_t left; /* of the ceiling */
    struct chunk *chunks;
    struct large *larges;
    char *cut; /* the unused rest of the newest chunk */
    size_t cut_left;
    size_t chunk_size;
    struct block *recycled[CLASSES]; /* linked through the payload */
    gbx_arena_end end;
    jmp_buf out;
};

_Static_assert(sizeof(struct block) % alignof(max_align_t) == 0, "payload alignment");
_Static_assert(sizeof(struct large) % alignof(max_align_t) == 0, "payload alignment");

/*
 * A global, since the parser's allocator has no parameter to carry it. It is NULL
 * outside gbx_arena_run(), and holds nothing that a thread could leak.
 */
static _Thread_local struct arena *current;

static _Noreturn void leave(struct arena *a, gbx_arena_end how)
{
    a->end = how;
    longjmp(a->out, 1);
}

static void *take(struct arena *a, size_t size)
{
    void *memory;

    if (size > a->left)
        leave(a, GBX_ARENA_ABANDONED);
    memory = malloc(size);
    if (memory == NULL)
        leave(a, GBX_ARENA_NOMEM);
    a->left -= size;
    return memory;
}

static struct block *large_new(struct arena *a, size_t size)
{
    struct large *large;

    if (size > SIZE_MAX - sizeof *large)
        leave(a, GBX_ARENA_ABANDONED);
    large = take(a, sizeof *large + size);
    *large = (struct large){.next = a->larges, .block = {size, CLASS_LARGE}};
    if (a->larges != NULL)
        a->larges->prev = large;
    a->larges = large;
    return &large->block;
}

static void large_free(struct arena *a, struct block *block)
{
    struct large *large =
        (struct large *)(void *)((char *)block - offsetof(struct large, block));

    if (large->prev != NULL)
        large->prev->next = large->next;
    else
        a->larges = large->next;
    if (large->next != NULL)
        large->next->prev = large->prev;
    a->left += sizeof *large + block->size;
    free(large);
}

/* Where a recycled block keeps the next of its class. */
static struct block **link_of(struct block *block)
{
    return (struct block **)(void *)(block + 1);
}

static struct block *cut(struct arena *a, size_t total)
{
    struct block *block;

    if (total > a->cut_left) {
        struct chunk *chunk = take(a, sizeof *chunk + a->chunk_size);

        chunk->next = a->chunks;
        a->chunks = chunk;
        a->cut = (char *)chunk->data;
        a->cut_left = a->chunk_size;
        if (a->chunk_size < CHUNK_MAX)
            a->chunk_size *= 2;
    }
    block = (struct block *)(void *)a->cut;
    a->cut += total;
    a->cut_left -= total;
    return block;
}

/* A function of its own: a longjmp leaves the locals of setjmp's function undefined. */
static void enter(struct arena *a, void (*work)(void *user), void *user)
{
    if (_setjmp(a->out) == 0)
        work(user);
}

static void release(struct arena *a)
{
    while (a->larges != NULL) {
        struct large *next = a->larges->next;

        free(a->larges);
        a->larges = next;
    }
    while (a->chunks != NULL) {
        struct chunk *next = a->chunks->next;

        free(a->chunks);
        a->chunks = next;
    }
}

gbx_arena_end gbx_arena_run(size_t ceiling, void (*work)(void *user), void *user)
{
    struct arena a = {.left = ceiling,
                      .chunk_size = CHUNK_FIRST,
                      .end = GBX_ARENA_DONE};

    assert(current == NULL);
    current = &a;
    enter(&a, work, user);
    current = NULL;
    release(&a);
    return a.end;
}

void *gbx_arena_malloc(size_t size)
{
    struct arena *a = current;
    size_t class = 0;
    size_t total;
    struct block *block;

    assert(a != NULL);
    if (size > SMALL_MAX)
        return large_new(a, size) + 1;
    while (((size_t)1 << (class + CLASS_MIN_SHIFT)) < size + sizeof *block)
        class ++;
    total = (size_t)1 << (class + CLASS_MIN_SHIFT);
    block = a->recycled[class];
    if (block != NULL)
        a->recycled[class] = *link_of(block);
    else
        block = cut(a, total);
    *block = (struct block){total - sizeof *block, class};
    return block + 1;
}

void *gbx_arena_calloc(size_t count, size_t size)
{
    void *memory;

    assert(current != NULL);
    if (size != 0 && count > SIZE_MAX / size)
        leave(current, GBX_ARENA_ABANDONED);
    memory = gbx_arena_malloc(count * size);
    memset(memory, 0, count * size);
    return memory;
}

void *gbx_arena_realloc(void *payload, size_t size)
{
    struct block *block = payload;
    void *moved;

    if (payload == NULL)
        return gbx_arena_malloc(size);
    block--;
    if (size <= block->size && (block->class != CLASS_LARGE || size > block->size / 2))
        return payload;
    moved = gbx_arena_malloc(size);
    memcpy(moved, payload, size < block->size ? size : block->size);
    gbx_arena_free(payload);
    return moved;
}

void gbx_arena_free(void *payload)
{
    struct block *block = payload;
    struct arena *a = current;

    if (payload == NULL)
        return;
    assert(a != NULL);
    block--;
    if (block->class == CLASS_LARGE) {
        large_free(a, block);
        return;
    }
    *link_of(block) = a->recycled[block->class];
    a->recycled[block->class] = block;
}

_Noreturn void gbx_arena_abandon(void)
{
    assert(current != NULL);
    leave(current, GBX_ARENA_ABANDONED);
}

/* One per thread, like the arena: too many levels of calls would have to pass it. NULL
 * except between begin and end; one function calls both, so nothing leaks. */
static _Thread_local gbx_time_budget *taken;

static int64_t now_of(const gbx_time_budget *budget)
{
    return budget->is_wall ? gbx_clock_now_ns() : gbx_time_budget_now_ns();
}

void gbx_time_budget_begin(gbx_time_budget *patience)
{
    patience->is_lost = false;
    patience->until_ns =
        patience->left_ns > 0 ? now_of(patience) + patience->left_ns : 0;
    patience->outer = taken;
    taken = patience;
}

void gbx_time_budget_end(gbx_time_budget *patience)
{
    assert(taken == patience);
    taken = patience->outer;
    if (patience->left_ns > 0)
        patience->left_ns = patience->until_ns - now_of(patience);
}

bool gbx_time_budget_is_wall(void)
{
    return taken != NULL && taken->is_wall;
}

bool gbx_time_budget_is_over(void)
{
    if (taken == NULL || taken->is_lost)
        return taken != NULL;
    if (taken->until_ns == 0 || now_of(taken) >= taken->until_ns)
        taken->is_lost = true;
    return taken->is_lost;
}

int64_t gbx_time_budget_now_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000 * GBX_NS_PER_MS + now.tv_nsec;
}

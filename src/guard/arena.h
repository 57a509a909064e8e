/* SPDX-License-Identifier: MIT */
/*
 * arena - memory of one parse: bounded, and given back whole, whatever happens.
 *
 * The parser knows only how to abort the process when memory is out, and its asserts
 * do the same. Hostile code must reach neither in the host. So the parser is compiled
 * with the hooks below (see hooks.h): all that it allocates comes from the arena of
 * the running gbx_arena_run(), and when that is refused, or an assert fails, the run
 * is abandoned by longjmp and its memory freed. Code that runs inside therefore holds
 * nothing else: no lock, no descriptor, no memory of malloc.
 *
 * One run at a time a thread; any number of threads.
 */
#ifndef GBX_GUARD_ARENA_H
#define GBX_GUARD_ARENA_H

#include <stddef.h>

typedef enum gbx_arena_end {
    GBX_ARENA_DONE,      /* work returned */
    GBX_ARENA_ABANDONED, /* it wanted more than the ceiling, or an assert failed */
    GBX_ARENA_NOMEM,     /* the machine's memory is out */
} gbx_arena_end;

/* Call work(user); everything it took from the arena is gone when this returns. */
gbx_arena_end gbx_arena_run(size_t ceiling, void (*work)(void *user), void *user);

/* Zeroed memory, aligned for any type; never NULL. Inside work() only. */
void *gbx_arena_calloc(size_t count, size_t size);

/* ---- what hooks.h sends the parser to ------------------------------------ */

void *gbx_arena_malloc(size_t size);
void *gbx_arena_realloc(void *payload, size_t size);
void gbx_arena_free(void *payload);
_Noreturn void gbx_arena_abandon(void);

#endif

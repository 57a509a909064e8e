/* SPDX-License-Identifier: MIT */
/*
 * arena - the memory of one parse: bounded, and always freed as a whole.
 *
 * Out of memory, or if an assert fails, the parser can only abort the process. Hostile
 * code must not cause that in the host. So the parser is compiled with the hooks of
 * runtime.c: it allocates from the arena of the running gbx_arena_run(), and when
 * that refuses, or an assert fails, longjmp abandons the run and its memory is freed.
 * Code that runs inside therefore holds nothing else: no lock, no descriptor, no memory
 * from malloc.
 *
 * At most one run per thread; any number of threads.
 */
#ifndef GBX_SYNTAX_ARENA_H
#define GBX_SYNTAX_ARENA_H

#include <stddef.h>

typedef enum gbx_arena_end {
    GBX_ARENA_DONE,      /* work returned */
    GBX_ARENA_ABANDONED, /* it needed more than the ceiling, or an assert failed */
    GBX_ARENA_NOMEM,     /* malloc() failed */
} gbx_arena_end;

/* Call work(user); all its arena memory is freed when this returns. */
gbx_arena_end gbx_arena_run(size_t ceiling, void (*work)(void *user), void *user);

/* Zeroed memory, aligned for any type; never NULL. Inside work() only. */
void *gbx_arena_calloc(size_t count, size_t size);

/* ---- for runtime.c -------------------------------------------------------- */

void *gbx_arena_malloc(size_t size);
void *gbx_arena_realloc(void *payload, size_t size);
void gbx_arena_free(void *payload);
_Noreturn void gbx_arena_abandon(void);

#endif

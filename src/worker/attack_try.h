/* SPDX-License-Identifier: MIT */
/*
 * attack_try - what the attacks are made of. They run raw system calls, in a process
 * that may have all layers, one, or none.
 */
#ifndef GBX_WORKER_ATTACK_TRY_H
#define GBX_WORKER_ATTACK_TRY_H

#include "worker/attack_table.h"

#include <stdbool.h>

typedef enum gbx_attack_verdict {
    GBX_REFUSED = GBX_ATTACK_EXIT_REFUSED,
    GBX_BREACH = GBX_ATTACK_EXIT_BREACH,
    GBX_ABSENT = GBX_ATTACK_EXIT_ABSENT,
} gbx_attack_verdict;

/* Where an attack says what it saw last. */
typedef struct gbx_attack {
    char note[GBX_ATTACK_NOTE_SIZE];
} gbx_attack;

/* A raw system call of up to six arguments, given as longs or pointers; notes its
 * name and how it ended. Returns -1 with errno set on failure. */
#define GBX_TRY(a, call, ...) gbx_try(a, #call, SYS_##call, (long[6]){__VA_ARGS__})
#define GBX_P(pointer)        ((long)(intptr_t)(pointer))
long gbx_try(gbx_attack *a, const char *name, long number, const long args[6]);

/* For a call whose success alone is the breach. */
gbx_attack_verdict gbx_attack_verdict_of(long result);

/* For a call that is given wrong arguments on purpose: any error but those that a
 * missing permission gives says that it would have been done. */
gbx_attack_verdict gbx_attack_verdict_of_permission(long result);

/* The next pid above after of a process that is neither ours nor the template's and
 * is there, may it be touched or not; 0 if there is none. */
long gbx_next_outside(long after);

/* A page of code that returns 42, writable; NULL if memory cannot be had. */
unsigned char *gbx_make_code(void);
bool gbx_code_runs(const void *code);

#define XX(function, id, topic, name, layers, note) \
    gbx_attack_verdict gbx_attack_##function(gbx_attack *a);
GBX_ATTACK_MAP(XX)
#undef XX

#endif

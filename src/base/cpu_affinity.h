/* SPDX-License-Identifier: MIT */
/*
 * cpu_affinity - on which processor a process or a thread wakes up.
 *
 * Two that take turns are better off on one: a wake on another processor, which sleeps, takes
 * ten times as long as the change between two on the same. The kernel spreads them all the
 * same, for it cannot know that the one will sleep as soon as the other has woken up.
 *
 * Only ever an optimisation: where it is not allowed, or there is one processor to run on,
 * nothing is done.
 */
#ifndef GBX_BASE_CPU_AFFINITY_H
#define GBX_BASE_CPU_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * From here on process pid, which sleeps, can wake up on the processor of the calling thread
 * alone. Returns true if so; then *ret_before is for gbx_cpu_anywhere(), which must follow as
 * soon as it was woken: it stays where it is then for as long as the kernel has no better place.
 */
bool gbx_cpu_here(pid_t pid, cpu_set_t *ret_before);

/* It may run wherever it could before. */
void gbx_cpu_anywhere(pid_t pid, const cpu_set_t *before);

/* The calling thread stays on its processor until it roams. What it starts meanwhile, threads
 * and processes, would stay there for ever: whoever starts one roams before. */
void gbx_cpu_stay(void);

/* It may run wherever it could before; nothing if it has not stayed. */
void gbx_cpu_roam(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * thread - how a thread starts, and on which processor it or a process wakes up.
 *
 * Threads that alternate should share a processor: waking a sleeping processor takes
 * ten times as long as a switch on the same one. The kernel spreads them, since it
 * cannot know that one will sleep as soon as the other has woken up.
 *
 * That is only an optimisation: if it is not allowed, or there is only one processor,
 * nothing is done.
 */
#ifndef GBX_BASE_THREAD_H
#define GBX_BASE_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* Start a thread that may run on any processor. It blocks all signals from its first
 * instruction: handlers run on the threads of who has set them. Returns an errno. */
int gbx_thread_start(pthread_t *ret, void *(*run)(void *), void *user);

/*
 * Let the sleeping process pid wake up only on the calling thread's processor. Returns
 * true if so; then *ret_before is for gbx_cpu_anywhere(), which must follow as soon as
 * pid was woken: pid stays there until the kernel has a better place.
 */
bool gbx_cpu_here(pid_t pid, cpu_set_t *ret_before);

/* The process may run wherever it could before. */
void gbx_cpu_anywhere(pid_t pid, const cpu_set_t *before);

/* The calling thread stays on its processor until it roams. Threads and processes that
 * it starts meanwhile would stay there for ever: roam before starting one. */
void gbx_cpu_stay(void);

/* The thread may run wherever it could before. Does nothing if it has not stayed. */
void gbx_cpu_roam(void);

#endif

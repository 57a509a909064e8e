/* SPDX-License-Identifier: MIT */
/*
 * thread - start a thread, and choose the processor on which one wakes up.
 *
 * Threads that alternate should share a processor: waking a sleeping processor takes
 * ten times as long as a switch on the same one. The kernel spreads them, since it
 * cannot know that one will sleep as soon as the other has woken up.
 *
 * This is only an optimisation: if it is not allowed, or there is only one processor,
 * nothing is done.
 */
#ifndef GBX_BASE_THREAD_H
#define GBX_BASE_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* Start a thread that may run on any processor. It blocks all signals from its first
 * instruction: handlers run only on the embedder's threads. Returns an errno. */
int gbx_thread_start(pthread_t *ret, void *(*run)(void *), void *user);

/*
 * Let the sleeping process pid wake up only on the calling thread's processor. If it
 * returns true, call gbx_cpu_anywhere() with *ret_before as soon as pid was woken: pid
 * then stays there until the kernel moves it.
 */
bool gbx_cpu_here(pid_t pid, cpu_set_t *ret_before);

/* Let the process run on the same processors as before. */
void gbx_cpu_anywhere(pid_t pid, const cpu_set_t *before);

/* Keep the calling thread on its processor until gbx_cpu_roam(). Threads and processes
 * that it starts meanwhile would stay there for ever: roam before starting one. */
void gbx_cpu_stay(void);

/* Undo gbx_cpu_stay(). Does nothing without it. */
void gbx_cpu_roam(void);

#endif

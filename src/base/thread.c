/* SPDX-License-Identifier: MIT */
/* thread - see thread.h. Masks are read each time, since others may change them. */
#include "base/thread.h"

#include <signal.h>

/* The calling thread's mask from before gbx_cpu_stay(). */
static _Thread_local struct {
    cpu_set_t before;
    bool stays;
} self;

/* Restrict pid to the calling thread's processor, if it may use several. Fails on a
 * machine with more processors than the set holds. */
static bool narrow(pid_t pid, cpu_set_t *ret_before)
{
    int cpu = sched_getcpu();
    cpu_set_t one;

    if (cpu < 0 || cpu >= CPU_SETSIZE ||
        sched_getaffinity(pid, sizeof *ret_before, ret_before) < 0 ||
        CPU_COUNT(ret_before) < 2 || !CPU_ISSET((size_t)cpu, ret_before))
        return false;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return sched_setaffinity(pid, sizeof one, &one) == 0;
}

bool gbx_cpu_here(pid_t pid, cpu_set_t *ret_before)
{
    return pid > 0 && narrow(pid, ret_before);
}

void gbx_cpu_anywhere(pid_t pid, const cpu_set_t *before)
{
    (void)sched_setaffinity(pid, sizeof *before, before);
}

void gbx_cpu_stay(void)
{
    if (!self.stays)
        self.stays = narrow(0, &self.before);
}

void gbx_cpu_roam(void)
{
    if (self.stays)
        (void)sched_setaffinity(0, sizeof self.before, &self.before);
    self.stays = false;
}

int gbx_thread_start(pthread_t *ret, void *(*run)(void *), void *user)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    gbx_cpu_roam();
    error = pthread_create(ret, NULL, run, user);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* SPDX-License-Identifier: MIT */
/* page_probe - the handler must not touch closed memory: it would fault itself. */
#include "worker/worker.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u

/* The handler's only input. */
static struct {
    const gbx_ranges *ranges;
    uint8_t *touched; /* shared with the child */
} learning;

/* ---- in the child ------------------------------------------------------------------- */

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1);

    (void)context;
    for (size_t i = 0; i < learning.ranges->count; i++) {
        const gbx_range *range = &learning.ranges->list[i];

        if (at < range->from || at >= range->to)
            continue;
        learning.touched[range->first + (at - range->from) / PAGE] = 1;
        if (syscall(SYS_mprotect, at, PAGE, range->prot) == 0)
            return;
    }
    (void)signal(signal_number, SIG_DFL); /* the fault repeats, and ends this process */
}

static _Noreturn void learn(int closed, bool (*run)(void *user), void *user)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    if (sigaction(SIGSEGV, &action, NULL) < 0)
        _exit(1);
    for (size_t i = 0; i < learning.ranges->count; i++) {
        const gbx_range *range = &learning.ranges->list[i];

        if (mprotect((void *)range->from, range->to - range->from, closed) < 0)
            _exit(1);
    }
    _exit(run(user) ? 0 : 1);
}

void gbx_ranges_add(gbx_ranges *ranges, uintptr_t from, uintptr_t to, int prot)
{
    if (ranges->count == GBX_RANGES_MAX || from == 0 || from >= to)
        return;
    ranges->list[ranges->count++] = (gbx_range){from, to, prot, ranges->pages};
    ranges->pages += (to - from) / PAGE;
}

uint8_t *gbx_page_probe_learn(const gbx_ranges *ranges, int closed,
                              bool (*run)(void *user), void *user)
{
    uint8_t *touched;
    int status = 1;
    pid_t pid;

    if (ranges->pages == 0)
        return NULL;
    touched = mmap(NULL, ranges->pages, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (touched == MAP_FAILED)
        return NULL;
    learning.ranges = ranges;
    learning.touched = touched;
    pid = _Fork();
    if (pid == 0)
        learn(closed, run, user);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return touched;
    gbx_page_probe_free(touched, ranges);
    return NULL;
}

void gbx_page_probe_free(uint8_t *touched, const gbx_ranges *ranges)
{
    (void)munmap(touched, ranges->pages);
}

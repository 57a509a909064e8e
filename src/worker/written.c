/* SPDX-License-Identifier: MIT */
/* written - the handler touches no page of the heap: it would fault in itself. */
#include "worker/written.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u

/* For the handler, which gets nothing else. */
static struct {
    uintptr_t from;
    size_t count; /* pages */
    uint8_t *seen;
} learning;

/* ---- in the child ------------------------------------------------------------------- */

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t page = ((uintptr_t)info->si_addr - learning.from) / PAGE;

    (void)context;
    if ((uintptr_t)info->si_addr >= learning.from && page < learning.count) {
        learning.seen[page] = 1;
        if (syscall(SYS_mprotect, learning.from + page * PAGE, PAGE,
                    PROT_READ | PROT_WRITE) == 0)
            return;
    }
    (void)signal(signal_number, SIG_DFL); /* it happens again, and ends this */
}

static _Noreturn void learn(bool (*run)(void *user), void *user)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    if (sigaction(SIGSEGV, &action, NULL) < 0 ||
        mprotect((void *)learning.from, learning.count * PAGE, PROT_READ) < 0)
        _exit(1);
    _exit(run(user) ? 0 : 1);
}

/* ---- public to other modules -------------------------------------------- */

uint8_t *gbx_written_learn(char *from, size_t count, bool (*run)(void *user),
                           void *user)
{
    uint8_t *seen =
        mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 1;
    pid_t pid;

    if (seen == MAP_FAILED)
        return NULL;
    learning.from = (uintptr_t)from;
    learning.count = count;
    learning.seen = seen;
    pid = fork();
    if (pid == 0)
        learn(run, user);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return seen;
    (void)munmap(seen, count);
    return NULL;
}

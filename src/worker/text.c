/* SPDX-License-Identifier: MIT */
/*
 * text - the child that learns takes a fault for each page of the engine that it enters.
 * Its handler runs nothing of what is closed: it is code of this program and of the C
 * library, which stay open.
 */
#include "worker/text.h"

#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u

#define MAPPINGS_MAX 32

#define HUGE_PAGE       GBX_MIB(2)
#define PAGES_IN_A_HUGE (HUGE_PAGE / PAGE)

#ifndef MADV_COLLAPSE
#    define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

/* Fewer pages that a call runs are not worth a huge one. */
#define WORTH_IT 8u

typedef struct mapping {
    uintptr_t from;
    uintptr_t to;
    int prot;
    size_t first; /* number of its first page in seen */
} mapping;

typedef struct text {
    size_t count;
    mapping list[MAPPINGS_MAX];
    size_t pages;
    uint8_t *seen; /* a byte a page, shared with the child that learns */
} text;

/* For the handler, which gets nothing else. */
static text learning;

static const char library[] = "libjavascriptcoregtk-";

static bool is_engine(const char *line)
{
    const char *slash = strrchr(line, '/');

    return slash != NULL && strncmp(slash + 1, library, sizeof library - 1) == 0;
}

/* Code or constants of the engine, as a line of smaps says it. */
static bool begin_mapping(text *to, const char *line)
{
    mapping *m = &to->list[to->count];
    char mode[5];

    if (!is_engine(line) ||
        sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &m->from, &m->to, mode) != 3 ||
        mode[0] != 'r' || mode[1] == 'w' || mode[3] != 'p')
        return false;
    m->prot = PROT_READ | (mode[2] == 'x' ? PROT_EXEC : 0);
    return true;
}

/* smaps is read to its end first: what is read must not move under the reader. A mapping
 * with pages of its own (what the loader has relocated) is inherited as it is, and does
 * not hold what its file does. */
static void find(text *ret)
{
    FILE *f = fopen("/proc/self/smaps", "re");
    bool is_open = false; /* lines are about ret->list[ret->count] */
    unsigned long own_kib;
    char line[512];

    *ret = (text){0};
    while (f != NULL && ret->count < MAPPINGS_MAX &&
           fgets(line, sizeof line, f) != NULL) {
        if (begin_mapping(ret, line)) {
            is_open = true;
        } else if (is_open && sscanf(line, "Anonymous: %lu kB", &own_kib) == 1) {
            mapping *m = &ret->list[ret->count];

            is_open = false;
            if (own_kib > 0)
                continue;
            m->first = ret->pages;
            ret->pages += (m->to - m->from) / PAGE;
            ret->count++;
        }
    }
    if (f != NULL)
        (void)fclose(f);
}

/* ---- in the child that learns ------------------------------------------------------- */

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1);

    (void)context;
    for (size_t i = 0; i < learning.count; i++) {
        const mapping *m = &learning.list[i];

        if (at < m->from || at >= m->to)
            continue;
        learning.seen[m->first + (at - m->from) / PAGE] = 1;
        if (syscall(SYS_mprotect, at, PAGE, m->prot) == 0)
            return;
    }
    (void)signal(signal_number,
                 SIG_DFL); /* not ours: it happens again, and ends this */
}

static _Noreturn void learn(bool (*run)(void *user), void *user)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    if (sigaction(SIGSEGV, &action, NULL) < 0)
        _exit(1);
    for (size_t i = 0; i < learning.count; i++) {
        const mapping *m = &learning.list[i];

        if (mprotect((void *)m->from, m->to - m->from, PROT_NONE) < 0)
            _exit(1);
    }
    _exit(run(user) ? 0 : 1);
}

static bool learn_in_child(bool (*run)(void *user), void *user)
{
    int status = 1;
    pid_t pid = fork();

    if (pid == 0)
        learn(run, user);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- in the template ----------------------------------------------------------------- */

/* An administrator may have said that there are to be none. */
static bool may_have_huge_pages(void)
{
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    char line[64] = "";
    bool may = f != NULL && fgets(line, sizeof line, f) != NULL &&
               strstr(line, "[never]") == NULL;

    if (f != NULL)
        (void)fclose(f);
    return may;
}

/* A copy of [from, to) in huge pages takes its place. Both are multiples of them. */
static void replace(char *from, size_t size, int prot)
{
    size_t spare = size + HUGE_PAGE;
    char *room = mmap(NULL, spare, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *copy;

    if (room == MAP_FAILED)
        return;
    copy = room + (HUGE_PAGE - (uintptr_t)room % HUGE_PAGE) % HUGE_PAGE;
    if (mprotect(copy, size, PROT_READ | PROT_WRITE) == 0) {
        (void)madvise(copy, size, MADV_HUGEPAGE);
        memcpy(copy, from, size);
        /* Small pages would be worse than the file's: forks copy a page table of them.
         * This succeeds at once where they are huge already. */
        if (madvise(copy, size, MADV_COLLAPSE) == 0 && mprotect(copy, size, prot) == 0)
            (void)!mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, from);
    }
    (void)munmap(room, spare); /* whatever has not moved */
}

typedef struct chunk {
    const mapping *in;
    uintptr_t at;
    size_t seen; /* pages */
} chunk;

/* The huge page's worth of text that a call runs most pages of. */
static chunk find_busiest(const text *t)
{
    chunk best = {.seen = WORTH_IT - 1};

    for (size_t i = 0; i < t->count; i++) {
        const mapping *m = &t->list[i];
        uintptr_t at = (m->from + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);

        for (; at + HUGE_PAGE <= m->to; at += HUGE_PAGE) {
            const uint8_t *seen = t->seen + m->first + (at - m->from) / PAGE;
            size_t count = 0;

            for (size_t page = 0; page < PAGES_IN_A_HUGE; page++)
                count += seen[page];
            if (count > best.seen)
                best = (chunk){m, at, count};
        }
    }
    return best;
}

/* ---- public to other modules -------------------------------------------- */

size_t gbx_text_enlarge(size_t count, bool (*run)(void *user), void *user)
{
    size_t done = 0;

    if (!may_have_huge_pages())
        return 0;
    find(&learning);
    if (learning.pages == 0)
        return 0;
    learning.seen = mmap(NULL, learning.pages, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (learning.seen == MAP_FAILED)
        return 0;
    if (learn_in_child(run, user)) {
        for (; done < count; done++) {
            chunk c = find_busiest(&learning);

            if (c.in == NULL)
                break;
            replace((char *)c.at, HUGE_PAGE, c.in->prot);
            memset(learning.seen + c.in->first + (c.at - c.in->from) / PAGE, 0,
                   PAGES_IN_A_HUGE);
        }
    }
    (void)munmap(learning.seen, learning.pages);
    return done;
}

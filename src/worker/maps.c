/* SPDX-License-Identifier: MIT */
/*
 * maps - lists the mappings of this process, finds which of their pages a child
 * touches, and unmaps libraries that are not needed.
 *
 * The kernel lists one line per mapping; smaps adds lines about each.
 *
 * The list is in its own shared memory, so that a search for privately written pages
 * does not find it.
 */
#include "worker/worker.h"

#include "base/cleanup.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process of ours has about 170. */
#define MAPPINGS_MAX 1024
#define LIST_SIZE    (MAPPINGS_MAX * sizeof(gbx_mapping))

static bool read_line(const char *line, gbx_mapping *ret)
{
    const char *name;
    char mode[5];
    int end = 0;

    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*x:%*x %" SCNu64 " %n",
               &ret->from, &ret->to, mode, &ret->file, &end) != 4)
        return false;
    name = strrchr(line + end, '/');
    name = name != NULL ? name + 1 : line + end;
    (void)snprintf(ret->name, sizeof ret->name, "%.*s", (int)strcspn(name, "\n"), name);
    ret->prot = (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) |
                (mode[2] == 'x' ? PROT_EXEC : 0);
    ret->is_private = mode[3] == 'p';
    return true;
}

gbx_maps gbx_maps_read(bool with_own)
{
    void *list = mmap(NULL, LIST_SIZE, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    gbx_maps maps = {.list = list != MAP_FAILED ? list : NULL};
    FILE *f = fopen(with_own ? "/proc/self/smaps" : "/proc/self/maps", "re");
    char line[512];

    while (maps.list != NULL && f != NULL && fgets(line, sizeof line, f) != NULL) {
        gbx_mapping mapping = {0};

        if (read_line(line, &mapping)) {
            if (maps.count == MAPPINGS_MAX)
                break;
            maps.list[maps.count++] = mapping;
        } else if (maps.count > 0) {
            (void)sscanf(line, "Anonymous: %" SCNu64, &maps.list[maps.count - 1].own);
        }
    }
    if (f != NULL)
        (void)fclose(f);
    return maps;
}

void gbx_maps_free(gbx_maps *maps)
{
    if (maps->list != NULL)
        (void)munmap(maps->list, LIST_SIZE);
    *maps = (gbx_maps){0};
}

static int pagemap = -1;

void gbx_pagemap_open(void)
{
    pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

int gbx_pagemap(void)
{
    return pagemap;
}

void gbx_pagemap_close(void)
{
    gbx_fd_close(&pagemap);
}

/* ---- probing pages by faults --------------------------------------------------- */

/* The handler must not touch closed memory: it would fault itself. */

#define PAGE 4096u

/* The handler's only input. */
static struct {
    const gbx_ranges *ranges;
    uint8_t *touched; /* shared with the child */
} learning;

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1);

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

static _Noreturn void probe(bool (*run)(void *user), void *user)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    if (sigaction(SIGSEGV, &action, NULL) < 0)
        _exit(1);
    for (size_t i = 0; i < learning.ranges->count; i++) {
        const gbx_range *range = &learning.ranges->list[i];

        if (mprotect((void *)range->from, range->to - range->from, PROT_NONE) < 0)
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

uint8_t *gbx_page_probe_learn(const gbx_ranges *ranges, bool (*run)(void *user),
                              void *user)
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
        probe(run, user);
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

/* ---- libraries that no call uses ------------------------------------------------ */

/*
 * The engine's library links libraries for an event loop, an object system and a
 * journal, for its embedding API and for WebKit. Its C interface, which is all we call,
 * uses none of them once the template is up; code that did would crash. libseccomp has
 * compiled the filters, and is no longer needed.
 */
static const char *const unused[] = {
    "libgio-2.0.so",  "libgobject-2.0.so", "libgmodule-2.0.so", "libmount.so",
    "libblkid.so",    "libselinux.so",     "libpcre2-8.so",     "libffi.so",
    "libsystemd.so",  "libcap.so",         "libgcrypt.so",      "liblzma.so",
    "libzstd.so",     "liblz4.so",         "libz.so",           "libseccomp.so",
    "libgpg-error.so"};

void gbx_libs_drop(void)
{
    gbx_maps maps;
    void *frame;

    /* The engine captures its own stack at the first exception. For that the C
     * library searches all libraries by name for the unwinder, once. */
    (void)backtrace(&frame, 1);

    maps = gbx_maps_read(false);
    for (size_t i = 0; i < maps.count; i++)
        for (size_t k = 0; k < GBX_COUNTOF(unused); k++)
            if (strncmp(maps.list[i].name, unused[k], strlen(unused[k])) == 0)
                (void)munmap((void *)maps.list[i].from,
                             maps.list[i].to - maps.list[i].from);
    gbx_maps_free(&maps);
}

/* SPDX-License-Identifier: MIT */
/*
 * image - maps is read to its end before any mapping is changed: what is read must not
 * move under the reader.
 */
#include "worker/image.h"

#include "base/cleanup.h"

#include <execinfo.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
#    define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

#define HUGE_PAGE GBX_MIB(2)

#define MAPPINGS_MAX 512

typedef struct mapping {
    uintptr_t from;
    uintptr_t to;
    int prot;
} mapping;

typedef struct mappings {
    size_t count;
    mapping list[MAPPINGS_MAX];
} mappings;

/*
 * The engine's library brings an event loop's, an object system's and a journal's with
 * it, for its embedding API and for WebKit; its C interface, which is all we call,
 * enters none of them once the template is up. A fork that did would crash. The last
 * one compiled the filters, and has done its work.
 */
static const char *const unused[] = {
    "libgio-2.0.so",  "libgobject-2.0.so", "libgmodule-2.0.so", "libmount.so",
    "libblkid.so",    "libselinux.so",     "libpcre2-8.so",     "libffi.so",
    "libsystemd.so",  "libcap.so",         "libgcrypt.so",      "liblzma.so",
    "libzstd.so",     "liblz4.so",         "libz.so",           "libseccomp.so",
    "libgpg-error.so"};

static const char *const engine[] = {"libjavascriptcoregtk-"};

static bool is_one_of(const char *path, const char *const *names, size_t count)
{
    const char *slash = strrchr(path, '/');

    for (size_t i = 0; slash != NULL && i < count; i++)
        if (strncmp(slash + 1, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Every mapping of the files with these names. */
static void find(mappings *ret, const char *const *names, size_t count)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char line[512];

    ret->count = 0;
    while (f != NULL && ret->count < MAPPINGS_MAX &&
           fgets(line, sizeof line, f) != NULL) {
        mapping *m = &ret->list[ret->count];
        char mode[5];

        if (!is_one_of(line, names, count) ||
            sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &m->from, &m->to, mode) != 3)
            continue;
        m->prot = (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) |
                  (mode[2] == 'x' ? PROT_EXEC : 0);
        ret->count++;
    }
    if (f != NULL)
        (void)fclose(f);
}

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

/* ---- public to other modules -------------------------------------------- */

gbx_image_gap gbx_image_leave_out(void)
{
    gbx_image_gap gap = {0};
    mappings found;
    void *frame;

    /* The engine takes a trace of its own stack where a first exception is made; for
     * that the C library searches all libraries by name for the unwinder, once. */
    (void)backtrace(&frame, 1);

    find(&found, unused, GBX_COUNTOF(unused));
    for (size_t i = 0; i < found.count; i++) {
        const mapping *m = &found.list[i];
        size_t size = m->to - m->from;

        if (madvise((void *)m->from, size, MADV_DONTFORK) < 0)
            continue;
        gap.total_bytes += size;
        if ((m->prot & PROT_WRITE) != 0)
            gap.data_bytes += size;
    }
    return gap;
}

void gbx_image_enlarge(void)
{
    mappings found;

    if (!may_have_huge_pages())
        return;
    find(&found, engine, GBX_COUNTOF(engine));
    for (size_t i = 0; i < found.count; i++) {
        const mapping *m = &found.list[i];
        uintptr_t from = (m->from + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
        uintptr_t to = m->to & ~(uintptr_t)(HUGE_PAGE - 1);

        if (from < to && (m->prot & PROT_WRITE) == 0)
            replace((char *)from, to - from, m->prot);
    }
}

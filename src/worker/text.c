/* SPDX-License-Identifier: MIT */
/* text - the child that learns takes a fault for each page of the engine that it enters. */
#include "worker/text.h"

#include "base/cleanup.h"
#include "worker/touched.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

#define HUGE_PAGE       GBX_MIB(2)
#define PAGES_IN_A_HUGE (HUGE_PAGE / PAGE)

#ifndef MADV_COLLAPSE
#    define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

/* Fewer pages that a call runs are not worth a huge one. */
#define WORTH_IT 8u

static const char library[] = "libjavascriptcoregtk-";

static bool is_engine(const char *line)
{
    const char *slash = strrchr(line, '/');

    return slash != NULL && strncmp(slash + 1, library, sizeof library - 1) == 0;
}

/* Code or constants of the engine, as a line of smaps says it. */
static bool read_mapping(const char *line, gbx_range *ret)
{
    char mode[5];

    if (!is_engine(line) ||
        sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &ret->from, &ret->to, mode) !=
            3 ||
        mode[0] != 'r' || mode[1] == 'w' || mode[3] != 'p')
        return false;
    ret->prot = PROT_READ | (mode[2] == 'x' ? PROT_EXEC : 0);
    return true;
}

/* smaps is read to its end first: what is read must not move under the reader. A mapping
 * with pages of its own (what the loader has relocated) is inherited as it is, and does
 * not hold what its file does. */
static void find(gbx_ranges *ret)
{
    FILE *f = fopen("/proc/self/smaps", "re");
    bool is_open = false; /* lines are about found */
    unsigned long own_kib;
    gbx_range found = {0};
    char line[512];

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (read_mapping(line, &found)) {
            is_open = true;
        } else if (is_open && sscanf(line, "Anonymous: %lu kB", &own_kib) == 1) {
            is_open = false;
            if (own_kib == 0)
                gbx_ranges_add(ret, found.from, found.to, found.prot);
        }
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

typedef struct chunk {
    const gbx_range *in;
    uintptr_t at;
    size_t seen; /* pages */
} chunk;

/* The huge page's worth of text that a call runs most pages of. */
static chunk find_busiest(const gbx_ranges *ranges, const uint8_t *touched)
{
    chunk best = {.seen = WORTH_IT - 1};

    for (size_t i = 0; i < ranges->count; i++) {
        const gbx_range *m = &ranges->list[i];
        uintptr_t at = (m->from + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);

        for (; at + HUGE_PAGE <= m->to; at += HUGE_PAGE) {
            const uint8_t *seen = touched + m->first + (at - m->from) / PAGE;
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
    gbx_ranges ranges = {0};
    uint8_t *touched = NULL;
    size_t done = 0;

    if (may_have_huge_pages())
        find(&ranges);
    touched = gbx_touched_learn(&ranges, PROT_NONE, run, user);
    if (touched == NULL)
        return 0;
    for (; done < count; done++) {
        chunk c = find_busiest(&ranges, touched);

        if (c.in == NULL)
            break;
        replace((char *)c.at, HUGE_PAGE, c.in->prot);
        memset(touched + c.in->first + (c.at - c.in->from) / PAGE, 0, PAGES_IN_A_HUGE);
    }
    gbx_touched_free(touched, &ranges);
    return done;
}

/* SPDX-License-Identifier: MIT */
/* hugepage_text - copies the engine's code to huge pages. The learning child takes a
 * fault for each page of the engine that it enters. */
#include "worker/worker.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u

#define HUGE_PAGE       GBX_MIB(2)
#define PAGES_IN_A_HUGE (HUGE_PAGE / PAGE)

#ifndef MADV_POPULATE_READ
#    define MADV_POPULATE_READ 22 /* Linux 5.14; Debian 12's C library knows it */
#endif
#ifndef MADV_COLLAPSE
#    define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

/* The engine's code and constants. A mapping with private pages (relocated by the
 * loader) differs from its file. */
static void find(gbx_ranges *ret)
{
    static const char library[] = "libjavascriptcoregtk-";
    gbx_maps maps = gbx_maps_read(true);

    for (size_t i = 0; i < maps.count; i++) {
        const gbx_mapping *m = &maps.list[i];

        if (strncmp(m->name, library, sizeof library - 1) == 0 && m->is_private &&
            m->own == 0 && (m->prot & (PROT_READ | PROT_WRITE)) == PROT_READ)
            gbx_ranges_add(ret, m->from, m->to, m->prot);
    }
    gbx_maps_free(&maps);
}

/* Choose the huge-page-sized piece with the most pages that a call runs, and clear
 * its pages in touched. Returns false if none is left. */
static bool choose(const gbx_ranges *ranges, uint8_t *touched, uint8_t *chosen)
{
    size_t most = 0;
    size_t best = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        const gbx_range *m = &ranges->list[i];
        uintptr_t at = (m->from + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);

        for (; at + HUGE_PAGE <= m->to; at += HUGE_PAGE) {
            size_t first = m->first + (at - m->from) / PAGE;
            size_t count = 0;

            for (size_t page = 0; page < PAGES_IN_A_HUGE; page++)
                count += touched[first + page];
            if (count > most) {
                most = count;
                best = first;
            }
        }
    }
    if (most == 0)
        return false;
    memset(touched + best, 0, PAGES_IN_A_HUGE);
    memset(chosen + best, 1, PAGES_IN_A_HUGE);
    return true;
}

/* Ranges in huge pages of the file, for workers to map. */
static gbx_ranges enlarged;

/* Small pages would be no better than the engine's file: they must be huge. Writing
 * to the file allocates them faster than a fault for each. */
static bool copy_to_file(int file, char *room, const gbx_range *range, off_t at)
{
    size_t size = range->to - range->from;

    return pwrite(file, (const void *)range->from, size, at) == (ssize_t)size &&
           mmap(room, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, at) !=
               MAP_FAILED &&
           madvise(room, size, MADV_COLLAPSE) == 0 &&
           mmap(room, size, range->prot, MAP_PRIVATE | MAP_FIXED, file, at) !=
               MAP_FAILED;
}

/* Linux 6.1 makes huge pages only of anonymous memory. */
static bool copy_to_memory(char *room, const gbx_range *range)
{
    size_t size = range->to - range->from;

    if (mmap(room, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return false;
    (void)madvise(room, size, MADV_HUGEPAGE);
    memcpy(room, (const void *)range->from, size);
    return madvise(room, size, MADV_COLLAPSE) == 0 &&
           mprotect(room, size, range->prot) == 0;
}

/* Replace the range by its copy, in file from `at` on. */
static void replace(int file, const gbx_range *range, off_t at)
{
    size_t size = range->to - range->from;
    size_t spare = size + HUGE_PAGE;
    char *spared = mmap(NULL, spare, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool is_in_file;
    char *room;

    if (spared == MAP_FAILED)
        return;
    room = spared + (HUGE_PAGE - (uintptr_t)spared % HUGE_PAGE) % HUGE_PAGE;
    is_in_file = file >= 0 && copy_to_file(file, room, range, at);
    if ((is_in_file || copy_to_memory(room, range)) &&
        mremap(room, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, range->from) !=
            MAP_FAILED &&
        is_in_file)
        gbx_ranges_add(&enlarged, range->from, range->to, range->prot);
    (void)munmap(spared, spare); /* the parts not moved */
}

/* Replace all chosen pieces of each mapping; adjacent ones become one mapping. */
static void replace_chosen(const gbx_ranges *ranges, const uint8_t *chosen,
                           size_t count)
{
    int file = gbx_memfile_new("text", count * HUGE_PAGE);
    off_t at = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        const gbx_range *m = &ranges->list[i];
        size_t pages = (m->to - m->from) / PAGE;
        size_t end;

        for (size_t page = 0; page < pages; page = end + 1) {
            gbx_range run = {.from = m->from + page * PAGE, .prot = m->prot};

            for (end = page; end < pages && chosen[m->first + end] != 0; end++)
                continue;
            run.to = m->from + end * PAGE;
            if (end > page)
                replace(file, &run, at);
            at += (off_t)(run.to - run.from);
        }
    }
    gbx_fd_close(&file);
}

size_t gbx_text_enlarge(size_t count, bool (*run)(void *user), void *user)
{
    gbx_ranges ranges = {0};
    uint8_t *chosen = NULL;
    uint8_t *touched;
    size_t done = 0;
    char text[64];

    enlarged = (gbx_ranges){0};
    /* An administrator may have disabled them. */
    if (gbx_fd_start(AT_FDCWD, "/sys/kernel/mm/transparent_hugepage/enabled", text,
                     sizeof text) > 0 &&
        strstr(text, "[never]") == NULL)
        find(&ranges);
    touched = gbx_page_probe_learn(&ranges, run, user);
    if (touched != NULL)
        chosen = calloc(ranges.pages, 1);
    while (chosen != NULL && done < count && choose(&ranges, touched, chosen))
        done++;
    if (done > 0)
        replace_chosen(&ranges, chosen, done);
    free(chosen);
    if (touched != NULL)
        gbx_page_probe_free(touched, &ranges);
    return done;
}

void gbx_text_claim(void)
{
    for (size_t i = 0; i < enlarged.count; i++)
        (void)madvise((void *)enlarged.list[i].from,
                      enlarged.list[i].to - enlarged.list[i].from, MADV_POPULATE_READ);
}

/* SPDX-License-Identifier: MIT */
/* freeze - writes memory to a file and maps the file in its place. */
#include "worker/worker.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

int gbx_memfile_new(const char *name, size_t size)
{
    struct rlimit limit;
    int fd;

    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur < size)
        return -1;
    fd = memfd_create(name, MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)size) < 0)
        gbx_fd_close(&fd);
    return fd;
}

#define PAGE 4096u

/* The C library and the loader stay: the search for touched pages runs in them, and
 * so does every call. */
static bool is_library(const gbx_mapping *m)
{
    return strstr(m->name, ".so") != NULL && strncmp(m->name, "libc.so", 7) != 0 &&
           strncmp(m->name, "ld-", 3) != 0;
}

/* Data of a library: relocated, read from its file, or zeros behind that. */
static bool is_data(const gbx_mapping *m, const gbx_mapping *before)
{
    return m->is_private && (m->prot & PROT_READ) != 0 && (m->prot & PROT_EXEC) == 0 &&
           (is_library(m) ||
            (*m->name == 0 && before != NULL && before->to == m->from &&
             (before->prot & PROT_WRITE) != 0 && is_library(before)));
}

/* Find the used part of the heap, and every library mapping with private pages. The
 * kernel may have merged a library's zeros with the loader's data for this thread, which
 * the handler of faults needs, too. */
static void find(gbx_ranges *ret)
{
    uintptr_t used_end = (uintptr_t)gbx_heap_used_end();
    uintptr_t of_thread = (uintptr_t)&errno;
    gbx_maps maps = gbx_maps_read(true);

    for (size_t i = 0; i < maps.count; i++) {
        const gbx_mapping *m = &maps.list[i];
        if (strcmp(m->name, "[heap]") == 0)
            gbx_ranges_add(ret, m->from, m->to < used_end ? m->to : used_end, m->prot);
        else if (is_data(m, i > 0 ? m - 1 : NULL) && m->own > 0 &&
                 (of_thread < m->from || m->to <= of_thread))
            gbx_ranges_add(ret, m->from, m->to, m->prot);
    }
    gbx_maps_free(&maps);
}

/* Write the pages of the range, each at the offset of its number. Pages of zeros become
 * holes of the file. */
static bool write_pages(int fd, const gbx_range *range)
{
    static const char zeros[PAGE];
    const char *from = (const char *)range->from;
    size_t count = (range->to - range->from) / PAGE;
    size_t end;

    for (size_t i = 0; i < count; i = end + 1) {
        size_t len;

        end = i;
        while (end < count && memcmp(from + end * PAGE, zeros, PAGE) != 0)
            end++;
        len = (end - i) * PAGE;
        if (len > 0 && pwrite(fd, from + i * PAGE, len,
                              (off_t)((range->first + i) * PAGE)) != (ssize_t)len)
            return false;
    }
    return true;
}

/* Nothing may write to the range between the two steps, not even the allocator. A
 * write-protected range is writable until the end. */
static void replace(int fd, const gbx_range *range, const uint8_t *touched)
{
    volatile char *from = (volatile char *)range->from;
    size_t count = (range->to - range->from) / PAGE;

    if (!write_pages(fd, range) ||
        mmap((void *)range->from, count * PAGE, range->prot | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED, fd, (off_t)(range->first * PAGE)) == MAP_FAILED)
        return;
    for (size_t i = 0; i < count; i++)
        if (touched[range->first + i])
            from[i * PAGE] = from[i * PAGE];
    if ((range->prot & PROT_WRITE) == 0)
        (void)mprotect((void *)range->from, count * PAGE, range->prot);
}

/* Bits of /proc/self/pagemap: a page that is present, and belongs to a file. */
#define IS_FILES (UINT64_C(1) << 61 | UINT64_C(1) << 63)

/* Unmap the pages of range that still belong to the file; written ones stay. */
static void unmap_clean(int pagemap, const gbx_range *range)
{
    size_t count = (range->to - range->from) / PAGE;
    uint64_t entries[512];
    size_t end;

    for (size_t i = 0; i < count; i += GBX_COUNTOF(entries)) {
        size_t n = count - i < GBX_COUNTOF(entries) ? count - i : GBX_COUNTOF(entries);
        char *from = (char *)range->from + i * PAGE;

        if (pread(pagemap, entries, n * sizeof *entries,
                  (off_t)((uintptr_t)from / PAGE * sizeof *entries)) !=
            (ssize_t)(n * sizeof *entries))
            return;
        for (size_t k = 0; k < n; k = end + 1) {
            for (end = k; end < n && (entries[end] & IS_FILES) == IS_FILES; end++)
                continue;
            if (end > k)
                (void)madvise(from + k * PAGE, (end - k) * PAGE, MADV_DONTNEED);
        }
    }
}

/* Ranges that now belong to a file. */
static gbx_ranges frozen;

void gbx_freeze(bool (*run)(void *user), void *user)
{
    uint8_t *touched;
    int fd;

    frozen = (gbx_ranges){0};
    find(&frozen);
    touched = gbx_page_probe_learn(&frozen, run, user);
    if (touched == NULL)
        return;
    fd = gbx_memfile_new("frozen", frozen.pages * PAGE);
    for (size_t i = 0; fd >= 0 && i < frozen.count; i++)
        replace(fd, &frozen.list[i], touched);
    gbx_fd_close(&fd);
    gbx_page_probe_free(touched, &frozen);
}

void gbx_freeze_end(void)
{
    for (size_t i = 0; gbx_pagemap() >= 0 && i < frozen.count; i++)
        unmap_clean(gbx_pagemap(), &frozen.list[i]);
    gbx_pagemap_close();
}

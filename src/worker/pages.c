/* SPDX-License-Identifier: MIT */
/*
 * pages - a page that only one process maps is a page that it has written.
 *
 * A page that a device may access must not move, so on a fork the kernel copies a
 * pinned page for the child at once, and leaves the parent the original. Memory that is
 * registered with an io_uring is pinned for as long as the ring is open. Nothing is
 * ever submitted to this ring, and its queues are not even mapped.
 */
#include "worker/worker.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23 /* Linux 5.14; Debian 12's C library knows it */
#endif

#define PAGE 4096u

/* Larger mappings are the engine's reservations, used from their start. */
#define LOOKED_AT_MAX GBX_MIB(32)

/* Bits of /proc/self/pagemap. */
#define IS_PRESENT   (UINT64_C(1) << 63)
#define IS_FILES     (UINT64_C(1) << 61)
#define IS_EXCLUSIVE (UINT64_C(1) << 56)

static void add_page(gbx_pages *pages, char *page, bool of_file)
{
    struct gbx_page_run *last =
        pages->count > 0 ? &pages->runs[pages->count - 1] : NULL;

    if (last != NULL && last->start + last->len == page && last->of_file == of_file)
        last->len += PAGE;
    else if (pages->count < GBX_PAGE_RUNS_MAX)
        pages->runs[pages->count++] =
            (struct gbx_page_run){.start = page, .len = PAGE, .of_file = of_file};
}

/* Add the written pages from `from` on. Nothing is allocated during the search: it
 * would be found. */
static void add_mapping(gbx_pages *pages, int pagemap, uintptr_t from, uintptr_t to,
                        bool of_file)
{
    uint64_t entries[256];

    for (uintptr_t at = from; at < to; at += GBX_COUNTOF(entries) * PAGE) {
        size_t left = (to - at) / PAGE;
        size_t count = left < GBX_COUNTOF(entries) ? left : GBX_COUNTOF(entries);

        if (pread(pagemap, entries, count * sizeof *entries,
                  (off_t)(at / PAGE * sizeof *entries)) !=
            (ssize_t)(count * sizeof *entries))
            return;
        /* A page of a file in memory that was only read may also be mapped here alone. */
        for (size_t i = 0; i < count; i++)
            if ((entries[i] & (IS_PRESENT | IS_FILES | IS_EXCLUSIVE)) ==
                (IS_PRESENT | IS_EXCLUSIVE))
                add_page(pages, (char *)at + i * PAGE, of_file);
    }
}

/* Every private writable mapping of this process. */
static void look(gbx_pages *pages)
{
    int pagemap = gbx_pagemap();
    gbx_maps maps = gbx_maps_read(false);

    for (size_t i = 0; pagemap >= 0 && i < maps.count; i++) {
        const gbx_mapping *m = &maps.list[i];
        size_t len = m->to - m->from;

        if ((m->prot & PROT_WRITE) != 0 && m->is_private)
            add_mapping(pages, pagemap, m->from,
                        m->from + (len < LOOKED_AT_MAX ? len : LOOKED_AT_MAX),
                        m->file != 0 && strncmp(m->name, "memfd:", 6) != 0);
    }
    gbx_maps_free(&maps);
}

static int open_ring(void)
{
    struct io_uring_params params = {0};

    return (int)syscall(SYS_io_uring_setup, 1, &params);
}

void gbx_pages_learn(gbx_pages *pages, bool (*run)(void *user), void *user)
{
    gbx_pages found = {0};
    bool complete;
    int status = 1;
    int ends[2];
    pid_t pid;

    pages->count = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    pid = _Fork();
    if (pid == 0) {
        if (run(user))
            look(&found);
        if (!gbx_channel_write(ends[1], &found, sizeof found))
            _exit(1);
        /* An outer filter may kill a process that creates a ring: then this child. */
        _exit(open_ring() >= 0 ? 0 : 1);
    }
    (void)close(ends[1]);
    complete = pid > 0 && gbx_channel_read(ends[0], &found, sizeof found);
    (void)close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!complete || found.count > GBX_PAGE_RUNS_MAX)
        return;
    *pages = found;
    pages->may_pin = WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void gbx_pages_pin(gbx_pages *pages)
{
    struct iovec buffers[GBX_PAGE_RUNS_MAX];
    unsigned count = 0;
    int ring = pages->may_pin ? open_ring() : -1;

    /* A file's pages cannot be registered before Linux 6.4, and would make the whole
     * call fail. */
    for (size_t i = 0; i < pages->count; i++)
        if (!pages->runs[i].of_file)
            buffers[count++] = (struct iovec){pages->runs[i].start, pages->runs[i].len};
    if (ring < 0 || count == 0 ||
        syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, buffers, count) <
            0) {
        gbx_fd_close(&ring); /* for instance, more than may be locked */
        return;
    }
    for (size_t i = 0; i < pages->count; i++)
        pages->runs[i].pinned = !pages->runs[i].of_file;
}

void gbx_pages_claim(const gbx_pages *pages)
{
    for (size_t i = 0; i < pages->count; i++)
        if (!pages->runs[i].pinned)
            (void)madvise(pages->runs[i].start, pages->runs[i].len,
                          MADV_POPULATE_WRITE);
}

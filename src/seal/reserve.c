/* SPDX-License-Identifier: MIT */
/*
 * reserve - bounds the 4 GiB of address space that the engine reserves for the shapes
 * of objects. Growth inside it makes no mapping, so no limit would count it: the tail
 * is made inaccessible. A worker cannot reopen it: its RLIMIT_DATA counts a page once
 * it becomes writable. The template has no such limit, and opens the tail while it
 * loads a dataset.
 */
#include "base/cleanup.h"
#include "seal/internal.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The reservation is recognised by its size: nothing else asks for so much at once. */
#define RESERVATION_BYTES (UINT64_C(4) << 30)

/* Left open after what is in use: shapes for the largest honest call. A shape takes
 * about 128 bytes, so 32 MiB hold a quarter of a million new ones. The size does not
 * depend on the memory limit: a call may have a lower one, and open space counts
 * against none. */
#define OPEN_BYTES GBX_MIB(32)

#define WINDOW_BYTES GBX_MIB(16)

/* The end of the last page in use. The engine fills from the bottom, so the first
 * empty window marks the end; scanning all 4 GiB would take 2 ms. */
static bool find_end_of_use(char *start, size_t size, char **ret)
{
    unsigned char resident[WINDOW_BYTES / 4096];
    size_t page = (size_t)getpagesize();
    bool used = true;

    *ret = start;
    for (size_t at = 0; at < size && used; at += WINDOW_BYTES) {
        used = false;
        if (mincore(start + at, WINDOW_BYTES, resident) < 0)
            return false;
        for (size_t i = 0; i < WINDOW_BYTES / page; i++) {
            if (!(resident[i] & 1))
                continue;
            *ret = start + at + (i + 1) * page;
            used = true;
        }
    }
    return true;
}

/* False if the tail could not be closed. */
static bool close_tail(gbx_seal *seal, gbx_reserve *r)
{
    char *end = r->start + RESERVATION_BYTES;
    char *keep;

    r->closed = end;
    if (!find_end_of_use(r->start, RESERVATION_BYTES, &keep))
        return false;
    if ((size_t)(end - keep) <= OPEN_BYTES)
        return true;
    keep += OPEN_BYTES;
    if (mprotect(keep, (size_t)(end - keep), PROT_NONE) < 0)
        return false;
    r->closed = keep;
    seal->closed_bytes += (uint64_t)(end - keep);
    return true;
}

/* The engine aligns its reservation to its size, so it is found even where the
 * kernel shows it merged with a neighbour. */
static bool close_within(gbx_seal *seal, uintptr_t from, uintptr_t to)
{
    uintptr_t block = (from + RESERVATION_BYTES - 1) & ~(RESERVATION_BYTES - 1);
    gbx_reserve *r;

    if (to - from < RESERVATION_BYTES || block >= to || to - block < RESERVATION_BYTES)
        return to - from < RESERVATION_BYTES;
    if (seal->reserve_count == GBX_COUNTOF(seal->reserves))
        return false;
    r = &seal->reserves[seal->reserve_count++];
    r->start = (char *)block;
    return close_tail(seal, r);
}

void gbx_reserve_close(gbx_seal *seal)
{
    FILE *f = fopen("/proc/self/maps", "re");
    bool closed = f != NULL;
    char line[512];

    if (!(seal->layers_off & GBX_LAYER_BIT(GBX_LAYER_RLIMITS))) {
        while (f != NULL && fgets(line, sizeof line, f) != NULL) {
            char *at; /* "from-to rw-p ..." in hexadecimal */
            uintptr_t from = strtoul(line, &at, 16);
            uintptr_t to = *at == '-' ? strtoul(at + 1, &at, 16) : 0;

            if (strncmp(at, " rw-p ", 6) == 0)
                closed = close_within(seal, from, to) && closed;
        }
        if (!closed)
            gbx_layer_lacks(
                seal, GBX_LAYER_RLIMITS,
                "the engine's reserved memory cannot be bounded: does a filter "
                "refuse 'mincore', or is the engine of another version?");
    }
    if (f != NULL)
        (void)fclose(f);
}

void gbx_reserve_open(gbx_seal *seal)
{
    for (size_t i = 0; i < seal->reserve_count; i++) {
        gbx_reserve *r = &seal->reserves[i];
        size_t size = (size_t)(r->start + RESERVATION_BYTES - r->closed);

        /* If the kernel refuses, the open part must suffice. */
        if (size == 0 || mprotect(r->closed, size, PROT_READ | PROT_WRITE) < 0)
            continue;
        r->closed += size;
        seal->closed_bytes -= size;
    }
}

bool gbx_reserve_close_again(gbx_seal *seal)
{
    bool closed = true;

    seal->closed_bytes = 0;
    for (size_t i = 0; i < seal->reserve_count; i++)
        closed = close_tail(seal, &seal->reserves[i]) && closed;
    return closed;
}

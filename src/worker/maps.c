/* SPDX-License-Identifier: MIT */
/*
 * maps - one line per mapping; smaps adds lines about each.
 *
 * The list has shared memory of its own, so that a search for privately written pages
 * does not find it.
 */
#include "worker/worker.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* A process of ours has about 170. */
#define MAPPINGS_MAX 1024
#define LIST_SIZE    (MAPPINGS_MAX * sizeof(gbx_mapping))

static gbx_mapping *make_list(void)
{
    void *list = mmap(NULL, LIST_SIZE, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return list != MAP_FAILED ? list : NULL;
}

static int prot_of(const char *mode)
{
    return (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) |
           (mode[2] == 'x' ? PROT_EXEC : 0);
}

static bool read_line(const char *line, gbx_mapping *ret)
{
    const char *name;
    char mode[5];
    int end = 0;

    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n",
               &ret->from, &ret->to, mode, &ret->offset, &ret->file, &end) != 5)
        return false;
    name = strrchr(line + end, '/');
    name = name != NULL ? name + 1 : line + end;
    (void)snprintf(ret->name, sizeof ret->name, "%.*s", (int)strcspn(name, "\n"), name);
    ret->prot = prot_of(mode);
    ret->is_private = mode[3] == 'p';
    return true;
}

gbx_maps gbx_maps_read(bool with_own)
{
    gbx_maps maps = {.list = make_list()};
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

/* SPDX-License-Identifier: MIT */
/* proc_memory - see proc_memory.h. */
#include "proc_memory.h"
#include "test.h"

#include <unistd.h>

#define PAGE       4096UL
#define PAGES      256UL
#define IN_PAGEMAP (1ULL << 63 | 1ULL << 62) /* in memory, or swapped out */

/* How many of the pages from `begin` on are there, or (with has_page false) are not. */
static size_t run_of(int pagemap, unsigned long begin, size_t pages, bool has_page)
{
    uint64_t entries[PAGES];
    ssize_t n = pread(pagemap, entries, pages * sizeof entries[0],
                      (off_t)(begin / PAGE * sizeof entries[0]));
    size_t known = n > 0 ? (size_t)n / sizeof entries[0] : 0;
    size_t count = 0;

    while (count < known && ((entries[count] & IN_PAGEMAP) != 0) == has_page)
        count++;
    return count;
}

/* Does the memory from begin to end hold the word? Only pages that are there are read:
 * some kernels allocate one for a read of a page that never was, and the process would
 * grow by what the test looks at. */
static bool range_has(int mem, int pagemap, unsigned long begin, unsigned long end,
                      const char *word)
{
    static char buffer[PAGES * PAGE];

    while (begin < end) {
        size_t left = (end - begin) / PAGE;
        size_t most = left < PAGES ? left : PAGES;
        size_t pages = run_of(pagemap, begin, most, true);
        ssize_t n = pread(mem, buffer, pages * PAGE, (off_t)begin);

        if (n > 0 && memmem(buffer, (size_t)n, word, strlen(word)) != NULL)
            return true;
        if (pages == PAGES && left > PAGES)
            pages--; /* the word may begin in the last page */
        if (pages == 0 && (pages = run_of(pagemap, begin, most, false)) == 0)
            return false;
        begin += pages * PAGE;
    }
    return false;
}

/* A file of a process; NULL, and whether it may not be looked at: else it has ended, since a
 * pool lets workers go while a test looks. */
static FILE *look_into(pid_t pid, const char *name, bool *ret_is_forbidden)
{
    char path[64];
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    file = fopen(path, "re");
    *ret_is_forbidden = file == NULL && (errno == EACCES || errno == EPERM);
    return file;
}

/* ---- public to the tests -------------------------------------------------- */

void proc_memory_needs_root(void)
{
    if (geteuid() != 0) {
        print_message("only root may look into the processes\n");
        skip();
    }
}

int proc_memory_has(pid_t pid, const char *word)
{
    char *line = NULL;
    size_t size = 0;
    bool found = false, is_forbidden, is_map_forbidden;
    FILE *mem = look_into(pid, "mem", &is_forbidden);
    FILE *maps = look_into(pid, "maps", &is_map_forbidden);
    FILE *pagemap = look_into(pid, "pagemap", &is_map_forbidden);

    while (mem != NULL && maps != NULL && pagemap != NULL && !found &&
           getline(&line, &size, maps) > 0) {
        char *at = line;
        unsigned long begin = strtoul(at, &at, 16);
        unsigned long end = *at == '-' ? strtoul(at + 1, &at, 16) : begin;

        /* What is mapped from a file was never the host's. */
        if (strncmp(at, " r", 2) == 0 && strchr(at, '/') == NULL)
            found = range_has(fileno(mem), fileno(pagemap), begin, end, word);
    }
    free(line);
    if (maps != NULL)
        (void)fclose(maps);
    if (mem != NULL)
        (void)fclose(mem);
    if (pagemap != NULL)
        (void)fclose(pagemap);
    return is_forbidden || is_map_forbidden ? -1 : found;
}

int proc_maps_have(pid_t pid, const char *word)
{
    char *line = NULL;
    size_t size = 0;
    bool found = false, is_forbidden;
    FILE *maps = look_into(pid, "maps", &is_forbidden);

    while (maps != NULL && getline(&line, &size, maps) > 0)
        found = found || strstr(line, word) != NULL;
    free(line);
    if (maps != NULL)
        (void)fclose(maps);
    return is_forbidden ? -1 : found;
}

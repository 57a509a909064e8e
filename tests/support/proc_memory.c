/* SPDX-License-Identifier: MIT */
/* proc_memory - see proc_memory.h. */
#include "proc_memory.h"
#include "test.h"

#include <unistd.h>

/* Does the memory from begin to end hold the word? What cannot be read holds nothing;
 * of a reservation only the beginning was ever touched. */
static bool range_has(int mem, unsigned long begin, unsigned long end, const char *word)
{
    static char buffer[1 << 20];
    size_t len = strlen(word);

    if (end - begin > (256UL << 20))
        end = begin + (16UL << 20);
    while (begin < end) {
        size_t size = end - begin < sizeof buffer ? end - begin : sizeof buffer;
        ssize_t n = pread(mem, buffer, size, (off_t)begin);

        if (n <= 0)
            return false;
        if (memmem(buffer, (size_t)n, word, len) != NULL)
            return true;
        if (begin + (size_t)n >= end)
            return false;
        begin += (size_t)n > len ? (size_t)n - len : (size_t)n;
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

    while (mem != NULL && maps != NULL && !found && getline(&line, &size, maps) > 0) {
        char *at = line;
        unsigned long begin = strtoul(at, &at, 16);
        unsigned long end = *at == '-' ? strtoul(at + 1, &at, 16) : begin;

        /* What is mapped from a file was never the host's. */
        if (strncmp(at, " r", 2) == 0 && strchr(at, '/') == NULL)
            found = range_has(fileno(mem), begin, end, word);
    }
    free(line);
    if (maps != NULL)
        (void)fclose(maps);
    if (mem != NULL)
        (void)fclose(mem);
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

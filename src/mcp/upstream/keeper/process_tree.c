/* SPDX-License-Identifier: MIT */
/*
 * process_tree - the processes below this one, found by descent, if no
 * namespace holds them.
 *
 * This process is their subreaper: an orphan becomes our child, so forking twice is no
 * escape. They may fork faster than they are found; the caller searches again until
 * none is left.
 */
#include "mcp/upstream/keeper/keeper.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES_MAX 16384

typedef struct process {
    int pid;
    int parent;
    bool is_below;
} process;

static process processes[PROCESSES_MAX];

static int parent_of(int pid)
{
    char path[64];
    char line[512];
    const char *end;
    FILE *file;
    int parent = -1;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return -1;
    /* The name is in parentheses, and may itself hold any character, even
     * parentheses. */
    if (fgets(line, sizeof line, file) != NULL && (end = strrchr(line, ')')) != NULL &&
        strlen(end) > 4)
        parent = (int)strtol(end + 4, NULL, 10);
    (void)fclose(file);
    return parent;
}

static size_t list_processes(void)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    size_t count = 0;

    if (proc == NULL)
        return 0;
    while ((entry = readdir(proc)) != NULL && count < PROCESSES_MAX) {
        int pid = (int)strtol(entry->d_name, NULL, 10);

        if (pid > 0)
            processes[count++] = (process){.pid = pid, .parent = parent_of(pid)};
    }
    (void)closedir(proc);
    return count;
}

static bool is_below(size_t count, int parent)
{
    for (size_t i = 0; i < count; i++)
        if (processes[i].pid == parent)
            return processes[i].is_below;
    return false;
}

/* ---- the rest of the keeper ----------------------------------------------- */

unsigned gbx_keeper_signal_tree(int signal_number)
{
    size_t count = list_processes();
    int self = (int)getpid();
    unsigned found = 0;
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            process *p = &processes[i];

            if (p->is_below || (p->parent != self && !is_below(count, p->parent)))
                continue;
            p->is_below = more = true;
            (void)kill(p->pid, signal_number);
            found++;
        }
    }
    return found;
}

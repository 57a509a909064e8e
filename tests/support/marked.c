/* SPDX-License-Identifier: MIT */
/* marked - see marked.h. */
#include "marked.h"

#include "proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool has_mark(int pid, const char *mark)
{
    static char environment[65536];
    char path[64];
    ssize_t n;
    int fd;

    (void)snprintf(path, sizeof path, "/proc/%d/environ", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, environment, sizeof environment);
    (void)close(fd);
    return n > 0 && memmem(environment, (size_t)n, mark, strlen(mark)) != NULL;
}

void marked_name(char *text, size_t size)
{
    static unsigned count;
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(text, size, "GBX_MARK=%d.%u.%lld%09ld", (int)getpid(), ++count,
                   (long long)now.tv_sec, now.tv_nsec);
}

/* signal_number 0: only count. */
static size_t visit(const char *mark, int signal_number)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    size_t count = 0;

    while (proc != NULL && (entry = readdir(proc)) != NULL) {
        int pid = (int)strtol(entry->d_name, NULL, 10);

        if (pid <= 0 || !has_mark(pid, mark) || proc_state(pid) == 'Z')
            continue;
        count++;
        if (signal_number != 0)
            (void)kill(pid, signal_number);
    }
    if (proc != NULL)
        (void)closedir(proc);
    return count;
}

size_t marked_count(const char *mark)
{
    return visit(mark, 0);
}

void marked_signal(const char *mark, int signal_number)
{
    (void)visit(mark, signal_number);
}

bool marked_some(void *mark)
{
    return marked_count(mark) > 0;
}

bool marked_none(void *mark)
{
    return marked_count(mark) == 0;
}

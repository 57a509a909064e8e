/* SPDX-License-Identifier: MIT */
/*
 * stale - groups left by a host that was killed. The lock decides, not the pid: pids
 * are reused, and a host in another pid namespace has a pid that means nothing here.
 */
#include "base/cleanup.h"
#include "cgroup/group.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char *skip_digits(const char *at)
{
    const char *start = at;

    while (isdigit((unsigned char)*at))
        at++;
    return at > start ? at : NULL;
}

/* glovebox.PID.N: matches no other name, of ours or of others. */
static bool is_name(const char *name)
{
    const char *at;

    if (strncmp(name, GBX_CGROUP_PREFIX, strlen(GBX_CGROUP_PREFIX)) != 0)
        return false;
    at = skip_digits(name + strlen(GBX_CGROUP_PREFIX));
    if (at == NULL || *at != '.')
        return false;
    at = skip_digits(at + 1);
    return at != NULL && *at == 0;
}

static void remove_if_stale(int parent, const char *name)
{
    GBX_CLEANUP(gbx_fd_close)
    int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (dir < 0 || flock(dir, LOCK_EX | LOCK_NB) < 0)
        return;
    gbx_cgroup_kill(dir);
    /* Killed processes may not have ended yet: then the next start removes it. */
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

/* ---- to the other parts --------------------------------------------------- */

void gbx_cgroup_kill(int dir)
{
    (void)gbx_cgroup_write(dir, "cgroup.kill", "1"); /* Linux 5.14 */
}

void gbx_cgroup_sweep(int parent)
{
    int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    if (list == NULL) {
        gbx_fd_close(&fd);
        return;
    }
    while ((entry = readdir(list)) != NULL)
        if (is_name(entry->d_name))
            remove_if_stale(parent, entry->d_name);
    (void)closedir(list);
}

/* SPDX-License-Identifier: MIT */
/*
 * group - one engine's control group. Its limits are set before a process enters it.
 *
 * memory.oom.group stays off: when the sum exceeds the limit, the kernel kills the one
 * process that uses most, and the other calls continue. Swap is off: memory beyond the
 * limit must not become disk traffic that slows other processes.
 */
#include "cgroup/cgroup.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Engines of one host, and leftovers of dead hosts that had its pid. */
#define NAMES_MAX 4096

/* Share of memory that the machine and each parent group keep for other processes: a
 * quarter. */
#define KEPT_PART 4

#define CPU_PERIOD_US 100000u

#define END_STEP_MS 20

static const char *const needed[] = {"memory", "pids", NULL};

const gbx_cgroup_world gbx_cgroup_here = {
    .proc = "/proc",
    .systemd = "/run/systemd/system",
    .controllers = needed,
};

/* ---- groups left by a host that was killed -------------------------------- */

/* The lock, not the pid, shows whether a host lives: pids are reused, and the pid of a
 * host in another pid namespace means nothing here. */

void gbx_cgroup_kill(int dir)
{
    (void)gbx_cgroup_write(dir, "cgroup.kill", "1"); /* Linux 5.14 */
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

void gbx_cgroup_sweep(int parent)
{
    int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    if (list == NULL) {
        gbx_fd_close(&fd);
        return;
    }
    while ((entry = readdir(list)) != NULL) {
        int end = 0;

        /* glovebox.PID.N; not other names, such as glovebox.host */
        (void)sscanf(entry->d_name, GBX_CGROUP_PREFIX "%*[0-9].%*[0-9]%n", &end);
        if (end > 0 && entry->d_name[end] == 0)
            remove_if_stale(parent, entry->d_name);
    }
    (void)closedir(list);
}

/* ---- the group of this engine --------------------------------------------- */

static bool write_number(int dir, const char *name, uint64_t number)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return gbx_cgroup_write(dir, name, text);
}

#define LEVELS_MAX 64 /* the parent of the machine's root is itself */

/* The smallest memory limit among the machine and the visible parent groups. */
static uint64_t least_above(int parent)
{
    GBX_CLEANUP(gbx_fd_close) int dir = fcntl(parent, F_DUPFD_CLOEXEC, 0);
    struct sysinfo machine;
    uint64_t least = UINT64_MAX;

    if (sysinfo(&machine) == 0)
        least = (uint64_t)machine.totalram * machine.mem_unit;
    for (int i = 0;
         i < LEVELS_MAX && dir >= 0 && faccessat(dir, "cgroup.procs", F_OK, 0) == 0;
         i++) {
        char text[32];
        int next;

        (void)gbx_fd_start(dir, "memory.max", text, sizeof text);
        if (text[0] >= '0' && text[0] <= '9') {
            uint64_t here = strtoull(text, NULL, 10);

            least = here < least ? here : least;
        }
        next = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        gbx_fd_close(&dir);
        dir = next;
    }
    return least;
}

/* Make and lock the group. False with errno; EEXIST: the name is taken. */
static bool take(gbx_cgroup *group)
{
    if (mkdirat(group->parent, group->name, 0700) < 0)
        return false;
    group->dir = openat(group->parent, group->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group->dir >= 0 && flock(group->dir, LOCK_EX | LOCK_NB) == 0 &&
        faccessat(group->dir, "cgroup.procs", F_OK, 0) == 0)
        return true;
    gbx_fd_close(&group->dir);
    errno = EEXIST; /* removed by another sweep: try the next name */
    return false;
}

static bool make(gbx_cgroup *group)
{
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        (void)snprintf(group->name, sizeof group->name, GBX_CGROUP_PREFIX "%d.%u",
                       (int)getpid(), i);
        if (take(group))
            return true;
        if (errno != EEXIST)
            break;
    }
    return gbx_cgroup_lacks(group, "cannot make a control group: %s", strerror(errno));
}

static bool set_limits(gbx_cgroup *group, const gbx_cgroup_limits *limits)
{
    char text[48];

    if (limits->memory_bytes > 0) {
        if (!gbx_cgroup_allow(group, limits->memory_bytes))
            return gbx_cgroup_lacks(group, "cannot set memory.max: %s",
                                    strerror(errno));
        (void)gbx_cgroup_write(group->dir, "memory.swap.max", "0"); /* may not exist */
        (void)gbx_cgroup_write(group->dir, "memory.oom.group", "0");
    }
    if (limits->processes > 0 &&
        !write_number(group->dir, "pids.max", limits->processes))
        return gbx_cgroup_lacks(group, "cannot set pids.max: %s", strerror(errno));
    group->limits.processes = limits->processes;
    if (limits->cpu_percent == 0)
        return true;
    (void)snprintf(text, sizeof text, "%llu %u",
                   (unsigned long long)limits->cpu_percent * CPU_PERIOD_US / 100,
                   CPU_PERIOD_US);
    if (!gbx_cgroup_write(group->dir, "cpu.max", text))
        return gbx_cgroup_lacks(group, "the cpu controller is not delegated here: "
                                       "-p 'Delegate=memory pids cpu'");
    group->limits.cpu_percent = limits->cpu_percent;
    return true;
}

void gbx_cgroup_init(gbx_cgroup *group)
{
    memset(group, 0, sizeof *group);
    group->parent = group->dir = group->events = -1;
}

bool gbx_cgroup_open(gbx_cgroup *group, const gbx_cgroup_world *world,
                     const gbx_cgroup_limits *limits)
{
    gbx_cgroup_init(group);
    group->parent = gbx_cgroup_divide(world, group);
    if (group->parent < 0)
        return false;
    group->most_bytes = least_above(group->parent);
    group->most_bytes -= group->most_bytes / KEPT_PART;
    gbx_cgroup_sweep(group->parent);
    if (!make(group)) {
        gbx_fd_close(&group->parent);
        return false;
    }
    if (!set_limits(group, limits)) {
        gbx_cgroup_close(group);
        return false;
    }
    group->events = openat(group->dir, "memory.events", O_RDONLY | O_CLOEXEC);
    return true;
}

bool gbx_cgroup_allow(gbx_cgroup *group, uint64_t memory_bytes)
{
    if (memory_bytes > group->most_bytes)
        memory_bytes = group->most_bytes;
    if (group->dir < 0 || !write_number(group->dir, "memory.max", memory_bytes))
        return false;
    group->limits.memory_bytes = memory_bytes;
    return true;
}

bool gbx_cgroup_take_kill(gbx_cgroup *group)
{
    uint64_t taken = atomic_load(&group->kills_taken);
    char text[512];
    ssize_t n;
    uint64_t kills;

    n = group->events < 0 ? -1 : pread(group->events, text, sizeof text - 1, 0);
    if (n <= 0)
        return false;
    text[n] = 0;
    kills = gbx_cgroup_keyed(text, "oom_kill");
    while (taken < kills)
        if (atomic_compare_exchange_weak(&group->kills_taken, &taken, taken + 1))
            return true;
    return false;
}

uint64_t gbx_cgroup_kills_everywhere(const gbx_cgroup_world *world)
{
    char text[GBX_KIB(16)];
    char path[256];

    (void)snprintf(path, sizeof path, "%s/vmstat", world->proc);
    (void)gbx_fd_start(AT_FDCWD, path, text, sizeof text);
    return gbx_cgroup_keyed(text, "oom_kill");
}

void gbx_cgroup_close(gbx_cgroup *group)
{
    if (group->dir >= 0) {
        gbx_cgroup_kill(group->dir);
        uint32_t end_ms = gbx_timeout_ms(GBX_TIMEOUT_GROUP);
        char text[128];

        for (uint32_t ms = 0; ms < end_ms; ms += END_STEP_MS) {
            (void)gbx_fd_start(group->dir, "cgroup.events", text, sizeof text);
            if (gbx_cgroup_keyed(text, "populated") == 0)
                break;
            (void)poll(NULL, 0, END_STEP_MS);
        }
        (void)unlinkat(group->parent, group->name, AT_REMOVEDIR);
    }
    gbx_fd_close(&group->events);
    gbx_fd_close(&group->dir);
    gbx_fd_close(&group->parent);
}

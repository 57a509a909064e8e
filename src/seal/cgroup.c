/* SPDX-License-Identifier: MIT */
/*
 * cgroup - limits that count everything, including page tables and caches, if the
 * host's service manager or spawn has set them. This code only checks: a process cannot
 * set them from inside, since a control group belongs to its owner.
 */
#include "base/cleanup.h"
#include "seal/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* In a mount namespace of our own any place will do; restored at once. */
#define MOUNT_POINT "/sys"

typedef enum verdict { NO_CONTROLLER, NO_LIMIT, LIMITED } verdict;

static verdict look_at(int dir, const char *name)
{
    GBX_CLEANUP(gbx_fd_close) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    char text[32] = "";

    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        return NO_CONTROLLER;
    return strncmp(text, "max", 3) == 0 ? NO_LIMIT : LIMITED;
}

/* Our own group, as a directory: it is the root of a fresh mount. */
static int open_own_group(const gbx_seal *seal)
{
    uint32_t needed =
        GBX_LAYER_BIT(GBX_LAYER_MOUNT_NS) | GBX_LAYER_BIT(GBX_LAYER_CGROUP_NS);
    int dir;

    if ((seal->ns_made & needed) != needed ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", MOUNT_POINT, "cgroup2", MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL) <
            0)
        return -1;
    dir = open(MOUNT_POINT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)umount2(MOUNT_POINT, MNT_DETACH);
    return dir;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_cgroup_check(gbx_seal *seal)
{
    GBX_CLEANUP(gbx_fd_close) int dir = -1;
    verdict memory;
    verdict processes;

    if (gbx_layer_is_off(seal, GBX_LAYER_CGROUP))
        return;
    if (seal->ns_made & GBX_LAYER_BIT(GBX_LAYER_CGROUP)) {
        gbx_layer_stands(seal, GBX_LAYER_CGROUP);
        return;
    }
    dir = open_own_group(seal);
    if (dir < 0) {
        gbx_layer_lacks(seal, GBX_LAYER_CGROUP,
                        "cgroup v2 cannot be looked at: it needs the cgroup namespace "
                        "and an empty root");
        return;
    }
    memory = look_at(dir, "memory.max");
    processes = look_at(dir, "pids.max");
    if (memory == NO_CONTROLLER || processes == NO_CONTROLLER)
        gbx_layer_lacks(
            seal, GBX_LAYER_CGROUP,
            "no memory and pids controllers here: boot with cgroup v2 alone "
            "and have them delegated");
    else if (memory == NO_LIMIT || processes == NO_LIMIT)
        gbx_layer_lacks(seal, GBX_LAYER_CGROUP,
                        "no limits are set: systemd-run --user --scope -p MemoryMax=2G "
                        "-p TasksMax=256 PROGRAM");
    else
        gbx_layer_stands(seal, GBX_LAYER_CGROUP);
}

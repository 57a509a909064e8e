/* SPDX-License-Identifier: MIT */
/*
 * namespaces - checks each namespace that worker/launch.c has made, from inside: a flag
 * that was forgotten looks exactly like one that worked.
 */
#include "base/cleanup.h"
#include "seal/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The machine's name as a worker sees it. */
#define HOST_NAME "glovebox"

static long read_number(const char *path)
{
    char text[32];

    return gbx_fd_start(AT_FDCWD, path, text, sizeof text) > 0 ? strtol(text, NULL, 10)
                                                               : -1;
}

/* Why an ordinary user cannot have namespaces here, and what would enable them. */
static const char *why_not_made(void)
{
    if (read_number("/proc/sys/kernel/unprivileged_userns_clone") == 0)
        return "ordinary users may not make it: sysctl kernel.unprivileged_userns_clone=1";
    if (read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
        return "AppArmor forbids it: sysctl "
               "kernel.apparmor_restrict_unprivileged_userns=0, or a profile";
    if (read_number("/proc/sys/user/max_user_namespaces") == 0)
        return "none are allowed: sysctl user.max_user_namespaces=10000";
    return "it could not be made: in a container, let the runtime allow clone and "
           "unshare with CLONE_NEW flags";
}

/* A single id is mapped, not the whole range of the initial namespace. */
static bool has_own_ids(void)
{
    char text[256];
    char *at = text;

    if (gbx_fd_start(AT_FDCWD, "/proc/self/uid_map", text, sizeof text) <= 0)
        return false;
    (void)strtoul(at, &at, 10); /* inside */
    (void)strtoul(at, &at, 10); /* outside */
    return strtoul(at, &at, 10) == 1 && strcmp(at, "\n") == 0;
}

/* Only lo exists, and it is down: the host's own services are out of reach. */
static bool has_no_network(void)
{
    GBX_CLEANUP(gbx_fd_close) int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_name = "lo"};
    char text[4096];

    if (gbx_fd_start(AT_FDCWD, "/proc/self/net/dev", text, sizeof text) <= 0)
        return false;
    for (const char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (strchr(line, ':') != NULL && strstr(line, " lo:") == NULL)
            return false;
    if (sock < 0)
        return errno == EAFNOSUPPORT;
    return ioctl(sock, SIOCGIFFLAGS, &request) < 0 || !(request.ifr_flags & IFF_UP);
}

static bool has_own_ipc(void)
{
    union {
        struct shm_info info;
        struct shmid_ds unused;
    } u = {0};

    return shmctl(0, SHM_INFO, &u.unused) >= 0 && u.info.used_ids == 0;
}

/* The host's name was replaced. */
static bool has_own_name(void)
{
    struct utsname names;

    return sethostname(HOST_NAME, strlen(HOST_NAME)) == 0 &&
           setdomainname("", 0) == 0 && uname(&names) == 0 &&
           strcmp(names.nodename, HOST_NAME) == 0;
}

static bool is_first_process(void)
{
    return getpid() == 1;
}

/* Every hierarchy is seen from its own root. */
static bool has_own_cgroups(void)
{
    char text[4096];

    if (gbx_fd_start(AT_FDCWD, "/proc/self/cgroup", text, sizeof text) <= 0)
        return false;
    for (const char *line = strtok(text, "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        const char *path = strrchr(line, ':');

        if (path != NULL && strcmp(path, ":/") != 0)
            return false;
    }
    return true;
}

/*
 * Forbid namespaces within ours: many kernel bugs were found in what an ordinary
 * process may do with new ones. The limit belongs to the user namespace. Where /proc is
 * read-only it cannot be set, so the layer does not require it.
 */
static void forbid_more(void)
{
    static const char *const kinds[] = {"user", "pid", "mnt",    "net",
                                        "ipc",  "uts", "cgroup", "time"};
    char path[64];

    for (size_t i = 0; i < GBX_COUNTOF(kinds); i++) {
        GBX_CLEANUP(gbx_fd_close) int fd = -1;

        (void)snprintf(path, sizeof path, "/proc/sys/user/max_%s_namespaces", kinds[i]);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd >= 0 && write(fd, "0", 1) != 1)
            continue;
    }
}

/* root.c checks the mount namespace: what counts there is the empty root. */
static const struct space {
    gbx_layer layer;
    bool (*is_own)(void);
} spaces[] = {
    {GBX_LAYER_USER_NS, has_own_ids},   {GBX_LAYER_PID_NS, is_first_process},
    {GBX_LAYER_NET_NS, has_no_network}, {GBX_LAYER_IPC_NS, has_own_ipc},
    {GBX_LAYER_UTS_NS, has_own_name},   {GBX_LAYER_CGROUP_NS, has_own_cgroups},
};

void gbx_namespaces_check(gbx_seal *seal)
{
    for (size_t i = 0; i < GBX_COUNTOF(spaces); i++) {
        gbx_layer layer = spaces[i].layer;

        if (gbx_layer_is_off(seal, layer))
            continue;
        if (!(seal->ns_made & GBX_LAYER_BIT(layer)))
            gbx_layer_lacks(seal, layer, "%s", why_not_made());
        else if (!spaces[i].is_own())
            gbx_layer_lacks(seal, layer,
                            "it was made, but the host still shows through");
        else
            gbx_layer_stands(seal, layer);
    }
    /* Without a user namespace these would be the host's own limits. */
    if (seal->layers[GBX_LAYER_USER_NS].stands)
        forbid_more();
    if (!gbx_layer_is_off(seal, GBX_LAYER_MOUNT_NS) &&
        !(seal->ns_made & GBX_LAYER_BIT(GBX_LAYER_MOUNT_NS)))
        gbx_layer_lacks(seal, GBX_LAYER_MOUNT_NS, "%s", why_not_made());
}

/* ---- the control group ------------------------------------------------------- */

/*
 * The limits of a control group count everything, including page tables and caches. The
 * host or its service manager sets them. This code only checks: a process cannot set
 * them from inside, since a control group belongs to its owner.
 */

/* Any directory will do in our own mount namespace. It is unmounted at once. */
#define MOUNT_POINT "/sys"

typedef enum verdict { NO_CONTROLLER, NO_LIMIT, LIMITED } verdict;

static verdict look_at(int dir, const char *name)
{
    char text[32];

    if (gbx_fd_start(dir, name, text, sizeof text) <= 0)
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

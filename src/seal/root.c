/* SPDX-License-Identifier: MIT */
/*
 * root - an empty read-only directory becomes the whole file system.
 *
 * The new root is stacked on the old one, and the old one is released: neither ".." nor
 * a mount can reach it again. Works the same for real root and for root of a user
 * namespace. Needs a mount namespace of our own, else the host's root would go.
 */
#include "base/cleanup.h"
#include "seal/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A directory to build on: its contents are covered, not touched. */
static const char *const places[] = {"/proc", "/tmp", "/dev", "/sys", "/usr"};

/* One inode, one page. */
#define TMPFS_OPTIONS "size=4096,nr_inodes=1,mode=0555"
#define TMPFS_FLAGS   (MS_NOSUID | MS_NODEV | MS_NOEXEC)

static bool mount_empty(void)
{
    for (size_t i = 0; i < GBX_COUNTOF(places); i++)
        if (mount("none", places[i], "tmpfs", TMPFS_FLAGS, TMPFS_OPTIONS) == 0)
            return chdir(places[i]) == 0;
    return false;
}

/* pivot_root cannot leave an initramfs; moving the mount over it can. */
static bool make_it_root(void)
{
    if (syscall(SYS_pivot_root, ".", ".") == 0)
        return umount2(".", MNT_DETACH) == 0 && chdir("/") == 0;
    return errno == EINVAL && mount(".", "/", NULL, MS_MOVE, NULL) == 0 &&
           chroot(".") == 0 && chdir("/") == 0;
}

static bool is_empty(void)
{
    DIR *dir = opendir("/");
    const struct dirent *entry;
    bool empty = dir != NULL;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            empty = false;
    if (dir != NULL)
        (void)closedir(dir);
    return empty;
}

void gbx_root_empty(gbx_seal *seal)
{
    const char *failed = NULL;
    struct statvfs info;

    if (gbx_layer_is_off(seal, GBX_LAYER_MOUNT_NS) ||
        !(seal->ns_made & GBX_LAYER_BIT(GBX_LAYER_MOUNT_NS)))
        return; /* namespaces.c has reported why */
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        failed = "make the mounts private";
    else if (!mount_empty())
        failed = "mount an empty directory";
    else if (!make_it_root())
        failed = "change the root";
    else if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | TMPFS_FLAGS,
                   NULL) < 0)
        failed = "make the root read-only";
    if (failed != NULL)
        gbx_layer_lacks(seal, GBX_LAYER_MOUNT_NS, "cannot %s: %s", failed,
                        strerror(errno));
    else if (!is_empty() || statvfs("/", &info) < 0 || !(info.f_flag & ST_RDONLY) ||
             mkdirat(AT_FDCWD, "/x", 0700) == 0)
        gbx_layer_lacks(seal, GBX_LAYER_MOUNT_NS, "the new root is not empty");
    else
        gbx_layer_stands(seal, GBX_LAYER_MOUNT_NS);
}

/* SPDX-License-Identifier: MIT */
/*
 * own_group - finds this process's control group. The kernel gives a path from the root
 * of its cgroup namespace; mountinfo shows which part of the hierarchy is visible, and
 * where.
 */
#include "base/cleanup.h"
#include "cgroup/group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

/* A line of mountinfo: its parts, unescaped. */
typedef struct mount_line {
    char *root;
    char *point;
    const char *type;
} mount_line;

static void close_file(FILE **file)
{
    if (*file != NULL)
        (void)fclose(*file);
}

static FILE *open_proc(const gbx_cgroup_world *world, const char *name)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "%s/self/%s", world->proc, name);
    return fopen(path, "re");
}

/* mountinfo escapes blanks and the like as \ooo. In place. */
static void unescape(char *text)
{
    char *to = text;

    while (*text != 0) {
        if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
            text[2] <= '7' && text[3] >= '0' && text[3] <= '7') {
            *to++ =
                (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
            text += 4;
        } else {
            *to++ = *text++;
        }
    }
    *to = 0;
}

/* "ID PARENT DEV ROOT POINT OPTIONS [FIELD ...] - TYPE SOURCE OPTIONS". In place. */
static bool split(char *line, mount_line *ret)
{
    char *rest = strstr(line, " - ");
    char *save = NULL;
    char *part = NULL;

    if (rest == NULL)
        return false;
    *rest = 0;
    ret->type = strtok_r(rest + 3, " ", &save);
    part = strtok_r(line, " ", &save);
    for (int i = 0; i < 3 && part != NULL; i++)
        part = strtok_r(NULL, " ", &save);
    ret->root = part;
    ret->point = part != NULL ? strtok_r(NULL, " ", &save) : NULL;
    if (ret->point == NULL || ret->type == NULL)
        return false;
    unescape(ret->root);
    unescape(ret->point);
    return true;
}

/* The part of path below root, or NULL if it is not below. */
static const char *below(const char *root, const char *path)
{
    size_t len = strlen(root);

    if (strcmp(root, "/") == 0)
        return path;
    if (strncmp(root, path, len) != 0 || (path[len] != '/' && path[len] != 0))
        return NULL;
    return path + len;
}

static unsigned count_levels(const char *path)
{
    unsigned levels = 0;

    for (; *path != 0; path++)
        if (path[0] == '/' && path[1] != '/' && path[1] != 0)
            levels++;
    return levels;
}

/* Our path in the v2 hierarchy: the line that begins with "0::". */
static bool read_path(const gbx_cgroup_world *world, char *path, size_t size)
{
    GBX_CLEANUP(close_file) FILE *f = open_proc(world, "cgroup");
    char line[PATH_SIZE];

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        /* "/..": outside of our cgroup namespace */
        if (strncmp(line, "0::/", 4) == 0 && strncmp(line + 3, "/..", 3) != 0) {
            (void)snprintf(path, size, "%s", line + 3);
            return true;
        }
    }
    return false;
}

static bool open_place(const mount_line *mount, const char *path, gbx_cgroup_place *ret)
{
    const char *part = below(mount->root, path);
    char name[2 * PATH_SIZE];

    if (part == NULL)
        return false;
    (void)snprintf(name, sizeof name, "%s%s", mount->point, part);
    ret->own = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ret->own < 0)
        return false;
    ret->levels = count_levels(part);
    if (ret->levels > 0)
        ret->above = openat(ret->own, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return true;
}

/* ---- to the other parts --------------------------------------------------- */

bool gbx_cgroup_lacks(gbx_cgroup *group, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(group->reason, sizeof group->reason, format, args);
    va_end(args);
    return false;
}

bool gbx_cgroup_find(const gbx_cgroup_world *world, gbx_cgroup_place *ret,
                     gbx_cgroup *group)
{
    GBX_CLEANUP(close_file) FILE *f = NULL;
    GBX_CLEANUP(gbx_free) char *line = NULL;
    char path[PATH_SIZE];
    bool is_mounted = false;
    size_t size = 0;

    *ret = (gbx_cgroup_place){.own = -1, .above = -1};
    if (!read_path(world, path, sizeof path))
        return gbx_cgroup_lacks(group,
                                "this process is in no group of cgroup v2: boot with "
                                "systemd.unified_cgroup_hierarchy=1");
    f = open_proc(world, "mountinfo");
    while (f != NULL && ret->own < 0 && getline(&line, &size, f) > 0) {
        mount_line mount;

        line[strcspn(line, "\n")] = 0;
        if (!split(line, &mount) || strcmp(mount.type, "cgroup2") != 0)
            continue;
        is_mounted = true;
        (void)open_place(&mount, path, ret);
    }
    if (ret->own >= 0)
        return true;
    return is_mounted
               ? gbx_cgroup_lacks(group, "the control group of this process is not "
                                         "under a mounted cgroup2 that it can read")
               : gbx_cgroup_lacks(group, "cgroup2 is not mounted: mount -t "
                                         "cgroup2 none /sys/fs/cgroup");
}

void gbx_cgroup_place_close(gbx_cgroup_place *place)
{
    gbx_fd_close(&place->own);
    gbx_fd_close(&place->above);
}

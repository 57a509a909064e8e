/* SPDX-License-Identifier: MIT */
/*
 * delegation - finds a group that may be divided. A group that contains processes may
 * not be divided (the kernel's rule of no internal processes), so there are two ways:
 *
 *   1. the parent of our group was given to us: systemd's DelegateSubgroup=, or another
 *      manager's equivalent. Nothing has to be moved;
 *   2. our own group was given to us, and has no other process: Delegate=yes. Then the
 *      host moves into a leaf below it, as systemd asks of delegated services.
 *
 * Root may write everywhere; that alone does not count as delegation. If systemd
 * manages the groups, its mark decides for every user, root included: systemd
 * rearranges groups that it did not delegate.
 */
#include "cgroup/cgroup.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- files: written in one write, never created -------------------------- */

#define SEPARATORS " \t\n"

bool gbx_cgroup_write(int dir, const char *name, const char *text)
{
    GBX_CLEANUP(gbx_fd_close) int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
    size_t len = strlen(text);

    return fd >= 0 && write(fd, text, len) == (ssize_t)len;
}

bool gbx_cgroup_lists(const char *words, const char *word)
{
    size_t len = strlen(word);

    while (*words != 0) {
        size_t n;

        words += strspn(words, SEPARATORS);
        n = strcspn(words, SEPARATORS);
        if (n == len && memcmp(words, word, n) == 0)
            return n > 0;
        words += n;
    }
    return false;
}

uint64_t gbx_cgroup_keyed(const char *text, const char *key)
{
    size_t len = strlen(key);

    while (*text != 0) {
        size_t n = strcspn(text, "\n");

        if (n > len && strncmp(text, key, len) == 0 && text[len] == ' ')
            return strtoull(text + len + 1, NULL, 10);
        text += n + (text[n] == '\n');
    }
    return 0;
}

/* ---- the control group of this process ------------------------------------ */

/* The kernel gives a path from the root of its cgroup namespace; mountinfo shows which
 * part of the hierarchy is visible, and where. */

#define PATH_SIZE 4096

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

static int open_directory(int dir, const char *name)
{
    return openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The directory of the group at path, where this mount shows it. */
static int open_group(const char *root, const char *point, const char *path)
{
    size_t len = strcmp(root, "/") != 0 ? strlen(root) : 0;
    char name[2 * PATH_SIZE];

    if (strncmp(root, path, len) != 0 ||
        (len > 0 && path[len] != '/' && path[len] != 0))
        return -1; /* path is not below root */
    (void)snprintf(name, sizeof name, "%s%s", point, path + len);
    return open_directory(AT_FDCWD, name);
}

bool gbx_cgroup_lacks(gbx_cgroup *group, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(group->reason, sizeof group->reason, format, args);
    va_end(args);
    return false;
}

/* The group of this process; -1 with a reason in group. */
static int find_own(const gbx_cgroup_world *world, gbx_cgroup *group)
{
    GBX_CLEANUP(close_file) FILE *f = NULL;
    GBX_CLEANUP(gbx_free) char *line = NULL;
    char path[PATH_SIZE], root[PATH_SIZE], point[PATH_SIZE];
    const char *why = "cgroup2 is not mounted: mount -t cgroup2 none /sys/fs/cgroup";
    size_t size = 0;
    int own = -1;

    if (!read_path(world, path, sizeof path)) {
        (void)gbx_cgroup_lacks(group,
                               "this process is in no group of cgroup v2: boot with "
                               "systemd.unified_cgroup_hierarchy=1");
        return -1;
    }
    f = open_proc(world, "mountinfo");
    while (f != NULL && own < 0 && getline(&line, &size, f) > 0) {
        /* "ID PARENT DEV ROOT POINT OPTIONS [FIELD ...] - TYPE SOURCE OPTIONS" */
        if (strstr(line, " - cgroup2 ") == NULL ||
            sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2)
            continue;
        unescape(root);
        unescape(point);
        own = open_group(root, point, path);
        why = "the control group of this process is not under a mounted cgroup2 that "
              "it can read";
    }
    if (own < 0)
        (void)gbx_cgroup_lacks(group, "%s", why);
    return own;
}

/* ---- which group may be divided ------------------------------------------- */

/* Room for the names of controllers. */
#define WORDS_SIZE 512

#define HOW_SYSTEMD "systemd-run --user --scope -p Delegate=yes PROGRAM"

typedef enum claim { OURS, NOT_WRITABLE, READ_ONLY, SYSTEMDS } claim;

static const char *const refusals[] = {
    [NOT_WRITABLE] =
        "the control group of this process is not delegated to its user: " HOW_SYSTEMD,
    [READ_ONLY] = "cgroup2 is mounted read-only here: the container would need it "
                  "writable",
    [SYSTEMDS] =
        "the control group of this process is systemd's and not delegated: " HOW_SYSTEMD,
};

static bool is_marked(int dir)
{
    static const char *const marks[] = {"user.delegate", "trusted.delegate"};
    char value[2];

    for (size_t i = 0; i < GBX_COUNTOF(marks); i++)
        if (fgetxattr(dir, marks[i], value, sizeof value) == 1 && value[0] == '1')
            return true;
    return false;
}

static claim look_at_claim(const gbx_cgroup_world *world, int dir)
{
    static const char *const needed[] = {".", "cgroup.procs", "cgroup.subtree_control"};

    for (size_t i = 0; i < GBX_COUNTOF(needed); i++)
        if (faccessat(dir, needed[i], W_OK, AT_EACCESS) < 0)
            return errno == EROFS ? READ_ONLY : NOT_WRITABLE;
    return access(world->systemd, F_OK) == 0 && !is_marked(dir) ? SYSTEMDS : OURS;
}

/* The first controller that dir cannot pass on; NULL: it can pass on all. */
static const char *first_missing(const gbx_cgroup_world *world, int dir)
{
    char words[WORDS_SIZE];

    (void)gbx_fd_start(dir, "cgroup.controllers", words, sizeof words);
    for (const char *const *c = world->controllers; *c != NULL; c++)
        if (!gbx_cgroup_lists(words, *c))
            return *c;
    return NULL;
}

static bool switch_on(int dir, const char *controller)
{
    char words[WORDS_SIZE];
    char word[32];

    (void)gbx_fd_start(dir, "cgroup.subtree_control", words, sizeof words);
    if (gbx_cgroup_lists(words, controller))
        return true;
    (void)snprintf(word, sizeof word, "+%s", controller);
    return gbx_cgroup_write(dir, "cgroup.subtree_control", word);
}

static bool switch_all_on(const gbx_cgroup_world *world, int dir)
{
    for (const char *const *c = world->controllers; *c != NULL; c++)
        if (!switch_on(dir, *c))
            return false;
    (void)switch_on(dir, "cpu"); /* needed only for a CPU limit */
    return true;
}

/* True if no other process is in the group. */
static bool is_alone(int dir)
{
    char text[64];
    char *end;
    long pid;

    if (gbx_fd_start(dir, "cgroup.procs", text, sizeof text) < 0)
        return false;
    if (text[0] == 0)
        return true;
    pid = strtol(text, &end, 10);
    return pid == (long)getpid() && strcmp(end, "\n") == 0;
}

/* Only the root of all groups may have both processes and divided resources. */
static bool is_root(int dir)
{
    return faccessat(dir, "cgroup.type", F_OK, 0) < 0 && errno == ENOENT;
}

/* Move this process, with all its threads, into the leaf. Another engine of this
 * process may be doing the same: each step may already be done. */
static bool step_aside(int dir)
{
    GBX_CLEANUP(gbx_fd_close) int leaf = -1;

    if (mkdirat(dir, GBX_CGROUP_HOST_LEAF, 0755) < 0 && errno != EEXIST)
        return false;
    leaf = open_directory(dir, GBX_CGROUP_HOST_LEAF);
    return leaf >= 0 && gbx_cgroup_write(leaf, "cgroup.procs", "0");
}

static bool divide_own(const gbx_cgroup_world *world, int own, gbx_cgroup *group)
{
    const char *missing = first_missing(world, own);
    claim whose = look_at_claim(world, own);

    if (missing != NULL && is_root(own))
        return gbx_cgroup_lacks(
            group, "no %s controller in cgroup v2 here: boot with cgroup v2 alone",
            missing);
    if (whose != OURS)
        return gbx_cgroup_lacks(group, "%s", refusals[whose]);
    if (missing != NULL)
        return gbx_cgroup_lacks(group,
                                "the %s controller is not delegated here: "
                                "-p 'Delegate=memory pids cpu'",
                                missing);
    if (!is_root(own)) {
        if (!is_alone(own))
            return gbx_cgroup_lacks(
                group, "other processes share the delegated control group: give this "
                       "one a group of its own in it, as DelegateSubgroup= does");
        if (!step_aside(own))
            return gbx_cgroup_lacks(group, "cannot step aside in the control group: %s",
                                    strerror(errno));
    }
    return switch_all_on(world, own) ||
           gbx_cgroup_lacks(group, "cannot switch controllers on: %s", strerror(errno));
}

/* ---- the result, for group.c ---------------------------------------------- */

int gbx_cgroup_divide(const gbx_cgroup_world *world, gbx_cgroup *group)
{
    GBX_CLEANUP(gbx_fd_close) int own = find_own(world, group);
    GBX_CLEANUP(gbx_fd_close) int above = -1;

    if (own < 0)
        return -1;
    above = open_directory(own, "..");
    /* A directory that is not a group is not ours either. */
    if (above >= 0 && look_at_claim(world, above) == OURS &&
        first_missing(world, above) == NULL && switch_all_on(world, above))
        return gbx_fd_take(&above);
    return divide_own(world, own, group) ? gbx_fd_take(&own) : -1;
}

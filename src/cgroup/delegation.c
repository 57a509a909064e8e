/* SPDX-License-Identifier: MIT */
/*
 * delegation - which group may be divided. A group that contains processes cannot be
 * (the kernel's rule of no internal processes), so there are two ways:
 *
 *   1. the parent of our group was given to us: systemd's DelegateSubgroup=, or another
 *      manager's equivalent. Nothing has to be moved;
 *   2. our own group was given to us, and nobody else is in it: Delegate=yes. Then the
 *      host moves into a leaf below it, as systemd asks of delegated services.
 *
 * Root may write everywhere; that alone does not count as delegation. If systemd
 * manages the groups, its mark decides, for root and for everybody: systemd rearranges
 * groups that it did not delegate.
 */
#include "base/cleanup.h"
#include "cgroup/group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Room for the names of controllers. */
#define WORDS_SIZE 512

#define HOW_SYSTEMD "systemd-run --user --scope -p Delegate=yes PROGRAM"

typedef enum claim { OURS, NOT_WRITABLE, READ_ONLY, SYSTEMDS } claim;

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

    if (!gbx_cgroup_read(dir, "cgroup.controllers", words, sizeof words))
        words[0] = 0;
    for (const char *const *c = world->controllers; *c != NULL; c++)
        if (!gbx_cgroup_lists(words, *c))
            return *c;
    return NULL;
}

static bool switch_on(int dir, const char *controller)
{
    char words[WORDS_SIZE];
    char word[32];

    if (gbx_cgroup_read(dir, "cgroup.subtree_control", words, sizeof words) &&
        gbx_cgroup_lists(words, controller))
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

/* Is this process the only one in the group? */
static bool is_alone(int dir)
{
    char text[64];
    char *end;
    long pid;

    if (!gbx_cgroup_read(dir, "cgroup.procs", text, sizeof text))
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

/* Move all threads out of the way. Another engine of this process may be doing the
 * same: each step may already be done. */
static bool step_aside(int dir)
{
    GBX_CLEANUP(gbx_fd_close) int leaf = -1;

    if (mkdirat(dir, GBX_CGROUP_HOST_LEAF, 0755) < 0 && errno != EEXIST)
        return false;
    leaf = openat(dir, GBX_CGROUP_HOST_LEAF, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return leaf >= 0 && gbx_cgroup_write(leaf, "cgroup.procs", "0");
}

static bool divide_above(const gbx_cgroup_world *world, const gbx_cgroup_place *place)
{
    return place->above >= 0 && look_at_claim(world, place->above) == OURS &&
           first_missing(world, place->above) == NULL &&
           switch_all_on(world, place->above);
}

static bool refuse(claim why, gbx_cgroup *group)
{
    switch (why) {
    case READ_ONLY:
        return gbx_cgroup_lacks(group, "cgroup2 is mounted read-only here: the "
                                       "container would need it writable");
    case SYSTEMDS:
        return gbx_cgroup_lacks(group, "the control group of this process is systemd's "
                                       "and not delegated: " HOW_SYSTEMD);
    case NOT_WRITABLE:
    case OURS: break;
    }
    return gbx_cgroup_lacks(
        group,
        "the control group of this process is not delegated to its user: " HOW_SYSTEMD);
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
        return refuse(whose, group);
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

/* ---- to the other parts --------------------------------------------------- */

bool gbx_cgroup_divide(const gbx_cgroup_world *world, const gbx_cgroup_place *place,
                       int *ret_parent, unsigned *ret_levels, gbx_cgroup *group)
{
    bool is_above = divide_above(world, place);

    if (!is_above && !divide_own(world, place->own, group))
        return false;
    *ret_parent = fcntl(is_above ? place->above : place->own, F_DUPFD_CLOEXEC, 0);
    *ret_levels = place->levels - (is_above ? 1 : 0);
    return *ret_parent >= 0 ||
           gbx_cgroup_lacks(group, "no descriptor for the control group: %s",
                            strerror(errno));
}

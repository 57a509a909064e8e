/* SPDX-License-Identifier: MIT */
/* group - the steps of gbx_cgroup_open(), one a file. */
#ifndef GBX_CGROUP_GROUP_H
#define GBX_CGROUP_GROUP_H

#include "cgroup/cgroup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- group_file.c -------------------------------------------------------- */

/*
 * The small text files of a control group, addressed by an open directory: a path may
 * name a different group a moment later.
 */

/* The start of a file, as text; "" if it is empty. False if it does not exist. */
bool gbx_cgroup_read(int dir, const char *name, char *text, size_t size);

/* Write text to an existing file; sets errno on failure. */
bool gbx_cgroup_write(int dir, const char *name, const char *text);

/* Does the list contain word? Blanks and line ends separate its words. */
bool gbx_cgroup_lists(const char *words, const char *word);

/* The number in the line "KEY NUMBER" of text; 0 if the line is missing. */
uint64_t gbx_cgroup_keyed(const char *text, const char *key);

/* The leaf that the host moves to when its processes prevent dividing the group. */
#define GBX_CGROUP_HOST_LEAF "glovebox.host"

/* Names of groups: this, the host's pid, a dot, a number. */
#define GBX_CGROUP_PREFIX "glovebox."

/* The group of this process, as directories. */
typedef struct gbx_cgroup_place {
    int own;
    int above;       /* its parent; -1: not visible */
    unsigned levels; /* number of visible directories from own upwards */
} gbx_cgroup_place;

/* Record why the group is missing. Returns false. */
bool gbx_cgroup_lacks(gbx_cgroup *group, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* own_group.c: find it. */
bool gbx_cgroup_find(const gbx_cgroup_world *world, gbx_cgroup_place *ret,
                     gbx_cgroup *group);
void gbx_cgroup_place_close(gbx_cgroup_place *place);

/* delegation.c: finds a directory that we may divide, switches its controllers on,
 * and counts the visible directories above it. */
bool gbx_cgroup_divide(const gbx_cgroup_world *world, const gbx_cgroup_place *place,
                       int *ret_parent, unsigned *ret_levels, gbx_cgroup *group);

/* stale.c: remove the groups in parent whose hosts are dead. */
void gbx_cgroup_sweep(int parent);

/* Kill everything in a group. */
void gbx_cgroup_kill(int dir);

#endif

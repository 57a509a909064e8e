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
 * The small text files of a control group, in a directory that is open: what is
 * one group now may be another by the same name a moment later.
 */

/* The start of a file, as text; false if there is none. Empty files are "". */
bool gbx_cgroup_read(int dir, const char *name, char *text, size_t size);

/* Write text to a file that exists; errno tells why not. */
bool gbx_cgroup_write(int dir, const char *name, const char *text);

/* Is word one of words, which blanks and line ends separate? */
bool gbx_cgroup_lists(const char *words, const char *word);

/* The number in the line "KEY NUMBER" of text; 0 if there is none. */
uint64_t gbx_cgroup_keyed(const char *text, const char *key);

/* The leaf that a host moves to when it stands in the way of its own groups. */
#define GBX_CGROUP_HOST_LEAF "glovebox.host"

/* Names of groups: this, the host's pid, a dot, a number. */
#define GBX_CGROUP_PREFIX "glovebox."

/* The group of this process, as directories. */
typedef struct gbx_cgroup_place {
    int own;
    int above;       /* the one it is in; -1: none is in sight */
    unsigned levels; /* of directories from own up to the highest in sight */
} gbx_cgroup_place;

/* Say why there is no group. Returns false. */
bool gbx_cgroup_lacks(gbx_cgroup *group, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* own_group.c: find it. */
bool gbx_cgroup_find(const gbx_cgroup_world *world, gbx_cgroup_place *ret,
                     gbx_cgroup *group);
void gbx_cgroup_place_close(gbx_cgroup_place *place);

/* delegation.c: a directory that is ours to divide, its controllers switched on, and
 * how many directories above it are in sight. */
bool gbx_cgroup_divide(const gbx_cgroup_world *world, const gbx_cgroup_place *place,
                       int *ret_parent, unsigned *ret_levels, gbx_cgroup *group);

/* stale.c: remove the groups in parent whose hosts are dead. */
void gbx_cgroup_sweep(int parent);

/* Kill everything in a group. */
void gbx_cgroup_kill(int dir);

#endif

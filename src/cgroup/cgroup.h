/* SPDX-License-Identifier: MIT */
/*
 * cgroup - a control group (v2) for all processes of an engine: what no limit of a
 * single process counts, the kernel's own memory and the sum of all, is counted there.
 *
 * Only what was given to us is divided: a group that systemd marked as delegated, or,
 * where no systemd is, one that we may write to. The group of an engine is made beside
 * the host's or below it, named glovebox.PID.N, and is locked (flock) as long as its
 * host lives: whoever finds one without a lock may kill what is left in it, and remove
 * it. What cannot be had is told with a reason; nothing here is fatal.
 *
 * One thread at a time for each group; but gbx_cgroup_take_kill() from any thread.
 */
#ifndef GBX_CGROUP_CGROUP_H
#define GBX_CGROUP_CGROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a reason, its NUL included: what a layer has room for. */
#define GBX_CGROUP_REASON_SIZE 160
#define GBX_CGROUP_NAME_SIZE   48

/* Where to look; tests have places of their own. */
typedef struct gbx_cgroup_world {
    const char *proc;               /* a mounted proc */
    const char *systemd;            /* exists if systemd manages the groups */
    const char *const *controllers; /* all are needed; ends in NULL */
} gbx_cgroup_world;

extern const gbx_cgroup_world gbx_cgroup_here;

/* Zero: no such limit. */
typedef struct gbx_cgroup_limits {
    uint64_t memory_bytes;
    uint32_t processes;
    uint32_t cpu_percent; /* of one processor */
} gbx_cgroup_limits;

typedef struct gbx_cgroup {
    int parent; /* the directory it is in; -1: there is no group */
    int dir;    /* its own, with the lock */
    int events; /* of its memory */
    gbx_cgroup_limits limits;
    uint64_t most_bytes; /* of memory that its parents leave it */
    _Atomic uint64_t kills_taken;
    char name[GBX_CGROUP_NAME_SIZE];
    char reason[GBX_CGROUP_REASON_SIZE]; /* why there is none, and what would help */
} gbx_cgroup;

/* No group, and no reason yet. */
void gbx_cgroup_init(gbx_cgroup *group);

/* Make one; false if that cannot be, and group->reason tells why. Groups of hosts that
 * have died are removed on the way. Memory over what there is, is lowered to a part of
 * that: the machine must not run out before the group does. */
bool gbx_cgroup_open(gbx_cgroup *group, const gbx_cgroup_world *world,
                     const gbx_cgroup_limits *limits);

/* Another limit of memory, under the same rule. */
bool gbx_cgroup_allow(gbx_cgroup *group, uint64_t memory_bytes);

/* True once for each process that the kernel killed because the group, or one that it
 * is in, had no memory left. */
bool gbx_cgroup_take_kill(gbx_cgroup *group);

/* How many processes the kernel has killed for want of memory since it started, in any
 * group or none; 0 where that is unknown. */
uint64_t gbx_cgroup_kills_everywhere(const gbx_cgroup_world *world);

/* Kill what is in it and remove it. Waits for the end of what is killed, not long. */
void gbx_cgroup_close(gbx_cgroup *group);

#endif

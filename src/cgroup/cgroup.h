/* SPDX-License-Identifier: MIT */
/*
 * cgroup - a control group (v2) for all processes of an engine. It counts what no limit
 * of a single process counts: the kernel's own memory, and the sum of all processes.
 *
 * Only a group that was given to us is divided: one that systemd marked as delegated
 * or, where systemd is not running, one that we may write to. The engine's group is
 * made next to the host's or below it, is named glovebox.PID.N, and is locked (flock)
 * as long as its host lives. If the lock is free, any host may kill the processes left
 * in the group and remove it. A failure is reported with a reason; none is fatal.
 *
 * One thread at a time for each group; any thread may call gbx_cgroup_take_kill().
 */
#ifndef GBX_CGROUP_CGROUP_H
#define GBX_CGROUP_CGROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a reason, its NUL included; the same as for a layer (seal/seal.h). */
#define GBX_CGROUP_REASON_SIZE 160
#define GBX_CGROUP_NAME_SIZE   48

/* The paths and controllers to look for; tests use their own. */
typedef struct gbx_cgroup_world {
    const char *proc;               /* a mounted proc */
    const char *systemd;            /* exists if systemd manages the groups */
    const char *const *controllers; /* all are needed; ends in NULL */
} gbx_cgroup_world;

extern const gbx_cgroup_world gbx_cgroup_here;

/* Zero: unlimited. */
typedef struct gbx_cgroup_limits {
    uint64_t memory_bytes;
    uint32_t processes;
    uint32_t cpu_percent; /* of one processor */
} gbx_cgroup_limits;

typedef struct gbx_cgroup {
    int parent; /* the directory that contains it; -1: no group */
    int dir;    /* its directory, which carries the lock */
    int events; /* of the memory controller */
    gbx_cgroup_limits limits;
    uint64_t most_bytes; /* highest memory limit that machine and parents allow */
    _Atomic uint64_t kills_taken;
    char name[GBX_CGROUP_NAME_SIZE];
    char reason[GBX_CGROUP_REASON_SIZE]; /* why the group is missing, and how to get
                                            it */
} gbx_cgroup;

/* Start without a group and without a reason. */
void gbx_cgroup_init(gbx_cgroup *group);

/* Make a group. False on failure; then group->reason says why. Removes groups of
 * dead hosts on the way. If memory_bytes exceeds what the machine has, the limit is
 * lowered to a part of that: the group must run out before the machine does. */
bool gbx_cgroup_open(gbx_cgroup *group, const gbx_cgroup_world *world,
                     const gbx_cgroup_limits *limits);

/* Set another memory limit, under the same rule. */
bool gbx_cgroup_allow(gbx_cgroup *group, uint64_t memory_bytes);

/* True once for each process that the kernel killed because the group, or one of its
 * parents, was out of memory. */
bool gbx_cgroup_take_kill(gbx_cgroup *group);

/* Number of out-of-memory kills since the kernel started, in any group or none; 0 if
 * unknown. */
uint64_t gbx_cgroup_kills_everywhere(const gbx_cgroup_world *world);

/* Kill its processes and remove the group. Waits briefly for them to end. */
void gbx_cgroup_close(gbx_cgroup *group);

/* ---- between the two files of this folder --------------------------------- */

/*
 * The small text files of a control group, addressed by an open directory: a path may
 * name a different group a moment later.
 */

/* Write text to an existing file; sets errno on failure. */
bool gbx_cgroup_write(int dir, const char *name, const char *text);

/* True if the list contains word. Blanks and line ends separate its words. */
bool gbx_cgroup_lists(const char *words, const char *word);

/* The number in the line "KEY NUMBER" of text; 0 if the line is missing. */
uint64_t gbx_cgroup_keyed(const char *text, const char *key);

/* The leaf that the host moves to when its processes prevent dividing the group. */
#define GBX_CGROUP_HOST_LEAF "glovebox.host"

/* Names of groups: this, the host's pid, a dot, a number. */
#define GBX_CGROUP_PREFIX "glovebox."

/* Record why the group is missing. Returns false. */
bool gbx_cgroup_lacks(gbx_cgroup *group, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Find a group that we may divide and switch its controllers on. Returns its directory;
 * -1 with a reason in group. */
int gbx_cgroup_divide(const gbx_cgroup_world *world, gbx_cgroup *group);

/* Remove the groups in parent whose hosts are dead. */
void gbx_cgroup_sweep(int parent);

/* Kill everything in a group. */
void gbx_cgroup_kill(int dir);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * seal - makes the kernel refuse all that a worker does not need, in a fixed order.
 *
 * There are three steps, none of which can be undone:
 *   1. worker/launch.c has made the namespaces and mapped the ids;
 *   2. gbx_seal_template(), once the engine, the realm and their files are loaded:
 *      empty read-only root, no capabilities, no_new_privs, landlock, MDWE, not
 *      dumpable, the limits that all workers share, a filter for the template
 *      itself. Forks inherit all of it;
 *   3. gbx_seal_worker(), in each fork: every descriptor closed but the channel,
 *      memory and processor limits from the size of this process, seccomp last.
 *
 * Nothing here allocates after the fork. A step that fails is reported, never skipped
 * silently; the caller decides whether the result is enough. One thread only.
 *
 * Each step runs at most once a process: after the first run, most of it is refused.
 * Step 3 closes what step 2 leaves open because the template must still fork.
 */
#ifndef GBX_SEAL_SEAL_H
#define GBX_SEAL_SEAL_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- layers -------------------------------------------------------------- */

/*
 * The one table of the layers of the seal. Host and worker share it; the
 * report, doctor, the attack matrix and the documentation are generated from it.
 */

/*
 * XX(name, text_name, is_required, what it takes away)
 *
 * is_required: without it nothing starts, at any gbx_require. The order is the bit
 * number and is part of the protocol: append only.
 */
#define GBX_LAYER_MAP(XX)                                                       \
    XX(USER_NS, "user namespace", 0, "capabilities over anything of the host")  \
    XX(PID_NS, "pid namespace", 0, "sight and signals of other processes")      \
    XX(NET_NS, "network namespace", 0, "every network, loopback too")           \
    XX(MOUNT_NS, "empty root", 0, "the file system: an empty read-only root")   \
    XX(IPC_NS, "ipc namespace", 0, "shared memory and queues of others")        \
    XX(UTS_NS, "uts namespace", 0, "the host's name")                           \
    XX(CGROUP_NS, "cgroup namespace", 0, "sight of the host's cgroups")         \
    XX(LANDLOCK, "landlock", 0,                                                 \
       "files, TCP, signals and abstract sockets, from inside")                 \
    XX(SECCOMP, "seccomp", 1, "every system call but those of the table")       \
    XX(NO_NEW_PRIVS, "no_new_privs", 1, "privileges by executing something")    \
    XX(NO_CAPS, "no capabilities", 1, "capabilities inside the namespaces too") \
    XX(MDWE, "no new code", 0, "new executable memory")                         \
    XX(NOT_DUMPABLE, "not dumpable", 1,                                         \
       "core dumps, ptrace and /proc access by others")                         \
    XX(RLIMITS, "rlimits", 1,                                                   \
       "memory, processor time, files, processes past the limits")              \
    XX(NO_FDS, "no descriptors", 1, "every descriptor but the one channel")     \
    XX(DEATH_SIGNAL, "death signal", 1, "a life longer than the host's")        \
    XX(CGROUP, "cgroup limits", 0,                                              \
       "memory and processes, counted by the kernel (where delegated)")

typedef enum gbx_layer {
#define XX(name, text, required, what) GBX_LAYER_##name,
    GBX_LAYER_MAP(XX)
#undef XX
        GBX_LAYER_COUNT
} gbx_layer;

#define GBX_LAYER_BIT(layer) (1u << (layer))

/* The number of a worker's only descriptor after gbx_seal_worker(). */
#define GBX_CHANNEL_FD 3

/* Bytes of a reason, its NUL included. */
#define GBX_LAYER_REASON_SIZE 160

typedef struct gbx_layer_state {
    bool stands;
    char reason[GBX_LAYER_REASON_SIZE]; /* why not, and what would enable it; "" if
                                           in effect */
} gbx_layer_state;

/* A compiled filter, as bytes: installing it needs no library. */
typedef struct gbx_filter {
    struct sock_filter *code; /* NULL: could not be compiled */
    unsigned short len;       /* instructions */
} gbx_filter;

/* Address space that the engine has reserved, with its tail inaccessible. */
typedef struct gbx_reserve {
    char *start;
    char *closed; /* from here to its end */
} gbx_reserve;

/* The template's user outside its user namespace, if it differs from the host's. */
typedef struct gbx_identity {
    uid_t wanted
        [3];   /* the first of these that is available, as a group too; ended by 0. A
                  single one must be available. Empty if the host is not root */
    uid_t uid; /* the one in use; 0: none of them */
    uid_t hosts_uid;
} gbx_identity;

typedef struct gbx_seal {
    uint32_t layers_off; /* bits left out: attack mode only */
    uint32_t ns_made;    /* bits of the namespaces that were made */
    gbx_identity identity;
    uint64_t memory_bytes; /* the largest growth of data that a call may have */
    uint32_t cpu_s;        /* RLIMIT_CPU, unless the host's is lower */
    uint64_t room_bytes;   /* part of memory_bytes that a fork already has, untouched */
    gbx_layer_state layers[GBX_LAYER_COUNT];
    uint32_t landlock_abi;      /* 0: not available */
    gbx_filter worker_filter;   /* the table of internal.h, class by class */
    gbx_filter template_filter; /* wider: what the template needs to fork workers */
    gbx_reserve reserves[4];    /* this engine makes one */
    size_t reserve_count;
    uint64_t closed_bytes; /* total bytes made inaccessible */
    int statm_fd;          /* sizes of the template; -1: not open */
    uint64_t total_pages;  /* all mappings of the template at the fork; 0: not known */
    uint64_t data_pages;   /* those that are private and writable */
    pid_t template_pid;    /* lets a fork see whether its parent still lives */
    char user[128];        /* text for reports: the user */
    char layout[160];      /* whether the address layout is random, and if not, why */
    char speculation[96];  /* which processor speculation is off */
} gbx_seal;

/* Do once what all templates need. Call before the engine starts, in the process that
 * is forked for each template. */
void gbx_seal_prepare(void);

/* Step 1b. Call before the engine starts, except in a fork of a prepared process, where
 * it has started. Checks what the launch established (ns_made: the bits it made;
 * identity: the user it became) and compiles the filters. */
void gbx_seal_init(gbx_seal *seal, uint32_t layers_off, uint32_t ns_made,
                   const gbx_identity *identity, uint64_t memory_bytes, uint32_t cpu_s);

/* Turn speculation off, for all forks too, if is_asked. False if it cannot be. */
bool gbx_identity_guard_speculation(gbx_seal *seal, bool is_asked);

/* Step 2. Ends by sealing a probe as a worker and checking it; after that every
 * element of seal->layers is final. */
void gbx_seal_template(gbx_seal *seal);

/* Call these before and after loading a dataset, which may need more shapes of objects
 * than a call; in the template, where no call's code runs. False if the template must
 * end, since its forks would be unbounded. */
void gbx_reserve_open(gbx_seal *seal);
bool gbx_reserve_close_again(gbx_seal *seal);

/* Call just before each fork: the child's limits are the sizes of now, and its growth. */
void gbx_seal_measure(gbx_seal *seal);

/* Step 3, in the child. Moves channel to GBX_CHANNEL_FD. False if a required layer
 * failed: the caller must exit without reading anything. */
bool gbx_seal_worker(const gbx_seal *seal, int channel);

#endif

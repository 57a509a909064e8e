/* SPDX-License-Identifier: MIT */
/*
 * layers - the one table of the layers of the seal. Host and worker share it; the
 * report, doctor, the attack matrix and the documentation are generated from it.
 */
#ifndef GBX_SEAL_LAYERS_H
#define GBX_SEAL_LAYERS_H

/*
 * XX(name, text_name, is_required, what it takes away)
 *
 * is_required: without it nothing starts, whatever gbx_require says.
 * The order is the bit number and is part of the protocol: append only.
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

#endif

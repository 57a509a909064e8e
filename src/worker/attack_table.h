/* SPDX-License-Identifier: MIT */
/*
 * attack_table - what a compromised worker would try, one line each.
 *
 * The table is shared: the worker program has the code (attack_*.c), the host has the
 * texts (attack_table.c). Both are made from one list, so the index of a line, its
 * number in gbx_msg_attack, means the same on both sides.
 *
 * The layers of a line are a claim: each of them, alone, stops the attack. The tests
 * run every line with each layer alone and with each layer missing, and fail where the
 * claim is wrong. A line with fewer than two layers gives the reason.
 *
 * An attack judges by effect (a byte was read, code ran, a descriptor came back), not
 * by a return value alone: some calls are answered without being executed. It never
 * does harm if it succeeds, since it also runs without any layer: signals are 0, and
 * dangerous calls get arguments that fail right after the permission check.
 */
#ifndef GBX_WORKER_ATTACK_TABLE_H
#define GBX_WORKER_ATTACK_TABLE_H

#include "seal/seal.h"

#include <stddef.h>
#include <stdint.h>

/* Indexes from here on are a system call's number plus this: the sweep. */
#define GBX_ATTACK_SWEEP 100000u

/* Exit statuses of an attacking process. Any other means that it became another
 * program, which is a breach. A signal means that the attack failed. */
enum {
    GBX_ATTACK_EXIT_REFUSED = 0,
    GBX_ATTACK_EXIT_BREACH = 1,
    GBX_ATTACK_EXIT_ABSENT = 2, /* this machine lacks the target */
};

/* Maximum length of the one line that an attack leaves on its channel. */
#define GBX_ATTACK_NOTE_SIZE 96

/* The sweep's note: "returned VALUE" for a call that returned. If the call itself
 * ended the process, the exit status is the sweep's argument. */
#define GBX_ATTACK_SWEEP_STATUS 77

typedef struct gbx_attack_info {
    const char *id;    /* as in the threat model */
    const char *topic; /* files, programs, processes, memory, network, kernel, ... */
    const char *name;
    uint32_t layers;  /* each of them alone stops it, while in effect */
    const char *note; /* why there are fewer than two, or "" */
} gbx_attack_info;

/* Targets of attacks on the host's side; see worker.h. */
#define GBX_ATTACK_VICTIM_NAME "glovebox.attack"
#define GBX_ATTACK_VICTIM_KEY  0x67627861

size_t gbx_attack_count(void);

/* NULL past the end. */
const gbx_attack_info *gbx_attack_info_get(size_t index);

/* The layer that this one needs to be in effect, or to be effective, as a bit; 0 if
 * it needs none. What both together stop and that one alone does not, counts for
 * this layer. */
uint32_t gbx_attack_companion(size_t layer);

/* ---- the lines ----------------------------------------------------------- */

#define GBX_A_USER      GBX_LAYER_BIT(GBX_LAYER_USER_NS)
#define GBX_A_PID       GBX_LAYER_BIT(GBX_LAYER_PID_NS)
#define GBX_A_NET       GBX_LAYER_BIT(GBX_LAYER_NET_NS)
#define GBX_A_ROOT      GBX_LAYER_BIT(GBX_LAYER_MOUNT_NS)
#define GBX_A_IPC       GBX_LAYER_BIT(GBX_LAYER_IPC_NS)
#define GBX_A_UTS       GBX_LAYER_BIT(GBX_LAYER_UTS_NS)
#define GBX_A_CGROUP_NS GBX_LAYER_BIT(GBX_LAYER_CGROUP_NS)
#define GBX_A_LANDLOCK  GBX_LAYER_BIT(GBX_LAYER_LANDLOCK)
#define GBX_A_SECCOMP   GBX_LAYER_BIT(GBX_LAYER_SECCOMP)
#define GBX_A_NNP       GBX_LAYER_BIT(GBX_LAYER_NO_NEW_PRIVS)
#define GBX_A_CAPS      GBX_LAYER_BIT(GBX_LAYER_NO_CAPS)
#define GBX_A_MDWE      GBX_LAYER_BIT(GBX_LAYER_MDWE)
#define GBX_A_DUMP      GBX_LAYER_BIT(GBX_LAYER_NOT_DUMPABLE)
#define GBX_A_RLIMITS   GBX_LAYER_BIT(GBX_LAYER_RLIMITS)
#define GBX_A_FDS       GBX_LAYER_BIT(GBX_LAYER_NO_FDS)
#define GBX_A_DEATH     GBX_LAYER_BIT(GBX_LAYER_DEATH_SIGNAL)
#define GBX_A_ALL_FILES (GBX_A_ROOT | GBX_A_LANDLOCK | GBX_A_SECCOMP | GBX_A_RLIMITS)
#define GBX_A_PRIVILEGE (GBX_A_SECCOMP | GBX_A_CAPS | GBX_A_USER)
#define GBX_A_LIMITED   (GBX_A_SECCOMP | GBX_A_RLIMITS)

#define GBX_A_SELF "it can only harm itself, and the host ends it in time"

/* clang-format off */
/* XX(function, id, topic, name, layers, note) */
#define GBX_ATTACK_MAP(XX)                                                             \
    XX(open_file, "C001a", "files", "open /etc/passwd",                                \
       GBX_A_ALL_FILES, "")                                                            \
    XX(openat_file, "C001b", "files", "openat /etc/passwd",                            \
       GBX_A_ALL_FILES, "")                                                            \
    XX(openat2_file, "C001c", "files", "openat2 /etc/passwd",                          \
       GBX_A_ALL_FILES, "")                                                            \
    XX(creat_file, "C001d", "files", "creat in /tmp",                                  \
       GBX_A_ALL_FILES, "")                                                            \
    XX(make_directory, "C001e", "files", "mkdir in /tmp",                              \
       GBX_A_ROOT | GBX_A_LANDLOCK | GBX_A_SECCOMP, "")                                \
    XX(make_link, "C001f", "files", "symlink in /tmp",                                 \
       GBX_A_ROOT | GBX_A_LANDLOCK | GBX_A_SECCOMP, "")                                \
    XX(stat_file, "C001g", "files", "stat /etc/passwd",                                \
       GBX_A_ROOT | GBX_A_SECCOMP, "")                                                 \
    XX(list_root, "C001h", "files", "list the root",                                   \
       GBX_A_ALL_FILES, "")                                                            \
    XX(read_link, "C001i", "files", "readlink /proc/self/exe",                         \
       GBX_A_ROOT | GBX_A_SECCOMP, "")                                                 \
    XX(change_directory, "C001j", "files", "chdir to /etc",                            \
       GBX_A_ROOT | GBX_A_SECCOMP, "")                                                 \
    XX(open_handle, "C001k", "files", "open_by_handle_at",                             \
       GBX_A_ROOT | GBX_A_SECCOMP | GBX_A_CAPS | GBX_A_USER | GBX_A_RLIMITS, "")       \
    XX(read_environ, "C047a", "files", "read the environment in /proc",                \
       GBX_A_ALL_FILES, "")                                                            \
    XX(read_maps, "C047b", "files", "read the own mappings in /proc",                  \
       GBX_A_ALL_FILES, "")                                                            \
    XX(write_self_mem, "C047c", "files", "write own code through /proc/self/mem",      \
       GBX_A_ALL_FILES, "")                                                            \
    XX(read_cgroup, "C047d", "files", "read the host's cgroup path",                   \
       GBX_A_ALL_FILES | GBX_A_CGROUP_NS, "")                                          \
    XX(watch_file, "C001l", "files", "inotify on /etc",                                \
       GBX_A_ROOT | GBX_A_LIMITED, "")                                                 \
                                                                                       \
    XX(execute_file, "C002a", "programs", "execve /bin/false",                         \
       GBX_A_ROOT | GBX_A_LANDLOCK | GBX_A_SECCOMP, "")                                \
    XX(execute_memory, "C002b", "programs", "memfd_create and execveat",               \
       GBX_A_LIMITED, "")                                                              \
                                                                                       \
    XX(fork_process, "C005a", "processes", "fork",                                     \
       GBX_A_LIMITED, "")                                                              \
    XX(vfork_process, "C005b", "processes", "vfork",                                   \
       GBX_A_LIMITED, "")                                                              \
    XX(clone_thread, "C005c", "processes", "clone a thread",                           \
       GBX_A_LIMITED, "")                                                              \
    XX(clone3_process, "C005d", "processes", "clone3",                                 \
       GBX_A_LIMITED, "")                                                              \
    XX(clone_namespace, "C006a", "processes", "clone with a new user namespace",       \
       GBX_A_LIMITED | GBX_A_USER, "")                                                 \
    XX(unshare_user, "C006b", "processes", "unshare a user namespace",                 \
       GBX_A_SECCOMP | GBX_A_USER, "")                                                 \
    XX(unshare_net, "C006c", "processes", "unshare a network namespace",               \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(set_namespace, "C006d", "processes", "setns to the template's",                 \
       GBX_A_PRIVILEGE | GBX_A_RLIMITS, "")                                            \
    XX(trace_me, "C007a", "processes", "ptrace TRACEME",                               \
       GBX_A_SECCOMP, GBX_A_SELF)                                                      \
    XX(trace_template, "C007b", "processes", "ptrace the template",                    \
       GBX_A_SECCOMP | GBX_A_DUMP, "")                                                 \
    XX(trace_outside, "C007c", "processes", "ptrace a process of the host",            \
       GBX_A_SECCOMP | GBX_A_PID | GBX_A_USER | GBX_A_LANDLOCK, "")                    \
    XX(kill_outside, "C010a", "processes", "signal a process of the host",             \
       GBX_A_SECCOMP | GBX_A_PID | GBX_A_LANDLOCK, "")                                 \
    XX(kill_template, "C010c", "processes", "signal the template",                     \
       GBX_A_SECCOMP | GBX_A_PID, "")                                                  \
    XX(queue_signal, "C010d", "processes", "rt_sigqueueinfo to the host",              \
       GBX_A_SECCOMP | GBX_A_PID | GBX_A_LANDLOCK, "")                                 \
    XX(tgkill_outside, "C010e", "processes", "tgkill a thread of the host",            \
       GBX_A_SECCOMP | GBX_A_PID | GBX_A_LANDLOCK, "")                                 \
    XX(pidfd_signal, "C010f", "processes", "pidfd_send_signal to the template",        \
       GBX_A_LIMITED | GBX_A_PID, "")                                                  \
    XX(see_outside, "C010g", "processes", "find processes of the host",                \
       GBX_A_SECCOMP | GBX_A_PID, "")                                                  \
    XX(steal_descriptor, "C010h", "processes", "pidfd_getfd from the template",        \
       GBX_A_LIMITED | GBX_A_DUMP, "")                                                 \
    XX(read_template, "C010i", "processes", "process_vm_readv of the template",        \
       GBX_A_SECCOMP | GBX_A_DUMP, "")                                                 \
    XX(write_template, "C010j", "processes", "process_vm_writev into the template",    \
       GBX_A_SECCOMP | GBX_A_DUMP, "")                                                 \
    XX(read_outside, "C010k", "processes", "process_vm_readv of the host",             \
       GBX_A_SECCOMP | GBX_A_PID | GBX_A_USER | GBX_A_LANDLOCK, "")                    \
    XX(advise_template, "C010l", "processes", "process_madvise of the template",       \
       GBX_A_LIMITED | GBX_A_DUMP, "")                                                 \
    XX(compare_template, "C010m", "processes", "kcmp with the template",               \
       GBX_A_SECCOMP | GBX_A_DUMP, "")                                                 \
    XX(limit_template, "C030a", "processes", "prlimit64 of the template",              \
       GBX_A_SECCOMP, "they are one user; lowering it ends one engine")                \
    XX(outlive, "C055a", "processes", "drop the death signal",                         \
       GBX_A_SECCOMP | GBX_A_PID, "")                                                  \
                                                                                       \
    XX(map_executable, "C011a", "memory", "mmap writable and executable",              \
       GBX_A_SECCOMP | GBX_A_MDWE, "")                                                 \
    XX(protect_executable, "C011b", "memory", "mmap, then mprotect executable",        \
       GBX_A_SECCOMP | GBX_A_MDWE, "")                                                 \
    XX(pkey_executable, "C011c", "memory", "the same by pkey_mprotect",                \
       GBX_A_SECCOMP | GBX_A_MDWE, "")                                                 \
    XX(map_memfd_executable, "C011d", "memory", "mmap code from a memfd",              \
       GBX_A_LIMITED, "")                                                              \
    XX(read_implies_exec, "C021a", "memory", "personality READ_IMPLIES_EXEC",          \
       GBX_A_SECCOMP | GBX_A_MDWE, "")                                                 \
    XX(map_channel, "C012a", "memory", "mmap the channel, shared",                     \
       GBX_A_SECCOMP, "a socket cannot be mapped at all")                              \
    XX(memfd, "C015a", "memory", "memfd_create",                                       \
       GBX_A_LIMITED, "")                                                              \
    XX(memfd_secret, "C015b", "memory", "memfd_secret",                                \
       GBX_A_LIMITED, "")                                                              \
    XX(map_past_limit, "C048a", "memory", "map 16 GiB",                                \
       GBX_A_RLIMITS,                                                                  \
       "mapping is allowed; where control groups are delegated they bound it too")     \
    XX(forget_memory, "C048b", "memory", "fill, make inaccessible, repeat",            \
       GBX_A_RLIMITS, "as above")                                                      \
    XX(grow_mapping, "C011e", "memory", "mremap",                                      \
       GBX_A_SECCOMP, "what it makes counts against the limits like any mapping")      \
    XX(merge_memory, "C051a", "memory", "share equal pages (a side channel)",          \
       GBX_A_SECCOMP, "madvise is not otherwise restricted by Linux")                  \
    XX(lock_memory, "C048c", "memory", "mlock",                                        \
       GBX_A_SECCOMP | GBX_A_RLIMITS, "")                                              \
    XX(shared_segment, "C053a", "memory", "read a System V segment of the host",       \
       GBX_A_SECCOMP | GBX_A_IPC, "")                                                  \
    XX(message_queue, "C053b", "memory", "open a message queue of the host",           \
       GBX_A_LIMITED | GBX_A_IPC, "")                                                  \
                                                                                       \
    XX(connect_inet, "C054a", "network", "connect to 127.0.0.1",                       \
       GBX_A_NET | GBX_A_LIMITED | GBX_A_LANDLOCK, "")                                 \
    XX(connect_inet6, "C054b", "network", "connect to ::1",                            \
       GBX_A_NET | GBX_A_LIMITED | GBX_A_LANDLOCK, "")                                 \
    XX(send_udp, "C054c", "network", "send a datagram to 127.0.0.1",                   \
       GBX_A_NET | GBX_A_LIMITED, "")                                                  \
    XX(listen_inet, "C054d", "network", "bind and listen",                             \
       GBX_A_NET | GBX_A_LIMITED | GBX_A_LANDLOCK, "")                                 \
    XX(connect_abstract, "C054e", "network", "connect to an abstract socket",          \
       GBX_A_NET | GBX_A_LIMITED | GBX_A_LANDLOCK, "")                                 \
    XX(list_interfaces, "C054f", "network", "list interfaces by netlink",              \
       GBX_A_NET | GBX_A_LIMITED, "")                                                  \
    XX(packet_socket, "C054g", "network", "socket AF_PACKET",                          \
       GBX_A_LIMITED | GBX_A_CAPS | GBX_A_USER, "")                                    \
    XX(raw_socket, "C054h", "network", "socket SOCK_RAW",                              \
       GBX_A_LIMITED | GBX_A_CAPS | GBX_A_USER, "")                                    \
    XX(vsock_socket, "C054i", "network", "socket AF_VSOCK",                            \
       GBX_A_LIMITED, "")                                                              \
    XX(alg_socket, "C054j", "network", "socket AF_ALG",                                \
       GBX_A_LIMITED, "")                                                              \
    XX(unix_socket, "C054k", "network", "socket AF_UNIX",                              \
       GBX_A_LIMITED, "")                                                              \
    XX(socket_pair, "C054l", "network", "socketpair",                                  \
       GBX_A_LIMITED, "")                                                              \
                                                                                       \
    XX(write_descriptors, "C037a", "descriptors", "write to every descriptor",         \
       GBX_A_SECCOMP | GBX_A_FDS, "")                                                  \
    XX(read_descriptors, "C037b", "descriptors", "read from every descriptor",         \
       GBX_A_SECCOMP | GBX_A_FDS, "")                                                  \
    XX(send_rights, "C026a", "descriptors", "pass a descriptor to the host",           \
       GBX_A_SECCOMP, "the host reads its end without taking descriptors")             \
    XX(send_credentials, "C026b", "descriptors", "pass credentials to the host",       \
       GBX_A_SECCOMP, "the host reads its end without taking credentials")             \
    XX(own_descriptor, "C025a", "descriptors", "fcntl F_SETOWN and F_SETSIG",          \
       GBX_A_SECCOMP, "the signal is checked like any other when it is sent")          \
    XX(duplicate, "C026c", "descriptors", "dup",                                       \
       GBX_A_LIMITED, "")                                                              \
    XX(duplicate2, "C026d", "descriptors", "dup2",                                     \
       GBX_A_LIMITED, "")                                                              \
    XX(push_input, "C024a", "descriptors", "ioctl TIOCSTI",                            \
       GBX_A_SECCOMP | GBX_A_FDS, "")                                                  \
    XX(splice_pages, "C027a", "descriptors", "pipe2 and vmsplice",                     \
       GBX_A_LIMITED, "")                                                              \
    XX(event_descriptors, "C027b", "descriptors", "eventfd, epoll, timerfd, signalfd", \
       GBX_A_LIMITED, "")                                                              \
                                                                                       \
    XX(io_uring, "C016a", "kernel", "io_uring_setup",                                  \
       GBX_A_LIMITED, "")                                                              \
    XX(aio, "C016b", "kernel", "io_setup",                                             \
       GBX_A_SECCOMP, "asynchronous calls on the one descriptor it has")               \
    XX(fault_descriptor, "C016c", "kernel", "userfaultfd",                             \
       GBX_A_LIMITED, "")                                                              \
    XX(bpf_map, "C017a", "kernel", "bpf: make a map",                                  \
       GBX_A_LIMITED, "")                                                              \
    XX(bpf_program, "C017b", "kernel", "bpf: load a program",                          \
       GBX_A_LIMITED, "")                                                              \
    XX(perf_event, "C017c", "kernel", "perf_event_open",                               \
       GBX_A_LIMITED, "")                                                              \
    XX(add_key, "C017d", "kernel", "add_key",                                          \
       GBX_A_SECCOMP,                                                                  \
       "keys live in the user's own keyring; the user namespace has its own")          \
    XX(request_key, "C017e", "kernel", "request_key and keyctl",                       \
       GBX_A_SECCOMP, "as above")                                                      \
    XX(fanotify, "C017f", "kernel", "fanotify_init",                                   \
       GBX_A_LIMITED, "")                                                              \
    XX(landlock_ruleset, "C017g", "kernel", "landlock_create_ruleset",                 \
       GBX_A_LIMITED, "")                                                              \
    XX(notify_filter, "C017h", "kernel", "seccomp with a listener",                    \
       GBX_A_LIMITED, "")                                                              \
    XX(set_segment, "C020a", "kernel", "arch_prctl ARCH_SET_GS",                       \
       GBX_A_SECCOMP, GBX_A_SELF)                                                      \
    XX(local_table, "C020b", "kernel", "modify_ldt",                                   \
       GBX_A_SECCOMP, GBX_A_SELF)                                                      \
    XX(become_dumpable, "C046a", "kernel", "a core dump",                              \
       GBX_A_SECCOMP | GBX_A_RLIMITS, "")                                              \
    XX(raise_limit, "C030b", "kernel", "raise a hard limit",                           \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(raise_priority, "C031a", "kernel", "setpriority -20",                           \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(real_time, "C031b", "kernel", "sched_setscheduler FIFO",                        \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(pin_processor, "C031c", "kernel", "sched_setaffinity",                          \
       GBX_A_SECCOMP, GBX_A_SELF)                                                      \
    XX(interval_timer, "C035a", "kernel", "timer_create",                              \
       GBX_A_LIMITED, "")                                                              \
    XX(sleep_nano, "C035b", "kernel", "clock_nanosleep",                               \
       GBX_A_SECCOMP, GBX_A_SELF)                                                      \
    XX(sleep_poll, "C035c", "kernel", "poll and select",                               \
       GBX_A_SECCOMP, GBX_A_SELF)                                                      \
    XX(futex_wait, "C036a", "kernel", "futex wait",                                    \
       GBX_A_SECCOMP, GBX_A_SELF)                                                      \
    XX(futex_priority, "C036b", "kernel", "futex PI and requeue",                      \
       GBX_A_SECCOMP, GBX_A_SELF)                                                      \
    XX(host_name, "C056a", "kernel", "uname: the host's name",                         \
       GBX_A_SECCOMP | GBX_A_UTS, "")                                                  \
    XX(machine_load, "C056b", "kernel", "sysinfo: the host's load",                    \
       GBX_A_SECCOMP, "Linux has no namespace for it")                                 \
                                                                                       \
    XX(mount_old, "C022a", "privilege", "mount",                                       \
       GBX_A_PRIVILEGE | GBX_A_LANDLOCK, "")                                           \
    XX(unmount, "C022b", "privilege", "umount2",                                       \
       GBX_A_PRIVILEGE | GBX_A_ROOT, "")                                               \
    XX(pivot, "C022c", "privilege", "pivot_root",                                      \
       GBX_A_PRIVILEGE | GBX_A_LANDLOCK, "")                                           \
    XX(change_root, "C022d", "privilege", "chroot",                                    \
       GBX_A_SECCOMP | GBX_A_CAPS, "")                                                 \
    XX(open_tree, "C022e", "privilege", "open_tree, a copy",                           \
       GBX_A_LIMITED | GBX_A_CAPS, "")                                                 \
    XX(open_filesystem, "C022f", "privilege", "fsopen",                                \
       GBX_A_LIMITED | GBX_A_CAPS, "")                                                 \
    XX(move_mount, "C022g", "privilege", "move_mount and mount_setattr",               \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(set_user, "C023a", "privilege", "setuid and setgid",                            \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(set_groups, "C023b", "privilege", "setgroups",                                  \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(raise_capability, "C023c", "privilege", "use and raise capabilities",           \
       GBX_A_SECCOMP | GBX_A_CAPS, "")                                                 \
    XX(set_host_name, "C023d", "privilege", "sethostname",                             \
       GBX_A_SECCOMP | GBX_A_CAPS, "")                                                 \
    XX(set_clock, "C023e", "privilege", "settimeofday",                                \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(reboot_machine, "C032a", "privilege", "reboot",                                 \
       GBX_A_SECCOMP | GBX_A_CAPS, "")                                                 \
    XX(load_kernel, "C032b", "privilege", "kexec_load",                                \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(load_module, "C032c", "privilege", "init_module, delete_module",                \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(swap_on, "C032d", "privilege", "swapon",                                        \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(account, "C032e", "privilege", "acct",                                          \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(kernel_log, "C032f", "privilege", "syslog",                                     \
       GBX_A_PRIVILEGE, "")                                                            \
    XX(port_access, "C032g", "privilege", "iopl and ioperm",                           \
       GBX_A_PRIVILEGE, "")                                                            \
                                                                                       \
    XX(call_x32, "C040a", "entry", "x32 system calls",                                 \
       GBX_A_SECCOMP, "the kernel may not have them at all")                           \
    XX(call_int80, "C041a", "entry", "32-bit system calls (int 0x80)",                 \
       GBX_A_SECCOMP, "an entry, not a deed: what it calls is refused as above")       \
    XX(call_int80_open, "C041b", "entry", "open by int 0x80",                          \
       GBX_A_ALL_FILES, "")                                                            \
    XX(call_vsyscall, "C045a", "entry", "the vsyscall page",                           \
       GBX_A_SECCOMP, "it tells the time, which the worker may know")                  \
    XX(call_nonsense, "C042a", "entry", "numbers 2^31 and -1",                         \
       GBX_A_SECCOMP, "no such call")
/* clang-format on */

#endif

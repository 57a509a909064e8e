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
 * it needs none. An attack that both stop, but the other alone does not, counts for
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
/* XX(id, topic, name, layers, note, run): run is an expression of the worker program, the
 * verdict of attack `a` (worker.h); the host does not compile it. */
#define GBX_ATTACKS_ON_FILES(XX)                                                       \
    XX("C001a", "files", "open /etc/passwd", GBX_A_ALL_FILES, "",                      \
       read_byte(a, OPEN_FILE))                                                        \
    XX("C001b", "files", "openat /etc/passwd", GBX_A_ALL_FILES, "",                    \
       read_path(a, VICTIM))                                                           \
    XX("C001c", "files", "openat2 /etc/passwd", GBX_A_ALL_FILES, "",                   \
       read_byte(a, TRY(openat2, AT_FDCWD, P(VICTIM), P((&(struct open_how){.flags =   \
          O_RDONLY})), sizeof(struct open_how))))                                      \
    XX("C001d", "files", "creat in /tmp", GBX_A_ALL_FILES, "",                         \
       undone(TRY(openat, AT_FDCWD, P(TRACE), O_CREAT | O_WRONLY, 0600), TRACE))       \
    XX("C001e", "files", "mkdir in /tmp",                                              \
       GBX_A_ROOT | GBX_A_LANDLOCK | GBX_A_SECCOMP, "",                                \
       undone(TRY(mkdirat, AT_FDCWD, P(TRACE "-dir"), 0700), TRACE "-dir"))            \
    XX("C001f", "files", "symlink in /tmp",                                            \
       GBX_A_ROOT | GBX_A_LANDLOCK | GBX_A_SECCOMP, "",                                \
       undone(TRY(symlinkat, P("/"), AT_FDCWD, P(TRACE "-link")), TRACE "-link"))      \
    XX("C001g", "files", "stat /etc/passwd", GBX_A_ROOT | GBX_A_SECCOMP, "",           \
       DOES(statx, AT_FDCWD, P(VICTIM), 0, STATX_BASIC_STATS, P(&(struct statx){0})))  \
    XX("C001h", "files", "list the root", GBX_A_ALL_FILES, "",                         \
       list_root(a))                                                                   \
    XX("C001i", "files", "readlink /proc/self/exe", GBX_A_ROOT | GBX_A_SECCOMP, "",    \
       DOES(readlinkat, AT_FDCWD, P("/proc/self/exe"), P((char[256]){0}), 256))        \
    XX("C001j", "files", "chdir to /etc", GBX_A_ROOT | GBX_A_SECCOMP, "",              \
       DOES(chdir, P("/etc")))                                                         \
    XX("C001k", "files", "open_by_handle_at",                                          \
       GBX_A_ROOT | GBX_A_SECCOMP | GBX_A_CAPS | GBX_A_USER | GBX_A_RLIMITS, "",       \
       open_handle(a))                                                                 \
    XX("C047a", "files", "read the environment in /proc", GBX_A_ALL_FILES, "",         \
       read_path(a, "/proc/self/environ"))                                             \
    XX("C047b", "files", "read the own mappings in /proc", GBX_A_ALL_FILES, "",        \
       read_path(a, "/proc/self/maps"))                                                \
    XX("C047c", "files", "write own code through /proc/self/mem", GBX_A_ALL_FILES, "", \
       write_self_mem(a))                                                              \
    XX("C047d", "files", "read the host's cgroup path",                                \
       GBX_A_ALL_FILES | GBX_A_CGROUP_NS, "", read_cgroup(a))                          \
    XX("C001l", "files", "inotify on /etc", GBX_A_ROOT | GBX_A_LIMITED, "",            \
       watch_file(a))                                                                  \
    XX("C002a", "programs", "execve /bin/false",                                       \
       GBX_A_ROOT | GBX_A_LANDLOCK | GBX_A_SECCOMP, "", execute_file(a))               \
    XX("C002b", "programs", "memfd_create and execveat", GBX_A_LIMITED, "",            \
       execute_memory(a))

#define GBX_ATTACKS_ON_PROCESSES(XX)                                                   \
    XX("C005a", "processes", "fork", GBX_A_LIMITED, "",                                \
       parent_only(TRY(clone, SIGCHLD)))                                               \
    XX("C005b", "processes", "vfork", GBX_A_LIMITED, "",                               \
       vfork_process(a))                                                               \
    XX("C005c", "processes", "clone a thread", GBX_A_LIMITED, "",                      \
       clone_thread(a))                                                                \
    XX("C005d", "processes", "clone3", GBX_A_LIMITED, "",                              \
       parent_only(TRY(clone3, P((&(struct clone_args){.exit_signal = SIGCHLD})),      \
          sizeof(struct clone_args))))                                                 \
    XX("C006a", "processes", "clone with a new user namespace",                        \
       GBX_A_LIMITED | GBX_A_USER, "",                                                 \
       parent_only(TRY(clone, CLONE_NEWUSER | SIGCHLD)))                               \
    XX("C006b", "processes", "unshare a user namespace",                               \
       GBX_A_SECCOMP | GBX_A_USER, "", DOES(unshare, CLONE_NEWUSER))                   \
    XX("C006c", "processes", "unshare a network namespace", GBX_A_PRIVILEGE, "",       \
       DOES(unshare, CLONE_NEWNET))                                                    \
    XX("C006d", "processes", "setns to the template's",                                \
       GBX_A_PRIVILEGE | GBX_A_RLIMITS, "", set_namespace(a))                          \
    XX("C007a", "processes", "ptrace TRACEME", GBX_A_SECCOMP, GBX_A_SELF,              \
       DOES(ptrace, PTRACE_TRACEME))                                                   \
    XX("C007b", "processes", "ptrace the template", GBX_A_SECCOMP | GBX_A_DUMP, "",    \
       DOES(ptrace, PTRACE_SEIZE, template_pid()))                                     \
    XX("C007c", "processes", "ptrace a process of the host",                           \
       GBX_A_SECCOMP | GBX_A_PID | GBX_A_USER | GBX_A_LANDLOCK, "",                    \
       any_outside(a, trace))                                                          \
    XX("C010a", "processes", "signal a process of the host",                           \
       GBX_A_SECCOMP | GBX_A_PID | GBX_A_LANDLOCK, "", any_outside(a, send_signal))    \
    XX("C010c", "processes", "signal the template", GBX_A_SECCOMP | GBX_A_PID, "",     \
       unless_init(a, TRY(kill, template_pid(), 0)))                                   \
    XX("C010d", "processes", "rt_sigqueueinfo to the host",                            \
       GBX_A_SECCOMP | GBX_A_PID | GBX_A_LANDLOCK, "", any_outside(a, queue))          \
    XX("C010e", "processes", "tgkill a thread of the host",                            \
       GBX_A_SECCOMP | GBX_A_PID | GBX_A_LANDLOCK, "", any_outside(a, signal_thread))  \
    XX("C010f", "processes", "pidfd_send_signal to the template",                      \
       GBX_A_LIMITED | GBX_A_PID, "", pidfd_signal(a))                                 \
    XX("C010g", "processes", "find processes of the host",                             \
       GBX_A_SECCOMP | GBX_A_PID, "", see_outside(a))                                  \
    XX("C010h", "processes", "pidfd_getfd from the template",                          \
       GBX_A_LIMITED | GBX_A_DUMP, "", steal_descriptor(a))                            \
    XX("C010i", "processes", "process_vm_readv of the template",                       \
       GBX_A_SECCOMP | GBX_A_DUMP, "", copy_memory(a, template_pid(), false))          \
    XX("C010j", "processes", "process_vm_writev into the template",                    \
       GBX_A_SECCOMP | GBX_A_DUMP, "", copy_memory(a, template_pid(), true))           \
    XX("C010k", "processes", "process_vm_readv of the host",                           \
       GBX_A_SECCOMP | GBX_A_PID | GBX_A_USER | GBX_A_LANDLOCK, "",                    \
       any_outside(a, read_memory))                                                    \
    XX("C010l", "processes", "process_madvise of the template",                        \
       GBX_A_LIMITED | GBX_A_DUMP, "", advise_template(a))                             \
    XX("C010m", "processes", "kcmp with the template", GBX_A_SECCOMP | GBX_A_DUMP, "", \
       DOES(kcmp, template_pid(), syscall(SYS_getpid), KCMP_FILE_TABLE, 0, 0))         \
    XX("C030a", "processes", "prlimit64 of the template",                              \
       GBX_A_SECCOMP, "they are one user; lowering it ends one engine",                \
       limit_template(a))                                                              \
    XX("C055a", "processes", "drop the death signal", GBX_A_SECCOMP | GBX_A_PID, "",   \
       outlive(a))                                                                     \
    XX("C011a", "memory", "mmap writable and executable",                              \
       GBX_A_SECCOMP | GBX_A_MDWE, "", map_executable(a))                              \
    XX("C011b", "memory", "mmap, then mprotect executable",                            \
       GBX_A_SECCOMP | GBX_A_MDWE, "", protect_executable(a))                          \
    XX("C011c", "memory", "the same by pkey_mprotect", GBX_A_SECCOMP | GBX_A_MDWE, "", \
       pkey_executable(a))                                                             \
    XX("C011d", "memory", "mmap code from a memfd", GBX_A_LIMITED, "",                 \
       map_memfd_executable(a))                                                        \
    XX("C021a", "memory", "personality READ_IMPLIES_EXEC",                             \
       GBX_A_SECCOMP | GBX_A_MDWE, "", read_implies_exec(a))                           \
    XX("C012a", "memory", "mmap the channel, shared",                                  \
       GBX_A_SECCOMP, "a socket cannot be mapped at all",                              \
       DOES(mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, GBX_CHANNEL_FD, 0))     \
    XX("C015a", "memory", "memfd_create", GBX_A_LIMITED, "",                           \
       DOES(memfd_create, P("memory"), 0))                                             \
    XX("C015b", "memory", "memfd_secret", GBX_A_LIMITED, "",                           \
       DOES(memfd_secret, 0))                                                          \
    XX("C048a", "memory", "map 16 GiB",                                                \
       GBX_A_RLIMITS, "mapping is allowed; where control groups are delegated they     \
          bound it too",                                                               \
       DOES(mmap, 0, 16L << 30, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_NORESERVE, -1, \
          0))                                                                          \
    XX("C048b", "memory", "fill, make inaccessible, repeat",                           \
       GBX_A_RLIMITS, "as above", forget_memory(a))                                    \
    XX("C011e", "memory", "mremap",                                                    \
       GBX_A_SECCOMP, "what it makes counts against the limits like any mapping",      \
       grow_mapping(a))                                                                \
    XX("C051a", "memory", "share equal pages (a side channel)",                        \
       GBX_A_SECCOMP, "madvise is not otherwise restricted by Linux", merge_memory(a)) \
    XX("C048c", "memory", "mlock", GBX_A_SECCOMP | GBX_A_RLIMITS, "",                  \
       DOES(mlock, P(make_code()), PAGE))                                          \
    XX("C053a", "memory", "read a System V segment of the host",                       \
       GBX_A_SECCOMP | GBX_A_IPC, "", shared_segment(a))                               \
    XX("C053b", "memory", "open a message queue of the host",                          \
       GBX_A_LIMITED | GBX_A_IPC, "",                                                  \
       DOES(mq_open, P(GBX_ATTACK_VICTIM_NAME), O_RDONLY, 0, 0))

#define GBX_ATTACKS_ON_NETWORK(XX)                                                     \
    XX("C054a", "network", "connect to 127.0.0.1",                                     \
       GBX_A_NET | GBX_A_LIMITED | GBX_A_LANDLOCK, "", connect_inet(a))                \
    XX("C054b", "network", "connect to ::1",                                           \
       GBX_A_NET | GBX_A_LIMITED | GBX_A_LANDLOCK, "", connect_inet6(a))               \
    XX("C054c", "network", "send a datagram to 127.0.0.1",                             \
       GBX_A_NET | GBX_A_LIMITED, "", send_udp(a))                                     \
    XX("C054d", "network", "bind and listen",                                          \
       GBX_A_NET | GBX_A_LIMITED | GBX_A_LANDLOCK, "", listen_inet(a))                 \
    XX("C054e", "network", "connect to an abstract socket",                            \
       GBX_A_NET | GBX_A_LIMITED | GBX_A_LANDLOCK, "", connect_abstract(a))            \
    XX("C054f", "network", "list interfaces by netlink",                               \
       GBX_A_NET | GBX_A_LIMITED, "", list_interfaces(a))                              \
    XX("C054g", "network", "socket AF_PACKET",                                         \
       GBX_A_LIMITED | GBX_A_CAPS | GBX_A_USER, "",                                    \
       DOES(socket, AF_PACKET, SOCK_RAW, 0))                                           \
    XX("C054h", "network", "socket SOCK_RAW",                                          \
       GBX_A_LIMITED | GBX_A_CAPS | GBX_A_USER, "",                                    \
       DOES(socket, AF_INET, SOCK_RAW, IPPROTO_ICMP))                                  \
    XX("C054i", "network", "socket AF_VSOCK", GBX_A_LIMITED, "",                       \
       DOES(socket, AF_VSOCK, SOCK_STREAM, 0))                                         \
    XX("C054j", "network", "socket AF_ALG", GBX_A_LIMITED, "",                         \
       DOES(socket, AF_ALG, SOCK_SEQPACKET, 0))                                        \
    XX("C054k", "network", "socket AF_UNIX", GBX_A_LIMITED, "",                        \
       DOES(socket, AF_UNIX, SOCK_DGRAM, 0))                                           \
    XX("C054l", "network", "socketpair", GBX_A_LIMITED, "",                            \
       DOES(socketpair, AF_UNIX, SOCK_STREAM, 0, P((int[2]){0})))                      \
    XX("C037a", "descriptors", "write to every descriptor",                            \
       GBX_A_SECCOMP | GBX_A_FDS, "", try_all(a, SYS_write, "write"))                  \
    XX("C037b", "descriptors", "read from every descriptor",                           \
       GBX_A_SECCOMP | GBX_A_FDS, "", try_all(a, SYS_read, "read"))                    \
    XX("C026a", "descriptors", "pass a descriptor to the host",                        \
       GBX_A_SECCOMP, "the host reads its end without taking descriptors",             \
       send_rights(a))                                                                 \
    XX("C026b", "descriptors", "pass credentials to the host",                         \
       GBX_A_SECCOMP, "the host reads its end without taking credentials",             \
       send_credentials(a))                                                            \
    XX("C025a", "descriptors", "fcntl F_SETOWN and F_SETSIG",                          \
       GBX_A_SECCOMP, "the signal is checked like any other when it is sent",          \
       own_descriptor(a))                                                              \
    XX("C026c", "descriptors", "dup", GBX_A_LIMITED, "",                               \
       DOES(dup, GBX_CHANNEL_FD))                                                      \
    XX("C026d", "descriptors", "dup2", GBX_A_LIMITED, "",                              \
       DOES(dup3, GBX_CHANNEL_FD, 500, 0))                                             \
    XX("C024a", "descriptors", "ioctl TIOCSTI", GBX_A_SECCOMP | GBX_A_FDS, "",         \
       push_input(a))                                                                  \
    XX("C027a", "descriptors", "pipe2 and vmsplice", GBX_A_LIMITED, "",                \
       splice_pages(a))                                                                \
    XX("C027b", "descriptors", "eventfd, epoll, timerfd, signalfd", GBX_A_LIMITED, "", \
       event_descriptors(a))

#define GBX_ATTACKS_ON_KERNEL(XX)                                                      \
    XX("C016a", "kernel", "io_uring_setup", GBX_A_LIMITED, "",                         \
       DOES(io_uring_setup, 1, P(&(struct io_uring_params){0})))                       \
    XX("C016b", "kernel", "io_setup",                                                  \
       GBX_A_SECCOMP, "asynchronous calls on the one descriptor it has",               \
       DOES(io_setup, 1, P(&(aio_context_t){0})))                                      \
    XX("C016c", "kernel", "userfaultfd", GBX_A_LIMITED, "",                            \
       DOES(userfaultfd, 1 /* UFFD_USER_MODE_ONLY */))                                 \
    XX("C017a", "kernel", "bpf: make a map", GBX_A_LIMITED, "",                        \
       bpf_map(a))                                                                     \
    XX("C017b", "kernel", "bpf: load a program", GBX_A_LIMITED, "",                    \
       bpf_program(a))                                                                 \
    XX("C017c", "kernel", "perf_event_open", GBX_A_LIMITED, "",                        \
       DOES(perf_event_open, P((&(struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,  \
          .size = sizeof(struct perf_event_attr), .config = PERF_COUNT_SW_TASK_CLOCK,  \
          .exclude_kernel = 1})), 0, -1, -1, 0))                                       \
    XX("C017d", "kernel", "add_key",                                                   \
       GBX_A_SECCOMP, "keys live in the user's own keyring; the user namespace has its \
          own",                                                                        \
       DOES(add_key, P("user"), P("glovebox"), P("x"), 1, KEY_SPEC_PROCESS_KEYRING))   \
    XX("C017e", "kernel", "request_key and keyctl", GBX_A_SECCOMP, "as above",         \
       request_key(a))                                                                 \
    XX("C017f", "kernel", "fanotify_init", GBX_A_LIMITED, "",                          \
       DOES(fanotify_init, FAN_CLASS_NOTIF | FAN_REPORT_FID, 0))                       \
    XX("C017g", "kernel", "landlock_create_ruleset", GBX_A_LIMITED, "",                \
       DOES(landlock_create_ruleset, P(&(uint64_t){1}), sizeof(uint64_t), 0))          \
    XX("C017h", "kernel", "seccomp with a listener", GBX_A_LIMITED, "",                \
       notify_filter(a))                                                               \
    XX("C020a", "kernel", "arch_prctl ARCH_SET_GS", GBX_A_SECCOMP, GBX_A_SELF,         \
       set_segment(a))                                                                 \
    XX("C020b", "kernel", "modify_ldt", GBX_A_SECCOMP, GBX_A_SELF,                     \
       local_table(a))                                                                 \
    XX("C046a", "kernel", "a core dump", GBX_A_SECCOMP | GBX_A_RLIMITS, "",            \
       become_dumpable(a))                                                             \
    XX("C030b", "kernel", "raise a hard limit", GBX_A_PRIVILEGE, "",                   \
       raise_limit(a))                                                                 \
    XX("C031a", "kernel", "setpriority -20", GBX_A_PRIVILEGE, "",                      \
       DOES(setpriority, PRIO_PROCESS, 0, -20))                                        \
    XX("C031b", "kernel", "sched_setscheduler FIFO", GBX_A_PRIVILEGE, "",              \
       DOES(sched_setscheduler, 0, SCHED_FIFO, P((&(struct                             \
          sched_param){.sched_priority = 1}))))                                        \
    XX("C031c", "kernel", "sched_setaffinity", GBX_A_SECCOMP, GBX_A_SELF,              \
       DOES(sched_setaffinity, 0, sizeof(long[16]), P((long[16]){1})))                 \
    XX("C035a", "kernel", "timer_create", GBX_A_LIMITED, "",                           \
       DOES(timer_create, CLOCK_MONOTONIC, P((&(struct sigevent){.sigev_notify =       \
          SIGEV_SIGNAL, .sigev_signo = SIGWINCH})), P(&(int){0})))                     \
    XX("C035b", "kernel", "clock_nanosleep", GBX_A_SECCOMP, GBX_A_SELF,                \
       DOES(clock_nanosleep, CLOCK_MONOTONIC, 0, P((&(struct timespec){.tv_nsec =      \
          NAP_NS})), 0))                                                               \
    XX("C035c", "kernel", "poll and select", GBX_A_SECCOMP, GBX_A_SELF,                \
       DOES(ppoll, 0, 0, P((&(struct timespec){.tv_nsec = NAP_NS})), 0, 0))            \
    XX("C036a", "kernel", "futex wait", GBX_A_SECCOMP, GBX_A_SELF,                     \
       futex_wait(a))                                                                  \
    XX("C036b", "kernel", "futex PI and requeue", GBX_A_SECCOMP, GBX_A_SELF,           \
       futex_priority(a))                                                              \
    XX("C056a", "kernel", "uname: the host's name", GBX_A_SECCOMP | GBX_A_UTS, "",     \
       host_name(a))                                                                   \
    XX("C056b", "kernel", "sysinfo: the host's load",                                  \
       GBX_A_SECCOMP, "Linux has no namespace for it",                                 \
       DOES(sysinfo, P(&(struct sysinfo){0})))                                         \
    XX("C022a", "privilege", "mount", GBX_A_PRIVILEGE | GBX_A_LANDLOCK, "",            \
       MAY(mount, P("none"), P("/"), P("no such type"), 0, 0))                         \
    XX("C022b", "privilege", "umount2", GBX_A_PRIVILEGE | GBX_A_ROOT, "",              \
       unmount(a))                                                                     \
    XX("C022c", "privilege", "pivot_root", GBX_A_PRIVILEGE | GBX_A_LANDLOCK, "",       \
       MAY(pivot_root, P("/"), P("/")))                                                \
    XX("C022d", "privilege", "chroot", GBX_A_SECCOMP | GBX_A_CAPS, "",                 \
       DOES(chroot, P("/")))                                                           \
    XX("C022e", "privilege", "open_tree, a copy", GBX_A_LIMITED | GBX_A_CAPS, "",      \
       DOES(open_tree, AT_FDCWD, P("/"), OPEN_TREE_CLONE))                             \
    XX("C022f", "privilege", "fsopen", GBX_A_LIMITED | GBX_A_CAPS, "",                 \
       DOES(fsopen, P("tmpfs"), 0))                                                    \
    XX("C022g", "privilege", "move_mount and mount_setattr", GBX_A_PRIVILEGE, "",      \
       move_mount(a))                                                                  \
    XX("C023a", "privilege", "setuid and setgid", GBX_A_PRIVILEGE, "",                 \
       set_user(a))                                                                    \
    XX("C023b", "privilege", "setgroups", GBX_A_PRIVILEGE, "",                         \
       DOES(setgroups, 0, 0))                                                          \
    XX("C023c", "privilege", "use and raise capabilities",                             \
       GBX_A_SECCOMP | GBX_A_CAPS, "", raise_capability(a))                            \
    XX("C023d", "privilege", "sethostname", GBX_A_SECCOMP | GBX_A_CAPS, "",            \
       set_host_name(a))                                                               \
    XX("C023e", "privilege", "settimeofday", GBX_A_PRIVILEGE, "",                      \
       DOES(settimeofday, 0, 0))                                                       \
    XX("C032a", "privilege", "reboot", GBX_A_SECCOMP | GBX_A_CAPS, "",                 \
       MAY(reboot, 0, 0, 0, 0))                                                        \
    XX("C032b", "privilege", "kexec_load", GBX_A_PRIVILEGE, "",                        \
       MAY(kexec_load, 0, 1000000, 0, 0x1000))                                         \
    XX("C032c", "privilege", "init_module, delete_module", GBX_A_PRIVILEGE, "",        \
       load_module(a))                                                                 \
    XX("C032d", "privilege", "swapon", GBX_A_PRIVILEGE, "",                            \
       MAY(swapon, P(NOWHERE), 0))                                                     \
    XX("C032e", "privilege", "acct", GBX_A_PRIVILEGE, "",                              \
       MAY(acct, P(NOWHERE)))                                                          \
    XX("C032f", "privilege", "syslog", GBX_A_PRIVILEGE, "",                            \
       DOES(syslog, 3 /* read all */, P(&(char){0}), 1))                               \
    XX("C032g", "privilege", "iopl and ioperm", GBX_A_PRIVILEGE, "",                   \
       port_access(a))                                                                 \
    XX("C040a", "entry", "x32 system calls",                                           \
       GBX_A_SECCOMP, "the kernel may not have them at all", call_x32(a))              \
    XX("C041a", "entry", "32-bit system calls (int 0x80)",                             \
       GBX_A_SECCOMP, "an entry, not a deed: what it calls is refused as above",       \
       call_int80(a))                                                                  \
    XX("C041b", "entry", "open by int 0x80", GBX_A_ALL_FILES, "",                      \
       call_int80_open(a))                                                             \
    XX("C045a", "entry", "the vsyscall page",                                          \
       GBX_A_SECCOMP, "it tells the time, which the worker may know",                  \
       call_vsyscall(a))                                                               \
    XX("C042a", "entry", "numbers 2^31 and -1", GBX_A_SECCOMP, "no such call",         \
       call_nonsense(a))

#define GBX_ATTACK_MAP(XX)                                                             \
    GBX_ATTACKS_ON_FILES(XX)                                                           \
    GBX_ATTACKS_ON_PROCESSES(XX)                                                       \
    GBX_ATTACKS_ON_NETWORK(XX)                                                         \
    GBX_ATTACKS_ON_KERNEL(XX)
/* clang-format on */

#endif

/* SPDX-License-Identifier: MIT */
/* attack_kernel - attacks on fragile parts of the kernel, on its information, and on what
 * needs root. */
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 5000000L

#ifndef SYS_landlock_create_ruleset
#    define SYS_landlock_create_ruleset 444
#endif

/* ---- interfaces ------------------------------------------------------------------- */

gbx_attack_verdict gbx_attack_io_uring(gbx_attack *a)
{
    struct io_uring_params params = {0};

    return gbx_attack_verdict_of(GBX_TRY(a, io_uring_setup, 1, GBX_P(&params)));
}

gbx_attack_verdict gbx_attack_aio(gbx_attack *a)
{
    aio_context_t context = 0;

    return gbx_attack_verdict_of(GBX_TRY(a, io_setup, 1, GBX_P(&context)));
}

gbx_attack_verdict gbx_attack_fault_descriptor(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, userfaultfd, 1 /* UFFD_USER_MODE_ONLY */));
}

gbx_attack_verdict gbx_attack_bpf_map(gbx_attack *a)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.map_type = BPF_MAP_TYPE_HASH;
    attr.key_size = 4;
    attr.value_size = 4;
    attr.max_entries = 1;
    return gbx_attack_verdict_of(
        GBX_TRY(a, bpf, BPF_MAP_CREATE, GBX_P(&attr), sizeof attr));
}

gbx_attack_verdict gbx_attack_bpf_program(gbx_attack *a)
{
    static const struct bpf_insn code[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
    attr.insns = (uint64_t)(uintptr_t)code;
    attr.insn_cnt = 2;
    attr.license = (uint64_t)(uintptr_t) "MIT";
    return gbx_attack_verdict_of(
        GBX_TRY(a, bpf, BPF_PROG_LOAD, GBX_P(&attr), sizeof attr));
}

gbx_attack_verdict gbx_attack_perf_event(gbx_attack *a)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .exclude_kernel = 1};

    return gbx_attack_verdict_of(
        GBX_TRY(a, perf_event_open, GBX_P(&attr), 0, -1, -1, 0));
}

gbx_attack_verdict gbx_attack_add_key(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, add_key, GBX_P("user"), GBX_P("glovebox"),
                                         GBX_P("x"), 1, KEY_SPEC_PROCESS_KEYRING));
}

gbx_attack_verdict gbx_attack_request_key(gbx_attack *a)
{
    long key = GBX_TRY(a, keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1);

    if (key >= 0)
        return GBX_BREACH;
    return gbx_attack_verdict_of(
        GBX_TRY(a, request_key, GBX_P("user"), GBX_P("glovebox"), 0, 0));
}

gbx_attack_verdict gbx_attack_fanotify(gbx_attack *a)
{
    return gbx_attack_verdict_of(
        GBX_TRY(a, fanotify_init, FAN_CLASS_NOTIF | FAN_REPORT_FID, 0));
}

gbx_attack_verdict gbx_attack_landlock_ruleset(gbx_attack *a)
{
    uint64_t handled = 1;

    return gbx_attack_verdict_of(
        GBX_TRY(a, landlock_create_ruleset, GBX_P(&handled), sizeof handled, 0));
}

/* A listener decides the results of others' calls. */
gbx_attack_verdict gbx_attack_notify_filter(gbx_attack *a)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = 1, .filter = &allow};

    return gbx_attack_verdict_of(GBX_TRY(a, seccomp, SECCOMP_SET_MODE_FILTER,
                                         SECCOMP_FILTER_FLAG_NEW_LISTENER,
                                         GBX_P(&program)));
}

gbx_attack_verdict gbx_attack_set_segment(gbx_attack *a)
{
#ifdef SYS_arch_prctl
    return gbx_attack_verdict_of(
        GBX_TRY(a, arch_prctl, 0x1001 /* ARCH_SET_GS */, GBX_P(a)));
#else
    (void)a;
    return GBX_ABSENT;
#endif
}

gbx_attack_verdict gbx_attack_local_table(gbx_attack *a)
{
#ifdef SYS_modify_ldt
    char table[64];

    /* The result is an int: as a long it is a large positive number. */
    long result = (int)GBX_TRY(a, modify_ldt, 0, GBX_P(table), sizeof table);

    if (result < -1)
        errno = (int)-result;
    return gbx_attack_verdict_of(result);
#else
    (void)a;
    return GBX_ABSENT;
#endif
}

/* ---- limits and schedules ------------------------------------------------------------ */

/* Dumpable and allowed a core: a crash would write the memory to a file. */
gbx_attack_verdict gbx_attack_become_dumpable(gbx_attack *a)
{
    struct rlimit limit = {0};

    if (GBX_TRY(a, prctl, PR_SET_DUMPABLE, 1) < 0 ||
        GBX_TRY(a, prlimit64, 0, RLIMIT_CORE, 0, GBX_P(&limit)) < 0)
        return gbx_attack_verdict_of(-1);
    return limit.rlim_max > 0 ? GBX_BREACH : GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_raise_limit(gbx_attack *a)
{
    struct rlimit limit;

    if (GBX_TRY(a, prlimit64, 0, RLIMIT_NOFILE, 0, GBX_P(&limit)) < 0)
        return gbx_attack_verdict_of(-1);
    limit.rlim_max += 1;
    return gbx_attack_verdict_of(
        GBX_TRY(a, prlimit64, 0, RLIMIT_NOFILE, GBX_P(&limit), 0));
}

gbx_attack_verdict gbx_attack_raise_priority(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, setpriority, PRIO_PROCESS, 0, -20));
}

gbx_attack_verdict gbx_attack_real_time(gbx_attack *a)
{
    struct sched_param param = {.sched_priority = 1};

    return gbx_attack_verdict_of(
        GBX_TRY(a, sched_setscheduler, 0, SCHED_FIFO, GBX_P(&param)));
}

gbx_attack_verdict gbx_attack_pin_processor(gbx_attack *a)
{
    unsigned long mask[16] = {1};

    return gbx_attack_verdict_of(
        GBX_TRY(a, sched_setaffinity, 0, sizeof mask, GBX_P(mask)));
}

gbx_attack_verdict gbx_attack_interval_timer(gbx_attack *a)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGWINCH};
    int id = 0;

    return gbx_attack_verdict_of(
        GBX_TRY(a, timer_create, CLOCK_MONOTONIC, GBX_P(&event), GBX_P(&id)));
}

gbx_attack_verdict gbx_attack_sleep_nano(gbx_attack *a)
{
    struct timespec nap = {.tv_nsec = NAP_NS};

    return gbx_attack_verdict_of(
        GBX_TRY(a, clock_nanosleep, CLOCK_MONOTONIC, 0, GBX_P(&nap), 0));
}

gbx_attack_verdict gbx_attack_sleep_poll(gbx_attack *a)
{
    struct timespec nap = {.tv_nsec = NAP_NS};

    return gbx_attack_verdict_of(GBX_TRY(a, ppoll, 0, 0, GBX_P(&nap), 0, 0));
}

/* The seal answers with success at once; a wait that is executed times out. */
gbx_attack_verdict gbx_attack_futex_wait(gbx_attack *a)
{
    struct timespec nap = {.tv_nsec = NAP_NS};
    uint32_t word = 0;
    long result = GBX_TRY(a, futex, GBX_P(&word), FUTEX_WAIT_PRIVATE, 0, GBX_P(&nap));

    return result == -1 && errno == ETIMEDOUT ? GBX_BREACH : GBX_REFUSED;
}

/* If the lock was acquired, it contains our thread's number. */
gbx_attack_verdict gbx_attack_futex_priority(gbx_attack *a)
{
    uint32_t word = 0;

    (void)GBX_TRY(a, futex, GBX_P(&word), FUTEX_LOCK_PI_PRIVATE, 0, 0);
    return word != 0 ? GBX_BREACH : GBX_REFUSED;
}

/* ---- the kernel's information
 * ----------------------------------------------------------- */

gbx_attack_verdict gbx_attack_host_name(gbx_attack *a)
{
    struct utsname names;

    if (GBX_TRY(a, uname, GBX_P(&names)) < 0)
        return gbx_attack_verdict_of(-1);
    (void)snprintf(a->note, sizeof a->note, "uname: '%.32s'", names.nodename);
    return strcmp(names.nodename, "glovebox") == 0 ? GBX_REFUSED : GBX_BREACH;
}

gbx_attack_verdict gbx_attack_machine_load(gbx_attack *a)
{
    struct sysinfo info;

    return gbx_attack_verdict_of(GBX_TRY(a, sysinfo, GBX_P(&info)));
}

/*
 * From here on: attacks that need root, and unusual entries to the kernel.
 *
 * All of it is also tried as real root without any layer. So nothing here has an
 * effect: with these arguments the permission is checked and then the call fails.
 */

#define NOWHERE "/nonexistent/glovebox"

#ifndef OPEN_TREE_CLONE
#    define OPEN_TREE_CLONE 1
#endif

/* ---- mounts ------------------------------------------------------------------------- */

gbx_attack_verdict gbx_attack_mount_old(gbx_attack *a)
{
    return gbx_attack_verdict_of_permission(
        GBX_TRY(a, mount, GBX_P("none"), GBX_P("/"), GBX_P("no such type"), 0, 0));
}

/* Not a mount point: EINVAL after the check; if it does not exist, nothing can be
 * unmounted. */
gbx_attack_verdict gbx_attack_unmount(gbx_attack *a)
{
    long result = GBX_TRY(a, umount2, GBX_P("/etc"), 0);

    return errno == ENOENT ? GBX_REFUSED : gbx_attack_verdict_of_permission(result);
}

gbx_attack_verdict gbx_attack_pivot(gbx_attack *a)
{
    return gbx_attack_verdict_of_permission(
        GBX_TRY(a, pivot_root, GBX_P("/"), GBX_P("/")));
}

gbx_attack_verdict gbx_attack_change_root(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, chroot, GBX_P("/")));
}

gbx_attack_verdict gbx_attack_open_tree(gbx_attack *a)
{
    return gbx_attack_verdict_of(
        GBX_TRY(a, open_tree, AT_FDCWD, GBX_P("/"), OPEN_TREE_CLONE));
}

gbx_attack_verdict gbx_attack_open_filesystem(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, fsopen, GBX_P("tmpfs"), 0));
}

gbx_attack_verdict gbx_attack_move_mount(gbx_attack *a)
{
    struct mount_attr attr = {.propagation = 1}; /* not a valid value: EINVAL */
    long result = GBX_TRY(a, move_mount, -1, GBX_P(NOWHERE), -1, GBX_P(NOWHERE), 0);

    if (result < 0 && errno != EPERM)
        result = GBX_TRY(a, mount_setattr, AT_FDCWD, GBX_P("/"), 0, GBX_P(&attr),
                         sizeof attr);
    return gbx_attack_verdict_of_permission(result);
}

/* ---- identity ------------------------------------------------------------------------ */

gbx_attack_verdict gbx_attack_set_user(gbx_attack *a)
{
    if (GBX_TRY(a, setresgid, 1, 1, 1) == 0 || GBX_TRY(a, setresuid, 1, 1, 1) == 0)
        return GBX_BREACH;
    return gbx_attack_verdict_of(-1);
}

gbx_attack_verdict gbx_attack_set_groups(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, setgroups, 0, 0));
}

gbx_attack_verdict gbx_attack_raise_capability(gbx_attack *a)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    memset(data, 0, sizeof data);
    data[0].permitted = data[0].effective = 1u << CAP_SYS_CHROOT;
    return gbx_attack_verdict_of(GBX_TRY(a, capset, GBX_P(&header), GBX_P(data)));
}

gbx_attack_verdict gbx_attack_set_host_name(gbx_attack *a)
{
    struct utsname names;

    if (GBX_TRY(a, uname, GBX_P(&names)) < 0)
        return gbx_attack_verdict_of(-1);
    return gbx_attack_verdict_of(
        GBX_TRY(a, sethostname, GBX_P(names.nodename), (long)strlen(names.nodename)));
}

/* ---- the machine ------------------------------------------------------------------------ */

/* Without a time and a zone, only the permission is checked. */
gbx_attack_verdict gbx_attack_set_clock(gbx_attack *a)
{
    return gbx_attack_verdict_of(GBX_TRY(a, settimeofday, 0, 0));
}

gbx_attack_verdict gbx_attack_reboot_machine(gbx_attack *a)
{
    return gbx_attack_verdict_of_permission(GBX_TRY(a, reboot, 0, 0, 0, 0));
}

gbx_attack_verdict gbx_attack_load_kernel(gbx_attack *a)
{
    return gbx_attack_verdict_of_permission(
        GBX_TRY(a, kexec_load, 0, 1000000, 0, 0x1000));
}

gbx_attack_verdict gbx_attack_load_module(gbx_attack *a)
{
    long result = GBX_TRY(a, init_module, 0, 0, GBX_P(""));

    if (result < 0 && (errno == EPERM || errno == ENOSYS))
        result = GBX_TRY(a, delete_module, GBX_P("glovebox_no_such"), O_NONBLOCK);
    return gbx_attack_verdict_of_permission(result);
}

gbx_attack_verdict gbx_attack_swap_on(gbx_attack *a)
{
    return gbx_attack_verdict_of_permission(GBX_TRY(a, swapon, GBX_P(NOWHERE), 0));
}

gbx_attack_verdict gbx_attack_account(gbx_attack *a)
{
    return gbx_attack_verdict_of_permission(GBX_TRY(a, acct, GBX_P(NOWHERE)));
}

gbx_attack_verdict gbx_attack_kernel_log(gbx_attack *a)
{
    char byte;

    return gbx_attack_verdict_of(GBX_TRY(a, syslog, 3 /* read all */, GBX_P(&byte), 1));
}

/* For this process alone, which uses no ports. */
gbx_attack_verdict gbx_attack_port_access(gbx_attack *a)
{
#ifdef SYS_iopl
    if (GBX_TRY(a, iopl, 3) == 0)
        return GBX_BREACH;
    return gbx_attack_verdict_of(GBX_TRY(a, ioperm, 0x80, 1, 1));
#else
    (void)a;
    return GBX_ABSENT;
#endif
}

/* ---- unusual entries
 * --------------------------------------------------------------------- */

#if defined(__x86_64__)

#    define X32_BIT 0x40000000L

/* Uses the call numbers of i386. */
static long int80(long number, long a1, long a2)
{
    long result;

    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(a1), "c"(a2), "d"(0L)
                     : "memory", "r8", "r9", "r10", "r11");
    return (int)result;
}

gbx_attack_verdict gbx_attack_call_x32(gbx_attack *a)
{
    static const struct {
        long number;
        const char *name;
    } calls[] = {{SYS_getpid, "x32 getpid"}, {SYS_mmap, "x32 mmap"},
                 {SYS_openat, "x32 openat"}, {512, "x32 rt_sigaction"},
                 {520, "x32 execve"},        {545, "x32 execveat"}};
    const long none[6] = {-1, -1, -1, -1, -1, -1};

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        long result = gbx_try(a, calls[i].name, calls[i].number | X32_BIT, none);

        if (result >= 0 || errno != ENOSYS)
            return GBX_BREACH;
    }
    return GBX_ABSENT;
}

gbx_attack_verdict gbx_attack_call_int80(gbx_attack *a)
{
    long result = int80(20 /* getpid */, 0, 0);

    (void)snprintf(a->note, sizeof a->note, "int 0x80 getpid returned %ld", result);
    return result > 0 ? GBX_BREACH : result == -ENOSYS ? GBX_ABSENT : GBX_REFUSED;
}

/* A path below 4 GiB, since its pointers are short. */
gbx_attack_verdict gbx_attack_call_int80_open(gbx_attack *a)
{
    static const char path[] = "/etc/passwd";
    char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    long result;

    if (low != MAP_FAILED)
        memcpy(low, path, sizeof path);
    result = int80(5 /* open */, (long)(intptr_t)low, O_RDONLY);
    (void)snprintf(a->note, sizeof a->note, "int 0x80 open: %s",
                   result < 0 ? strerrorname_np((int)-result) : "a descriptor");
    return result >= 0 ? GBX_BREACH : result == -ENOSYS ? GBX_ABSENT : GBX_REFUSED;
}

/* Fixed addresses from before the vDSO; if they are disabled, this faults. */
gbx_attack_verdict gbx_attack_call_vsyscall(gbx_attack *a)
{
    uintptr_t address = UINT64_C(0xffffffffff600400);
    long (*vsyscall_time)(long *);
    long seconds;

    memcpy(&vsyscall_time, &address, sizeof vsyscall_time);
    seconds = vsyscall_time(NULL);
    (void)snprintf(a->note, sizeof a->note, "vsyscall time returned %ld", seconds);
    return seconds > 0 ? GBX_BREACH : GBX_REFUSED;
}

gbx_attack_verdict gbx_attack_call_nonsense(gbx_attack *a)
{
    static const long numbers[] = {0x80000000L, 0x7fffffffL, -2L, -1L};
    const long none[6] = {0};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (gbx_try(a, "no such number", numbers[i], none) >= 0)
            return GBX_BREACH;
    return GBX_REFUSED;
}

#else /* this machine has one entry, which the other attacks use */

gbx_attack_verdict gbx_attack_call_x32(gbx_attack *a)
{
    (void)a;
    return GBX_ABSENT;
}

gbx_attack_verdict gbx_attack_call_int80(gbx_attack *a)
{
    (void)a;
    return GBX_ABSENT;
}

gbx_attack_verdict gbx_attack_call_int80_open(gbx_attack *a)
{
    (void)a;
    return GBX_ABSENT;
}

gbx_attack_verdict gbx_attack_call_vsyscall(gbx_attack *a)
{
    (void)a;
    return GBX_ABSENT;
}

gbx_attack_verdict gbx_attack_call_nonsense(gbx_attack *a)
{
    const long none[6] = {0};

    return gbx_try(a, "no such number", -1L, none) >= 0 ? GBX_BREACH : GBX_REFUSED;
}

#endif

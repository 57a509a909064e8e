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

long gbx_try(gbx_attack *a, const char *name, long number, const long args[6])
{
    long result = syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
    int e = errno;

    if (result == -1)
        (void)snprintf(a->note, sizeof a->note, "%s: %s", name, strerrorname_np(e));
    else
        (void)snprintf(a->note, sizeof a->note, "%s returned %ld", name, result);
    errno = e;
    return result;
}

gbx_attack_verdict gbx_attack_done(long result)
{
    if (result >= 0)
        return GBX_BREACH;
    return errno == ENOSYS || errno == EOPNOTSUPP || errno == EAFNOSUPPORT
               ? GBX_ABSENT
               : GBX_REFUSED;
}

/* For a call with deliberately wrong arguments: any error except a missing
 * permission shows that it would have been executed. */
static gbx_attack_verdict permitted(long result)
{
    if (result < 0 && errno != EPERM && errno != EACCES && errno != ENOSYS)
        return GBX_BREACH;
    return gbx_attack_done(result);
}

#define MAY(...) permitted(TRY(__VA_ARGS__))

#define NAP_NS 5000000L

#ifndef SYS_landlock_create_ruleset
#    define SYS_landlock_create_ruleset 444
#endif

/* ---- interfaces ------------------------------------------------------------------- */

static gbx_attack_verdict bpf_map(gbx_attack *a)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.map_type = BPF_MAP_TYPE_HASH;
    attr.key_size = 4;
    attr.value_size = 4;
    attr.max_entries = 1;
    return gbx_attack_done(TRY(bpf, BPF_MAP_CREATE, P(&attr), sizeof attr));
}

static gbx_attack_verdict bpf_program(gbx_attack *a)
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
    return gbx_attack_done(TRY(bpf, BPF_PROG_LOAD, P(&attr), sizeof attr));
}

static gbx_attack_verdict request_key(gbx_attack *a)
{
    long key = TRY(keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1);

    if (key >= 0)
        return GBX_BREACH;
    return gbx_attack_done(TRY(request_key, P("user"), P("glovebox"), 0, 0));
}

/* A listener decides the results of others' calls. */
static gbx_attack_verdict notify_filter(gbx_attack *a)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = 1, .filter = &allow};

    return gbx_attack_done(TRY(seccomp, SECCOMP_SET_MODE_FILTER,
                               SECCOMP_FILTER_FLAG_NEW_LISTENER, P(&program)));
}

static gbx_attack_verdict set_segment(gbx_attack *a)
{
#ifdef SYS_arch_prctl
    return gbx_attack_done(TRY(arch_prctl, 0x1001 /* ARCH_SET_GS */, P(a)));
#else
    return GBX_ABSENT;
#endif
}

static gbx_attack_verdict local_table(gbx_attack *a)
{
#ifdef SYS_modify_ldt
    char table[64];

    /* The result is an int: as a long it is a large positive number. */
    long result = (int)TRY(modify_ldt, 0, P(table), sizeof table);

    if (result < -1)
        errno = (int)-result;
    return gbx_attack_done(result);
#else
    return GBX_ABSENT;
#endif
}

/* ---- limits and schedules ------------------------------------------------------------ */

/* Dumpable and allowed a core: a crash would write the memory to a file. */
static gbx_attack_verdict become_dumpable(gbx_attack *a)
{
    struct rlimit limit = {0};

    if (TRY(prctl, PR_SET_DUMPABLE, 1) < 0 ||
        TRY(prlimit64, 0, RLIMIT_CORE, 0, P(&limit)) < 0)
        return gbx_attack_done(-1);
    return limit.rlim_max > 0 ? GBX_BREACH : GBX_REFUSED;
}

static gbx_attack_verdict raise_limit(gbx_attack *a)
{
    struct rlimit limit;

    if (TRY(prlimit64, 0, RLIMIT_NOFILE, 0, P(&limit)) < 0)
        return gbx_attack_done(-1);
    limit.rlim_max += 1;
    return gbx_attack_done(TRY(prlimit64, 0, RLIMIT_NOFILE, P(&limit), 0));
}

/* The seal answers with success at once; a wait that is executed times out. */
static gbx_attack_verdict futex_wait(gbx_attack *a)
{
    struct timespec nap = {.tv_nsec = NAP_NS};
    uint32_t word = 0;
    long result = TRY(futex, P(&word), FUTEX_WAIT_PRIVATE, 0, P(&nap));

    return result == -1 && errno == ETIMEDOUT ? GBX_BREACH : GBX_REFUSED;
}

/* If the lock was acquired, it contains our thread's number. */
static gbx_attack_verdict futex_priority(gbx_attack *a)
{
    uint32_t word = 0;

    (void)TRY(futex, P(&word), FUTEX_LOCK_PI_PRIVATE, 0, 0);
    return word != 0 ? GBX_BREACH : GBX_REFUSED;
}

/* ---- the kernel's information --------------------------------------------------- */

static gbx_attack_verdict host_name(gbx_attack *a)
{
    struct utsname names;

    if (TRY(uname, P(&names)) < 0)
        return gbx_attack_done(-1);
    (void)snprintf(a->note, sizeof a->note, "uname: '%.32s'", names.nodename);
    return strcmp(names.nodename, "glovebox") == 0 ? GBX_REFUSED : GBX_BREACH;
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

/* Not a mount point: EINVAL after the check; if it does not exist, nothing can be
 * unmounted. */
static gbx_attack_verdict unmount(gbx_attack *a)
{
    long result = TRY(umount2, P("/etc"), 0);

    return errno == ENOENT ? GBX_REFUSED : permitted(result);
}

static gbx_attack_verdict move_mount(gbx_attack *a)
{
    struct mount_attr attr = {.propagation = 1}; /* not a valid value: EINVAL */
    long result = TRY(move_mount, -1, P(NOWHERE), -1, P(NOWHERE), 0);

    if (result < 0 && errno != EPERM)
        result = TRY(mount_setattr, AT_FDCWD, P("/"), 0, P(&attr), sizeof attr);
    return permitted(result);
}

/* ---- identity ------------------------------------------------------------------------ */

static gbx_attack_verdict set_user(gbx_attack *a)
{
    if (TRY(setresgid, 1, 1, 1) == 0 || TRY(setresuid, 1, 1, 1) == 0)
        return GBX_BREACH;
    return gbx_attack_done(-1);
}

static gbx_attack_verdict raise_capability(gbx_attack *a)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    memset(data, 0, sizeof data);
    data[0].permitted = data[0].effective = 1u << CAP_SYS_CHROOT;
    return gbx_attack_done(TRY(capset, P(&header), P(data)));
}

static gbx_attack_verdict set_host_name(gbx_attack *a)
{
    struct utsname names;

    if (TRY(uname, P(&names)) < 0)
        return gbx_attack_done(-1);
    return gbx_attack_done(
        TRY(sethostname, P(names.nodename), (long)strlen(names.nodename)));
}

/* ---- the machine ------------------------------------------------------------------------ */

static gbx_attack_verdict load_module(gbx_attack *a)
{
    long result = TRY(init_module, 0, 0, P(""));

    if (result < 0 && (errno == EPERM || errno == ENOSYS))
        result = TRY(delete_module, P("glovebox_no_such"), O_NONBLOCK);
    return permitted(result);
}

/* For this process alone, which uses no ports. */
static gbx_attack_verdict port_access(gbx_attack *a)
{
#ifdef SYS_iopl
    if (TRY(iopl, 3) == 0)
        return GBX_BREACH;
    return gbx_attack_done(TRY(ioperm, 0x80, 1, 1));
#else
    return GBX_ABSENT;
#endif
}

/* ---- unusual entries ------------------------------------------------------------ */

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

static gbx_attack_verdict call_x32(gbx_attack *a)
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

static gbx_attack_verdict call_int80(gbx_attack *a)
{
    long result = int80(20 /* getpid */, 0, 0);

    (void)snprintf(a->note, sizeof a->note, "int 0x80 getpid returned %ld", result);
    return result > 0 ? GBX_BREACH : result == -ENOSYS ? GBX_ABSENT : GBX_REFUSED;
}

/* A path below 4 GiB, since its pointers are short. */
static gbx_attack_verdict call_int80_open(gbx_attack *a)
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
static gbx_attack_verdict call_vsyscall(gbx_attack *a)
{
    uintptr_t address = UINT64_C(0xffffffffff600400);
    long (*vsyscall_time)(long *);
    long seconds;

    memcpy(&vsyscall_time, &address, sizeof vsyscall_time);
    seconds = vsyscall_time(NULL);
    (void)snprintf(a->note, sizeof a->note, "vsyscall time returned %ld", seconds);
    return seconds > 0 ? GBX_BREACH : GBX_REFUSED;
}

static gbx_attack_verdict call_nonsense(gbx_attack *a)
{
    static const long numbers[] = {0x80000000L, 0x7fffffffL, -2L, -1L};
    const long none[6] = {0};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (gbx_try(a, "no such number", numbers[i], none) >= 0)
            return GBX_BREACH;
    return GBX_REFUSED;
}

#else /* this machine has one entry, which the other attacks use */

#    define call_x32(a)        GBX_ABSENT
#    define call_int80(a)      GBX_ABSENT
#    define call_int80_open(a) GBX_ABSENT
#    define call_vsyscall(a)   GBX_ABSENT

static gbx_attack_verdict call_nonsense(gbx_attack *a)
{
    const long none[6] = {0};

    return gbx_try(a, "no such number", -1L, none) >= 0 ? GBX_BREACH : GBX_REFUSED;
}

#endif

GBX_ATTACK_LINES(gbx_attack_kernel, GBX_ATTACKS_ON_KERNEL)

/* SPDX-License-Identifier: MIT */
/*
 * attack_privilege - attacks that need root, and unusual entries to the kernel.
 *
 * All of it is also tried as real root without any layer. So nothing here has an
 * effect: with these arguments the permission is checked and then the call fails.
 */
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

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

/* SPDX-License-Identifier: MIT */
/* attack_kernel - attacks on fragile parts of the kernel, and on its information. */
#include "worker/worker.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
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

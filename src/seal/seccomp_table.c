/* SPDX-License-Identifier: MIT */
/*
 * seccomp_table - the system calls that a worker and a template may make, and why.
 *
 * A line that has lost its reason is a hole: delete it and run the tests. Every call
 * that is not listed kills. Arguments are compared on all 64 bits, except ints that
 * reach the kernel both sign-extended and not (mmap's fd of -1).
 */
#include "seal/internal.h"

#include "base/cleanup.h"
#include "seal/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

/* clang-format off */
#define CALL(name)    SCMP_SYS(name), #name
#define EXECUTE       GBX_RULE_EXECUTE, 0
#define ANSWER(error) GBX_RULE_ANSWER, error

/* Tests of one argument, by its index. */
#define IS(i, v)             {i, UINT64_MAX, v, false}
#define IS_NOT(i, v)         {i, UINT64_MAX, v, true}
#define INT_IS(i, v)         {i, UINT64_C(0xffffffff), (uint32_t)(v), false}
#define ONLY_BITS(i, bits)   {i, ~(uint64_t)(bits), 0, false}
#define WITHOUT_BITS(i, b)   {i, b, 0, false}
#define BITS_ARE(i, free, b) {i, ~(uint64_t)(free), b, false}

#define RW        (PROT_READ | PROT_WRITE)
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define FORK_FLAGS                                                                       \
    (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID | CLONE_PIDFD |     \
     CSIGNAL)

/*
 * Found by running the engine's work (sorting, JSON, dates, Intl, BigInt, resizable
 * buffers, collections, a fuzzer of its API) under a filter and removing lines one by
 * one.
 */
static const gbx_rule worker[] = {
    {CALL(read), EXECUTE, "frames from the host", {IS(0, GBX_CHANNEL_FD)}},
    {CALL(write), EXECUTE, "frames to the host", {IS(0, GBX_CHANNEL_FD)}},
    {CALL(mmap), EXECUTE, "the heap: private, anonymous, never executable",
     {IS(2, RW), BITS_ARE(3, MAP_FIXED | MAP_NORESERVE, ANONYMOUS), INT_IS(4, -1)}},
    {CALL(mprotect), EXECUTE, "resizable buffers grow", {IS(2, RW)}},
    {CALL(munmap), EXECUTE, "the heap gives memory back", {{0}}},
    {CALL(exit_group), EXECUTE, "an orderly end", {{0}}},

    /* Not executed: RLIMIT_DATA counts writable memory, so filled memory that is
     * made inaccessible would no longer count. The engine zeroes what a buffer grows
     * by. */
    {CALL(mprotect), ANSWER(0), "resizable buffers shrink", {IS(2, PROT_NONE)}},
    {CALL(futex), ANSWER(0), "wakes that no other thread waits for", {{0}}},
    {CALL(sched_yield), ANSWER(0), "a spinning lock; nobody else can hold it", {{0}}},
    /* Not ENOMEM: the raw call reports failure by returning the old break, and the C
     * library would mistake -12 for a huge valid address. */
    {CALL(brk), ANSWER(0), "malloc tries it first, then falls back to mmap", {{0}}},
    {CALL(mremap), ANSWER(ENOMEM), "realloc tries it first, then copies", {{0}}},
    {CALL(madvise), ANSWER(EINVAL), "advice about memory that nobody needs", {{0}}},
    {CALL(write), ANSWER(EBADF), "last words to stderr; waking a main loop that never runs",
     {IS_NOT(0, GBX_CHANNEL_FD)}},
    {CALL(read), ANSWER(EBADF), "the engine's random devices, which are closed",
     {IS_NOT(0, GBX_CHANNEL_FD)}},
    {CALL(pread64), ANSWER(EPERM), "the engine asks for its size in /proc", {{0}}},
    /* Calls that abort() and a failed assertion make before they die. Without these
     * lines an engine that ran out of memory would look like a breach. */
    {CALL(writev), ANSWER(EBADF), "last words of a dying C library", {{0}}},
    {CALL(rt_sigprocmask), ANSWER(EPERM), "abort()", {{0}}},
    {CALL(rt_sigaction), ANSWER(EPERM), "abort()", {{0}}},
    {CALL(getpid), ANSWER(EPERM), "abort()", {{0}}},
    {CALL(gettid), ANSWER(EPERM), "abort()", {{0}}},
    {CALL(tgkill), ANSWER(EPERM), "abort()", {{0}}},
};

static const gbx_rule clocks[] = {
    {CALL(clock_gettime), EXECUTE, "Date, on a machine without a vDSO clock",
     {IS(0, CLOCK_REALTIME)}},
    {CALL(clock_gettime), EXECUTE, "timers, on a machine without a vDSO clock",
     {IS(0, CLOCK_MONOTONIC)}},
    {CALL(gettimeofday), EXECUTE, "Date, on a machine without a vDSO clock", {{0}}},
};

/*
 * The template parses datasets, which the host may not trust either. It opens no file
 * and no network socket, starts no program and gains no privilege: it forks.
 */
static const gbx_rule template[] = {
    {CALL(read), EXECUTE, "control channel, SIGCHLD", {{0}}},
    {CALL(write), EXECUTE, "control channel", {{0}}},
    {CALL(writev), EXECUTE, "last words", {{0}}},
    {CALL(recvmsg), EXECUTE, "datasets come as descriptors", {{0}}},
    {CALL(sendmsg), EXECUTE, "channels of workers go as descriptors", {{0}}},
    {CALL(poll), EXECUTE, "waiting", {{0}}},
    {CALL(ppoll), EXECUTE, "waiting", {{0}}},
    {CALL(restart_syscall), EXECUTE, "waiting on, after the host was stopped", {{0}}},
    {CALL(socketpair), EXECUTE, "the channel of a worker", {IS(0, AF_UNIX)}},
    {CALL(close), EXECUTE, "descriptors", {{0}}},
    {CALL(close_range), EXECUTE, "descriptors, in a worker", {{0}}},
    {CALL(dup2), EXECUTE, "the channel, in a worker", {{0}}},
    {CALL(dup3), EXECUTE, "the channel, in a worker", {{0}}},
    {CALL(fcntl), EXECUTE, "looking for descriptors, in a probe", {IS(1, F_GETFD)}},
    {CALL(fstat), EXECUTE, "descriptors", {{0}}},
    {CALL(newfstatat), EXECUTE, "what the C library makes of fstat()", {{0}}},
    {CALL(lseek), EXECUTE, "descriptors", {{0}}},
    {CALL(pread64), EXECUTE, "the size of this process", {{0}}},
    {CALL(mmap), EXECUTE, "the heap, datasets", {WITHOUT_BITS(2, PROT_EXEC)}},
    {CALL(mprotect), EXECUTE, "the heap", {WITHOUT_BITS(2, PROT_EXEC)}},
    {CALL(munmap), EXECUTE, "the heap", {{0}}},
    {CALL(mremap), EXECUTE, "the heap", {{0}}},
    {CALL(madvise), EXECUTE, "the heap", {{0}}},
    {CALL(mincore), EXECUTE, "how much of the engine's reserve a dataset took", {{0}}},
    {CALL(brk), EXECUTE, "the heap", {{0}}},
    {CALL(futex), EXECUTE, "locks", {{0}}},
    {CALL(sched_yield), EXECUTE, "locks", {{0}}},
    {CALL(clone), EXECUTE, "fork: no thread, no namespace", {ONLY_BITS(0, FORK_FLAGS)}},
    {CALL(set_robust_list), EXECUTE, "fork, in the child", {{0}}},
    {CALL(pidfd_open), EXECUTE, "the host kills workers by it", {{0}}},
    {CALL(wait4), EXECUTE, "ends of workers", {{0}}},
    {CALL(kill), EXECUTE, "a worker that could not be handed over", {{0}}},
    {CALL(getpid), EXECUTE, "identity", {{0}}},
    {CALL(gettid), EXECUTE, "identity", {{0}}},
    {CALL(getppid), EXECUTE, "identity", {{0}}},
    {CALL(tgkill), EXECUTE, "abort()", {{0}}},
    {CALL(rt_sigprocmask), EXECUTE, "fork, abort()", {{0}}},
    {CALL(rt_sigaction), EXECUTE, "abort()", {{0}}},
    {CALL(rt_sigreturn), EXECUTE, "signals", {{0}}},
    {CALL(prctl), EXECUTE, "a worker's death signal", {IS(0, PR_SET_PDEATHSIG)}},
    {CALL(prctl), EXECUTE, "the same, in a probe", {IS(0, PR_GET_PDEATHSIG)}},
    {CALL(prctl), EXECUTE, "its name, once an engine has it", {IS(0, PR_SET_NAME)}},
    {CALL(prlimit64), EXECUTE, "a worker's limits: its own", {INT_IS(0, 0)}},
    {CALL(seccomp), EXECUTE, "a worker's filter", {IS(0, SECCOMP_SET_MODE_FILTER)}},
    {CALL(getrandom), EXECUTE, "hash seeds", {{0}}},
    {CALL(clock_gettime), EXECUTE, "clocks without a vDSO", {{0}}},
    {CALL(gettimeofday), EXECUTE, "clocks without a vDSO", {{0}}},
    {CALL(exit), EXECUTE, "an orderly end", {{0}}},
    {CALL(exit_group), EXECUTE, "an orderly end", {{0}}},
    /* Its flags are in memory, which a filter cannot see. */
    {CALL(clone3), ANSWER(ENOSYS), "the C library falls back to clone", {{0}}},
    {CALL(openat), ANSWER(ENOENT), "the root is empty: the same answer, sooner", {{0}}},
};
/* clang-format on */

const gbx_rules gbx_rules_worker = {worker, GBX_COUNTOF(worker)};
const gbx_rules gbx_rules_clock = {clocks, GBX_COUNTOF(clocks)};
const gbx_rules gbx_rules_template = {template, GBX_COUNTOF(template)};

bool gbx_rules_need_clock(void)
{
    static const char *const served[] = {"tsc\n", "kvm-clock\n", "arch_sys_counter\n",
                                         "hyperv_clocksource_tsc_page\n"};
    char name[64];

    (void)gbx_fd_start(
        AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        name, sizeof name);
    for (size_t i = 0; i < GBX_COUNTOF(served); i++)
        if (strcmp(name, served[i]) == 0)
            return false;
    return true;
}

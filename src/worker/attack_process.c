/* SPDX-License-Identifier: MIT */
/* attack_process - attacks on processes (new ones, the template, the host's) and on
 * memory. */
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef PTRACE_SEIZE
#    define PTRACE_SEIZE ((enum __ptrace_request)0x4206)
#endif

#define KCMP_FILE_TABLE 2

/* Higher than any pid of a machine with default settings and some uptime. */
#define PIDS_TRIED 65536

/* The next pid above after of an existing process that is neither ours nor the
 * template's, whether it may be touched or not; 0 if there is none. */
static long next_outside(long after)
{
    long self = syscall(SYS_getpid);
    long parent = syscall(SYS_getppid);

    /* Pid 1 of a namespace is its template: all other processes are its workers. */
    if (parent == 1)
        return 0;
    for (long pid = after + 1; pid < PIDS_TRIED; pid++)
        if (pid != self && pid != parent &&
            (syscall(SYS_kill, pid, 0) == 0 || errno == EPERM))
            return pid;
    return 0;
}

/* A page of code that returns 42, writable; NULL if memory is out. */
static unsigned char *make_code(void)
{
#if defined(__x86_64__)
    static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};
#elif defined(__aarch64__)
    static const unsigned char code[] = {0x40, 0x05, 0x80, 0x52,
                                         0xc0, 0x03, 0x5f, 0xd6};
#else
    static const unsigned char code[1];
#endif
    unsigned char *page = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return NULL;
    memcpy(page, code, sizeof code);
    return page;
}

static bool code_runs(const void *code)
{
    int (*function)(void);

    memcpy(&function, &code, sizeof function);
    __builtin___clear_cache((char *)(intptr_t)code, (char *)(intptr_t)code + 16);
    return function() == 42;
}

static long template_pid(void)
{
    return syscall(SYS_getppid);
}

/* Both sides of a fork: the child exits silently and leaves nothing. */
static gbx_attack_verdict parent_only(long pid)
{
    if (pid == 0)
        (void)syscall(SYS_exit_group, GBX_ATTACK_EXIT_REFUSED);
    if (pid > 0)
        (void)syscall(SYS_wait4, pid, NULL, 0, NULL);
    return gbx_attack_done(pid);
}

/* Tries every process of the host until one succeeds. */
static gbx_attack_verdict any_outside(gbx_attack *a,
                                      gbx_attack_verdict (*get)(gbx_attack *, long))
{
    gbx_attack_verdict verdict = GBX_REFUSED;

    (void)snprintf(a->note, sizeof a->note, "no process but ours to be found");
    for (long pid = next_outside(0); pid != 0 && verdict == GBX_REFUSED;
         pid = next_outside(pid)) {
        verdict = get(a, pid);
        if (verdict == GBX_BREACH)
            (void)snprintf(a->note, sizeof a->note, "process %ld", pid);
    }
    return verdict;
}

/* ---- new processes ------------------------------------------------------------ */

static gbx_attack_verdict vfork_process(gbx_attack *a)
{
    pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */

    if (pid == 0)
        _exit(GBX_ATTACK_EXIT_REFUSED);
    (void)snprintf(a->note, sizeof a->note, "vfork: %s",
                   pid < 0 ? strerrorname_np(errno) : "forked");
    return parent_only(pid);
}

static int thread_main(void *unused)
{
    (void)syscall(SYS_exit, 0);
    return 0;
}

static gbx_attack_verdict clone_thread(gbx_attack *a)
{
    static _Alignas(16) char stack[16384];
    int tid =
        clone(thread_main, stack + sizeof stack,
              CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, NULL);

    (void)snprintf(a->note, sizeof a->note, "clone: %s",
                   tid < 0 ? strerrorname_np(errno) : "a thread runs");
    return gbx_attack_done(tid);
}

static gbx_attack_verdict set_namespace(gbx_attack *a)
{
    long fd = TRY(pidfd_open, template_pid(), 0);

    return gbx_attack_done(fd < 0 ? fd : TRY(setns, fd, CLONE_NEWUTS));
}

/* ---- the template ------------------------------------------------------------- */

/* The first process of a pid namespace gets no signal from inside for which it has
 * no handler: the call succeeds without effect. */
static gbx_attack_verdict unless_init(gbx_attack *a, long result)
{
    if (result < 0 || template_pid() != 1)
        return gbx_attack_done(result);
    (void)snprintf(a->note, sizeof a->note, "the template is init: immune");
    return GBX_REFUSED;
}

static gbx_attack_verdict pidfd_signal(gbx_attack *a)
{
    long fd = TRY(pidfd_open, template_pid(), 0);

    return fd < 0 ? gbx_attack_done(fd)
                  : unless_init(a, TRY(pidfd_send_signal, fd, 0, 0, 0));
}

/* The template's control channel, for instance. */
static gbx_attack_verdict steal_descriptor(gbx_attack *a)
{
    long fd = TRY(pidfd_open, template_pid(), 0);

    return gbx_attack_done(fd < 0 ? fd : TRY(pidfd_getfd, fd, 0, 0));
}

/* We are a fork of the template: what is here is at the same address there. */
static char canary = 1;

static gbx_attack_verdict copy_memory(gbx_attack *a, long pid, bool is_write)
{
    char byte = 1;
    struct iovec ours = {.iov_base = &byte, .iov_len = 1};
    struct iovec theirs = {.iov_base = &canary, .iov_len = 1};
    long result;

    if (is_write)
        result = TRY(process_vm_writev, pid, P(&ours), 1, P(&theirs), 1);
    else
        result = TRY(process_vm_readv, pid, P(&ours), 1, P(&theirs), 1);
    /* EFAULT means that the address was looked up in that process. */
    return result < 0 && errno == EFAULT ? GBX_BREACH : gbx_attack_done(result);
}

static gbx_attack_verdict advise_template(gbx_attack *a)
{
    static _Alignas(4096) char page[4096];
    struct iovec theirs = {.iov_base = page, .iov_len = sizeof page};
    long fd = TRY(pidfd_open, template_pid(), 0);

    return gbx_attack_done(
        fd < 0 ? fd : TRY(process_madvise, fd, P(&theirs), 1, MADV_COLD, 0));
}

/* Sets the limit to its current value: lowering it would do harm. */
static gbx_attack_verdict limit_template(gbx_attack *a)
{
    struct rlimit now;

    if (TRY(prlimit64, template_pid(), RLIMIT_NOFILE, 0, P(&now)) < 0)
        return gbx_attack_done(-1);
    return gbx_attack_done(TRY(prlimit64, template_pid(), RLIMIT_NOFILE, P(&now)));
}

/* ---- the host -------------------------------------------------------------------- */

static gbx_attack_verdict see_outside(gbx_attack *a)
{
    long pid = next_outside(0);

    (void)snprintf(a->note, sizeof a->note, "process %ld of the host is there", pid);
    return pid != 0 ? GBX_BREACH : GBX_REFUSED;
}

static gbx_attack_verdict trace(gbx_attack *a, long pid)
{
    return gbx_attack_done(TRY(ptrace, PTRACE_SEIZE, pid));
}

static gbx_attack_verdict read_memory(gbx_attack *a, long pid)
{
    return copy_memory(a, pid, false);
}

static gbx_attack_verdict send_signal(gbx_attack *a, long pid)
{
    return gbx_attack_done(TRY(kill, pid, 0));
}

static gbx_attack_verdict queue(gbx_attack *a, long pid)
{
    siginfo_t info = {.si_code = SI_QUEUE};

    return gbx_attack_done(TRY(rt_sigqueueinfo, pid, 0, P(&info)));
}

static gbx_attack_verdict signal_thread(gbx_attack *a, long pid)
{
    return gbx_attack_done(TRY(tgkill, pid, pid, 0));
}

/* The worker outlives its template, unless that is the init of its namespace. */
static gbx_attack_verdict outlive(gbx_attack *a)
{
    long result = TRY(prctl, PR_SET_PDEATHSIG, 0);

    if (result < 0 || template_pid() != 1)
        return gbx_attack_done(result);
    (void)snprintf(a->note, sizeof a->note, "dies with the init of its namespace");
    return GBX_REFUSED;
}

/* ---- memory: code, or more than allowed ---------------------------------------- */

#define PAGE      4096
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)
#define RWX       (PROT_READ | PROT_WRITE | PROT_EXEC)
#define RX        (PROT_READ | PROT_EXEC)

#ifndef SYS_memfd_secret
#    define SYS_memfd_secret 447
#endif

static void *as_pointer(long address)
{
    return (void *)(intptr_t)address;
}

/* The mapping claims to be executable: does it execute? */
static gbx_attack_verdict run(long result, const void *code)
{
    if (result < 0)
        return gbx_attack_done(result);
    return code_runs(code) ? GBX_BREACH : GBX_REFUSED;
}

/* ---- new code ------------------------------------------------------------------- */

static gbx_attack_verdict map_executable(gbx_attack *a)
{
    const unsigned char *code = make_code();
    long at = TRY(mmap, 0, PAGE, RWX, ANONYMOUS, -1, 0);

    if (at >= 0 && code != NULL)
        memcpy(as_pointer(at), code, 16);
    return run(at, as_pointer(at));
}

static gbx_attack_verdict protect_executable(gbx_attack *a)
{
    const unsigned char *code = make_code();

    return run(TRY(mprotect, P(code), PAGE, RX), code);
}

static gbx_attack_verdict pkey_executable(gbx_attack *a)
{
    const unsigned char *code = make_code();

    return run(TRY(pkey_mprotect, P(code), PAGE, RX, -1), code);
}

static gbx_attack_verdict map_memfd_executable(gbx_attack *a)
{
    const unsigned char *code = make_code();
    long fd = TRY(memfd_create, P("code"), 0);
    long at;

    if (fd < 0 || code == NULL)
        return gbx_attack_done(fd);
    if (TRY(write, fd, P(code), 16) != 16)
        return GBX_BREACH;
    at = TRY(mmap, 0, PAGE, RX, MAP_PRIVATE, fd, 0);
    return run(at, as_pointer(at));
}

/* After this, readable pages are executable; a page that became so is the breach. */
static gbx_attack_verdict read_implies_exec(gbx_attack *a)
{
    long result = TRY(personality, READ_IMPLIES_EXEC);
    const unsigned char *code;

    if (result < 0)
        return gbx_attack_done(result);
    code = make_code();
    if (code == NULL) {
        (void)snprintf(a->note, sizeof a->note, "mmap: %s", strerrorname_np(errno));
        return GBX_REFUSED;
    }
    return run(0, code);
}

/* ---- what is mapped ---------------------------------------------------------------- */

/* Unwritable memory does not count as data, but it still exists. One page of each
 * piece is touched, which is enough to show that all could be. */
static gbx_attack_verdict forget_memory(gbx_attack *a)
{
    const long piece = 64L << 20;
    const long enough = 8L << 30;

    for (long total = 0; total < enough; total += piece) {
        long at = TRY(mmap, 0, piece, PROT_READ | PROT_WRITE, ANONYMOUS, -1, 0);

        if (at < 0)
            return gbx_attack_done(at);
        *(volatile char *)as_pointer(at) = 1;
        if (TRY(mprotect, at, piece, PROT_NONE) < 0)
            return gbx_attack_done(-1);
    }
    (void)snprintf(a->note, sizeof a->note, "8 GiB could be filled");
    return GBX_BREACH;
}

static gbx_attack_verdict grow_mapping(gbx_attack *a)
{
    unsigned char *page = make_code();

    if (page == NULL)
        return GBX_REFUSED;
    return gbx_attack_done(TRY(mremap, P(page), PAGE, 16L * PAGE, MREMAP_MAYMOVE));
}

static gbx_attack_verdict merge_memory(gbx_attack *a)
{
    unsigned char *page = make_code();

    if (TRY(madvise, P(page), PAGE, MADV_MERGEABLE) == 0)
        return GBX_BREACH;
    /* The kernel lacks the feature, or the filter answers as if it did. */
    return GBX_REFUSED;
}

/* ---- what the host shares --------------------------------------------------------- */

static gbx_attack_verdict shared_segment(gbx_attack *a)
{
    long id = TRY(shmget, GBX_ATTACK_VICTIM_KEY, 0, 0);
    long at;

    if (id < 0)
        return gbx_attack_done(id);
    at = TRY(shmat, id, 0, SHM_RDONLY);
    if (at < 0)
        return gbx_attack_done(at);
    return *(const volatile char *)as_pointer(at) != 0 ? GBX_BREACH : GBX_REFUSED;
}

GBX_ATTACK_LINES(gbx_attack_processes, GBX_ATTACKS_ON_PROCESSES)

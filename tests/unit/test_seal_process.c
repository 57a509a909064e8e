/* SPDX-License-Identifier: MIT */
/*
 * test_seal_process - what a process feels of its seal: limits, descriptors, the death
 * signal, reservations it cannot have back; and that layers say what is missing.
 */
#include "base/cleanup.h"
#include "sanitized.h"
#include "seal/internal.h"
#include "test.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* It has no seccomp(2), and its own memory is in the way of limits and reservations. */
#if __has_include(<valgrind/valgrind.h>)
#    include <valgrind/valgrind.h>
#    define ON_VALGRIND (RUNNING_ON_VALGRIND != 0)
#else
#    define ON_VALGRIND 0
#endif

/* ---- reservations ------------------------------------------------------------------ */

#define RESERVED (UINT64_C(4) << 30)

/* As the engine has it: 4 GiB aligned to their size, a few pages in use. */
static char *reserve(void)
{
    char *at = mmap(NULL, 2 * RESERVED, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uintptr_t aligned;

    if (at == MAP_FAILED)
        return NULL;
    aligned = ((uintptr_t)at + RESERVED - 1) & ~(RESERVED - 1);
    if (aligned > (uintptr_t)at)
        (void)munmap(at, aligned - (uintptr_t)at);
    (void)munmap((char *)aligned + RESERVED, (uintptr_t)at + RESERVED - aligned);
    memset((char *)aligned, 1, 40960);
    return (char *)aligned;
}

/* In a child: mappings and limits are of the process. */
static int close_and_reopen(char *block)
{
    gbx_seal seal = {.statm_fd = -1, .memory_bytes = GBX_MIB(128)};
    char *closed = block + GBX_MIB(64);

    gbx_reserve_close(&seal);
    if (seal.closed_bytes < RESERVED - GBX_MIB(64))
        return 1;
    block[GBX_MIB(16)] = 1; /* what is left open */
    gbx_rlimits_prepare(&seal);
    gbx_seal_measure(&seal);
    if (!gbx_rlimits_worker(&seal))
        return 2;
    if (mprotect(closed, RESERVED - GBX_MIB(64), PROT_READ | PROT_WRITE) == 0)
        return 3;
    /* As much as the limit leaves. */
    if (mprotect(closed, GBX_MIB(64), PROT_READ | PROT_WRITE) != 0)
        return 4;
    return mprotect(closed, GBX_MIB(192), PROT_READ | PROT_WRITE) == 0 ? 5 : 0;
}

/* The kernel looks, so that what is not there is no fault. */
static bool is_there(int pipe_end, const char *at)
{
    return write(pipe_end, at, 1) == 1;
}

static int load_and_close(char *block)
{
    gbx_seal seal = {.statm_fd = -1, .memory_bytes = GBX_MIB(512)};
    const size_t used = GBX_MIB(640);
    uint64_t closed;
    int ends[2];

    gbx_reserve_close(&seal);
    closed = seal.closed_bytes;
    if (pipe(ends) < 0 || is_there(ends[1], block + used))
        return 1;
    gbx_reserve_open(&seal);
    if (seal.closed_bytes != 0 || !is_there(ends[1], block + RESERVED - 1))
        return 2;
    for (size_t at = 0; at < used; at += GBX_MIB(4))
        block[at] = 1;
    if (!gbx_reserve_close_again(&seal) || seal.closed_bytes >= closed)
        return 3;
    /* 32 MiB past the last page in use, which is 4 MiB before this, and no more. */
    if (!is_there(ends[1], block + used + GBX_MIB(27)))
        return 4;
    return is_there(ends[1], block + used + GBX_MIB(29)) ? 5 : 0;
}

static void check_reservation(int (*in_child)(char *block))
{
    int status = -1;
    char *block;
    pid_t pid = -1;

    /* The shadow of a sanitizer is such a reservation too. */
    if (HAS_SHADOW || ON_VALGRIND) {
        print_message("skipped: the address space is the sanitizer's, or valgrind's\n");
        skip();
    }
    block = reserve();
    assert_non_null(block);
    pid = fork();
    if (pid == 0)
        _exit(in_child(block));
    assert_int_equal(waitpid(pid, &status, 0), pid);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    (void)munmap(block, RESERVED);
}

TEST(reservation__is_closed_and_cannot_be_had_back)
{
    check_reservation(close_and_reopen);
}

TEST(reservation__is_open_while_a_dataset_is_loaded)
{
    check_reservation(load_and_close);
}

/* ---- limits and descriptors ----------------------------------------------------------- */

static int fill_past(uint64_t bytes)
{
    gbx_seal seal = {.statm_fd = -1, .memory_bytes = bytes, .cpu_s = 5};
    size_t mapped = 0;

    gbx_rlimits_prepare(&seal);
    gbx_seal_measure(&seal);
    if (!gbx_rlimits_worker(&seal) || !gbx_rlimits_verify(&seal))
        return 1;
    while (mmap(NULL, GBX_MIB(1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0) != MAP_FAILED)
        mapped += GBX_MIB(1);
    return mapped <= bytes && mapped + GBX_MIB(2) > bytes ? 0 : 2;
}

static int fill_past_limit(void)
{
    return fill_past(GBX_MIB(64));
}

/* In a child: limits are of the process. */
static void check_limits(int (*in_child)(void))
{
    int status = -1;
    pid_t pid;

    if (HAS_SHADOW || ON_VALGRIND) {
        print_message("skipped: memory is the sanitizer's to count, or valgrind's\n");
        skip();
    }
    pid = fork();
    if (pid == 0)
        _exit(in_child());
    assert_int_equal(waitpid(pid, &status, 0), pid);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(limits__let_memory_grow_by_so_much_and_no_more)
{
    check_limits(fill_past_limit);
}

/* As while a dataset is loaded: the process grows after the fork of a worker. */
static int grow_meanwhile(void)
{
    gbx_seal seal = {.statm_fd = -1, .memory_bytes = GBX_MIB(64), .cpu_s = 5};
    struct rlimit limit;

    gbx_rlimits_prepare(&seal);
    gbx_seal_measure(&seal);
    if (mmap(NULL, GBX_MIB(1024), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ||
        !gbx_rlimits_worker(&seal) || getrlimit(RLIMIT_DATA, &limit) != 0)
        return 1;
    return limit.rlim_cur < GBX_MIB(512) ? 0 : 2;
}

TEST(limits__do_not_count_what_the_template_maps_after_the_fork)
{
    check_limits(grow_meanwhile);
}

/* Without the right to raise a limit, as a template is. */
static int obey_less(void)
{
    const struct rlimit less = {.rlim_cur = 60, .rlim_max = 60};
    gbx_seal seal = {.statm_fd = -1, .memory_bytes = GBX_MIB(64), .cpu_s = 122};

    if (setrlimit(RLIMIT_CPU, &less) != 0 ||
        (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0))
        return 1;
    gbx_rlimits_prepare(&seal);
    gbx_seal_measure(&seal);
    if (!gbx_rlimits_worker(&seal))
        return 2;
    return gbx_rlimits_verify(&seal) && seal.cpu_s == 60 ? 0 : 3;
}

TEST(limits__are_no_higher_than_the_host_allows)
{
    check_limits(obey_less);
}

static int keep_one(void)
{
    gbx_seal seal = {.statm_fd = -1};
    int pair[2];

    if (pipe(pair) < 0 || dup2(pair[0], 200) < 0 || !gbx_fds_place(pair[1]) ||
        !gbx_fds_close(&seal) || !gbx_fds_verify(&seal))
        return 1;
    return write(GBX_CHANNEL_FD, "", 1) == -1 ? 0 : 2; /* no reader is left */
}

TEST(descriptors__all_but_the_channel_are_closed)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        (void)signal(SIGPIPE, SIG_IGN);
        _exit(keep_one());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- orphans ------------------------------------------------------------------------- */

/* A template that is killed, with a worker that sleeps: true if the worker's end of the
 * channel closes within wait_ms, which it does when it dies. */
static bool dies_with_its_template(uint32_t layers_off, int wait_ms)
{
    gbx_seal seal = {.layers_off = layers_off, .statm_fd = -1};
    int channel[2];
    struct pollfd fd;
    pid_t template_pid;
    pid_t worker = 0;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, channel), 0);
    template_pid = fork();
    if (template_pid == 0) {
        seal.template_pid = getpid();
        if (fork() == 0) {
            pid_t self = getpid();

            (void)close(channel[0]);
            if (!gbx_privs_worker(&seal) ||
                write(channel[1], &self, sizeof self) != sizeof self)
                _exit(1);
            for (;;)
                (void)pause();
        }
        for (;;)
            (void)pause();
    }
    (void)close(channel[1]);
    assert_int_equal(read(channel[0], &worker, sizeof worker), sizeof worker);
    (void)kill(template_pid, SIGKILL);
    (void)waitpid(template_pid, NULL, 0);
    fd = (struct pollfd){.fd = channel[0], .events = POLLIN};
    (void)poll(&fd, 1, wait_ms);
    (void)close(channel[0]);
    if (!(fd.revents & POLLHUP))
        (void)kill(worker, SIGKILL);
    return fd.revents & POLLHUP;
}

TEST(worker__dies_with_its_template)
{
    assert_true(dies_with_its_template(0, 10000));
}

TEST(worker__would_live_on_without_the_death_signal)
{
    assert_false(dies_with_its_template(GBX_LAYER_BIT(GBX_LAYER_DEATH_SIGNAL), 100));
}

/* ---- states ----------------------------------------------------------------------------- */

TEST(layers__without_namespaces_say_what_would_bring_them)
{
    gbx_seal seal = {.statm_fd = -1};

    gbx_namespaces_check(&seal);

    for (int layer = GBX_LAYER_USER_NS; layer <= GBX_LAYER_CGROUP_NS; layer++) {
        assert_false(seal.layers[layer].stands);
        assert_true(strlen(seal.layers[layer].reason) > 0);
    }
}

TEST(layers__do_not_stand_on_a_claim_alone)
{
    gbx_seal seal = {.ns_made = GBX_LAYER_BIT(GBX_LAYER_PID_NS), .statm_fd = -1};

    gbx_namespaces_check(&seal);

    assert_false(seal.layers[GBX_LAYER_PID_NS].stands);
}

TEST(layers__have_reasons_that_fit)
{
    gbx_seal seal = {.statm_fd = -1};
    char text[400];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    gbx_layer_lacks(&seal, GBX_LAYER_MDWE, "%s", text);

    assert_int_equal(strlen(seal.layers[GBX_LAYER_MDWE].reason),
                     GBX_LAYER_REASON_SIZE - 1);
}
TEST_MAIN(NULL, NULL)

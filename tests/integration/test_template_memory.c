/* SPDX-License-Identifier: MIT */
/*
 * What a template has made of its memory so that forks are cheap: this is speed alone, and
 * calls answer as well without it, so the kernel is asked.
 */
#include "calls.h"
#include "proc.h"
#include "sanitized.h"
#include "test.h"
#include "until.h"

#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* KiB; -1 if we may not look. */
static long kib_of(pid_t pid, const char *file, const char *field)
{
    char path[64];
    char line[256];
    long kib = -1;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtol(line + strlen(field), NULL, 10);
    if (f != NULL)
        (void)fclose(f);
    return kib;
}

typedef bool mapping_test(const char *mode, const char *line);

static bool is_read_only(const char *mode, const char *line)
{
    return mode[1] != 'w';
}

static bool is_frozen(const char *mode, const char *line)
{
    return strstr(line, "/memfd:frozen") != NULL;
}

/* The sum of this field of the process's mappings that are meant, as its smaps has them;
 * -1 if we may not look. */
static long sum_of(pid_t pid, mapping_test *is_meant, const char *field)
{
    char path[64];
    char line[512];
    bool is_here = false;
    long sum = -1;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        char mode[5];

        if (sscanf(line, "%*x-%*x %4s", mode) == 1) {
            is_here = is_meant(mode, line);
            sum = sum < 0 ? 0 : sum;
        } else if (is_here && strncmp(line, field, strlen(field)) == 0) {
            sum += strtol(line + strlen(field), NULL, 10);
        }
    }
    if (f != NULL)
        (void)fclose(f);
    return sum;
}

static bool may_have_huge_pages(void)
{
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    char line[64] = "[never]";

    if (f != NULL && (fgets(line, sizeof line, f) == NULL || fclose(f) != 0))
        return false;
    return strstr(line, "[never]") == NULL;
}

/* A worker has them mapped before it has a call. */
TEST(huge_pages__are_as_many_as_the_engine_may_have)
{
    static const uint32_t counts[] = {0, 1, 6};
    static const long kib[] = {3 * 2048, 2048, 6 * 2048};
    pid_t workers[8];

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        gbx_options options = GBX_OPTIONS_INIT;
        gbx_engine *engine;
        long have;

        options.huge_pages = counts[i];
        engine = engine_start(&options);
        wait_until_full(engine);
        assert_true(proc_workers(proc_template(), workers, 8) > 0);
        /* Of a file in memory; of no file, where the kernel makes no others. */
        have = sum_of(workers[0], is_read_only, "ShmemPmdMapped:");
        if (have == 0)
            have = sum_of(workers[0], is_read_only, "AnonHugePages:");
        gbx_engine_free(engine);
        if ((have < 0 && geteuid() != 0) || !may_have_huge_pages()) {
            print_message("skipped: only root may look, where there are huge pages\n");
            skip();
        }
        assert_int_equal(have, kib[i]);
    }
}

static bool may_pin(void)
{
    struct io_uring_params params = {0};
    struct rlimit limit;
    int ring = (int)syscall(SYS_io_uring_setup, 1, &params);

    if (ring < 0)
        return false;
    (void)close(ring);
    return geteuid() == 0 || (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
                              limit.rlim_cur >= (rlim_t)(4 << 20));
}

static void check_pinned(const gbx_options *options)
{
    gbx_engine *engine = engine_start(options);
    long have;

    wait_until_full(engine);
    have = kib_of(proc_template(), "status", "VmPin:");
    gbx_engine_free(engine);
    assert_in_range(have, 100, 8192);
}

TEST(pages_of_every_call__are_pinned_for_forks_to_copy)
{
    gbx_options options = GBX_OPTIONS_INIT;

    if (!may_pin()) {
        print_message("skipped: this kernel or user may not pin memory\n");
        skip();
    }
    options.zygote = GBX_ZYGOTE_OFF;
    check_pinned(&options);
    wait_for_zygote();
    check_pinned(NULL); /* the zygote has found them */
    gbx_zygote_end();
}

/* 1,100 pages before it was frozen. */
static void check_frozen(const gbx_options *options, long own_pages)
{
    gbx_engine *engine = engine_start(options);
    long own;
    long mapped;

    wait_until_full(engine);
    own = sum_of(proc_template(), is_frozen, "Anonymous:");
    mapped = sum_of(proc_template(), is_frozen, "Rss:");
    gbx_engine_free(engine);
    if (own < 0) {
        print_message("skipped: only root may look at a template\n");
        skip();
    }
    assert_in_range(own, 4, own_pages * 4);
    /* Of the file itself hardly anything: that would be copied, too. */
    assert_in_range(mapped - own, 0, 150 * 4);
}

TEST(what_calls_leave_alone__is_a_files_which_forks_do_not_copy)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.zygote = GBX_ZYGOTE_OFF;
    check_frozen(&options, 200);
}

/* What completes the realm was not yet written when the zygote was frozen. */
TEST(what_a_fork_of_a_zygote_writes__is_little)
{
    wait_for_zygote();
    check_frozen(NULL, 400);
    gbx_zygote_end();
}

/* ---- many engines ------------------------------------------------------------------ */

#define TENANTS 24

static bool are_idle(void *user)
{
    return proc_descendants() == TENANTS;
}

/* One process each, of 1.4 MiB. */
TEST(engines__that_served_a_call_keep_little)
{
    gbx_engine *engines[TENANTS];
    proc_tree tree;
    long sum = 0;

    wait_for_zygote();
    for (size_t i = 0; i < TENANTS; i++) {
        engines[i] = engine_start(NULL);
        check_alive(engines[i]);
    }
    assert_true(until(are_idle, NULL, 60000));
    proc_look(getpid(), &tree);
    for (size_t i = 0; i < tree.count && sum >= 0; i++) {
        long pss = kib_of(tree.pids[i], "smaps_rollup", "Pss:");

        sum = pss < 0 ? -1 : sum + pss;
    }
    for (size_t i = 0; i < TENANTS; i++)
        gbx_engine_free(engines[i]);
    gbx_zygote_end();
    if (sum < 0) {
        print_message("skipped: only root may look at a template\n");
        skip();
    }
    if (!IS_SANITIZED)
        assert_in_range(sum / TENANTS, 100, 6 * 1024);
}

TEST_MAIN(NULL, NULL)

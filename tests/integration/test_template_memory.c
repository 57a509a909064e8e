/* SPDX-License-Identifier: MIT */
/*
 * What a template has made of its memory so that forks are cheap: this is speed alone, and
 * calls answer as well without it, so the kernel is asked.
 */
#include "calls.h"
#include "proc.h"

#include <linux/io_uring.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

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

static bool may_have_huge_pages(void)
{
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    char line[64] = "[never]";

    if (f != NULL && (fgets(line, sizeof line, f) == NULL || fclose(f) != 0))
        return false;
    return strstr(line, "[never]") == NULL;
}

static void test_huge_pages__are_as_many_as_the_engine_may_have(void **state)
{
    static const uint32_t counts[] = {0, 1, 6};
    static const long kib[] = {3 * 2048, 2048, 6 * 2048};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        gbx_options options = GBX_OPTIONS_INIT;
        gbx_engine *engine;
        long have;

        options.huge_pages = counts[i];
        engine = engine_start(&options);
        check_alive(engine);
        have = kib_of(proc_template(), "smaps_rollup", "AnonHugePages:");
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

static void test_pages_of_every_call__are_pinned_for_forks_to_copy(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;
    long have;

    (void)state;
    if (!may_pin()) {
        print_message("skipped: this kernel or user may not pin memory\n");
        skip();
    }
    engine = engine_start(&options);
    check_alive(engine);
    have = kib_of(proc_template(), "status", "VmPin:");
    gbx_engine_free(engine);
    assert_in_range(have, 100, 8192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_huge_pages__are_as_many_as_the_engine_may_have),
        cmocka_unit_test(test_pages_of_every_call__are_pinned_for_forks_to_copy),
    };

    return cmocka_run_group_tests_name("memory of templates", tests, NULL, NULL);
}

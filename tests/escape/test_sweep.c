/* SPDX-License-Identifier: MIT */
/*
 * test_sweep - exactly the lines of the table survive, and the manual says so. About
 * three thousand sealed processes, one a call.
 */
#include "escape/sweep.h"
#include "test.h"

#include <glovebox/glovebox.h>

#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

#define X32_BIT 0x40000000u

typedef struct run {
    gbx_attack_session *session;
    gbx_swept swept[GBX_SWEEP_COUNT];
} run;

static int start(void **state)
{
    run *r = calloc(1, sizeof *r);
    gbx_error error = {0};

    if (r == NULL)
        return -1;
    if (gbx_attack_open(NULL, GBX_JIT_FULL, 0, &r->session, &error) != GBX_OK) {
        print_error("%s\n", error.message);
        free(r);
        return -1;
    }
    for (unsigned number = 0; number < GBX_SWEEP_COUNT; number++)
        r->swept[number] = gbx_sweep_one(r->session, number);
    *state = r;
    return 0;
}

static int stop(void **state)
{
    run *r = *state;

    gbx_attack_close(r->session);
    free(r);
    return 0;
}

TEST(sweep__every_number_comes_to_what_the_table_says)
{
    const run *r = *state;

    for (unsigned number = 0; number < GBX_SWEEP_COUNT; number++) {
        gbx_swept wanted = gbx_sweep_expected(number);
        gbx_swept found = r->swept[number];

        if (gbx_sweep_is_unfiltered(number))
            continue;
        if (found.how != wanted.how || found.value != wanted.value)
            fail_msg("call %u: %d %ld, not %d %ld", number, found.how, found.value,
                     wanted.how, wanted.value);
    }
}

/* SIGILL, an error, or on older kernels the filter's SIGSYS: never a result. */
TEST(sweep__what_passes_the_filter_comes_to_nothing)
{
    const run *r = *state;

    for (unsigned number = 0; number < GBX_SWEEP_COUNT; number++) {
        gbx_swept found = r->swept[number];

        if (!gbx_sweep_is_unfiltered(number))
            continue;
        assert_int_not_equal(found.how, GBX_SWEPT_LOST);
        assert_true(found.how != GBX_SWEPT_RETURNED || found.value < 0);
    }
}

TEST(sweep__every_x32_number_kills)
{
    run *r = *state;

    for (unsigned number = 0; number < GBX_SWEEP_COUNT; number++)
        assert_int_equal(gbx_sweep_one(r->session, number | X32_BIT).how,
                         GBX_SWEPT_KILLED);
}

TEST(sweep__numbers_with_the_top_bit_kill)
{
    run *r = *state;

    for (unsigned number = 0; number < 64; number++)
        assert_int_equal(gbx_sweep_one(r->session, number | 0x80000000u).how,
                         GBX_SWEPT_KILLED);
}

static char *read_all(FILE *f)
{
    static char text[65536];
    size_t len = fread(text, 1, sizeof text - 1, f);

    text[len] = 0;
    return strdup(text);
}

TEST(sweep__is_what_the_manual_says)
{
    const struct scmp_version *version = seccomp_version();
    const char *killed;
    const run *r = *state;
    FILE *found;
    FILE *manual;
    char *ours;
    char *theirs;

    found = tmpfile();
    manual = fopen(SYSCALLS_MD, "re");
    assert_non_null(found);
    assert_non_null(manual);
    assert_true(gbx_sweep_print(found, r->swept));
    rewind(found);
    ours = read_all(found);
    theirs = read_all(manual);

    /* The names of what kills are the library's: another one knows more, or fewer. */
    killed = strstr(ours, "\n## Killed\n");
    assert_non_null(killed);
    if (version->major != 2 || version->minor != 5)
        assert_memory_equal(ours, theirs, (size_t)(killed - ours));
    else
        assert_string_equal(ours, theirs);
    free(ours);
    free(theirs);
    (void)fclose(found);
    (void)fclose(manual);
}

TEST_MAIN(start, stop)

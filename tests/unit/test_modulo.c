/* SPDX-License-Identifier: MIT */
/* modulo - what the C library's fmod() says, bit for bit. */
#include "test.h"
#include "worker/worker.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>

#define ROUNDS 300000

/* The library's own: under its name this program finds what is tested. */
static double (*library_fmod)(double x, double y);

static int load(void **state)
{
    void *library = dlopen("libm.so.6", RTLD_NOW);
    void *found = library != NULL ? dlsym(library, "fmod") : NULL;

    memcpy(&library_fmod, &found, sizeof found);
    return found != NULL ? 0 : -1;
}

static uint64_t bits(double x)
{
    uint64_t ret;

    memcpy(&ret, &x, sizeof ret);
    return ret;
}

static void check(double x, double y)
{
    double found = gbx_modulo(x, y);
    double expected = library_fmod(x, y);

    if (isnan(expected) ? !isnan(found) : bits(found) != bits(expected))
        fail_msg("%a modulo %a is %a, not %a", x, y, found, expected);
}

static void check_signs(double x, double y)
{
    check(x, y);
    check(-x, y);
    check(x, -y);
    check(-x, -y);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ *seed >> 29;
}

TEST(modulo__is_the_librarys_at_every_edge)
{
    static const double edges[] = {
        0,           1,
        2,           3,
        0.1,         0.5,
        1.5,         7,
        10,          97,
        1000003,     2147483647.0,
        2147483648., 4294967295.0,
        4294967296., 4294967297.0,
        0x1p53,      0x1p53 - 1,
        0x1p62,      0x1.fffffffffffffp62,
        0x1p63,      0x1p64,
        1e100,       DBL_MAX,
        DBL_MIN,     DBL_MIN / 2,
        DBL_EPSILON, DBL_TRUE_MIN,
        3e-324 * 7,  DBL_MIN - DBL_TRUE_MIN,
        INFINITY,    NAN,
    };
    const size_t count = sizeof edges / sizeof *edges;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            check_signs(edges[i], edges[j]);
}

TEST(modulo__is_the_librarys_for_any_bits)
{
    uint64_t seed = 42;

    for (size_t i = 0; i < ROUNDS; i++) {
        uint64_t pair[2] = {next(&seed), next(&seed)};
        double xy[2];

        memcpy(xy, pair, sizeof xy);
        check(xy[0], xy[1]);
    }
}

TEST(modulo__is_the_librarys_for_numbers_of_like_size)
{
    uint64_t seed = 7;

    for (size_t i = 0; i < ROUNDS; i++) {
        double x = (double)(int64_t)next(&seed);
        double y = (double)(int64_t)next(&seed);
        int by = (int)(next(&seed) % 64);

        check(x, ldexp(y, -by)); /* both whole, or nearly */
        check(trunc(ldexp(x, -by)), trunc(ldexp(y, -32)));
    }
}

TEST(worker__answers_the_engine_with_it)
{
    char command[4096];
    FILE *names;

    snprintf(command, sizeof command, "nm -D --defined-only '%s' | grep -qw 'T fmod'",
             getenv("GLOVEBOX_WORKER"));
    names = popen(command, "re");
    assert_non_null(names);
    assert_int_equal(pclose(names), 0);
}

TEST_MAIN(load, NULL)

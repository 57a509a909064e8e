/* SPDX-License-Identifier: MIT */
/* settings - options and calls: defaults, ranges, and structures that grow. */
#include "engine/engine.h"
#include "numbers.h"
#include "test.h"

#include "base/cleanup.h"

static gbx_status settle(const gbx_options *o, gbx_settings *ret, gbx_error *error)
{
    memset(error, 0, sizeof *error);
    return gbx_settings_init(ret, o, error);
}

static void assert_settled(const gbx_options *o, gbx_settings *ret)
{
    gbx_error error;

    assert_int_equal(settle(o, ret, &error), GBX_OK);
}

static void assert_refused(const gbx_options *o, const char *message)
{
    gbx_settings s;
    gbx_error error;

    assert_int_equal(settle(o, &s, &error), GBX_E_USAGE);
    assert_int_equal(error.status, GBX_E_USAGE);
    assert_string_equal(error.message, message);
}

static void assert_defaults(const gbx_options *o)
{
    assert_int_equal(o->limits.timeout_ms, 5000);
    assert_int_equal(o->limits.cpu_ms, 5000);
    assert_true(o->limits.memory_bytes == UINT64_C(128) << 20);
    assert_true(o->limits.output_bytes == 1048576);
    assert_int_equal(o->limits.log_bytes, 10 << 20);
    assert_int_equal(o->limits.code_bytes, 0); /* depends on the form */
    assert_int_equal(o->pool_size, 5);
    assert_int_equal(o->max_workers, 64);
    assert_int_equal(o->queue_length, 1024);
    assert_int_equal(o->require, GBX_REQUIRE_DEFAULT);
    assert_int_equal(o->jit, GBX_JIT_FULL);
    assert_int_equal(o->globals, GBX_GLOBALS_STANDARD);
    assert_int_equal(o->fresh, GBX_FRESH_FORK);
    assert_int_equal(o->capabilities,
                     GBX_CAP_CONSOLE | GBX_CAP_TIMERS | GBX_CAP_HELPERS);
    assert_int_equal(o->recycle_calls, 10000);
    assert_int_equal(o->recycle_ms, 600000);
    assert_null(o->worker_path);
    assert_null(o->runner_name);
    assert_null(o->runner);
}

TEST(options__none_are_the_documented_defaults)
{
    gbx_options zero = GBX_OPTIONS_INIT;
    gbx_settings s;

    assert_settled(NULL, &s);
    assert_defaults(&s.options);
    assert_settled(&zero, &s);

    assert_defaults(&s.options);
}

TEST(options__cpu_defaults_to_the_timeout)
{
    gbx_options o = GBX_OPTIONS_INIT;
    gbx_settings s;
    o.limits.timeout_ms = 777;

    assert_settled(&o, &s);

    assert_int_equal(s.options.limits.cpu_ms, 777);
}

/* ---- struct_size ---------------------------------------------------------------------- */

TEST(struct_size__zero_or_nonsense_is_refused)
{
    static const size_t sizes[] = {0, 1, 7, 4097, SIZE_MAX};

    for (size_t i = 0; i < GBX_COUNTOF(sizes); i++) {
        gbx_options o = GBX_OPTIONS_INIT;

        o.struct_size = sizes[i];
        assert_refused(&o, "options.struct_size is not set");
    }
}

TEST(struct_size__shorter_leaves_defaults_for_the_rest)
{
    gbx_options o = GBX_OPTIONS_INIT;
    gbx_settings s;
    o.limits.timeout_ms = 100;
    o.pool_size = 9;
    o.max_workers = 99999; /* would be refused, but is past the end */
    o.struct_size = offsetof(gbx_options, max_workers);

    assert_settled(&o, &s);

    assert_int_equal(s.options.limits.timeout_ms, 100);
    assert_int_equal(s.options.pool_size, 9);
    assert_int_equal(s.options.max_workers, 64);
}

TEST(struct_size__alone_is_all_defaults)
{
    size_t *alone = malloc(sizeof *alone); /* nothing after it may be read */
    gbx_settings s;
    assert_non_null(alone);
    *alone = sizeof *alone;

    assert_settled((const gbx_options *)(const void *)alone, &s);

    assert_defaults(&s.options);
    free(alone);
}

TEST(struct_size__longer_is_fine_if_the_tail_is_zero)
{
    union {
        gbx_options known;
        uint8_t bytes[sizeof(gbx_options) + 24];
    } future = {.known = GBX_OPTIONS_INIT};
    gbx_settings s;
    future.known.struct_size = sizeof future;
    memset(future.bytes + sizeof(gbx_options), 0, 24);

    assert_settled(&future.known, &s);
    assert_defaults(&s.options);
    for (size_t i = 0; i < 24; i++) {
        memset(future.bytes + sizeof(gbx_options), 0, 24);
        future.bytes[sizeof(gbx_options) + i] = 1;
        assert_refused(&future.known, "options has fields that this version of the "
                                      "library lacks");
    }
}

/* ---- numbers ----------------------------------------------------------------------------- */

static const number numbers[] = {
#define N32(field, min, max)                                                   \
    {                                                                          \
        "limits." #field, offsetof(gbx_options, limits.field), false, min, max \
    }
#define N64(field, min, max)                                                  \
    {                                                                         \
        "limits." #field, offsetof(gbx_options, limits.field), true, min, max \
    }
#define O32(field, min, max)                                             \
    {                                                                    \
        "options." #field, offsetof(gbx_options, field), false, min, max \
    }
    N32(timeout_ms, 1, 600000),
    N32(cpu_ms, 1, 600000),
    N64(memory_bytes, 8388608, 4294967296),
    N64(output_bytes, 1, 268435456),
    N32(code_bytes, 1, 1048576),
    N32(log_bytes, 1, 67108864),
    O32(pool_size, 1, 64),
    O32(max_workers, 1, 1024),
    O32(queue_length, 1, 1048576),
    O32(recycle_calls, 1, 4294967295),
    O32(recycle_ms, 1000, 4294967295),
    O32(huge_pages, 1, 16),
#undef N32
#undef N64
#undef O32
};

TEST(numbers__hold_at_both_ends_of_their_range)
{
    for (size_t i = 0; i < GBX_COUNTOF(numbers) * 2; i++) {
        const number *n = &numbers[i / 2];
        uint64_t value = i % 2 == 0 ? n->min : n->max;
        gbx_options o = GBX_OPTIONS_INIT;
        gbx_settings s;

        number_set(&o, n, value);
        assert_settled(&o, &s);
        assert_true(number_get(&s.options, n) == value);
    }
}

TEST(numbers__one_past_either_end_are_refused_by_name)
{
    for (size_t i = 0; i < GBX_COUNTOF(numbers) * 2; i++) {
        const number *n = &numbers[i / 2];
        uint64_t value = i % 2 == 0 ? n->min - 1 : n->max + 1;
        gbx_options o = GBX_OPTIONS_INIT;
        gbx_settings s;
        gbx_error error;

        if (value == 0 || (!n->is_wide && value > UINT32_MAX))
            continue; /* zero is the default; past 32 bits nothing can be said */
        number_set(&o, n, value);
        assert_int_equal(settle(&o, &s, &error), GBX_E_USAGE);
        assert_memory_equal(error.message, n->name, strlen(n->name));
        assert_non_null(strstr(error.message, " must be from "));
    }
}

TEST(numbers__all_ones_are_refused_where_they_are_too_many)
{
    for (size_t i = 0; i < GBX_COUNTOF(numbers); i++) {
        gbx_options o = GBX_OPTIONS_INIT;
        gbx_settings s;
        gbx_error error;

        number_set(&o, &numbers[i], UINT64_MAX);
        assert_int_equal(settle(&o, &s, &error),
                         numbers[i].max == UINT32_MAX ? GBX_OK : GBX_E_USAGE);
    }
}

/* ---- choices and texts --------------------------------------------------------------------- */

TEST(choices__past_the_last_are_refused_by_name)
{
    gbx_options require = GBX_OPTIONS_INIT;
    gbx_options jit = GBX_OPTIONS_INIT;
    gbx_options globals = GBX_OPTIONS_INIT;
    gbx_options fresh = GBX_OPTIONS_INIT;
    require.require = (gbx_require)2;
    jit.jit = (gbx_jit)5;
    globals.globals = (gbx_globals)2;
    fresh.fresh = (gbx_fresh)-1;

    assert_refused(&require, "options.require is not one of its values");
    assert_refused(&jit, "options.jit is not one of its values");
    assert_refused(&globals, "options.globals is not one of its values");
    assert_refused(&fresh, "options.fresh is not one of its values");
}

TEST(jit__is_off_with_strict_unless_named)
{
    gbx_options o = GBX_OPTIONS_INIT;
    gbx_settings s;
    o.require = GBX_REQUIRE_STRICT;

    assert_settled(&o, &s);
    assert_int_equal(s.options.jit, GBX_JIT_OFF);
    o.jit = GBX_JIT_FULL;

    assert_settled(&o, &s);
    assert_int_equal(s.options.jit, GBX_JIT_FULL);
}

TEST(capabilities__are_known_bits_or_none)
{
    static const struct {
        uint32_t given;
        bool is_refused;
        uint32_t settled;
    } rows[] = {
        /* Helpers are 64: without a policy that says no they are there. */
        {0, false, 67},  {1, false, 65}, {2, false, 66},        {3, false, 67},
        {64, false, 64}, {4, true, 0},   {7, true, 0},          {256, false, 256},
        {257, true, 0},  {512, true, 0}, {UINT32_MAX, true, 0},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_options o = GBX_OPTIONS_INIT;
        gbx_settings s;
        gbx_error error;

        o.capabilities = rows[i].given;
        assert_int_equal(settle(&o, &s, &error),
                         rows[i].is_refused ? GBX_E_USAGE : GBX_OK);
        if (!rows[i].is_refused)
            assert_int_equal(s.options.capabilities, rows[i].settled);
    }
}

TEST(fresh_exec__means_a_template_a_call)
{
    gbx_options o = GBX_OPTIONS_INIT;
    gbx_settings s;
    o.fresh = GBX_FRESH_EXEC;
    o.recycle_calls = 500;

    assert_settled(&o, &s);

    assert_int_equal(s.options.recycle_calls, 1);
}

TEST(texts__are_copied)
{
    char path[] = "/somewhere/worker";
    char name[] = "memory";
    gbx_options o = GBX_OPTIONS_INIT;
    gbx_settings s;
    o.worker_path = path;
    o.runner_name = name;

    assert_settled(&o, &s);
    memset(path, 'x', sizeof path - 1);
    memset(name, 'x', sizeof name - 1);

    assert_string_equal(s.options.worker_path, "/somewhere/worker");
    assert_string_equal(s.options.runner_name, "memory");
}

TEST(texts__fit_up_to_their_room)
{
    char path[GBX_PATH_SIZE + 1];
    char name[1025];
    gbx_options o = GBX_OPTIONS_INIT;
    gbx_settings s;
    memset(path, 'p', sizeof path);
    memset(name, 'n', sizeof name);
    path[GBX_PATH_SIZE - 1] = name[1023] = 0;
    o.worker_path = path;
    o.runner_name = name;

    assert_settled(&o, &s);
    name[1023] = 'n';
    name[1024] = 0;
    assert_refused(&o, "options.runner_name is too long");
    path[GBX_PATH_SIZE - 1] = 'p';
    path[GBX_PATH_SIZE] = 0;

    assert_refused(&o, "options.worker_path is too long");
}

TEST(runner__by_name_and_by_value_exclude_each_other)
{
    gbx_runner runner = GBX_RUNNER_INIT;
    gbx_options o = GBX_OPTIONS_INIT;
    o.runner = &runner;
    o.runner_name = "memory";

    assert_refused(&o, "options.runner and options.runner_name exclude each other");
}

TEST_MAIN(NULL, NULL)

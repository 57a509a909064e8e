/* SPDX-License-Identifier: MIT */
/*
 * The runner for tests of embedders: what code finds there is what it finds in a worker.
 * Through the shared library, as a program that embeds it.
 */
#include "calls.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static gbx_engine *engine_by(const char *runner)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;

    options.runner_name = runner;
    options.pool_size = 1;
    options.policy = policy_of("{\"console\": true, \"timers\": true, \"crypto\": true,"
                               " \"env\": {\"A\": \"1\"}}");
    engine = engine_start(&options);
    gbx_policy_free(options.policy);
    return engine;
}

/* A result's value in both, which must be the same; free() it. */
static char *value_by_both(const gbx_call *call)
{
    static const char *const runners[] = {NULL, "memory"};
    char *values[2];

    for (int i = 0; i < 2; i++) {
        gbx_engine *engine = engine_by(runners[i]);
        gbx_result *result = call_run(engine, call);

        values[i] = strdup(gbx_result_value(result, NULL));
        assert_non_null(values[i]);
        gbx_result_free(result);
        gbx_engine_free(engine);
    }
    assert_string_equal(values[0], values[1]);
    free(values[1]);
    return values[0];
}

TEST(runner__of_another_version_is_refused_by_name)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    options.runner_name = "old";
    assert_int_equal(gbx_engine_new(&options, &engine, &error), GBX_E_UNSUPPORTED);
    assert_string_equal(error.message, "the runner 'old' has version 0.0.1, and this "
                                       "library " GBX_VERSION);
}

TEST(memory_runner__has_no_address)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    options.runner_name = "memory:x";
    assert_int_equal(gbx_engine_new(&options, &engine, &error), GBX_E_USAGE);
    assert_string_equal(error.message, "options.runner_name is not a name");
}

TEST(memory_runner__has_what_a_worker_serves_by_itself)
{
    gbx_call call = call_of("() => [crypto.hash('sha1', 'abc').slice(0, 8), env.A]");
    char *value;

    value = value_by_both(&call);

    assert_string_equal(value, "[\"a9993e36\",\"1\"]");
    free(value);
}

TEST(memory_runner__draws_the_same_for_the_same_seed)
{
    gbx_call call = call_of("() => [crypto.randomUUID(), Math.random()]");
    char *value;

    call.flags = GBX_CALL_SEEDED;
    call.seed = 9;
    value = value_by_both(&call);

    assert_int_equal(strncmp(value, "[\"", 2), 0);
    free(value);
}

TEST(memory_runner__draws_others_without_a_seed)
{
    gbx_call call = call_of("() => crypto.randomUUID()");
    gbx_engine *engine = engine_by("memory");
    gbx_result *first = call_run(engine, &call);
    gbx_result *second = call_run(engine, &call);

    assert_string_not_equal(gbx_result_value(first, NULL),
                            gbx_result_value(second, NULL));
    gbx_result_free(first);
    gbx_result_free(second);
    gbx_engine_free(engine);
}

TEST(memory_runner__follows_the_policy_of_a_call)
{
    gbx_call call = call_of("() => typeof env + typeof crypto");
    char *value;

    call.policy = policy_of("{\"crypto\": true}");
    value = value_by_both(&call);

    assert_string_equal(value, "\"undefinedobject\"");
    gbx_policy_free(call.policy);
    free(value);
}

TEST_MAIN(NULL, NULL)

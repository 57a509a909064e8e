/* SPDX-License-Identifier: MIT */
/*
 * Capabilities that a worker serves by itself: hashes and randomness, and the values of
 * env. Which calls have them, what forks of one template share, and what is in whose
 * memory.
 */
#include "calls.h"
#include "proc_memory.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CRYPTO ((unsigned)(GBX_CAP_CONSOLE | GBX_CAP_CRYPTO))

static gbx_engine *engine_with(unsigned capabilities, gbx_fresh fresh, gbx_jit jit)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.capabilities = capabilities;
    options.fresh = fresh;
    options.jit = jit;
    options.pool_size = 2;
    return engine_start(&options);
}

static gbx_engine *engine_of_policy(const char *json)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;

    options.policy = policy_of(json);
    options.pool_size = 2;
    engine = engine_start(&options);
    gbx_policy_free(options.policy);
    return engine;
}

static void check_with(gbx_engine *engine, gbx_call *call, const char *value)
{
    gbx_result *result = call_run(engine, call);

    if (strcmp(gbx_result_value(result, NULL), value) != 0)
        fail_msg("%s instead of %s", gbx_result_json(result, NULL), value);
    gbx_result_free(result);
}

static void check_narrowed(gbx_engine *engine, const char *policy, const char *code,
                           const char *value)
{
    gbx_call call = call_of(code);

    call.policy = policy_of(policy);
    check_with(engine, &call, value);
    gbx_policy_free(call.policy);
}

/* ---- crypto --------------------------------------------------------------------- */

TEST(crypto__is_there_in_every_kind_of_worker)
{
    static const char code[] =
        "() => crypto.getHashes().map((n) => crypto.hash(n, 'abc').slice(0, 4)).join()";
    static const char value[] =
        "\"ba80,508c,9001,a999,2309,ba78,e642,3a98,ec01,b751,cb00,ddaf,4634,5304,5881,"
        "4833\"";
    static const struct {
        gbx_fresh fresh;
        gbx_jit jit;
    } kinds[] = {
        {GBX_FRESH_FORK, GBX_JIT_FULL},
        {GBX_FRESH_FORK, GBX_JIT_BASELINE},
        {GBX_FRESH_FORK, GBX_JIT_OFF},
        {GBX_FRESH_EXEC, GBX_JIT_FULL},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        gbx_engine *engine = engine_with(CRYPTO, kinds[i].fresh, kinds[i].jit);

        check_value(engine, code, "null", value);
        check_value(engine, code, "null", value);
        gbx_engine_free(engine);
    }
}

TEST(crypto__is_for_the_calls_that_have_it)
{
    static const char code[] = "() => typeof globalThis.crypto?.createHash";
    gbx_engine *engine = engine_of_policy("{\"crypto\": true, \"timers\": true}");

    check_value(engine, code, "null", "\"function\"");
    check_narrowed(engine, "{\"timers\": true}", code, "\"undefined\"");
    check_narrowed(engine, "{\"crypto\": true}", code, "\"function\"");
    gbx_engine_free(engine);
    engine = engine_with(GBX_CAP_NONE, GBX_FRESH_FORK, GBX_JIT_FULL);
    check_value(engine, code, "null", "\"undefined\"");
    gbx_engine_free(engine);
}

/* Is a word among the files that template or workers have mapped? */
static bool is_mapped(const char *word)
{
    proc_tree tree;
    bool mapped = false;

    proc_look(getpid(), &tree);
    assert_true(tree.count > 1);
    for (size_t i = 0; i < tree.count; i++)
        mapped = mapped || proc_maps_have(tree.pids[i], word) == 1;
    return mapped;
}

TEST(crypto__costs_nothing_where_it_is_not_allowed)
{
    gbx_engine *engine;

    proc_memory_needs_root();
    engine = engine_with(0, GBX_FRESH_FORK, GBX_JIT_FULL);
    wait_until_full(engine);
    assert_true(is_mapped("libjavascriptcore"));
    assert_false(is_mapped("libcrypto"));
    gbx_engine_free(engine);
    engine = engine_with(CRYPTO, GBX_FRESH_FORK, GBX_JIT_FULL);
    wait_until_full(engine);
    assert_true(is_mapped("libcrypto"));
    gbx_engine_free(engine);
}

#define DRAW                                                              \
    "() => [crypto.randomUUID(), crypto.randomBytes(12).toString('hex')," \
    " crypto.getRandomValues(new Uint32Array(2)).join()].join()"
#define CALLS 50

TEST(random__no_two_calls_have_the_same)
{
    gbx_engine *engine = engine_with(CRYPTO, GBX_FRESH_FORK, GBX_JIT_FULL);
    gbx_call call = call_of(DRAW);
    gbx_result *results[CALLS];

    for (size_t i = 0; i < CALLS; i++)
        results[i] = call_run(engine, &call);

    for (size_t i = 0; i < CALLS; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(gbx_result_value(results[i], NULL),
                                    gbx_result_value(results[k], NULL));
    for (size_t i = 0; i < CALLS; i++)
        gbx_result_free(results[i]);
    gbx_engine_free(engine);
}

static char *draw_seeded(gbx_engine *engine, uint64_t seed)
{
    gbx_call call = call_of(DRAW);
    gbx_result *result;
    char *value;

    call.flags = GBX_CALL_SEEDED;
    call.seed = seed;
    result = call_run(engine, &call);
    value = strdup(gbx_result_value(result, NULL));
    gbx_result_free(result);
    assert_non_null(value);
    return value;
}

TEST(random__follows_the_seed_in_every_engine)
{
    gbx_engine *a = engine_with(CRYPTO, GBX_FRESH_FORK, GBX_JIT_FULL);
    gbx_engine *b = engine_with(CRYPTO, GBX_FRESH_EXEC, GBX_JIT_OFF);
    char *first = draw_seeded(a, 7);
    char *again = draw_seeded(a, 7);
    char *there = draw_seeded(b, 7);
    char *other = draw_seeded(a, UINT64_C(7) << 56);

    assert_string_equal(first, again);
    assert_string_equal(first, there);
    assert_string_not_equal(first, other);

    free(first);
    free(again);
    free(there);
    free(other);
    gbx_engine_free(a);
    gbx_engine_free(b);
}

/* ---- env ------------------------------------------------------------------------ */

TEST(env__has_the_values_that_are_listed)
{
    gbx_engine *engine;

    assert_int_equal(setenv("GBX_TEST_LISTED", "of the host", 1), 0);
    assert_int_equal(setenv("GBX_TEST_OTHER", "not listed", 1), 0);
    engine = engine_of_policy(
        "{\"env\": {\"OWN\": \"v\\u0001\\ud83d\\ude00\", \"LISTED\": {\"from\": "
        "\"GBX_TEST_LISTED\"}}}");
    assert_int_equal(setenv("GBX_TEST_LISTED", "changed later", 1), 0);

    check_value(engine, "() => env", "null",
                "{\"OWN\":\"v\\u0001\xf0\x9f\x98\x80\",\"LISTED\":\"of the host\"}");
    check_value(engine, "() => [typeof process, env.GBX_TEST_OTHER, env.PATH]", "null",
                "[\"undefined\",null,null]");
    gbx_engine_free(engine);
}

TEST(env__of_a_call_is_its_own_policys)
{
    static const char code[] = "() => typeof env === 'undefined' ? null : env";
    gbx_engine *engine =
        engine_of_policy("{\"env\": {\"A\": \"1\", \"B\": \"2\"}, \"timers\": true}");

    check_narrowed(engine, "{\"env\": {\"A\": \"1\"}}", code, "{\"A\":\"1\"}");
    check_narrowed(engine, "{\"env\": {\"B\": \"of the call\"}}", code,
                   "{\"B\":\"of the call\"}");
    check_narrowed(engine, "{\"timers\": true}", code, "null");
    check_value(engine, code, "null", "{\"A\":\"1\",\"B\":\"2\"}");
    gbx_engine_free(engine);
}

TEST(env__is_the_parameter_of_a_body)
{
    gbx_engine *engine = engine_of_policy("{\"env\": {\"A\": \"1\"}}");
    gbx_call call = call_of("return [env.A, env === globalThis.env]");

    call.form = GBX_FORM_BODY;
    check_with(engine, &call, "[\"1\",true]");
    gbx_engine_free(engine);
}

TEST(env__may_be_as_large_as_a_policy_may)
{
    size_t len = 120000;
    char *value = malloc(len + 1);
    char *json = malloc(len * 6 + 64);
    gbx_policy *policy = gbx_policy_new();
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;
    gbx_error error = {0};

    /* Control characters: six bytes each in JSON. */
    assert_non_null(value);
    assert_non_null(json);
    memset(value, 1, len / 2);
    value[len / 2] = 0;
    (void)snprintf(json, len * 6 + 64, "env=A=%s", value);
    assert_int_equal(gbx_policy_allow(policy, json, &error), GBX_OK);
    json[4] = 'B';
    assert_int_equal(gbx_policy_allow(policy, json, &error), GBX_OK);
    json[4] = 'C';
    assert_int_equal(gbx_policy_allow(policy, json, &error), GBX_E_POLICY);

    options.policy = policy;
    engine = engine_start(&options);
    gbx_policy_free(policy);
    check_value(engine, "() => [env.A.length, env.B.length, env.C]", "null",
                "[60000,60000,null]");
    gbx_engine_free(engine);
    free(value);
    free(json);
}

TEST(env__is_in_no_memory_but_that_of_its_call)
{
    /* Written so that the word itself is not in this program's policy text. */
    static const char policy[] =
        "{\"env\": {\"A\": \"canary-\\u0065nv-7\\u00391\"}, \"timers\": true}";
    static const char word[] = "canary-env-791";
    gbx_engine *engine;
    proc_tree tree;

    proc_memory_needs_root();
    engine = engine_of_policy(policy);
    check_value(engine, "() => env.A", "null", "\"canary-env-791\"");
    fill_pool(engine);
    proc_look(getpid(), &tree);
    assert_true(tree.count > 1);
    for (size_t i = 0; i < tree.count; i++)
        assert_int_equal(proc_memory_has(tree.pids[i], word), 0);
    gbx_engine_free(engine);
}

static int finish(void **state)
{
    return proc_descendants() == 0 ? 0 : -1;
}

TEST_MAIN(NULL, finish)

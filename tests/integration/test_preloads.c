/* SPDX-License-Identifier: MIT */
/* Preloads: run once in a template, there in every call, kept by every template. */
#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glovebox/host.h>
#include <glovebox/preload.h>

#define LIBRARY                                                        \
    "globalThis.lib = { list: [1, 2, 3], sum(l) { return l.reduce((a," \
    " b) => a + b, 0) } };"

static void preload(gbx_engine *engine, const char *name, const char *source)
{
    gbx_error error = {0};

    if (gbx_engine_preload(engine, name, source, strlen(source), &error) != GBX_OK)
        fail_msg("'%s': %s", name, error.message);
}

static void refuse(gbx_engine *engine, const char *source, gbx_status status,
                   const char *message)
{
    gbx_error error = {0};

    assert_int_equal(gbx_engine_preload(engine, "bad.js", source, strlen(source),
                                        &error),
                     status);
    assert_string_equal(error.message, message);
}

/* ---- with the options ----------------------------------------------------- */

static gbx_status start_with(const char *source, gbx_globals globals,
                             gbx_engine **ret_engine, gbx_error *reterr)
{
    gbx_preload preloads[] = {{"first.js", "var first = 1;", 14},
                              {"lib.js", source, strlen(source)}};
    gbx_options options = GBX_OPTIONS_INIT;

    options.globals = globals;
    options.preloads = preloads;
    options.preload_count = 2;
    options.pool_size = 2;
    return gbx_engine_new(&options, ret_engine, reterr);
}

TEST(options__preloads_are_there_in_every_call)
{
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    if (start_with(LIBRARY, GBX_GLOBALS_MINIMAL, &engine, &error) != GBX_OK)
        fail_msg("%s", error.message);
    for (int i = 0; i < 8; i++)
        check_value(engine, "(d) => lib.sum(d) + first", "[1,2,3]", "7");
    gbx_engine_free(engine);
}

TEST(options__a_preload_that_throws_names_its_place)
{
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    assert_int_equal(start_with("var a;\n  a.b;", GBX_GLOBALS_STANDARD, &engine,
                                &error),
                     GBX_E_DATA);
    assert_null(engine);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 4);
    assert_non_null(strstr(error.message, "lib.js:2:4: TypeError: undefined is not"));
    assert_int_equal(proc_descendants(), 0);
}

TEST(options__a_preload_that_does_not_compile_names_its_line)
{
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    assert_int_equal(start_with("var a;\nvar = 1;", GBX_GLOBALS_STANDARD, &engine,
                                &error),
                     GBX_E_DATA);
    assert_int_equal(error.line, 2);
    assert_non_null(strstr(error.message, "lib.js:2: SyntaxError"));
}

TEST(options__a_preload_that_loops_is_named)
{
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    assert_int_equal(start_with("for (;;);", GBX_GLOBALS_STANDARD, &engine, &error),
                     GBX_E_DATA);
    assert_string_equal(error.message,
                        "cannot preload lib.js: it has not ended within 3 "
                        "seconds of processor time");
    assert_int_equal(proc_descendants(), 0);
}

TEST(options__what_is_no_preload_is_refused)
{
    static const struct {
        const char *name;
        const char *source;
        size_t len;
        gbx_status status;
    } bad[] = {
        {NULL, "", 0, GBX_E_USAGE},
        {"", "", 0, GBX_E_USAGE},
        {"a\nb", "", 0, GBX_E_USAGE},
        {"a\xFF", "", 0, GBX_E_USAGE},
        {"0123456789012345678901234567890123456789012345678901234567890123456789"
         "0123456789012345678901234567890123456789012345678901234567890",
         "", 0, GBX_E_USAGE},
        {"a.js", NULL, 1, GBX_E_USAGE},
        {"a.js", "", (16u << 20) + 1, GBX_E_USAGE},
        {"a.js", "a = '\xFF'", 8, GBX_E_DATA},
    };
    gbx_engine *engine = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        gbx_preload preload = {bad[i].name, bad[i].source, bad[i].len};
        gbx_options options = GBX_OPTIONS_INIT;

        options.preloads = &preload;
        options.preload_count = 1;
        assert_int_equal(gbx_engine_new(&options, &engine, NULL), bad[i].status);
    }
}

TEST(options__two_of_one_name_and_too_many_are_refused)
{
    static gbx_preload preloads[65];
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    for (size_t i = 0; i < 65; i++)
        preloads[i] = (gbx_preload){"same.js", "", 0};
    options.preloads = preloads;
    options.preload_count = 2;
    assert_int_equal(gbx_engine_new(&options, &engine, &error), GBX_E_USAGE);
    assert_string_equal(error.message, "two preloads have the name 'same.js'");
    options.preload_count = 65;
    assert_int_equal(gbx_engine_new(&options, &engine, &error), GBX_E_USAGE);
}

/* ---- while the engine runs -------------------------------------------------- */

ENGINE_TEST(preload__is_there_in_every_later_call)
{
    preload(*state, "lib.js", LIBRARY);
    preload(*state, "more.js", "lib.twice = (x) => lib.sum([x, x]);");
    for (int i = 0; i < 8; i++)
        check_value(*state, "(d) => lib.twice(d)", "4", "8");
}

ENGINE_TEST(preload__is_pristine_whatever_the_last_call_did)
{
    preload(*state, "lib.js", LIBRARY);
    for (int i = 0; i < 6; i++) {
        gbx_call call = call_of("() => { lib.list.length = 0; lib.sum = () => 'mine';"
                                " lib.left = 1; delete globalThis.lib; return 0 }");

        gbx_result_free(call_run(*state, &call));
        check_value(*state, "() => [lib.sum(lib.list), lib.left ?? null]", NULL,
                    "[6,null]");
    }
}

ENGINE_TEST(preload__of_the_same_name_takes_its_place)
{
    preload(*state, "a.js", "var a = 1, order = ['a'];");
    preload(*state, "b.js", "order.push('b' + a);");
    preload(*state, "a.js", "var a = 2, order = ['new a'];");
    check_value(*state, "() => order", NULL, "[\"new a\",\"b2\"]");
}

ENGINE_TEST(preload__that_fails_leaves_the_engine_as_it_was)
{
    preload(*state, "lib.js", LIBRARY);
    refuse(*state, "throw new Error('no');", GBX_E_DATA,
           "cannot preload bad.js:1:16: Error: no");
    refuse(*state, "(", GBX_E_DATA,
           "cannot preload bad.js:1: SyntaxError: Unexpected end of script");
    check_value(*state, "() => lib.sum([1, 2])", NULL, "3");
    for (int i = 0; i < 3; i++) /* and is not counted against its templates */
        refuse(*state, "throw 1", GBX_E_DATA, "cannot preload bad.js: 1");
    check_value(*state, "() => lib.sum([1, 2])", NULL, "3");
    preload(*state, "bad.js", "var good = true;");
    check_value(*state, "() => [good, lib.sum([1, 2])]", NULL, "[true,3]");
}

ENGINE_TEST(preload__that_kills_its_template_leaves_the_engine_as_it_was)
{
    gbx_error error = {0};
    /* So deep that the engine's parser gives up, or the stack does. */
    size_t len = 8u << 20;
    char *deep = malloc(len);

    assert_non_null(deep);
    memset(deep, '(', len);
    assert_int_not_equal(gbx_engine_preload(*state, "deep.js", deep, len, &error),
                         GBX_OK);
    free(deep);
    check_alive(*state);
}

ENGINE_TEST(preload__replaces_one_that_failed_to_be_replaced)
{
    preload(*state, "bad.js", "var version = 1;");
    refuse(*state, "var version = 2; nothing.at.all", GBX_E_DATA,
           "cannot preload bad.js:1:25: ReferenceError: Can't find variable: nothing");
    check_value(*state, "() => version", NULL, "1");
    preload(*state, "bad.js", "var version = 3;");
    check_value(*state, "() => version", NULL, "3");
}

ENGINE_TEST(preload__and_datasets_do_not_mind_each_other)
{
    gbx_error error = {0};

    assert_int_equal(gbx_engine_load(*state, "before", "[1]", 3, GBX_DATA_JSON, &error),
                     GBX_OK);
    preload(*state, "lib.js", LIBRARY);
    assert_int_equal(gbx_engine_load(*state, "after", "[2]", 3, GBX_DATA_JSON, &error),
                     GBX_OK);
    check_value(*state, "() => lib.sum([...datasets.before, ...datasets.after])", NULL,
                "3");
}

TEST(preload__is_kept_by_the_templates_that_follow)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;

    options.recycle_calls = 3;
    options.pool_size = 2;
    engine = engine_start(&options);
    preload(engine, "lib.js", LIBRARY);
    for (int i = 0; i < 7; i++)
        check_value(engine, "() => lib.sum([1, 1])", NULL, "2");
    gbx_engine_free(engine);
}

TEST(preload__is_run_anew_for_each_call_that_is_fresh)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;

    options.fresh = GBX_FRESH_EXEC;
    options.pool_size = 1;
    engine = engine_start(&options);
    preload(engine, "lib.js", LIBRARY);
    for (int i = 0; i < 3; i++)
        check_value(engine, "() => lib.sum([1, 1])", NULL, "2");
    gbx_engine_free(engine);
}

static void never_answers(void *user, gbx_engine *engine, const gbx_host_call *call)
{
}

ENGINE_TEST(preload__cannot_take_the_name_of_a_function)
{
    gbx_error error = {0};

    assert_int_equal(gbx_engine_expose(*state, "query", never_answers, NULL, &error),
                     GBX_OK);
    refuse(*state, "globalThis.query = 1;", GBX_E_UNSUPPORTED,
           "the worker program cannot serve: the name of the function 'query' is "
           "taken");
    check_value(*state, "() => typeof query", NULL, "\"function\"");
}

/* ---- beside calls -------------------------------------------------------------- */

typedef struct caller {
    gbx_engine *engine;
    atomic_bool stop;
    atomic_uint wrong;
    atomic_uint count;
} caller;

static void *call_on(void *arg)
{
    caller *c = arg;

    while (!atomic_load(&c->stop)) {
        gbx_call call = call_of("() => typeof version === 'number' ? version : 0");
        gbx_result *result = NULL;

        if (gbx_execute(c->engine, &call, &result, NULL) != GBX_OK ||
            gbx_result_code(result) != GBX_CODE_VALUE)
            atomic_fetch_add(&c->wrong, 1);
        gbx_result_free(result);
        atomic_fetch_add(&c->count, 1);
    }
    return NULL;
}

ENGINE_TEST(preload__lets_calls_go_on_meanwhile)
{
    caller c = {.engine = *state};
    pthread_t threads[2];
    char source[64];

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_on, &c), 0);
    for (int i = 1; i <= 4; i++) {
        char expected[16];

        snprintf(source, sizeof source, "var version = %d;", i);
        preload(*state, "version.js", source);
        snprintf(expected, sizeof expected, "%d", i);
        check_value(*state, "() => version", NULL, expected);
    }
    atomic_store(&c.stop, true);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&c.wrong), 0);
    assert_true(atomic_load(&c.count) > 0);
}

static void *preload_on(void *arg)
{
    caller *c = arg;
    char name[32];

    snprintf(name, sizeof name, "lib%u.js", atomic_fetch_add(&c->count, 1));
    for (int i = 0; i < 2; i++)
        if (gbx_engine_preload(c->engine, name, "var a = 1;", 10, NULL) != GBX_OK)
            atomic_fetch_add(&c->wrong, 1);
    return NULL;
}

ENGINE_TEST(preload__from_many_threads_is_one_after_the_other)
{
    caller c = {.engine = *state};
    pthread_t threads[3];

    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, preload_on, &c), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&c.wrong), 0);
    check_value(*state, "() => a", NULL, "1");
}

/* One template and a worker: nobody calls, and the template before it is gone. */
static bool is_alone(void *user)
{
    return proc_descendants() == 2;
}

/* Who has ended is also gone: the next that ends is one of ours. */
static bool is_settled(void *user)
{
    return is_alone(user) && footprint_take().zombies == 0;
}

ENGINE_TEST(preload__leaves_nothing_behind)
{
    footprint before;

    preload(*state, "lib.js", LIBRARY);
    wait_until_full(*state);
    assert_true(until(is_settled, NULL, 60000));
    before = footprint_take();
    for (int i = 0; i < 2; i++) {
        preload(*state, "lib.js", LIBRARY);
        refuse(*state, "throw 1", GBX_E_DATA, "cannot preload bad.js: 1");
    }
    wait_until_full(*state);
    footprint_check(&before);
}

TEST(memory_runner__has_no_preloads)
{
    gbx_preload one = {"a.js", "", 0};
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_runner runner = GBX_RUNNER_INIT;
    gbx_engine *engine = NULL;

    runner.name = "own";
    runner.execute = (gbx_status(*)(void *, const gbx_call *, gbx_outcome *,
                                    gbx_error *))(uintptr_t)1;
    options.runner = &runner;
    options.preloads = &one;
    options.preload_count = 1;
    assert_int_equal(gbx_engine_new(&options, &engine, NULL), GBX_E_UNSUPPORTED);
}

static void answer_nothing(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    assert_int_equal(gbx_answer(engine, call->request, "1", 1, NULL), GBX_OK);
}

/* In the template every function of the host answers {}; in a call, the host. */
ENGINE_TEST(preload__warms_itself_where_calls_do_not_see_it)
{
    assert_int_equal(gbx_engine_expose(*state, "ask", answer_nothing, NULL, NULL),
                     GBX_OK);
    preload(
        *state, "warm.js",
        "var asked = []; globalThis[Symbol.for('glovebox.warm')] = async (count) => {"
        " if (count > 0) return;"
        " for (let i = 0; i < 20; i++) asked.push(typeof await ask(i)) }");
    check_value(*state,
                "async () => [asked.length, asked[19], await ask(),"
                " typeof globalThis[Symbol.for('glovebox.warm')]]",
                NULL, "[20,\"object\",1,\"undefined\"]");
}

/* The template runs what a worker does, and then as much as a script does; a worker ahead of
 * its call, all of it once. */
ENGINE_TEST(preload__warms_itself_in_each_worker_ahead_of_its_call)
{
    preload(*state, "warm.js",
            "var counts = []; globalThis[Symbol.for('glovebox.warm')] ="
            " (count) => { counts.push(count) }");
    for (int i = 0; i < 3; i++) {
        wait_until_full(*state);
        check_value(*state, "() => [counts[0], counts.slice(-6)]", NULL,
                    "[0,[2,2,10,10,2,2]]");
    }
}

TEST_MAIN(NULL, NULL)

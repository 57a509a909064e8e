/* SPDX-License-Identifier: MIT */
/*
 * A worker program that is not one, or is one of another version, or has been taken
 * over before it forked: the engine starts or says clearly why not, calls end with a
 * code, and nothing is left when it is freed.
 */
#include "base/json.h"
#include "calls.h"
#include "engine/engine.h"
#include "proc.h"
#include "seal/seal.h"
#include "table.h"
#include "test.h"
#include "until.h"
#include "wire/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- engines that do not start ------------------------------------------- */

static gbx_status start_fails(const gbx_options *options, gbx_error *error)
{
    footprint before = footprint_take();
    gbx_engine *engine = NULL;
    gbx_status status = gbx_engine_new(options, &engine, error);

    if (status == GBX_OK)
        gbx_engine_free(engine);
    else
        assert_null(engine);
    footprint_check(&before);
    return status;
}

/* It is no engine's, but what keeps the program from serving is the same. */
static void check_attack_says_the_same(const gbx_options *options,
                                       const gbx_error *called)
{
    footprint before = footprint_take();
    gbx_attack_session *session = NULL;
    gbx_error error = {0};

    assert_int_equal(gbx_attack_open(options->worker_path, GBX_JIT_FULL, 0, &session,
                                     &error),
                     called->status);
    assert_string_equal(error.message, called->message);
    assert_null(session);
    footprint_check(&before);
}

TEST(start__is_refused_when_the_program_talks_nonsense)
{
    static const char *const plans[] = {
        "hello-garbage", "hello-length",  "hello-reserved",
        "hello-short",   "hello-type=49", "hello-type=51",
        "hello-type=2",  "hello-half",    "hello-stranger",
    };

    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        gbx_options options = hostile_options(plans[i]);
        gbx_error error = {0};

        if (start_fails(&options, &error) != GBX_E_OS)
            fail_msg("%s: %s", plans[i], gbx_status_name(error.status));
        assert_non_null(strstr(error.message, "the worker program died"));
    }
}

TEST(start__names_the_versions_of_a_program_of_another)
{
    static const char *const versions[] = {"0", "2", "99", "4294967295"};

    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        gbx_options options;
        gbx_error error = {0};
        char text[64];

        (void)snprintf(text, sizeof text, "hello-version=%s", versions[i]);
        options = hostile_options(text);
        assert_int_equal(start_fails(&options, &error), GBX_E_UNSUPPORTED);
        (void)snprintf(text, sizeof text, "(its protocol is %s, the library's %u)",
                       versions[i], GBX_WIRE_VERSION);
        assert_non_null(strstr(error.message, text));
        assert_non_null(strstr(error.message, "GLOVEBOX_WORKER"));
        check_attack_says_the_same(&options, &error);
    }
}

TEST(start__is_refused_when_the_program_dies_at_a_step)
{
    static const char *const plans[] = {
        "at-begin=exit",  "at-config=exit",
        "at-begin=kill",  "at-begin=segv",
        "at-config=sys",  "at-config=abrt",
        "at-config=term", "begin-forked,at-config=exit",
    };

    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        gbx_options options = hostile_options(plans[i]);
        gbx_error error = {0};

        if (start_fails(&options, &error) != GBX_E_OS)
            fail_msg("%s: %s", plans[i], gbx_status_name(error.status));
        check_attack_says_the_same(&options, &error);
    }
}

TEST(start__names_the_failure_that_the_program_reports)
{
    gbx_options options = hostile_options("hello-fails");
    gbx_error error = {0};

    assert_int_equal(start_fails(&options, &error), GBX_E_UNSUPPORTED);

    assert_non_null(strstr(error.message, "cannot serve"));
    check_one_line(error.message);
    check_attack_says_the_same(&options, &error);
}

TEST(start__is_refused_without_a_layer_that_it_needs)
{
    for (size_t i = 0; i < 2 * GBX_LAYER_COUNT; i++) {
        size_t layer = i % GBX_LAYER_COUNT;
        bool is_strict = i >= GBX_LAYER_COUNT; /* any layer is needed */
        char plan[64];
        gbx_options options;
        gbx_error error = {0};

        (void)snprintf(plan, sizeof plan, "missing-layer=%zu", layer);
        options = hostile_options(plan);
        if (is_strict)
            options.require = GBX_REQUIRE_STRICT;
        else if (!gbx_layers[layer].is_required)
            continue;
        assert_int_equal(start_fails(&options, &error), GBX_E_UNSUPPORTED);
        assert_non_null(strstr(error.message, gbx_layers[layer].name));
        check_one_line(error.message);
    }
}

TEST(start__is_refused_when_no_layer_is_named)
{
    gbx_options options = hostile_options("hello-layers=0");
    gbx_error error = {0};

    assert_int_equal(start_fails(&options, &error), GBX_E_UNSUPPORTED);
}

/* ---- engines that start all the same -------------------------------------- */

/* What its report says, all of it harmless. */
static void check_report(const char *plan, const char *said)
{
    gbx_options options = hostile_options(plan);
    gbx_engine *engine = engine_start(&options);
    gbx_json_fault fault;
    char *report = NULL;

    assert_int_equal(gbx_engine_report(engine, &report, NULL), GBX_OK);
    assert_true(gbx_json_check(report, strlen(report), 100, &fault));
    assert_non_null(strstr(report, said));
    check_one_line(report);
    gbx_string_free(report);
    check_hostile_alive(engine);
    gbx_engine_free(engine);
}

TEST(start__reports_a_missing_layer_and_survives_hostile_text)
{
    check_report("missing-layer=7", "the kernel"); /* landlock */
    check_report("hello-engine,hello-drip", "");
}

/* ---- templates that go wrong while they serve ----------------------------- */

static double cpu_seconds(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Whatever it does, calls end as one of the codes (a word of `codes`), in time; the
 * engine's thread does not spin; freeing it leaves nothing. */
static void check_serving(const char *plan, const char *codes)
{
    footprint before = footprint_take();
    gbx_options options = hostile_options(plan);
    gbx_engine *engine;
    double cpu = cpu_seconds();
    double start = now_ms();

    /* What no worker ever takes waits for all of its time. */
    options.limits.timeout_ms = strcmp(codes, "UNAVAILABLE") == 0 ? 60 : 400;
    engine = engine_start(&options);
    for (int i = 0; i < 3; i++) {
        gbx_call call = script_of("result 1");
        gbx_result *result = call_run(engine, &call);
        const char *code = gbx_code_name(gbx_result_code(result));

        if (strstr(codes, code) == NULL)
            fail_msg("%s: ended as %s: %s", plan, code, gbx_result_json(result, NULL));
        check_one_line(gbx_result_error(result));
        gbx_result_free(result);
    }
    cpu = cpu_seconds() - cpu;
    start = (now_ms() - start) / 1e3;
    if (cpu > start / 3 + 0.1)
        fail_msg("%s: %.2f s of processor time in %.2f s", plan, cpu, start);
    gbx_engine_free(engine);
    footprint_check(&before);
}

TEST(calls__of_a_program_that_goes_wrong_end_as_they_may)
{
    const table_line *plans;
    size_t count = table_lines("integration/scripts/hostile_template.txt", "serving",
                               false, &plans);

    for (size_t i = 0; i < count; i++)
        check_serving(plans[i].cell[0], plans[i].cell[1]);
}

TEST(worker__that_ended_before_it_was_ready_is_said_to_have)
{
    static const char *const rows[][2] = {
        {"at-start=segv", "a worker ended before it was ready: signal 11, SEGV"},
        {"at-start=exit", "a worker ended before it was ready: exit status "},
    };

    for (size_t i = 0; i < 2; i++) {
        gbx_options options = hostile_options(rows[i][0]);
        gbx_call call = script_of("result 1");
        gbx_engine *engine;
        gbx_result *result;

        options.limits.timeout_ms = 1000;
        engine = engine_start(&options);
        result = call_run(engine, &call);
        assert_int_equal(gbx_result_code(result), GBX_CODE_UNAVAILABLE);
        if (strstr(gbx_result_error(result), rows[i][1]) == NULL)
            fail_msg("%s: %s", rows[i][0], gbx_result_error(result));
        assert_null(strstr(gbx_result_json(result, NULL), "fewer calls"));
        gbx_result_free(result);
        gbx_engine_free(engine);
    }
}

/* ---- death and hang of the template at each step of a fork ----------------- */

TEST(template__that_dies_in_a_fork_is_replaced)
{
    static const char *const steps[] = {"fork", "forked", "sent"};

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        footprint before = footprint_take();
        char plan[64];
        gbx_options options;
        gbx_engine *engine;

        (void)snprintf(plan, sizeof plan, "at-%s=exit,only=4", steps[i]);
        options = hostile_options(plan);
        engine = engine_start(&options);
        assert_true(until(is_hostile_alive, engine, 60000));
        for (int n = 0; n < 20; n++) /* worker 4 comes and is lost */
            (void)is_hostile_alive(engine);
        assert_true(until(is_hostile_alive, engine, 60000));
        assert_true(report_number(engine, "templatesStarted") >= 2);
        gbx_engine_free(engine);
        footprint_check(&before);
    }
}

TEST_MAIN(NULL, NULL)

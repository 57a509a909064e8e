/* SPDX-License-Identifier: MIT */
/* Calls that get no worker, engines and templates: their lines in the security log. */
#include "audit_log.h"
#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- calls that get no worker ----------------------------------------------------- */

AUDIT_TEST(call__without_a_worker_has_its_lines_too)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call = call_of("() => 1");
    gbx_call slow = call_of("async () => { await sleep(60000) }");
    gbx_limits little = timeout_of(50);
    gbx_engine *engine;
    gbx_result *result;
    gbx_ticket ticket;
    json_t *lines;
    inbox box;

    audit_log_hear(&heard, &options);
    options.pool_size = options.max_workers = 1;
    options.limits.timeout_ms = 120000;
    engine = engine_start(&options);
    wait_until_full(engine); /* or "taken" below would be true before there is one */
    inbox_init(&box, 8);
    ticket = call_submit(engine, &slow, &box);
    wait_until_taken(engine);

    call.limits = &little;
    result = call_run(engine, &call);
    assert_int_equal(gbx_result_code(result), GBX_CODE_UNAVAILABLE);
    gbx_abort(engine, ticket);
    assert_true(inbox_wait(&box, 1, 60000));

    call.limits = NULL;
    call.signal = gbx_signal_new();
    gbx_signal_abort(call.signal);
    check_code(engine, &call, GBX_CODE_ABORTED);
    gbx_signal_free(call.signal);

    lines = audit_log_lines(&heard);
    assert_int_equal(audit_log_count(lines, "call.started"), 3);
    assert_int_equal(audit_log_count(lines, "call.ended"), 3);
    assert_int_equal(audit_log_heard(&heard, "worker.killed"), 1);
    assert_string_equal(audit_log_text(audit_log_get(lines, "call.ended", 0), "callId"),
                        gbx_result_call_id(result));
    assert_string_equal(audit_log_text(audit_log_get(lines, "call.ended", 0), "code"),
                        "UNAVAILABLE");
    assert_string_equal(audit_log_text(audit_log_get(lines, "call.ended", 1), "code"),
                        "ABORTED");
    assert_string_equal(audit_log_text(audit_log_get(lines, "call.ended", 2), "code"),
                        "ABORTED");
    gbx_result_free(result);
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

static gbx_status run_elsewhere(void *user, const gbx_call *call, gbx_outcome *outcome,
                                gbx_error *reterr)
{
    if (call->input_len > 0)
        return GBX_E_OS;
    return gbx_outcome_value(outcome, "1", 1);
}

AUDIT_TEST(call__of_a_runner_that_fails_ends_with_its_status)
{
    gbx_runner runner = GBX_RUNNER_INIT;
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call = call_of("() => 1");
    gbx_engine *engine;
    gbx_result *result = NULL;
    json_t *lines;

    runner.name = "elsewhere";
    runner.execute = run_elsewhere;
    audit_log_hear(&heard, &options);
    options.runner = &runner;
    engine = engine_start(&options);
    check_code(engine, &call, GBX_CODE_VALUE);
    call.input = "1";
    call.input_len = 1;
    assert_int_equal(gbx_execute(engine, &call, &result, NULL), GBX_E_OS);
    gbx_engine_free(engine);
    lines = audit_log_lines(&heard);
    assert_int_equal(json_array_size(lines), 6);
    assert_true(json_is_false(
        json_object_get(audit_log_get(lines, "engine.started", 0), "isolated")));
    assert_string_equal(audit_log_text(audit_log_get(lines, "call.ended", 0), "code"),
                        "OK");
    assert_string_equal(audit_log_text(audit_log_get(lines, "call.ended", 1), "status"),
                        "GBX_E_OS");
    assert_int_equal(audit_log_number(audit_log_get(lines, "engine.ended", 0), "calls"),
                     2);
}

/* ---- the engine's own ------------------------------------------------------------- */

static bool has_heard_of_a_death(void *user)
{
    return audit_log_heard(&heard, "template.died") > 0;
}

/* Exactly one child: process 0 would be this whole group, with who runs the tests. */
static bool is_alone(void *pid)
{
    *(pid_t *)pid = proc_template();
    return *(pid_t *)pid > 0;
}

AUDIT_TEST(template__that_dies_is_told_of_once)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;
    json_t *lines;
    pid_t pid = 0;

    audit_log_hear(&heard, &options);
    engine = engine_start(&options);
    wait_until_full(engine);
    assert_true(until(is_alone, &pid, 60000));
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_true(until(has_heard_of_a_death, NULL, 60000));
    check_alive(engine);
    gbx_engine_free(engine);
    lines = audit_log_lines(&heard);
    assert_int_equal(audit_log_count(lines, "template.died"), 1);
    assert_int_equal(audit_log_heard(&heard, "template.died"), 1);
    assert_null(json_object_get(audit_log_get(lines, "template.died", 0), "callId"));
    assert_int_equal(json_array_size(lines), 5);
}

AUDIT_TEST(template__that_cannot_start_is_told_of)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    json_t *lines;

    audit_log_hear(&heard, &options);
    options.worker_path = "/nonexistent/glovebox-worker";
    assert_int_not_equal(gbx_engine_new(&options, &engine, NULL), GBX_OK);
    lines = audit_log_lines(&heard);
    assert_int_equal(json_array_size(lines), 1); /* an engine that never was */
    assert_int_equal(audit_log_count(lines, "template.failed"), 1);
    assert_int_equal(audit_log_heard(&heard, "template.failed"), 1);
}

/* Two engines cannot be mistaken for one another. */
AUDIT_TEST(engine__has_a_name_of_its_own)
{
    gbx_options options = GBX_OPTIONS_INIT;
    char names[2][9];

    for (size_t i = 0; i < 2; i++) {
        audit_log_cleanup(&heard);
        audit_log_init(&heard);
        audit_log_hear(&heard, &options);
        gbx_engine_free(engine_start(&options));
        assert_int_equal(json_array_size(audit_log_lines(&heard)), 2);
        memcpy(names[i], audit_log_text(json_array_get(heard.parsed, 0), "engine"), 9);
    }
    assert_string_not_equal(names[0], names[1]);
}

/* One that listens to events alone hears them, and no line is made. */
AUDIT_TEST(event__is_heard_without_a_log)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call = call_of("() => require('fs')");
    gbx_engine *engine;

    audit_log_hear(&heard, &options);
    options.on_audit = NULL;
    engine = engine_start(&options);
    check_code(engine, &call, GBX_CODE_INVALID_CODE);
    gbx_engine_free(engine);
    assert_int_equal(heard.count, 0);
    assert_int_equal(audit_log_heard(&heard, "guard.violation"), 1);
    assert_string_equal(heard.events[0].detail, "require at line 1, column 7");
}

TEST_MAIN(NULL, NULL)

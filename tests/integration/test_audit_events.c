/* SPDX-License-Identifier: MIT */
/* Every event of the security log is said once by its cause, and by nothing else. */
#include "audit/audit.h"
#include "audit_log.h"
#include "calls.h"
#include "proc.h"
#include "until.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static audit_log heard;

static int before(void **state)
{
    (void)state;
    audit_log_init(&heard);
    return 0;
}

static int after(void **state)
{
    (void)state;
    audit_log_cleanup(&heard);
    return proc_descendants() == 0 ? 0 : -1;
}

/* ---- one call ------------------------------------------------------------------- */

enum { REAL, HOSTILE };

/* What a call does, and all that is said of it between its first line and its last. */
static const struct row {
    const char *cause;
    int worker;
    const char *code;
    gbx_limits limits;
    const char *ends; /* the result's code */
    const char *events[4];
    const char *field; /* of the first event, and how it begins */
    const char *text;
} rows[] = {
    {"a value", REAL, "() => 1", {.timeout_ms = 5000}, "OK", {NULL}, NULL, NULL},
    {"an error",
     REAL,
     "() => { throw new Error('secret of the input') }",
     {.timeout_ms = 5000},
     "RUNTIME",
     {NULL},
     NULL,
     NULL},
    {"no JavaScript",
     REAL,
     "() => {",
     {.timeout_ms = 5000},
     "SYNTAX",
     {NULL},
     NULL,
     NULL},
    {"a name that is off",
     REAL,
     "() => require('fs')",
     {.timeout_ms = 5000},
     "INVALID_CODE",
     {"guard.violation"},
     "rule",
     "require"},
    {"code of another form",
     REAL,
     "1 + 1",
     {.timeout_ms = 5000},
     "INVALID_CODE",
     {"guard.violation"},
     "rule",
     "form"},
    {"code that is too long",
     REAL,
     "() => 1                                        ",
     {.code_bytes = 20},
     "INVALID_CODE",
     {"guard.violation"},
     "rule",
     "size"},
    {"a loop",
     REAL,
     "() => { for (;;); }",
     {.timeout_ms = 300},
     "TIMEOUT",
     {"call.timeout", "worker.killed"},
     "message",
     "ran past the time limit of 300"},
    {"processor time",
     REAL,
     "() => { for (;;); }",
     {.timeout_ms = 60000, .cpu_ms = 50},
     "TIMEOUT",
     {"call.timeout", "worker.killed"},
     "message",
     "used more than 50 ms"},
    {"memory",
     REAL,
     "() => { const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1)) }",
     {.timeout_ms = 60000, .memory_bytes = 32 << 20},
     "MEMORY",
     {"call.memory", "worker.killed"},
     "message",
     "needed more memory"},
    {"a message that is none",
     HOSTILE,
     "raw ffffffffffffffffffffffffffffffff",
     {.timeout_ms = 20000},
     "VIOLATION",
     {"protocol.violation", "suspicious"},
     "message",
     "the worker broke the protocol"},
    {"a value that is not JSON",
     HOSTILE,
     "result {",
     {.timeout_ms = 20000},
     "VIOLATION",
     {"protocol.violation", "suspicious"},
     "message",
     "the worker sent a result that is not JSON"},
    {"a system call",
     HOSTILE,
     "signal 31",
     {.timeout_ms = 20000},
     "VIOLATION",
     {"seccomp.kill", "suspicious"},
     "message",
     "the worker asked for a system call"},
    {"a crash",
     HOSTILE,
     "signal 11",
     {.timeout_ms = 20000},
     "CRASHED",
     {"worker.crashed"},
     "message",
     "the worker died of signal 11"},
    {"an exit",
     HOSTILE,
     "exit 3",
     {.timeout_ms = 20000},
     "CRASHED",
     {"worker.crashed"},
     "message",
     "the worker exited with status 3"},
    {"a closed channel",
     HOSTILE,
     "close\nhang",
     {.timeout_ms = 20000},
     "CRASHED",
     {"worker.crashed"},
     "message",
     "the worker closed its channel"},
    {"a limit that the worker met",
     HOSTILE,
     "frame 9 01\nresult 1",
     {.timeout_ms = 20000, .host_calls = 7},
     "OK",
     {"host.refused"},
     "code",
     "ERR_HOST_CALLS"},
    {"a function that is not there",
     HOSTILE,
     /* id 1, "a.b", "[]", no bytes; then WAIT */
     "frame 7 0100000003000000612e62020000005b5d00000000\nwait 60000\nawait\nresult 1",
     {.timeout_ms = 20000},
     "OK",
     {"host.refused"},
     "code",
     "ERR_NOT_ALLOWED"},
};

static bool is_among(const char *name, const struct row *row)
{
    for (size_t i = 0; i < 4 && row->events[i] != NULL; i++)
        if (strcmp(row->events[i], name) == 0)
            return true;
    return false;
}

/* Each event as often as the row says, in the log and by the callback. */
static void check_events(const struct row *row, json_t *lines)
{
    for (unsigned i = 0; i < GBX_AUDIT_EVENT_COUNT; i++) {
        gbx_audit_event event = (gbx_audit_event)i;
        const char *name = gbx_audit_name(event);
        bool always = strncmp(name, "engine.", 7) == 0 ||
                      strcmp(name, "call.started") == 0 ||
                      strcmp(name, "call.ended") == 0;
        bool expected = always || is_among(name, row);
        size_t in_log = expected && gbx_audit_is_for(event, GBX_AUDIT_LOG);
        size_t by_callback = expected && gbx_audit_is_for(event, GBX_AUDIT_EVENT);

        if (audit_log_count(lines, name) != in_log ||
            audit_log_heard(&heard, name) != by_callback)
            fail_msg("%s: %zu lines of %s, %zu events", row->cause,
                     audit_log_count(lines, name), name, audit_log_heard(&heard, name));
    }
}

/* The same name in the result, in every line and in every event of the call. */
static void check_call_id(const struct row *row, gbx_result *result, json_t *lines)
{
    const char *id = gbx_result_call_id(result);
    json_t *whole = json_loads(gbx_result_json(result, NULL), 0, NULL);
    json_t *line;
    size_t i;

    assert_non_null(whole);
    assert_string_equal(audit_log_text(whole, "callId"), id);
    assert_int_equal(strtoull(strchr(id, '-') + 1, NULL, 10),
                     audit_log_number(whole, "call"));
    json_decref(whole);
    json_array_foreach(lines, i, line)
    {
        assert_memory_equal(id, audit_log_text(line, "engine"), 8);
        if (strncmp(audit_log_text(line, "event"), "engine.", 7) == 0)
            assert_null(json_object_get(line, "callId"));
        else
            assert_string_equal(audit_log_text(line, "callId"), id);
    }
    for (i = 0; i < heard.event_count; i++) {
        assert_string_equal(heard.events[i].call_id, id);
        assert_int_not_equal(heard.events[i].call, 0);
    }
    assert_int_equal(json_array_size(lines) + heard.event_count > 4,
                     row->events[0] != NULL);
}

static void check_order(json_t *lines)
{
    size_t n = json_array_size(lines);
    static const char *const ends[] = {"engine.started", "call.started", "call.ended",
                                       "engine.ended"};
    const size_t at[] = {0, 1, n - 2, n - 1};

    assert_true(n >= 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(audit_log_text(json_array_get(lines, at[i]), "event"),
                            ends[i]);
}

static gbx_result *run_submitted(gbx_engine *engine, const gbx_call *call)
{
    gbx_result *result;
    gbx_ticket ticket;
    inbox box;

    inbox_init(&box, 4);
    ticket = call_submit(engine, call, &box);
    assert_true(inbox_wait(&box, 1, 60000));
    result = box.results[ticket];
    box.results[ticket] = NULL;
    inbox_cleanup(&box);
    assert_non_null(result);
    return result;
}

static void run_row(const struct row *row, bool submitted)
{
    gbx_options options =
        row->worker == HOSTILE ? hostile_options("") : (gbx_options)GBX_OPTIONS_INIT;
    gbx_call call = row->worker == HOSTILE ? script_of(row->code) : call_of(row->code);
    gbx_limits limits = row->limits;
    gbx_engine *engine;
    gbx_result *result;
    json_t *lines;

    limits.struct_size = sizeof limits;
    options.limits = limits;
    audit_log_cleanup(&heard);
    audit_log_init(&heard);
    audit_log_hear(&heard, &options);
    engine = engine_start(&options);
    result = submitted ? run_submitted(engine, &call) : call_run(engine, &call);
    gbx_engine_free(engine);

    if (strcmp(gbx_code_name(gbx_result_code(result)), row->ends) != 0)
        fail_msg("%s: %s", row->cause, gbx_result_json(result, NULL));
    lines = audit_log_lines(&heard);
    check_events(row, lines);
    check_call_id(row, result, lines);
    check_order(lines);
    assert_string_equal(audit_log_text(audit_log_get(lines, "call.ended", 0), "code"),
                        row->ends);
    if (row->field != NULL &&
        strncmp(audit_log_text(audit_log_get(lines, row->events[0], 0), row->field),
                row->text, strlen(row->text)) != 0)
        fail_msg("%s: %s is not '%s'", row->cause, row->field, row->text);
    gbx_result_free(result);
}

static void test_event__is_said_once_by_its_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        run_row(&rows[i], false);
        run_row(&rows[i], true);
    }
}

static bool is_violation_heard(void *log)
{
    return audit_log_heard(log, "protocol.violation") > 0;
}

/* Of workers in the pool, and of one that a call waits for. */
static void test_event__of_a_first_message_names_the_call_that_it_ends(void **state)
{
    gbx_options options = hostile_options("ready-type=5");
    gbx_call call = script_of("result 1");
    gbx_engine *engine;
    gbx_result *result;
    size_t of_call = 0;
    size_t of_engine = 0;
    json_t *lines;
    json_t *line;
    size_t i;

    (void)state;
    audit_log_hear(&heard, &options);
    engine = engine_start(&options);
    assert_true(until(is_violation_heard, &heard, 10000));
    result = call_run(engine, &call);
    gbx_engine_free(engine);

    assert_string_equal(gbx_code_name(gbx_result_code(result)), "VIOLATION");
    lines = audit_log_lines(&heard);
    json_array_foreach(lines, i, line)
    {
        if (strcmp(audit_log_text(line, "event"), "protocol.violation") != 0)
            continue;
        assert_string_equal(
            audit_log_text(line, "message"),
            "the worker broke the protocol with its first message and was killed: it "
            "was not READY (message 5)");
        if (strcmp(audit_log_text(line, "callId"), gbx_result_call_id(result)) == 0)
            of_call++;
        else
            of_engine++;
    }
    assert_int_equal(of_call, 1);
    assert_true(of_engine >= 1);
    assert_int_equal(audit_log_count(lines, "suspicious"), 0); /* no code had it */
    gbx_result_free(result);
}

/* What the code threw, what it was given and what it returned is nobody's log. */
static void test_log__has_nothing_of_input_value_console_or_error(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call =
        call_of("(d) => { console.log(d.a); if (d.t) throw d.a; return d.a }");
    gbx_engine *engine;

    (void)state;
    audit_log_hear(&heard, &options);
    engine = engine_start(&options);
    call.input = "{\"a\":\"canary\",\"t\":true}";
    call.input_len = strlen(call.input);
    check_code(engine, &call, GBX_CODE_RUNTIME);
    call.input = "{\"a\":\"canary\"}";
    call.input_len = strlen(call.input);
    check_code(engine, &call, GBX_CODE_VALUE);
    gbx_engine_free(engine);
    for (size_t i = 0; i < heard.count; i++)
        assert_null(strstr(heard.lines[i], "canary"));
    assert_int_equal(audit_log_count(audit_log_lines(&heard), "call.ended"), 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, before, after)
    static const struct CMUnitTest tests[] = {
        TEST(test_event__is_said_once_by_its_cause),
        TEST(test_event__of_a_first_message_names_the_call_that_it_ends),
        TEST(test_log__has_nothing_of_input_value_console_or_error),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}

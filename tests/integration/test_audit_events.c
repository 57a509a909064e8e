/* SPDX-License-Identifier: MIT */
/* Every event of the security log is said once by its cause, and by nothing else. */
#include "audit/audit.h"
#include "audit_log.h"
#include "calls.h"
#include "proc.h"
#include "table.h"
#include "test.h"
#include "until.h"

#include <stdlib.h>
#include <string.h>

/* ---- one call ------------------------------------------------------------------- */

/* Is it a word of the first line of what is to come? */
static bool is_among(const char *name, const table_block *row)
{
    size_t len = strlen(name);
    size_t line_len = strcspn(row->value, "\n");

    for (const char *at = row->value; (at = strstr(at, name)) != NULL; at += len)
        if ((size_t)(at - row->value) < line_len && at != row->value && at[-1] == ' ' &&
            (at[len] == ' ' || at[len] == '\n' || at[len] == 0))
            return true;
    return false;
}

/* Each event as often as the row says, in the log and by the callback. */
static void check_events(const table_block *row, json_t *lines)
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
            fail_msg("%s: %zu lines of %s, %zu events", row->name,
                     audit_log_count(lines, name), name, audit_log_heard(&heard, name));
    }
}

/* The same name in the result, in every line and in every event of the call. */
static void check_call_id(const table_block *row, gbx_result *result, json_t *lines)
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
                     strcspn(row->value, " ") < strcspn(row->value, "\n"));
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

static void run_row(const table_block *row, bool submitted)
{
    bool is_hostile = table_number(row, "hostile", 0) != 0;
    gbx_options options =
        is_hostile ? hostile_options("") : (gbx_options)GBX_OPTIONS_INIT;
    gbx_call call = is_hostile ? script_of(row->text) : call_of(row->text);
    char ends[32], first[32] = "", field[32], text[256];
    const char *second = strchr(row->value, '\n');
    gbx_engine *engine;
    gbx_result *result;
    json_t *lines;

    options.limits = (gbx_limits)GBX_LIMITS_INIT;
    options.limits.timeout_ms = (uint32_t)table_number(row, "timeout_ms", 0);
    options.limits.cpu_ms = (uint32_t)table_number(row, "cpu_ms", 0);
    options.limits.memory_bytes = table_number(row, "memory_bytes", 0);
    options.limits.code_bytes = (uint32_t)table_number(row, "code_bytes", 0);
    options.limits.host_calls = (uint32_t)table_number(row, "host_calls", 0);
    assert_true(sscanf(row->value, "%31s %31s", ends, first) > 0);
    audit_log_cleanup(&heard);
    audit_log_init(&heard);
    audit_log_hear(&heard, &options);
    engine = engine_start(&options);
    result = submitted ? run_submitted(engine, &call) : call_run(engine, &call);
    gbx_engine_free(engine);

    if (strcmp(gbx_code_name(gbx_result_code(result)), ends) != 0)
        fail_msg("%s: %s", row->name, gbx_result_json(result, NULL));
    lines = audit_log_lines(&heard);
    check_events(row, lines);
    check_call_id(row, result, lines);
    check_order(lines);
    assert_string_equal(audit_log_text(audit_log_get(lines, "call.ended", 0), "code"),
                        ends);
    if (second != NULL) {
        assert_int_equal(sscanf(second + 1, "%31s %255[^\n]", field, text), 2);
        if (strncmp(audit_log_text(audit_log_get(lines, first, 0), field), text,
                    strlen(text)) != 0)
            fail_msg("%s: %s is not '%s'", row->name, field, text);
    }
    gbx_result_free(result);
}

AUDIT_TEST(event__is_said_once_by_its_cause)
{
    const table_block *rows;
    size_t count = table_blocks("integration/scripts/audit_events.txt", &rows);

    for (size_t i = 0; i < count; i++) {
        run_row(&rows[i], false);
        run_row(&rows[i], true);
    }
}

static bool is_violation_heard(void *log)
{
    return audit_log_heard(log, "protocol.violation") > 0;
}

/* Of workers in the pool, and of one that a call waits for. */
AUDIT_TEST(event__of_a_first_message_names_the_call_that_it_ends)
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
AUDIT_TEST(log__has_nothing_of_input_value_console_or_error)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call =
        call_of("(d) => { console.log(d.a); if (d.t) throw d.a; return d.a }");
    gbx_engine *engine;

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

TEST_MAIN(NULL, NULL)

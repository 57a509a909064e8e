/* SPDX-License-Identifier: MIT */
/* What code does to a security log that it wants to forge, to flood, or not to be in. */
#include "audit_world.h"
#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As docs/internals/security-log.md has them. */
#define HOST_LINES    200
#define REFUSAL_LINES 50
#define AT_ONCE       500

static host_functions host;

/* ---- floods --------------------------------------------------------------------------- */

AUDIT_TEST(flood__of_refusals_is_counted_not_written)
{
    gbx_options options = audit_options(&heard);
    gbx_engine *engine = audit_start(&options, &host);
    gbx_call call = call_of(AUDIT_REFUSED(10000));
    json_t *lines;

    check_code(engine, &call, GBX_CODE_VALUE);
    gbx_engine_free(engine);
    lines = audit_log_lines(&heard);
    assert_int_equal(audit_log_count(lines, "host.refused"), REFUSAL_LINES);
    assert_int_equal(audit_log_heard(&heard, "host.refused"), REFUSAL_LINES);
    assert_int_equal(audit_log_count(lines, "suspicious"), 1);
    assert_int_equal(audit_log_count(lines, "log.dropped"), 1);
    assert_int_equal(audit_log_heard(&heard, "log.dropped"), 1);
    assert_int_equal(audit_log_number(audit_log_get(lines, "log.dropped", 0), "lines"),
                     10000 - REFUSAL_LINES);
    assert_int_equal(audit_log_number(audit_log_get(lines, "engine.ended", 0),
                                      "linesDropped"),
                     10000 - REFUSAL_LINES);
    /* engine.*, call.*, and those above */
    assert_int_equal(json_array_size(lines), 4 + REFUSAL_LINES + 2);
}

AUDIT_TEST(flood__of_calls_is_counted_not_written)
{
    gbx_options options = audit_options(&heard);
    gbx_engine *engine = audit_start(&options, &host);
    gbx_call call =
        call_of("async () => { for (let i = 0; i < 5000; i++) { await echo();"
                " await nothing() } }");
    json_t *lines;

    check_code(engine, &call, GBX_CODE_VALUE);
    gbx_engine_free(engine);
    lines = audit_log_lines(&heard);
    assert_int_equal(audit_log_count(lines, "host.call"), HOST_LINES);
    assert_int_equal(audit_log_number(audit_log_get(lines, "log.dropped", 0), "lines"),
                     10000 - HOST_LINES);
    assert_int_equal(json_array_size(lines), 4 + HOST_LINES + 1);
}

/* At the bound nothing is left out, and nothing is said of it. */
AUDIT_TEST(flood__begins_past_the_bound)
{
    static const struct {
        const char *code;
        const char *event;
        size_t lines;
        size_t dropped;
    } table[] = {
        {"async () => { for (let i = 0; i < 200; i++) await echo() }", "host.call",
         HOST_LINES, 0},
        {"async () => { for (let i = 0; i < 201; i++) await echo() }", "host.call",
         HOST_LINES, 1},
        {AUDIT_REFUSED(50), "host.refused", REFUSAL_LINES, 0},
        {AUDIT_REFUSED(51), "host.refused", REFUSAL_LINES, 1},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        gbx_options options;
        gbx_call call = call_of(table[i].code);
        gbx_engine *engine;
        json_t *lines;

        audit_log_cleanup(&heard);
        audit_log_init(&heard);
        options = audit_options(&heard);
        engine = audit_start(&options, &host);
        check_code(engine, &call, GBX_CODE_VALUE);
        gbx_engine_free(engine);
        lines = audit_log_lines(&heard);
        assert_int_equal(audit_log_count(lines, table[i].event), table[i].lines);
        assert_int_equal(audit_log_count(lines, "log.dropped"), table[i].dropped);
    }
}

/* Many calls, none of them over its own bound. */
AUDIT_TEST(flood__of_many_calls_meets_the_bound_of_the_engine)
{
    enum { CALLS = 20 };
    gbx_options options = audit_options(&heard);
    gbx_engine *engine = audit_start(&options, &host);
    gbx_call call = call_of(AUDIT_REFUSED(50));
    double begun = now_ms();
    double dropped = 0;
    double allowed;
    size_t said;
    json_t *lines;

    for (int i = 0; i < CALLS; i++)
        check_code(engine, &call, GBX_CODE_VALUE);
    allowed = AT_ONCE + (now_ms() - begun) / 1000 * 10 + 1;
    gbx_engine_free(engine);
    lines = audit_log_lines(&heard);
    said = audit_log_count(lines, "host.refused");
    for (size_t i = 0; i < audit_log_count(lines, "log.dropped"); i++)
        dropped += audit_log_number(audit_log_get(lines, "log.dropped", i), "lines");
    assert_int_equal(said + (size_t)dropped, CALLS * 50);
    assert_true(said >= AT_ONCE && (double)said <= allowed);
}

/* ---- forgery -------------------------------------------------------------------------- */

#define FORGED \
    "\\n{\\\"time\\\":\\\"x\\\",\\\"seq\\\":1,\\\"event\\\":\\\"call.ended\\\"}\\n"

/* Paths that a call asks for, as JavaScript writes them. */
static const char *const paths[] = {
    "'/x" FORGED "'",
    "'/x\\\",\\\"event\\\":\\\"call.ended'",
    "'/\\u001b[2J\\u001b[31m\\u0007\\b\\r'",
    "'/\\u2028\\u2029\\u0085\\u202e\\u2066\\ufeff'",
    "'/\\udc00\\ud800'",
    "'/' + String.fromCharCode(...Array.from({ length: 160 }, (_, i) => i + 1))",
    "'/' + '\\\\'.repeat(1 << 20)",
    "'/' + '\\u{1f600}'.repeat(1 << 18)",
    "'/' + '\"'.repeat(300)",
    "'/x\\u0000hidden'",
};

AUDIT_TEST(forgery__by_paths)
{
    gbx_options options = audit_options(&heard);
    gbx_engine *engine = audit_start(&options, &host);
    json_t *lines;

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char code[512];
        gbx_call call;

        (void)snprintf(code, sizeof code,
                       "async () => { await fs.promises.readFile(%s).catch(() => 0) }",
                       paths[i]);
        call = call_of(code);
        check_code(engine, &call, GBX_CODE_VALUE);
    }
    gbx_engine_free(engine);
    lines = audit_log_lines(&heard); /* each of them is one line, and harmless */
    assert_int_equal(audit_log_count(lines, "call.ended"),
                     sizeof paths / sizeof paths[0]);
    assert_int_equal(audit_log_count(lines, "host.refused") +
                         audit_log_count(lines, "host.call"),
                     sizeof paths / sizeof paths[0]);
    assert_true(audit_log_count(lines, "suspicious") <= 1);
    assert_int_equal(json_array_size(lines), 2 + 3 * sizeof paths / sizeof paths[0] +
                                                 audit_log_count(lines, "suspicious"));
}

static void put_hex(char *to, const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        (void)snprintf(to + 2 * i, 3, "%02x", data[i]);
}

/* A HOSTCALL of a function of this name, as a line of a hostile worker's script. */
static void call_named(char *to, size_t size, const void *name, uint8_t name_len)
{
    uint8_t body[512] = {1, 0, 0, 0, name_len, 0, 0, 0};
    const uint8_t rest[] = {2, 0, 0, 0, '[', ']', 0, 0, 0, 0};
    char hex[1024];

    memcpy(body + 8, name, name_len);
    memcpy(body + 8 + name_len, rest, sizeof rest);
    put_hex(hex, body, 8 + name_len + sizeof rest);
    (void)snprintf(to, size, "frame 7 %s\nwait 60000\nawait\nresult 1", hex);
}

AUDIT_TEST(forgery__by_names_of_a_hijacked_worker)
{
    static const struct {
        const char *name;
        uint8_t len;
    } table[] = {
        {"a\n{\"event\":\"call.ended\"}", 24},
        {"a\",\"callId\":\"x", 14},
        {"\033[31mred", 8},
        {"\xFF\xFE\xC0\x80", 4},
        {"a\0b", 3},
        {"\xE2\x80\xA8\xE2\x80\xAE", 6},
        {"%s%n%p", 6},
        {"fs.readFile", 11},
        {"fetch", 5},
        {"__proto__", 9},
    };
    gbx_options options = hostile_options("");
    char longest[255];
    gbx_engine *engine;
    json_t *lines;

    options.limits.timeout_ms = 60000;
    audit_log_hear(&heard, &options);
    engine = engine_start(&options);
    memset(longest, '\n', sizeof longest);
    for (size_t i = 0; i <= sizeof table / sizeof table[0]; i++) {
        bool last = i == sizeof table / sizeof table[0];
        char script[2048];
        gbx_call call;

        call_named(script, sizeof script, last ? longest : table[i].name,
                   last ? sizeof longest : table[i].len);
        call = script_of(script);
        check_code(engine, &call, GBX_CODE_VALUE);
    }
    gbx_engine_free(engine);
    lines = audit_log_lines(&heard);
    assert_int_equal(audit_log_count(lines, "host.refused"),
                     sizeof table / sizeof table[0] + 1);
    assert_string_equal(audit_log_text(audit_log_get(lines, "host.refused", 0),
                                       "function"),
                        "a\\n{\"event\":\"call.ended\"}");
    assert_string_equal(audit_log_text(audit_log_get(lines, "host.refused", 4),
                                       "function"),
                        "a\\u{1}b");
    for (size_t i = 0; i < heard.event_count; i++)
        assert_null(strpbrk(heard.events[i].detail, "\n\033"));
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/* What adds up over the calls of an engine, and what many threads make of its log. */
#include "audit_world.h"
#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <stdatomic.h>
#include <string.h>

static host_functions host;

/* ---- suspicion ------------------------------------------------------------------------ */

static size_t suspicions(uint32_t threshold, const char *const *codes)
{
    gbx_options options;
    gbx_engine *engine;
    size_t count;

    audit_log_cleanup(&heard);
    audit_log_init(&heard);
    options = audit_options(&heard);
    options.suspicious_refusals = threshold;
    engine = audit_start(&options, &host);
    for (; *codes != NULL; codes++) {
        gbx_call call = call_of(*codes);
        gbx_result *result = call_run(engine, &call);

        gbx_result_free(result);
    }
    gbx_engine_free(engine);
    count = audit_log_count(audit_log_lines(&heard), "suspicious");
    assert_int_equal(audit_log_heard(&heard, "suspicious"), count);
    return count;
}

#define REQUIRE "() => require('fs')"

AUDIT_TEST(suspicion__at_the_threshold_and_not_one_below)
{
    static const struct {
        uint32_t threshold;
        const char *codes[8];
        size_t count;
    } table[] = {
        {0, {AUDIT_REFUSED(4)}, 0},
        {0, {AUDIT_REFUSED(5)}, 1},
        {0, {AUDIT_REFUSED(4), "() => 1"}, 0},
        {0, {AUDIT_REFUSED(4), AUDIT_REFUSED(1)}, 1},
        {0, {REQUIRE, REQUIRE, REQUIRE, REQUIRE}, 0},
        {0, {REQUIRE, REQUIRE, REQUIRE, REQUIRE, REQUIRE}, 1},
        {0, {REQUIRE, REQUIRE, AUDIT_REFUSED(2)}, 0},
        {0, {REQUIRE, REQUIRE, AUDIT_REFUSED(3)}, 1},
        {0, {"() => [require('fs'), process, eval('1'), fetch]"}, 0},
        {0, {"() => [require('fs'), process, eval('1'), import('x'), global]"}, 1},
        {3, {AUDIT_REFUSED(2)}, 0},
        {3, {AUDIT_REFUSED(3)}, 1},
        {1, {AUDIT_REFUSED(1)}, 1},
        {100, {AUDIT_REFUSED(99)}, 0},
        {100, {AUDIT_REFUSED(100)}, 1},
        /* Mistakes, not attempts. */
        {1,
         {"() => { throw 1 }", "() => {", "1 + 1", "async () => { await fail() }"},
         0},
        {1,
         {"async () => { await fs.promises.readFile('/usr/share/x').catch(() => 0) }"},
         0},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        size_t count = suspicions(table[i].threshold, table[i].codes);

        if (count != table[i].count)
            fail_msg("row %zu: %zu", i, count);
    }
}

AUDIT_TEST(suspicion__says_of_what_and_of_whom)
{
    static const char *const codes[] = {REQUIRE, AUDIT_REFUSED(2), AUDIT_REFUSED(3),
                                        NULL};
    json_t *line;
    json_t *ids;

    assert_int_equal(suspicions(0, codes), 1);
    line = audit_log_get(heard.parsed, "suspicious", 0);
    assert_int_equal(audit_log_number(line, "refusals"), 5);
    assert_int_equal(audit_log_number(json_object_get(line, "counts"), "patterns"), 1);
    assert_int_equal(audit_log_number(json_object_get(line, "counts"), "paths"), 4);
    ids = json_object_get(line, "callIds");
    assert_int_equal(json_array_size(ids), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(
            json_string_value(json_array_get(ids, i)),
            audit_log_text(audit_log_get(heard.parsed, "call.started", i), "callId"));
    /* The call that completed it. */
    assert_string_equal(audit_log_text(line, "callId"),
                        json_string_value(json_array_get(ids, 2)));
}

/* Killed calls count as refusals do, and with them. */
AUDIT_TEST(suspicion__counts_calls_killed_at_a_limit)
{
    static const char *const codes[] = {
        "() => { for (;;); }", REQUIRE,
        "() => { const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1)); }"};
    gbx_options options = audit_options(&heard);
    gbx_engine *engine;
    json_t *line;
    json_t *counts;

    options.suspicious_refusals = 3;
    engine = audit_start(&options, &host);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        gbx_limits limits = GBX_LIMITS_INIT;
        gbx_call call = call_of(codes[i]);

        limits.timeout_ms = i == 0 ? 100 : 60000;
        limits.memory_bytes = 32 << 20;
        call.limits = &limits;
        gbx_result_free(call_run(engine, &call));
    }
    gbx_engine_free(engine);
    assert_int_equal(audit_log_count(audit_log_lines(&heard), "suspicious"), 1);
    line = audit_log_get(heard.parsed, "suspicious", 0);
    assert_int_equal(audit_log_number(line, "refusals"), 3);
    counts = json_object_get(line, "counts");
    assert_int_equal(audit_log_number(counts, "timeouts"), 1);
    assert_int_equal(audit_log_number(counts, "memory"), 1);
    assert_int_equal(audit_log_number(counts, "patterns"), 1);
}

/* ---- threads -------------------------------------------------------------------------- */

enum { THREADS = 8, CALLS_EACH = 25 };

typedef struct crowd {
    gbx_engine *engine;
    inbox box;
    atomic_size_t wrong;
} crowd;

static void make_calls(void *user, size_t number)
{
    static const char *const codes[] = {
        "async () => { await echo(); await db.late(1); await fs.promises.readFile(['',"
        " 'etc', 'x'].join('/')).catch(() => 0) }",
        "() => require('fs')",
        "async () => { db.never(); await Promise.all([echo(), echo(), db.late(2)]) }",
    };
    crowd *c = user;

    for (size_t i = 0; i < CALLS_EACH; i++) {
        gbx_call call = call_of(codes[(number + i) % 3]);
        gbx_result *result = NULL;

        if (i % 2 == 0) {
            c->wrong +=
                gbx_submit(c->engine, &call, inbox_done, &c->box, NULL, NULL) != GBX_OK;
        } else {
            c->wrong += gbx_execute(c->engine, &call, &result, NULL) != GBX_OK;
            gbx_result_free(result);
        }
    }
}

/* In the order of coming: first line, others with rising numbers, last line. */
static void check_call(json_t *lines, const char *id)
{
    json_int_t before_it = 0;
    const char *last = "";
    json_t *line;
    size_t count = 0;
    size_t i;

    json_array_foreach(lines, i, line)
    {
        json_int_t seq = json_integer_value(json_object_get(line, "seq"));
        const char *event = audit_log_text(line, "event");

        if (strcmp(audit_log_text(line, "callId"), id) != 0)
            continue;
        assert_int_equal(count == 0, strcmp(event, "call.started") == 0);
        assert_true(seq > before_it);
        assert_string_not_equal(last, "call.ended");
        before_it = seq;
        last = event;
        count++;
    }
    assert_string_equal(last, "call.ended");
}

AUDIT_TEST(threads__keep_every_line_whole_and_every_call_in_order)
{
    gbx_options options = audit_options(&heard);
    crowd c = {0};
    json_t *lines;

    c.engine = audit_start(&options, &host);
    inbox_init(&c.box, THREADS * CALLS_EACH + 8);
    threads_run(THREADS, make_calls, &c);
    assert_true(inbox_wait(&c.box, THREADS * ((CALLS_EACH + 1) / 2), 120000));
    host_functions_settle(&host);
    gbx_engine_free(c.engine);
    assert_int_equal(c.wrong, 0);
    lines = audit_log_lines(&heard);
    assert_int_equal(audit_log_count(lines, "call.started"), THREADS * CALLS_EACH);
    assert_int_equal(audit_log_count(lines, "call.ended"), THREADS * CALLS_EACH);
    for (size_t i = 0; i < THREADS * CALLS_EACH; i++)
        check_call(lines,
                   audit_log_text(audit_log_get(lines, "call.started", i), "callId"));
    inbox_cleanup(&c.box);
}

/* ---- the callback --------------------------------------------------------------------- */

static struct {
    gbx_engine *engine;
    gbx_signal *signal;
} at_hand;

static void abort_at_first_call(void *user, const char *line, size_t len)
{
    if (strstr(line, "\"event\":\"host.call\"") != NULL)
        gbx_signal_abort(at_hand.signal);
}

/* No lock is held around it that an abort needs. */
AUDIT_TEST(callback__may_abort_the_call_that_it_hears_of)
{
    gbx_options options = audit_options(&heard);
    gbx_call call = call_of("async () => { await echo(); await sleep(100000) }");

    options.on_audit = abort_at_first_call;
    at_hand.engine = audit_start(&options, &host);
    at_hand.signal = gbx_signal_new();
    call.signal = at_hand.signal;
    check_code(at_hand.engine, &call, GBX_CODE_ABORTED);
    gbx_engine_free(at_hand.engine);
    gbx_signal_free(at_hand.signal);
}

TEST_MAIN(NULL, NULL)

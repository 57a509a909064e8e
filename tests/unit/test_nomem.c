/* SPDX-License-Identifier: MIT */
/*
 * Without memory: every allocation of every path that needs no process fails once, and
 * with all that follow it. Each time: a clean refusal, no leak (the sanitizer's and
 * valgrind's runs look), counts and lists that agree, and all well again afterwards.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "guard/guard.h"
#include "peer.h"
#include "puppet.h"
#include "support/failing_malloc.h"
#include "test.h"

/* More than any scenario here allocates: a sweep that gets here has gone astray. */
#define ALLOCATIONS_MAX 5000

/* Do all of it; true if none of it was refused for want of memory. Arms and disarms
 * nothing; what must hold whatever happens is asserted. */
typedef bool (*scenario_fn)(void);

/* Let each allocation fail in turn until a whole run has none. */
static size_t sweep(scenario_fn scenario, failing_malloc_how how)
{
    for (size_t nth = 1; nth < ALLOCATIONS_MAX; nth++) {
        bool done;
        bool failed;

        failing_malloc_arm(nth, how);
        done = scenario();
        failed = failing_malloc_disarm();
        if (done == failed)
            fail_msg("allocation %zu: refused %d, done %d", nth, failed, done);
        if (!failed)
            return nth - 1;
        assert_true(scenario());
    }
    fail_msg("no end");
    return 0;
}

static void sweep_both(scenario_fn scenario)
{
    size_t once = sweep(scenario, FAIL_ONCE);

    assert_true(once > 0);
    assert_int_equal(sweep(scenario, FAIL_FROM_THEN_ON), once);
}

/* ---- base ------------------------------------------------------------------------ */

static bool write_json(void)
{
    uint8_t long_text[2000];
    char *text;
    gbx_buf buf;

    memset(long_text, 0x1B, sizeof long_text);
    gbx_buf_init(&buf, GBX_KIB(64));
    (void)gbx_json_append_number(&buf, 0.125);
    (void)gbx_json_append_string(&buf, long_text, sizeof long_text);
    (void)gbx_utf8_append_escaped(&buf, long_text, sizeof long_text, GBX_ESCAPE_LINE);
    text = gbx_buf_take_string(&buf, NULL);
    assert_null(buf.data);
    free(text);
    return text != NULL;
}

static bool join_lines(void)
{
    static const char lines[] =
        "{\"a\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]}\n"
        "{\"a\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]}\n"
        "{\"a\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]}\n";
    gbx_json_fault fault;
    gbx_buf buf;
    bool done;

    gbx_buf_init(&buf, 1000);
    done = gbx_json_from_lines(lines, sizeof lines - 1, &buf, &fault);
    assert_null(fault.message); /* the lines are innocent */
    gbx_buf_cleanup(&buf);
    return done;
}

TEST(base__is_refused_cleanly)
{
    sweep_both(write_json);
    sweep_both(join_lines);
}

/* ---- a call's words ----------------------------------------------------------------- */

/* CALL out; twenty lines, WAIT, WAKE, and the last message in, in small pieces. */
static bool converse(gbx_msg_type last)
{
    static const char text[] = "a line that is long enough to be kept somewhere";
    gbx_msg_log line = {.level = 1, .text = {(const uint8_t *)text, sizeof text - 1}};
    gbx_limits limits = {.output_bytes = 100, .log_bytes = 10000};
    gbx_msg_call call = {.code = line.text, .input = line.text};
    gbx_result *r = gbx_result_new();
    bool done = r != NULL;
    gbx_exchange x;
    gbx_buf said;

    if (!done)
        return false;
    gbx_exchange_init(&x, GOLDEN_CALL_ID, &limits, r);
    gbx_buf_init(&said, GBX_KIB(16));
    done = gbx_exchange_call(&x, &call);
    for (int i = 0; i < 20; i++)
        (void)gbx_msg_put(&said, GOLDEN_CALL_ID, &line);
    (void)golden_of(GBX_MSG_WAIT)->encode(&said);
    for (size_t at = 0; at < said.len && !said.failed; at += 50)
        gbx_exchange_feed(&x, said.data + at, said.len - at < 50 ? said.len - at : 50,
                          0);
    done = done && !said.failed;
    if (x.state == GBX_EXCHANGE_WAITING)
        done = gbx_exchange_wake(&x) && done;
    said.len = 0;
    (void)golden_of(last)->encode(&said);
    if (!said.failed && x.state == GBX_EXCHANGE_RUNNING && !x.is_nomem)
        gbx_exchange_feed(&x, said.data, said.len, 0);
    done = done && !said.failed && !x.is_nomem;
    assert_true(!done || gbx_exchange_has_ended(&x));
    assert_int_not_equal(x.state, GBX_EXCHANGE_BROKEN);
    gbx_buf_cleanup(&said);
    gbx_exchange_cleanup(&x);
    gbx_result_free(r);
    return done;
}

static bool converse_to_a_value(void)
{
    return converse(GBX_MSG_RESULT);
}

static bool converse_to_an_error(void)
{
    return converse(GBX_MSG_ERROR);
}

TEST(exchange__says_that_the_host_has_no_memory)
{
    sweep_both(converse_to_a_value);
    sweep_both(converse_to_an_error);
}

/* ---- results -------------------------------------------------------------------------- */

static bool fill_result(void)
{
    const gbx_msg_error error = {.message = {(const uint8_t *)"m", 1}};
    gbx_result *r = gbx_result_new();
    bool done;

    if (r == NULL)
        return false;
    done =
        gbx_result_add_log(r, GBX_LOG_LOG, 1, error.message, 1000, GBX_LOG_GOES_ON) &&
        gbx_result_add_log(r, GBX_LOG_LOG, 1, error.message, 1000, 0);
    done = gbx_result_set_value(r, false, error.message) && done;
    done = gbx_result_set_thrown(r, &error) && done;
    done = gbx_result_fail(r, GBX_CODE_RUNTIME, "why", "") && done;
    assert_int_equal(gbx_result_code(r), GBX_CODE_RUNTIME);
    assert_non_null(gbx_result_error(r));
    done = gbx_result_json(r, NULL) != NULL && done;
    gbx_result_free(r);
    return done;
}

TEST(result__is_refused_cleanly)
{
    sweep_both(fill_result);
}

TEST(result__json_can_be_asked_for_again)
{
    gbx_result *r = gbx_result_new();
    size_t len = 9;
    assert_non_null(r);

    failing_malloc_arm(1, FAIL_ONCE);
    assert_null(gbx_result_json(r, &len));
    assert_true(failing_malloc_disarm());
    assert_int_equal(len, 0);

    assert_non_null(gbx_result_json(r, &len));
    assert_true(len > 0);
    gbx_result_free(r);
}

static bool make_signal(void)
{
    gbx_signal *signal = gbx_signal_new();
    bool done = signal != NULL;

    if (done)
        gbx_signal_abort(signal);
    gbx_signal_free(signal);
    return done;
}

TEST(signal__is_refused_cleanly)
{
    sweep_both(make_signal);
}

/* ---- the guard -------------------------------------------------------------------------- */

static bool guard(const char *code, gbx_form form)
{
    gbx_guard_span span;
    gbx_report *report = NULL;
    gbx_error error = {.status = GBX_OK};
    gbx_status status =
        gbx_guard_check(code, strlen(code), form, 65536, NULL, &span, &report, &error);

    assert_true(status == GBX_OK || status == GBX_E_NOMEM);
    assert_int_equal(error.status, status);
    gbx_report_free(report);
    if (status != GBX_OK)
        return false;
    status = gbx_check(code, strlen(code), form, NULL, &report, &error);
    assert_true(status == GBX_OK || status == GBX_E_NOMEM);
    if (status == GBX_OK)
        gbx_report_free(report);
    return status == GBX_OK;
}

static bool guard_good_code(void)
{
    return guard("(data) => data.filter(d => d.a > 1).map(({a, b}) => `${a}:${b}`)",
                 GBX_FORM_FUNCTION);
}

static bool guard_bad_code(void)
{
    return guard("(d) => { require('fs'); process.exit(); eval('1'); import('x') }",
                 GBX_FORM_FUNCTION);
}

static bool guard_no_code(void)
{
    return guard("(d) => { const x: number = ; }", GBX_FORM_SCRIPT);
}

static bool frame(void)
{
    char *text = gbx_guard_frame("line one\nline two\nline three", 28, 2, 3);

    free(text);
    return text != NULL;
}

TEST(guard__is_refused_cleanly)
{
    sweep_both(guard_good_code);
    sweep_both(guard_bad_code);
    sweep_both(guard_no_code);
    sweep_both(frame);
}

/* ---- the pool ----------------------------------------------------------------------------- */

/* A template serves, its first workers are asked for and made, one ends. */
static bool keep_pool(puppet *p)
{
    gbx_engine *e = &p->engine;
    uint64_t first;
    bool heard;

    heard = puppet_say_hello(p);
    assert_true(puppet_is_sound(p));
    if (!heard)
        return false;
    /* Every worker that is counted was asked for. */
    if (puppet_count_sent(p, GBX_MSG_FORK) != e->coming)
        fail_msg("a fork was lost");
    if (e->coming < e->settings.options.pool_size)
        return false;
    first = e->next_worker - e->coming + 1;
    heard = puppet_say_forked(p, first, 0);
    assert_true(puppet_is_sound(p));
    if (!heard)
        return false;
    puppet_say_ready(p, 0);
    heard = puppet_say_exited(p, first, 0);
    assert_true(puppet_is_sound(p));
    return heard && puppet_count_sent(p, GBX_MSG_FORK) == 1;
}

TEST(pool__counts_what_it_asked_for_and_no_more)
{
    bool failed = true;
    size_t nth;

    for (nth = 1; failed && nth < ALLOCATIONS_MAX; nth++) {
        GBX_CLEANUP(puppet_cleanup) puppet p;
        bool done;

        puppet_init(&p, NULL);
        failing_malloc_arm(nth, FAIL_ONCE);
        done = keep_pool(&p);
        failed = failing_malloc_disarm();
        assert_true(failed || done);
        if (p.engine.current != NULL) {
            gbx_pool_fill(&p.engine); /* as the supervisor's tick does */
            assert_int_equal(p.engine.ready_count + p.engine.coming,
                             p.engine.settings.options.pool_size);
        }
        assert_true(puppet_is_sound(&p));
    }
    assert_true(nth > 5);
}

int main(void)
{
    failing_malloc_take_libevent();
    return tests_run(NULL, NULL);
}

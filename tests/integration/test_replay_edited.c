/* SPDX-License-Identifier: MIT */
/* Recordings that were edited, calls that were stopped: what a replay says of them. */
#include "calls.h"
#include "host_functions.h"
#include "replays.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gbx_engine *engine;
static host_functions host;
static char *text; /* of three calls, one after the other */

static const char code[] =
    "async () => { const a = await echo('first'); const b = await echo('second', a); "
    "console.log('between'); const c = await echo('third'); return [a, b, c]; }";

static int start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call call = call_of(code);

    (void)state;
    engine = engine_start(&options);
    host_functions_expose(&host, engine);
    text = record_call(engine, &call, 0, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    free(text);
    gbx_engine_free(engine);
    return 0;
}

static void check_edit(char *changed, unsigned host_call, const char *what,
                       const char *came)
{
    gbx_result *result = replay_in(engine, changed, NULL);

    check_diverged(result, host_call, what, came);
    gbx_result_free(result);
    free(changed);
}

static void test_other_arguments__are_found_at_their_call(void **state)
{
    (void)state;

    check_edit(edited(text, "await echo('third')", "await echo('THIRD')"), 3,
               "another function", "echo [\"THIRD\"]");
}

static void test_another_function__is_found(void **state)
{
    (void)state;

    check_edit(edited(text, "await echo('third')", "await db.twice('third')"), 3,
               "another function", "db.twice");
}

static void test_one_call_more_or_less__is_found(void **state)
{
    (void)state;

    check_edit(edited(text, "return [", "await echo('more'); return ["), 4,
               "calls a function", "more");
    check_edit(edited(text, "const c = await echo('third')", "const c = 1"), 0,
               "the call ends", "the end: OK");
}

static void test_another_answer__is_found_where_it_matters(void **state)
{
    (void)state;

    check_edit(edited(text, "\"json\":\"[\\\"first\\\"]\"", "\"json\":\"[0]\""), 2,
               "another function", "echo [\"second\",[0]]");
    check_edit(edited(text, "\"json\":\"[\\\"third\\\"]\"", "\"json\":\"[3]\""), 0,
               "the value is another", "[3]");
}

static void test_an_answer_that_is_gone__is_found(void **state)
{
    (void)state;

    check_edit(without_line(text, line_of(text, "answer", 2)), 2, "waits for the host",
               "a wait");
}

static void test_a_call_that_is_gone__is_found(void **state)
{
    char *once = without_line(text, line_of(text, "answer", 2));
    (void)state;

    check_edit(without_line(once, line_of(once, "request", 2)), 2, "calls a function",
               "second");
    free(once);
}

static void test_another_end__is_found(void **state)
{
    (void)state;

    check_edit(edited(text, "'between'", "'Between'"), 0, "console lines", "1 lines");
    check_edit(edited(text, "return [a, b, c]", "return a"), 0, "the value is another",
               "[\"first\"]");
    check_edit(edited(text, "return [a, b, c]", "return null.x"), 0,
               "ends in another way", "TypeError");
    check_edit(edited(text, "() => {", "() => ("), 0, "the call ends", "SYNTAX");
}

/* ---- calls that were stopped --------------------------------------------------- */

static void check_up_to(gbx_call *call, gbx_code ended, unsigned host_calls)
{
    gbx_result *recorded, *replayed;
    char *stopped = record_call(engine, call, 0, &recorded);

    assert_int_equal(gbx_result_code(recorded), ended);
    replayed = replay_in(engine, stopped, NULL);
    if (gbx_result_replay(replayed).how != GBX_REPLAYED_UP_TO)
        fail_msg("%s", gbx_result_json(replayed, NULL));
    assert_int_equal(gbx_result_code(replayed), ended);
    assert_string_equal(gbx_result_error(replayed), gbx_result_error(recorded));
    assert_int_equal(gbx_result_replay(replayed).host_calls, host_calls);
    gbx_result_free(replayed);
    gbx_result_free(recorded);
    free(stopped);
}

static void test_a_timeout__is_replayed_up_to_where_it_waited(void **state)
{
    gbx_limits limits = timeout_of(300);
    gbx_call call = call_of("async () => { await echo(1); await db.never(); }");

    (void)state;
    call.limits = &limits;
    check_up_to(&call, GBX_CODE_TIMEOUT, 2);
}

static void test_a_timeout_of_a_loop__is_replayed_up_to_it(void **state)
{
    gbx_limits limits = timeout_of(300);
    gbx_call call = call_of("async () => { await echo(1); for (;;); }");

    (void)state;
    call.limits = &limits;
    check_up_to(&call, GBX_CODE_TIMEOUT, 1);
}

static void test_memory__is_replayed_up_to_where_it_ended(void **state)
{
    gbx_limits limits = GBX_LIMITS_INIT;
    gbx_call call = call_of("async () => { await echo(1); const a = []; for (;;) "
                            "a.push(new Uint8Array(1000000).fill(1)); }");

    (void)state;
    limits.memory_bytes = 32 << 20;
    call.limits = &limits;
    check_up_to(&call, GBX_CODE_MEMORY, 1);
}

static void test_an_aborted_call__is_replayed_up_to_it(void **state)
{
    gbx_signal *signal = gbx_signal_new();
    gbx_call call = call_of("() => 1");

    (void)state;
    gbx_signal_abort(signal);
    call.signal = signal;
    check_up_to(&call, GBX_CODE_ABORTED, 0);
    gbx_signal_free(signal);
}

static void test_a_replay_that_is_stopped__is_unfinished(void **state)
{
    gbx_recording *recording = recording_of(text);
    gbx_signal *signal = gbx_signal_new();
    gbx_call call = GBX_CALL_INIT;
    gbx_result *result;

    (void)state;
    gbx_signal_abort(signal);
    call.replay = recording;
    call.signal = signal;
    result = call_run(engine, &call);

    assert_int_equal(gbx_result_code(result), GBX_CODE_ABORTED);
    assert_int_equal(gbx_result_replay(result).how, GBX_REPLAYED_UNFINISHED);
    gbx_result_free(result);
    gbx_signal_free(signal);
    gbx_recording_free(recording);
}

static void test_a_recording_that_says_it_is_cut__is_replayed_up_to_there(void **state)
{
    char *cut = edited(text, "\"whole\":true", "\"whole\":false");
    char *shorter = without_line(cut, line_of(cut, "wake", 3));
    gbx_recording *recording = recording_of(shorter);
    gbx_result *result = replay_in(engine, shorter, NULL);

    (void)state;
    assert_int_equal(gbx_recording_is_whole(recording), 0);
    assert_int_equal(gbx_result_replay(result).how, GBX_REPLAYED_UP_TO);
    assert_int_equal(gbx_result_replay(result).host_calls, 3);
    gbx_result_free(result);
    gbx_recording_free(recording);
    free(shorter);
    free(cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_arguments__are_found_at_their_call),
        cmocka_unit_test(test_another_function__is_found),
        cmocka_unit_test(test_one_call_more_or_less__is_found),
        cmocka_unit_test(test_another_answer__is_found_where_it_matters),
        cmocka_unit_test(test_an_answer_that_is_gone__is_found),
        cmocka_unit_test(test_a_call_that_is_gone__is_found),
        cmocka_unit_test(test_another_end__is_found),
        cmocka_unit_test(test_a_timeout__is_replayed_up_to_where_it_waited),
        cmocka_unit_test(test_a_timeout_of_a_loop__is_replayed_up_to_it),
        cmocka_unit_test(test_memory__is_replayed_up_to_where_it_ended),
        cmocka_unit_test(test_an_aborted_call__is_replayed_up_to_it),
        cmocka_unit_test(test_a_replay_that_is_stopped__is_unfinished),
        cmocka_unit_test(test_a_recording_that_says_it_is_cut__is_replayed_up_to_there),
    };

    return cmocka_run_group_tests(tests, start, stop);
}

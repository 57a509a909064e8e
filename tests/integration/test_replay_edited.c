/* SPDX-License-Identifier: MIT */
/* Recordings that were edited, calls that were stopped: what a replay says of them. */
#include "calls.h"
#include "host_functions.h"
#include "replays.h"
#include "table.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

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

    engine = engine_start(&options);
    host_functions_expose(&host, engine);
    text = record_call(engine, &call, 0, NULL);
    return 0;
}

static int stop(void **state)
{
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

TEST(an_edit__is_found_where_it_matters)
{
    const table_line *edits;
    size_t count = table_lines("integration/scripts/edits.txt", "edits", false, &edits);

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = edits[i].cell;

        check_edit(edited(text, cell[0], cell[1]), (unsigned)atoi(cell[2]), cell[3],
                   cell[4]);
    }
}

TEST(an_answer_that_is_gone__is_found)
{
    check_edit(without_line(text, line_of(text, "answer", 2)), 2, "waits for the host",
               "\"wait\"");
}

TEST(a_call_that_is_gone__is_found)
{
    char *once = without_line(text, line_of(text, "answer", 2));

    check_edit(without_line(once, line_of(once, "request", 2)), 2, "calls a function",
               "second");
    free(once);
}

TEST(a_call_that_has_another_id__is_found)
{
    char *once = edited(text, "\"request\",\"id\":3", "\"request\",\"id\":4");

    check_edit(edited(once, "\"answer\",\"id\":3", "\"answer\",\"id\":4"), 3,
               "made other calls before", "third");
    free(once);
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

TEST(a_call_that_met_a_limit__is_replayed_up_to_it)
{
    static const struct {
        const char *code;
        gbx_limits limits;
        gbx_code ended;
        unsigned host_calls;
    } rows[] = {
        {"async () => { await echo(1); await db.never(); }",
         {.timeout_ms = 300},
         GBX_CODE_TIMEOUT,
         2},
        {"async () => { await echo(1); for (;;); }",
         {.timeout_ms = 300},
         GBX_CODE_TIMEOUT,
         1},
        {"async () => { await echo(1); const a = []; for (;;) "
         "a.push(new Uint8Array(1000000).fill(1)); }",
         {.memory_bytes = 32 << 20},
         GBX_CODE_MEMORY,
         1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbx_limits limits = rows[i].limits;
        gbx_call call = call_of(rows[i].code);

        limits.struct_size = sizeof limits;
        call.limits = &limits;
        check_up_to(&call, rows[i].ended, rows[i].host_calls);
    }
}

TEST(an_aborted_call__is_replayed_up_to_it)
{
    gbx_signal *signal = gbx_signal_new();
    gbx_call call = call_of("() => 1");

    gbx_signal_abort(signal);
    call.signal = signal;
    check_up_to(&call, GBX_CODE_ABORTED, 0);
    gbx_signal_free(signal);
}

TEST(a_replay_that_is_stopped__is_unfinished)
{
    gbx_recording *recording = recording_of(text);
    gbx_signal *signal = gbx_signal_new();
    gbx_call call = GBX_CALL_INIT;
    gbx_result *result;

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

TEST(a_recording_that_says_it_is_cut__is_replayed_up_to_there)
{
    char *cut = edited(text, "\"whole\":true", "\"whole\":false");
    char *shorter = without_line(cut, line_of(cut, "wake", 3));
    gbx_recording *recording = recording_of(shorter);
    gbx_result *result = replay_in(engine, shorter, NULL);

    assert_int_equal(gbx_recording_is_whole(recording), 0);
    assert_int_equal(gbx_result_replay(result).how, GBX_REPLAYED_UP_TO);
    assert_int_equal(gbx_result_replay(result).host_calls, 3);
    gbx_result_free(result);
    gbx_recording_free(recording);
    free(shorter);
    free(cut);
}

TEST_MAIN(start, stop)

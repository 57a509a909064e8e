/* SPDX-License-Identifier: MIT */
/*
 * Who owns the texts of a submitted call: they are copied, or lent until its end. A call
 * that waits for a worker shows which: its input is changed meanwhile.
 */
#include "calls.h"
#include "test.h"

#include <string.h>

#define PATIENCE_MS 30000

/* What a call with these flags makes of an input that is "before" when it is submitted,
 * and "after!" when it gets its worker. */
static void check_input_seen(uint32_t flags, const char *expected)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call spin = call_of("() => { for (;;); }");
    gbx_call call = call_of("(text) => text");
    char input[] = "\"before\"";
    gbx_engine *engine;
    gbx_ticket spinning;
    gbx_ticket waiting;
    inbox box;

    options.pool_size = 1;
    options.max_workers = 1;
    engine = engine_start(&options);
    inbox_init(&box, 8);
    spinning = call_submit(engine, &spin, &box);
    call.input = input;
    call.input_len = strlen(input);
    call.flags = flags;
    waiting = call_submit(engine, &call, &box);
    memcpy(input, "\"after!\"", strlen(input));
    gbx_abort(engine, spinning);

    assert_true(inbox_wait(&box, 2, PATIENCE_MS));
    assert_int_equal(inbox_code(&box, waiting), GBX_CODE_VALUE);
    assert_string_equal(gbx_result_value(box.results[waiting], NULL), expected);
    inbox_cleanup(&box);
    gbx_engine_free(engine);
}

/* ---- tests ------------------------------------------------------------------ */

TEST(submit__copies_the_texts_before_it_returns)
{
    check_input_seen(0, "\"before\"");
}

TEST(submit__copies_nothing_that_is_lent)
{
    check_input_seen(GBX_CALL_LENT, "\"after!\"");
}

TEST_MAIN(NULL, NULL)

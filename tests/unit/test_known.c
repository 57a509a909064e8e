/* SPDX-License-Identifier: MIT */
/* known - what the guard has passed is not parsed again, and nothing else is spared. */
#include "engine/engine.h"
#include "test.h"

#include "base/cleanup.h"

#define LIMIT 65536

static gbx_guard_cache known;

static gbx_call call_of(const char *code)
{
    gbx_call call = GBX_CALL_INIT;

    call.code = code;
    call.code_len = strlen(code);
    return call;
}

/* Is it let pass? */
static bool passes(const gbx_call *call, size_t limit, gbx_guard_span *ret)
{
    gbx_report *report = NULL;

    assert_int_equal(gbx_guard_cache_check(&known, call, limit, NULL, ret, &report,
                                           NULL),
                     GBX_OK);
    gbx_report_free(report);
    return report == NULL;
}

static size_t count_known(void)
{
    size_t count = 0;

    for (size_t i = 0; i < GBX_KNOWN_CODES_MAX; i++)
        count += known.codes[i].text != NULL;
    return count;
}

static int begin(void **state)
{
    return gbx_guard_cache_init(&known, NULL) == GBX_OK ? 0 : -1;
}

static int end(void **state)
{
    gbx_guard_cache_cleanup(&known);
    return 0;
}

/* ---- tests ------------------------------------------------------------------ */

TEST(known__says_of_the_same_text_what_the_guard_said)
{
    gbx_call call = call_of("  // first\n  (a) => a;  ");
    gbx_guard_span first;
    gbx_guard_span second;

    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);

    assert_true(passes(&call, LIMIT, &first));
    assert_int_equal(count_known(), 1);
    assert_true(passes(&call, LIMIT, &second));

    assert_int_equal(count_known(), 1);
    assert_int_equal(second.start, first.start);
    assert_int_equal(second.len, first.len);
    assert_int_equal(second.line, first.line);
    assert_int_equal(second.column, first.column);
    assert_true(second.is_parsed == first.is_parsed);
}

TEST(known__never_keeps_what_is_objected_to)
{
    gbx_call call = call_of("() => require('fs')");
    gbx_guard_span span;

    assert_false(passes(&call, LIMIT, &span));
    assert_false(passes(&call, LIMIT, &span));

    assert_int_equal(count_known(), 0);
}

TEST(known__tells_forms_apart)
{
    gbx_call call = call_of("return 1");
    gbx_guard_span span;

    call.form = GBX_FORM_BODY;
    assert_true(passes(&call, LIMIT, &span));

    call.form = GBX_FORM_FUNCTION;

    assert_false(passes(&call, LIMIT, &span));
}

TEST(known__holds_to_a_smaller_limit)
{
    gbx_call call = call_of("() => 'four and twenty'");
    gbx_guard_span span;

    assert_true(passes(&call, LIMIT, &span));

    assert_false(passes(&call, call.code_len - 1, &span));
}

TEST(known__compares_the_whole_text)
{
    gbx_call call = call_of("() => 'another text of the same hash'");
    gbx_guard_span span;

    assert_true(passes(&call, LIMIT, &span));
    known.codes[0].text[call.code_len - 1] = '"';

    assert_true(passes(&call, LIMIT, &span));

    assert_int_equal(count_known(), 2); /* it was looked at again */
}

TEST(known__looks_at_calls_with_bindings_every_time)
{
    gbx_call call = call_of("return a");
    gbx_guard_span span;

    call.form = GBX_FORM_BODY;
    call.bindings = "{\"a\":1}";
    call.bindings_len = strlen(call.bindings);

    assert_true(passes(&call, LIMIT, &span));

    assert_int_equal(count_known(), 0);
}

TEST(known__forgets_what_was_not_used_for_longest)
{
    gbx_call kept = call_of("() => 'used again and again'");
    gbx_guard_span span;
    char code[64];

    assert_true(passes(&kept, LIMIT, &span));
    for (int i = 0; i < 3 * GBX_KNOWN_CODES_MAX; i++) {
        gbx_call call;

        (void)snprintf(code, sizeof code, "() => %d", i);
        call = call_of(code);
        assert_true(passes(&call, LIMIT, &span));
        assert_true(passes(&kept, LIMIT, &span));
    }

    assert_int_equal(count_known(), GBX_KNOWN_CODES_MAX);
    for (size_t i = 0; i < GBX_KNOWN_CODES_MAX; i++)
        if (known.codes[i].len == kept.code_len)
            return;
    fail_msg("the code in use was forgotten");
}

TEST(known__stays_within_its_bytes)
{
    char *code = malloc(LIMIT);
    gbx_guard_span span;

    assert_non_null(code);
    for (int i = 0; i < 12; i++) {
        gbx_call call = GBX_CALL_INIT;
        int used = snprintf(code, LIMIT, "() => %d", i);

        memset(code + used, ' ', LIMIT - (size_t)used);
        call.code = code;
        call.code_len = LIMIT;
        assert_true(passes(&call, LIMIT, &span));
        assert_true(known.bytes <= GBX_KNOWN_BYTES_MAX);
    }

    assert_int_equal(count_known(), GBX_KNOWN_BYTES_MAX / LIMIT);
    free(code);
}

TEST_MAIN_EACH(begin, end)

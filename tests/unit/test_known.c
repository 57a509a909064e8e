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
    known = (gbx_guard_cache){.lock = PTHREAD_MUTEX_INITIALIZER};
    return 0;
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
    gbx_call call = call_of("() => 'a text'");
    gbx_known_code *code = known.codes;
    gbx_guard_span span;

    assert_true(passes(&call, LIMIT, &span));
    while (code->text == NULL)
        code++;
    code->text[call.code_len - 1] = '"'; /* another one of the same hash */

    assert_true(passes(&call, LIMIT, &span));

    assert_int_equal(code->text[call.code_len - 1], '\''); /* it was looked at again */
    assert_int_equal(known.bytes, call.code_len);
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

    assert_true(count_known() >= 1);
    free(code);
}

TEST_MAIN_EACH(begin, end)

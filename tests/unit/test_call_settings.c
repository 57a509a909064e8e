/* SPDX-License-Identifier: MIT */
/* settings - one call: limits are lowered and never raised, fields are what they are. */
#include "base/cleanup.h"
#include "engine/engine.h"
#include "numbers.h"
#include "test.h"

static const gbx_limits engine_limits = {
    .struct_size = sizeof(gbx_limits),
    .timeout_ms = 1000,
    .cpu_ms = 800,
    .memory_bytes = 64 << 20,
    .output_bytes = 5000,
    .code_bytes = 0,
    .log_bytes = 3000,
    .host_calls = 10000,
    .host_calls_at_once = 256,
    .host_out_bytes = 16 << 20,
    .host_in_bytes = 64 << 20,
};

static gbx_status resolve(const gbx_limits *asked, gbx_limits *ret, gbx_error *error)
{
    memset(error, 0, sizeof *error);
    return gbx_limits_resolve(&engine_limits, asked, GBX_FORM_FUNCTION, ret, error);
}

TEST(limits__not_asked_for_are_the_engines)
{
    gbx_limits zero = GBX_LIMITS_INIT;
    gbx_limits a;
    gbx_limits b;
    gbx_error error;

    assert_int_equal(resolve(NULL, &a, &error), GBX_OK);
    assert_int_equal(resolve(&zero, &b, &error), GBX_OK);

    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(a.timeout_ms, 1000);
    assert_int_equal(a.cpu_ms, 800);
    assert_true(a.memory_bytes == 64 << 20);
    assert_true(a.output_bytes == 5000);
    assert_int_equal(a.log_bytes, 3000);
    assert_int_equal(a.code_bytes, 65536);
}

/* The most is what the engine has. */
static const number fields[] = {
    {"timeout_ms", offsetof(gbx_limits, timeout_ms), false, 1, 1000},
    {"cpu_ms", offsetof(gbx_limits, cpu_ms), false, 1, 800},
    {"memory_bytes", offsetof(gbx_limits, memory_bytes), true, 8 << 20, 64 << 20},
    {"output_bytes", offsetof(gbx_limits, output_bytes), true, 1, 5000},
    {"code_bytes", offsetof(gbx_limits, code_bytes), false, 1, 65536},
    {"log_bytes", offsetof(gbx_limits, log_bytes), false, 1, 3000},
};

TEST(limits__can_be_lowered_to_the_least)
{
    for (size_t i = 0; i < GBX_COUNTOF(fields) * 3; i++) {
        const number *f = &fields[i / 3];
        uint64_t values[] = {f->min, f->max - 1, f->max};
        gbx_limits asked = GBX_LIMITS_INIT;
        gbx_limits got;
        gbx_error error;

        number_set(&asked, f, values[i % 3]);
        assert_int_equal(resolve(&asked, &got, &error), GBX_OK);
        assert_true(number_get(&got, f) == values[i % 3]);
    }
}

TEST(limits__are_never_raised)
{
    for (size_t i = 0; i < GBX_COUNTOF(fields); i++) {
        gbx_limits asked = GBX_LIMITS_INIT;
        gbx_limits got = {.timeout_ms = 77};
        gbx_error error;

        number_set(&asked, &fields[i], fields[i].max + 1);
        assert_int_equal(resolve(&asked, &got, &error), GBX_E_USAGE);
        assert_non_null(strstr(error.message, fields[i].name));
        assert_non_null(strstr(error.message, "is above the engine's"));
        assert_int_equal(got.timeout_ms, 77); /* untouched */
    }
}

TEST(limits__below_the_least_are_refused)
{
    gbx_limits asked = GBX_LIMITS_INIT;
    gbx_limits got;
    gbx_error error;
    asked.memory_bytes = (8 << 20) - 1;

    assert_int_equal(resolve(&asked, &got, &error), GBX_E_USAGE);

    assert_non_null(strstr(error.message, "limits.memory_bytes must be from"));
}

TEST(limits__a_lower_timeout_lowers_the_processor_time)
{
    gbx_limits asked = GBX_LIMITS_INIT;
    gbx_limits got;
    gbx_error error;
    asked.timeout_ms = 500;

    assert_int_equal(resolve(&asked, &got, &error), GBX_OK);
    assert_int_equal(got.cpu_ms, 500);
    asked.timeout_ms = 900;

    assert_int_equal(resolve(&asked, &got, &error), GBX_OK);
    assert_int_equal(got.cpu_ms, 800);
}

TEST(limits__of_a_script_has_less_code)
{
    gbx_limits own = engine_limits;
    gbx_limits got;
    gbx_error error;

    assert_int_equal(gbx_limits_resolve(&own, NULL, GBX_FORM_SCRIPT, &got, &error),
                     GBX_OK);
    assert_int_equal(got.code_bytes, 51200);
    own.code_bytes = 1 << 20; /* what the engine says holds for every form */

    assert_int_equal(gbx_limits_resolve(&own, NULL, GBX_FORM_SCRIPT, &got, &error),
                     GBX_OK);
    assert_int_equal(got.code_bytes, 1 << 20);
}

TEST(limits__follow_the_rule_of_struct_size)
{
    union {
        gbx_limits known;
        uint8_t bytes[sizeof(gbx_limits) + 8];
    } asked = {.known = GBX_LIMITS_INIT};
    gbx_limits got;
    gbx_error error;
    asked.known.timeout_ms = 10;
    asked.known.log_bytes = 99999;

    asked.known.struct_size = offsetof(gbx_limits, log_bytes);
    assert_int_equal(resolve(&asked.known, &got, &error), GBX_OK);
    assert_int_equal(got.log_bytes, 3000);
    asked.known.log_bytes = 0;
    asked.known.struct_size = sizeof asked;
    memset(asked.bytes + sizeof(gbx_limits), 0, 8);
    assert_int_equal(resolve(&asked.known, &got, &error), GBX_OK);
    asked.bytes[sizeof asked - 1] = 1;
    assert_int_equal(resolve(&asked.known, &got, &error), GBX_E_USAGE);
    asked.known.struct_size = 0;

    assert_int_equal(resolve(&asked.known, &got, &error), GBX_E_USAGE);
    assert_string_equal(error.message, "call.limits.struct_size is not set");
}

TEST(limits__of_a_later_version_are_not_ignored)
{
    gbx_limits asked = GBX_LIMITS_INIT;
    gbx_limits got;
    gbx_error error;
    asked.reserved[7] = 1;

    assert_int_equal(resolve(&asked, &got, &error), GBX_E_USAGE);
    assert_string_equal(error.message,
                        "limits has fields that this version of the library lacks");
}

/* ---- calls -------------------------------------------------------------------------- */

static void assert_call_refused(const gbx_call *call, const char *message)
{
    gbx_error error = {0};
    gbx_call got;

    assert_int_equal(gbx_call_import(call, &got, &error), GBX_E_USAGE);
    assert_string_equal(error.message, message);
}

TEST(call__comes_through_whole)
{
    gbx_call call = GBX_CALL_INIT;
    gbx_error error;
    gbx_call got;
    call.form = GBX_FORM_SCRIPT;
    call.flags =
        GBX_CALL_SEEDED | GBX_CALL_FIXED_NOW | GBX_CALL_NO_GUARD | GBX_CALL_LENT;
    call.code = "1";
    call.code_len = 1;
    call.seed = 7;
    call.now_ms = -5;

    assert_int_equal(gbx_call_import(&call, &got, &error), GBX_OK);

    assert_memory_equal(&got, &call, sizeof got);
}

TEST(call__without_code_has_empty_code)
{
    gbx_call call = GBX_CALL_INIT;
    gbx_error error;
    gbx_call got;

    assert_int_equal(gbx_call_import(&call, &got, &error), GBX_OK);

    assert_string_equal(got.code, "");
    assert_int_equal(got.code_len, 0);
    assert_null(got.input); /* none is not the same as empty */
}

TEST(call__older_and_newer_ones_are_understood)
{
    union {
        gbx_call known;
        uint8_t bytes[sizeof(gbx_call) + 8];
    } given = {.known = GBX_CALL_INIT};
    gbx_error error;
    gbx_call got;
    memset(given.bytes + sizeof(gbx_call), 0, 8);
    given.known.code = "1";
    given.known.code_len = 1;
    given.known.seed = 9;

    given.known.struct_size = offsetof(gbx_call, input);
    assert_int_equal(gbx_call_import(&given.known, &got, &error), GBX_OK);
    assert_string_equal(got.code, "1");
    assert_true(got.seed == 0);
    given.known.struct_size = sizeof given;
    assert_int_equal(gbx_call_import(&given.known, &got, &error), GBX_OK);
    given.bytes[sizeof(gbx_call)] = 1;

    assert_call_refused(&given.known,
                        "call has fields that this version of the library lacks");
}

TEST(call__fields_out_of_range_are_refused_by_name)
{
    gbx_call form = GBX_CALL_INIT;
    gbx_call flags = GBX_CALL_INIT;
    gbx_call size = GBX_CALL_INIT;
    gbx_call dataset = GBX_CALL_INIT;
    gbx_call bindings = GBX_CALL_INIT;
    dataset.dataset = "*";
    dataset.form = GBX_FORM_BODY;
    form.form = (gbx_form)4;
    bindings.form = GBX_FORM_SCRIPT;
    bindings.bindings = "{}";
    bindings.bindings_len = 2;
    flags.flags = 32;
    size.struct_size = 0;

    assert_call_refused(&form, "call.form is not one of its values");
    assert_call_refused(&dataset,
                        "call.dataset is not for form body, which sees datasets");
    assert_call_refused(&bindings, "call.bindings are for form body alone");
    assert_call_refused(&flags, "call.flags has an unknown bit");
    assert_call_refused(&size, "call.struct_size is not set");
}

TEST(call__a_length_needs_its_pointer)
{
    gbx_call code = GBX_CALL_INIT;
    gbx_call input = GBX_CALL_INIT;
    gbx_call bindings = GBX_CALL_INIT;
    code.code_len = input.input_len = bindings.bindings_len = 1;

    assert_call_refused(&code, "call has a length without its pointer");
    assert_call_refused(&input, "call has a length without its pointer");
    assert_call_refused(&bindings, "call has a length without its pointer");
}

TEST(call__lengths_that_no_frame_can_say_are_refused)
{
    gbx_call input = GBX_CALL_INIT;
    gbx_call bindings = GBX_CALL_INIT;
    input.input = bindings.bindings = ""; /* never read this far */
    input.input_len = (size_t)UINT32_MAX / 2 + 1;
    bindings.bindings_len = SIZE_MAX;

    assert_call_refused(&input, "call.input is larger than 2 GiB");
    assert_call_refused(&bindings, "call.input is larger than 2 GiB");
}

TEST_MAIN(NULL, NULL)

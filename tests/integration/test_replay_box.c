/* SPDX-License-Identifier: MIT */
/* What surrounds a call: data, policies, secrets, and calls that ask for the impossible. */
#include "calls.h"
#include "host_functions.h"
#include "replays.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define SECRET "tok-4f9a0c77e1b2"

static gbx_engine *engine_with(gbx_policy *policy)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.policy = policy;
    options.pool_size = 1;
    return engine_start(&options);
}

static gbx_status try(gbx_engine *engine, const gbx_call *call, gbx_error *error)
{
    gbx_result *result = NULL;
    gbx_status status = gbx_execute(engine, call, &result, error);

    gbx_result_free(result);
    return status;
}

TEST(secrets__are_in_no_recording)
{
    gbx_policy *policy =
        policy_of("{\"functions\":[\"echo\"],\"secrets\":{\"KEY\":{\"value\":\"" SECRET
                  "\",\"functions\":[\"echo\"]}}}");
    gbx_engine *engine = engine_with(policy);
    gbx_call call = call_of("async () => await echo('{{secret:KEY}}', 'plain')");
    host_functions host;
    gbx_result *recorded, *replayed;
    char *text;

    host_functions_expose(&host, engine);
    text = record_call(engine, &call, GBX_RECORD_INPUT, &recorded);
    replayed = replay_alone(text, NULL);

    assert_int_equal(host.called, 1);
    assert_null(strstr(text, SECRET));
    assert_non_null(strstr(text, "{{secret:KEY}}"));
    check_same(recorded, replayed);
    gbx_result_free(recorded);
    gbx_result_free(replayed);
    free(text);
    gbx_engine_free(engine);
    gbx_policy_free(policy);
}

TEST(env_and_crypto__are_as_they_were)
{
    gbx_policy *policy = policy_of(
        "{\"crypto\":true,\"env\":{\"WHO\":\"m\\u00e9 \\\"quoted\\\"\"},\"fetch\":{\"allow\":["
        "\"https://api.example.com\"]}}");
    gbx_engine *engine = engine_with(policy);
    gbx_call call =
        call_of("() => [env.WHO, Object.keys(env), crypto.randomUUID(), "
                "Array.from(crypto.getRandomValues(new Uint8Array(8))), typeof fetch, "
                "typeof console, typeof setTimeout, typeof fs]");

    check_replay(engine, &call, 0, false);
    gbx_engine_free(engine);
    gbx_policy_free(policy);
}

/* The guard asks the policy, and a replay must ask the same one. */
TEST(what_the_guard_refused__is_refused_again)
{
    static const char *const codes[] = {
        "async () => await fetch('https://other.example.com/')",
        "async () => typeof fetch('https://api.example.com/').then",
    };
    gbx_policy *policy =
        policy_of("{\"fetch\":{\"allow\":[\"https://api.example.com:1\"]}}");
    gbx_engine *engine = engine_with(policy);

    for (size_t i = 0; i < 2; i++) {
        gbx_call call = call_of(codes[i]);

        check_replay(engine, &call, 0, false);
    }
    gbx_engine_free(engine);
    gbx_policy_free(policy);
}

static void load(gbx_engine *engine, const char *name, const char *json)
{
    assert_int_equal(gbx_engine_load(engine, name, json, strlen(json), GBX_DATA_JSON,
                                     NULL),
                     GBX_OK);
}

TEST(other_data__is_refused)
{
    gbx_engine *engine = engine_with(NULL);
    gbx_call call = call_of("(d) => [d, datasets.a]");
    gbx_call again = GBX_CALL_INIT;
    gbx_error error = {0};
    gbx_result *result;
    char *text;

    load(engine, "a", "[1]");
    call.input = "2";
    call.input_len = 1;
    text = record_call(engine, &call, 0, NULL);
    again.replay = recording_of(text);
    assert_int_equal(try(engine, &again, &error), GBX_E_DATA);
    assert_non_null(strstr(error.message, "input that is not in it"));
    again.input = "3";
    again.input_len = 1;
    assert_int_equal(try(engine, &again, &error), GBX_E_DATA);
    assert_non_null(strstr(error.message, "another input: 1 bytes"));
    again.input = "2";
    load(engine, "a", "[9]");
    assert_int_equal(try(engine, &again, &error), GBX_E_DATA);
    assert_non_null(strstr(error.message, "another dataset 'a'"));
    load(engine, "a", "[1]");
    load(engine, "b", "[1]");
    assert_int_equal(try(engine, &again, &error), GBX_E_DATA);
    assert_non_null(strstr(error.message, "without the dataset 'b'"));
    gbx_engine_free(engine);
    engine = engine_with(NULL);
    assert_int_equal(try(engine, &again, &error), GBX_E_DATA);
    assert_non_null(strstr(error.message, "with the dataset 'a'"));
    load(engine, "a", "[1]");
    result = replay_in(engine, text, "2");
    assert_int_equal(gbx_result_replay(result).how, GBX_REPLAYED_SAME);
    gbx_result_free(result);
    gbx_recording_free((gbx_recording *)(uintptr_t)again.replay);
    free(text);
    gbx_engine_free(engine);
}

TEST(the_input__is_kept_if_asked_for)
{
    gbx_engine *engine = engine_with(NULL);
    gbx_call call = call_of("(d) => d");

    call.input = "{\"a\":\"\xC3\xA9\"}";
    call.input_len = strlen(call.input);
    check_replay(engine, &call, GBX_RECORD_INPUT, false);
    gbx_engine_free(engine);
}

TEST(an_engine_with_other_functions__is_refused)
{
    gbx_engine *plain = engine_with(NULL);
    gbx_engine *engine = engine_with(NULL);
    gbx_call call = call_of("async () => await echo(1)");
    gbx_call again = GBX_CALL_INIT;
    gbx_error error = {0};
    host_functions host;
    char *text;

    host_functions_expose(&host, engine);
    text = record_call(engine, &call, 0, NULL);
    again.replay = recording_of(text);

    assert_int_equal(try(plain, &again, &error), GBX_E_USAGE);
    assert_non_null(strstr(error.message, "the function 'echo'"));
    gbx_recording_free((gbx_recording *)(uintptr_t)again.replay);
    free(text);
    call = call_of("() => 1");
    text = record_call(plain, &call, 0, NULL);
    again.replay = recording_of(text);
    assert_int_equal(try(engine, &again, &error), GBX_E_USAGE);
    assert_non_null(strstr(error.message, "without the function 'echo'"));
    gbx_recording_free((gbx_recording *)(uintptr_t)again.replay);
    free(text);
    gbx_engine_free(engine);
    gbx_engine_free(plain);
}

TEST(a_dataset__that_the_call_named_is_named_again)
{
    gbx_engine *engine = engine_with(NULL);
    gbx_call call = call_of("(data, input) => [data, input]");
    gbx_result *result;
    char *text;

    load(engine, "a", "[1]");
    load(engine, "b", "[2]");
    call.dataset = "b";
    call.input = "3";
    call.input_len = 1;
    text = record_call(engine, &call, 0, NULL);
    result = replay_in(engine, text, "3");
    assert_string_equal(gbx_result_value(result, NULL), "[[2],3]");
    assert_int_equal(gbx_result_replay(result).how, GBX_REPLAYED_SAME);
    gbx_result_free(result);
    free(text);
    gbx_engine_free(engine);
}

TEST(a_replay__takes_nothing_but_its_recording)
{
    gbx_engine *engine = engine_with(NULL);
    gbx_call call = call_of("() => 1");
    char *text = record_call(engine, &call, 0, NULL);
    gbx_recording *recording = recording_of(text);
    gbx_recording *empty = gbx_recording_new(0);
    gbx_limits limits = GBX_LIMITS_INIT;
    gbx_call wrong[8];

    for (size_t i = 0; i < 8; i++) {
        wrong[i] = (gbx_call)GBX_CALL_INIT;
        wrong[i].replay = recording;
    }
    wrong[0].code = "1";
    wrong[0].code_len = 1;
    wrong[1].form = GBX_FORM_BODY;
    wrong[2].flags = GBX_CALL_SEEDED;
    wrong[3].bindings = "{}";
    wrong[4].record = empty;
    wrong[5].limits = &limits;
    limits.memory_bytes = 16 << 20;
    wrong[6].replay = empty;
    wrong[7].dataset = "*";
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(try(engine, &wrong[i], NULL), GBX_E_USAGE);
    assert_string_equal(gbx_recording_text(empty, NULL), "");
    gbx_recording_free(empty);
    gbx_recording_free(recording);
    free(text);
    gbx_engine_free(engine);
}

TEST(a_replay__takes_limits_of_an_older_caller)
{
    gbx_engine *engine = engine_with(NULL);
    gbx_call call = call_of("() => 1");
    char *text = record_call(engine, &call, 0, NULL);
    gbx_recording *recording = recording_of(text);
    gbx_limits limits;

    memset(&limits, 0xff, sizeof limits); /* what lies behind a shorter structure */
    limits.struct_size = offsetof(gbx_limits, cpu_ms);
    limits.timeout_ms = 3000;
    call = (gbx_call)GBX_CALL_INIT;
    call.replay = recording;
    call.limits = &limits;
    assert_int_equal(try(engine, &call, NULL), GBX_OK);
    gbx_recording_free(recording);
    free(text);
    gbx_engine_free(engine);
}

TEST(a_recording__is_of_one_call)
{
    gbx_engine *engine = engine_with(NULL);
    gbx_recording *recording = gbx_recording_new(0);
    gbx_call call = call_of("() => 1");
    const char *before;

    call.record = recording;
    call.form = (gbx_form)9; /* refused: the recording stays empty */
    assert_int_equal(try(engine, &call, NULL), GBX_E_USAGE);
    call.form = GBX_FORM_FUNCTION;
    assert_int_equal(try(engine, &call, NULL), GBX_OK);
    before = gbx_recording_text(recording, NULL);
    assert_int_equal(try(engine, &call, NULL), GBX_E_USAGE);
    assert_ptr_equal(gbx_recording_text(recording, NULL), before);
    assert_int_equal(gbx_recording_is_whole(recording), 1);
    assert_null(gbx_recording_new(2));
    gbx_recording_free(recording);
    gbx_recording_free(NULL);
    gbx_engine_free(engine);
}

TEST_MAIN(NULL, NULL)

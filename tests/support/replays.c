/* SPDX-License-Identifier: MIT */
/* replays - see replays.h. */
#include "replays.h"

#include "calls.h"
#include "test.h"

char *record_call(gbx_engine *engine, gbx_call *call, unsigned flags,
                  gbx_result **ret_result)
{
    gbx_recording *recording = gbx_recording_new(flags);
    gbx_result *result;
    char *text;
    size_t len;

    assert_non_null(recording);
    call->record = recording;
    result = call_run(engine, call);
    call->record = NULL;
    text = strdup(gbx_recording_text(recording, &len));
    assert_non_null(text);
    assert_int_equal(strlen(text), len);
    assert_true(len > 0);
    assert_true(gbx_recording_is_whole(recording));
    gbx_recording_free(recording);
    if (ret_result != NULL)
        *ret_result = result;
    else
        gbx_result_free(result);
    return text;
}

gbx_recording *recording_of(const char *text)
{
    gbx_recording *recording = NULL;
    gbx_error error = {0};

    if (gbx_recording_load(text, strlen(text), &recording, &error) != GBX_OK)
        fail_msg("%s\nin\n%.4000s", error.message, text);
    return recording;
}

static gbx_result *replay(gbx_engine *engine, const gbx_recording *recording,
                          const char *input)
{
    gbx_call call = GBX_CALL_INIT;

    call.replay = recording;
    call.input = input;
    call.input_len = input != NULL ? strlen(input) : 0;
    return call_run(engine, &call);
}

gbx_result *replay_in(gbx_engine *engine, const char *text, const char *input)
{
    gbx_recording *recording = recording_of(text);
    gbx_result *result = replay(engine, recording, input);

    gbx_recording_free(recording);
    return result;
}

gbx_result *replay_alone(const char *text, const char *input)
{
    gbx_recording *recording = recording_of(text);
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_error error = {0};
    gbx_result *result;

    options.pool_size = 1;
    if (gbx_recording_engine(recording, &options, &engine, &error) != GBX_OK)
        fail_msg("no engine: %s", error.message);
    result = replay(engine, recording, input);
    gbx_engine_free(engine);
    gbx_recording_free(recording);
    return result;
}

char *edited(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    size_t size = strlen(text) + strlen(to) + 1;
    char *out = malloc(size);

    assert_non_null(out);
    if (at == NULL)
        fail_msg("'%s' is not in\n%s", from, text);
    (void)snprintf(out, size, "%.*s%s%s", (int)(at - text), text, to,
                   at + strlen(from));
    return out;
}

char *without_line(const char *text, size_t line)
{
    const char *start = text;
    const char *end;
    char *out = strdup(text);

    assert_non_null(out);
    assert_true(line > 0);
    while (--line > 0)
        start = strchr(start, '\n') + 1;
    end = strchr(start, '\n') + 1;
    memmove(out + (start - text), end, strlen(end) + 1);
    return out;
}

size_t line_of(const char *text, const char *what, size_t nth)
{
    char prefix[64];
    size_t line = 1;

    (void)snprintf(prefix, sizeof prefix, "{\"what\":\"%s\"", what);
    for (const char *at = text; *at != 0; at = strchr(at, '\n') + 1, line++)
        if (strncmp(at, prefix, strlen(prefix)) == 0 && --nth == 0)
            return line;
    return 0;
}

void check_same(gbx_result *a, gbx_result *b)
{
    gbx_replay replay = gbx_result_replay(b);

    if (replay.how != GBX_REPLAYED_SAME)
        fail_msg("not the same: %s\nwas %s", gbx_result_json(b, NULL),
                 gbx_result_json(a, NULL));
    assert_int_equal(gbx_result_code(a), gbx_result_code(b));
    assert_int_equal(replay.recorded_code, gbx_result_code(a));
    assert_string_equal(gbx_result_value(a, NULL), gbx_result_value(b, NULL));
    assert_string_equal(gbx_result_error(a), gbx_result_error(b));
    assert_string_equal(gbx_result_stack(a), gbx_result_stack(b));
    assert_int_equal(gbx_result_stats(a).host_calls, replay.host_calls);
    assert_int_equal(gbx_result_log_count(a), gbx_result_log_count(b));
    for (size_t i = 0; i < gbx_result_log_count(a); i++)
        assert_string_equal(gbx_result_log(a, i).text, gbx_result_log(b, i).text);
    assert_int_equal(gbx_result_replay(a).how, GBX_REPLAYED_NOT);
}

void check_replay(gbx_engine *engine, gbx_call *call, unsigned flags, bool in_engine)
{
    const char *input = (flags & GBX_RECORD_INPUT) != 0 ? NULL : call->input;
    gbx_result *recorded, *replayed;
    char *text = record_call(engine, call, flags, &recorded);

    replayed = in_engine ? replay_in(engine, text, input) : replay_alone(text, input);
    check_same(recorded, replayed);
    gbx_result_free(replayed);
    gbx_result_free(recorded);
    free(text);
}

void check_diverged(const gbx_result *result, unsigned host_call, const char *what,
                    const char *came)
{
    gbx_replay replay = gbx_result_replay(result);

    if (replay.how != GBX_REPLAYED_DIVERGED || replay.host_call != host_call ||
        strstr(replay.what, what) == NULL || strstr(replay.came, came) == NULL)
        fail_msg("%d at %u: %s; recorded '%s', came '%s': %s", replay.how,
                 replay.host_call, replay.what, replay.recorded, replay.came,
                 gbx_result_error(result));
    assert_int_equal(gbx_result_code(result), GBX_CODE_DIVERGED);
    assert_true(replay.line > 0);
}

/* SPDX-License-Identifier: MIT */
/* result_json - the whole result as one JSON object: the one shape used everywhere. */
#include "base/json.h"
#include "engine/result.h"

#include <string.h>

static const char *const levels[] = {"debug", "log", "info", "warn", "error"};

static void put_text(gbx_buf *to, const char *key, const char *text)
{
    (void)gbx_buf_printf(to, ",\"%s\":", key);
    (void)gbx_json_append_string(to, text, strlen(text));
}

static void put_failure(gbx_buf *to, const gbx_result *r)
{
    (void)gbx_buf_printf(to, "{\"ok\":false,\"code\":\"%s\"", gbx_code_name(r->code));
    put_text(to, "error", gbx_result_error(r));
    if (*r->hint != 0)
        put_text(to, "hint", r->hint);
    if (r->location.line != 0) {
        (void)gbx_buf_printf(to, ",\"location\":{\"line\":%u,\"column\":%u",
                             r->location.line, r->location.column);
        put_text(to, "frame", r->location.frame);
        (void)gbx_buf_puts(to, "}");
    }
    if (*gbx_result_stack(r) != 0)
        put_text(to, "stack", gbx_result_stack(r));
}

static void put_logs(gbx_buf *to, const gbx_result *r)
{
    (void)gbx_buf_puts(to, ",\"logs\":[");
    for (size_t i = 0; i < r->log_count; i++) {
        const gbx_log *log = &r->logs[i];

        (void)gbx_buf_printf(to, "%s{\"level\":\"%s\",\"timeMs\":", i > 0 ? "," : "",
                             levels[log->level]);
        (void)gbx_json_append_number(to, log->time_ms);
        (void)gbx_buf_puts(to, ",\"text\":");
        (void)gbx_json_append_string(to, log->text, log->text_len);
        (void)gbx_buf_puts(to, "}");
    }
    (void)gbx_buf_puts(to, "]");
    if (r->is_truncated)
        (void)gbx_buf_puts(to, ",\"logsTruncated\":true");
}

static void put_stats(gbx_buf *to, const gbx_result *r)
{
    const gbx_stats *s = &r->stats;

    (void)gbx_buf_puts(to, ",\"stats\":{\"cpuMs\":");
    (void)gbx_json_append_number(to, s->cpu_ms);
    (void)gbx_buf_printf(to,
                         ",\"peakMemoryBytes\":%llu,\"inputBytes\":%llu,"
                         "\"outputBytes\":%llu,\"logBytes\":%llu,\"hostCalls\":%u}",
                         (unsigned long long)s->peak_memory_bytes,
                         (unsigned long long)s->input_bytes,
                         (unsigned long long)s->output_bytes,
                         (unsigned long long)s->log_bytes, s->host_calls);
}

static void put_replay(gbx_buf *to, const gbx_replay *replay)
{
    static const char *const words[] = {"", "same", "upTo", "diverged", "unfinished"};

    (void)gbx_buf_printf(
        to, ",\"replay\":{\"outcome\":\"%s\",\"hostCalls\":%u,\"recordedCode\":\"%s\"",
        words[replay->how], replay->host_calls, gbx_code_name(replay->recorded_code));
    put_text(to, "recordedEngine", replay->recorded_engine);
    put_text(to, "engine", replay->engine);
    if (replay->how == GBX_REPLAYED_DIVERGED) {
        put_text(to, "what", replay->what);
        (void)gbx_buf_printf(to, ",\"hostCall\":%u,\"line\":%u", replay->host_call,
                             replay->line);
        put_text(to, "recorded", replay->recorded);
        put_text(to, "came", replay->came);
    }
    (void)gbx_buf_puts(to, "}");
}

/* ---- public API ---------------------------------------------------------- */

const char *gbx_result_json(gbx_result *result, size_t *ret_len)
{
    gbx_buf buf;

    if (result->json == NULL) {
        gbx_buf_init(&buf, SIZE_MAX / 2);
        if (result->code == GBX_CODE_VALUE) {
            (void)gbx_buf_puts(&buf, "{\"ok\":true");
            if (result->has_value) {
                (void)gbx_buf_puts(&buf, ",\"value\":");
                (void)gbx_buf_append(&buf, result->value, result->value_len);
            }
        } else {
            put_failure(&buf, result);
        }
        (void)gbx_buf_puts(&buf, ",\"executionMs\":");
        (void)gbx_json_append_number(&buf, result->stats.wall_ms);
        put_logs(&buf, result);
        put_stats(&buf, result);
        if (result->replay.how != GBX_REPLAYED_NOT)
            put_replay(&buf, &result->replay);
        put_text(&buf, "runner", result->runner);
        if (!result->is_isolated)
            (void)gbx_buf_puts(&buf, ",\"isolated\":false");
        if (*result->jit != 0)
            put_text(&buf, "jit", result->jit);
        (void)gbx_buf_printf(&buf, ",\"call\":%llu", (unsigned long long)result->call);
        if (*result->call_id != 0)
            put_text(&buf, "callId", result->call_id);
        (void)gbx_buf_puts(&buf, "}");
        result->json = gbx_buf_take_string(&buf, &result->json_len);
    }
    if (ret_len != NULL)
        *ret_len = result->json_len;
    return result->json;
}

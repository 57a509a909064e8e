/* SPDX-License-Identifier: MIT */
/*
 * result - the result of a call: filling it from a worker's text, which is made valid
 * UTF-8 here; the names of its codes; and its form as one JSON object.
 */
#include "engine/result.h"

#include "base/json.h"
#include "base/utf8.h"

#include <glovebox/glovebox.h>
#include <stdlib.h>
#include <string.h>

/* A NUL-terminated copy of hostile text with invalid bytes and NULs replaced. */
static char *copy_text(gbx_span text, size_t *ret_len)
{
    gbx_buf buf = {.ceiling = text.len * 3 + 1};

    for (size_t i = 0; i < text.len;) {
        const uint8_t *nul = memchr(text.data + i, 0, text.len - i);
        size_t n = nul != NULL ? (size_t)(nul - text.data) - i : text.len - i;

        (void)gbx_utf8_append_lossy(&buf, text.data + i, n);
        if (nul != NULL)
            (void)gbx_buf_puts(&buf, "\xEF\xBF\xBD");
        i += n + (nul != NULL);
    }
    return gbx_buf_take_string(&buf, ret_len);
}

static bool start_line(gbx_result *r, gbx_log_level level, double time_ms,
                       gbx_span text)
{
    size_t capacity = r->log_capacity == 0 ? 8 : r->log_capacity * 2;
    gbx_log line = {.level = level, .time_ms = time_ms};
    char *copy;

    if (r->log_count == r->log_capacity) {
        gbx_log *logs = realloc(r->logs, capacity * sizeof *logs);

        if (logs == NULL)
            return false;
        r->logs = logs;
        r->log_capacity = capacity;
    }
    copy = copy_text(text, &line.text_len);
    if (copy == NULL)
        return false;
    line.text = copy;
    r->logs[r->log_count++] = line;
    r->line_room = 0;
    return true;
}

/* Doubles the allocation, so that a line is not copied for each of many pieces. */
static bool continue_line(gbx_result *r, gbx_span text)
{
    gbx_log *line = &r->logs[r->log_count - 1];
    size_t len;
    char *more = copy_text(text, &len);
    char *whole = (char *)(uintptr_t)line->text;
    char *grown;
    size_t need = line->text_len + len + 1;

    if (more == NULL)
        return false;
    if (need > r->line_room) {
        grown = realloc(whole, need * 2);
        if (grown == NULL) {
            free(more);
            return false;
        }
        line->text = whole = grown;
        r->line_room = need * 2;
    }
    memcpy(whole + line->text_len, more, len + 1);
    line->text_len += len;
    free(more);
    return true;
}

gbx_result *gbx_result_new(void)
{
    gbx_result *r = calloc(1, sizeof *r);

    if (r != NULL) {
        r->hint = "";
        r->location.frame = "";
        r->runner = "process";
        r->jit = "";
        r->is_isolated = true;
        r->replay = (gbx_replay){.what = "",
                                 .recorded = "",
                                 .came = "",
                                 .recorded_engine = "",
                                 .engine = ""};
    }
    return r;
}

bool gbx_result_add_log(gbx_result *r, gbx_log_level level, double time_ms,
                        gbx_span text, uint32_t log_max, uint8_t flags)
{
    bool is_more = r->line == GBX_RESULT_LINE_OPEN;
    bool is_cut = (flags & GBX_LOG_CUT) != 0;
    uint64_t lines = r->log_count + !is_more;
    uint64_t cost = r->stats.log_bytes + text.len + lines * GBX_LOG_LINE_COST;

    if (r->line == GBX_RESULT_LINE_LOST ||
        cost > (uint64_t)log_max + GBX_LOG_LINE_COST || (is_cut && text.len == 0)) {
        r->is_truncated = true;
        r->line = GBX_RESULT_LINE_LOST;
        return true;
    }
    if (is_more ? !continue_line(r, text) : !start_line(r, level, time_ms, text))
        return false;
    r->is_truncated = r->is_truncated || is_cut;
    r->line = is_cut                           ? GBX_RESULT_LINE_LOST
              : (flags & GBX_LOG_GOES_ON) != 0 ? GBX_RESULT_LINE_OPEN
                                               : GBX_RESULT_LINE_NEW;
    r->stats.log_bytes += text.len;
    return true;
}

bool gbx_result_take_unseen_log(gbx_result *r, gbx_log *ret)
{
    if (r->log_seen + (r->line == GBX_RESULT_LINE_OPEN) >= r->log_count)
        return false;
    *ret = r->logs[r->log_seen++];
    return true;
}

bool gbx_result_set_value(gbx_result *r, bool is_undefined, gbx_span json)
{
    if (is_undefined)
        return true;
    r->value = malloc(json.len + 1);
    if (r->value == NULL)
        return false;
    memcpy(r->value, json.data, json.len);
    r->value[json.len] = 0;
    r->value_len = json.len;
    r->has_value = true;
    return true;
}

bool gbx_result_set_thrown(gbx_result *r, const gbx_msg_error *error)
{
    r->thrown_name = copy_text(error->name, NULL);
    r->thrown_message = copy_text(error->message, NULL);
    r->stack = copy_text(error->stack, NULL);
    r->thrown_line = error->line;
    r->thrown_column = error->column;
    return r->thrown_name != NULL && r->thrown_message != NULL && r->stack != NULL;
}

bool gbx_result_fail(gbx_result *r, gbx_code code, const char *message,
                     const char *hint)
{
    gbx_buf line = {.ceiling = strlen(message) * 12 + 1};

    free(r->value);
    r->value = NULL;
    r->value_len = 0;
    r->has_value = false;
    free(r->error);
    (void)gbx_utf8_append_escaped(&line, message, strlen(message), GBX_ESCAPE_LINE);
    r->error = gbx_buf_take_string(&line, NULL);
    r->code = code;
    r->hint = hint;
    return r->error != NULL;
}

void gbx_result_set_replay(gbx_result *r, gbx_replay_text which, gbx_span text)
{
    const char **const to[] = {&r->replay.recorded, &r->replay.came,
                               &r->replay.recorded_engine, &r->replay.engine};
    char *copy = copy_text(text, NULL);

    free(r->replay_texts[which]);
    r->replay_texts[which] = copy;
    *to[which] = copy != NULL ? copy : "";
}

/* ---- public API ---------------------------------------------------------- */

gbx_code gbx_result_code(const gbx_result *result)
{
    return result->code;
}

const char *gbx_result_value(const gbx_result *result, size_t *ret_len)
{
    if (ret_len != NULL)
        *ret_len = result->value_len;
    return result->value != NULL ? result->value : "";
}

const char *gbx_result_error(const gbx_result *result)
{
    return result->error != NULL ? result->error : "";
}

const char *gbx_result_thrown_name(const gbx_result *result)
{
    return result->thrown_name != NULL ? result->thrown_name : "";
}

const char *gbx_result_thrown_message(const gbx_result *result)
{
    return result->thrown_message != NULL ? result->thrown_message : "";
}

const char *gbx_result_hint(const gbx_result *result)
{
    return result->hint;
}

const char *gbx_result_stack(const gbx_result *result)
{
    return result->stack != NULL ? result->stack : "";
}

gbx_location gbx_result_location(const gbx_result *result)
{
    return result->location;
}

size_t gbx_result_log_count(const gbx_result *result)
{
    return result->log_count;
}

gbx_log gbx_result_log(const gbx_result *result, size_t index)
{
    static const gbx_log none = {.text = ""};

    return index < result->log_count ? result->logs[index] : none;
}

int gbx_result_logs_truncated(const gbx_result *result)
{
    return result->is_truncated;
}

gbx_replay gbx_result_replay(const gbx_result *result)
{
    return result->replay;
}

gbx_stats gbx_result_stats(const gbx_result *result)
{
    return result->stats;
}

const char *gbx_result_machine(const gbx_result *result)
{
    return result->machine;
}

const char *gbx_result_call_id(const gbx_result *result)
{
    return result->call_id;
}

void gbx_result_free(gbx_result *result)
{
    if (result == NULL)
        return;
    for (size_t i = 0; i < result->log_count; i++) {
        void *text;

        memcpy(&text, &result->logs[i].text, sizeof text);
        free(text);
    }
    free(result->logs);
    free(result->value);
    free(result->error);
    free(result->stack);
    free(result->frame);
    free(result->own_hint);
    free(result->json);
    free(result->thrown_name);
    free(result->thrown_message);
    for (size_t i = 0; i < GBX_COUNTOF(result->replay_texts); i++)
        free(result->replay_texts[i]);
    free(result);
}

/* ---- names of the codes ---------------------------------------------------- */

const char *gbx_status_name(gbx_status status)
{
    switch (status) {
#define XX(name, number, exit, rpc, text) \
    case GBX_##name: return "GBX_" #name;
        GBX_STATUS_MAP(XX)
#undef XX
    }
    return "GBX_E_UNKNOWN";
}

const char *gbx_code_name(gbx_code code)
{
    switch (code) {
#define XX(name, number, exit, text) \
    case GBX_CODE_##name: return number == 0 ? "OK" : #name;
        GBX_CODE_MAP(XX)
#undef XX
    }
    return "UNKNOWN";
}

const char *gbx_code_text(gbx_code code)
{
    switch (code) {
#define XX(name, number, exit, text) \
    case GBX_CODE_##name: return text;
        GBX_CODE_MAP(XX)
#undef XX
    }
    return "unknown code";
}

int gbx_code_exit(gbx_code code)
{
    switch (code) {
#define XX(name, number, exit, text) \
    case GBX_CODE_##name: return exit;
        GBX_CODE_MAP(XX)
#undef XX
    }
    return 70;
}

const char *gbx_form_name(gbx_form form)
{
    static const char *const names[] = {"function", "execute", "body", "script"};

    return form <= GBX_FORM_SCRIPT ? names[form] : "unknown";
}

const char *gbx_version(void)
{
    return GBX_VERSION;
}

void gbx_string_free(char *string)
{
    free(string);
}

/* ---- the result as one JSON object ----------------------------------------- */

static const char *const levels[] = {"debug", "log", "info", "warn", "error"};

static void put_failure(gbx_buf *to, const gbx_result *r)
{
    gbx_json_put_bool(to, "ok", false);
    gbx_json_put_text(to, "code", gbx_code_name(r->code));
    gbx_json_put_text(to, "error", gbx_result_error(r));
    if (*r->hint != 0)
        gbx_json_put_text(to, "hint", r->hint);
    if (r->location.line != 0) {
        gbx_json_put_open(to, "location", '{');
        gbx_json_put_integer(to, "line", r->location.line);
        gbx_json_put_integer(to, "column", r->location.column);
        gbx_json_put_text(to, "frame", r->location.frame);
        (void)gbx_buf_puts(to, "}");
    }
    if (*gbx_result_stack(r) != 0)
        gbx_json_put_text(to, "stack", gbx_result_stack(r));
}

static void put_logs(gbx_buf *to, const gbx_result *r)
{
    gbx_json_put_open(to, "logs", '[');
    for (size_t i = 0; i < r->log_count; i++) {
        const gbx_log *log = &r->logs[i];

        gbx_json_put_open(to, NULL, '{');
        gbx_json_put_text(to, "level", levels[log->level]);
        gbx_json_put_number(to, "timeMs", log->time_ms);
        gbx_json_put_key(to, "text");
        (void)gbx_json_append_string(to, log->text, log->text_len);
        (void)gbx_buf_puts(to, "}");
    }
    (void)gbx_buf_puts(to, "]");
    if (r->is_truncated)
        gbx_json_put_bool(to, "logsTruncated", true);
}

static void put_stats(gbx_buf *to, const gbx_result *r)
{
    const gbx_stats *s = &r->stats;

    gbx_json_put_open(to, "stats", '{');
    gbx_json_put_number(to, "cpuMs", s->cpu_ms);
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

    gbx_json_put_open(to, "replay", '{');
    gbx_json_put_text(to, "outcome", words[replay->how]);
    gbx_json_put_integer(to, "hostCalls", replay->host_calls);
    gbx_json_put_text(to, "recordedCode", gbx_code_name(replay->recorded_code));
    gbx_json_put_text(to, "recordedEngine", replay->recorded_engine);
    gbx_json_put_text(to, "engine", replay->engine);
    if (replay->how == GBX_REPLAYED_DIVERGED) {
        gbx_json_put_text(to, "what", replay->what);
        gbx_json_put_integer(to, "hostCall", replay->host_call);
        gbx_json_put_integer(to, "line", replay->line);
        gbx_json_put_text(to, "recorded", replay->recorded);
        gbx_json_put_text(to, "came", replay->came);
    }
    (void)gbx_buf_puts(to, "}");
}

const char *gbx_result_json(gbx_result *result, size_t *ret_len)
{
    gbx_buf buf;

    if (result->json == NULL) {
        gbx_buf_init(&buf, SIZE_MAX / 2);
        gbx_json_put_open(&buf, NULL, '{');
        if (result->code == GBX_CODE_VALUE) {
            gbx_json_put_bool(&buf, "ok", true);
            if (result->has_value) {
                gbx_json_put_key(&buf, "value");
                (void)gbx_buf_append(&buf, result->value, result->value_len);
            }
            if (*result->hint != 0)
                gbx_json_put_text(&buf, "hint", result->hint);
        } else {
            put_failure(&buf, result);
        }
        gbx_json_put_number(&buf, "executionMs", result->stats.wall_ms);
        put_logs(&buf, result);
        put_stats(&buf, result);
        if (result->replay.how != GBX_REPLAYED_NOT)
            put_replay(&buf, &result->replay);
        gbx_json_put_text(&buf, "runner", result->runner);
        if (*result->machine != 0)
            gbx_json_put_text(&buf, "machine", result->machine);
        if (!result->is_isolated)
            gbx_json_put_bool(&buf, "isolated", false);
        if (*result->jit != 0)
            gbx_json_put_text(&buf, "jit", result->jit);
        (void)gbx_buf_printf(&buf, ",\"call\":%llu", (unsigned long long)result->call);
        if (*result->call_id != 0)
            gbx_json_put_text(&buf, "callId", result->call_id);
        (void)gbx_buf_puts(&buf, "}");
        result->json = gbx_buf_take_string(&buf, &result->json_len);
    }
    if (ret_len != NULL)
        *ret_len = result->json_len;
    return result->json;
}

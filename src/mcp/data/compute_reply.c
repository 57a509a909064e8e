/* SPDX-License-Identifier: MIT */
/*
 * compute_reply - formats the reply to a call: the value as JSON in a block of its own,
 * then the log, and both again as structured content. The first line reports cuts; the
 * whole text is kept as a resource.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_view.h"
#include "guard/guard.h"
#include "mcp/code/code.h"
#include "mcp/data/datasets.h"
#include "mcp/rpc/rpc.h"
#include "syntax/hint_table.h"

#include <stdlib.h>
#include <string.h>

/* Limits of the text that a model sees. */
#define VALUE_MAX 40000
#define LOGS_MAX  8000

#define PAGE_BYTES 40000
#define ALL_MAX    GBX_MIB(256)

typedef struct reply {
    gbx_mcp_data *data;
    gbx_result *result; /* NULL: nothing ran */
    const char *code;   /* of the error; NULL: there is a value */
    const char *error;
    bool is_text;   /* the value is a text for the model */
    bool has_links; /* the client supports them */
    gbx_buf json;   /* of the value */
    gbx_excerpt value;
    gbx_excerpt logs;
    gbx_buf printed; /* all console lines */
    const char *hint;
    gbx_location at;
} reply;

static const char *const levels[] = {"debug", "log", "info", "warn", "error"};

static const char *level_of(const gbx_log *log)
{
    return levels[log->level <= GBX_LOG_ERROR ? log->level : GBX_LOG_LOG];
}

/* ---- text ------------------------------------------------------------------------ */

/* 1234567 as 1,234,567. */
static void put_count(gbx_buf *to, size_t count)
{
    if (count >= 1000) {
        put_count(to, count / 1000);
        (void)gbx_buf_printf(to, ",%03zu", count % 1000);
    } else {
        (void)gbx_buf_printf(to, "%zu", count);
    }
}

static void put_log_count(const reply *r, gbx_buf *to)
{
    size_t count = gbx_result_log_count(r->result);

    put_count(to, count);
    (void)gbx_buf_printf(to, " log line%s", count == 1 ? "" : "s");
}

static void say_value(const reply *r, gbx_buf *to)
{
    if (r->value.total == 0) {
        (void)gbx_buf_puts(to, "the function returned undefined; ");
        put_log_count(r, to);
        if (r->hint[0] != 0)
            (void)gbx_buf_printf(to, "\nhint: %s", r->hint);
        else if (gbx_result_log_count(r->result) == 0)
            (void)gbx_buf_puts(to, ". Return a value, or end with an expression");
        return;
    }
    if (r->value.tail != NULL)
        (void)gbx_buf_puts(to, "[return less: filter, count or sum first, or slice] ");
    gbx_excerpt_say(&r->value, "result", PAGE_BYTES, to);
    gbx_excerpt_append(&r->value, r->is_text ? GBX_ESCAPE_TEXT : GBX_ESCAPE_JSON, to);
    if (r->hint[0] != 0)
        (void)gbx_buf_printf(to, "\nhint: %s", r->hint);
}

static void put_content(const reply *r, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = ALL_MAX};

    if (r->code == NULL) {
        say_value(r, &text);
    } else {
        (void)gbx_buf_printf(&text, "%s: %s", r->code, r->error);
        if (r->at.line > 0)
            (void)gbx_buf_printf(&text, "\nat line %u, column %u", r->at.line,
                                 r->at.column);
        if (r->at.frame != NULL && r->at.frame[0] != 0)
            (void)gbx_buf_printf(&text, "\n%s", r->at.frame);
        if (r->hint[0] != 0)
            (void)gbx_buf_printf(&text, "\nhint: %s", r->hint);
    }
    (void)gbx_buf_puts(to, "[");
    gbx_block_text(to, text.data, text.len);
    if (r->result != NULL && gbx_result_log_count(r->result) > 0) {
        text.len = 0;
        gbx_excerpt_say(&r->logs, "log", PAGE_BYTES, &text);
        put_log_count(r, &text);
        (void)gbx_buf_puts(&text, gbx_result_logs_truncated(r->result)
                                      ? ", up to the limit of a call; what came after "
                                        "is lost:\n"
                                      : ":\n");
        gbx_excerpt_append(&r->logs, GBX_ESCAPE_TEXT, &text);
        gbx_block_text(to, text.data, text.len);
    }
    if (r->has_links) {
        gbx_excerpt_link(&r->value, "result", "application/json", to);
        gbx_excerpt_link(&r->logs, "log", "text/plain", to);
    }
    (void)gbx_buf_puts(to, "]");
}

/* ---- structured content ---------------------------------------------------------- */

static void put_string(gbx_buf *to, const char *name, const char *text)
{
    gbx_json_put_shown(to, name, text, strlen(text));
}

static void put_value(const reply *r, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf shown = {.ceiling = ALL_MAX};

    if (r->value.total == 0)
        return;
    if (r->value.tail == NULL) {
        gbx_json_put_key(to, "value");
        (void)(r->is_text ? gbx_json_append_shown(to, r->value.head, r->value.head_len)
                          : gbx_buf_append(to, r->value.head, r->value.head_len));
        return;
    }
    gbx_excerpt_append(&r->value, GBX_ESCAPE_JSON, &shown);
    gbx_json_put_open(to, "truncated", '{');
    gbx_json_put_integer(to, "bytes", (int64_t)r->value.total);
    gbx_json_put_integer(to, "shown", (int64_t)(r->value.head_len + r->value.tail_len));
    if (r->value.uri[0] != 0)
        gbx_json_put_text(to, "resource", r->value.uri);
    gbx_json_put_shown(to, "preview", (const char *)shown.data, shown.len);
    (void)gbx_buf_puts(to, "}");
}

static void put_error(const reply *r, gbx_buf *to)
{
    put_string(to, "code", r->code);
    put_string(to, "error", r->error);
    put_string(to, "hint", r->hint);
    if (r->at.line == 0)
        return;
    gbx_json_put_open(to, "location", '{');
    gbx_json_put_integer(to, "line", r->at.line);
    gbx_json_put_integer(to, "column", r->at.column);
    put_string(to, "frame", r->at.frame != NULL ? r->at.frame : "");
    (void)gbx_buf_puts(to, "}");
}

/* The first lines that fit; the text says where the rest is. */
static void put_logs(const reply *r, gbx_buf *to)
{
    size_t count = r->result != NULL ? gbx_result_log_count(r->result) : 0;
    size_t until = to->len + LOGS_MAX;
    size_t i;

    gbx_json_put_open(to, "logs", '[');
    for (i = 0; i < count; i++) {
        gbx_log log = gbx_result_log(r->result, i);

        if (to->len + log.text_len > until)
            break;
        gbx_json_put_open(to, NULL, '{');
        gbx_json_put_text(to, "level", level_of(&log));
        gbx_json_put_shown(to, "text", log.text, log.text_len);
        (void)gbx_buf_puts(to, "}");
    }
    (void)gbx_buf_puts(to, "]");
    if (i < count)
        gbx_json_put_integer(to, "logsLeftOut", (int64_t)(count - i));
}

static void put_structured(const reply *r, gbx_buf *to)
{
    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_bool(to, "ok", r->code == NULL);
    if (r->code != NULL)
        put_error(r, to);
    else
        put_value(r, to);
    if (r->code == NULL && r->hint[0] != 0)
        put_string(to, "hint", r->hint);
    put_logs(r, to);
    if (r->result != NULL) {
        gbx_stats stats = gbx_result_stats(r->result);

        gbx_json_put_open(to, "stats", '{');
        gbx_json_put_number(to, "wallMs", stats.wall_ms);
        gbx_json_put_number(to, "cpuMs", stats.cpu_ms);
        gbx_json_put_integer(to, "peakMemoryBytes", (int64_t)stats.peak_memory_bytes);
        gbx_json_put_integer(to, "outputBytes", (int64_t)stats.output_bytes);
        (void)gbx_buf_puts(to, "}");
    }
    (void)gbx_buf_puts(to, "}");
}

/* ---- parts of a reply ------------------------------------------------------------ */

static void take_value(reply *r)
{
    size_t len = 0;
    const char *value = gbx_result_value(r->result, &len);

    if (r->is_text)
        (void)gbx_view_append_text((gbx_view){value, len}, &r->json);
    else
        (void)gbx_view_append_json((gbx_view){value, len}, &r->json);
    r->value = gbx_excerpt_text((const char *)r->json.data, r->json.len, VALUE_MAX,
                                r->data->artifacts, "result.json", "application/json",
                                gbx_clock_now_ns());
}

static void take_logs(reply *r)
{
    size_t count = gbx_result_log_count(r->result);

    for (size_t i = 0; i < count; i++) {
        gbx_log log = gbx_result_log(r->result, i);

        if (log.level != GBX_LOG_LOG)
            (void)gbx_buf_printf(&r->printed, "[%s] ", level_of(&log));
        (void)gbx_buf_append(&r->printed, log.text, log.text_len);
        if (i + 1 < count)
            (void)gbx_buf_puts(&r->printed, "\n");
    }
    r->logs = gbx_excerpt_text((const char *)r->printed.data, r->printed.len, LOGS_MAX,
                               r->data->artifacts, "log.txt", "text/plain",
                               gbx_clock_now_ns());
    r->logs.is_rest = gbx_result_logs_truncated(r->result) != 0;
}

static void take_error(reply *r, const char *advice)
{
    gbx_code code = gbx_result_code(r->result);

    r->code = gbx_code_name(code);
    r->error = gbx_result_error(r->result);
    r->hint =
        advice[0] != 0 ? advice : gbx_hint_for_code(gbx_result_hint(r->result), false);
    if (r->hint[0] == 0 && code == GBX_CODE_OUTPUT_TOO_LARGE)
        r->hint = "filter, count, sum or slice before you return";
    else if (r->hint[0] == 0 && code == GBX_CODE_TIMEOUT)
        r->hint = "go over the data once: a Map in place of a search inside a loop";
    r->at = gbx_result_location(r->result);
}

/* False: it is too long, or memory is out. */
static bool send_reply(const reply *r, gbx_mcp_request *request)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf content = {.ceiling = ALL_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf structured = {.ceiling = ALL_MAX};

    gbx_call_span_note(gbx_mcp_request_span(request), r->code);
    put_content(r, &content);
    put_structured(r, &structured);
    if (content.failed || structured.failed || r->json.failed)
        return false;
    gbx_mcp_finish(request,
                   &(gbx_mcp_result){.content = (const char *)content.data,
                                     .content_len = content.len,
                                     .structured = (const char *)structured.data,
                                     .structured_len = structured.len,
                                     .is_error = r->code != NULL});
    return true;
}

void gbx_compute_reply(gbx_mcp_data *data, gbx_mcp_request *request, const char *advice,
                       bool is_text, gbx_result *result)
{
    bool has_value = gbx_result_code(result) == GBX_CODE_VALUE;
    reply r = {.data = data,
               .result = result,
               .is_text = is_text && has_value,
               .has_links = gbx_mcp_takes_links(request),
               .json = {.ceiling = ALL_MAX},
               .printed = {.ceiling = ALL_MAX},
               .hint = advice[0] != 0 ? advice : gbx_result_hint(result)};

    if (has_value)
        take_value(&r);
    else
        take_error(&r, advice);
    take_logs(&r);
    if (!send_reply(&r, request))
        gbx_compute_refuse(request, "UNAVAILABLE", "no memory for the reply", "");
    gbx_buf_cleanup(&r.json);
    gbx_buf_cleanup(&r.printed);
}

void gbx_compute_refuse(gbx_mcp_request *request, const char *code, const char *error,
                        const char *hint)
{
    reply r = {.code = code, .error = error, .hint = hint};

    if (!send_reply(&r, request))
        gbx_mcp_fail(request, GBX_RPC_INTERNAL_ERROR, "memory is out");
}

/* SPDX-License-Identifier: MIT */
/*
 * reply_json - members are always present, so that programs need not test for them. A
 * value shown whole is exact; everything else is for people, with invisible characters
 * escaped.
 */
#include "mcp/code/code_mode.h"

#include "base/json.h"
#include "mcp/approval/gate.h"

#include <string.h>

/* More calls than anybody reads; the rest is only counted. */
#define CALLS_MAX 100
#define PREVIEW   120

static void put_text(gbx_buf *to, const char *text)
{
    (void)gbx_json_append_shown(to, text, strlen(text));
}

static void put_member(gbx_buf *to, const char *name, const char *text)
{
    (void)gbx_buf_printf(to, ",\"%s\":", name);
    put_text(to, text);
}

/* The value if it is shown whole, else the shown part as text. */
static void put_result(const gbx_script_reply *r, const gbx_excerpt *cut, gbx_buf *to)
{
    gbx_buf shown;

    (void)gbx_buf_puts(to, ",\"result\":");
    if (cut->tail == NULL) {
        (void)gbx_buf_append(to, r->value, r->value_len);
        return;
    }
    gbx_buf_init(&shown, GBX_CUT_SHOWN_MAX * (cut->head_len + cut->tail_len) + 100);
    gbx_excerpt_append(cut, gbx_reply_escape(r), &shown);
    (void)gbx_json_append_string(to, shown.data, shown.len);
    gbx_buf_cleanup(&shown);
}

/* Log lines from the start while they fit, then the last ones. */
static void put_logs(const gbx_script_reply *r, size_t cap, gbx_buf *to)
{
    size_t used = 0;
    size_t first = r->log_count;
    size_t last = r->log_count;

    for (size_t i = 0; i < r->log_count && used <= cap / 2; i++) {
        used += r->logs[i].len + 8;
        first = i + 1;
    }
    if (used <= cap / 2)
        first = r->log_count;
    for (used = 0; last > first && used + r->logs[last - 1].len + 8 <= cap / 2; last--)
        used += r->logs[last - 1].len + 8;
    (void)gbx_buf_puts(to, ",\"logs\":[");
    for (size_t i = 0; i < r->log_count; i++) {
        size_t len = r->logs[i].len;

        if (i > 0)
            (void)gbx_buf_puts(to, ",");
        if (i == first && last > first) {
            (void)gbx_buf_printf(to, "\"[... %zu lines ...]\"", last - first);
            i = last - 1;
            continue;
        }
        if (len > cap / 2)
            len = gbx_artifacts_border(r->logs[i].text, len, cap / 2);
        (void)gbx_json_append_shown(to, r->logs[i].text, len);
    }
    (void)gbx_buf_puts(to, "]");
}

static void put_calls(const gbx_script_reply *r, gbx_buf *to)
{
    (void)gbx_buf_puts(to, ",\"calls\":[");
    for (size_t i = 0; i < r->call_count && i < CALLS_MAX; i++) {
        const gbx_script_reply_call *c = &r->calls[i];

        (void)gbx_buf_puts(to, i > 0 ? ",{\"server\":" : "{\"server\":");
        put_text(to, c->server);
        put_member(to, "tool", c->tool);
        (void)gbx_buf_puts(to, ",\"ms\":");
        (void)gbx_json_append_number(to, c->ms);
        (void)gbx_buf_printf(to, ",\"ok\":%s,\"bytes\":%zu,\"line\":%u",
                             c->outcome == GBX_CALL_DOUBTFUL ? "null"
                             : c->code == NULL               ? "true"
                                                             : "false",
                             c->bytes, c->line);
        if (c->code != NULL)
            put_member(to, "code", c->code);
        if (c->outcome == GBX_CALL_DOUBTFUL)
            put_member(to, "outcome", GBX_GATE_DOUBT);
        (void)gbx_buf_puts(to, "}");
    }
    (void)gbx_buf_puts(to, "]");
}

static void put_artifact(gbx_buf *to, bool *is_first, const char *uri, const char *name,
                         const char *mime_type, size_t bytes)
{
    (void)gbx_buf_puts(to, *is_first ? "{\"uri\":" : ",{\"uri\":");
    *is_first = false;
    put_text(to, uri);
    put_member(to, "name", name);
    put_member(to, "mimeType", mime_type);
    (void)gbx_buf_printf(to, ",\"bytes\":%zu", bytes);
}

/* How a cut text begins; an artifact of code has no head. */
static void put_cut(gbx_buf *to, bool *is_first, const gbx_excerpt *cut,
                    const char *name, const char *mime_type)
{
    size_t len;

    if (cut->uri[0] == 0)
        return;
    put_artifact(to, is_first, cut->uri, name, mime_type, cut->total);
    len = gbx_artifacts_border(cut->head, cut->head_len, PREVIEW);
    (void)gbx_buf_puts(to, ",\"preview\":");
    (void)gbx_json_append_shown(to, cut->head, len);
    (void)gbx_buf_puts(to, "}");
}

static bool is_text(const gbx_script_reply *r)
{
    return r->value_len > 0 && r->value[0] == '"';
}

static const char *value_type(const gbx_script_reply *r)
{
    return is_text(r) ? "text/plain" : "application/json";
}

static void put_error(const gbx_script_reply_error *e, gbx_buf *to)
{
    (void)gbx_buf_puts(to, ",\"error\":{\"code\":");
    put_text(to, e->code);
    put_member(to, "name", e->name);
    put_member(to, "message", e->message);
    if (e->line > 0)
        (void)gbx_buf_printf(to, ",\"line\":%u,\"column\":%u", e->line, e->column);
    put_member(to, "frame", e->frame);
    put_member(to, "hint", e->hint);
    (void)gbx_buf_puts(to, "}");
}

static void put_usage(const gbx_script_reply *r, gbx_buf *to)
{
    (void)gbx_buf_puts(to, ",\"usage\":{\"cpu_ms\":");
    (void)gbx_json_append_number(to, r->cpu_ms);
    (void)gbx_buf_puts(to, ",\"wall_ms\":");
    (void)gbx_json_append_number(to, r->wall_ms);
    (void)gbx_buf_printf(to,
                         ",\"memory_bytes\":%llu,\"calls\":%zu,\"calls_left\":%u,"
                         "\"ms_left\":%.0f}",
                         (unsigned long long)r->memory_bytes, r->call_count,
                         r->calls_left, r->ms_left);
}

static bool is_truncated(const gbx_script_reply *r, const gbx_reply_cuts *cuts)
{
    return cuts->value.tail != NULL || cuts->logs.tail != NULL || r->logs_cut ||
           (r->error.code != NULL && gbx_excerpt_is_marked(r->error.message));
}

static void put_link(gbx_buf *to, const gbx_excerpt *cut, const char *name,
                     const char *mime_type)
{
    if (cut->uri[0] != 0)
        gbx_reply_link(to, cut->uri, name, mime_type, cut->total);
}

/* ---- public to other files of this folder --------------------------------- */

gbx_escape gbx_reply_escape(const gbx_script_reply *r)
{
    return is_text(r) ? GBX_ESCAPE_TEXT : GBX_ESCAPE_JSON;
}

void gbx_reply_structure(const gbx_script_reply *r, const gbx_reply_cuts *cuts,
                         gbx_buf *to)
{
    const gbx_excerpt *logs = &cuts->logs;
    bool is_first = true;

    (void)gbx_buf_printf(to, "{\"ok\":%s", r->error.code == NULL ? "true" : "false");
    if (r->value_len > 0)
        put_result(r, &cuts->value, to);
    put_logs(r, logs->tail == NULL ? SIZE_MAX : logs->head_len + logs->tail_len, to);
    put_calls(r, to);
    (void)gbx_buf_printf(to, ",\"truncated\":%s,\"artifacts\":[",
                         is_truncated(r, cuts) ? "true" : "false");
    for (size_t i = 0; i < r->artifact_count && i < GBX_REPLY_ARTIFACTS_MAX; i++) {
        put_artifact(to, &is_first, r->artifacts[i].uri, r->artifacts[i].name,
                     r->artifacts[i].mime_type, r->artifacts[i].bytes);
        (void)gbx_buf_puts(to, "}");
    }
    put_cut(to, &is_first, &cuts->value, "result", value_type(r));
    put_cut(to, &is_first, &cuts->message, "error", "text/plain");
    put_cut(to, &is_first, logs, "logs", "text/plain");
    (void)gbx_buf_puts(to, "]");
    if (r->artifact_count > GBX_REPLY_ARTIFACTS_MAX)
        (void)gbx_buf_printf(to, ",\"artifacts_left_out\":%zu",
                             r->artifact_count - GBX_REPLY_ARTIFACTS_MAX);
    if (r->error.code != NULL)
        put_error(&r->error, to);
    put_usage(r, to);
    (void)gbx_buf_puts(to, "}");
}

void gbx_reply_link(gbx_buf *to, const char *uri, const char *name,
                    const char *mime_type, size_t bytes)
{
    (void)gbx_buf_puts(to, ",{\"type\":\"resource_link\",\"uri\":");
    put_text(to, uri);
    put_member(to, "name", name);
    put_member(to, "mimeType", mime_type);
    (void)gbx_buf_printf(to, ",\"size\":%zu}", bytes);
}

void gbx_reply_blocks(const gbx_script_reply *r, const gbx_buf *text,
                      const gbx_reply_cuts *cuts, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "[{\"type\":\"text\",\"text\":");
    (void)gbx_json_append_shown(to, text->data, text->len);
    (void)gbx_buf_puts(to, "}");
    for (size_t i = 0;
         i < r->artifact_count && i < GBX_REPLY_ARTIFACTS_MAX && !r->has_no_links; i++)
        gbx_reply_link(to, r->artifacts[i].uri, r->artifacts[i].name,
                       r->artifacts[i].mime_type, r->artifacts[i].bytes);
    if (!r->has_no_links) {
        put_link(to, &cuts->value, "result", value_type(r));
        put_link(to, &cuts->message, "error", "text/plain");
        put_link(to, &cuts->logs, "logs", "text/plain");
    }
    (void)gbx_buf_puts(to, "]");
}

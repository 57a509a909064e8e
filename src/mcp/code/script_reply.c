/* SPDX-License-Identifier: MIT */
/*
 * script_reply - writes the reply of a run: text for the model, with the value first
 * and the costs last, and the same as structured content for programs.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_view.h"

#include <stdio.h>
#include <string.h>

/* The excerpts shown of long texts. */
struct cuts {
    gbx_excerpt value;
    gbx_excerpt logs;
    gbx_excerpt message; /* of the error; holds the part that is shown */
};

gbx_code_call_outcome gbx_code_call_outcome_of(const gbx_code_call *call)
{
    if (call->base.fate == GBX_GATE_DOUBTFUL)
        return GBX_CALL_DOUBTFUL;
    if (call->failed == NULL)
        return GBX_CALL_DONE;
    if (strcmp(call->failed, GBX_CODE_CALL_NOT_SENT) == 0)
        return GBX_CALL_NOT_SENT;
    return strcmp(call->failed, "CANCELLED") == 0 ? GBX_CALL_CANCELLED
                                                  : GBX_CALL_FAILED;
}

void gbx_reply_put_call(const gbx_code_call *call, gbx_buf *to)
{
    (void)gbx_buf_printf(to, "%s.%s", call->base.up.server->name, call->base.up.tool);
    if (call->base.line > 0)
        (void)gbx_buf_printf(to, " (line %u)", call->base.line);
}

/* ---- the structured content ------------------------------------------------- */

/* Members are always present, so that programs need not test for them. A value shown
 * whole is exact; all else is for people, with invisible characters escaped. */

/* Maximum number of listed calls; others are only counted. */
#define CALLS_MAX 100
#define PREVIEW   120

static void put_member(gbx_buf *to, const char *name, const char *text)
{
    gbx_json_put_shown(to, name, text, strlen(text));
}

static bool is_text(const gbx_script_reply *r)
{
    return r->value_len > 0 && r->value[0] == '"';
}

/* How the shown part of the value is escaped. */
static gbx_escape escape_of(const gbx_script_reply *r)
{
    return is_text(r) ? GBX_ESCAPE_TEXT : GBX_ESCAPE_JSON;
}

/* The value if it is shown whole, else the shown part as text. */
static void put_result(const gbx_script_reply *r, const gbx_excerpt *cut, gbx_buf *to)
{
    gbx_buf shown = {.ceiling =
                         GBX_CUT_SHOWN_MAX * (cut->head_len + cut->tail_len) + 100};

    gbx_json_put_key(to, "result");
    if (cut->tail == NULL) {
        (void)gbx_buf_append(to, r->value, r->value_len);
        return;
    }
    gbx_excerpt_append(cut, escape_of(r), &shown);
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
    gbx_json_put_open(to, "logs", '[');
    for (size_t i = 0; i < r->log_count; i++) {
        size_t len = r->logs[i].len;

        if (i == first && last > first) {
            gbx_json_put_key(to, NULL);
            (void)gbx_buf_printf(to, "\"[... %zu lines ...]\"", last - first);
            i = last - 1;
            continue;
        }
        if (len > cap / 2)
            len = gbx_utf8_cut(r->logs[i].text, len, cap / 2);
        gbx_json_put_shown(to, NULL, r->logs[i].text, len);
    }
    (void)gbx_buf_puts(to, "]");
}

static void put_calls(const gbx_script_reply *r, gbx_buf *to)
{
    size_t count = 0;

    gbx_json_put_open(to, "calls", '[');
    for (const gbx_code_call *c = r->calls; c != NULL && count < CALLS_MAX;
         c = c->next) {
        bool is_doubtful = c->base.fate == GBX_GATE_DOUBTFUL;

        count++;
        gbx_json_put_open(to, NULL, '{');
        put_member(to, "server", c->base.up.server->name);
        put_member(to, "tool", c->base.up.tool);
        gbx_json_put_number(to, "ms", c->ms);
        if (is_doubtful)
            gbx_json_put_json(to, "ok", "null", 4);
        else
            gbx_json_put_bool(to, "ok", c->failed == NULL);
        gbx_json_put_integer(to, "bytes", (int64_t)c->bytes);
        gbx_json_put_integer(to, "line", c->base.line);
        if (c->failed != NULL)
            put_member(to, "code", c->failed);
        if (is_doubtful)
            put_member(to, "outcome", GBX_GATE_DOUBT);
        (void)gbx_buf_puts(to, "}");
    }
    (void)gbx_buf_puts(to, "]");
}

/* head: the beginning of a cut text, or NULL. */
static void put_artifact(gbx_buf *to, const gbx_script_reply_artifact *a,
                         const char *head, size_t head_len)
{
    gbx_json_put_open(to, NULL, '{');
    put_member(to, "uri", a->uri);
    put_member(to, "name", a->name);
    put_member(to, "mimeType", a->mime_type);
    gbx_json_put_integer(to, "bytes", (int64_t)a->bytes);
    gbx_json_put_shown(to, "preview", head, gbx_utf8_cut(head, head_len, PREVIEW));
    (void)gbx_buf_puts(to, "}");
}

static void put_cut(gbx_buf *to, const gbx_excerpt *cut, const char *name,
                    const char *mime_type)
{
    gbx_script_reply_artifact a = {.bytes = cut->total};

    if (cut->uri[0] == 0)
        return;
    memcpy(a.uri, cut->uri, sizeof a.uri);
    (void)snprintf(a.name, sizeof a.name, "%s", name);
    (void)snprintf(a.mime_type, sizeof a.mime_type, "%s", mime_type);
    put_artifact(to, &a, cut->head, cut->head_len);
}

static const char *value_type(const gbx_script_reply *r)
{
    return is_text(r) ? "text/plain" : "application/json";
}

static void put_error(const gbx_script_reply_error *e, gbx_buf *to)
{
    gbx_json_put_open(to, "error", '{');
    put_member(to, "code", e->code);
    put_member(to, "name", e->name);
    put_member(to, "message", e->message);
    if (e->line > 0) {
        gbx_json_put_integer(to, "line", e->line);
        gbx_json_put_integer(to, "column", e->column);
    }
    put_member(to, "frame", e->frame);
    put_member(to, "hint", e->hint);
    (void)gbx_buf_puts(to, "}");
}

static void put_structure(const gbx_script_reply *r, const struct cuts *cuts,
                          gbx_buf *to)
{
    const gbx_excerpt *logs = &cuts->logs;

    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_bool(to, "ok", r->error.code == NULL);
    if (r->value_len > 0)
        put_result(r, &cuts->value, to);
    put_logs(r, logs->tail == NULL ? SIZE_MAX : logs->head_len + logs->tail_len, to);
    put_calls(r, to);
    gbx_json_put_bool(to, "truncated",
                      cuts->value.tail != NULL || logs->tail != NULL || r->logs_cut ||
                          cuts->message.tail != NULL);
    gbx_json_put_open(to, "artifacts", '[');
    for (size_t i = 0; i < r->artifact_count && i < GBX_REPLY_ARTIFACTS_MAX; i++)
        put_artifact(to, &r->artifacts[i], NULL, 0);
    put_cut(to, &cuts->value, "result", value_type(r));
    put_cut(to, &cuts->message, "error", "text/plain");
    put_cut(to, logs, "logs", "text/plain");
    (void)gbx_buf_puts(to, "]");
    if (r->artifact_count > GBX_REPLY_ARTIFACTS_MAX)
        gbx_json_put_integer(to, "artifacts_left_out",
                             (int64_t)(r->artifact_count - GBX_REPLY_ARTIFACTS_MAX));
    if (r->error.code != NULL)
        put_error(&r->error, to);
    gbx_json_put_open(to, "usage", '{');
    gbx_json_put_number(to, "cpu_ms", r->cpu_ms);
    gbx_json_put_number(to, "wall_ms", r->wall_ms);
    gbx_json_put_integer(to, "memory_bytes", (int64_t)r->memory_bytes);
    gbx_json_put_integer(to, "calls", (int64_t)r->call_count);
    gbx_json_put_integer(to, "calls_left", r->calls_left);
    gbx_json_put_integer(to, "ms_left", (int64_t)(r->ms_left + 0.5));
    (void)gbx_buf_puts(to, "}}");
}

/* ---- the blocks of content -------------------------------------------------- */

static void put_blocks(const gbx_script_reply *r, const gbx_buf *text,
                       const struct cuts *cuts, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "[");
    gbx_block_text(to, text->data, text->len);
    if (r->images != NULL)
        (void)gbx_buf_append(to, r->images->data, r->images->len);
    for (size_t i = 0;
         i < r->artifact_count && i < GBX_REPLY_ARTIFACTS_MAX && !r->has_no_links; i++)
        gbx_block_link(to, r->artifacts[i].uri, r->artifacts[i].name,
                       r->artifacts[i].mime_type, r->artifacts[i].bytes);
    if (!r->has_no_links) {
        gbx_excerpt_link(&cuts->value, "result", value_type(r), to);
        gbx_excerpt_link(&cuts->message, "error", "text/plain", to);
        gbx_excerpt_link(&cuts->logs, "logs", "text/plain", to);
    }
    (void)gbx_buf_puts(to, "]");
}

/* ---- the text --------------------------------------------------------------- */

#define WORDS_MAX GBX_MIB(1) /* besides values and logs */
#define TOOLS_MAX 8          /* named in the last line */

static void write_error(const gbx_script_reply *r, gbx_buf *to)
{
    const gbx_script_reply_error *e = &r->error;
    const char *line = e->message;
    size_t len = strcspn(line, "\n");

    (void)gbx_buf_puts(to, e->code);
    if (e->line > 0 && e->column > 0)
        (void)gbx_buf_printf(to, " at line %u, column %u", e->line, e->column);
    else if (e->line > 0)
        (void)gbx_buf_printf(to, " at line %u", e->line);
    (void)gbx_buf_puts(to, ": ");
    if (e->name[0] != 0)
        (void)gbx_buf_printf(to, "%s: ", e->name);
    (void)gbx_buf_append(to, line, len);
    /* Indent the lines after the first, so that they do not look like ours. */
    for (line += len; *line != '\0'; line += len) {
        line++;
        len = strcspn(line, "\n");
        (void)gbx_buf_printf(to, "\n    %.*s", (int)len, line);
    }
    (void)gbx_buf_puts(to, "\n");
    if (e->frame[0] != 0)
        (void)gbx_buf_printf(to, "%s%s", e->frame,
                             e->frame[strlen(e->frame) - 1] == '\n' ? "" : "\n");
    if (e->hint[0] != 0)
        (void)gbx_buf_printf(to, "hint: %s\n", e->hint);
}

/* True if its result is worth showing after the other: those of one tool are alike. */
static bool is_telling(const gbx_code_call *call, const gbx_code_call *before)
{
    return call->gave[0] != 0 &&
           (before == NULL || call->base.up.server != before->base.up.server ||
            strcmp(call->base.up.tool, before->base.up.tool) != 0);
}

/* List the calls that a failed run has made. If the code itself failed, it may have
 * misread a value, so also show the form of the results. */
static void write_effects(const gbx_script_reply *r, gbx_buf *to)
{
    bool is_own = strcmp(r->error.code, "RUNTIME") == 0;
    const gbx_code_call *before = NULL;
    size_t named = 0;

    for (const gbx_code_call *call = r->calls; call != NULL && named < TOOLS_MAX;
         call = call->next) {
        if (call->failed != NULL || call->was_open)
            continue;
        (void)gbx_buf_puts(to, named++ == 0 ? "done before that: " : ", ");
        gbx_reply_put_call(call, to);
        if (is_own && is_telling(call, before))
            (void)gbx_buf_printf(to, " -> %s", call->gave);
        before = call;
    }
    if (named > 0)
        (void)gbx_buf_puts(to, named == TOOLS_MAX ? ", ...\n" : "\n");
}

/* The code may have read a member that the last result does not have: show the form of
 * that result. */
static void write_last_call(const gbx_script_reply *r, gbx_buf *to)
{
    const gbx_code_call *last = NULL;

    for (const gbx_code_call *call = r->calls; call != NULL; call = call->next)
        if (call->failed == NULL)
            last = call;
    if (last == NULL || !is_telling(last, NULL))
        return;
    (void)gbx_buf_puts(to, "; ");
    gbx_reply_put_call(last, to);
    (void)gbx_buf_printf(to, " gave %s", last->gave);
}

static void write_no_value(const gbx_script_reply *r, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "No value returned");
    if (r->log_count > 0)
        (void)gbx_buf_printf(to, "; %zu log line%s", r->log_count,
                             r->log_count == 1 ? "" : "s");
    if (r->left_out[0] != 0)
        (void)gbx_buf_printf(to, "; %s", r->left_out);
    if (r->log_count == 0)
        write_last_call(r, to);
    (void)gbx_buf_puts(to, "\n");
}

static void write_cost(const gbx_script_reply *r, gbx_buf *to)
{
    static const char *const told[GBX_CALL_OUTCOMES] = {
        [GBX_CALL_FAILED] = "of them failed",
        [GBX_CALL_NOT_SENT] = "not sent",
        [GBX_CALL_CANCELLED] = "cancelled",
        [GBX_CALL_DOUBTFUL] = "with no known outcome"};
    size_t count[GBX_CALL_OUTCOMES] = {0};

    for (const gbx_code_call *call = r->calls; call != NULL; call = call->next)
        count[gbx_code_call_outcome_of(call)]++;
    (void)gbx_buf_printf(to, "(%zu call%s", r->call_count,
                         r->call_count == 1 ? "" : "s");
    for (size_t i = GBX_CALL_FAILED; i < GBX_CALL_OUTCOMES; i++)
        if (count[i] > 0)
            (void)gbx_buf_printf(to, ", %zu %s", count[i], told[i]);
    (void)gbx_buf_printf(to,
                         "; %.0f ms, %.0f ms of them computing; %.1f MB; left: %u "
                         "calls, %.1f s)",
                         r->wall_ms, r->cpu_ms, (double)r->memory_bytes / 1e6,
                         r->calls_left, r->ms_left / 1e3);
}

/* The shown parts, and their cuts. */
struct parts {
    gbx_buf value;
    gbx_buf logs;
    gbx_buf message; /* of the error, if it is cut; ends in NUL */
    gbx_buf error;
    struct cuts cuts;
};

static void write_text(const gbx_script_reply *r, const struct parts *p, size_t cap,
                       gbx_buf *to)
{
    gbx_excerpt_say(&p->cuts.value, "result", cap, to);
    gbx_excerpt_say(&p->cuts.message, "error", cap, to);
    if (r->logs_cut)
        (void)
            gbx_buf_printf(to,
                           "[logs over the limit of a run: %zu line%s kept, the last "
                           "one perhaps in part; what came after is lost: print less, "
                           "or keep it by artifact()]\n",
                           r->log_count, r->log_count == 1 ? " is" : "s are");
    gbx_excerpt_say(&p->cuts.logs, "logs", cap, to);
    if (r->error.code != NULL) {
        (void)gbx_buf_append(to, p->error.data, p->error.len);
        write_effects(r, to);
    }
    if (r->value_len == 0) {
        if (r->error.code == NULL)
            write_no_value(r, to);
    } else if (p->value.len == 0) {
        (void)gbx_buf_puts(to, "The value is an empty text\n");
    } else {
        gbx_excerpt_append(&p->cuts.value, escape_of(r), to);
        (void)gbx_buf_puts(to, "\n");
        if (r->left_out[0] != 0)
            (void)gbx_buf_printf(to, "hint: %s\n", r->left_out);
    }
    if (r->log_count > 0) {
        (void)gbx_buf_puts(to, "logs:\n");
        gbx_excerpt_append(&p->cuts.logs, GBX_ESCAPE_TEXT, to);
        if (p->cuts.logs.tail != NULL)
            (void)gbx_buf_puts(to, "\n");
    }
    for (size_t i = 0; i < r->artifact_count && i < GBX_REPLY_ARTIFACTS_MAX; i++)
        (void)gbx_buf_printf(to, "artifact %s: %s, %s, %zu bytes\n",
                             r->artifacts[i].uri, r->artifacts[i].name,
                             r->artifacts[i].mime_type, r->artifacts[i].bytes);
    if (r->artifact_count > GBX_REPLY_ARTIFACTS_MAX)
        (void)gbx_buf_printf(to, "and %zu artifacts more: their handles name them\n",
                             r->artifact_count - GBX_REPLY_ARTIFACTS_MAX);
    if (r->note[0] != 0)
        (void)gbx_buf_printf(to, "%s\n", r->note);
    write_cost(r, to);
}

/* Cut the error: its message gets what the position, the hint and the logs' quarter
 * leave. */
static void cut_error(gbx_script_reply *shown, struct parts *p, size_t cap,
                      gbx_artifacts *store, int64_t now_ns)
{
    const char *message = shown->error.message;
    size_t len = strlen(message);
    size_t most = cap - cap / 4;

    if (shown->error.code == NULL)
        return;
    write_error(shown, &p->error);
    if (p->error.len <= most)
        return;
    /* Here the message is longer, since its lines are indented. */
    most = p->error.len - most < len ? len - (p->error.len - most) : 0;
    p->cuts.message = gbx_excerpt_text(message, len, most > cap / 16 ? most : cap / 16,
                                       store, "error", "text/plain", now_ns);
    gbx_excerpt_append(&p->cuts.message, GBX_ESCAPE_TEXT, &p->message);
    shown->error.message = gbx_rpc_string(&p->message);
    p->error.len = 0;
    write_error(shown, &p->error);
}

bool gbx_code_reply_write(const gbx_script_reply *reply, size_t cap,
                          gbx_artifacts *store, int64_t now_ns,
                          gbx_script_reply_texts *ret)
{
    gbx_script_reply shown = *reply;
    struct parts p = {.cuts = {.message = {.head = ""}}};
    struct cuts *cuts = &p.cuts;
    size_t left;
    bool ok;

    gbx_buf_init(&ret->text, GBX_CUT_SHOWN_MAX * cap + WORDS_MAX);
    gbx_buf_init(&ret->structured, GBX_CUT_JSON_MAX * cap + 2 * WORDS_MAX);
    gbx_buf_init(&ret->content, GBX_CUT_JSON_MAX * cap + 4 * WORDS_MAX +
                                    (reply->images != NULL ? reply->images->len : 0));
    gbx_buf_init(&p.value, reply->value_len + 1);
    gbx_buf_init(&p.logs, GBX_MIB(128));
    gbx_buf_init(&p.message, WORDS_MAX);
    gbx_buf_init(&p.error, WORDS_MAX);
    if (reply->value_len > 0) /* a string is shown as its characters */
        (void)gbx_view_append_text((gbx_view){reply->value, reply->value_len},
                                   &p.value);
    for (size_t i = 0; i < reply->log_count; i++) {
        const gbx_script_reply_log *log = &reply->logs[i];

        if (strcmp(log->level, "log") != 0)
            (void)gbx_buf_printf(&p.logs, "[%s] ", log->level);
        (void)gbx_buf_append(&p.logs, log->text, log->len);
        (void)gbx_buf_puts(&p.logs, "\n");
    }
    cut_error(&shown, &p, cap, store, now_ns);
    ok = !p.value.failed && !p.logs.failed && !p.message.failed && !p.error.failed;
    /* A quarter of the room is reserved for the logs; they also get what the value or the
     * error leaves. */
    left = p.value.len + p.error.len < cap ? cap - p.value.len - p.error.len : 0;
    cuts->logs = gbx_excerpt_text((char *)p.logs.data, p.logs.len,
                                  left > cap / 4 ? left : cap / 4, store, "logs",
                                  "text/plain", now_ns);
    cuts->logs.is_rest = reply->logs_cut;
    cuts->value = gbx_excerpt_text((char *)p.value.data, p.value.len,
                                   cap - (cuts->logs.head_len + cuts->logs.tail_len),
                                   store, "result",
                                   reply->value_len > 0 && reply->value[0] == '"'
                                       ? "text/plain"
                                       : "application/json",
                                   now_ns);
    write_text(&shown, &p, cap, &ret->text);
    put_structure(&shown, cuts, &ret->structured);
    put_blocks(&shown, &ret->text, cuts, &ret->content);
    gbx_buf_cleanup(&p.value);
    gbx_buf_cleanup(&p.logs);
    gbx_buf_cleanup(&p.message);
    gbx_buf_cleanup(&p.error);
    return ok && !ret->text.failed && !ret->structured.failed && !ret->content.failed;
}

void gbx_script_reply_cleanup(gbx_script_reply_texts *texts)
{
    gbx_buf_cleanup(&texts->text);
    gbx_buf_cleanup(&texts->structured);
    gbx_buf_cleanup(&texts->content);
}

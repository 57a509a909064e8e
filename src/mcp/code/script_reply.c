/* SPDX-License-Identifier: MIT */
/*
 * script_reply - the text is for the model: the value first, the costs last. The
 * structured content has the same for programs.
 */
#include "mcp/code/script_reply.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_view.h"
#include "mcp/code/code.h"
#include "mcp/code/code_mode.h"

#include <string.h>

#define WORDS_MAX    GBX_MIB(1) /* besides values and logs */
#define TOOLS_MAX    8          /* named in the last line */
#define UNCALLED_MAX 64

/* A string value is shown as its characters. */
static bool value_text(const gbx_script_reply *r, gbx_buf *to)
{
    gbx_view value = {r->value, r->value_len};

    return r->value_len > 0 ? gbx_view_append_text(value, to) : true;
}

static void logs_text(const gbx_script_reply *r, gbx_buf *to)
{
    for (size_t i = 0; i < r->log_count; i++) {
        const gbx_script_reply_log *log = &r->logs[i];

        if (strcmp(log->level, "log") != 0)
            (void)gbx_buf_printf(to, "[%s] ", log->level);
        (void)gbx_buf_append(to, log->text, log->len);
        (void)gbx_buf_puts(to, "\n");
    }
}

/* ---- the parts of the text ------------------------------------------------------- */

/* Indent its further lines, so that they cannot pass for ours. */
static void write_message(const char *message, gbx_buf *to)
{
    size_t len = strcspn(message, "\n");

    (void)gbx_buf_append(to, message, len);
    for (message += len; *message != '\0'; message += len) {
        message++;
        len = strcspn(message, "\n");
        (void)gbx_buf_printf(to, "\n    %.*s", (int)len, message);
    }
    (void)gbx_buf_puts(to, "\n");
}

static void write_error(const gbx_script_reply *r, gbx_buf *to)
{
    const gbx_script_reply_error *e = &r->error;

    (void)gbx_buf_puts(to, e->code);
    if (e->line > 0 && e->column > 0)
        (void)gbx_buf_printf(to, " at line %u, column %u", e->line, e->column);
    else if (e->line > 0)
        (void)gbx_buf_printf(to, " at line %u", e->line);
    (void)gbx_buf_puts(to, ": ");
    if (e->name[0] != 0)
        (void)gbx_buf_printf(to, "%s: ", e->name);
    write_message(e->message, to);
    if (e->frame[0] != 0)
        (void)gbx_buf_printf(to, "%s%s", e->frame,
                             e->frame[strlen(e->frame) - 1] == '\n' ? "" : "\n");
    if (e->hint[0] != 0)
        (void)gbx_buf_printf(to, "hint: %s\n", e->hint);
}

static void write_call(const gbx_script_reply_call *call, gbx_buf *to)
{
    (void)gbx_buf_printf(to, "%s.%s", call->server, call->tool);
    if (call->line > 0)
        (void)gbx_buf_printf(to, " (line %u)", call->line);
}

/* Is its result useful after the other? Results of one tool are mostly alike. */
static bool is_telling(const gbx_script_reply_call *call,
                       const gbx_script_reply_call *before)
{
    return call->gave != NULL && call->gave[0] != 0 &&
           (before == NULL || strcmp(call->tool, before->tool) != 0 ||
            strcmp(call->server, before->server) != 0);
}

/* The effects of a failed run. If the failure is the code's own, which may have misread
 * a value, also what that call returned. */
static void write_effects(const gbx_script_reply *r, gbx_buf *to)
{
    bool is_own = strcmp(r->error.code, "RUNTIME") == 0;
    const gbx_script_reply_call *before = NULL;
    size_t named = 0;

    for (size_t i = 0; i < r->call_count && named < TOOLS_MAX; i++) {
        const gbx_script_reply_call *call = &r->calls[i];

        if (call->code != NULL || call->was_open)
            continue;
        (void)gbx_buf_puts(to, named++ == 0 ? "done before that: " : ", ");
        write_call(call, to);
        if (is_own && is_telling(call, before))
            (void)gbx_buf_printf(to, " -> %s", call->gave);
        before = call;
    }
    if (named > 0)
        (void)gbx_buf_puts(to, named == TOOLS_MAX ? ", ...\n" : "\n");
}

/* A missing member looks like a missing value; what the last call returned explains
 * it. */
static void write_last_call(const gbx_script_reply *r, gbx_buf *to)
{
    const gbx_script_reply_call *last = NULL;

    for (size_t i = 0; i < r->call_count; i++)
        if (r->calls[i].code == NULL)
            last = &r->calls[i];
    if (last == NULL || !is_telling(last, NULL))
        return;
    (void)gbx_buf_puts(to, "; ");
    write_call(last, to);
    (void)gbx_buf_printf(to, " gave %s", last->gave);
}

static void write_no_value(const gbx_script_reply *r, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "No value returned");
    if (r->log_count > 0)
        (void)gbx_buf_printf(to, "; %zu log line%s", r->log_count,
                             r->log_count == 1 ? "" : "s");
    if (r->uncalled_len > 0)
        (void)gbx_buf_printf(to, "; %.*s is declared but not called",
                             (int)gbx_artifacts_border(r->uncalled, r->uncalled_len,
                                                       UNCALLED_MAX),
                             r->uncalled);
    else if (r->log_count == 0)
        write_last_call(r, to);
    (void)gbx_buf_puts(to, "\n");
}

static void write_artifacts(const gbx_script_reply *r, gbx_buf *to)
{
    for (size_t i = 0; i < r->artifact_count && i < GBX_REPLY_ARTIFACTS_MAX; i++)
        (void)gbx_buf_printf(to, "artifact %s: %s, %s, %zu bytes\n",
                             r->artifacts[i].uri, r->artifacts[i].name,
                             r->artifacts[i].mime_type, r->artifacts[i].bytes);
    if (r->artifact_count > GBX_REPLY_ARTIFACTS_MAX)
        (void)gbx_buf_printf(to, "and %zu artifacts more: their handles name them\n",
                             r->artifact_count - GBX_REPLY_ARTIFACTS_MAX);
}

static void write_cost(const gbx_script_reply *r, gbx_buf *to)
{
    static const char *const told[GBX_CALL_OUTCOMES] = {
        [GBX_CALL_FAILED] = "of them failed",
        [GBX_CALL_NOT_SENT] = "not sent",
        [GBX_CALL_CANCELLED] = "cancelled",
        [GBX_CALL_DOUBTFUL] = "with no known outcome"};
    size_t count[GBX_CALL_OUTCOMES] = {0};

    for (size_t i = 0; i < r->call_count; i++)
        count[r->calls[i].outcome]++;
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

/* The parts that are shown, and their cuts. */
struct parts {
    gbx_buf value;
    gbx_buf logs;
    gbx_buf message; /* of the error, if it is cut; ends in NUL */
    gbx_buf error;
    gbx_reply_cuts cuts;
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
        gbx_excerpt_append(&p->cuts.value, gbx_reply_escape(r), to);
        (void)gbx_buf_puts(to, "\n");
    }
    if (r->log_count > 0) {
        (void)gbx_buf_puts(to, "logs:\n");
        gbx_excerpt_append(&p->cuts.logs, GBX_ESCAPE_TEXT, to);
        if (p->cuts.logs.tail != NULL)
            (void)gbx_buf_puts(to, "\n");
    }
    write_artifacts(r, to);
    if (r->note[0] != 0)
        (void)gbx_buf_printf(to, "%s\n", r->note);
    write_cost(r, to);
}

/* A quarter of the room is reserved for the logs; they also get what the value or the
 * error leaves. */
static size_t logs_share(size_t len, size_t cap)
{
    size_t left = len < cap ? cap - len : 0;

    return left > cap / 4 ? left : cap / 4;
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
    /* Its indented lines are longer here. */
    most = p->error.len - most < len ? len - (p->error.len - most) : 0;
    p->cuts.message = gbx_excerpt_text(message, len, most > cap / 16 ? most : cap / 16,
                                       store, "error", "text/plain", now_ns);
    gbx_excerpt_append(&p->cuts.message, GBX_ESCAPE_TEXT, &p->message);
    if (!gbx_buf_append(&p->message, "", 1))
        return;
    shown->error.message = (char *)p->message.data;
    p->error.len = 0;
    write_error(shown, &p->error);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_code_reply_write(const gbx_script_reply *reply, size_t cap,
                          gbx_artifacts *store, int64_t now_ns,
                          gbx_script_reply_texts *ret)
{
    gbx_script_reply shown = *reply;
    struct parts p = {.cuts = {.message = {.head = ""}}};
    gbx_reply_cuts *cuts = &p.cuts;
    bool ok;

    gbx_buf_init(&ret->text, GBX_CUT_SHOWN_MAX * cap + WORDS_MAX);
    gbx_buf_init(&ret->structured, GBX_CUT_JSON_MAX * cap + 2 * WORDS_MAX);
    gbx_buf_init(&ret->content, GBX_CUT_JSON_MAX * cap + 4 * WORDS_MAX);
    gbx_buf_init(&p.value, reply->value_len + 1);
    gbx_buf_init(&p.logs, GBX_MIB(128));
    gbx_buf_init(&p.message, WORDS_MAX);
    gbx_buf_init(&p.error, WORDS_MAX);
    (void)value_text(reply, &p.value);
    logs_text(reply, &p.logs);
    cut_error(&shown, &p, cap, store, now_ns);
    ok = !p.value.failed && !p.logs.failed && !p.message.failed && !p.error.failed;
    cuts->logs = gbx_excerpt_text((char *)p.logs.data, p.logs.len,
                                  logs_share(p.value.len + p.error.len, cap), store,
                                  "logs", "text/plain", now_ns);
    cuts->logs.is_rest = reply->logs_cut;
    cuts->value = gbx_excerpt_text((char *)p.value.data, p.value.len,
                                   cap - (cuts->logs.head_len + cuts->logs.tail_len),
                                   store, "result",
                                   reply->value_len > 0 && reply->value[0] == '"'
                                       ? "text/plain"
                                       : "application/json",
                                   now_ns);
    write_text(&shown, &p, cap, &ret->text);
    gbx_reply_structure(&shown, cuts, &ret->structured);
    gbx_reply_blocks(&shown, &ret->text, cuts, &ret->content);
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

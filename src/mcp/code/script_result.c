/* SPDX-License-Identifier: MIT */
/*
 * script_result - makes the reply from the engine's result. All output is redacted: the
 * value and the log (run_output.c), and here the error.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "guard/guard.h"
#include "mcp/code/code_mode.h"

#include <stdlib.h>
#include <string.h>

#define PROMISE      "[object Promise]"
#define REASONS_MAX  5 /* of an AggregateError */
#define REASON_BYTES 300
#define NAMED_MAX    8 /* calls named in a line */

/* Data that a reply borrows. */
struct material {
    char *frame;
    char *message;
    char *name;
    char *hint; /* NULL: the hint is a constant */
    gbx_buf note;
    bool is_doubt; /* the error is about calls with unknown outcome */
};

/* ---- parts ----------------------------------------------------------------------- */

/* The error code of a ToolError, from the call or fault with the same message; NULL: no
 * such call. message: as thrown, unescaped. */
static const char *thrown_code(const gbx_code_run *run, const char *message)
{
    const char *found = NULL;

    for (const gbx_code_call *n = run->calls; n != NULL; n = n->next)
        if (n->message != NULL && strcmp(n->message, message) == 0)
            found = n->failed;
    for (size_t i = 0; found == NULL && i < GBX_RUN_FAULTS_MAX; i++)
        if (run->faults[i].message != NULL &&
            strcmp(run->faults[i].message, message) == 0)
            found = run->faults[i].code;
    /* The report of that fault was itself beyond the limit. */
    if (found == NULL && strcmp(message, GBX_RUN_ASKED_MAX) == 0)
        found = "CALL_LIMIT";
    return found;
}

static char *escaped(const char *text, gbx_escape how)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = GBX_MIB(1)};

    (void)gbx_utf8_append_escaped(&to, text, strlen(text), how);
    return gbx_buf_take_string(&to, NULL);
}

/* The engine puts a message on one line; a thrown message keeps its lines, e.g. of a
 * traceback. */
static void keep_lines(const char *thrown, struct material *m)
{
    char *line = escaped(thrown, GBX_ESCAPE_LINE);
    char *lines = escaped(thrown, GBX_ESCAPE_TEXT);

    if (line != NULL && lines != NULL && strcmp(line, m->message) == 0) {
        free(m->message);
        m->message = lines;
        lines = NULL;
    }
    free(line);
    free(lines);
}

/* Promise.any() throws an error without a message or position. */
static bool is_aggregate(const char *error)
{
    static const char head[] = "AggregateError";
    const char *more = error + sizeof head - 1;

    return strncmp(error, head, sizeof head - 1) == 0 &&
           (*more == 0 || strncmp(more, ": errors: ", 10) == 0);
}

/* The reasons come from the failed calls, or without such calls from the engine. */
static void explain_aggregate(const gbx_code_run *run, struct material *m,
                              gbx_location *at)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(64)};
    size_t told = 0;

    (void)gbx_buf_puts(&text, "every promise was rejected");
    for (const gbx_code_call *n = run->calls; n != NULL && told < REASONS_MAX;
         n = n->next) {
        size_t len;
        size_t shown;

        if (n->message == NULL || n->was_open)
            continue;
        (void)gbx_buf_puts(&text, told++ == 0 ? ": " : "; ");
        gbx_reply_put_call(n, &text);
        (void)gbx_buf_printf(&text, ": %s: ", n->failed);
        len = strlen(n->message);
        shown = gbx_utf8_cut(n->message, len, REASON_BYTES);
        (void)gbx_utf8_append_escaped(&text, n->message, shown, GBX_ESCAPE_LINE);
        if (shown < len)
            (void)gbx_buf_printf(&text, " [... %zu bytes ...]", len - shown);
        if (at->line == 0)
            at->line = n->base.line;
    }
    if (told == 0 && strncmp(m->message, "errors: ", 8) == 0)
        return;
    free(m->name);
    free(m->message);
    m->name = gbx_need(strdup("AggregateError"));
    m->message = gbx_need(gbx_buf_take_string(&text, NULL));
}

/* line: the line that failed. */
static const char *hint_for(const gbx_code_run *run, const char *code, uint32_t line,
                            struct material *m)
{
    const char *hint = gbx_result_hint(run->result);
    const char *message = gbx_result_error(run->result);
    const char *better;
    size_t start, end;

    (void)gbx_lines_find(run->text, run->text_len, line, &start, &end);
    better = gbx_code_advice(message, hint, run->text + start, end - start);
    m->hint = gbx_code_name_meant(run, message, hint);
    if (m->hint != NULL)
        return m->hint;
    if (better[0] != 0)
        return better;
    if (strcmp(code, "OUTPUT_TOO_LARGE") == 0)
        return "filter, count or slice before you return; or keep it: await "
               "artifact(name, value)";
    return "";
}

/*
 * A promise used as a value also causes "missing value" and "not a list" errors, for
 * which the usual hint does not help. NULL: no call was open when the code failed.
 */
static char *await_hint(const gbx_code_run *run, bool is_type_error,
                        const char *otherwise)
{
    static const char known[] = "did you forget await? ";
    const char *hint = gbx_result_hint(run->result);
    const gbx_code_call *open = is_type_error ? run->calls : NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(4)};

    if (strncmp(hint, known, sizeof known - 1) == 0)
        return strdup(hint);
    while (open != NULL && !open->was_open)
        open = open->next;
    if (open == NULL)
        return NULL;
    (void)gbx_buf_puts(&text, known);
    gbx_reply_put_call(open, &text);
    (void)gbx_buf_printf(&text, " had not ended when the code failed%s%s",
                         otherwise[0] != 0 ? "; else: " : "", otherwise);
    return gbx_buf_take_string(&text, NULL);
}

/* Report a timeout, which the engine sees only as an abort. A run that never got a
 * worker took no time. */
static void say_late(const gbx_code_run *run, gbx_script_reply_error *ret)
{
    gbx_stats stats = gbx_result_stats(run->result);
    bool is_spinning;
    bool can_be_longer;

    ret->name = "";
    if (stats.wall_ms <= 0) {
        ret->code = "UNAVAILABLE";
        ret->message =
            "has not begun within the time limit: as many scripts as can run "
            "at once run, or wait for servers or people";
        ret->hint = "try again when some of them have ended";
        return;
    }
    ret->code = "TIMEOUT";
    ret->message = "ran past the time limit";
    /* An endless loop may have had little CPU time on a busy machine. */
    is_spinning = run->call_count == 0 || stats.cpu_ms > run->timeout_ms / 2.0;
    can_be_longer = run->timeout_ms < run->code->settings->timeout_ms;
    if (is_spinning)
        ret->hint = can_be_longer
                        ? "look for a loop that does not end, or give a longer "
                          "timeout_ms"
                        : "look for a loop that does not end, or do the task "
                          "in several scripts";
    else
        ret->hint = can_be_longer
                        ? "make calls at once with Promise.all, ask for less, "
                          "or give a longer timeout_ms"
                        : "make calls at once with Promise.all, ask for less, "
                          "or do the task in several scripts";
}

static void take_error(gbx_code_run *run, struct material *m,
                       gbx_script_reply_error *ret)
{
    gbx_location at = gbx_result_location(run->result);
    const char *error = gbx_result_error(run->result);
    const char *colon = strstr(error, ": ");
    size_t name_len = colon != NULL ? (size_t)(colon - error) : 0;
    const char *thrown = gbx_result_thrown_message(run->result);
    const char *code;
    char *awaited;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {.ceiling = GBX_MIB(1)};

    /* Split a message such as "TypeError: ..." into name and text. */
    for (size_t i = 0; i < name_len; i++)
        if (!(error[i] >= 'a' && error[i] <= 'z') &&
            !(error[i] >= 'A' && error[i] <= 'Z'))
            name_len = 0;
    m->name = gbx_need(strndup(error, name_len));
    m->message = gbx_need(strdup(name_len > 0 ? colon + 2 : error));
    if (is_aggregate(error))
        explain_aggregate(run, m, &at);
    ret->code = gbx_code_name(gbx_result_code(run->result));
    code = strcmp(m->name, "ToolError") == 0 ? thrown_code(run, thrown) : NULL;
    if (code != NULL)
        ret->code = code;
    keep_lines(thrown, m);
    if (gbx_gate_redact(run->code->gate, m->message, strlen(m->message), &clean)) {
        free(m->message);
        m->message = gbx_need(gbx_buf_take_string(&clean, NULL));
    }
    if (at.line > 0)
        m->frame = gbx_guard_frame(run->text, run->text_len, at.line, at.column);
    ret->name = m->name;
    ret->message = m->message;
    ret->line = at.line;
    ret->column = at.column;
    ret->frame = m->frame != NULL ? m->frame : "";
    ret->hint = hint_for(run, ret->code, at.line, m);
    awaited = await_hint(run, strcmp(m->name, "TypeError") == 0, ret->hint);
    if (awaited != NULL) { /* the others might describe only the promise */
        free(m->hint);
        ret->hint = m->hint = awaited;
    }
    /* The engine's limits, of CPU time and TIMEOUT_MAX (code.c), also end a run. */
    if (gbx_result_code(run->result) == GBX_CODE_TIMEOUT ||
        (run->is_late && gbx_result_code(run->result) == GBX_CODE_ABORTED))
        say_late(run, ret);
}

/* "up.write (line 3): TOOL_ERROR: no such file", escaped. */
static void put_call(const gbx_code_call *n, gbx_code_call_outcome outcome, gbx_buf *to)
{
    const char *message = n->message != NULL ? n->message : "";

    gbx_reply_put_call(n, to);
    if (outcome != GBX_CALL_FAILED)
        return;
    (void)gbx_buf_printf(to, ": %s%s", n->failed, message[0] != 0 ? ": " : "");
    (void)gbx_utf8_append_escaped(to, message,
                                  gbx_utf8_cut(message, strlen(message), REASON_BYTES),
                                  GBX_ESCAPE_LINE);
}

/* List the calls with that outcome on one line; nothing if there are none. Code that
 * returned a value did not await its open calls; code that failed may have been waiting
 * for them. */
static void put_outcome(const gbx_code_run *run, bool was_open,
                        gbx_code_call_outcome outcome, gbx_buf *to)
{
    static const struct {
        const char *one;
        const char *many;
        const char *advice;
    } words[GBX_CALL_OUTCOMES] = {
        [GBX_CALL_DONE] = {"has ended all the same", "have ended all the same", ""},
        [GBX_CALL_FAILED] = {"has failed", "have failed", ""},
        [GBX_CALL_NOT_SENT] = {"was not sent", "were not sent", ""},
        [GBX_CALL_CANCELLED] = {"was cancelled", "were cancelled", ""},
        [GBX_CALL_DOUBTFUL] = {"has no known outcome", "have no known outcome",
                               "; " GBX_GATE_DOUBT}};
    bool has_value =
        run->result != NULL && gbx_result_code(run->result) == GBX_CODE_VALUE;
    const char *how = !was_open   ? ""
                      : has_value ? "not awaited, and "
                                  : "open when the code ended, and ";
    size_t count = 0;
    size_t named = 0;

    for (const gbx_code_call *n = run->calls; n != NULL; n = n->next)
        count += n->was_open == was_open && gbx_code_call_outcome_of(n) == outcome;
    if (count == 0)
        return;
    (void)gbx_buf_printf(to, "%s%zu call%s %s%s%s: ", to->len > 0 ? "\n" : "", count,
                         count == 1 ? "" : "s",
                         !was_open    ? ""
                         : count == 1 ? "was "
                                      : "were ",
                         how, count == 1 ? words[outcome].one : words[outcome].many);
    for (const gbx_code_call *n = run->calls; n != NULL && named < NAMED_MAX;
         n = n->next)
        if (n->was_open == was_open && gbx_code_call_outcome_of(n) == outcome) {
            (void)gbx_buf_puts(to, named++ > 0 ? ", " : "");
            put_call(n, outcome, to);
        }
    (void)gbx_buf_puts(to, count > named ? ", ..." : "");
    (void)gbx_buf_puts(to, words[outcome].advice);
}

/* Report a possible effect that the code does not know as an error besides the value: a
 * reader who stops at the value would repeat the call. */
static void take_doubt(const gbx_code_run *run, struct material *m,
                       gbx_script_reply *ret)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf doubt = {.ceiling = GBX_KIB(16)};

    put_outcome(run, true, GBX_CALL_DOUBTFUL, &doubt);
    if (doubt.len == 0)
        return;
    m->message = gbx_need(gbx_buf_take_string(&doubt, NULL));
    m->is_doubt = true;
    ret->error.code = "CANCELLED";
    ret->error.message = m->message;
    ret->error.hint = "await each call";
}

static void take_result(gbx_code_run *run, struct material *m, gbx_script_reply *ret)
{
    gbx_stats stats = gbx_result_stats(run->result);

    ret->logs = run->logs;
    ret->log_count = run->log_count;
    ret->logs_cut = gbx_result_logs_truncated(run->result) != 0;
    ret->cpu_ms = stats.cpu_ms;
    ret->memory_bytes = stats.peak_memory_bytes;
    if (gbx_result_code(run->result) != GBX_CODE_VALUE) {
        take_error(run, m, &ret->error);
        return;
    }
    if (run->is_value_lost) { /* a lost value differs from a missing one */
        ret->error.code = "UNAVAILABLE";
        ret->error.message = "the host is out of memory: the value is lost";
        return;
    }
    take_doubt(run, m, ret);
    ret->value = (char *)run->value.data;
    ret->value_len = run->value.len;
}

/* Note calls whose outcome the code may not know; an error may have reported the
 * doubtful ones. Call it once that is known. */
static void take_note(const gbx_code_run *run, struct material *m,
                      gbx_script_reply *ret)
{
    gbx_buf_init(&m->note, GBX_KIB(64));
    put_outcome(run, false, GBX_CALL_DOUBTFUL, &m->note);
    for (gbx_code_call_outcome i = GBX_CALL_DONE; i < GBX_CALL_OUTCOMES; i++)
        if (i != GBX_CALL_DOUBTFUL || !m->is_doubt)
            put_outcome(run, true, i, &m->note);
    if (m->note.len == 0 && run->call_count > 0 && ret->value_len > 0 &&
        memmem(ret->value, ret->value_len, PROMISE, sizeof PROMISE - 1) != NULL)
        (void)gbx_buf_puts(&m->note,
                           "did you forget await? " PROMISE
                           " in the value is a promise, such as a call gives");
    if (run->unkept > 0 && run->result != NULL &&
        gbx_result_code(run->result) == GBX_CODE_VALUE)
        (void)gbx_buf_printf(&m->note, "%s%zu artifact%s not kept%s: %s",
                             m->note.len > 0 ? "\n" : "", run->unkept,
                             run->unkept == 1 ? " was" : "s were",
                             run->unkept == 1 ? "" : ", the first for this",
                             run->why_unkept);
    ret->note = gbx_rpc_string(&m->note);
}

/* ---- the reply ------------------------------------------------------------------- */

static void send_reply(gbx_mcp_code *code, gbx_mcp_request *request,
                       const gbx_script_reply *reply)
{
    gbx_script_reply_texts texts;

    gbx_call_span_note(gbx_mcp_request_span(request), reply->error.code);
    if (gbx_code_reply_write(reply, (size_t)code->settings->reply_bytes,
                             code->artifacts, gbx_clock_now_ns(), &texts)) {
        gbx_mcp_result result = {.content = (char *)texts.content.data,
                                 .content_len = texts.content.len,
                                 .structured = (char *)texts.structured.data,
                                 .structured_len = texts.structured.len,
                                 .is_error = reply->error.code != NULL};

        gbx_mcp_finish(request, &result);
    } else {
        gbx_mcp_fail(request, GBX_RPC_INTERNAL_ERROR, "memory is out");
    }
    gbx_script_reply_cleanup(&texts);
}

void gbx_code_run_finish(gbx_code_run *run, double ms_left)
{
    double wall_ms =
        (double)(gbx_clock_now_ns() - run->start_ns) / (double)GBX_NS_PER_MS;
    uint32_t calls = run->code->settings->calls;
    struct material m = {.frame = NULL};
    gbx_script_reply reply = {
        .has_no_links = !gbx_mcp_takes_links(run->request),
        .calls = run->calls,
        .call_count = run->call_count,
        .artifacts = run->artifacts,
        .artifact_count = run->artifact_count,
        .images = &run->images,
        .left_out = run->result != NULL ? gbx_result_hint(run->result) : "",
        .note = "",
        .wall_ms = wall_ms,
        .calls_left = run->call_count < calls ? calls - (uint32_t)run->call_count : 0,
        .ms_left = ms_left,
        .error = {.name = "", .message = "", .frame = "", .hint = ""}};

    if (run->result != NULL) {
        take_result(run, &m, &reply);
    } else {
        reply.error.code = run->is_late ? "TIMEOUT" : "UNAVAILABLE";
        reply.error.message = run->error.message;
        reply.error.hint =
            run->is_late || run->error.status == GBX_E_CLOSED ? "" : GBX_ADVICE_MEND;
    }
    take_note(run, &m, &reply);
    send_reply(run->code, run->request, &reply);
    free(m.frame);
    free(m.message);
    free(m.name);
    free(m.hint);
    gbx_buf_cleanup(&m.note);
}

void gbx_code_run_refuse(gbx_mcp_code *code, gbx_mcp_request *request,
                         const gbx_script_reply_error *error)
{
    gbx_script_reply reply = {.note = "",
                              .error = *error,
                              .calls_left = code->settings->calls,
                              .ms_left = code->settings->timeout_ms};

    send_reply(code, request, &reply);
}

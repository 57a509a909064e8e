/* SPDX-License-Identifier: MIT */
/*
 * script_run - a run ends when the worker has finished and all its tool calls have
 * ended. A call that was already sent to its server is awaited, within the run's time:
 * its effect happens whether or not anybody reads it. Other calls are no longer sent.
 */
#include "mcp/code/script_run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "guard/guard.h"
#include "mcp/rules/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES GBX_KIB(64) /* redacted on the loop, not on a thread */

static void free_run(gbx_code_run *run)
{
    if (run->link != NULL) {
        *run->link = run->next;
        if (run->next != NULL)
            run->next->link = run->link;
    }
    gbx_code_run_unwatch(run);
    gbx_gate_forget(run->sift);
    gbx_code_run_drop_keepings(run);
    gbx_code_run_drop_questions(run);
    for (gbx_nested_call *n = run->calls, *next; n != NULL; n = next) {
        next = n->next;
        gbx_nested_free(n);
    }
    for (size_t i = 0; i < GBX_RUN_FAULTS_MAX; i++)
        free(run->faults[i].message);
    gbx_result_free(run->result);
    gbx_buf_cleanup(&run->value);
    gbx_buf_cleanup(&run->printed);
    free(run->logs);
    gbx_script_cleanup(&run->script);
    gbx_buf_cleanup(&run->input_text);
    gbx_digits_cleanup(&run->digits);
    for (size_t i = 0; i < run->remark_count; i++)
        free(run->remarks[i]);
    free(run->artifacts);
    free(run->lines);
    free(run->text);
    free(run);
}

static void finish_if_over(gbx_code_run *run)
{
    if (run->box_run != NULL || run->open > 0 || run->holders > 0 ||
        gbx_code_run_redact(run))
        return;
    gbx_gate_end_run(run->code->gate, run->id);
    gbx_code_run_finish(run);
    free_run(run);
}

/* ---- what the box says ----------------------------------------------------------- */

static void on_log(void *user, gbx_log_level level, const char *text, size_t len)
{
    static const char *const prefixes[] = {"[debug] ", "", "", "[warn] ", "[error] "};
    gbx_code_run *run = user;
    const char *said;
    size_t text_at;
    gbx_buf line;

    if (!gbx_mcp_hears_line(run->request, level))
        return;
    gbx_buf_init(&line, GBX_KIB(64));
    (void)gbx_buf_puts(&line, prefixes[level <= GBX_LOG_ERROR ? level : 0]);
    text_at = line.len;
    (void)gbx_gate_redact(run->code->gate, text,
                          gbx_artifacts_border(text, len, GBX_CODE_PROGRESS_MAX),
                          &line);
    if (!line.failed) {
        said =
            line.data != NULL ? (const char *)line.data : ""; /* an empty line counts */
        gbx_mcp_progress(run->request, -1, said, line.len);
        gbx_mcp_log_line(run->request, level, said + text_at, line.len - text_at);
    }
    gbx_buf_cleanup(&line);
}

/* Was the run stopped, so that nobody waits for its value? */
static bool was_stopped(const gbx_code_run *run)
{
    gbx_code code =
        run->result != NULL ? gbx_result_code(run->result) : GBX_CODE_ABORTED;

    return code == GBX_CODE_ABORTED || code == GBX_CODE_TIMEOUT;
}

static void on_done(void *user, gbx_result *result, const gbx_error *error)
{
    gbx_code_run *run = user;

    run->box_run = NULL;
    run->result = result;
    run->error = *error;
    run->is_ending = true;
    gbx_code_run_drop_questions(run);
    if (was_stopped(run))
        gbx_code_run_drop_keepings(run);
    run->holders++; /* cancelling the last call must not free the run */
    for (gbx_nested_call *n = run->calls; n != NULL; n = n->next) {
        n->was_open = !n->is_over;
        if (n->was_open && (was_stopped(run) || !gbx_nested_is_sent(n)))
            gbx_nested_cancel(n);
    }
    if (run->open == 0 || was_stopped(run))
        gbx_code_run_unwatch(run);
    gbx_code_run_explain(run);
}

/* The client cancelled the request, or is gone. */
static void on_cancel(void *user)
{
    gbx_code_run_stop(user);
}

const gbx_box_hooks gbx_code_run_hooks = {gbx_code_run_request, on_log, on_done};

/* ---- the code, until it runs ----------------------------------------------------- */

static gbx_code_run *make(gbx_mcp_code *code, gbx_mcp_request *request,
                          const gbx_buf *text)
{
    gbx_code_run *run = calloc(1, sizeof *run);

    if (run == NULL)
        return NULL;
    run->code = code;
    run->request = request;
    run->calls_end = &run->calls;
    gbx_buf_init(&run->value, GBX_RUN_VALUE_MAX);
    gbx_buf_init(&run->printed, GBX_RUN_PRINTED_MAX);
    run->start_ns = gbx_clock_now_ns();
    run->patience = gbx_parse_thread_patience(code->aside, text->len);
    run->text = malloc(text->len + 1);
    run->lines = calloc(code->config->server_count + 1, sizeof *run->lines);
    if (run->text == NULL || run->lines == NULL) {
        free_run(run);
        return NULL;
    }
    memcpy(run->text, text->data, text->len);
    run->text[text->len] = 0;
    run->text_len = text->len;
    run->next = code->open_runs;
    run->link = &code->open_runs;
    if (run->next != NULL)
        run->next->link = &run->next;
    code->open_runs = run;
    return run;
}

/* May run twice. */
static void make_script(void *user)
{
    gbx_code_run *run = user;

    gbx_script_cleanup(&run->script);
    run->error.status = gbx_script_make(run->text, run->text_len, GBX_SCRIPT_INPUT,
                                        &run->script, &run->error);
}

static void fail(gbx_code_run *run)
{
    gbx_mcp_fail(run->request, GBX_MCP_INTERNAL_ERROR, "memory is out");
    free_run(run);
}

/* Refuse code that cannot run, showing the lines around the fault. */
static void refuse(gbx_code_run *run)
{
    const gbx_script *script = &run->script;
    GBX_CLEANUP(gbx_free) char *frame = NULL;
    gbx_script_reply_error error = {.code = "SYNTAX",
                                    .name = "",
                                    .message = script->message,
                                    .line = script->line,
                                    .column = script->column,
                                    .frame = "",
                                    .hint = script->hint};

    if (error.line > 0)
        frame = gbx_guard_frame(run->text, run->text_len, error.line, error.column);
    if (frame != NULL)
        error.frame = frame;
    gbx_code_run_refuse(run->code, run->request, &error);
    free_run(run);
}

/* A literal that loses digits in the engine; its position is in the code that runs. */
static void on_literal(void *user, size_t start, size_t end)
{
    gbx_code_run *run = user;
    const gbx_script *script = &run->script;
    int len = end - start < 64 ? (int)(end - start) : 64;
    uint32_t line;
    uint32_t column;

    if (run->remark_count == GBX_RUN_REMARKS_MAX)
        return; /* finding the position takes time in proportion to the code */
    gbx_utf8_position(script->code, script->code_len, start, &line, &column);
    gbx_script_map(script, &line, &column);
    gbx_code_run_remark(run,
                        "line %u, column %u: a Number cannot hold %.*s: arguments of "
                        "tools and the result get its digits, nothing else does: "
                        "write %.*sn or a text",
                        line, column, len, script->code + start, len,
                        script->code + start);
}

static void begin(gbx_code_run *run)
{
    gbx_mcp_code *code = run->code;
    gbx_limits limits = GBX_LIMITS_INIT;

    if (run->script.message != NULL) {
        refuse(run);
        return;
    }
    gbx_digits_learn_code(&run->digits, run->script.code, run->script.code_len,
                          on_literal, run);
    (void)snprintf(run->id, sizeof run->id, "%s-%llu", code->id,
                   (unsigned long long)++code->runs);
    limits.cpu_ms = run->timeout_ms; /* the clock is checked in deadline.c */
    run->box_run = gbx_box_start(code->box, run->script.code, run->script.code_len,
                                 run->input, &limits, &run->patience, run);
    if (run->box_run == NULL)
        fail(run);
}

/* The script is ready, or the run was stopped. */
static void on_script(void *user)
{
    gbx_code_run *run = user;

    run->is_reading = false;
    if (run->is_stopped) {
        (void)gbx_fail(&run->error, GBX_E_CLOSED, "cancelled before it began");
        gbx_code_run_finish(run);
        free_run(run);
    } else if (run->error.status != GBX_OK) {
        fail(run);
    } else {
        gbx_recent_keep(&run->code->recent, run->text, run->text_len, &run->script);
        begin(run);
    }
}

static void keep_digits_of_input(gbx_code_run *run)
{
    gbx_buf first;
    size_t count;

    if (!gbx_digits_are_in(run->input.at, run->input.len))
        return;
    gbx_buf_init(&first, GBX_KIB(4));
    gbx_buf_init(&run->input_text, run->input.len * 2);
    gbx_digits_learn(&run->digits, run->input.at, run->input.len);
    count = gbx_digits_as_texts(run->input, "input", &run->input_text, &first);
    if (!run->input_text.failed)
        run->input =
            (gbx_view){(const char *)run->input_text.data, run->input_text.len};
    if (count > 0)
        gbx_code_run_remark(run, GBX_RUN_FAR_INTEGERS, "the input has", (int)first.len,
                            (char *)first.data, count);
    gbx_buf_cleanup(&first);
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_code_run_remark(gbx_code_run *run, const char *format, ...)
{
    gbx_buf text;
    gbx_buf clean;
    va_list args;
    char *remark = NULL;

    if (run->remark_count == GBX_RUN_REMARKS_MAX)
        return;
    gbx_buf_init(&text, GBX_KIB(4));
    gbx_buf_init(&clean, GBX_KIB(64));
    va_start(args, format);
    (void)gbx_buf_vprintf(&text, format, args);
    va_end(args);
    if (!text.failed &&
        gbx_gate_redact(run->code->gate, (char *)text.data, text.len, &clean))
        remark = gbx_buf_take_string(&clean, NULL);
    gbx_buf_cleanup(&text);
    gbx_buf_cleanup(&clean);
    if (remark == NULL)
        return;
    on_log(run, GBX_LOG_WARN, remark, strlen(remark));
    run->remarks[run->remark_count++] = remark;
}

void gbx_code_run_settled(gbx_code_run *run)
{
    run->open--;
    finish_if_over(run);
}

void gbx_code_run_abandon(gbx_code_run *run)
{
    gbx_nested_call *n = run->calls;

    run->calls = NULL;
    while (n != NULL) {
        gbx_nested_call *next = n->next;

        n->run = NULL;
        if (n->passage == NULL)
            gbx_nested_free(n);
        n = next;
    }
    free_run(run);
}

void gbx_code_run_release(gbx_code_run *run)
{
    run->holders--;
    finish_if_over(run);
}

/* Exactly one of uri and error is not NULL. */
static void put_handle(const char *uri, const char *error, const char *mime_type,
                       size_t len, gbx_buf *to)
{
    const char *text = uri != NULL ? uri : error;

    (void)gbx_buf_puts(to, uri != NULL ? "{\"uri\":" : "{\"error\":");
    (void)gbx_json_append_string(to, text, strlen(text));
    (void)gbx_buf_puts(to, ",\"mimeType\":");
    (void)gbx_json_append_string(to, mime_type, strlen(mime_type));
    (void)gbx_buf_printf(to, ",\"bytes\":%zu}", len);
}

/* Room for one more artifact in the list; NULL: memory is out. */
static gbx_script_reply_artifact *make_room(gbx_code_run *run)
{
    size_t room = run->artifact_room > 0 ? run->artifact_room * 2 : 8;
    gbx_script_reply_artifact *grown;

    if (run->artifact_count < run->artifact_room)
        return &run->artifacts[run->artifact_count];
    grown = reallocarray(run->artifacts, room, sizeof *grown);
    if (grown == NULL)
        return NULL;
    run->artifacts = grown;
    run->artifact_room = room;
    return &run->artifacts[run->artifact_count];
}

void gbx_code_run_fault(gbx_code_run *run, const char *code, const char *message)
{
    gbx_run_fault *fault = &run->faults[run->fault_count++ % GBX_RUN_FAULTS_MAX];

    free(fault->message);
    fault->message = strdup(message);
    (void)snprintf(fault->code, sizeof fault->code, "%s", code);
}

bool gbx_code_run_try_keep(gbx_code_run *run, const char *name, const char *mime_type,
                           const void *data, size_t len, bool is_bytes, gbx_buf *handle,
                           char why[GBX_RUN_WHY_SIZE])
{
    uint64_t max = run->code->settings->artifact_bytes;
    gbx_artifact *kept = NULL;
    gbx_script_reply_artifact *a;

    if (run->artifact_count == GBX_RUN_ARTIFACTS_MAX) {
        (void)snprintf(why, GBX_RUN_WHY_SIZE, "a script keeps %d artifacts at most",
                       GBX_RUN_ARTIFACTS_MAX);
        return false;
    }
    if (len > max) {
        (void)snprintf(why, GBX_RUN_WHY_SIZE,
                       "an artifact has at most %llu bytes, this one %zu",
                       (unsigned long long)max, len);
        return false;
    }
    a = make_room(run);
    if (a != NULL)
        kept = gbx_artifacts_add(run->code->artifacts, name, mime_type, data, len,
                                 gbx_clock_now_ns());
    if (kept == NULL) {
        (void)snprintf(why, GBX_RUN_WHY_SIZE, "no memory is left for it");
        return false;
    }
    kept->is_text = kept->is_text && !is_bytes;
    memcpy(a->uri, kept->uri, sizeof a->uri);
    (void)snprintf(a->name, sizeof a->name, "%.*s",
                   (int)gbx_artifacts_border(name, strlen(name), sizeof a->name - 1),
                   name);
    (void)snprintf(a->mime_type, sizeof a->mime_type, "%.*s",
                   (int)gbx_artifacts_border(mime_type, strlen(mime_type),
                                             sizeof a->mime_type - 1),
                   mime_type);
    a->bytes = len;
    run->artifact_count++;
    put_handle(kept->uri, NULL, mime_type, len, handle);
    return true;
}

/* What will be read as text is redacted as text, since base64 would hide secrets.
 * Content too long for that is not read as text. */
void gbx_code_run_keep(gbx_code_run *run, const char *name, const char *mime_type,
                       const void *data, size_t len, gbx_buf *handle)
{
    bool has_secrets = run->code->config->rules->secrets->secret_count > 0;
    bool is_bytes = has_secrets && len > TEXT_BYTES;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean;
    char why[GBX_RUN_WHY_SIZE];

    gbx_buf_init(&clean, len * 8 + GBX_KIB(4));
    if (has_secrets && !is_bytes && gbx_artifacts_is_text(mime_type, data, len)) {
        is_bytes = !gbx_gate_redact(run->code->gate, data, len, &clean);
        data = is_bytes || clean.len == 0 ? data : clean.data;
        len = is_bytes ? len : clean.len;
    }
    if (!gbx_code_run_try_keep(run, name, mime_type, data, len, is_bytes, handle, why))
        put_handle(NULL, why, mime_type, len, handle);
}

void gbx_code_run_start(gbx_mcp_code *code, gbx_mcp_request *request,
                        const gbx_buf *text, gbx_view input, uint32_t timeout_ms)
{
    gbx_code_run *run = make(code, request, text);

    if (run == NULL) {
        gbx_mcp_fail(request, GBX_MCP_INTERNAL_ERROR, "memory is out");
        return;
    }
    run->input = input.at != NULL ? input : (gbx_view){"null", 4};
    keep_digits_of_input(run);
    run->timeout_ms = timeout_ms;
    (void)gbx_code_run_watch(run); /* if that fails, the engine's own limit applies */
    gbx_mcp_on_cancel(request, on_cancel, run);
    if (gbx_recent_find(&code->recent, run->text, run->text_len, &run->script)) {
        begin(run);
        return;
    }
    run->job =
        (gbx_parse_thread_job){make_script, on_script, run, .patience = &run->patience};
    switch (gbx_parse_thread_read(code->aside, &run->job, run->text_len)) {
    case GBX_ASIDE_NOW: on_script(run); break;
    case GBX_ASIDE_LATER: run->is_reading = true; break;
    case GBX_ASIDE_NEVER: fail(run); break;
    }
}

void gbx_code_run_stop(gbx_code_run *run)
{
    if (run->box_run != NULL)
        gbx_box_abort(run->box_run);
    for (gbx_nested_call *n = run->is_ending ? run->calls : NULL; n != NULL;
         n = n->next)
        gbx_nested_cancel(n);
    if (!run->is_reading || run->is_stopped)
        return;
    run->is_stopped = true;
    if (gbx_parse_thread_withdraw(run->code->aside, &run->job))
        on_script(run);
}

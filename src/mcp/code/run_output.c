/* SPDX-License-Identifier: MIT */
/*
 * run_output - what leaves a run, without secrets: log lines as they are printed, artifacts,
 * and at the end its value and log.
 */
#include "mcp/code/script_run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/rules/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARTIFACTS_MAX 1000
#define TEXT_BYTES    GBX_KIB(64) /* redacted on the loop, not on a thread */

/* ---- lines ----------------------------------------------------------------------- */

void gbx_code_run_log(void *user, gbx_log_level level, const char *text, size_t len)
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
    gbx_code_run_log(run, GBX_LOG_WARN, remark, strlen(remark));
    run->remarks[run->remark_count++] = remark;
}

void gbx_code_run_fault(gbx_code_run *run, const char *code, const char *message)
{
    gbx_run_fault *fault = &run->faults[run->fault_count++ % GBX_RUN_FAULTS_MAX];

    free(fault->message);
    fault->message = strdup(message);
    (void)snprintf(fault->code, sizeof fault->code, "%s", code);
}

/* ---- artifacts ------------------------------------------------------------------- */

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
static gbx_script_reply_artifact *next_artifact(gbx_code_run *run)
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

bool gbx_code_run_try_keep(gbx_code_run *run, const char *name, const char *mime_type,
                           const void *data, size_t len, bool is_bytes, gbx_buf *handle,
                           char why[GBX_RUN_WHY_SIZE])
{
    uint64_t max = run->code->settings->artifact_bytes;
    gbx_artifact *kept = NULL;
    gbx_script_reply_artifact *a;

    if (run->artifact_count == ARTIFACTS_MAX) {
        (void)snprintf(why, GBX_RUN_WHY_SIZE, "a script keeps %d artifacts at most",
                       ARTIFACTS_MAX);
        return false;
    }
    if (len > max) {
        (void)snprintf(why, GBX_RUN_WHY_SIZE,
                       "an artifact has at most %llu bytes, this one %zu",
                       (unsigned long long)max, len);
        return false;
    }
    a = next_artifact(run);
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

/* ---- the value and the log ------------------------------------------------------- */

/* Large ones are searched on a separate thread while the run waits and the loop serves
 * others. */

static const char *const levels[] = {"debug", "log", "info", "warn", "error"};

/* The value, empty if missing, then each line of the log. */
static gbx_view *texts_of(const gbx_code_run *run, size_t count)
{
    gbx_view *texts = calloc(count, sizeof *texts);

    if (texts == NULL)
        return NULL;
    if (gbx_result_code(run->result) == GBX_CODE_VALUE)
        texts[0].at = gbx_result_value(run->result, &texts[0].len);
    for (size_t i = 1; i < count; i++) {
        gbx_log log = gbx_result_log(run->result, i - 1);

        texts[i] = (gbx_view){log.text, log.text_len};
    }
    return texts;
}

/* All lines are complete: their addresses no longer change. */
static void place_logs(gbx_code_run *run)
{
    size_t at = 0;

    for (size_t i = 0; i < run->log_count; at += run->logs[i++].len)
        run->logs[i].text =
            run->printed.data != NULL ? (const char *)run->printed.data + at : "";
    run->is_stripped = true;
}

/* Append text i, the value or the next line of the log: redact it now, or take what a
 * thread has made of it. What could not be redacted is left out. */
static void put_text(gbx_code_run *run, size_t i, gbx_view text,
                     const gbx_gate_sifted *sifted)
{
    gbx_buf *to = i == 0 ? &run->value : &run->printed;
    size_t before = to->len;
    bool ok;
    gbx_log log;

    if (sifted == NULL)
        ok = gbx_gate_redact(run->code->gate, text.at, text.len, to);
    else
        ok = sifted->done && gbx_buf_append(to, sifted->text.at, sifted->text.len);
    if (i == 0) {
        run->is_value_lost = !ok;
        return;
    }
    log = gbx_result_log(run->result, i - 1);
    run->logs[run->log_count++] = (gbx_script_reply_log){
        levels[log.level <= GBX_LOG_ERROR ? log.level : GBX_LOG_LOG], NULL,
        to->len - before};
}

static void on_sifted(void *user, const gbx_gate_sifted *sifted)
{
    gbx_code_run *run = user;
    size_t count = gbx_result_log_count(run->result) + 1;
    size_t len = 0;

    run->sift = NULL;
    for (size_t i = 1; i < count; i++)
        len += sifted[i].text.len;
    (void)gbx_buf_reserve(&run->printed, len);
    for (size_t i = 0; i < count; i++)
        put_text(run, i, sifted[i].text, &sifted[i]);
    place_logs(run);
    gbx_code_run_release(run);
}

bool gbx_code_run_redact(gbx_code_run *run)
{
    size_t count = run->result != NULL ? gbx_result_log_count(run->result) + 1 : 0;
    GBX_CLEANUP(gbx_free) gbx_view *texts = NULL;

    if (run->is_stripped || run->result == NULL)
        return false;
    texts = texts_of(run, count);
    run->logs = calloc(count, sizeof *run->logs);
    if (texts == NULL || run->logs == NULL)
        return false;
    run->sift = gbx_gate_redact_later(run->code->gate, texts, count, on_sifted, run);
    run->holders += run->sift != NULL;
    if (run->sift != NULL)
        return true;
    for (size_t i = 0; i < count; i++)
        put_text(run, i, texts[i], NULL);
    place_logs(run);
    return false;
}

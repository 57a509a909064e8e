/* SPDX-License-Identifier: MIT */
/*
 * run_output - redacts and passes on the output of a run: log lines when they are
 * printed, artifacts, and at the end its value and log.
 */
#include "mcp/code/code_mode.h"

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
#define TEXT_BYTES    GBX_KIB(64) /* of a tool's data that is redacted */

/* ---- lines ----------------------------------------------------------------------- */

void gbx_code_run_log(void *user, gbx_log_level level, const char *text, size_t len)
{
    static const char *const prefixes[] = {"[debug] ", "", "", "[warn] ", "[error] "};
    gbx_code_run *run = user;
    const char *said;
    size_t text_at;
    gbx_buf line = {.ceiling = GBX_KIB(64)};

    if (!gbx_mcp_hears_line(run->request, level))
        return;
    (void)gbx_buf_puts(&line, prefixes[level <= GBX_LOG_ERROR ? level : 0]);
    text_at = line.len;
    (void)gbx_gate_redact(run->code->gate, text,
                          gbx_utf8_cut(text, len, GBX_CODE_PROGRESS_MAX), &line);
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
    gbx_buf text = {.ceiling = GBX_KIB(4)};
    gbx_buf clean = {.ceiling = GBX_KIB(64)};
    va_list args;
    char *remark = NULL;

    if (run->remark_count == GBX_RUN_REMARKS_MAX)
        return;
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
    (void)gbx_buf_puts(to, "{");
    gbx_json_put_text(to, "uri", uri);
    gbx_json_put_text(to, "error", error);
    gbx_json_put_text(to, "mimeType", mime_type);
    gbx_json_put_integer(to, "bytes", (int64_t)len);
    (void)gbx_buf_puts(to, "}");
}

bool gbx_code_run_try_keep(gbx_code_run *run, const char *name, const char *mime_type,
                           const void *data, size_t len, bool is_bytes, gbx_buf *handle,
                           char why[GBX_RUN_WHY_SIZE])
{
    uint64_t max = run->code->settings->artifact_bytes;
    gbx_artifact *kept;
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
    if (run->artifact_count == run->artifact_room) {
        run->artifact_room += run->artifact_room + 8;
        run->artifacts = gbx_need(
            reallocarray(run->artifacts, run->artifact_room, sizeof *run->artifacts));
    }
    a = &run->artifacts[run->artifact_count];
    kept = gbx_artifacts_add(run->code->artifacts, name, mime_type, data, len,
                             gbx_clock_now_ns());
    kept->is_text = kept->is_text && !is_bytes;
    memcpy(a->uri, kept->uri, sizeof a->uri);
    (void)snprintf(a->name, sizeof a->name, "%.*s",
                   (int)gbx_utf8_cut(name, strlen(name), sizeof a->name - 1), name);
    (void)snprintf(a->mime_type, sizeof a->mime_type, "%.*s",
                   (int)gbx_utf8_cut(mime_type, strlen(mime_type),
                                     sizeof a->mime_type - 1),
                   mime_type);
    a->bytes = len;
    run->artifact_count++;
    put_handle(kept->uri, NULL, mime_type, len, handle);
    return true;
}

/* Data that will be read as text is redacted as text, since base64 would hide secrets.
 * Data too long for that is kept as bytes, which are never read as text. */
void gbx_code_run_keep(gbx_code_run *run, const char *name, const char *mime_type,
                       const void *data, size_t len, gbx_buf *handle)
{
    bool has_secrets = run->code->config->rules->secrets->secret_count > 0;
    bool is_bytes = has_secrets && len > TEXT_BYTES;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {.ceiling = gbx_secrets_ceiling(len)};
    char why[GBX_RUN_WHY_SIZE];

    if (has_secrets && !is_bytes && gbx_artifacts_is_text(mime_type, data, len)) {
        is_bytes = !gbx_gate_redact(run->code->gate, data, len, &clean);
        data = is_bytes || clean.len == 0 ? data : clean.data;
        len = is_bytes ? len : clean.len;
    }
    if (!gbx_code_run_try_keep(run, name, mime_type, data, len, is_bytes, handle, why))
        put_handle(NULL, why, mime_type, len, handle);
}

/* ---- the value and the log ------------------------------------------------------- */

static const char *const levels[] = {"debug", "log", "info", "warn", "error"};

/* sifted: the value, empty if missing, then each line of the log. Texts that could not
 * be redacted are left out. */
static void on_sifted(void *user, const gbx_gate_sifted *sifted)
{
    gbx_code_run *run = user;
    size_t count = gbx_result_log_count(run->result);
    size_t len = 0;

    run->sift = NULL;
    run->is_stripped = true;
    run->is_value_lost =
        !sifted[0].done ||
        !gbx_buf_append(&run->value, sifted[0].text.at, sifted[0].text.len);
    for (size_t i = 1; i <= count; i++)
        len += sifted[i].text.len;
    (void)gbx_buf_reserve(&run->printed, len); /* so that it does not move */
    for (size_t i = 1; i <= count; i++) {
        gbx_log log = gbx_result_log(run->result, i - 1);
        size_t at = run->printed.len;

        if (sifted[i].done)
            (void)gbx_buf_append(&run->printed, sifted[i].text.at, sifted[i].text.len);
        run->logs[run->log_count++] = (gbx_script_reply_log){
            levels[log.level <= GBX_LOG_ERROR ? log.level : GBX_LOG_LOG],
            run->printed.data != NULL ? (const char *)run->printed.data + at : "",
            run->printed.len - at};
    }
    gbx_code_run_release(run);
}

void gbx_code_run_redact(gbx_code_run *run)
{
    size_t count = gbx_result_log_count(run->result);
    GBX_CLEANUP(gbx_free)
    gbx_view *texts = gbx_need(calloc(count + 1, sizeof *texts));

    run->logs = gbx_need(calloc(run->remark_count + count + 1, sizeof *run->logs));
    for (size_t i = 0; i < run->remark_count; i++)
        run->logs[run->log_count++] =
            (gbx_script_reply_log){"warn", run->remarks[i], strlen(run->remarks[i])};
    if (gbx_result_code(run->result) == GBX_CODE_VALUE)
        texts[0].at = gbx_result_value(run->result, &texts[0].len);
    for (size_t i = 0; i < count; i++) {
        gbx_log log = gbx_result_log(run->result, i);

        texts[i + 1] = (gbx_view){log.text, log.text_len};
    }
    run->holders++;
    gbx_gate_redact_start(run->code->gate, GBX_SECRET_LINE, texts, count + 1, on_sifted,
                          run, &run->sift);
}

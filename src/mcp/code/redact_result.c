/* SPDX-License-Identifier: MIT */
/*
 * redact_result - remove secrets from a run's value and log. Large ones are searched on
 * a separate thread while the run waits and the loop serves others.
 */
#include "mcp/code/script_run.h"

#include "base/cleanup.h"

#include <stdlib.h>

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

/* len: of the line at the end of what was printed. */
static void add_log(gbx_code_run *run, size_t len)
{
    gbx_log log = gbx_result_log(run->result, run->log_count);
    const char *level = levels[log.level <= GBX_LOG_ERROR ? log.level : GBX_LOG_LOG];

    run->logs[run->log_count++] = (gbx_script_reply_log){level, NULL, len};
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

/* Allocate once: apart from secrets, the size equals that of the input. */
static void make_room(gbx_code_run *run, const gbx_gate_sifted *sifted, size_t count)
{
    size_t len = 0;

    for (size_t i = 1; i <= count; i++)
        len += sifted[i].text.len;
    (void)gbx_buf_reserve(&run->printed, len);
}

static void strip_now(gbx_code_run *run, const gbx_view *texts, size_t count)
{
    const gbx_gate *gate = run->code->gate;

    run->is_value_lost = !gbx_gate_redact(gate, texts[0].at, texts[0].len, &run->value);
    for (size_t i = 1; i < count; i++) {
        size_t before = run->printed.len;

        (void)gbx_gate_redact(gate, texts[i].at, texts[i].len, &run->printed);
        add_log(run, run->printed.len - before);
    }
    place_logs(run);
}

/* What could not be searched is left out. */
static void append(const gbx_gate_sifted *sifted, gbx_buf *to)
{
    if (sifted->done)
        (void)gbx_buf_append(to, sifted->text.at, sifted->text.len);
}

static void on_sifted(void *user, const gbx_gate_sifted *sifted)
{
    gbx_code_run *run = user;
    size_t count = gbx_result_log_count(run->result);

    run->sift = NULL;
    append(&sifted[0], &run->value);
    run->is_value_lost = !sifted[0].done || run->value.failed;
    make_room(run, sifted, count);
    for (size_t i = 1; i <= count; i++) {
        size_t before = run->printed.len;

        append(&sifted[i], &run->printed);
        add_log(run, run->printed.len - before);
    }
    place_logs(run);
    gbx_code_run_release(run);
}

/* ---- public to other files of this folder --------------------------------- */

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
    if (run->sift == NULL)
        strip_now(run, texts, count);
    return run->sift != NULL;
}

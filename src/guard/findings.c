/* SPDX-License-Identifier: MIT */
/* findings - text from the code enters a message only through the frame. */
#include "guard/findings.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages and frames of a full list; no legitimate report comes near it. */
#define TEXT_MAX GBX_KIB(256)

/* Append text with its NUL. True, and its offset, if it fitted. */
static bool put(gbx_buf *buf, const char *text, size_t *ret_at)
{
    *ret_at = buf->len;
    return gbx_buf_append(buf, text, strlen(text) + 1);
}

static bool put_violation(const gbx_finding *finding, const char *text, size_t len,
                          gbx_buf *buf, gbx_violation *v, size_t at[2])
{
    char *frame;
    bool ok;

    *v = (gbx_violation){.code = finding->code,
                         .rule = finding->rule,
                         .hint = finding->hint};
    gbx_lines_position(text, len, finding->offset, &v->line, &v->column);
    frame = gbx_guard_frame(text, len, v->line, v->column);
    ok = frame != NULL && put(buf, finding->message, &at[0]) && put(buf, frame, &at[1]);
    free(frame);
    return ok;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_findings_add(gbx_findings *f, gbx_code code, const char *rule, size_t offset,
                      const char *hint, const char *format, ...)
{
    size_t at = f->count;
    va_list args;

    f->total++;
    while (at > 0 && f->list[at - 1].offset > offset)
        at--;
    if (at == GBX_GUARD_VIOLATIONS_MAX)
        return;
    if (f->count == GBX_GUARD_VIOLATIONS_MAX)
        f->count--;
    memmove(&f->list[at + 1], &f->list[at], (f->count - at) * sizeof f->list[0]);
    f->count++;
    f->list[at].code = code;
    f->list[at].rule = rule;
    f->list[at].offset = offset;
    f->list[at].hint = hint;
    va_start(args, format);
    (void)vsnprintf(f->list[at].message, sizeof f->list[at].message, format, args);
    va_end(args);
}

gbx_status gbx_findings_report(const gbx_findings *f, const char *text, size_t len,
                               gbx_report **ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    size_t at[GBX_GUARD_VIOLATIONS_MAX][2];
    char *strings = NULL;
    gbx_report *report;
    bool ok;

    gbx_buf_init(&buf, TEXT_MAX);
    if (f->count == 0) {
        *ret = NULL;
        return GBX_OK;
    }
    report = calloc(1, sizeof *report);
    ok = report != NULL;
    for (size_t i = 0; ok && i < f->count; i++)
        ok = put_violation(&f->list[i], text, len, &buf, &report->list[i], at[i]);
    if (ok)
        strings = gbx_buf_take_string(&buf, NULL);
    if (strings == NULL) {
        free(report);
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot keep the report on the code");
    }
    for (size_t i = 0; i < f->count; i++) {
        report->list[i].message = strings + at[i][0];
        report->list[i].frame = strings + at[i][1];
    }
    report->text = strings;
    report->count = f->count;
    report->total = f->total;
    *ret = report;
    return GBX_OK;
}

/* SPDX-License-Identifier: MIT */
/* findings - text from the code enters a message only through the frame. */
#include "guard/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "guard/guard.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Three lines of code with a caret, safe to print on any terminal.
 *
 *     1 | const total = (data) => {
 *   > 2 |     return data.map(d => d.price)
 *       |                 ^
 *     3 | }
 *
 * The caret's column counts printed characters, not those of the code: escapes and tabs
 * are wider than one. Characters of double width are counted as one.
 */

#define WIDTH     96 /* characters of code shown per line */
#define LEAD      64 /* of these, at most so many before the column */
#define TAB       "    "
#define FRAME_MAX GBX_KIB(16)

/* Bytes of the character at data: an invalid byte counts as one. */
static size_t step(const char *data, size_t len)
{
    size_t n = gbx_utf8_sequence((const uint8_t *)data, len);

    return n == 0 ? 1 : n;
}

static void put_character(gbx_buf *buf, const char *data, size_t len)
{
    if (len == 1 && data[0] == '\t')
        (void)gbx_buf_puts(buf, TAB);
    else
        (void)gbx_utf8_append_escaped(buf, data, len, GBX_ESCAPE_LINE);
}

/* Characters in [from, buf->len), which is valid UTF-8. */
static size_t printed(const gbx_buf *buf, size_t from)
{
    size_t n = 0;

    for (size_t i = from; i < buf->len; i++)
        n += (buf->data[i] & 0xC0) != 0x80;
    return n;
}

/* Append a window of the line; *ret_caret is the width of its part before column. */
static void put_window(gbx_buf *buf, const char *data, size_t len, uint32_t column,
                       uint32_t first, size_t *ret_caret)
{
    size_t from = buf->len;
    uint32_t at = 1;
    size_t i = 0;

    for (; at < first && i < len; at++)
        i += step(data + i, len - i);
    if (first > 1)
        (void)gbx_buf_puts(buf, "...");
    for (; i < len && at < first + WIDTH; at++) {
        if (at == column)
            *ret_caret = printed(buf, from);
        put_character(buf, data + i, step(data + i, len - i));
        i += step(data + i, len - i);
    }
    if (at <= column)
        *ret_caret = printed(buf, from);
    if (i < len)
        (void)gbx_buf_puts(buf, "...");
}

static void put_line(gbx_buf *buf, const char *text, size_t len, uint32_t number,
                     uint32_t line, uint32_t column)
{
    uint32_t first = column > LEAD ? column - LEAD : 1;
    size_t start = 0;
    size_t end = 0;
    size_t caret = 0;

    if (number == 0 || !gbx_lines_find(text, len, number, &start, &end))
        return;
    if (number != line && start == len)
        return; /* the rest after the last newline is not a line */
    if (buf->len > 0)
        (void)gbx_buf_puts(buf, "\n");
    (void)gbx_buf_printf(buf, "%s%4u | ", number == line ? ">" : " ", (unsigned)number);
    put_window(buf, text + start, end - start, column, first, &caret);
    if (number != line || column == 0)
        return;
    (void)gbx_buf_puts(buf, "\n      | ");
    for (size_t i = 0; i < caret; i++)
        (void)gbx_buf_puts(buf, " ");
    (void)gbx_buf_puts(buf, "^");
}

char *gbx_guard_frame(const char *code, size_t len, uint32_t line, uint32_t column)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    size_t start, end;

    gbx_buf_init(&buf, FRAME_MAX);
    if (line == 0 || code == NULL || !gbx_lines_find(code, len, line, &start, &end))
        return strdup("");
    put_line(&buf, code, len, line - 1, line, column);
    put_line(&buf, code, len, line, line, column);
    if (line < UINT32_MAX)
        put_line(&buf, code, len, line + 1, line, column);
    return gbx_buf_take_string(&buf, NULL);
}

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

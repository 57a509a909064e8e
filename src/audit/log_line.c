/* SPDX-License-Identifier: MIT */
/*
 * log_line - writes one JSON line to a fixed buffer. A field is written completely or
 * removed again: see settle(). Room for the line's end is reserved from the start.
 */
#include "audit/audit.h"

#include "base/json.h"
#include "base/utf8.h"

#include <assert.h>
#include <string.h>
#include <time.h>

/* Maximum bytes of a text after escaping. JSON then adds at most one byte per input
 * byte: five of the longest texts fit a line. */
#define ESCAPED_MAX 400
#define ELLIPSIS    "\xE2\x80\xA6"

#define CUT ",\"cut\":true"

/* CUT, the last brace and the newline. */
#define TAIL_MAX (sizeof CUT - 1 + 2)

/* Writes the start of text, escaped, with an ellipsis if it was longer. `to` has
 * memory of its own, with room for the ellipsis beyond its ceiling. */
static void escape(gbx_buf *to, const void *text, size_t len)
{
    size_t n = gbx_utf8_cut(text, len, GBX_LINE_TEXT_MAX);

    (void)gbx_utf8_append_escaped(to, text, n, GBX_ESCAPE_LINE);
    if (n == len && !to->failed)
        return;
    to->ceiling = to->capacity;
    to->failed = false;
    (void)gbx_buf_puts(to, ELLIPSIS);
}

/* End a field: keep it if it and all before it fit completely, else remove it. */
static void settle(gbx_log_line *line, size_t start)
{
    if (!line->buf.failed && !line->is_cut)
        return;
    line->buf.len = start;
    line->buf.failed = false;
    line->is_cut = true;
}

void gbx_log_line_begin(gbx_log_line *line, const gbx_log_line_head *head)
{
    time_t seconds = (time_t)(head->wall_ms / 1000);
    struct tm tm = {0};

    line->is_cut = false;
    line->depth = 0;
    line->buf = (gbx_buf){.data = line->space,
                          .capacity = sizeof line->space,
                          .ceiling = GBX_LINE_MAX - TAIL_MAX};
    (void)gmtime_r(&seconds, &tm);
    (void)gbx_buf_printf(&line->buf,
                         "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"",
                         tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                         tm.tm_min, tm.tm_sec, (int)(head->wall_ms % 1000));
    gbx_log_line_count(line, "seq", head->seq);
    gbx_log_line_puts(line, "event", head->event);
    gbx_log_line_puts(line, "engine", head->engine);
    if (head->call_id != NULL)
        gbx_log_line_puts(line, "callId", head->call_id);
}

void gbx_log_line_text(gbx_log_line *line, const char *key, const void *text,
                       size_t len)
{
    uint8_t space[ESCAPED_MAX + sizeof ELLIPSIS];
    gbx_buf escaped = {.data = space, .capacity = sizeof space, .ceiling = ESCAPED_MAX};
    size_t start = line->buf.len;

    escape(&escaped, text, len);
    gbx_json_put_key(&line->buf, key);
    (void)gbx_json_append_string(&line->buf, escaped.data, escaped.len);
    settle(line, start);
}

void gbx_log_line_puts(gbx_log_line *line, const char *key, const char *text)
{
    gbx_log_line_text(line, key, text, strlen(text));
}

void gbx_log_line_count(gbx_log_line *line, const char *key, uint64_t number)
{
    size_t start = line->buf.len;

    gbx_json_put_key(&line->buf, key);
    (void)gbx_buf_printf(&line->buf, "%llu", (unsigned long long)number);
    settle(line, start);
}

void gbx_log_line_number(gbx_log_line *line, const char *key, double number)
{
    size_t start = line->buf.len;

    gbx_json_put_number(&line->buf, key, number);
    settle(line, start);
}

void gbx_log_line_bool(gbx_log_line *line, const char *key, bool value)
{
    size_t start = line->buf.len;

    gbx_json_put_bool(&line->buf, key, value);
    settle(line, start);
}

/* The room for the closing bracket is reserved with the opening one. */
void gbx_log_line_open(gbx_log_line *line, const char *key, char bracket)
{
    gbx_buf *b = &line->buf;
    size_t start = b->len;

    assert(line->depth < GBX_LINE_DEPTH_MAX);
    line->closers[line->depth++] = '\0';
    gbx_json_put_open(b, key, bracket);
    (void)gbx_buf_append(b, "", 1);
    settle(line, start);
    if (line->is_cut)
        return;
    b->len--;
    b->ceiling--;
    line->closers[line->depth - 1] = bracket == '{' ? '}' : ']';
}

void gbx_log_line_close(gbx_log_line *line)
{
    char closer;

    assert(line->depth > 0);
    closer = line->closers[--line->depth];
    if (closer == '\0')
        return;
    line->buf.ceiling++;
    (void)gbx_buf_append(&line->buf, &closer, 1);
}

const char *gbx_log_line_end(gbx_log_line *line, size_t *ret_len)
{
    assert(line->depth == 0);
    line->buf.ceiling = GBX_LINE_MAX;
    (void)gbx_buf_puts(&line->buf, line->is_cut ? CUT "}\n" : "}\n");
    assert(!line->buf.failed);
    line->space[line->buf.len] = 0;
    *ret_len = line->buf.len;
    return (const char *)line->space;
}

size_t gbx_log_line_escape(const void *text, size_t len, char *to, size_t size)
{
    gbx_buf buf = {.data = (uint8_t *)to, .capacity = size - 1};

    assert(size > sizeof ELLIPSIS);
    buf.ceiling = size - sizeof ELLIPSIS;
    escape(&buf, text, len);
    to[buf.len] = 0;
    return buf.len;
}

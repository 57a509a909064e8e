/* SPDX-License-Identifier: MIT */
/* sse - lines end in CR, LF or both. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit, in one call, of lines that make no event: other work must get its turn. */
#define LOOK_BYTES GBX_KIB(64)

static bool is_field(const char *line, size_t len, const char *name, const char **ret,
                     size_t *ret_len)
{
    size_t n = strlen(name);

    if (len < n || memcmp(line, name, n) != 0 || (len > n && line[n] != ':'))
        return false;
    n = len > n ? n + 1 : n;
    if (n < len && line[n] == ' ')
        n++;
    *ret = line + n;
    *ret_len = len - n;
    return true;
}

static void take_retry(gbx_sse *sse, const char *value, size_t len)
{
    uint32_t ms = 0;

    for (size_t i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9' || ms > 100000000)
            return;
        ms = ms * 10 + (uint32_t)(value[i] - '0');
    }
    sse->retry_ms = ms;
}

static void take_field(gbx_sse *sse, const char *line, size_t len)
{
    const char *value;
    size_t n;

    if (is_field(line, len, "data", &value, &n)) {
        if (sse->has_data)
            (void)gbx_buf_append(&sse->data, "\n", 1);
        (void)gbx_buf_append(&sse->data, value, n);
        sse->has_data = true;
    } else if (is_field(line, len, "event", &value, &n)) {
        (void)snprintf(sse->name, sizeof sse->name, "%.*s",
                       (int)(n < GBX_SSE_NAME_MAX ? n : GBX_SSE_NAME_MAX), value);
    } else if (is_field(line, len, "id", &value, &n)) {
        if (n <= GBX_SSE_ID_MAX && memchr(value, 0, n) == NULL)
            (void)snprintf(sse->next_id, sizeof sse->next_id, "%.*s", (int)n, value);
    } else if (is_field(line, len, "retry", &value, &n)) {
        take_retry(sse, value, n);
    }
}

/* An empty line: true if it completes an event. */
static bool end_event(gbx_sse *sse)
{
    memcpy(sse->id, sse->next_id, sizeof sse->id);
    if (!sse->has_data)
        sse->name[0] = 0;
    return sse->has_data;
}

/* Find a line; false if it has no end yet. *ret_used includes the end. */
static bool next_line(gbx_sse *sse, size_t from, size_t *ret_len, size_t *ret_used)
{
    const char *text = (const char *)sse->in.data;
    size_t at = sse->seen > from ? sse->seen : from;

    while (at < sse->in.len && text[at] != '\n' && text[at] != '\r')
        at++;
    sse->seen = at;
    if (at == sse->in.len)
        return false;
    *ret_len = at - from;
    *ret_used = at + 1 - from;
    sse->had_cr = text[at] == '\r';
    return true;
}

/* Skip the byte order mark that may come before the first line. False: too few
 * bytes to decide. */
static bool skip_mark(gbx_sse *sse)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t n = sse->in.len < 3 ? sse->in.len : 3;
    bool is_like = n == 0 || memcmp(sse->in.data, mark, n) == 0;

    if (!sse->is_begun && is_like && n < 3)
        return false;
    if (!sse->is_begun && is_like)
        sse->start = 3;
    sse->is_begun = true;
    return true;
}

static void drop_read(gbx_sse *sse)
{
    gbx_buf_consume(&sse->in, sse->start);
    sse->seen = sse->seen > sse->start ? sse->seen - sse->start : 0;
    sse->start = 0;
}

void gbx_sse_init(gbx_sse *sse, size_t event_max)
{
    *sse = (gbx_sse){0};
    gbx_buf_init_secret(&sse->in, event_max);
    gbx_buf_init_secret(&sse->data, event_max);
}

void gbx_sse_cleanup(gbx_sse *sse)
{
    gbx_buf_cleanup(&sse->in);
    gbx_buf_cleanup(&sse->data);
}

size_t gbx_sse_ahead(const gbx_sse *sse)
{
    return sse->in.len - (sse->seen > sse->start ? sse->seen : sse->start);
}

bool gbx_sse_feed(gbx_sse *sse, const void *data, size_t len)
{
    if (len > sse->in.ceiling - sse->in.len)
        drop_read(sse);
    return !sse->data.failed && gbx_buf_append(&sse->in, data, len);
}

bool gbx_sse_next(gbx_sse *sse, gbx_sse_event *ret)
{
    size_t at;
    size_t len;
    size_t used;
    bool found = false;
    size_t until;

    sse->has_more = false;
    if (!skip_mark(sse))
        return false;
    at = sse->start;
    if (sse->is_told) {
        gbx_buf_consume(&sse->data, sse->data.len);
        sse->name[0] = 0;
        sse->is_told = sse->has_data = false;
    }
    /* The LF of a CR LF may have come later than the CR. */
    if (sse->had_cr && sse->in.len > at) {
        at += sse->in.data[at] == '\n';
        sse->had_cr = false;
    }
    until = at + LOOK_BYTES;
    while (!found && at < until && next_line(sse, at, &len, &used)) {
        if (len > 0)
            take_field(sse, (const char *)sse->in.data + at, len);
        else
            found = end_event(sse);
        at += used;
        if (sse->had_cr && at < sse->in.len) {
            at += sse->in.data[at] == '\n';
            sse->had_cr = false;
        }
    }
    sse->start = at;
    sse->has_more = !found && at >= until && !sse->data.failed;
    if (at > sse->in.len / 2)
        drop_read(sse);
    if (!found || sse->data.failed)
        return false;
    sse->is_told = true;
    *ret = (gbx_sse_event){.name = sse->name[0] != 0 ? sse->name : "message",
                           .data = sse->data.len > 0 ? (char *)sse->data.data : "",
                           .len = sse->data.len};
    return true;
}

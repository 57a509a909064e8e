/* SPDX-License-Identifier: MIT */
/* sse - lines that end in CR, LF or both, and the events that they make. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A longer pause than eleven days is not believed. */
#define RETRY_MAX_MS 1000000000

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

static void take_field(gbx_sse *sse, const char *line, size_t len)
{
    const char *value;
    uint64_t ms;
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
    } else if (is_field(line, len, "retry", &value, &n) &&
               gbx_decimal_read(value, n, RETRY_MAX_MS, &ms)) {
        sse->retry_ms = (uint32_t)ms;
    }
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

/* Every line end becomes an LF. The LF of a CR LF may come in a later call. */
bool gbx_sse_feed(gbx_sse *sse, const void *data, size_t len)
{
    const char *from = data;
    uint8_t *to;
    size_t n = 0;

    if (len > sse->in.ceiling - sse->in.len)
        drop_read(sse);
    to = gbx_buf_reserve(&sse->in, len);
    if (sse->data.failed || to == NULL)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (from[i] != '\n' || !sse->had_cr)
            to[n++] = from[i] == '\r' ? '\n' : (uint8_t)from[i];
        sse->had_cr = from[i] == '\r';
    }
    sse->in.len += n;
    return true;
}

bool gbx_sse_next(gbx_sse *sse, gbx_sse_event *ret)
{
    const char *text = (const char *)sse->in.data;
    bool found = false;

    if (sse->is_told) {
        gbx_buf_consume(&sse->data, sse->data.len);
        sse->name[0] = 0;
        sse->is_told = sse->has_data = false;
    }
    while (!found && sse->start < sse->in.len) {
        const char *line = text + sse->start;
        size_t from = sse->seen > sse->start ? sse->seen : sse->start;
        const char *end = memchr(text + from, '\n', sse->in.len - from);

        sse->seen = end != NULL ? (size_t)(end - text) : sse->in.len;
        if (end == NULL)
            break;
        /* A byte order mark may come before the first line. */
        if (!sse->is_begun && end - line >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
            line += 3;
        sse->is_begun = true;
        if (end > line) {
            take_field(sse, line, (size_t)(end - line));
        } else {
            memcpy(sse->id, sse->next_id, sizeof sse->id);
            found = sse->has_data;
            if (!found)
                sse->name[0] = 0;
        }
        sse->start = sse->seen + 1;
    }
    if (sse->start > sse->in.len / 2)
        drop_read(sse);
    if (!found || sse->data.failed)
        return false;
    sse->is_told = true;
    *ret = (gbx_sse_event){.name = sse->name[0] != 0 ? sse->name : "message",
                           .data = sse->data.len > 0 ? (char *)sse->data.data : "",
                           .len = sse->data.len};
    return true;
}

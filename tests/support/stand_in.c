/* SPDX-License-Identifier: MIT */
/* stand_in - see stand_in.h. */
#include "support/stand_in.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Characters below U+0080 as they are, other bytes as such characters. */
static void put_json_text(gbx_buf *to, gbx_span text)
{
    gbx_buf_puts(to, "\"");
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < 32 || text.data[i] > 126 || text.data[i] == '"' ||
            text.data[i] == '\\')
            gbx_buf_printf(to, "\\u%04x", text.data[i]);
        else
            gbx_buf_append(to, &text.data[i], 1);
    }
    gbx_buf_puts(to, "\"");
}

static void answer(const stand_in *s, stand_in_open *r)
{
    static const char head[] =
        "{\"status\":200,\"statusText\":\"OK\",\"url\":\"https://stand.in/\","
        "\"headers\":[[\"Content-Type\",\"application/json\"]],\"redirected\":false}";
    const realm_call *call = s->call;
    gbx_msg_answer msg = {.id = r->id};
    char fail[256] = "AbortError|withdrawn|ABORT_ERR";
    char *rest = fail;

    if (!r->is_withdrawn && call->fail != NULL)
        snprintf(fail, sizeof fail, "%s", call->fail);
    if (r->is_withdrawn || call->fail != NULL) {
        msg.is_error = 1;
        msg.name = gbx_span_of(strsep(&rest, "|"));
        msg.message = gbx_span_of(strsep(&rest, "|"));
        msg.code = gbx_span_of(rest);
    } else {
        msg.json = gbx_span_of(call->answer != NULL ? call->answer : head);
        msg.bytes = call->body != NULL ? gbx_span_of(call->body)
                                       : (gbx_span){r->echo.data, r->echo.len};
    }
    gbx_realm_answer(s->realm, &msg);
    gbx_buf_cleanup(&r->echo);
}

/* ---- public ------------------------------------------------------------------ */

void stand_in_request(stand_in *s, const gbx_msg_hostcall *msg)
{
    stand_in_open *r = &s->open[s->count++];

    assert(s->count <= STAND_IN_MAX);
    *r = (stand_in_open){.id = msg->id};
    gbx_buf_init(&r->echo, GBX_MIB(64));
    gbx_buf_puts(&r->echo, "{\"name\":");
    put_json_text(&r->echo, msg->name);
    gbx_buf_puts(&r->echo, ",\"args\":");
    gbx_buf_append(&r->echo, msg->args.data, msg->args.len);
    gbx_buf_puts(&r->echo, ",\"body\":");
    put_json_text(&r->echo, msg->bytes);
    gbx_buf_puts(&r->echo, "}");
}

void stand_in_cancel(stand_in *s, uint32_t id)
{
    gbx_buf_printf(s->out, "cancelled %u\n", id);
    for (size_t i = 0; i < s->count; i++)
        if (s->open[i].id == id)
            s->open[i].is_withdrawn = true;
}

void stand_in_wait(stand_in *s, uint32_t ms)
{
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    stand_in_open open[STAND_IN_MAX];
    size_t count = s->count;

    for (size_t i = 0; i < count && s->call->silent; i++)
        if (!s->open[i].is_withdrawn)
            count = 0;
    if (count == 0) {
        nanosleep(&time, NULL);
        return;
    }
    memcpy(open, s->open, sizeof open);
    s->count = 0;
    for (size_t i = 0; i < count; i++)
        answer(s, &open[i]);
}

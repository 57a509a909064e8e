/* SPDX-License-Identifier: MIT */
/*
 * session_says - log messages that a server sends by the protocol: they go where its
 * standard error goes.
 */
#include "mcp/upstream/session_parts.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "mcp/upstream/internal.h"

#include <string.h>

/* As for standard error: so many lines are logged, then a second of silence. */
#define SAYS_BURST 100

/* Limit of one message, since a longer one is not searched for secrets and so not
 * logged; and limit of the part that is logged. */
#define MESSAGE_MAX GBX_KIB(64)
#define TOLD_MAX    2000

/* Of its level, and of the name of the logging component. */
#define WORD_MAX 100

static bool may_say(gbx_session *s)
{
    int64_t now = gbx_clock_now_ns();

    if (now - s->says_burst_ns > 1000 * GBX_NS_PER_MS) {
        s->says_burst_ns = now;
        s->says_left = SAYS_BURST;
    }
    if (s->says_left == 0)
        return false;
    s->says_left--;
    return true;
}

static void put_word(gbx_view word, gbx_buf *to)
{
    if (gbx_view_kind(word) != '"' || word.len > WORD_MAX || word.len <= 2)
        return;
    (void)gbx_view_append_text(word, to);
    (void)gbx_buf_puts(to, ": ");
}

/* False: it is too long, or memory is out. */
static bool put_message(gbx_view params, gbx_buf *to)
{
    enum { LEVEL, LOGGER, DATA, MEMBERS };
    static const char *const names[] = {"level", "logger", "data"};
    gbx_view m[MEMBERS];

    gbx_view_members(params, names, MEMBERS, m);
    put_word(m[LEVEL], to);
    put_word(m[LOGGER], to);
    if (gbx_view_kind(m[DATA]) == '"')
        (void)gbx_view_append_text(m[DATA], to);
    else if (m[DATA].at != NULL)
        (void)gbx_rpc_append_json(to, m[DATA].at, m[DATA].len);
    for (size_t i = 0; i < to->len; i++)
        to->data[i] = to->data[i] == 0 ? ' ' : to->data[i];
    return gbx_buf_append(to, "", 1);
}

/* ---- the rest of the session ---------------------------------------------- */

void gbx_session_on_says(gbx_session *s, gbx_view params)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {0};
    char clean[TOLD_MAX + 1];

    if (!may_say(s))
        return;
    gbx_buf_init_secret(&text, MESSAGE_MAX);
    gbx_buf_init(&line, (size_t)TOLD_MAX * 8);
    if (!put_message(params, &text)) {
        gbx_session_log(s, "a log message of %zu bytes was dropped", params.len);
        return;
    }
    gbx_redact_copy(s->options.yard->secrets, (const char *)text.data, clean,
                    sizeof clean);
    (void)gbx_utf8_append_escaped(&line, clean, strlen(clean), GBX_ESCAPE_LINE);
    if (gbx_buf_append(&line, "", 1) && clean[0] != 0)
        s->options.hooks.log(s->options.hooks.user, (const char *)line.data);
}

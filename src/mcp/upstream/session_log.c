/* SPDX-License-Identifier: MIT */
/*
 * session_log - what a server says besides answers: its log messages, and the lines of a
 * process that are not messages.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Limits of lines in our log about a server in a second, then comes silence: of ours, and
 * of its own log messages. */
#define LOG_BURST  20
#define SAYS_BURST 100

/* Limit of one log message, since a longer one is not searched for secrets and so not
 * logged; and limit of the part that is logged. */
#define SAID_MAX GBX_KIB(64)
#define TOLD_MAX 2000

/* Of its level, and of the name of the logging component. */
#define WORD_MAX 100

/* Of a line that is not a message. Secrets are removed before it is cut. */
#define STRAY_MAX GBX_KIB(4)

/* After messages that cannot be read: a server may have printed an answer for people and
 * sent it, too. */
#define MOMENT_MS 1000

static const gbx_policy *secrets_of(const gbx_session *s)
{
    return s->server->all->yard.secrets;
}

/* ---- logs -------------------------------------------------------------------- */

bool gbx_log_burst_take(gbx_log_burst *burst, unsigned most)
{
    int64_t now = gbx_clock_now_ns();

    if (now - burst->since_ns > 1000 * GBX_NS_PER_MS)
        *burst = (gbx_log_burst){.since_ns = now, .left = most};
    if (burst->left == 0)
        return false;
    burst->left--;
    return true;
}

void gbx_server_log(const gbx_server *server, const char *line)
{
    if (server->all->hooks.log != NULL)
        server->all->hooks.log(server->all->hooks.user, server->config->name, line);
}

void gbx_session_log(gbx_session *s, const char *format, ...)
{
    char line[256];
    va_list args;

    if (!gbx_log_burst_take(&s->logged, LOG_BURST))
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    gbx_server_log(s->server, line);
}

void gbx_blank_nuls(gbx_buf *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] == '\0')
            text->data[i] = ' ';
}

static void put_word(gbx_view word, gbx_buf *to)
{
    if (gbx_view_kind(word) != '"' || word.len > WORD_MAX || word.len <= 2)
        return;
    (void)gbx_view_append_text(word, to);
    (void)gbx_buf_puts(to, ": ");
}

/* False: it is too long. */
static bool put_said(gbx_view params, gbx_buf *to)
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
    gbx_blank_nuls(to);
    return gbx_buf_append(to, "", 1);
}

void gbx_session_on_says(gbx_session *s, gbx_view params)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {0};
    char clean[TOLD_MAX + 1];

    if (!gbx_log_burst_take(&s->said, SAYS_BURST))
        return;
    gbx_buf_init_secret(&text, SAID_MAX);
    gbx_buf_init(&line, (size_t)TOLD_MAX * 8);
    if (!put_said(params, &text)) {
        gbx_session_log(s, "a log message of %zu bytes was dropped", params.len);
        return;
    }
    gbx_redact_copy(secrets_of(s), (const char *)text.data, clean, sizeof clean);
    (void)gbx_utf8_append_escaped(&line, clean, strlen(clean), GBX_ESCAPE_LINE);
    if (gbx_buf_append(&line, "", 1) && clean[0] != 0)
        gbx_server_log(s->server, (const char *)line.data);
}

/* ---- lines of a process that are not messages -------------------------------- */

void gbx_session_note_stray(gbx_session *s, const char *text, size_t len)
{
    GBX_CLEANUP(gbx_free) char *line = NULL;
    char clean[sizeof s->stray / 8];
    size_t letters = 0;

    for (size_t i = 0; i < len && letters < 2; i++)
        letters = isalpha((unsigned char)text[i]) != 0 ? letters + 1 : 0;
    if (letters != 2)
        return;
    line = gbx_need(strndup(text, len < STRAY_MAX ? len : STRAY_MAX));
    gbx_redact_copy(secrets_of(s), line, clean, sizeof clean);
    gbx_utf8_copy_line(s->stray, sizeof s->stray, clean, strlen(clean));
}

void gbx_session_add_stray(const gbx_session *s, char *why, size_t size)
{
    size_t len = strlen(why);

    if (s->stray[0] != 0)
        (void)snprintf(
            why + len, size - len,
            "; on its standard output it wrote a line that is not a message: %s",
            s->stray);
}

static size_t indent_of(const char *text, size_t len)
{
    size_t indent = 0;

    while (indent < len && (text[indent] == ' ' || text[indent] == '\t'))
        indent++;
    return indent;
}

/* A further line of an object that began on an earlier line. */
static void note_spread(gbx_spread *spread, const char *text, size_t len)
{
    size_t indent = indent_of(text, len);
    char line[40]; /* enough for an id */

    if (spread->indent == 0)
        spread->indent = indent;
    if (indent != spread->indent)
        return;
    (void)snprintf(line, sizeof line, "%.*s", (int)(len - indent), text + indent);
    if (strncmp(line, "\"id\":", 5) == 0)
        spread->id = strtoll(line + 5 + strspn(line + 5, " \t\""), NULL, 10);
    else if (strncmp(line, "\"result\":", 9) == 0 ||
             strncmp(line, "\"error\":", 8) == 0)
        spread->is_answer = true;
}

const char gbx_is_spread[] =
    "it writes a message on several lines: MCP has one message a line, and nothing else, "
    "on standard output: have it write JSON without line breaks";

static const char has_headers[] =
    "it writes its messages behind Content-Length headers: MCP has one message a line, "
    "and nothing else, on standard output";

void gbx_session_note_framing(gbx_session *s, const char *text, size_t len)
{
    static const char header[] = "Content-Length:";
    gbx_spread *spread = &s->spread;
    bool has_header =
        len > sizeof header && strncasecmp(text, header, sizeof header - 1) == 0;
    bool is_brace =
        len > 0 && text[0] == '{' && indent_of(text + 1, len - 1) == len - 1;
    bool is_inside = spread->is_begun && len > 0 && indent_of(text, 1) == 1;

    if (is_brace)
        *spread = (gbx_spread){.awaited = spread->awaited};
    else if (is_inside)
        note_spread(spread, text, len);
    spread->is_begun = is_brace || is_inside;
    is_inside = is_inside && spread->is_answer;
    if (s->phase < GBX_PHASE_READY && s->misframed == NULL &&
        (has_header || is_inside)) {
        s->misframed = has_header ? has_headers : gbx_is_spread;
        gbx_mcp_timer_set(&s->start_timer, MOMENT_MS);
    } else if (s->phase >= GBX_PHASE_READY && is_inside &&
               gbx_session_awaits(s, spread->id)) {
        spread->awaited = spread->id;
        gbx_mcp_timer_set(&s->start_timer, MOMENT_MS);
    }
}

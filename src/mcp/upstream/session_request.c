/* SPDX-License-Identifier: MIT */
/*
 * session_request - what is asked of a server and not answered yet; what it says besides
 * answers, which is logged; and the end, when all requests fail.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <ctype.h>
#include <inttypes.h>
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

/* ---- requests of ours -------------------------------------------------------- */

bool gbx_session_send(gbx_session *s, const gbx_buf *text, gbx_link_message about)
{
    about.text = (const char *)text->data;
    about.len = text->len;
    if (text->failed || s->link == NULL || !s->link->ops->send(s->link, &about))
        return false;
    s->sent_bytes += about.len;
    return true;
}

void gbx_session_put_meta(const gbx_session *s, int64_t progress_token,
                          const char *more, gbx_buf *to)
{
    gbx_json_put_open(to, "_meta", '{');
    if (s->is_modern) {
        gbx_json_put_text(to, "io.modelcontextprotocol/protocolVersion",
                          s->facts.version);
        gbx_json_put_json(to, "io.modelcontextprotocol/clientInfo", GBX_CLIENT_INFO,
                          sizeof GBX_CLIENT_INFO - 1);
        gbx_json_put_json(to, "io.modelcontextprotocol/clientCapabilities", "{}", 2);
    }
    if (progress_token != 0)
        gbx_json_put_integer(to, "progressToken", progress_token);
    if (more != NULL && *more != 0)
        gbx_json_put_json(to, NULL, more, strlen(more));
    (void)gbx_buf_puts(to, "}");
}

/* id 0: a notification. */
static bool send_method(gbx_session *s, int64_t id, const char *method,
                        const char *params)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};

    gbx_buf_init(&text, GBX_KIB(64));
    if (id != 0)
        gbx_rpc_begin_request(&text, id, method);
    else
        gbx_rpc_begin_notification(&text, method);
    (void)gbx_buf_puts(&text, params);
    if (s->is_modern)
        gbx_session_put_meta(s, 0, NULL, &text);
    gbx_rpc_end(&text);
    return gbx_session_send(s, &text, (gbx_link_message){.id = id, .method = method});
}

bool gbx_session_ask(gbx_session *s, gbx_ask ask, const char *method,
                     const char *params)
{
    s->asked[ask] = ++s->last_id;
    if (send_method(s, s->asked[ask], method, params))
        return true;
    s->asked[ask] = 0;
    return false;
}

void gbx_session_notify(gbx_session *s, const char *method, const char *params)
{
    (void)send_method(s, 0, method, params);
}

void gbx_session_cancel(gbx_session *s, int64_t id, const char *reason)
{
    char params[128];

    if (s->link == NULL)
        return;
    (void)snprintf(params, sizeof params, "\"requestId\":%" PRId64 ",\"reason\":\"%s\"",
                   id, reason);
    gbx_session_notify(s, "notifications/cancelled", params);
    if (s->link->ops->forget != NULL)
        s->link->ops->forget(s->link, id);
}

gbx_ask gbx_session_find(const gbx_session *s, int64_t id, gbx_upstream_call **ret_call)
{
    gbx_upstream_call *call;

    *ret_call = NULL;
    for (int ask = 0; id != 0 && ask < GBX_ASK_CALL; ask++)
        if (s->asked[ask] == id)
            return (gbx_ask)ask;
    TAILQ_FOREACH(call, &s->calls, entry)
    if (call->id == id) {
        *ret_call = call;
        return GBX_ASK_CALL;
    }
    return GBX_ASK_NOTHING;
}

gbx_ask gbx_session_take(gbx_session *s, int64_t id, gbx_upstream_call **ret_call)
{
    gbx_ask ask = gbx_session_find(s, id, ret_call);

    if (ask < GBX_ASK_CALL)
        s->asked[ask] = 0;
    return ask;
}

bool gbx_session_awaits(const gbx_session *s, int64_t id)
{
    gbx_upstream_call *call;

    return gbx_session_find(s, id, &call) != GBX_ASK_NOTHING;
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
        (void)gbx_json_append_line(to, m[DATA].at, m[DATA].len);
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

/* ---- the end ----------------------------------------------------------------- */

static void stop_timers(gbx_session *s)
{
    gbx_mcp_timer_clear(&s->start_timer);
    gbx_mcp_timer_clear(&s->list_timer);
    gbx_mcp_timer_clear(&s->page_timer);
    gbx_mcp_timer_clear(&s->listen_timer);
    gbx_mcp_timer_clear(&s->check_timer);
}

void gbx_session_fail_call(const gbx_session *s, gbx_upstream_call *call,
                           gbx_upstream_fault fault, const char *why,
                           bool was_not_begun)
{
    s->hooks->answer(call, (gbx_upstream_reply){.fault = fault,
                                                .message = why,
                                                .was_not_begun = was_not_begun});
}

void gbx_session_on_call_end(gbx_session *s)
{
    if (s->phase == GBX_PHASE_ENDING && s->call_count == 0)
        gbx_mcp_timer_fire(&s->start_timer);
}

void gbx_session_end(gbx_session *s, const char *why)
{
    if (s->phase == GBX_PHASE_ENDING || s->phase == GBX_PHASE_LOST)
        return;
    if (s->phase != GBX_PHASE_READY || s->call_count == 0) {
        gbx_session_lose(s, why);
        return;
    }
    s->phase = GBX_PHASE_ENDING;
    stop_timers(s);
    s->hooks->ending(s->server, s, why);
}

void gbx_session_lose(gbx_session *s, const char *why)
{
    bool was_ending = s->phase == GBX_PHASE_ENDING;
    gbx_upstream_call *call;

    if (s->phase == GBX_PHASE_LOST)
        return;
    s->phase = GBX_PHASE_LOST;
    stop_timers(s);
    if (s->link != NULL)
        s->link->ops->leave(s->link, !s->is_deaf);
    s->link = NULL;
    memset(s->asked, 0, sizeof s->asked);
    while ((call = TAILQ_FIRST(&s->calls)) != NULL)
        gbx_session_fail_call(s, call, GBX_UPSTREAM_EXIT, why, false);
    if (!was_ending)
        s->hooks->ending(s->server, s, why);
    s->hooks->lost(s->server, s, why);
}

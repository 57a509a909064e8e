/* SPDX-License-Identifier: MIT */
/*
 * session_request - what is asked of a server and not answered yet, above all calls of
 * its tools; what it logs; and the end, when all of them fail.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for the arguments, plus the message around them. */
#define MESSAGE_MAX (GBX_LINK_MESSAGE_MAX + GBX_KIB(64))

#define WORDS_MAX GBX_KIB(64) /* of an error */
#define DATA_MAX  GBX_KIB(1)  /* of the data of an error */

#define MISSING_CAPABILITY (-32021)
#define URL_NEEDED         (-32042)

/* Limit of our log lines about a server in a second: a noisy server must not
 * flood our log. */
#define LOG_BURST 20

/* ---- requests and their answers ---------------------------------------------- */

static gbx_session_request *expect(gbx_session *s, gbx_ask ask)
{
    gbx_session_request *p = gbx_need(calloc(1, sizeof *p));

    p->id = ++s->last_id;
    p->ask = ask;
    p->next = s->pending;
    s->pending = p;
    s->calls += ask == GBX_ASK_CALL;
    return p;
}

gbx_session_request *gbx_session_take(gbx_session *s, int64_t id)
{
    for (gbx_session_request **at = &s->pending; *at != NULL; at = &(*at)->next) {
        gbx_session_request *p = *at;

        if (p->id != id)
            continue;
        *at = p->next;
        s->calls -= p->ask == GBX_ASK_CALL;
        if (s->phase == GBX_PHASE_ENDING && s->calls == 0)
            event_active(s->start_timer, EV_TIMEOUT, 0);
        return p;
    }
    return NULL;
}

bool gbx_session_awaits(const gbx_session *s, int64_t id)
{
    const gbx_session_request *p = s->pending;

    while (p != NULL && p->id != id)
        p = p->next;
    return p != NULL;
}

bool gbx_session_send(gbx_session *s, const gbx_buf *text,
                      const gbx_link_message *about)
{
    gbx_link_message message = *about;

    message.text = (const char *)text->data;
    message.len = text->len;
    if (text->failed || s->link == NULL || !s->link->ops->send(s->link, &message))
        return false;
    s->sent_bytes += message.len;
    if (about->id != 0 && s->pending->id == about->id) /* the request that
                                                        * was sent last */
        s->pending->end = s->sent_bytes;
    return true;
}

/* Append the members of _meta that this era has on each request. */
static void put_meta(const gbx_session *s, int64_t progress_token, const char *more,
                     gbx_buf *to)
{
    gbx_rpc_put_open(to, "_meta", '{');
    if (s->facts.is_modern) {
        gbx_rpc_put_text(to, "io.modelcontextprotocol/protocolVersion",
                         s->facts.version);
        gbx_rpc_put_json(to, "io.modelcontextprotocol/clientInfo", GBX_CLIENT_INFO,
                         sizeof GBX_CLIENT_INFO - 1);
        gbx_rpc_put_json(to, "io.modelcontextprotocol/clientCapabilities", "{}", 2);
    }
    if (progress_token != 0)
        gbx_rpc_put_integer(to, "progressToken", progress_token);
    if (more != NULL && *more != 0)
        gbx_rpc_put_json(to, NULL, more, strlen(more));
    (void)gbx_buf_puts(to, "}");
}

/* Send the begun message with these params. */
static bool send_with(gbx_session *s, gbx_buf *text, const char *params,
                      const gbx_link_message *about)
{
    (void)gbx_buf_puts(text, params);
    if (s->facts.is_modern)
        put_meta(s, 0, NULL, text);
    gbx_rpc_end(text);
    return gbx_session_send(s, text, about);
}

int64_t gbx_session_ask(gbx_session *s, gbx_ask ask, const char *method,
                        const char *params)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    gbx_link_message about = {.method = method, .id = expect(s, ask)->id};

    gbx_buf_init(&text, GBX_KIB(64));
    gbx_rpc_begin_request(&text, about.id, method);
    if (send_with(s, &text, params, &about))
        return about.id;
    free(gbx_session_take(s, about.id));
    return 0;
}

void gbx_session_notify(gbx_session *s, const char *method, const char *params)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    gbx_link_message about = {.method = method};

    gbx_buf_init(&text, GBX_KIB(4));
    gbx_rpc_begin_notification(&text, method);
    (void)send_with(s, &text, params, &about);
}

/* ---- calls ------------------------------------------------------------------- */

void gbx_session_answer_call(gbx_session_request *p, const gbx_upstream_reply *reply)
{
    p->answer(p->user, reply);
    free(p);
}

void gbx_session_fail_call(gbx_session_request *p, gbx_upstream_fault fault,
                           const char *why, bool was_not_begun)
{
    gbx_upstream_reply reply = {.fault = fault,
                                .message = why,
                                .was_not_begun = was_not_begun};

    gbx_session_answer_call(p, &reply);
}

static const char needs_input[] =
    "the tool asks for input from a person, which a nested call cannot give";

static const char is_task[] =
    "it answers with a task, though none was asked for: whether and how that ends is not known";

/* Append the error's data without values of secrets: redacted first, then cut. Nothing
 * if memory is out. */
static void put_data(const gbx_session *s, gbx_view data, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    GBX_CLEANUP(gbx_free) char *clean = NULL;

    gbx_buf_init_secret(&text, data.len + 1);
    if (gbx_view_kind(data) == '"')
        (void)gbx_view_append_text(data, &text);
    else if (gbx_view_kind(data) != 0 && gbx_view_kind(data) != 'n')
        (void)gbx_rpc_append_json(&text, data.at, data.len);
    if (gbx_buf_append(&text, "", 1))
        clean = gbx_redact_text(s->options.yard->secrets, (const char *)text.data);
    if (clean != NULL)
        (void)gbx_utf8_append_ends(to, clean, strlen(clean), DATA_MAX);
}

/* What a text must not hold. */
static void blank_nuls(gbx_buf *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] == '\0')
            text->data[i] = ' ';
}

/* Its message, code and data: some servers say more by the latter two than by words. */
static void put_refusal(const gbx_session *s, gbx_view error, int code, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf words = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf data = {0};
    bool has_words;

    gbx_buf_init_secret(&words, WORDS_MAX);
    gbx_buf_init_secret(&data, DATA_MAX + GBX_KIB(1));
    (void)gbx_view_append_text(gbx_rpc_error_message(error), &words);
    blank_nuls(&words);
    put_data(s, gbx_view_member(error, "data"), &data);
    has_words = !words.failed && words.len > 0;
    if (has_words)
        (void)gbx_buf_append(to, words.data, words.len);
    else if (data.len > 0)
        (void)gbx_buf_append(to, data.data, data.len);
    else
        (void)gbx_buf_puts(to, "no reason was given");
    (void)gbx_buf_printf(to, " (error %d)", code);
    if (has_words && data.len > 0)
        (void)gbx_buf_printf(to, ": %.*s", (int)data.len, (const char *)data.data);
    (void)gbx_buf_append(to, "", 1);
}

static void answer_error(const gbx_session *s, gbx_session_request *p, gbx_view error)
{
    gbx_upstream_reply reply = {.fault = GBX_UPSTREAM_REFUSED,
                                .code = gbx_rpc_error_code(error)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};

    if (reply.code == MISSING_CAPABILITY || reply.code == URL_NEEDED)
        reply.fault = GBX_UPSTREAM_INPUT;
    gbx_buf_init_secret(&text, WORDS_MAX + DATA_MAX + GBX_KIB(2));
    put_refusal(s, error, reply.code, &text);
    reply.message = text.failed ? "no reason was given" : (const char *)text.data;
    gbx_session_answer_call(p, &reply);
}

static void answer_result(gbx_session_request *p, gbx_view result)
{
    enum { TYPE, CONTENT, STRUCTURED, TASK, MEMBERS };
    static const char *const names[] = {"resultType", "content", "structuredContent",
                                        "task"};
    gbx_upstream_reply reply = {.message = "", .result = result};
    const char *why = NULL;
    gbx_view m[MEMBERS];
    char content;

    gbx_view_members(result, names, MEMBERS, m);
    content = gbx_view_kind(m[CONTENT]);
    if (gbx_view_kind(result) != '{')
        why = "the result is not an object";
    else if (gbx_view_is_text(m[TYPE], "input_required"))
        why = needs_input;
    else if (gbx_view_is_text(m[TYPE], "task") ||
             (gbx_view_kind(m[TASK]) == '{' && gbx_view_count(m[CONTENT]) == 0 &&
              m[STRUCTURED].at == NULL))
        why = is_task;
    else if (m[TYPE].at != NULL && !gbx_view_is_text(m[TYPE], "complete"))
        why = "the result is of an unknown type";
    else if (content != 0 && content != 'n' && content != '[')
        why = "the content of the result is not a list";
    if (why != NULL)
        gbx_session_fail_call(p,
                              why == needs_input ? GBX_UPSTREAM_INPUT
                                                 : GBX_UPSTREAM_PROTOCOL,
                              why, false);
    else
        gbx_session_answer_call(p, &reply);
}

void gbx_session_on_call(const gbx_session *s, gbx_session_request *p,
                         const gbx_rpc_message *message)
{
    if (message->kind == GBX_RPC_ERROR)
        answer_error(s, p, message->payload);
    else
        answer_result(p, message->payload);
}

/* Its message, or "3/10". False: it has neither. */
static bool put_progress(gbx_view params, gbx_buf *to)
{
    gbx_view message = gbx_view_member(params, "message");
    gbx_view progress = gbx_view_member(params, "progress");
    gbx_view total = gbx_view_member(params, "total");

    if (gbx_view_kind(message) == '"' && message.len > 2)
        return gbx_view_append_text(message, to);
    if (gbx_view_kind(progress) != '0')
        return false;
    (void)gbx_buf_append(to, progress.at, progress.len);
    if (gbx_view_kind(total) == '0') {
        (void)gbx_buf_puts(to, "/");
        (void)gbx_buf_append(to, total.at, total.len);
    }
    return !to->failed;
}

void gbx_session_on_progress(gbx_session *s, gbx_view params)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    int64_t id;

    if (!gbx_id_read(gbx_view_member(params, "progressToken"), &id))
        return;
    for (const gbx_session_request *p = s->pending; p != NULL; p = p->next) {
        if (p->id != id || p->progress == NULL)
            continue;
        gbx_buf_init_secret(&text, GBX_KIB(64));
        if (put_progress(params, &text))
            p->progress(p->user, (const char *)text.data, text.len);
        return;
    }
}

int64_t gbx_session_start_call(gbx_session *session, const gbx_session_call *call)
{
    gbx_session_request *p = expect(session, GBX_ASK_CALL);
    const gbx_tool *tool = gbx_tools_find(&session->tools, call->tool);
    gbx_link_message about = {.method = "tools/call",
                              .name = call->tool,
                              .is_again = call->is_again,
                              .is_repeatable = tool != NULL && tool->is_repeatable};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    int64_t token = 0;

    gbx_buf_init_secret(&text, MESSAGE_MAX);
    p->user = call->user;
    p->progress = call->progress;
    p->answer = call->answer;
    about.id = p->id;
    if (tool != NULL && session->link != NULL && session->link->ops->has_headers &&
        gbx_view_open(call->args, call->args_len, &about.args))
        about.schema = gbx_tools_schema(&session->tools, tool);
    if (call->progress != NULL)
        token = p->id;
    gbx_rpc_begin_request(&text, p->id, about.method);
    gbx_rpc_put_text(&text, "name", call->tool);
    gbx_rpc_put_json(&text, "arguments", call->args, call->args_len);
    if (session->facts.is_modern || token != 0 || call->meta != NULL)
        put_meta(session, token, call->meta, &text);
    gbx_rpc_end(&text);
    if (gbx_session_send(session, &text, &about))
        return about.id;
    free(gbx_session_take(session, about.id));
    return 0;
}

void gbx_session_drop_call(gbx_session *session, int64_t id, const char *reason)
{
    gbx_session_request *p = gbx_session_take(session, id);
    char params[128];

    if (p == NULL)
        return;
    free(p);
    if (session->link == NULL)
        return;
    (void)snprintf(params, sizeof params, "\"requestId\":%" PRId64 ",\"reason\":\"%s\"",
                   id, reason);
    gbx_session_notify(session, "notifications/cancelled", params);
    if (session->link->ops->forget != NULL)
        session->link->ops->forget(session->link, id);
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

void gbx_session_log(gbx_session *s, const char *format, ...)
{
    char line[256];
    va_list args;

    if (!gbx_log_burst_take(&s->logged, LOG_BURST))
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    s->options.hooks.log(s->options.hooks.user, line);
}

/* As for standard error: so many lines are logged, then a second of silence. */
#define SAYS_BURST 100

/* Limit of one message, since a longer one is not searched for secrets and so not
 * logged; and limit of the part that is logged. */
#define SAID_MAX GBX_KIB(64)
#define TOLD_MAX 2000

/* Of its level, and of the name of the logging component. */
#define WORD_MAX 100

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
    blank_nuls(to);
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

/* ---- the end ----------------------------------------------------------------- */

void gbx_session_add_stray(const gbx_session *s, char *why, size_t size)
{
    size_t len = strlen(why);

    if (s->stray[0] != 0)
        (void)snprintf(
            why + len, size - len,
            "; on its standard output it wrote a line that is not a message: %s",
            s->stray);
}

static void stop_timers(gbx_session *s)
{
    (void)event_del(s->start_timer);
    (void)event_del(s->list_timer);
    (void)event_del(s->page_timer);
    (void)event_del(s->listen_timer);
    (void)event_del(s->check_timer);
}

void gbx_session_end(gbx_session *s, const char *why)
{
    if (s->phase == GBX_PHASE_ENDING || s->phase == GBX_PHASE_LOST)
        return;
    if (s->phase != GBX_PHASE_READY || s->calls == 0) {
        gbx_session_lose(s, why);
        return;
    }
    s->phase = GBX_PHASE_ENDING;
    stop_timers(s);
    s->options.hooks.ending(s->options.hooks.user, s, why);
}

void gbx_session_lose(gbx_session *s, const char *why)
{
    if (s->phase == GBX_PHASE_LOST)
        return;
    s->phase = GBX_PHASE_LOST;
    stop_timers(s);
    if (s->link != NULL)
        s->link->ops->leave(s->link, !s->is_deaf);
    s->link = NULL;
    while (s->pending != NULL) {
        gbx_session_request *p = gbx_session_take(s, s->pending->id);

        if (p->ask == GBX_ASK_CALL)
            gbx_session_fail_call(p, GBX_UPSTREAM_EXIT, why, false);
        else
            free(p);
    }
    s->options.hooks.lost(s->options.hooks.user, s, why);
}

/* SPDX-License-Identifier: MIT */
/*
 * session - classifies the messages of a server and passes them on; and its timeouts.
 * Messages that are not awaited (a wrong id, a second answer, noise) are logged and
 * dropped.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/timeouts.h"
#include "base/utf8.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The server wants other headers than its list of tools says. */
#define HEADER_MISMATCH (-32020)

/* A longer message with invalid UTF-8 is read only if it is an awaited answer. */
#define LOSSY_MAX GBX_KIB(64)

/* Limits of lines in our log about a server, at once and then in a second: of ours, and of
 * its own log messages. */
#define LOG_LINES  20
#define SAID_LINES 100

/* Bytes taken of a line that is not a message. Secrets are removed before it is cut. */
#define STRAY_MAX GBX_KIB(4)

/* Limit of one log message, since a longer one is not searched for secrets and so not
 * logged; and limit of the part that is logged. */
#define SAID_MAX GBX_KIB(64)
#define TOLD_MAX 2000

/* Limit of its level, and of the name of the component that logs it. */
#define WORD_MAX 100

/* ---- lines of a process that are not messages -------------------------------- */

static void note_stray(gbx_session *s, const char *text, size_t len)
{
    GBX_CLEANUP(gbx_free) char *line = NULL;
    char clean[sizeof s->stray / 8];
    size_t letters = 0;

    for (size_t i = 0; i < len && letters < 2; i++)
        letters = isalpha((unsigned char)text[i]) != 0 ? letters + 1 : 0;
    if (letters != 2)
        return;
    line = gbx_need(strndup(text, len < STRAY_MAX ? len : STRAY_MAX));
    gbx_redact_copy(s->server->all->yard.secrets, line, clean, sizeof clean);
    gbx_utf8_copy_line(s->stray, sizeof s->stray, clean, strlen(clean));
}

static void add_stray(const gbx_session *s, char *why, size_t size)
{
    size_t len = strlen(why);

    if (s->stray[0] != 0)
        (void)snprintf(
            why + len, size - len,
            "; on its standard output it wrote a line that is not a message: %s",
            s->stray);
}

/* ---- messages ---------------------------------------------------------------- */

static void on_check(gbx_session *s)
{
    gbx_mcp_timer_clear(&s->check_timer);
    gbx_upstreams_wake(s->server->all);
}

/* An answer: its id names our request; without an id, `about` does. */
static void on_response(gbx_session *s, const gbx_rpc_message *message, int64_t about)
{
    int64_t id = about;
    gbx_upstream_call *call;

    /* An error may have an id of the server's own, since it did not read ours. */
    if (message->id.at != NULL && (about == 0 || message->kind != GBX_RPC_ERROR) &&
        !gbx_id_read(message->id, &id))
        id = 0;
    /* An error without an id belongs to the first request, if nothing else was asked
     * yet: a strict server reads no further than the method. */
    if (message->id.at == NULL && about == 0 && message->kind == GBX_RPC_ERROR &&
        s->phase == GBX_PHASE_ASKING)
        id = s->asked[GBX_ASK_INITIALIZE] != 0 ? s->asked[GBX_ASK_INITIALIZE]
                                               : s->asked[GBX_ASK_DISCOVER];
    switch (gbx_session_take(s, id, &call)) {
    case GBX_ASK_DISCOVER: gbx_session_on_discover(s, message); break;
    case GBX_ASK_INITIALIZE: gbx_session_on_initialize(s, message); break;
    case GBX_ASK_TOOLS: gbx_session_on_tools(s, message); break;
    case GBX_ASK_LISTEN: gbx_session_on_listen_end(s, message); break;
    case GBX_ASK_CHECK: on_check(s); break;
    case GBX_ASK_CALL:
        if (message->kind == GBX_RPC_ERROR &&
            gbx_rpc_error_code(message->payload) == HEADER_MISMATCH)
            gbx_session_on_change(s);
        if (!gbx_call_on_answer(call, message))
            gbx_call_go_on(call, message->payload);
        break;
    case GBX_ASK_NOTHING:
        /* Nobody waits for the answers to some requests. */
        if (id <= 0 || id > s->last_id)
            gbx_session_log(s, "an answer without a request was dropped");
        break;
    }
}

/* A server may ping, and ask for what we have declared. A process gets an
 * error reply even in the era without requests from servers, since something in it may
 * wait for one; an address could not receive a reply. */
static void on_request(gbx_session *s, const gbx_rpc_message *message)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(4)};

    if (s->is_modern && !s->is_process) {
        gbx_session_log(s, "a request was dropped: servers of this era have none");
        return;
    }
    if (!s->is_modern && gbx_session_on_question(s, message))
        return;
    if (strcmp(message->method, "ping") == 0) {
        gbx_rpc_begin_result(&text, message->id);
        gbx_rpc_end(&text);
    } else {
        gbx_rpc_append_error(&text, message->id, GBX_RPC_METHOD_NOT_FOUND,
                             "this client does not answer such requests", NULL);
    }
    (void)gbx_session_send(s, &text, (gbx_link_message){0});
}

/* False: it is too long. */
static bool put_said(gbx_view params, gbx_buf *to)
{
    enum { LEVEL, LOGGER, DATA, MEMBERS };
    static const char *const names[] = {"level", "logger", "data"};
    gbx_view m[MEMBERS];

    gbx_view_members(params, names, MEMBERS, m);
    for (size_t i = LEVEL; i < DATA; i++) {
        if (gbx_view_kind(m[i]) != '"' || m[i].len > WORD_MAX || m[i].len <= 2)
            continue;
        (void)gbx_view_append_text(m[i], to);
        (void)gbx_buf_puts(to, ": ");
    }
    if (gbx_view_kind(m[DATA]) == '"')
        (void)gbx_view_append_text(m[DATA], to);
    else if (m[DATA].at != NULL)
        (void)gbx_json_append_line(to, m[DATA].at, m[DATA].len);
    gbx_blank_nuls(to);
    return gbx_buf_append(to, "", 1);
}

static void on_says(gbx_session *s, gbx_view params)
{
    const gbx_upstream_call *call = gbx_session_latest_call(s);
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = SAID_MAX, .is_secret = true};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {.ceiling = (size_t)TOLD_MAX * 8};
    gbx_view name = gbx_view_member(params, "level");
    gbx_log_level level = GBX_LOG_ERROR;
    char clean[TOLD_MAX + 1];

    if (!gbx_bucket_take(&s->said, gbx_clock_now_ns()))
        return;
    if (!put_said(params, &text)) {
        gbx_session_log(s, "a log message of %zu bytes was dropped", params.len);
        return;
    }
    gbx_redact_copy(s->server->all->yard.secrets, (const char *)text.data, clean,
                    sizeof clean);
    (void)gbx_utf8_append_escaped(&line, clean, strlen(clean), GBX_ESCAPE_LINE);
    if (!gbx_buf_append(&line, "", 1) || clean[0] == 0)
        return;
    gbx_server_log(s->server, (const char *)line.data);
    if (gbx_view_is_text(name, "debug"))
        level = GBX_LOG_DEBUG;
    else if (gbx_view_is_text(name, "info") || gbx_view_is_text(name, "notice"))
        level = GBX_LOG_INFO;
    else if (gbx_view_is_text(name, "warning"))
        level = GBX_LOG_WARN;
    if (call != NULL && call->says != NULL)
        call->says(call->user, level, (const char *)line.data);
}

static void tell_news(const gbx_session *s, gbx_upstream_news news, gbx_view params)
{
    const gbx_upstream_hooks *hooks = &s->server->all->hooks;
    const gbx_uris *wanted = &s->server->wanted;
    gbx_view uri = gbx_view_member(params, "uri");
    bool is_wanted = news != GBX_NEWS_UPDATED;

    for (size_t i = 0; !is_wanted && i < wanted->count; i++)
        is_wanted = gbx_view_is_text(uri, wanted->items[i]);
    if (hooks->news != NULL && s->phase == GBX_PHASE_READY && is_wanted)
        hooks->news(hooks->user, s->server->config, news, uri);
}

static void on_notification(gbx_session *s, const gbx_rpc_message *message)
{
    gbx_upstream_call *call;
    int64_t id;

    if (strcmp(message->method, "notifications/progress") == 0) {
        if (gbx_id_read(gbx_view_member(message->payload, "progressToken"), &id) &&
            gbx_session_find(s, id, &call) == GBX_ASK_CALL)
            gbx_call_on_progress(call, message->payload);
    } else if (strcmp(message->method, "notifications/tools/list_changed") == 0)
        gbx_session_on_change(s);
    else if (strcmp(message->method, "notifications/resources/list_changed") == 0)
        tell_news(s, GBX_NEWS_RESOURCES, message->payload);
    else if (strcmp(message->method, "notifications/prompts/list_changed") == 0)
        tell_news(s, GBX_NEWS_PROMPTS, message->payload);
    else if (strcmp(message->method, "notifications/resources/updated") == 0)
        tell_news(s, GBX_NEWS_UPDATED, message->payload);
    else if (strcmp(message->method, "notifications/subscriptions/acknowledged") == 0)
        gbx_session_on_acknowledged(s, message->payload);
    else if (strcmp(message->method, "notifications/message") == 0)
        on_says(s, message->payload);
    else if (strcmp(message->method, "notifications/elicitation/complete") == 0)
        gbx_session_on_page_done(s, message->payload);
    else if (strcmp(message->method, "notifications/cancelled") == 0)
        gbx_session_on_cancelled(s, message->payload);
}

static void take_message(gbx_session *s, const gbx_rpc_message *message, int64_t about)
{
    gbx_rpc_message one;
    gbx_rpc_fault fault;
    size_t cursor = 0;
    gbx_view none;
    gbx_view view;

    if (message->kind == GBX_RPC_REQUEST)
        on_request(s, message);
    else if (message->kind == GBX_RPC_NOTIFICATION)
        on_notification(s, message);
    else if (message->kind != GBX_RPC_BATCH)
        on_response(s, message, about);
    else /* Batches existed only in revision 2025-03-26. */
        while (s->phase != GBX_PHASE_LOST &&
               gbx_view_next(message->payload, &cursor, &none, &view))
            if (gbx_rpc_read_view(view, &one, &fault) && one.kind != GBX_RPC_BATCH)
                take_message(s, &one, 0);
}

/* The answer to this request of ours is invalid. */
static void fail_request(gbx_session *s, int64_t id, const char *why)
{
    gbx_upstream_call *call;

    switch (gbx_session_take(s, id, &call)) {
    case GBX_ASK_DISCOVER: gbx_session_on_no_discover(s); break;
    case GBX_ASK_INITIALIZE: gbx_session_on_no_initialize(s, why); break;
    case GBX_ASK_TOOLS: gbx_session_on_no_tools(s, why); break;
    case GBX_ASK_LISTEN: gbx_session_on_listen_end(s, NULL); break;
    case GBX_ASK_CHECK: on_check(s); break;
    case GBX_ASK_CALL: gbx_call_fail(call, GBX_UPSTREAM_PROTOCOL, why, false); break;
    case GBX_ASK_NOTHING: break;
    }
}

/* The id of an answer that cannot be read, or 0. If it is not JSON (some write NaN), the id is
 * found only if it comes first; the key behind it begins with r or e. */
static int64_t find_id(const char *text, size_t len)
{
    char start[101];
    char key[2];
    gbx_view view;
    int64_t id = 0;

    if (gbx_view_open(text, len, &view))
        return gbx_view_is_text(gbx_view_member(view, "jsonrpc"), "2.0") &&
                       gbx_view_member(view, "method").at == NULL &&
                       gbx_id_read(gbx_view_member(view, "id"), &id)
                   ? id
                   : 0;
    (void)snprintf(start, sizeof start, "%.*s",
                   (int)(len < sizeof start ? len : sizeof start - 1), text);
    return sscanf(start, " { \"jsonrpc\" : \"2.0\" , \"id\" : %" SCNd64 " , \"%1[re]",
                  &id, key) == 2
               ? id
               : 0;
}

/* Replace invalid UTF-8 by U+FFFD, in clean: so text in another encoding is still of
 * use. A long message that is not awaited is not worth it. */
static bool read_lossy(const gbx_session *s, const char *text, size_t len, int64_t id,
                       gbx_buf *clean, gbx_rpc_message *ret, gbx_rpc_fault *fault)
{
    if (fault->code != GBX_RPC_PARSE_ERROR ||
        (len > LOSSY_MAX && !gbx_session_awaits(s, id)) ||
        gbx_utf8_valid((const uint8_t *)text, len, NULL))
        return false;
    gbx_buf_init_secret(clean, len * 3);
    return gbx_utf8_append_lossy(clean, text, len) &&
           gbx_rpc_read((const char *)clean->data, clean->len, ret, fault);
}

/* ---- hooks of the link ------------------------------------------------------- */

static void on_message(void *user, const char *text, size_t len, int64_t about)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {0};
    gbx_session *s = user;
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    bool is_read = gbx_rpc_read(text, len, &message, &fault);
    int64_t id = is_read || about != 0 ? about : find_id(text, len);
    gbx_json_fault json;
    char why[200];
    char told[240];

    if (is_read || read_lossy(s, text, len, id, &clean, &message, &fault)) {
        take_message(s, &message, about);
        if (about != 0)
            fail_request(s, about, "its answer is not valid");
        return;
    }
    if (fault.code == GBX_RPC_PARSE_ERROR &&
        !gbx_json_check(text, len, GBX_JSON_DEPTH_MAX, &json))
        (void)snprintf(why, sizeof why, "it is not JSON: %s, at byte %zu", json.message,
                       json.offset);
    else
        (void)snprintf(why, sizeof why, "%s", fault.message);
    if (s->is_process)
        note_stray(s, text, len);
    gbx_session_log(s, "a line was dropped: %s%s%s", why, s->is_process ? ": " : "",
                    s->is_process ? s->stray : "");
    (void)snprintf(told, sizeof told, "its answer cannot be read: %s", why);
    fail_request(s, id, told);
}

/* It is not known which request the message answered, so all of them fail. */
static void on_too_long(void *user)
{
    static const char why[] = "the answer is longer than 32 MiB";
    gbx_session *s = user;
    gbx_upstream_call *call;

    gbx_session_log(s, "a message of more than %zu MiB was dropped",
                    GBX_LINK_MESSAGE_MAX >> 20);
    if (s->phase < GBX_PHASE_READY)
        gbx_session_lose(s, why);
    for (size_t n = s->call_count; n > 0 && (call = TAILQ_FIRST(&s->calls)) != NULL;
         n--)
        gbx_call_fail(call, GBX_UPSTREAM_PROTOCOL, why, false);
}

static bool on_awaits(void *user, int64_t id)
{
    return gbx_session_awaits(user, id);
}

static void on_unanswered(void *user, int64_t about, gbx_upstream_fault fault,
                          const char *why, gbx_unanswered how)
{
    gbx_session *s = user;
    gbx_upstream_reply reply = {.fault = fault,
                                .message = why,
                                .is_passing = how == GBX_UNANSWERED_PASSING ||
                                              how == GBX_UNANSWERED_LATER,
                                .was_not_begun = how >= GBX_UNANSWERED_SPOKEN,
                                .remedy = how == GBX_UNANSWERED_SIGN_IN
                                              ? GBX_REMEDY_SIGN_IN
                                          : how == GBX_UNANSWERED_ODD ||
                                                  how == GBX_UNANSWERED_LASTING ||
                                                  how == GBX_UNANSWERED_AWAY
                                              ? GBX_REMEDY_REPAIR
                                              : GBX_REMEDY_NONE};
    gbx_upstream_call *call;
    gbx_ask ask = gbx_session_take(s, about, &call);

    if (ask == GBX_ASK_CALL)
        gbx_call_answer(call, reply);
    if (how >= GBX_UNANSWERED_FORGOTTEN) {
        s->remedy = reply.remedy;
        gbx_session_end(s, why);
    } else if (ask == GBX_ASK_DISCOVER && how == GBX_UNANSWERED_SPOKEN) {
        gbx_session_on_no_discover(s);
    } else if (ask == GBX_ASK_LISTEN) {
        gbx_session_on_listen_end(s, NULL);
    } else if (ask == GBX_ASK_TOOLS && s->phase == GBX_PHASE_READY) {
        gbx_session_keep_tools(s);
    } else if (ask < GBX_ASK_CALL &&
               (ask != GBX_ASK_INITIALIZE ||
                !gbx_session_ask_other_version(s, why, strlen(why)))) {
        s->remedy = reply.remedy;
        gbx_session_end(s, why); /* the server may continue from the message it
                                  * refused */
    }
}

/* Before it is ready, wait for its end: its last output then gives the reason. */
static void on_deaf(void *user, uint64_t written, const char *why)
{
    gbx_session *s = user;
    gbx_upstream_call *call;

    if (s->phase != GBX_PHASE_READY)
        return;
    s->is_deaf = true;
    /* Calls that have not reached it completely; each answer may drop further calls, so
     * search anew. */
    do {
        TAILQ_FOREACH(call, &s->calls, entry)
        if (call->end > written)
            break;
        if (call != NULL)
            gbx_call_fail(call, GBX_UPSTREAM_EXIT, why, true);
    } while (call != NULL);
    gbx_session_end(s, why);
}

/* A change of the tools may be among the missed messages. */
static void on_missed(void *user)
{
    gbx_session *s = user;

    if ((s->facts.has & GBX_TELLS_TOOLS) != 0)
        gbx_session_on_change(s);
}

static void on_log(void *user, const char *line)
{
    const gbx_session *s = user;

    gbx_server_log(s->server, line);
}

static void on_lost(void *user, const char *why, bool is_lasting)
{
    gbx_session *s = user;
    char words[GBX_SESSION_WHY_MAX];

    s->link = NULL;
    s->remedy = is_lasting ? GBX_REMEDY_REPAIR : GBX_REMEDY_NONE;
    (void)snprintf(words, sizeof words, "%s", why);
    add_stray(s, words, sizeof words);
    gbx_session_lose(s, words);
}

/* ---- time -------------------------------------------------------------------- */

static void on_start_timer(void *user)
{
    gbx_session *s = user;
    char why[GBX_SESSION_WHY_MAX];

    if (s->phase == GBX_PHASE_ENDING) {
        gbx_session_lose(s, "its session has ended");
    } else {
        (void)snprintf(why, sizeof why,
                       "it was not ready after %" PRIu32 " ms (startMs)",
                       s->server->config->start_ms);
        if (s->link->ops->add_words != NULL)
            s->link->ops->add_words(s->link, why, sizeof why);
        add_stray(s, why, sizeof why);
        gbx_session_lose(s, why);
    }
}

static void on_list_timer(void *user)
{
    gbx_session_list(user);
}

static void on_page_timer(void *user)
{
    gbx_session_on_no_tools(user, "it does not answer when it is asked for its tools");
}

static void on_listen_timer(void *user)
{
    gbx_session_listen(user);
}

static void on_check_timer(void *user)
{
    gbx_session_lose(user, "it does not answer any more");
}

/* ---- start and end ----------------------------------------------------------- */

gbx_status gbx_session_new(gbx_server *server, const gbx_session_hooks *hooks,
                           gbx_session **ret, gbx_error *reterr)
{
    gbx_session *s = gbx_need(calloc(1, sizeof *s));
    gbx_mcp_loop *loop = server->all->loop;
    gbx_link_options link = {
        .loop = loop,
        .yard = &server->all->yard,
        .config = server->config,
        .hooks = {.user = s,
                  .message = on_message,
                  .too_long = on_too_long,
                  .awaits = on_awaits,
                  .unanswered = on_unanswered,
                  .deaf = on_deaf,
                  .missed = on_missed,
                  .log = on_log,
                  .lost = on_lost},
    };
    gbx_status status;

    s->server = server;
    s->hooks = hooks;
    s->started_ns = gbx_clock_now_ns();
    gbx_bucket_init(&s->logged, LOG_LINES, LOG_LINES, s->started_ns);
    gbx_bucket_init(&s->said, SAID_LINES, SAID_LINES, s->started_ns);
    TAILQ_INIT(&s->calls);
    gbx_mcp_timer_init(&s->start_timer, loop, on_start_timer, s);
    gbx_mcp_timer_init(&s->list_timer, loop, on_list_timer, s);
    gbx_mcp_timer_init(&s->page_timer, loop, on_page_timer, s);
    gbx_mcp_timer_init(&s->listen_timer, loop, on_listen_timer, s);
    gbx_mcp_timer_init(&s->check_timer, loop, on_check_timer, s);
    gbx_mcp_timer_set(&s->start_timer, s->server->config->start_ms);
    status = server->config->transport == GBX_MCP_STDIO
                 ? gbx_link_stdio(&link, &s->link, reterr)
                 : gbx_link_http(&link, &s->link, reterr);
    s->is_process = status == GBX_OK && s->link->ops->is_process;
    if (status == GBX_OK && !gbx_session_begin(s))
        status = gbx_fail(reterr, GBX_E_OS, "cannot talk to a server");
    if (status != GBX_OK) {
        gbx_session_free(s);
        return status;
    }
    *ret = s;
    return GBX_OK;
}

void gbx_session_free(gbx_session *session)
{
    if (session->link != NULL)
        session->link->ops->leave(session->link, false);
    gbx_mcp_timer_cleanup(&session->start_timer);
    gbx_mcp_timer_cleanup(&session->list_timer);
    gbx_mcp_timer_cleanup(&session->page_timer);
    gbx_mcp_timer_cleanup(&session->listen_timer);
    gbx_mcp_timer_cleanup(&session->check_timer);
    gbx_tools_drop(session->tools);
    gbx_tools_drop(session->coming);
    gbx_buf_cleanup(&session->cursor);
    gbx_questions_forget(&session->questions);
    free(session->page);
    free(session);
}

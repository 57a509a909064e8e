/* SPDX-License-Identifier: MIT */
/*
 * session - classifies what a server says and passes each message on; and its timeouts.
 * Messages that nobody waits for (a wrong id, a second answer, noise) are logged and
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
#include <strings.h>

/* It wants other headers than its list of tools says. */
#define HEADER_MISMATCH (-32020)

/* A longer message with invalid UTF-8 is read only if it is an awaited answer. */
#define LOSSY_MAX GBX_KIB(64)

/* Of a line that is not a message. Secrets are removed before it is cut. */
#define STRAY_MAX GBX_KIB(4)

/* ---- messages ---------------------------------------------------------------- */

/* An error without an id belongs to the first request, if nothing else was asked yet: a
 * strict server reads no further than the method. */
static int64_t find_refused(const gbx_session *s, const gbx_rpc_message *message)
{
    const gbx_session_request *p = s->pending;
    bool is_sole = p != NULL && p->next == NULL;

    return is_sole && message->kind == GBX_RPC_ERROR && s->phase == GBX_PHASE_ASKING
               ? p->id
               : 0;
}

static void on_check(gbx_session *s)
{
    (void)event_del(s->check_timer);
    s->options.hooks.checked(s->options.hooks.user);
}

/* An answer: its id names our request; without an id, `about` does. */
static void on_response(gbx_session *s, const gbx_rpc_message *message, int64_t about)
{
    int64_t id = about;
    gbx_session_request *p;

    /* An error may have an id of the server's own, since it did not read ours. */
    if (message->id.at != NULL && (about == 0 || message->kind != GBX_RPC_ERROR) &&
        !gbx_id_read(message->id, &id))
        id = 0;
    if (message->id.at == NULL && about == 0)
        id = find_refused(s, message);
    p = gbx_session_take(s, id);
    if (p == NULL) {
        gbx_session_log(s, "an answer that nobody waits for was dropped");
        return;
    }
    switch (p->ask) {
    case GBX_ASK_DISCOVER: gbx_session_on_discover(s, message); break;
    case GBX_ASK_INITIALIZE: gbx_session_on_initialize(s, message); break;
    case GBX_ASK_TOOLS: gbx_session_on_tools(s, message); break;
    case GBX_ASK_LISTEN: gbx_session_on_listen_end(s, message); break;
    case GBX_ASK_CHECK: on_check(s); break;
    case GBX_ASK_CALL:
        if (message->kind == GBX_RPC_ERROR &&
            gbx_rpc_error_code(message->payload) == HEADER_MISMATCH)
            gbx_session_on_change(s);
        gbx_session_on_call(s, p, message);
        return;
    }
    free(p);
}

/* We declare no capability, so a server may only ping. A process gets an error reply
 * even in the era without requests from servers, since something in it may wait for
 * one; an address could not receive a reply. */
static void on_request(gbx_session *s, const gbx_rpc_message *message)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    gbx_link_message about = {0};

    if (s->facts.is_modern && !s->is_process) {
        gbx_session_log(s, "a request was dropped: servers of this era have none");
        return;
    }
    gbx_buf_init(&text, GBX_KIB(4));
    if (strcmp(message->method, "ping") == 0) {
        gbx_rpc_begin_result(&text, message->id);
        gbx_rpc_end(&text);
    } else {
        gbx_rpc_append_error(&text, message->id, GBX_RPC_METHOD_NOT_FOUND,
                             "this client answers no requests but ping", NULL);
    }
    (void)gbx_session_send(s, &text, &about);
}

static void on_notification(gbx_session *s, const gbx_rpc_message *message)
{
    if (strcmp(message->method, "notifications/progress") == 0)
        gbx_session_on_progress(s, message->payload);
    else if (strcmp(message->method, "notifications/tools/list_changed") == 0)
        gbx_session_on_change(s);
    else if (strcmp(message->method, "notifications/subscriptions/acknowledged") == 0)
        gbx_session_on_acknowledged(s, message->payload);
    else if (strcmp(message->method, "notifications/message") == 0)
        gbx_session_on_says(s, message->payload);
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
    gbx_session_request *p = gbx_session_take(s, id);

    if (p == NULL)
        return;
    switch (p->ask) {
    case GBX_ASK_DISCOVER: gbx_session_on_no_discover(s); break;
    case GBX_ASK_LISTEN: gbx_session_on_listen_end(s, NULL); break;
    case GBX_ASK_CHECK: on_check(s); break;
    case GBX_ASK_CALL:
        gbx_session_fail_call(p, GBX_UPSTREAM_PROTOCOL, why, false);
        return;
    case GBX_ASK_TOOLS: gbx_session_on_no_tools(s, why); break;
    case GBX_ASK_INITIALIZE: gbx_session_on_no_initialize(s, why); break;
    }
    free(p);
}

/* The id of an answer that cannot be read. */
static int64_t find_id(const char *text, size_t len, int64_t about,
                       const gbx_rpc_fault *fault)
{
    int64_t id = about;

    if (about == 0 && (fault->is_answerable || !gbx_id_read(fault->id, &id)))
        id = gbx_id_find(text, len);
    return id;
}

/* Replace invalid UTF-8 by U+FFFD, in clean: text of another encoding is of more use
 * that way than not at all. A long message that nobody waits for is not worth it. */
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

static void say_fault(const char *text, size_t len, const gbx_rpc_fault *fault,
                      char *why, size_t size)
{
    gbx_json_fault json;

    if (fault->code == GBX_RPC_PARSE_ERROR &&
        !gbx_json_check(text, len, GBX_JSON_DEPTH_MAX, &json))
        (void)snprintf(why, size, "it is not JSON: %s, at byte %zu", json.message,
                       json.offset);
    else
        (void)snprintf(why, size, "%s", fault->message);
}

/* ---- lines of a process that are not messages -------------------------------- */

/* Keep it without values of secrets; the last line that has a word in it wins. */
static void note_stray(gbx_session *s, const char *text, size_t len)
{
    GBX_CLEANUP(gbx_free) char *line = NULL;
    char clean[sizeof s->stray / 8];
    size_t letters = 0;
    gbx_buf shown;

    for (size_t i = 0; i < len && letters < 2; i++)
        letters = isalpha((unsigned char)text[i]) != 0 ? letters + 1 : 0;
    if (letters != 2)
        return;
    line = gbx_need(strndup(text, len < STRAY_MAX ? len : STRAY_MAX));
    gbx_redact_copy(s->options.yard->secrets, line, clean, sizeof clean);
    gbx_buf_init(&shown, sizeof s->stray - 1);
    if (gbx_utf8_append_escaped(&shown, clean, strlen(clean), GBX_ESCAPE_LINE) &&
        gbx_buf_append(&shown, "", 1))
        memcpy(s->stray, shown.data, shown.len);
    gbx_buf_cleanup(&shown);
}

static size_t indent_of(const char *text, size_t len)
{
    size_t indent = 0;

    while (indent < len && (text[indent] == ' ' || text[indent] == '\t'))
        indent++;
    return indent;
}

/* A further line of an object that began on an earlier line. */
static void note_spread(gbx_session *s, const char *text, size_t len)
{
    size_t indent = indent_of(text, len);
    char line[40]; /* enough for an id */

    if (s->indent == 0)
        s->indent = indent;
    if (indent != s->indent)
        return;
    (void)snprintf(line, sizeof line, "%.*s", (int)(len - indent), text + indent);
    if (strncmp(line, "\"id\":", 5) == 0)
        s->spread_id = strtoll(line + 5 + strspn(line + 5, " \t\""), NULL, 10);
    else if (strncmp(line, "\"result\":", 9) == 0 ||
             strncmp(line, "\"error\":", 8) == 0)
        s->is_spread = true;
}

static const char spread[] =
    "it writes a message on several lines: MCP has one message a line, and nothing else, "
    "on standard output: have it write JSON without line breaks";

/* Does it write answers in a wrong framing? Then waiting longer does not help. It still
 * gets a moment: it may have printed an answer for people and sent it, too. */
static void note_framing(gbx_session *s, const char *text, size_t len)
{
    static const char header[] = "Content-Length:";
    static const struct timeval moment = {1, 0};
    bool has_header =
        len > sizeof header && strncasecmp(text, header, sizeof header - 1) == 0;
    bool is_brace =
        len > 0 && text[0] == '{' && indent_of(text + 1, len - 1) == len - 1;
    bool is_inside = s->has_brace && len > 0 && (text[0] == ' ' || text[0] == '\t');

    s->has_brace = is_brace || is_inside;
    if (is_brace) {
        s->indent = 0;
        s->spread_id = 0;
        s->is_spread = false;
    } else if (is_inside) {
        note_spread(s, text, len);
    }
    if (is_inside && s->is_spread && s->phase >= GBX_PHASE_READY) {
        if (s->spread_id != 0 && gbx_session_awaits(s, s->spread_id)) {
            s->unread_id = s->spread_id;
            (void)event_add(s->start_timer, &moment);
        }
        return;
    }
    if (s->phase >= GBX_PHASE_READY || s->misframed != NULL ||
        (!has_header && !(is_inside && s->is_spread)))
        return;
    s->misframed =
        has_header ? "it writes its messages behind Content-Length headers: MCP has "
                     "one message a line, and nothing else, on standard output"
                   : spread;
    (void)event_add(s->start_timer, &moment);
}

/* An answer that follows unfinished other text on the same line. */
static bool take_behind(gbx_session *s, const char *text, size_t len)
{
    const char *at = memmem(text, len, "{\"", 2);
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    int64_t id;

    if (at == NULL || at == text || !isprint((unsigned char)*text) ||
        !gbx_rpc_read(at, len - (size_t)(at - text), &message, &fault) ||
        (message.kind != GBX_RPC_RESULT && message.kind != GBX_RPC_ERROR) ||
        !gbx_id_read(message.id, &id) || !gbx_session_awaits(s, id))
        return false;
    note_stray(s, text, (size_t)(at - text));
    gbx_session_log(s, "text before an answer was dropped: %s", s->stray);
    on_response(s, &message, 0);
    return true;
}

/* ---- hooks of the link ------------------------------------------------------- */

static void on_message(void *user, const char *text, size_t len, int64_t about)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {0};
    gbx_session *s = user;
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    bool is_read = gbx_rpc_read(text, len, &message, &fault);
    int64_t id = is_read ? about : find_id(text, len, about, &fault);
    char why[200];
    char told[240];

    if (is_read || read_lossy(s, text, len, id, &clean, &message, &fault)) {
        take_message(s, &message, about);
        if (about != 0)
            fail_request(s, about, "its answer is not valid");
        return;
    }
    if (s->is_process && s->phase == GBX_PHASE_READY && take_behind(s, text, len))
        return;
    say_fault(text, len, &fault, why, sizeof why);
    if (s->is_process)
        note_stray(s, text, len);
    gbx_session_log(s, "a line was dropped: %s%s%s", why, s->is_process ? ": " : "",
                    s->is_process ? s->stray : "");
    if (s->is_process)
        note_framing(s, text, len);
    (void)snprintf(told, sizeof told, "its answer cannot be read: %s", why);
    fail_request(s, id, told);
    if (id == 0 && s->phase == GBX_PHASE_ASKING)
        gbx_session_on_lost(s, gbx_id_find_behind(text, len));
}

static void on_too_long(void *user, const char *head, size_t head_len, const char *tail,
                        size_t tail_len)
{
    gbx_session *s = user;
    int64_t id = gbx_id_find_in_head(head, head_len);

    if (id == 0)
        id = gbx_id_find_in_tail(tail, tail_len);
    gbx_session_log(s, "a message of more than %zu MiB was dropped",
                    GBX_LINK_MESSAGE_MAX >> 20);
    fail_request(s, id, "the answer is longer than 32 MiB");
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
                                .was_not_begun = how >= GBX_UNANSWERED_SPOKEN};
    gbx_session_request *p = gbx_session_take(s, about);

    if (p == NULL)
        return;
    if (p->ask == GBX_ASK_CALL) {
        gbx_session_answer_call(p, &reply);
        return;
    }
    if (p->ask == GBX_ASK_DISCOVER && how == GBX_UNANSWERED_SPOKEN)
        gbx_session_on_no_discover(s);
    else if (p->ask == GBX_ASK_LISTEN)
        gbx_session_on_listen_end(s, NULL);
    else if (p->ask == GBX_ASK_TOOLS && s->phase == GBX_PHASE_READY)
        gbx_session_keep_tools(s);
    else if (p->ask != GBX_ASK_INITIALIZE ||
             !gbx_session_ask_other_version(s, why, strlen(why))) {
        s->facts.is_lasting =
            how == GBX_UNANSWERED_LASTING || how == GBX_UNANSWERED_ODD;
        gbx_session_end(s, why); /* the server may continue from the message it
                                  * refused */
    }
    free(p);
}

static void on_forgotten(void *user, int64_t about, const char *why, bool is_lasting)
{
    gbx_session *s = user;
    gbx_session_request *p = gbx_session_take(s, about);

    if (p != NULL && p->ask == GBX_ASK_CALL)
        gbx_session_fail_call(p, GBX_UPSTREAM_EXIT, why, true);
    else
        free(p);
    s->facts.is_lasting = is_lasting;
    gbx_session_end(s, why);
}

/* A call that has not reached the server completely, or NULL. */
static const gbx_session_request *find_unread(const gbx_session *s, uint64_t written)
{
    const gbx_session_request *p = s->pending;

    while (p != NULL && (p->ask != GBX_ASK_CALL || p->end <= written))
        p = p->next;
    return p;
}

/* Before it is ready, wait whether it ends: its last output then gives the reason. */
static void on_deaf(void *user, uint64_t written, const char *why)
{
    gbx_session *s = user;
    const gbx_session_request *p;

    if (s->phase != GBX_PHASE_READY)
        return;
    s->is_deaf = true;
    /* Each answer may drop further calls, so search anew. */
    while ((p = find_unread(s, written)) != NULL)
        gbx_session_fail_call(gbx_session_take(s, p->id), GBX_UPSTREAM_EXIT, why, true);
    gbx_session_end(s, why);
}

/* A change of the tools may be among the missed messages. */
static void on_missed(void *user)
{
    gbx_session *s = user;

    if (s->tells_changes)
        gbx_session_on_change(s);
}

static void on_log(void *user, const char *line)
{
    gbx_session *s = user;

    s->options.hooks.log(s->options.hooks.user, line);
}

static void on_lost(void *user, const char *why, bool is_lasting)
{
    gbx_session *s = user;
    char words[GBX_SESSION_WHY_MAX];

    s->link = NULL;
    s->facts.is_lasting = is_lasting;
    (void)snprintf(words, sizeof words, "%s", why);
    gbx_session_add_stray(s, words, sizeof words);
    gbx_session_lose(s, words);
}

static gbx_link_hooks hooks_of(gbx_session *s)
{
    return (gbx_link_hooks){.user = s,
                            .message = on_message,
                            .too_long = on_too_long,
                            .awaits = on_awaits,
                            .unanswered = on_unanswered,
                            .forgotten = on_forgotten,
                            .deaf = on_deaf,
                            .missed = on_missed,
                            .log = on_log,
                            .lost = on_lost};
}

/* ---- time -------------------------------------------------------------------- */

static void on_start_timeout(evutil_socket_t fd, short what, void *arg)
{
    gbx_session *s = arg;
    char why[GBX_SESSION_WHY_MAX];

    (void)fd;
    (void)what;
    if (s->phase == GBX_PHASE_ENDING) {
        gbx_session_lose(s, "its session has ended");
        return;
    }
    if (s->phase == GBX_PHASE_READY) {
        fail_request(s, s->unread_id, spread);
        return;
    }
    if (s->misframed != NULL) {
        s->facts.is_lasting = true;
        gbx_session_lose(s, s->misframed);
        return;
    }
    (void)snprintf(why, sizeof why, "it was not ready after %" PRIu32 " ms (startMs)",
                   s->options.start_ms);
    if (s->link->ops->add_words != NULL)
        s->link->ops->add_words(s->link, why, sizeof why);
    gbx_session_add_stray(s, why, sizeof why);
    gbx_session_lose(s, why);
}

static void on_list_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    gbx_session_list(arg);
}

static void on_page_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    gbx_session_on_no_tools(arg, "it does not answer when it is asked for its tools");
}

static void on_listen_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    gbx_session_listen(arg);
}

static void on_check_timeout(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    gbx_session_lose(arg, "it does not answer any more");
}

static void set_up(gbx_session *s)
{
    struct event_base *base = gbx_mcp_loop_base(s->options.loop);
    struct timeval start = gbx_clock_timeval(s->options.start_ms);

    s->start_timer = gbx_need(evtimer_new(base, on_start_timeout, s));
    s->list_timer = gbx_need(evtimer_new(base, on_list_timer, s));
    s->page_timer = gbx_need(evtimer_new(base, on_page_timer, s));
    s->listen_timer = gbx_need(evtimer_new(base, on_listen_timer, s));
    s->check_timer = gbx_need(evtimer_new(base, on_check_timeout, s));
    (void)event_add(s->start_timer, &start);
}

gbx_status gbx_session_new(const gbx_session_options *options, gbx_session **ret,
                           gbx_error *reterr)
{
    gbx_session *s = gbx_need(calloc(1, sizeof *s));
    gbx_link_options link = {
        .loop = options->loop,
        .yard = options->yard,
        .config = options->config,
        .hooks = hooks_of(s),
    };
    gbx_status status;

    s->options = *options;
    s->started_ns = gbx_clock_now_ns();
    set_up(s);
    status = options->config->transport == GBX_MCP_STDIO
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
    if (session == NULL)
        return;
    struct event *events[] = {session->start_timer, session->list_timer,
                              session->page_timer, session->listen_timer,
                              session->check_timer};

    if (session->link != NULL)
        session->link->ops->leave(session->link, false);
    while (session->pending != NULL)
        free(gbx_session_take(session, session->pending->id));
    /* Freed only now: the end of the last call activates one of them. */
    for (size_t i = 0; i < GBX_COUNTOF(events); i++)
        event_free(events[i]);
    gbx_tools_cleanup(&session->tools);
    gbx_tools_cleanup(&session->coming);
    gbx_buf_cleanup(&session->cursor);
    free(session->facts.instructions);
    free(session);
}

void gbx_session_check(gbx_session *session)
{
    struct timeval patience = gbx_timeout_timeval(GBX_TIMEOUT_CHECK);

    if (session->phase != GBX_PHASE_READY ||
        evtimer_pending(session->check_timer, NULL))
        return;
    if (gbx_session_ask(session, GBX_ASK_CHECK,
                        session->facts.is_modern ? "server/discover" : "ping", "") != 0)
        (void)event_add(session->check_timer, &patience);
    else
        gbx_session_lose(session, "it does not read its input");
}

bool gbx_session_is_checked(const gbx_session *session)
{
    return evtimer_pending(session->check_timer, NULL);
}

bool gbx_session_is_stale(const gbx_session *session)
{
    return session->is_listing || session->is_stale ||
           evtimer_pending(session->list_timer, NULL);
}

void gbx_session_list_now(gbx_session *session)
{
    if (session->phase == GBX_PHASE_READY && !session->is_listing)
        (void)event_add(session->list_timer, &(struct timeval){0});
}

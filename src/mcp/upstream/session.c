/* SPDX-License-Identifier: MIT */
/*
 * session - what comes in is told apart here, and sent to whom it concerns. What nobody
 * waits for (a wrong id, a second answer, noise) is dropped, and said in the log.
 */
#include "mcp/upstream/session_parts.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_MS 5000

/* Lines of ours about a server in a second: noise must not become our noise. */
#define LOG_BURST 20

static struct timeval after_ms(uint32_t ms)
{
    return (struct timeval){ms / 1000, (suseconds_t)(ms % 1000) * 1000};
}

/* ---- what it says --------------------------------------------------------- */

/* Our question, answered: the id is found wherever a sound server would write it. */
static void on_response(gbx_session *s, const gbx_rpc_message *message, int64_t about)
{
    int64_t id = about;
    gbx_pending *p;

    if (message->id.at != NULL && !gbx_rpc_integer(message->id, &id))
        id = 0;
    p = gbx_session_take(s, id);
    if (p == NULL) {
        gbx_session_log(s, "an answer that nobody waits for was dropped");
        return;
    }
    switch (p->ask) {
    case GBX_ASK_DISCOVER: gbx_session_on_discover(s, message); break;
    case GBX_ASK_INITIALIZE: gbx_session_on_initialize(s, message); break;
    case GBX_ASK_TOOLS: gbx_session_on_tools(s, message); break;
    case GBX_ASK_LISTEN: gbx_session_on_listen_end(s); break;
    case GBX_ASK_CHECK: (void)event_del(s->check_timer); break;
    case GBX_ASK_CALL: gbx_session_on_call(s, p, message); return;
    }
    free(p);
}

/* Nothing was declared that a server might ask for, but for ping; in the era without
 * requests from servers, nothing is answered. */
static void on_request(gbx_session *s, const gbx_rpc_message *message)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    gbx_link_message about = {0};

    if (s->facts.is_modern) {
        gbx_session_log(s, "a request was dropped: servers of this era have none");
        return;
    }
    gbx_buf_init(&text, GBX_KIB(4));
    if (strcmp(message->method, "ping") == 0) {
        gbx_rpc_begin_result(&text, message->id);
        (void)gbx_buf_puts(&text, "{}");
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
}

static void take_message(gbx_session *s, const gbx_rpc_message *message, int64_t about)
{
    gbx_rpc_message one;
    gbx_rpc_fault fault;
    size_t cursor = 0;
    gbx_view none;
    gbx_view view;

    s->has_spoken = true;
    if (message->kind == GBX_RPC_REQUEST)
        on_request(s, message);
    else if (message->kind == GBX_RPC_NOTIFICATION)
        on_notification(s, message);
    else if (message->kind != GBX_RPC_BATCH)
        on_response(s, message, about);
    else /* Of one revision, 2025-03-26, which had them. */
        while (s->phase != GBX_PHASE_LOST &&
               gbx_view_next(message->payload, &cursor, &none, &view))
            if (gbx_rpc_read_view(view, &one, &fault) && one.kind != GBX_RPC_BATCH)
                take_message(s, &one, 0);
}

static void on_message(void *user, const char *text, size_t len, int64_t about)
{
    gbx_session *s = user;
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    if (gbx_rpc_read(text, len, &message, &fault)) {
        take_message(s, &message, about);
        return;
    }
    gbx_session_log(s, "a line was dropped: %s", fault.message);
    /* It answers something with what is no answer. */
    if (!fault.is_answerable && fault.id.at != NULL) {
        int64_t id = 0;
        gbx_pending *p =
            gbx_rpc_integer(fault.id, &id) ? gbx_session_take(s, id) : NULL;

        if (p != NULL && p->ask == GBX_ASK_CALL)
            gbx_session_fail_call(s, p, GBX_UPSTREAM_PROTOCOL, fault.message);
        else if (p != NULL) {
            free(p);
            gbx_session_lose(s, fault.message);
        }
    }
}

/* The number after "id": at the beginning of the line or at its end, or 0. */
static int64_t find_id(const char *text, size_t len, bool is_end)
{
    static const char key[] = "\"id\":";
    size_t n = sizeof key - 1;
    int64_t id = 0;

    for (size_t i = 0; i + n < len; i++) {
        const char *digit = text + i + n;

        if (memcmp(text + i, key, n) != 0)
            continue;
        for (id = 0; digit < text + len && *digit >= '0' && *digit <= '9'; digit++)
            id = id < INT64_MAX / 16 ? id * 10 + (*digit - '0') : id;
        if (!is_end)
            return id;
    }
    return id;
}

static void on_too_long(void *user, const char *head, size_t head_len, const char *tail,
                        size_t tail_len)
{
    gbx_session *s = user;
    int64_t id = find_id(head, head_len, false);
    gbx_pending *p;

    if (id == 0)
        id = find_id(tail, tail_len < 64 ? tail_len : tail_len, true);
    gbx_session_log(s, "a message of more than %zu MiB was dropped",
                    GBX_LINK_MESSAGE_MAX >> 20);
    p = gbx_session_take(s, id);
    if (p != NULL && p->ask == GBX_ASK_CALL)
        gbx_session_fail_call(s, p, GBX_UPSTREAM_PROTOCOL,
                              "the answer is longer than 32 MiB");
    else if (p != NULL) {
        free(p);
        gbx_session_lose(s, "its answer is longer than 32 MiB");
    }
}

static void on_unanswered(void *user, int64_t about, gbx_upstream_fault fault,
                          const char *why, bool is_spoken)
{
    gbx_session *s = user;
    gbx_pending *p = gbx_session_take(s, about);

    if (p == NULL)
        return;
    if (p->ask == GBX_ASK_CALL) {
        gbx_session_fail_call(s, p, fault, why);
        return;
    }
    if (p->ask == GBX_ASK_DISCOVER && is_spoken)
        gbx_session_on_no_discover(s);
    else if (p->ask == GBX_ASK_LISTEN)
        gbx_session_on_listen_end(s);
    else
        gbx_session_lose(s, why);
    free(p);
}

static void on_log(void *user, const char *line)
{
    gbx_session *s = user;

    s->options.hooks.log(s->options.hooks.user, line);
}

static void on_lost(void *user, const char *why)
{
    gbx_session *s = user;

    s->link = NULL;
    gbx_session_lose(s, why);
}

/* ---- time ----------------------------------------------------------------- */

static void on_start_timeout(evutil_socket_t fd, short what, void *arg)
{
    gbx_session *s = arg;
    char why[128];

    (void)fd;
    (void)what;
    (void)snprintf(why, sizeof why, "it was not ready after %" PRIu32 " ms",
                   s->options.start_ms);
    gbx_session_lose(s, why);
}

static void on_silence(evutil_socket_t fd, short what, void *arg)
{
    gbx_session *s = arg;

    (void)fd;
    (void)what;
    if (s->phase == GBX_PHASE_ASKING && !s->was_silent) {
        s->was_silent = true;
        gbx_session_on_no_discover(s);
    }
}

static void on_list_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    gbx_session_list(arg);
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

static bool set_up(gbx_session *s)
{
    struct event_base *base = gbx_mcp_loop_base(s->options.loop);
    struct timeval start = after_ms(s->options.start_ms);

    s->start_timer = evtimer_new(base, on_start_timeout, s);
    s->silence_timer = evtimer_new(base, on_silence, s);
    s->list_timer = evtimer_new(base, on_list_timer, s);
    s->listen_timer = evtimer_new(base, on_listen_timer, s);
    s->check_timer = evtimer_new(base, on_check_timeout, s);
    return s->start_timer != NULL && s->silence_timer != NULL &&
           s->list_timer != NULL && s->listen_timer != NULL && s->check_timer != NULL &&
           event_add(s->start_timer, &start) == 0;
}

/* ---- the rest of the session ---------------------------------------------- */

void gbx_session_log(gbx_session *s, const char *format, ...)
{
    int64_t now = gbx_clock_now_ns();
    char line[256];
    va_list args;

    if (now - s->log_burst_ns > 1000 * GBX_NS_PER_MS) {
        s->log_burst_ns = now;
        s->log_left = LOG_BURST;
    }
    if (s->log_left == 0)
        return;
    s->log_left--;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    s->options.hooks.log(s->options.hooks.user, line);
}

gbx_pending *gbx_session_expect(gbx_session *s, gbx_ask ask)
{
    gbx_pending *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->id = ++s->last_id;
    p->ask = ask;
    p->next = s->pending;
    s->pending = p;
    s->calls += ask == GBX_ASK_CALL;
    return p;
}

gbx_pending *gbx_session_take(gbx_session *s, int64_t id)
{
    for (gbx_pending **at = &s->pending; *at != NULL; at = &(*at)->next) {
        gbx_pending *p = *at;

        if (p->id != id)
            continue;
        *at = p->next;
        s->calls -= p->ask == GBX_ASK_CALL;
        return p;
    }
    return NULL;
}

bool gbx_session_send(gbx_session *s, const gbx_buf *text,
                      const gbx_link_message *about)
{
    gbx_link_message message = *about;

    message.text = (const char *)text->data;
    message.len = text->len;
    return !text->failed && s->link != NULL && s->link->ops->send(s->link, &message);
}

void gbx_session_put_meta(const gbx_session *s, int64_t progress_token,
                          const char *more, gbx_buf *to)
{
    const char *comma = "";

    (void)gbx_buf_puts(to, "\"_meta\":{");
    if (s->facts.is_modern) {
        (void)gbx_buf_printf(to,
                             "\"io.modelcontextprotocol/protocolVersion\":\"%s\","
                             "\"io.modelcontextprotocol/clientInfo\":{\"name\":"
                             "\"glovebox\",\"version\":\"" GBX_VERSION "\"},"
                             "\"io.modelcontextprotocol/clientCapabilities\":{}",
                             s->facts.version);
        comma = ",";
    }
    if (progress_token != 0) {
        (void)gbx_buf_printf(to, "%s\"progressToken\":%" PRId64, comma, progress_token);
        comma = ",";
    }
    if (more != NULL && *more != 0)
        (void)gbx_buf_printf(to, "%s%s", comma, more);
    (void)gbx_buf_puts(to, "}");
}

int64_t gbx_session_ask(gbx_session *s, gbx_ask ask, const char *method,
                        const char *params)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    gbx_pending *p = gbx_session_expect(s, ask);
    gbx_link_message about = {.method = method, .is_listening = ask == GBX_ASK_LISTEN};

    if (p == NULL)
        return 0;
    about.id = p->id;
    gbx_buf_init(&text, GBX_KIB(64));
    gbx_rpc_begin_request(&text, p->id, method);
    (void)gbx_buf_printf(&text, "{%s", params);
    if (s->facts.is_modern) {
        (void)gbx_buf_puts(&text, *params != 0 ? "," : "");
        gbx_session_put_meta(s, 0, NULL, &text);
    }
    (void)gbx_buf_puts(&text, "}");
    gbx_rpc_end(&text);
    if (gbx_session_send(s, &text, &about))
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
    (void)gbx_buf_printf(&text, "{%s", params);
    if (s->facts.is_modern) {
        (void)gbx_buf_puts(&text, *params != 0 ? "," : "");
        gbx_session_put_meta(s, 0, NULL, &text);
    }
    (void)gbx_buf_puts(&text, "}");
    gbx_rpc_end(&text);
    (void)gbx_session_send(s, &text, &about);
}

void gbx_session_lose(gbx_session *s, const char *why)
{
    if (s->phase == GBX_PHASE_LOST)
        return;
    s->phase = GBX_PHASE_LOST;
    (void)event_del(s->start_timer);
    (void)event_del(s->silence_timer);
    (void)event_del(s->list_timer);
    (void)event_del(s->listen_timer);
    (void)event_del(s->check_timer);
    if (s->link != NULL)
        s->link->ops->leave(s->link, true);
    s->link = NULL;
    while (s->pending != NULL) {
        gbx_pending *p = gbx_session_take(s, s->pending->id);

        if (p->ask == GBX_ASK_CALL)
            gbx_session_fail_call(s, p, GBX_UPSTREAM_EXIT, why);
        else
            free(p);
    }
    s->options.hooks.lost(s->options.hooks.user, s, why);
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_session_new(const gbx_session_options *options, gbx_session **ret,
                           gbx_error *reterr)
{
    gbx_session *s = calloc(1, sizeof *s);
    gbx_link_options link = {
        .loop = options->loop,
        .yard = options->yard,
        .config = options->config,
        .hooks = {s, on_message, on_too_long, on_unanswered, on_log, on_lost},
    };
    gbx_status status = GBX_OK;

    if (s == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot start a server: out of memory");
    s->options = *options;
    s->started_ns = gbx_clock_now_ns();
    if (!set_up(s))
        status = gbx_fail(reterr, GBX_E_NOMEM, "cannot start a server: out of memory");
    if (status == GBX_OK)
        status = gbx_link_stdio(&link, &s->link, reterr);
    s->is_process = status == GBX_OK && s->link->ops->is_silence_an_answer;
    if (status == GBX_OK && !gbx_session_begin(s))
        status = gbx_fail(reterr, GBX_E_NOMEM, "cannot talk to a server");
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
    struct event *events[] = {session->start_timer, session->silence_timer,
                              session->list_timer, session->listen_timer,
                              session->check_timer};

    for (size_t i = 0; i < GBX_COUNTOF(events); i++)
        if (events[i] != NULL)
            event_free(events[i]);
    if (session->link != NULL)
        session->link->ops->leave(session->link, false);
    while (session->pending != NULL)
        free(gbx_session_take(session, session->pending->id));
    gbx_tools_cleanup(&session->tools);
    gbx_tools_cleanup(&session->coming);
    free(session->facts.instructions);
    free(session);
}

bool gbx_session_is_ready(const gbx_session *session)
{
    return session->phase == GBX_PHASE_READY;
}

bool gbx_session_is_lost(const gbx_session *session)
{
    return session->phase == GBX_PHASE_LOST;
}

const gbx_session_facts *gbx_session_facts_of(const gbx_session *session)
{
    return &session->facts;
}

const gbx_tools *gbx_session_tools(const gbx_session *session)
{
    return &session->tools;
}

bool gbx_session_died_of_question(const gbx_session *session)
{
    return session->phase == GBX_PHASE_LOST && session->options.hint == GBX_ERA_ASK &&
           session->is_process && !session->has_spoken && !session->was_silent;
}

bool gbx_session_was_silent(const gbx_session *session)
{
    return session->was_silent;
}

size_t gbx_session_calls(const gbx_session *session)
{
    return session->calls;
}

void gbx_session_check(gbx_session *session)
{
    struct timeval patience = after_ms(CHECK_MS);

    if (session->phase != GBX_PHASE_READY ||
        evtimer_pending(session->check_timer, NULL))
        return;
    if (gbx_session_ask(session, GBX_ASK_CHECK,
                        session->facts.is_modern ? "server/discover" : "ping", "") != 0)
        (void)event_add(session->check_timer, &patience);
}

void gbx_session_list_again(gbx_session *session)
{
    gbx_session_on_change(session);
}

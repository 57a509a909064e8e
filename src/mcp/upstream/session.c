/* SPDX-License-Identifier: MIT */
/* session - requests and their answers, timeouts, and the end; see internal.h. */
#include "mcp/upstream/session_parts.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of our log lines about a server in a second: a noisy server must not
 * flood our log. */
#define LOG_BURST 20

static struct timeval after_ms(uint32_t ms)
{
    return (struct timeval){ms / 1000, (suseconds_t)(ms % 1000) * 1000};
}

/* ---- time ----------------------------------------------------------------- */

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
        gbx_session_on_spread(s);
        return;
    }
    if (s->misframed != NULL) {
        s->facts.is_lasting = true;
        gbx_session_lose(s, s->misframed);
        return;
    }
    (void)snprintf(why, sizeof why, "it was not ready after %" PRIu32 " ms (startMs)",
                   s->options.start_ms);
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

static bool set_up(gbx_session *s)
{
    struct event_base *base = gbx_mcp_loop_base(s->options.loop);
    struct timeval start = after_ms(s->options.start_ms);

    s->start_timer = evtimer_new(base, on_start_timeout, s);
    s->list_timer = evtimer_new(base, on_list_timer, s);
    s->page_timer = evtimer_new(base, on_page_timer, s);
    s->listen_timer = evtimer_new(base, on_listen_timer, s);
    s->check_timer = evtimer_new(base, on_check_timeout, s);
    return s->start_timer != NULL && s->list_timer != NULL && s->page_timer != NULL &&
           s->listen_timer != NULL && s->check_timer != NULL &&
           event_add(s->start_timer, &start) == 0;
}

static void stop_timers(gbx_session *s)
{
    (void)event_del(s->start_timer);
    (void)event_del(s->list_timer);
    (void)event_del(s->page_timer);
    (void)event_del(s->listen_timer);
    (void)event_del(s->check_timer);
}

/* ---- the rest of the session ---------------------------------------------- */

void gbx_session_add_stray(const gbx_session *s, char *why, size_t size)
{
    size_t len = strlen(why);

    if (s->stray[0] != 0)
        (void)snprintf(
            why + len, size - len,
            "; on its standard output it wrote a line that is not a message: %s",
            s->stray);
}

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

gbx_session_request *gbx_session_expect(gbx_session *s, gbx_ask ask)
{
    gbx_session_request *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
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
    gbx_session_request *p = gbx_session_expect(s, ask);
    gbx_link_message about = {.method = method};

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
            gbx_session_fail_call(s, p, GBX_UPSTREAM_EXIT, why, false);
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
        .hooks = gbx_session_hooks_of(s),
    };
    gbx_status status = GBX_OK;

    if (s == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot start a server: out of memory");
    s->options = *options;
    s->started_ns = gbx_clock_now_ns();
    if (!set_up(s))
        status = gbx_fail(reterr, GBX_E_NOMEM, "cannot start a server: out of memory");
    if (status == GBX_OK)
        status = options->config->transport == GBX_MCP_STDIO
                     ? gbx_link_stdio(&link, &s->link, reterr)
                     : gbx_link_http(&link, &s->link, reterr);
    s->is_process = status == GBX_OK && s->link->ops->is_process;
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
    struct event *events[] = {session->start_timer, session->list_timer,
                              session->page_timer, session->listen_timer,
                              session->check_timer};

    if (session->link != NULL)
        session->link->ops->leave(session->link, false);
    while (session->pending != NULL)
        free(gbx_session_take(session, session->pending->id));
    /* Freed only now: the end of the last call activates one of them. */
    for (size_t i = 0; i < GBX_COUNTOF(events); i++)
        if (events[i] != NULL)
            event_free(events[i]);
    gbx_tools_cleanup(&session->tools);
    gbx_tools_cleanup(&session->coming);
    gbx_buf_cleanup(&session->cursor);
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

size_t gbx_session_calls(const gbx_session *session)
{
    return session->calls;
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

int64_t gbx_session_listed_ns(const gbx_session *session)
{
    return session->listed_ns;
}

void gbx_session_list_now(gbx_session *session)
{
    if (session->phase == GBX_PHASE_READY && !session->is_listing)
        (void)event_add(session->list_timer, &(struct timeval){0});
}

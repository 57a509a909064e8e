/* SPDX-License-Identifier: MIT */
/*
 * front - passes requests to their sessions, and starts and ends the server.
 *
 * The child of 2026-07-28 is started before the first request: if it cannot start, the
 * server fails at once, and the child has printed the reason.
 */
#include "mcp/http/http.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* A session without a connection ends if it was not used for IDLE_NS; or for SPARE_NS,
 * if a new session needs its place. */
#define IDLE_NS  (INT64_C(30) * 60 * 1000 * GBX_NS_PER_MS)
#define SPARE_NS (60000 * GBX_NS_PER_MS)
#define SWEEP_MS 5000

/* At shutdown: time for running requests, for children, and between two checks. */
#define GRACE_MS    1000
#define CHILDREN_MS 2000
#define CHECK_MS    10

/* Limit of sessions of one OAuth client. */
#define CALLER_SESSIONS_MAX 16

#define RETRY_LATER "Retry-After: 5\r\n"
#define NO_ID       ((gbx_view){0})

typedef enum front_phase { STARTING, SERVING, DRAINING, ENDING } front_phase;

typedef struct front {
    const gbx_http_options *options;
    gbx_mcp_loop *loop;
    gbx_http_listeners listeners;
    gbx_http_server *server;
    gbx_http_tls *tls;
    gbx_child_set children;
    LIST_HEAD(, gbx_http_session) sessions;
    gbx_http_session *first; /* while it shows that the server can start */
    struct event *spawner_gone;
    struct event *signals[3];
    int signal_count;
    gbx_mcp_timer sweep;
    gbx_mcp_timer end;
    gbx_mcp_timer check;
    front_phase phase;
    gbx_error *err;
    gbx_status status;
} front;

/* ---- sessions ------------------------------------------------------------------ */

static void end_session(gbx_http_session *s)
{
    LIST_REMOVE(s, entry);
    gbx_http_session_free(s);
}

static void fail_start(front *f)
{
    errno = 0; /* the child has printed the reason */
    f->status = gbx_fail(f->err, GBX_E_OS, "the server cannot start");
    gbx_mcp_loop_stop(f->loop, 0);
}

static void on_session_ended(void *user, gbx_http_session *s)
{
    front *f = user;

    if (f->phase == SERVING && !s->is_refused)
        gbx_mcp_warn("the process of %s has ended",
                     s->is_modern ? "2026-07-28" : "a session");
    end_session(s);
    if (f->phase == STARTING)
        fail_start(f);
}

static void on_ready(void *user)
{
    front *f = user;

    f->phase = SERVING;
    f->first->is_refused = f->options->access != NULL; /* it is nobody's */
    gbx_http_server_accept(f->server);
    gbx_mcp_timer_set(&f->sweep, SWEEP_MS);
    for (size_t i = 0; i < f->listeners.count; i++) {
        const gbx_http_listener *one = &f->listeners.items[i];

        gbx_mcp_warn("listening on %s%s%s", one->name,
                     one->host[0] == '\0' ? ", path " : "", f->options->path);
    }
}

/* The session of a caller: its one of 2026-07-28 (id ""), or the one with this id. */
static gbx_http_session *find_session(front *f, const gbx_http_caller *caller,
                                      const char *id)
{
    gbx_http_session *s;

    LIST_FOREACH(s, &f->sessions, entry)
    if (strcmp(s->id, id) == 0 && strcmp(s->caller.id, caller->id) == 0)
        return s;
    return NULL;
}

/* Has the OAuth client all the sessions that one may have? */
static bool is_full(front *f, const gbx_http_caller *caller)
{
    const gbx_http_session *s;
    size_t count = 0;

    LIST_FOREACH(s, &f->sessions, entry)
    count += strcmp(s->caller.id, caller->id) == 0;
    return f->options->access != NULL && count >= CALLER_SESSIONS_MAX;
}

static gbx_http_session *new_session(front *f, const gbx_http_caller *caller,
                                     bool is_modern)
{
    bool is_reserved =
        f->options->access == NULL && !is_modern && find_session(f, caller, "") == NULL;
    gbx_http_session *s = NULL;

    /* Without OAuth a place is kept for the only child of 2026-07-28. */
    if (!is_full(f, caller) &&
        f->children.count + (is_reserved ? 1 : 0) < GBX_CHILDREN_MAX)
        s = gbx_http_session_new(&f->children, caller, is_modern);
    if (s == NULL)
        return NULL;
    s->user = f;
    s->ended = on_session_ended;
    s->ready = on_ready;
    LIST_INSERT_HEAD(&f->sessions, s, entry);
    return s;
}

static bool is_idle(const front *f, const gbx_http_session *s, int64_t for_ns)
{
    bool is_lasting = s->is_modern && f->options->access == NULL;

    return !is_lasting && s->pending_count == 0 && !gbx_streams_is_used(&s->streams) &&
           gbx_clock_now_ns() - s->used_ns >= for_ns;
}

static void on_sweep(void *user)
{
    front *f = user;
    int64_t now_ns = gbx_clock_now_ns();
    gbx_http_session *next;
    gbx_http_session *s;

    gbx_mcp_timer_set(&f->sweep, SWEEP_MS);
    for (s = LIST_FIRST(&f->sessions); s != NULL; s = next) {
        next = LIST_NEXT(s, entry);
        gbx_streams_beat(&s->streams, now_ns);
        if (gbx_streams_is_used(&s->streams))
            s->used_ns = now_ns;
        if (is_idle(f, s, IDLE_NS))
            end_session(s);
    }
}

/* ---- requests -------------------------------------------------------------------- */

static void refuse(gbx_http_connection *c, int status, const char *fields, gbx_view id,
                   const char *why)
{
    gbx_http_reply_error(c, status, fields, id, GBX_RPC_INVALID_REQUEST, why);
}

static gbx_http_verdict on_head(void *user, gbx_http_connection *c,
                                const gbx_http_request *r)
{
    const front *f = user;

    return gbx_http_guard_head(f->options, c, r);
}

/* The session that the request names; NULL: it was refused. */
static gbx_http_session *session_of(front *f, gbx_http_connection *c,
                                    const gbx_http_caller *caller,
                                    const gbx_http_request *r, gbx_view id)
{
    const char *name = gbx_http_field_of(r, "mcp-session-id");
    bool is_named = name != NULL && *name != '\0';
    gbx_http_session *s = is_named ? find_session(f, caller, name) : NULL;

    if (!gbx_http_check_legacy(c, r))
        return NULL;
    if (s == NULL)
        refuse(c, name == NULL ? 400 : 404, NULL, id,
               name == NULL ? "Mcp-Session-Id is missing: send 'initialize' first"
                            : "no session has this id: send 'initialize' again");
    return s;
}

static void post_to_new(front *f, gbx_http_connection *c, const gbx_http_caller *caller,
                        gbx_span body, gbx_view id, bool is_modern)
{
    gbx_http_session *s = is_modern ? find_session(f, caller, "") : NULL;
    gbx_http_session *oldest = NULL;
    bool is_own;

    if (s == NULL)
        s = new_session(f, caller, is_modern);
    if (s != NULL) {
        gbx_http_session_post(s, c, (const char *)body.data, body.len);
        return;
    }
    /* End the session that has been idle longest, if it was for a minute: one of the
     * caller's, if that has too many. Its place becomes free soon after, when its child
     * has ended. */
    is_own = is_full(f, caller);
    LIST_FOREACH(s, &f->sessions, entry)
    if (is_idle(f, s, SPARE_NS) && (!is_own || strcmp(s->caller.id, caller->id) == 0) &&
        (oldest == NULL || s->used_ns < oldest->used_ns))
        oldest = s;
    if (oldest != NULL)
        end_session(oldest);
    gbx_http_reply_error(c, 503, RETRY_LATER, id, GBX_RPC_INTERNAL_ERROR,
                         "too many sessions");
}

/* The header traceparent; NULL: it is missing or, from a proxy and a client, ambiguous. */
static const char *trace_of(const gbx_http_request *r)
{
    const char *found = NULL;

    for (size_t i = 0; i < r->field_count; i++) {
        if (strcasecmp(r->fields[i].name, "traceparent") != 0)
            continue;
        if (found != NULL)
            return NULL;
        found = r->fields[i].value;
    }
    return found;
}

/* A trace that only a header names goes on in _meta, where MCP has it: the child sees no
 * headers. Then *body is the changed text, in `to`. */
static void move_trace(const gbx_http_request *r, const gbx_rpc_message *message,
                       gbx_span *body, gbx_buf *to)
{
    const char *header = trace_of(r);
    gbx_trace_context context;
    char text[GBX_TRACEPARENT_SIZE + 40];
    gbx_view meta;
    gbx_view object;
    gbx_message_cut cut;

    if (header == NULL || message->kind != GBX_RPC_REQUEST ||
        strcmp(message->method, "tools/call") != 0 ||
        !gbx_traceparent_read(header, strlen(header), &context))
        return;
    meta = gbx_view_member(message->payload, "_meta");
    object = meta.at != NULL ? meta : message->payload;
    if (gbx_view_kind(object) != '{' || gbx_view_member(meta, "traceparent").at != NULL)
        return;
    /* Fields of later versions than 00 are left out. */
    (void)snprintf(text, sizeof text,
                   meta.at != NULL ? "\"traceparent\":\"%.55s\"%s"
                                   : "\"_meta\":{\"traceparent\":\"%.55s\"}%s",
                   header, gbx_view_count(object) > 0 ? "," : "");
    cut = (gbx_message_cut){{object.at + 1, 0}, {text, strlen(text)}};
    if (gbx_message_splice(to, (const char *)body->data, body->len, &cut, 1))
        *body = (gbx_span){to->data, to->len};
}

static void on_post(front *f, gbx_http_connection *c, const gbx_http_caller *caller,
                    const gbx_http_request *r)
{
    gbx_span body = {r->body.data, r->body.len};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf moved = {.ceiling = GBX_HTTP_BODY_MAX};
    gbx_http_session *s;
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    if (!gbx_rpc_read(body.len > 0 ? (const char *)body.data : "", body.len, &message,
                      &fault)) {
        gbx_http_reply_error(c, 400, NULL, fault.id, fault.code, fault.message);
        return;
    }
    move_trace(r, &message, &body, &moved);
    if (message.id.len > GBX_HTTP_ID_MAX) {
        refuse(c, 400, NULL, NO_ID, "the id has more than 1024 bytes");
    } else if (!gbx_http_check_call(f->options, c, caller, &message)) {
        return;
    } else if (gbx_http_is_modern(r, &message)) {
        if (gbx_http_check_modern(c, r, &message)) {
            if (strcmp(message.method, "subscriptions/listen") == 0)
                gbx_http_close_after(c, caller->left_s);
            post_to_new(f, c, caller, body, message.id, true);
        }
    } else if (message.kind == GBX_RPC_REQUEST &&
               strcmp(message.method, "initialize") == 0) {
        if (gbx_http_check_legacy(c, r))
            post_to_new(f, c, caller, body, message.id, false);
    } else {
        s = session_of(f, c, caller, r, message.id);
        if (s != NULL)
            gbx_http_session_post(s, c, (const char *)body.data, body.len);
    }
}

static void on_request(void *user, gbx_http_connection *c, const gbx_http_request *r)
{
    front *f = user;
    gbx_http_caller caller = {0};
    gbx_http_verdict verdict = gbx_http_admit(f->options, c, r, &caller);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_MIB(4)};
    gbx_http_session *s;

    if (verdict == GBX_HTTP_ANSWERED)
        return; /* its token has expired since */
    if (f->phase != SERVING || verdict != GBX_HTTP_GO_ON) {
        refuse(c, 503, RETRY_LATER, NO_ID, "the server is not ready");
    } else if (gbx_http_wants_metrics(f->options, r)) {
        if (!gbx_http_check_call(f->options, c, &caller, NULL))
            return;
        gbx_metrics_print(f->options->metrics, &text);
        gbx_metrics_put_gauge(&text, "glovebox_processes",
                              "Processes that serve clients.", f->children.count);
        gbx_http_reply(c, 200, NULL, "text/plain; version=0.0.4; charset=utf-8",
                       text.data, text.len);
    } else if (strcmp(r->method, "POST") == 0) {
        on_post(f, c, &caller, r);
    } else if (gbx_http_is_modern(r, NULL)) {
        refuse(c, 405, "Allow: POST\r\n", NO_ID, "2026-07-28 has POST alone");
    } else if ((s = session_of(f, c, &caller, r, NO_ID)) == NULL) {
        return;
    } else if (strcmp(r->method, "GET") == 0) {
        gbx_http_close_after(c, caller.left_s);
        gbx_http_session_listen(s, c, gbx_http_field_of(r, "last-event-id"));
    } else {
        gbx_http_reply(c, 200, NULL, NULL, NULL, 0);
        end_session(s);
    }
}

/* ---- shutdown ------------------------------------------------------------------- */

static void begin_ending(front *f)
{
    f->phase = ENDING;
    while (!LIST_EMPTY(&f->sessions))
        end_session(LIST_FIRST(&f->sessions));
    gbx_mcp_timer_set(&f->end, CHILDREN_MS);
}

static void on_check(void *user)
{
    front *f = user;
    const gbx_http_session *s;
    bool is_busy = gbx_http_server_is_sending(f->server);

    LIST_FOREACH(s, &f->sessions, entry)
    is_busy = is_busy || s->pending_count > 0;
    if (f->phase == DRAINING && !is_busy)
        begin_ending(f);
    if (f->phase == ENDING && f->children.count == 0 &&
        !gbx_http_server_is_sending(f->server))
        gbx_mcp_loop_stop(f->loop, 0);
    else
        gbx_mcp_timer_set(&f->check, CHECK_MS);
}

static void on_end(void *user)
{
    front *f = user;

    if (f->phase == ENDING)
        gbx_mcp_loop_stop(f->loop, 0); /* the kernel kills remaining children with us */
    else
        begin_ending(f);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    front *f = arg;

    if (++f->signal_count > 1)
        _exit(128 + (int)number);
    if (f->phase == STARTING) {
        gbx_mcp_loop_stop(f->loop, 0);
        return;
    }
    gbx_http_server_stop_accepting(f->server);
    f->phase = DRAINING;
    gbx_mcp_timer_set(&f->end, GRACE_MS);
    gbx_mcp_timer_fire(&f->check);
}

static void on_spawner_gone(evutil_socket_t fd, short what, void *arg)
{
    front *f = arg;

    if (f->phase == ENDING)
        return;
    errno = 0;
    f->status = gbx_fail(f->err, GBX_E_OS, "the process that starts others has ended");
    gbx_mcp_loop_stop(f->loop, 0);
}

/* ---- start ---------------------------------------------------------------------- */

static void make_events(front *f)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct event_base *base = gbx_mcp_loop_base(f->loop);
    sigset_t ours;

    /* As process 1 of a container we inherit orphans: let the kernel reap them. */
    (void)signal(SIGCHLD, SIG_IGN);
    (void)sigemptyset(&ours);
    gbx_mcp_timer_init(&f->sweep, f->loop, on_sweep, f);
    gbx_mcp_timer_init(&f->end, f->loop, on_end, f);
    gbx_mcp_timer_init(&f->check, f->loop, on_check, f);
    f->spawner_gone =
        gbx_need(event_new(base, f->children.spawner, EV_READ, on_spawner_gone, f));
    (void)event_add(f->spawner_gone, NULL);
    for (size_t i = 0; i < GBX_COUNTOF(numbers); i++) {
        f->signals[i] =
            gbx_need(event_new(base, numbers[i], EV_SIGNAL | EV_PERSIST, on_signal, f));
        (void)event_add(f->signals[i], NULL);
        (void)sigaddset(&ours, numbers[i]);
    }
    (void)sigprocmask(SIG_UNBLOCK, &ours, NULL);
}

static void cleanup(front *f)
{
    while (!LIST_EMPTY(&f->sessions))
        end_session(LIST_FIRST(&f->sessions));
    if (f->options->access != NULL)
        f->options->access->stop(f->options->access);
    gbx_http_server_free(f->server);
    gbx_http_tls_free(f->tls);
    gbx_child_set_drop(&f->children);
    if (f->options->console != NULL)
        f->options->console->stop(f->options->console);
    gbx_http_listeners_close(&f->listeners);
    for (size_t i = 0; i < GBX_COUNTOF(f->signals); i++)
        event_free(f->signals[i]);
    event_free(f->spawner_gone);
    gbx_mcp_timer_cleanup(&f->sweep);
    gbx_mcp_timer_cleanup(&f->end);
    gbx_mcp_timer_cleanup(&f->check);
    gbx_mcp_loop_free(f->loop);
    gbx_fd_close(&f->children.spawner);
}

gbx_status gbx_http_check(const gbx_http_options *o, gbx_error *reterr)
{
    if (o->path[0] != '/' || strpbrk(o->path, " ?#") != NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "'--path' must begin with '/'");
    if (o->token_file != NULL && o->oauth_file != NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "either '--token-file' or '--oauth'");
    if ((o->tls_cert != NULL) != (o->tls_key != NULL))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "'--tls-cert' and '--tls-key' need each other");
    if (o->tls_cert != NULL && (o->is_behind_proxy || o->address == NULL))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "'--tls-cert' needs '--http', and no '--behind-proxy'");
    if (gbx_http_is_public(o) && o->token_file == NULL && o->oauth_file == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "'%s' needs '--oauth' or '--token-file'",
                        o->tls_cert != NULL ? "--tls-cert" : "--behind-proxy");
    return gbx_http_listeners_check(o, reterr);
}

static void on_changed(void *user)
{
    const front *f = user;

    if (f->server != NULL)
        gbx_http_server_decide(f->server);
}

/* Start the first child. It serves all clients of 2026-07-28, or nobody with OAuth. */
static void start_first(front *f)
{
    static const gbx_http_caller nobody = {0};
    gbx_http_access *access = f->options->access;
    gbx_http_console *console = f->options->console;
    const gbx_http_caller *caller = access != NULL ? &access->whole : &nobody;

    if (console != NULL)
        f->status =
            console->start(console, f->loop, f->children.spawner, caller, f->err);
    if (f->status != GBX_OK)
        return;
    f->children.console = console;
    f->first = new_session(f, caller, true);
    if (f->first == NULL) {
        fail_start(f);
        return;
    }
    gbx_http_session_probe(f->first);
    if (access == NULL)
        return;
    access->changed = on_changed;
    access->changed_user = f;
    f->status = access->start(access, f->loop, f->err);
}

gbx_status gbx_http_serve(const gbx_http_options *options, int spawner,
                          gbx_error *reterr)
{
    front f = {.options = options, .children = {.spawner = spawner}, .err = reterr};
    const gbx_http_hooks hooks = {.user = &f, .head = on_head, .request = on_request};

    f.loop = f.children.loop = gbx_mcp_loop_new();
    if (f.loop == NULL)
        return gbx_fail(reterr, GBX_E_OS, "cannot make an event loop: %s",
                        strerror(errno));
    make_events(&f);
    f.status = gbx_http_listeners_open(&f.listeners, options, reterr);
    if (f.status == GBX_OK && options->tls_cert != NULL)
        f.status = gbx_http_tls_new(options, &f.tls, reterr);
    if (f.status == GBX_OK)
        start_first(&f);
    if (f.status == GBX_OK) {
        f.server = gbx_http_server_new(f.loop, &f.listeners, f.tls, &hooks);
        (void)gbx_mcp_loop_run(f.loop);
    }
    cleanup(&f);
    return f.status;
}

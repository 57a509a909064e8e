/* SPDX-License-Identifier: MIT */
/*
 * console_hub - keeps what all server processes report, within limits, and serves it.
 *
 * Any page that a browser shows can send requests to our address, and cookies do not
 * distinguish ports. So the Host and the Origin must be exactly ours, a browser must say
 * that our own page sends the request, and the cookie is only for a folder with a random
 * name, which other servers of this machine do not know. The cookie is given for a token
 * that is printed for the person, and valid once.
 *
 * A browser that reads slowly misses events and is told how many. It delays nothing.
 */
#include "mcp/console/console.h"

#include "base/base64.h"
#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Limits of kept events, and of open questions: more than a person can answer. */
#define EVENTS_MAX    10000
#define BYTES_MAX     GBX_MIB(16)
#define QUESTIONS_MAX 256

/* Any program of this machine may connect; descriptors are for calls. */
#define CONNECTIONS_MAX 64

/* A browser gets no event while it has so many unread bytes; it is looked at again. */
#define UNREAD_MAX GBX_MIB(1)
#define PUMP_MS    10

/* A browser that reloads the page is away for a moment. */
#define LEAVE_MS 3000

/* Hexadecimal digits of 128 random bits, and the NUL. */
#define SECRET_SIZE 33

/* The page; src/mcp/console/console_page.*. */
extern const char gbx_console_html[];
extern const char gbx_console_css[];
extern const char gbx_console_js[];

static const char fields[] =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n";

/* A server process. */
typedef struct member {
    LIST_ENTRY(member) entry;
    struct hub *hub;
    gbx_child_link *link;
    uint64_t number;
} member;

typedef struct question {
    TAILQ_ENTRY(question) entry; /* oldest first */
    member *member;
    uint64_t theirs; /* its number for the member */
    uint64_t number;
    bool is_answered; /* here */
    char *json;
} question;

/* A browser's stream of events. */
typedef struct watcher {
    LIST_ENTRY(watcher) entry;
    struct hub *hub;
    gbx_http_connection *connection;
    uint64_t next; /* number of the next event to send */
} watcher;

typedef struct hub {
    gbx_http_console hooks; /* the first member */
    gbx_http_options options;
    gbx_mcp_loop *loop;
    gbx_http_listeners listeners;
    gbx_http_server *server;
    char origin[40]; /* "http://127.0.0.1:4711" */
    char folder[16];
    char address[80]; /* "http://127.0.0.1:4711/FOLDER/" */
    char token[SECRET_SIZE];
    char cookie[SECRET_SIZE];
    gbx_child_set links; /* to members */
    LIST_HEAD(, member) members;
    TAILQ_HEAD(question_list, question) questions;
    LIST_HEAD(, watcher) watchers;
    uint64_t last_number; /* of members and questions */
    gbx_mcp_timer leave;  /* no browser has shown the page for a while */
    gbx_mcp_timer pump;
    char *events[EVENTS_MAX]; /* a ring, by number */
    uint64_t first;           /* number of the oldest kept event */
    uint64_t next;            /* number of the next one */
    size_t bytes;
    gbx_http_caller caller;
    gbx_child_set children;
    gbx_http_session *session; /* of the playground, as of any client; or NULL */
} hub;

/* ---- events -------------------------------------------------------------------------- */

static void put(const watcher *w, const char *type, const char *text)
{
    char head[64];

    (void)snprintf(head, sizeof head, "event: %s\ndata: ", type);
    (void)gbx_http_put(w->connection, head, text, strlen(text));
}

/* Send each browser its next events. */
static void on_pump(void *user)
{
    hub *h = user;
    char text[64];
    watcher *w;

    LIST_FOREACH(w, &h->watchers, entry)
    {
        if (w->next < h->first) {
            (void)snprintf(text, sizeof text, "%" PRIu64, h->first - w->next);
            put(w, "missed", text);
            w->next = h->first;
        }
        while (w->next < h->next && gbx_http_unread(w->connection) < UNREAD_MAX) {
            const char *event = h->events[w->next % EVENTS_MAX];

            (void)snprintf(text, sizeof text, "id: %" PRIu64 "\ndata: ", w->next++);
            if (!gbx_http_put(w->connection, text, event, strlen(event)))
                break;
        }
        if (w->next < h->next) /* some remain */
            gbx_mcp_timer_set(&h->pump, PUMP_MS);
    }
}

static void drop_oldest(hub *h)
{
    char *event = h->events[h->first++ % EVENTS_MAX];

    h->bytes -= strlen(event);
    free(event);
}

/* event is moved in. */
static void keep_event(hub *h, char *event)
{
    h->bytes += strlen(event);
    while (h->first < h->next &&
           (h->next - h->first == EVENTS_MAX || h->bytes > BYTES_MAX))
        drop_oldest(h);
    h->events[h->next++ % EVENTS_MAX] = event;
    if (!gbx_mcp_timer_is_set(&h->pump))
        gbx_mcp_timer_fire(&h->pump);
}

static void keep_servers(const member *m, const char *servers)
{
    keep_event(m->hub, gbx_printed("{\"event\":\"servers\",\"process\":%" PRIu64
                                   ",\"servers\":%s}",
                                   m->number, servers));
}

/* ---- questions ----------------------------------------------------------------------- */

static void open_question(member *m, uint64_t theirs, const char *json)
{
    hub *h = m->hub;
    const watcher *w;
    question *q;
    size_t count = 0;

    TAILQ_FOREACH(q, &h->questions, entry)
    count++;
    if (count >= QUESTIONS_MAX)
        return; /* the client may answer it */
    q = gbx_need(calloc(1, sizeof *q));
    q->member = m;
    q->theirs = theirs;
    q->number = ++h->last_number;
    q->json = gbx_printed("{\"number\":%" PRIu64 ",%s", q->number, json + 1);
    TAILQ_INSERT_TAIL(&h->questions, q, entry);
    LIST_FOREACH(w, &h->watchers, entry)
    put(w, "question", q->json);
}

/* theirs 0: all questions of the member. */
static void close_questions(const member *m, uint64_t theirs)
{
    hub *h = m->hub;
    char text[24];
    const watcher *w;
    question *next;
    question *q;

    for (q = TAILQ_FIRST(&h->questions); q != NULL; q = next) {
        next = TAILQ_NEXT(q, entry);
        if (q->member != m || (theirs != 0 && q->theirs != theirs))
            continue;
        (void)snprintf(text, sizeof text, "%" PRIu64, q->number);
        LIST_FOREACH(w, &h->watchers, entry)
        put(w, "closed", text);
        TAILQ_REMOVE(&h->questions, q, entry);
        free(q->json);
        free(q);
    }
}

/* ---- server processes ---------------------------------------------------------------- */

static void on_line(void *user, const char *line, size_t len)
{
    member *m = user;
    char *text = gbx_need(strndup(line + 1, len - 1));
    char *rest;
    uint64_t number = strtoull(text, &rest, 10);

    if (line[0] == GBX_CONSOLE_EVENT) {
        keep_event(m->hub, text);
        return;
    }
    if (line[0] == GBX_CONSOLE_SHOW)
        open_question(m, number, rest);
    else if (line[0] == GBX_CONSOLE_HIDE)
        close_questions(m, number);
    else if (line[0] == GBX_CONSOLE_SERVERS)
        keep_servers(m, text);
    free(text);
}

static void drop_member(void *user)
{
    member *m = user;

    close_questions(m, 0);
    keep_servers(m, "[]");
    LIST_REMOVE(m, entry);
    gbx_child_free(m->link);
    free(m);
}

static void send_line(const member *m, char kind, const char *text)
{
    GBX_CLEANUP(gbx_free) char *line = gbx_printed("%c%s", kind, text);

    (void)gbx_child_send(m->link, line, strlen(line));
}

static int join(gbx_http_console *hooks)
{
    hub *h = (hub *)(void *)hooks; /* its first member */
    member *m;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return -1;
    m = gbx_need(calloc(1, sizeof *m));
    m->hub = h;
    m->number = ++h->last_number;
    m->link = gbx_child_adopt(&h->links, pair[0],
                              &(gbx_child_hooks){.user = m,
                                                 .line = on_line,
                                                 .ended = drop_member});
    LIST_INSERT_HEAD(&h->members, m, entry);
    send_line(m, GBX_CONSOLE_ADDRESS, h->origin);
    send_line(m, GBX_CONSOLE_WATCHED, LIST_EMPTY(&h->watchers) ? "0" : "1");
    return pair[1];
}

/* ---- browsers ------------------------------------------------------------------------ */

static void on_leave(void *user)
{
    const hub *h = user;
    const member *m;

    LIST_FOREACH(m, &h->members, entry)
    send_line(m, GBX_CONSOLE_WATCHED, "0");
}

static void on_gone(void *user)
{
    watcher *w = user;
    hub *h = w->hub;

    LIST_REMOVE(w, entry);
    free(w);
    if (LIST_EMPTY(&h->watchers))
        gbx_mcp_timer_set(&h->leave, LEAVE_MS);
}

/* Stream the open questions, the events after the last that the browser has, and what
 * happens from then on. */
static void serve_events(hub *h, gbx_http_connection *c, const gbx_http_request *r)
{
    const char *last = gbx_http_field_of(r, "last-event-id");
    uint64_t after = last != NULL ? strtoull(last, NULL, 10) : 0;
    watcher *w = gbx_need(calloc(1, sizeof *w));
    const question *q;
    const member *m;

    w->hub = h;
    w->connection = c;
    w->next = after < h->next ? after + 1 : 1; /* else it is of an earlier server */
    LIST_INSERT_HEAD(&h->watchers, w, entry);
    gbx_http_begin_events(c, fields);
    gbx_http_on_gone(c, on_gone, w);
    put(w, "hello", w->next > 1 ? "true" : "false");
    TAILQ_FOREACH(q, &h->questions, entry)
    put(w, "question", q->json);
    gbx_mcp_timer_clear(&h->leave);
    LIST_FOREACH(m, &h->members, entry)
    send_line(m, GBX_CONSOLE_WATCHED, "1");
    gbx_mcp_timer_fire(&h->pump);
}

static void reply(gbx_http_connection *c, int status, const char *type,
                  const char *text)
{
    gbx_http_reply(c, status, fields, type, text, strlen(text));
}

static bool refuse(gbx_http_connection *c, int status, const char *why)
{
    GBX_CLEANUP(gbx_free) char *text = gbx_printed("{\"error\":\"%s\"}\n", why);

    reply(c, status, "application/json", text);
    return false;
}

/* {"number", "action", "content"}: the last two as in elicitation. */
static void serve_answer(hub *h, gbx_http_connection *c, const gbx_http_request *r)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {.ceiling = r->body.len + 32};
    int64_t number = 0;
    gbx_view body;
    question *q;

    if (r->body.len == 0 ||
        !gbx_view_open((const char *)r->body.data, r->body.len, &body) ||
        !gbx_rpc_integer(gbx_view_member(body, "number"), &number) ||
        gbx_view_kind(gbx_view_member(body, "action")) != '"') {
        (void)refuse(c, 400, "the body must be an object with 'number' and 'action'");
        return;
    }
    TAILQ_FOREACH(q, &h->questions, entry)
    {
        if (q->number != (uint64_t)number || q->is_answered)
            continue;
        q->is_answered = true;
        (void)gbx_buf_printf(&line, "%c%" PRIu64, GBX_CONSOLE_ANSWER, q->theirs);
        (void)gbx_json_append_line(&line, body.at, body.len);
        (void)gbx_child_send(q->member->link, line.data, line.len);
        reply(c, 200, "application/json", "{}\n");
        return;
    }
    (void)refuse(c, 404, "this question is not open any more");
}

static void on_session_ended(void *user, gbx_http_session *session)
{
    hub *h = user;

    h->session = NULL;
    gbx_http_session_free(session);
}

/* A message of MCP, as a client of 2026-07-28 sends it. */
static void serve_mcp(hub *h, gbx_http_connection *c, const gbx_http_request *r)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    if (r->body.len == 0 ||
        !gbx_rpc_read((const char *)r->body.data, r->body.len, &message, &fault)) {
        (void)refuse(c, 400, "the body must be a message of MCP");
        return;
    }
    if (h->session == NULL)
        h->session = gbx_http_session_new(&h->children, &h->caller, true);
    if (h->session == NULL) {
        (void)refuse(c, 503, "no process can be started for it");
        return;
    }
    h->session->user = h;
    h->session->ended = on_session_ended;
    h->session->streams.fields = fields;
    gbx_http_session_post(h->session, c, (const char *)r->body.data, r->body.len);
}

static const struct {
    const char *name;
    const char *type; /* of a constant text; else serve is called */
    const char *text;
    void (*serve)(hub *h, gbx_http_connection *c, const gbx_http_request *r);
    bool is_post;
} files[] = {
    {"", "text/html; charset=utf-8", gbx_console_html, NULL, false},
    {"page.css", "text/css; charset=utf-8", gbx_console_css, NULL, false},
    {"page.js", "text/javascript; charset=utf-8", gbx_console_js, NULL, false},
    {"events", NULL, NULL, serve_events, false},
    {"answer", NULL, NULL, serve_answer, true},
    {"mcp", NULL, NULL, serve_mcp, true},
};

/* Its index; the number of files if there is none. */
static size_t find_file(const hub *h, const gbx_http_request *r)
{
    size_t len = strlen(h->folder);
    size_t i = 0;

    if (strncmp(r->path + 1, h->folder, len) != 0 || r->path[len + 1] != '/')
        return GBX_COUNTOF(files);
    while (i < GBX_COUNTOF(files) && strcmp(files[i].name, r->path + len + 2) != 0)
        i++;
    return i;
}

static void on_request(void *user, gbx_http_connection *c, const gbx_http_request *r)
{
    hub *h = user;
    size_t i = find_file(h, r);

    if (files[i].serve != NULL)
        files[i].serve(h, c, r);
    else
        reply(c, 200, files[i].type, files[i].text);
}

/* ---- who may ------------------------------------------------------------------------- */

/* In constant time. */
static bool is_secret(const char *given, size_t len, const char secret[SECRET_SIZE])
{
    unsigned differs = 0;

    if (len != SECRET_SIZE - 1)
        return false;
    for (size_t i = 0; i < len; i++)
        differs |= (unsigned)(given[i] ^ secret[i]);
    return differs == 0;
}

static bool has_cookie(const hub *h, const gbx_http_request *r)
{
    static const char name[] = "glovebox=";
    const char *at = gbx_http_field_of(r, "cookie");

    for (; at != NULL && *at != '\0'; at += strspn(at, "; ")) {
        size_t len = strcspn(at, ";");

        if (strncmp(at, name, sizeof name - 1) == 0 &&
            is_secret(at + sizeof name - 1, len - (sizeof name - 1), h->cookie))
            return true;
        at += len;
    }
    return false;
}

/* True if no other page has sent it. Programs that are not browsers send neither field. */
static bool is_ours(const hub *h, const gbx_http_request *r, bool is_page)
{
    const char *origin = gbx_http_field_of(r, "origin");
    const char *site = gbx_http_field_of(r, "sec-fetch-site");

    if (origin != NULL && strcmp(origin, h->origin) != 0)
        return false;
    /* A link to the page may be anywhere: it cannot be shown inside another page. */
    return site == NULL || is_page || strcmp(site, "same-origin") == 0 ||
           strcmp(site, "none") == 0;
}

static void announce(hub *h)
{
    gbx_hex_random(h->token, sizeof h->token);
    gbx_mcp_warn("open the page once by %s?token=%s", h->address, h->token);
}

/* Exchange the token for the cookie. */
static bool open_page(hub *h, gbx_http_connection *c, const char *token)
{
    GBX_CLEANUP(gbx_free) char *more = NULL;

    if (!is_secret(token, strlen(token), h->token))
        return refuse(c, 403,
                      "this token was used, or is not valid: standard error of "
                      "the server has the next one");
    announce(h);
    /* Our own answer opens the page: a browser that comes from another site would not
     * send the cookie. */
    more = gbx_printed("%sRefresh: 0; url=%s\r\nSet-Cookie: glovebox=%s; Path=/%s/; "
                       "HttpOnly; SameSite=Strict\r\n",
                       fields, h->address, h->cookie, h->folder);
    gbx_http_reply(c, 200, more, "text/plain", "", 0);
    return true;
}

static bool check_method(gbx_http_connection *c, const gbx_http_request *r,
                         bool is_post)
{
    const char *type = gbx_http_field_of(r, "content-type");

    if (strcmp(r->method, is_post ? "POST" : "GET") != 0)
        return refuse(c, 405, is_post ? "POST only" : "GET only");
    if (!is_post && r->part == GBX_HTTP_IN_BODY)
        return refuse(c, 400, "only POST has a body");
    return !is_post || (type != NULL && strcasecmp(type, "application/json") == 0) ||
           refuse(c, 415, "Content-Type must be application/json");
}

/* Also from "/", the address that errors name: they are read by models and code, and
 * must not have the folder. */
static void send_away(gbx_http_connection *c)
{
    reply(c, 401, "text/html",
          "<!doctype html><title>Glovebox</title><p>Open the address with a token "
          "that the server has printed on standard error. If this browser has opened "
          "it, <a href=\"./\">go on</a>, or take it from the history.\n");
}

static gbx_http_verdict on_head(void *user, gbx_http_connection *c,
                                const gbx_http_request *r)
{
    hub *h = user;
    size_t i = find_file(h, r);
    const char *host = gbx_http_field_of(r, "host");

    if (host == NULL || strcmp(host, h->origin + strlen("http://")) != 0)
        (void)refuse(c, 403, "the Host field names another server");
    else if (i == GBX_COUNTOF(files) && strcmp(r->path, "/") != 0)
        (void)refuse(c, 404, "nothing is served at this path");
    else if (i == GBX_COUNTOF(files))
        send_away(c);
    else if (!is_ours(h, r, i == 0))
        (void)refuse(c, 403, "another page has sent this");
    else if (!check_method(c, r, files[i].is_post))
        return GBX_HTTP_ANSWERED;
    else if (i == 0 && r->query != NULL && strncmp(r->query, "token=", 6) == 0)
        (void)open_page(h, c, r->query + 6);
    else if (has_cookie(h, r))
        return GBX_HTTP_GO_ON;
    else
        send_away(c);
    return GBX_HTTP_ANSWERED;
}

/* ---- start and end ------------------------------------------------------------------- */

static gbx_status start(gbx_http_console *hooks, gbx_mcp_loop *loop, int spawner,
                        const gbx_http_caller *caller, gbx_error *reterr)
{
    hub *h = (hub *)(void *)hooks;
    const gbx_http_hooks requests = {.user = h,
                                     .max = CONNECTIONS_MAX,
                                     .head = on_head,
                                     .request = on_request};
    gbx_status status = gbx_http_listeners_open(&h->listeners, &h->options, reterr);
    uint16_t port = h->listeners.items[0].port;

    if (status != GBX_OK)
        return status;
    h->loop = loop;
    h->caller = *caller;
    h->links.loop = loop;
    h->children = (gbx_child_set){.loop = loop, .console = hooks, .spawner = spawner};
    gbx_mcp_timer_init(&h->leave, loop, on_leave, h);
    gbx_mcp_timer_init(&h->pump, loop, on_pump, h);
    gbx_hex_random(h->folder, sizeof h->folder);
    gbx_hex_random(h->cookie, sizeof h->cookie);
    /* Browsers leave out the port that is usual. */
    (void)snprintf(h->origin, sizeof h->origin,
                   port == 80 ? "http://127.0.0.1" : "http://127.0.0.1:%u", port);
    (void)snprintf(h->address, sizeof h->address, "%s/%s/", h->origin, h->folder);
    h->server = gbx_http_server_new(loop, &h->listeners, NULL, &requests);
    gbx_http_server_accept(h->server);
    announce(h);
    return GBX_OK;
}

static void stop(gbx_http_console *hooks)
{
    hub *h = (hub *)(void *)hooks;

    if (h->server == NULL)
        return;
    gbx_http_session_free(h->session);
    gbx_http_server_free(h->server); /* no browser is left then */
    h->server = NULL;
    while (!LIST_EMPTY(&h->members))
        drop_member(LIST_FIRST(&h->members));
    gbx_child_set_drop(&h->links);
    gbx_child_set_drop(&h->children);
    gbx_mcp_timer_cleanup(&h->leave);
    gbx_mcp_timer_cleanup(&h->pump);
    while (h->first < h->next)
        drop_oldest(h);
}

gbx_status gbx_console_check(const char *port, gbx_error *reterr)
{
    const gbx_http_options options = {.address = port};

    return port[strspn(port, "0123456789")] == '\0' &&
                   gbx_http_listeners_check(&options, reterr) == GBX_OK
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_USAGE, "'--console' needs a port, 0 to 65535");
}

gbx_http_console *gbx_console_new(const char *port)
{
    hub *h = gbx_need(calloc(1, sizeof *h));

    h->hooks = (gbx_http_console){.start = start, .join = join, .stop = stop};
    h->options.address = port;
    h->first = h->next = 1;
    TAILQ_INIT(&h->questions);
    return &h->hooks;
}

void gbx_console_free(gbx_http_console *console)
{
    hub *h = (hub *)(void *)console;

    if (h == NULL)
        return;
    gbx_http_listeners_close(&h->listeners);
    free(h);
}

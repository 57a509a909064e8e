/* SPDX-License-Identifier: MIT */
/*
 * http_connection - a connection that carries one request after another.
 *
 * The next request may begin when the answer has been sent. Bytes that come earlier are
 * dropped, and the connection is closed after the answer. So bytes that a proxy took
 * for part of a body never become a request.
 *
 * The deadline of a request is not extended by each byte, so a client that sends one
 * byte a second gains nothing. When all places are taken, the oldest of the least
 * important connections is closed (see rank_of()), but none whose answer is pending.
 *
 * After the last answer only our direction is closed at first. If we closed both while
 * bytes of the client are unread, the kernel would reset the connection, and the client
 * might never see the answer.
 */
#include "mcp/http/http.h"

#include "base/cleanup.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

/* Limit of connections, lower if the process may have fewer descriptors than both. Others
 * are for children, their links to the page, and its browsers. */
#define CONNECTIONS_MAX 4096
#define OTHER_FDS       (3 * GBX_CHILDREN_MAX)

#define IDLE_MS   60000  /* between requests */
#define HEAD_MS   10000  /* for the head */
#define BODY_MS   120000 /* for the body, after it */
#define STALL_MS  30000  /* for a client to read any of its waiting bytes */
#define LINGER_MS 1000   /* for a client to close after the answer */
#define PAUSE_MS  100    /* before the next accept() after one has failed */

/* Limit of unread events of one client; beyond it the connection is closed. */
#define OUTPUT_MAX GBX_MIB(66)
/* Limit for all clients together: of request bodies, and again of unread output. */
#define HELD_MAX GBX_MIB(512)

typedef enum conn_phase {
    IDLE, /* between requests */
    READING,
    WAITING, /* for the answer */
    STREAMING,
    FLUSHING,  /* the last bytes of the answer */
    LINGERING, /* for the client to close */
} conn_phase;

typedef struct http_port {
    gbx_http_server *server;
    const gbx_http_listener *of;
    struct evconnlistener *accepts; /* NULL: stopped */
} http_port;

struct gbx_http_connection {
    TAILQ_ENTRY(gbx_http_connection) entry; /* longest idle, or oldest, first */
    gbx_http_server *server;
    const gbx_http_listener *listener;
    struct bufferevent *bev;
    gbx_mcp_timer deadline;
    gbx_http_request request;
    conn_phase phase;
    bool is_last;   /* close it after this answer */
    bool is_half;   /* the client sends no more */
    bool is_held;   /* the head is not decided about: nothing is read */
    bool is_broken; /* output was refused: it closes in the next turn */
    void (*gone)(void *user);
    void *gone_user;
};

struct gbx_http_server {
    gbx_mcp_loop *loop;
    gbx_http_hooks hooks;
    gbx_http_tls *tls; /* NULL: none; borrowed */
    http_port ports[GBX_HTTP_LISTENERS_MAX];
    size_t port_count;
    bool is_ending;
    gbx_mcp_timer again;
    TAILQ_HEAD(, gbx_http_connection) connections;
    size_t count;
    size_t max;
    size_t held; /* bytes of the bodies that are being read */
};

/* True if connections of that listener use TLS: all but those at a socket file. */
static bool has_tls(const gbx_http_server *server, const gbx_http_listener *listener)
{
    return server->tls != NULL && listener->host[0] != '\0';
}

/* ---- closing ------------------------------------------------------------------- */

static void drop_body(gbx_http_connection *c)
{
    c->server->held -= c->request.body.len;
    gbx_buf_cleanup(&c->request.body);
}

static void close_connection(gbx_http_connection *c)
{
    void (*gone)(void *user) = c->gone;

    c->gone = NULL;
    TAILQ_REMOVE(&c->server->connections, c, entry);
    c->server->count--;
    bufferevent_free(c->bev);
    gbx_mcp_timer_cleanup(&c->deadline);
    drop_body(c);
    gbx_http_request_cleanup(&c->request);
    if (gone != NULL)
        gone(c->gone_user);
    free(c);
}

static void on_deadline(void *user)
{
    gbx_http_connection *c = user;

    if (c->phase == READING)
        gbx_http_reply(c, 408, NULL, NULL, NULL, 0);
    else
        close_connection(c);
}

static void linger(gbx_http_connection *c)
{
    c->phase = LINGERING;
    if (has_tls(c->server, c->listener))
        gbx_http_tls_end(c->server->tls, c->bev);
    (void)shutdown(bufferevent_getfd(c->bev), SHUT_WR);
    gbx_mcp_timer_set(&c->deadline, c->is_half ? 0 : LINGER_MS);
}

/* All output was written. */
static void on_written(struct bufferevent *bev, void *arg)
{
    gbx_http_connection *c = arg;

    if (c->phase != FLUSHING || evbuffer_get_length(bufferevent_get_output(bev)) > 0)
        return;
    if (c->is_last) {
        linger(c);
        return;
    }
    /* Wait for the next request. */
    TAILQ_REMOVE(&c->server->connections, c, entry);
    TAILQ_INSERT_TAIL(&c->server->connections, c, entry);
    gbx_http_request_cleanup(&c->request); /* its body is freed already */
    gbx_http_request_init(&c->request);
    c->phase = IDLE;
    gbx_mcp_timer_set(&c->deadline, IDLE_MS);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    gbx_http_connection *c = arg;

    if ((what & BEV_EVENT_CONNECTED) != 0) /* the handshake of TLS is done */
        return;
    c->is_half = (what & BEV_EVENT_EOF) != 0;
    if (c->phase == FLUSHING && c->is_half) {
        c->is_last = true;
        (void)bufferevent_disable(bev, EV_READ);
    } else {
        close_connection(c);
    }
}

/* ---- the request --------------------------------------------------------------- */

/* True if len more bytes fit, besides the unread output of all clients. Small answers
 * always fit. */
static bool has_room(const gbx_http_server *server, size_t len)
{
    const gbx_http_connection *c;
    size_t held = len;

    if (len < GBX_KIB(64))
        return true;
    TAILQ_FOREACH(c, &server->connections, entry)
    held += gbx_http_unread(c);
    return held <= HELD_MAX;
}

/* The head is complete. */
static void judge_head(gbx_http_connection *c)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const gbx_http_hooks *hooks = &c->server->hooks;
    gbx_http_verdict verdict = hooks->head(hooks->user, c, &c->request);
    const char *expect;

    c->is_held = verdict == GBX_HTTP_UNDECIDED;
    if (c->is_held)
        (void)bufferevent_disable(c->bev, EV_READ);
    if (verdict != GBX_HTTP_GO_ON || c->request.part != GBX_HTTP_IN_BODY)
        return;
    /* The client may send the body. */
    gbx_mcp_timer_set(&c->deadline, BODY_MS);
    expect = gbx_http_field_of(&c->request, "expect");
    if (expect == NULL || c->request.is_1_0) /* 1.0 has no such answer */
        return;
    if (strcasecmp(expect, "100-continue") != 0)
        gbx_http_reply(c, 417, NULL, NULL, NULL, 0);
    else
        (void)bufferevent_write(c->bev, go_on, sizeof go_on - 1);
}

static void take_complete(gbx_http_connection *c)
{
    const gbx_http_hooks *hooks = &c->server->hooks;

    if (c->phase != READING || c->is_held || c->request.part != GBX_HTTP_COMPLETE)
        return;
    c->is_last = gbx_http_is_last(&c->request);
    c->phase = WAITING;
    gbx_mcp_timer_clear(&c->deadline);
    hooks->request(hooks->user, c, &c->request);
    drop_body(c);
}

/* Read the next bytes of the request; *used is their number. */
static void read_request(gbx_http_connection *c, const char *data, size_t len,
                         size_t *used)
{
    gbx_http_part part = c->request.part;
    size_t before = c->request.body.len;
    int status = gbx_http_request_feed(&c->request, data, len, used);
    gbx_http_connection *largest = NULL;
    gbx_http_connection *each;

    c->server->held += c->request.body.len - before;
    if (status != 0) {
        gbx_http_reply(c, status, NULL, NULL, NULL, 0);
        return;
    }
    if (part == GBX_HTTP_IN_HEAD && c->request.part != part)
        judge_head(c);
    if (c->server->held <= HELD_MAX)
        return;
    /* Refuse the unfinished request with the largest body, to free memory. */
    TAILQ_FOREACH(each, &c->server->connections, entry)
    if (each->phase == READING &&
        (largest == NULL || each->request.body.len > largest->request.body.len))
        largest = each;
    if (largest != NULL)
        gbx_http_reply(largest, 503, NULL, NULL, NULL, 0);
}

static void feed_request(gbx_http_connection *c, const char *data, size_t len)
{
    size_t used;

    if (c->phase == IDLE) {
        c->phase = READING;
        gbx_mcp_timer_set(&c->deadline, HEAD_MS);
    }
    while (c->phase == READING && !c->is_held && len > 0) {
        read_request(c, data, len, &used);
        data += used;
        len -= used;
        take_complete(c);
    }
    if (c->is_held)
        (void)evbuffer_prepend(bufferevent_get_input(c->bev), data, len);
    else if (len > 0)
        c->is_last = true;
}

/* feed_request() never frees the connection: at most it answers, and the connection is
 * freed in a later turn of the loop. */
static void on_input(struct bufferevent *bev, void *arg)
{
    struct evbuffer *input = bufferevent_get_input(bev);
    gbx_http_connection *c = arg;
    char chunk[16384];
    int n;

    while (!c->is_held && (n = evbuffer_remove(input, chunk, sizeof chunk)) > 0)
        feed_request(c, chunk, (size_t)n);
}

void gbx_http_server_decide(gbx_http_server *server)
{
    gbx_http_connection *c;

    TAILQ_FOREACH(c, &server->connections, entry)
    {
        if (!c->is_held || c->phase != READING)
            continue;
        judge_head(c);
        take_complete(c);
        if (!c->is_held) {
            (void)bufferevent_enable(c->bev, EV_READ);
            on_input(c->bev, c);
        }
    }
}

/* ---- accepting ----------------------------------------------------------------- */

/* How readily a connection is closed for a new one; 0: never, its answer is pending. */
static int rank_of(const gbx_http_connection *c)
{
    if (c->phase == LINGERING ||
        (c->phase == READING && c->request.part == GBX_HTTP_IN_HEAD))
        return 3; /* the client may have no right to send requests */
    if (c->phase == IDLE)
        return 2;
    return c->phase == READING ? 1 : 0;
}

/* If all places are taken, close the oldest connection of the highest rank. */
static bool make_room(gbx_http_server *server)
{
    gbx_http_connection *first = NULL;
    gbx_http_connection *c;

    if (server->count < server->max)
        return true;
    TAILQ_FOREACH(c, &server->connections, entry)
    if (rank_of(c) > (first != NULL ? rank_of(first) : 0))
        first = c;
    if (first != NULL)
        close_connection(first);
    return first != NULL;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *address, int len, void *arg)
{
    static const struct timeval stall = {.tv_sec = STALL_MS / 1000};
    static const int on = 1;
    const http_port *port = arg;
    gbx_http_server *server = port->server;
    struct event_base *base = gbx_mcp_loop_base(server->loop);
    gbx_http_connection *c;

    if (!make_room(server)) {
        (void)close(fd);
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c = gbx_need(calloc(1, sizeof *c));
    c->server = server;
    c->listener = port->of;
    gbx_http_request_init(&c->request);
    gbx_mcp_timer_init(&c->deadline, server->loop, on_deadline, c);
    gbx_mcp_timer_set(&c->deadline, HEAD_MS);
    c->bev = gbx_need(has_tls(server, port->of)
                          ? gbx_http_tls_accept(server->tls, base, fd)
                          : bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE));
    bufferevent_setcb(c->bev, on_input, on_written, on_event, c);
    bufferevent_set_timeouts(c->bev, NULL, &stall);
    (void)bufferevent_enable(c->bev, EV_READ | EV_WRITE);
    TAILQ_INSERT_TAIL(&server->connections, c, entry);
    server->count++;
}

/* Descriptors or memory have run out: accepting again at once would only spin. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
    const http_port *port = arg;

    (void)evconnlistener_disable(listener);
    gbx_mcp_timer_set(&port->server->again, PAUSE_MS);
}

static void on_again(void *user)
{
    gbx_http_server_accept(user);
}

static void open_port(gbx_http_server *server, gbx_http_listener *listener)
{
    http_port *port = &server->ports[server->port_count++];

    port->server = server;
    port->of = listener;
    port->accepts =
        gbx_need(evconnlistener_new(gbx_mcp_loop_base(server->loop), on_accept, port,
                                    LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE |
                                        LEV_OPT_DISABLED,
                                    0, gbx_fd_take(&listener->fd)));
    evconnlistener_set_error_cb(port->accepts, on_accept_error);
}

gbx_http_server *gbx_http_server_new(gbx_mcp_loop *loop, gbx_http_listeners *listeners,
                                     gbx_http_tls *tls, const gbx_http_hooks *hooks)
{
    gbx_http_server *server = gbx_need(calloc(1, sizeof *server));
    struct rlimit limit;

    server->loop = loop;
    server->hooks = *hooks;
    server->tls = tls;
    server->max = CONNECTIONS_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur < CONNECTIONS_MAX + OTHER_FDS)
        server->max = limit.rlim_cur > OTHER_FDS ? limit.rlim_cur - OTHER_FDS : 1;
    if (hooks->max > 0)
        server->max = hooks->max;
    TAILQ_INIT(&server->connections);
    gbx_mcp_timer_init(&server->again, loop, on_again, server);
    for (size_t i = 0; i < listeners->count; i++)
        open_port(server, &listeners->items[i]);
    return server;
}

void gbx_http_server_accept(gbx_http_server *server)
{
    for (size_t i = 0; i < server->port_count; i++)
        if (server->ports[i].accepts != NULL)
            (void)evconnlistener_enable(server->ports[i].accepts);
}

void gbx_http_server_stop_accepting(gbx_http_server *server)
{
    gbx_http_connection *next;
    gbx_http_connection *c;

    server->is_ending = true;
    for (size_t i = 0; i < server->port_count; i++) {
        if (server->ports[i].accepts != NULL)
            evconnlistener_free(server->ports[i].accepts);
        server->ports[i].accepts = NULL;
    }
    for (c = TAILQ_FIRST(&server->connections); c != NULL; c = next) {
        next = TAILQ_NEXT(c, entry);
        if (c->phase == IDLE)
            close_connection(c);
    }
}

bool gbx_http_server_is_sending(const gbx_http_server *server)
{
    const gbx_http_connection *c;

    TAILQ_FOREACH(c, &server->connections, entry)
    if (c->phase == FLUSHING && !c->is_broken)
        return true;
    return false;
}

void gbx_http_server_free(gbx_http_server *server)
{
    if (server == NULL)
        return;
    gbx_http_server_stop_accepting(server);
    while (!TAILQ_EMPTY(&server->connections))
        close_connection(TAILQ_FIRST(&server->connections));
    gbx_mcp_timer_cleanup(&server->again);
    free(server);
}

void gbx_http_on_gone(gbx_http_connection *c, void (*gone)(void *user), void *user)
{
    c->gone = gone;
    c->gone_user = user;
}

/* ---- the answer ------------------------------------------------------------------ */

/* The answer is complete; what the client still sends is dropped. */
void gbx_http_end(gbx_http_connection *c)
{
    c->gone = NULL;
    if (c->phase == READING) /* refused; else take_complete() drops it */
        drop_body(c);
    c->phase = FLUSHING;
    if (c->is_broken)
        return; /* closed next turn, so the client sees an incomplete answer */
    gbx_mcp_timer_clear(&c->deadline);
    if (gbx_http_unread(c) == 0)
        linger(c);
}

/* is_last: close the connection after this answer in any case. */
static void put_head(gbx_http_connection *c, int status, const char *fields,
                     bool is_last)
{
    static const struct {
        int status;
        const char *text;
    } reasons[] = {
        {200, "OK"},
        {202, "Accepted"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {431, "Request Header Fields Too Large"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };
    const char *reason = "Error";

    for (size_t i = 0; i < GBX_COUNTOF(reasons); i++)
        if (reasons[i].status == status)
            reason = reasons[i].text;
    c->is_last = c->is_last || is_last || c->server->is_ending;
    (void)evbuffer_add_printf(bufferevent_get_output(c->bev), "HTTP/1.1 %d %s\r\n%s%s",
                              status, reason, c->is_last ? "Connection: close\r\n" : "",
                              fields != NULL ? fields : "");
}

void gbx_http_reply(gbx_http_connection *c, int status, const char *fields,
                    const char *type, const void *body, size_t len)
{
    struct evbuffer *output = bufferevent_get_output(c->bev);

    if (!has_room(c->server, len)) {
        status = 503;
        type = NULL;
        len = 0;
    }
    put_head(c, status, fields, c->phase != WAITING);
    if (type != NULL)
        (void)evbuffer_add_printf(output, "Content-Type: %s\r\n", type);
    (void)evbuffer_add_printf(output, "Content-Length: %zu\r\n\r\n", len);
    (void)evbuffer_add(output, body, len);
    gbx_http_end(c);
}

void gbx_http_reply_error(gbx_http_connection *c, int status, const char *fields,
                          gbx_view id, int code, const char *message)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_MIB(17)};

    gbx_rpc_append_error(&text, id, code, message, NULL);
    c->is_last = true;
    gbx_http_reply(c, status, fields, "application/json", text.data, text.len);
}

void gbx_http_begin_events(gbx_http_connection *c, const char *fields)
{
    static const char rest[] = "Content-Type: text/event-stream\r\n"
                               "Cache-Control: no-cache\r\n"
                               "X-Accel-Buffering: no\r\n\r\n";

    put_head(c, 200, fields, true);
    (void)bufferevent_write(c->bev, rest, sizeof rest - 1);
    c->phase = STREAMING;
}

bool gbx_http_put(gbx_http_connection *c, const char *head, const void *text,
                  size_t len)
{
    /* Closed in the next turn: the caller still uses it. */
    if (!c->is_broken &&
        (gbx_http_unread(c) + len > OUTPUT_MAX || !has_room(c->server, len))) {
        c->is_broken = true;
        gbx_mcp_timer_fire(&c->deadline);
    }
    if (c->is_broken)
        return false;
    (void)bufferevent_write(c->bev, head, strlen(head));
    (void)bufferevent_write(c->bev, text, len);
    (void)bufferevent_write(c->bev, "\n\n", 2);
    return true;
}

void gbx_http_close_after(gbx_http_connection *c, uint32_t seconds)
{
    if (seconds > 0 && seconds < UINT32_MAX / 1000 && c->phase != FLUSHING)
        gbx_mcp_timer_set(&c->deadline, seconds * 1000);
}

int gbx_http_descriptor(const gbx_http_connection *c)
{
    return bufferevent_getfd(c->bev);
}

const gbx_http_listener *gbx_http_listener_of(const gbx_http_connection *c)
{
    return c->listener;
}

size_t gbx_http_unread(const gbx_http_connection *c)
{
    return evbuffer_get_length(bufferevent_get_output(c->bev));
}

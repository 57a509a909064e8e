/* SPDX-License-Identifier: MIT */
/* nats_proxy - see nats_proxy.h. */
#include "nats_proxy.h"

#include "base/buf.h"
#include "test.h"
#include "until.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 64
#define BUFFERED_MAX    (64u << 20)
#define TYPE_AT         4 /* in a frame's header */

typedef struct connection {
    int fd[2]; /* the process, the server; -1: not in use */
    unsigned link;
    gbx_buf came;   /* from the process, and not yet passed on */
    gbx_buf out[2]; /* to each */
    double held_until;
} connection;

struct nats_proxy {
    int server_port;
    unsigned links;
    proxy_fn fn;
    void *user;
    int listening[PROXY_LINKS];
    int port[PROXY_LINKS];
    connection connections[CONNECTIONS_MAX];
    pthread_t thread;
    atomic_bool ends;
};

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void end_connection(connection *c)
{
    for (int side = 0; side < 2; side++) {
        if (c->fd[side] >= 0)
            (void)close(c->fd[side]);
        c->fd[side] = -1;
        gbx_buf_cleanup(&c->out[side]);
    }
    gbx_buf_cleanup(&c->came);
}

static void begin_connection(nats_proxy *p, unsigned link)
{
    struct sockaddr_in to = loopback(p->server_port);
    int fd = accept4(p->listening[link], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    connection *c = p->connections;

    while (c < p->connections + CONNECTIONS_MAX && c->fd[0] >= 0)
        c++;
    if (fd < 0 || c == p->connections + CONNECTIONS_MAX) {
        (void)close(fd);
        return;
    }
    *c = (connection){.fd = {fd, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)},
                      .link = link};
    gbx_buf_init(&c->came, BUFFERED_MAX);
    gbx_buf_init(&c->out[0], BUFFERED_MAX);
    gbx_buf_init(&c->out[1], BUFFERED_MAX);
    if (connect(c->fd[1], (struct sockaddr *)&to, sizeof to) != 0 ||
        fcntl(c->fd[1], F_SETFL, O_NONBLOCK) != 0)
        end_connection(c);
}

/* False: the connection is at its end. */
static bool receive(connection *c, int side)
{
    gbx_buf *to = side == 0 ? &c->came : &c->out[0];
    uint8_t *room = gbx_buf_reserve(to, 65536);
    ssize_t n = room != NULL ? recv(c->fd[side], room, 65536, 0) : 0;

    if (n > 0)
        to->len += (size_t)n;
    return n > 0 || (n < 0 && errno == EAGAIN);
}

static bool send_out(connection *c, int side)
{
    gbx_buf *from = &c->out[side];
    ssize_t n =
        from->len > 0 ? send(c->fd[side], from->data, from->len, MSG_NOSIGNAL) : 0;

    if (n > 0)
        gbx_buf_consume(from, (size_t)n);
    return n >= 0 || errno == EAGAIN;
}

/* Bytes of the first item of the protocol, 0: it is not whole. *ret_type: of a frame, or 0. */
static size_t next_item(const gbx_buf *in, uint8_t *ret_type)
{
    const char *end = in->len > 0 ? memmem(in->data, in->len, "\r\n", 2) : NULL;
    const char *line = (const char *)in->data;
    size_t len = end != NULL ? (size_t)(end - line) + 2 : 0;
    size_t payload;
    const char *last;

    *ret_type = 0;
    if (len == 0 || strncmp(line, "PUB ", 4) != 0)
        return len;
    for (last = end; last[-1] != ' ';)
        last--;
    payload = strtoul(last, NULL, 10);
    if (in->len < len + payload + 2)
        return 0;
    if (strncmp(line, "PUB glovebox.v1.", 16) == 0 && payload > TYPE_AT)
        *ret_type = in->data[len + TYPE_AT];
    return len + payload + 2;
}

/* False: it was cut. */
static bool pass_on(nats_proxy *p, connection *c)
{
    uint8_t type;
    size_t len;

    while (c->held_until < now_ms() && (len = next_item(&c->came, &type)) > 0) {
        for (int is_passed = 0; is_passed < 2; is_passed++) {
            unsigned hold_ms = 0;
            proxy_verdict verdict =
                type != 0 ? p->fn(p->user, c->link, type, is_passed != 0, &hold_ms)
                          : PROXY_PASS;

            if (verdict == PROXY_HOLD)
                c->held_until = now_ms() + hold_ms;
            if (is_passed == 0) {
                if (verdict == PROXY_CUT)
                    return false;
                (void)gbx_buf_append(&c->out[1], c->came.data, len);
                gbx_buf_consume(&c->came, len);
            } else if (verdict == PROXY_CUT) {
                return false;
            }
        }
    }
    return true;
}

static void serve(nats_proxy *p, connection *c, const struct pollfd fds[2])
{
    const short ends = POLLERR | POLLHUP | POLLNVAL;
    bool is_alive = true;

    for (int side = 0; side < 2; side++)
        if ((fds[side].revents & (POLLIN | ends)) != 0)
            is_alive = is_alive && receive(c, side);
    is_alive = is_alive && pass_on(p, c);
    if (is_alive && c->held_until < now_ms())
        is_alive = send_out(c, 0) && send_out(c, 1);
    if (is_alive)
        return;
    (void)send_out(c, 0);
    (void)send_out(c, 1);
    end_connection(c);
}

static void *run(void *user)
{
    nats_proxy *p = user;
    struct pollfd fds[PROXY_LINKS + 2 * CONNECTIONS_MAX];

    while (!p->ends) {
        for (unsigned i = 0; i < PROXY_LINKS; i++)
            fds[i] = (struct pollfd){.fd = p->listening[i], .events = POLLIN};
        for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
            for (int side = 0; side < 2; side++) {
                connection *c = &p->connections[i];
                bool writes = c->out[side].len > 0 && c->held_until < now_ms();

                fds[PROXY_LINKS + 2 * i + (unsigned)side] =
                    (struct pollfd){.fd = c->fd[side],
                                    .events =
                                        (short)(c->held_until < now_ms() ? POLLIN : 0) |
                                        (short)(writes ? POLLOUT : 0)};
            }
        (void)poll(fds, PROXY_LINKS + 2 * CONNECTIONS_MAX, 5);
        for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
            if (p->connections[i].fd[0] >= 0)
                serve(p, &p->connections[i], &fds[PROXY_LINKS + 2 * i]);
        for (unsigned i = 0; i < p->links; i++)
            if ((fds[i].revents & POLLIN) != 0)
                begin_connection(p, i);
    }
    return NULL;
}

nats_proxy *nats_proxy_start(int server_port, unsigned links, proxy_fn fn, void *user)
{
    nats_proxy *p = calloc(1, sizeof *p);

    assert_non_null(p);
    p->server_port = server_port;
    p->links = links;
    p->fn = fn;
    p->user = user;
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
        p->connections[i].fd[0] = p->connections[i].fd[1] = -1;
    for (unsigned i = 0; i < PROXY_LINKS; i++) {
        struct sockaddr_in at = {.sin_family = AF_INET}; /* of links, too */
        socklen_t len = sizeof at;

        p->listening[i] = -1;
        if (i >= links)
            continue;
        p->listening[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(p->listening[i], (struct sockaddr *)&at, sizeof at), 0);
        assert_int_equal(listen(p->listening[i], 64), 0);
        assert_int_equal(getsockname(p->listening[i], (struct sockaddr *)&at, &len), 0);
        p->port[i] = ntohs(at.sin_port);
    }
    assert_int_equal(pthread_create(&p->thread, NULL, run, p), 0);
    return p;
}

int nats_proxy_port(const nats_proxy *p, unsigned link)
{
    return p->port[link];
}

void nats_proxy_stop(nats_proxy *p)
{
    if (p == NULL)
        return;
    p->ends = true;
    (void)pthread_join(p->thread, NULL);
    for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
        end_connection(&p->connections[i]);
    for (unsigned i = 0; i < p->links; i++)
        (void)close(p->listening[i]);
    free(p);
}

/* SPDX-License-Identifier: MIT */
/* http_server - threads and sockets; what is said is in http_replies.c. */
#include "http_server.h"

#include "http_channel.h"
#include "http_replies.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 4096
#define REQUEST_MAX     65536

typedef struct connection {
    server *owner;
    int fd;
    pthread_t thread;
} connection;

struct server {
    server_options options;
    int listener;
    uint16_t port;
    pthread_t thread;
    pthread_mutex_t lock;
    connection connections[CONNECTIONS_MAX];
    unsigned count;
    char last[REQUEST_MAX];
};

static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "server: %s failed\n", what);
    abort();
}

/* The head and what its Content-Length promises; false if the client went before. */
static bool read_request(channel *to, char *text, size_t size)
{
    size_t len = 0;
    const char *body = NULL;
    size_t wanted = 0;

    text[0] = '\0';
    while (body == NULL || len < (size_t)(body - text) + wanted) {
        const char *length;
        ssize_t n;

        if (len + 1 >= size)
            return true;
        n = channel_read(to, text + len, size - len - 1);
        if (n <= 0)
            return false;
        len += (size_t)n;
        text[len] = '\0';
        body = strstr(text, "\r\n\r\n");
        if (body == NULL)
            continue;
        body += 4;
        length = strcasestr(text, "\r\nContent-Length:");
        wanted = length != NULL ? strtoul(length + 17, NULL, 10) : 0;
    }
    return true;
}

static void *serve(void *user)
{
    connection *c = user;
    server *s = c->owner;
    char *request = malloc(REQUEST_MAX);
    channel to;

    must(request != NULL, "malloc");
    if (channel_open(&to, c->fd, s->options.identity) &&
        read_request(&to, request, REQUEST_MAX)) {
        (void)pthread_mutex_lock(&s->lock);
        memcpy(s->last, request, REQUEST_MAX);
        (void)pthread_mutex_unlock(&s->lock);
        reply_to(&to, &s->options, request);
    }
    channel_close(&to);
    free(request);
    /* The descriptor stays until the server stops, or its number would be another's. */
    (void)shutdown(c->fd, SHUT_RDWR);
    return NULL;
}

static void *accept_all(void *user)
{
    server *s = user;
    int fd;

    while ((fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        connection *c;

        (void)pthread_mutex_lock(&s->lock);
        must(s->count < CONNECTIONS_MAX, "a connection more than the table holds");
        c = &s->connections[s->count];
        *c = (connection){.owner = s, .fd = fd};
        must(pthread_create(&c->thread, NULL, serve, c) == 0, "pthread_create");
        s->count++;
        (void)pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static int listen_on(const char *address, uint16_t *ret_port)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    bool is_v6 = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;
    struct sockaddr *at = is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    socklen_t len = is_v6 ? sizeof v6 : sizeof v4;
    int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    must(is_v6 || inet_pton(AF_INET, address, &v4.sin_addr) == 1, "inet_pton");
    must(fd >= 0 && bind(fd, at, len) == 0 && listen(fd, 128) == 0, "listen");
    must(getsockname(fd, at, &len) == 0, "getsockname");
    *ret_port = ntohs(is_v6 ? v6.sin6_port : v4.sin_port);
    return fd;
}

/* ---- public to the tests ------------------------------------------------- */

server *server_start(const server_options *options)
{
    server *s = calloc(1, sizeof *s);
    sigset_t all;
    sigset_t before;

    must(s != NULL, "calloc");
    if (options != NULL)
        s->options = *options;
    s->listener =
        listen_on(s->options.address != NULL ? s->options.address : "127.0.0.1",
                  &s->port);
    must(pthread_mutex_init(&s->lock, NULL) == 0, "pthread_mutex_init");
    /* Signals are for the test; a broken pipe is none to a server's thread. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    must(pthread_create(&s->thread, NULL, accept_all, s) == 0, "pthread_create");
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return s;
}

void server_stop(server *s)
{
    (void)shutdown(s->listener, SHUT_RDWR);
    (void)pthread_join(s->thread, NULL);
    for (unsigned i = 0; i < s->count; i++)
        (void)shutdown(s->connections[i].fd, SHUT_RDWR);
    for (unsigned i = 0; i < s->count; i++) {
        (void)pthread_join(s->connections[i].thread, NULL);
        (void)close(s->connections[i].fd);
    }
    (void)close(s->listener);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

uint16_t server_port(const server *s)
{
    return s->port;
}

unsigned server_connections(server *s)
{
    unsigned count;

    (void)pthread_mutex_lock(&s->lock);
    count = s->count;
    (void)pthread_mutex_unlock(&s->lock);
    return count;
}

void server_last_request(server *s, char *text, size_t size)
{
    (void)pthread_mutex_lock(&s->lock);
    (void)snprintf(text, size, "%s", s->last);
    (void)pthread_mutex_unlock(&s->lock);
}

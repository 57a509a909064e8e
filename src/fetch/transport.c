/* SPDX-License-Identifier: MIT */
/*
 * transport - the requests that the embedder's transport answers. The lock guards their
 * list, and is held while an answer is copied; never while the embedder is called.
 */
#include "fetch/internal.h"

#include "base/cleanup.h"
#include "base/fail.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct waiting {
    gbx_transport_token token;
    size_t max_bytes;
    gbx_transport_done done;
    void *user;
    bool is_answered; /* the two fields below are set */
    gbx_response response;
    gbx_fault fault;
    LIST_ENTRY(waiting) link;
} waiting;

struct gbx_transport {
    gbx_transport_fn ask;
    void *user;
    gbx_engine *engine;
    int wake_fd;
    struct event *wake;
    pthread_mutex_t lock;
    gbx_transport_token last_token;
    LIST_HEAD(, waiting) waiting; /* under lock */
};

static void free_waiting(waiting *w)
{
    gbx_response_cleanup(&w->response);
    free(w);
}

/* The request, or NULL. Under the lock. */
static waiting *find(gbx_transport *transport, gbx_transport_token token)
{
    waiting *w;

    LIST_FOREACH(w, &transport->waiting, link)
    if (w->token == token)
        break;
    return w;
}

static void on_wake(evutil_socket_t fd, short what, void *user)
{
    gbx_transport *transport = user;
    uint64_t count;
    waiting *w;

    (void)!read(fd, &count, sizeof count);
    for (;;) {
        (void)pthread_mutex_lock(&transport->lock);
        LIST_FOREACH(w, &transport->waiting, link)
        if (w->is_answered)
            break;
        if (w != NULL)
            LIST_REMOVE(w, link);
        (void)pthread_mutex_unlock(&transport->lock);
        if (w == NULL)
            return;
        w->done(w->user, &w->response, &w->fault);
        free_waiting(w);
    }
}

/* The embedder passes the bytes, but their source is untrusted: the same rules apply
 * as for a server. */
static void copy_response(const gbx_transport_response *from, waiting *w)
{
    const char *text = from->status_text != NULL ? from->status_text : "";
    gbx_response *ret = &w->response;
    gbx_fault *fault = &w->fault;

    gbx_response_init(ret, w->max_bytes);
    if (from->error != NULL) {
        char quote[GBX_QUOTE_SIZE];

        (void)gbx_fault_set(fault, GBX_FAULT_TRANSPORT, "fetch: %s",
                            gbx_quote(quote, from->error, strlen(from->error)));
        return;
    }
    ret->status = (uint16_t)from->status;
    for (size_t i = 0; i < GBX_STATUS_TEXT_MAX && text[i] != '\0'; i++)
        ret->status_text[i] = (char)((uint8_t)text[i] < 0x20 ? ' ' : text[i]);
    for (size_t i = 0; i < from->header_count && fault->code == GBX_FAULT_NONE; i++) {
        const gbx_http_header *header = &from->headers[i];

        (void)gbx_response_add_header(ret, header->name, strlen(header->name),
                                      header->value, strlen(header->value), fault);
    }
    if (fault->code == GBX_FAULT_NONE && from->body_len > 0)
        (void)gbx_response_append(ret, from->body, from->body_len, fault);
}

gbx_transport *gbx_transport_new(struct event_base *base, gbx_transport_fn ask,
                                 void *user, gbx_engine *engine)
{
    gbx_transport *transport = calloc(1, sizeof *transport);

    if (transport == NULL)
        return NULL;
    *transport = (gbx_transport){.ask = ask,
                                 .user = user,
                                 .engine = engine,
                                 .lock = PTHREAD_MUTEX_INITIALIZER,
                                 .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (transport->wake_fd >= 0)
        transport->wake = event_new(base, transport->wake_fd, EV_READ | EV_PERSIST,
                                    on_wake, transport);
    if (transport->wake == NULL || event_add(transport->wake, NULL) != 0) {
        gbx_transport_free(transport);
        return NULL;
    }
    return transport;
}

void gbx_transport_free(gbx_transport *transport)
{
    waiting *w;

    if (transport == NULL)
        return;
    while ((w = LIST_FIRST(&transport->waiting)) != NULL) {
        LIST_REMOVE(w, link);
        free_waiting(w);
    }
    if (transport->wake != NULL)
        event_free(transport->wake);
    gbx_fd_close(&transport->wake_fd);
    (void)pthread_mutex_destroy(&transport->lock);
    free(transport);
}

gbx_transport_token gbx_transport_ask(gbx_transport *transport,
                                      const gbx_transport_request *request,
                                      gbx_transport_done done, void *user)
{
    waiting *w = calloc(1, sizeof *w);
    gbx_transport_token token;

    if (w == NULL)
        return 0;
    token = ++transport->last_token;
    *w = (waiting){.token = token,
                   .max_bytes = (size_t)request->max_bytes,
                   .done = done,
                   .user = user};
    (void)pthread_mutex_lock(&transport->lock);
    LIST_INSERT_HEAD(&transport->waiting, w, link);
    (void)pthread_mutex_unlock(&transport->lock);
    transport->ask(transport->user, transport->engine, token, request);
    return token;
}

void gbx_transport_forget(gbx_transport *transport, gbx_transport_token token)
{
    waiting *w;

    if (transport == NULL)
        return;
    (void)pthread_mutex_lock(&transport->lock);
    w = find(transport, token);
    if (w != NULL)
        LIST_REMOVE(w, link);
    (void)pthread_mutex_unlock(&transport->lock);
    if (w != NULL)
        free_waiting(w);
}

gbx_status gbx_transport_give(gbx_transport *transport, gbx_transport_token token,
                              const gbx_transport_response *response, gbx_error *reterr)
{
    uint64_t one = 1;
    waiting *w;
    bool is_awaited;

    if (response->struct_size != sizeof *response)
        return gbx_fail(reterr, GBX_E_USAGE, "response.struct_size is not known");
    if (response->error == NULL && (response->status < 200 || response->status > 599))
        return gbx_fail(reterr, GBX_E_USAGE, "response.status is not from 200 to 599");
    if ((response->headers == NULL && response->header_count > 0) ||
        (response->body == NULL && response->body_len > 0))
        return gbx_fail(reterr, GBX_E_USAGE, "response has a count without its items");
    (void)pthread_mutex_lock(&transport->lock);
    w = find(transport, token);
    is_awaited = w != NULL && !w->is_answered;
    if (is_awaited) {
        copy_response(response, w);
        w->is_answered = true;
        (void)!write(transport->wake_fd, &one, sizeof one);
    }
    (void)pthread_mutex_unlock(&transport->lock);
    return is_awaited ? GBX_OK
                      : gbx_fail(reterr, GBX_E_CLOSED, "nobody waits for this answer");
}

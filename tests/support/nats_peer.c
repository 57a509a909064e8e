/* SPDX-License-Identifier: MIT */
/* nats_peer - see nats_peer.h. */
#include "nats_peer.h"

#include "nats/plugin.h"
#include "test.h"
#include "until.h"

#include <pthread.h>

#define KEPT_MAX 4096 /* frames; later ones are only counted */

struct nats_peer {
    gbx_bus *bus;
    gbx_remote_url url;
    pthread_mutex_t lock;
    peer_frame *first;
    peer_frame **end;
    peer_frame *shown;
    unsigned heard, kept;
};

static void on_event(void *user, gbx_bus_event event, const gbx_bus_message *m)
{
    nats_peer *p = user;
    peer_frame *f;

    if (event != GBX_BUS_MESSAGE)
        return;
    (void)pthread_mutex_lock(&p->lock);
    p->heard++;
    f = p->kept < KEPT_MAX ? calloc(1, sizeof *f + m->body.len) : NULL;
    if (f != NULL) {
        f->len = m->body.len;
        if (f->len > 0)
            memcpy(f->bytes, m->body.data, f->len);
        (void)snprintf(f->subject, sizeof f->subject, "%s", m->subject);
        f->is_valid = gbx_remote_read((gbx_span){f->bytes, f->len}, &f->message);
        p->kept++;
        *p->end = f;
        p->end = &f->next;
    }
    (void)pthread_mutex_unlock(&p->lock);
}

nats_peer *nats_peer_new(const char *address)
{
    nats_peer *p = calloc(1, sizeof *p);
    gbx_error err;

    assert_non_null(p);
    p->end = &p->first;
    (void)pthread_mutex_init(&p->lock, NULL);
    assert_int_equal(gbx_remote_url_parse(address, &p->url, &err), GBX_OK);
    assert_int_equal(gbx_bus_nats_open(&p->url, "peer", &p->bus, &err), GBX_OK);
    return p;
}

gbx_bus *nats_peer_bus(nats_peer *p)
{
    return p->bus;
}

void nats_peer_listen(nats_peer *p, const char *words, const char *queue)
{
    char subject[GBX_REMOTE_SUBJECT_MAX];

    (void)snprintf(subject, sizeof subject, "glovebox.v1.main.%s", words);
    assert_non_null(p->bus->ops->subscribe(p->bus, subject, queue, on_event, p));
}

/* The first frame, taken out of the list; NULL: there is none. */
static peer_frame *take(nats_peer *p)
{
    peer_frame *f;

    (void)pthread_mutex_lock(&p->lock);
    f = p->first;
    if (f != NULL) {
        p->first = f->next;
        p->kept--;
        if (p->first == NULL)
            p->end = &p->first;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return f;
}

const peer_frame *nats_peer_next(nats_peer *p, gbx_remote_type type, int ms)
{
    static const struct timespec step = {0, 1000000};
    double end = now_ms() + ms;

    do {
        free(p->shown);
        p->shown = take(p);
        if (p->shown == NULL)
            (void)nanosleep(&step, NULL);
        else if (p->shown->is_valid && p->shown->message.type == type)
            return p->shown;
    } while (p->shown != NULL || now_ms() < end);
    return NULL;
}

unsigned nats_peer_heard(nats_peer *p)
{
    unsigned heard;

    (void)pthread_mutex_lock(&p->lock);
    heard = p->heard;
    (void)pthread_mutex_unlock(&p->lock);
    return heard;
}

void nats_peer_forget(nats_peer *p)
{
    peer_frame *f;

    while ((f = take(p)) != NULL)
        free(f);
}

void nats_peer_say(nats_peer *p, const char *subject, uint64_t number,
                   gbx_remote_type type, const void *message)
{
    assert_true(gbx_remote_send(p->bus, subject, NULL, number, type, message));
}

void nats_peer_put(nats_peer *p, const char *subject, const void *bytes, size_t len)
{
    assert_true(p->bus->ops->publish(p->bus, subject, NULL, (gbx_span){bytes, len},
                                     (gbx_span){0}));
}

void nats_peer_free(nats_peer *p)
{
    if (p == NULL)
        return;
    p->bus->ops->close(p->bus);
    nats_peer_forget(p);
    free(p->shown);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}

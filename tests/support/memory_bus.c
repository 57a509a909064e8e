/* SPDX-License-Identifier: MIT */
/* memory_bus - see memory_bus.h. */
#include "memory_bus.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define LATE_BY 3

typedef struct subscription {
    TAILQ_ENTRY(subscription) link;
    struct connection *of;
    char *subject, *queue;
    gbx_bus_fn fn;
    void *user;
} subscription;

typedef struct message {
    TAILQ_ENTRY(message) link;
    subscription *to; /* NULL: it has gone */
    gbx_bus_event event;
    unsigned late; /* so many messages may pass it */
    char *subject;
    uint8_t *body;
    size_t len;
} message;

typedef struct connection {
    gbx_bus pub;
    TAILQ_ENTRY(connection) link;
    broker *broker;
    bool is_dead, is_away;
} connection;

struct broker {
    TAILQ_HEAD(, subscription) subscriptions;
    TAILQ_HEAD(, message) messages;
    TAILQ_HEAD(, connection) connections;
    broker_script script;
    void *user;
    unsigned turns; /* of queue groups */
    unsigned counts[256];
};

/* ---- who hears a message ----------------------------------------------------------- */

static bool matches(const char *pattern, const char *subject)
{
    size_t len = strlen(pattern);

    if (strcmp(pattern, subject) == 0)
        return true;
    return len > 1 && strcmp(pattern + len - 2, ".*") == 0 &&
           strncmp(pattern, subject, len - 1) == 0 &&
           strchr(subject + len - 1, '.') == NULL && subject[len - 1] != 0;
}

static bool hears(const subscription *s, const char *subject)
{
    return !s->of->is_dead && !s->of->is_away && matches(s->subject, subject);
}

/* The member of the group whose turn it is, or who is alone. */
static subscription *receiver(broker *b, const char *subject)
{
    subscription *s;
    unsigned count = 0, nth;

    TAILQ_FOREACH(s, &b->subscriptions, link)
    count += hears(s, subject);
    if (count == 0)
        return NULL;
    nth = b->turns++ % count;
    TAILQ_FOREACH(s, &b->subscriptions, link)
    if (hears(s, subject) && nth-- == 0)
        break;
    return s;
}

static message *queue_message(broker *b, subscription *to, gbx_bus_event event,
                              const char *subject, gbx_span head, gbx_span tail)
{
    message *m = calloc(1, sizeof *m);

    assert(m != NULL);
    *m = (message){.to = to, .event = event, .subject = strdup(subject)};
    m->len = head.len + tail.len;
    m->body = malloc(m->len > 0 ? m->len : 1); /* of its own: reading past it is seen */
    assert(m->subject != NULL && m->body != NULL);
    if (head.len > 0)
        memcpy(m->body, head.data, head.len);
    if (tail.len > 0)
        memcpy(m->body + head.len, tail.data, tail.len);
    TAILQ_INSERT_TAIL(&b->messages, m, link);
    return m;
}

static void free_message(broker *b, message *m)
{
    TAILQ_REMOVE(&b->messages, m, link);
    free(m->subject);
    free(m->body);
    free(m);
}

/* ---- a connection ------------------------------------------------------------------ */

static void send_message(broker *b, const char *subject, gbx_span head, gbx_span tail)
{
    subscription *to = receiver(b, subject);
    unsigned type = head.len > 4 ? head.data[4] : 0;
    broker_fault fault =
        b->script != NULL ? b->script(b->user, subject, head) : BROKER_PASS;
    message *m;

    b->counts[type]++;
    if (to == NULL || fault == BROKER_LOSE)
        return;
    m = queue_message(b, to, GBX_BUS_MESSAGE, subject, head, tail);
    if (fault == BROKER_TWICE)
        (void)queue_message(b, to, GBX_BUS_MESSAGE, subject, head, tail);
    if (fault == BROKER_LATE)
        m->late = LATE_BY;
}

static bool publish(gbx_bus *bus, const char *subject, const char *reply, gbx_span head,
                    gbx_span tail)
{
    connection *c = (connection *)(void *)bus;
    broker *b = c->broker;
    subscription *to;

    if (c->is_dead || c->is_away)
        return false;
    if (reply != NULL && receiver(b, subject) == NULL) {
        to = receiver(b, reply);
        if (to != NULL)
            (void)queue_message(b, to, GBX_BUS_NOBODY, reply, (gbx_span){0},
                                (gbx_span){0});
    } else {
        send_message(b, subject, head, tail);
    }
    return true;
}

static void *subscribe(gbx_bus *bus, const char *subject, const char *queue,
                       gbx_bus_fn fn, void *user)
{
    connection *c = (connection *)(void *)bus;
    subscription *s = calloc(1, sizeof *s);

    assert(s != NULL);
    *s = (subscription){.of = c, .subject = strdup(subject), .fn = fn, .user = user};
    assert(s->subject != NULL);
    TAILQ_INSERT_TAIL(&c->broker->subscriptions, s, link);
    return s;
}

static void unsubscribe(gbx_bus *bus, void *subscribed)
{
    connection *c = (connection *)(void *)bus;
    subscription *s = subscribed;
    message *m;

    TAILQ_FOREACH(m, &c->broker->messages, link)
    if (m->to == s)
        m->to = NULL;
    TAILQ_REMOVE(&c->broker->subscriptions, s, link);
    free(s->subject);
    free(s);
}

static void close_bus(gbx_bus *bus)
{
    broker_kill(bus);
}

/* ---- the broker -------------------------------------------------------------------- */

broker *broker_new(void)
{
    broker *b = calloc(1, sizeof *b);

    assert(b != NULL);
    TAILQ_INIT(&b->subscriptions);
    TAILQ_INIT(&b->messages);
    TAILQ_INIT(&b->connections);
    return b;
}

void broker_free(broker *b)
{
    connection *c;

    while (!TAILQ_EMPTY(&b->messages))
        free_message(b, TAILQ_FIRST(&b->messages));
    while ((c = TAILQ_FIRST(&b->connections)) != NULL) {
        TAILQ_REMOVE(&b->connections, c, link);
        free(c);
    }
    assert(TAILQ_EMPTY(&b->subscriptions));
    free(b);
}

void broker_follow(broker *b, broker_script script, void *user)
{
    b->script = script;
    b->user = user;
}

gbx_bus *broker_connect(broker *b, size_t chunk)
{
    static const gbx_bus_ops ops = {publish, subscribe, unsubscribe, close_bus};
    connection *c = calloc(1, sizeof *c);

    assert(c != NULL);
    c->pub = (gbx_bus){.chunk = chunk, .ops = &ops};
    c->broker = b;
    TAILQ_INSERT_TAIL(&b->connections, c, link);
    return &c->pub;
}

void broker_kill(gbx_bus *bus)
{
    ((connection *)(void *)bus)->is_dead = true;
}

void broker_part(gbx_bus *bus, bool is_away)
{
    ((connection *)(void *)bus)->is_away = is_away;
}

bool broker_next(broker *b)
{
    message *m = TAILQ_FIRST(&b->messages), *next;

    if (m == NULL)
        return false;
    /* A late message lets others pass, as long as there are some. */
    for (next = m; next != NULL && next->late > 0; next = TAILQ_NEXT(next, link))
        next->late--;
    if (next != NULL)
        m = next;
    if (m->to != NULL && !m->to->of->is_dead && !m->to->of->is_away) {
        gbx_bus_message heard = {.subject = m->subject, .body = {m->body, m->len}};

        m->to->fn(m->to->user, m->event, &heard);
    }
    free_message(b, m);
    return true;
}

void broker_forge(broker *b, const char *subject, gbx_span body)
{
    send_message(b, subject, body, (gbx_span){0});
}

unsigned broker_count(const broker *b, unsigned type)
{
    return b->counts[type];
}

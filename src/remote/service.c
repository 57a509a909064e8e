/* SPDX-License-Identifier: MIT */
/*
 * service - a runner as a service of NATS' service protocol (micro, version 1), and the
 * list of those that answer. See remote.h.
 */
#include "remote/remote.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "remote/frames.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX  GBX_KIB(64)
#define ANSWERS_MAX 1000u

/* Is it a question to us, and for what? */
static bool asks(const gbx_service *s, const char *subject, const char *verb)
{
    char ours[GBX_REMOTE_SUBJECT_MAX];
    size_t len;

    (void)snprintf(ours, sizeof ours, "$SRV.%s." GBX_SERVICE_NAME ".%s", verb, s->id);
    len = strlen(subject);
    return strncmp(subject, ours, len) == 0 &&
           (len == strlen("$SRV.PING") ||
            len == strlen("$SRV.PING." GBX_SERVICE_NAME) || len == strlen(ours));
}

static void on_question(void *user, gbx_bus_event event, const gbx_bus_message *m)
{
    const gbx_service *s = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = ANSWER_MAX};
    bool is_info = asks(s, m->subject, "INFO");

    if (event != GBX_BUS_MESSAGE || m->reply == NULL ||
        (!is_info && !asks(s, m->subject, "PING")))
        return;
    gbx_json_put_open(&to, NULL, '{');
    gbx_json_put_text(&to, "type",
                      is_info ? "io.nats.micro.v1.info_response"
                              : "io.nats.micro.v1.ping_response");
    gbx_json_put_text(&to, "name", GBX_SERVICE_NAME);
    gbx_json_put_text(&to, "id", s->id);
    gbx_json_put_text(&to, "version", GBX_VERSION);
    if (is_info) {
        gbx_json_put_text(&to, "description", "runs JavaScript in sealed processes");
        gbx_json_put_open(&to, "metadata", '{');
        s->describe(s->user, &to);
        (void)gbx_buf_puts(&to, "},\"endpoints\":[]");
    }
    if (gbx_buf_puts(&to, "}"))
        (void)s->bus->ops->publish(s->bus, m->reply, NULL, (gbx_span){to.data, to.len},
                                   (gbx_span){0});
}

bool gbx_service_open(gbx_service *s)
{
    s->subscription = s->bus->ops->subscribe(s->bus, "$SRV.>", NULL, on_question, s);
    return s->subscription != NULL;
}

/* ---- their list ------------------------------------------------------------------ */

typedef struct list {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    gbx_buf json;
    unsigned count;
    bool is_over; /* there is nobody, or the array is full */
} list;

static void on_answer(void *user, gbx_bus_event event, const gbx_bus_message *m)
{
    list *l = user;
    const char *text = (const char *)m->body.data;

    (void)pthread_mutex_lock(&l->lock);
    if (event == GBX_BUS_MESSAGE && l->count < ANSWERS_MAX && m->body.len > 0 &&
        m->body.len <= ANSWER_MAX && text[0] == '{' &&
        gbx_json_check(text, m->body.len, 8, NULL)) {
        gbx_json_put_key(&l->json, NULL);
        (void)gbx_json_append_compact(&l->json, text, m->body.len);
        l->count++;
    }
    l->is_over |= event == GBX_BUS_NOBODY || l->count == ANSWERS_MAX;
    (void)pthread_cond_signal(&l->changed);
    (void)pthread_mutex_unlock(&l->lock);
}

char *gbx_service_list(gbx_bus *bus, const gbx_remote_url *url, uint32_t wait_ms)
{
    list l = {.lock = PTHREAD_MUTEX_INITIALIZER,
              .changed = PTHREAD_COND_INITIALIZER,
              .json = {.ceiling = ANSWERS_MAX * ANSWER_MAX}};
    int64_t ns = gbx_clock_now_ns() + wait_ms * GBX_NS_PER_MS;
    struct timespec until = {ns / 1000000000, ns % 1000000000};
    char inbox[GBX_REMOTE_SUBJECT_MAX + 1];
    char token[32];
    void *subscription;

    (void)snprintf(token, sizeof token, "%016llx",
                   (unsigned long long)gbx_remote_number());
    (void)gbx_remote_subject(inbox, url->pool, GBX_SUBJECT_CALLER, token, "list");
    gbx_json_put_open(&l.json, NULL, '[');
    subscription = bus->ops->subscribe(bus, inbox, NULL, on_answer, &l);
    if (subscription == NULL)
        return NULL;
    (void)pthread_mutex_lock(&l.lock);
    l.is_over = !bus->ops->publish(bus, "$SRV.INFO." GBX_SERVICE_NAME, inbox,
                                   (gbx_span){0}, (gbx_span){0});
    while (!l.is_over &&
           pthread_cond_clockwait(&l.changed, &l.lock, CLOCK_MONOTONIC, &until) == 0)
        continue;
    (void)pthread_mutex_unlock(&l.lock);
    bus->ops->unsubscribe(bus, subscription);
    (void)gbx_buf_puts(&l.json, "]");
    return gbx_buf_take_string(&l.json, NULL);
}

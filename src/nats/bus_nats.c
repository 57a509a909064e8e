/* SPDX-License-Identifier: MIT */
/*
 * bus_nats - a bus on NATS. The only file that includes nats.h.
 *
 * libnats calls back on threads of its own, messages on one for the whole process. `calling`
 * is held around a gbx_bus_fn, so that there is one at a time; `lock` guards the rest.
 *
 * libnats reconnects, but gives up for good when a server has refused its credentials twice. A
 * thread then opens another connection every second and subscribes again.
 */
#include "nats/plugin.h"

#include "base/cleanup.h"
#include "base/fail.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nats/nats.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHUNK_MAX   GBX_KIB(128)
#define CHUNK_SPARE 512 /* of a payload, for what is before a chunk */
#define PENDING_MAX GBX_MIB(256)
#define REOPEN_S    1
#define NKEY_LEN    56
#define SECRET_MAX  4096 /* bytes of a file that are looked at */

typedef struct nats_bus nats_bus;

typedef struct topic {
    nats_bus *bus;
    struct topic *next;
    gbx_bus_fn fn; /* set under both; NULL: unsubscribed */
    void *user;
    natsSubscription *subscription; /* or NULL */
    const char *queue;              /* a constant, or NULL */
    char subject[];
} topic;

struct nats_bus {
    gbx_bus pub; /* first */
    natsOptions *options;
    natsConnection *connection; /* or NULL */
    pthread_mutex_t calling;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    topic *topics;
    unsigned alive; /* subscriptions and connections that may still call */
    bool is_lost;   /* libnats has given the connection up */
    bool is_closing;
    pthread_t keeper;
};

/* ---- callbacks --------------------------------------------------------------- */

static void on_message(natsConnection *connection, natsSubscription *subscription,
                       natsMsg *msg, void *user)
{
    topic *t = user;
    gbx_bus_message message = {
        natsMsg_GetSubject(msg),
        natsMsg_GetReply(msg),
        {(const uint8_t *)natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg)},
    };

    (void)pthread_mutex_lock(&t->bus->calling);
    if (t->fn != NULL)
        t->fn(t->user, natsMsg_IsNoResponders(msg) ? GBX_BUS_NOBODY : GBX_BUS_MESSAGE,
              &message);
    (void)pthread_mutex_unlock(&t->bus->calling);
    natsMsg_Destroy(msg);
}

/* The last call for a subscription: it was ended, or its connection. */
static void on_complete(void *user)
{
    topic *t = user;
    nats_bus *bus = t->bus;

    (void)pthread_mutex_lock(&bus->lock);
    natsSubscription_Destroy(t->subscription);
    t->subscription = NULL;
    bus->alive--;
    if (t->fn == NULL)
        free(t);
    (void)pthread_cond_broadcast(&bus->changed);
    (void)pthread_mutex_unlock(&bus->lock);
}

/* The last call for a connection. */
static void on_closed(natsConnection *connection, void *user)
{
    nats_bus *bus = user;

    (void)pthread_mutex_lock(&bus->lock);
    bus->is_lost = true;
    bus->alive--;
    (void)pthread_cond_broadcast(&bus->changed);
    (void)pthread_mutex_unlock(&bus->lock);
}

/* Without one, libnats writes to standard error. */
static void on_trouble(natsConnection *connection, natsSubscription *subscription,
                       natsStatus status, void *user)
{
}

/* ---- the connection ---------------------------------------------------------- */

/* Read the start of a file with a secret, which must not be readable for every user. */
static gbx_status read_secret(const char *path, char text[SECRET_MAX],
                              gbx_error *reterr)
{
    struct stat st;

    if (path == NULL)
        return GBX_OK;
    if (stat(path, &st) < 0 || gbx_fd_start(AT_FDCWD, path, text, SECRET_MAX) < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot read '%s': %s", path,
                        gbx_fail_reason(errno));
    if ((st.st_mode & (S_IRWXO | S_IWGRP)) != 0)
        return gbx_fail(reterr, GBX_E_OS,
                        "'%s' is refused, since others may read or write it: run "
                        "chmod go-rwx",
                        path);
    return GBX_OK;
}

/* The public key stands beside the seed: "nk -gen user -pubout" prints both. */
static char *find_public_key(char *text)
{
    for (char *line; (line = strsep(&text, "\r\n")) != NULL;)
        if (*line == 'U' && strlen(line) == NKEY_LEN)
            return line;
    return NULL;
}

static natsStatus set_credentials(natsOptions *o, const gbx_remote_url *url,
                                  const char *public_key)
{
    natsStatus s = NATS_OK;

    if (url->creds != NULL)
        s = natsOptions_SetUserCredentialsFromFiles(o, url->creds, NULL);
    if (s == NATS_OK && url->nkey != NULL)
        s = natsOptions_SetNKeyFromSeed(o, public_key, url->nkey);
    /* libnats takes a server without TLS even by a tls:// address. */
    if (s == NATS_OK && (url->tls_ca != NULL || strncmp(url->server, "tls:", 4) == 0))
        s = natsOptions_SetSecure(o, true);
    if (s == NATS_OK && url->tls_ca != NULL)
        s = natsOptions_LoadCATrustedCertificates(o, url->tls_ca);
    return s;
}

static natsStatus set_behaviour(natsOptions *o, nats_bus *bus)
{
    const natsStatus steps[] = {
        natsOptions_SetSendAsap(o, true), /* or a publish waits for another thread */
        natsOptions_UseGlobalMessageDelivery(o, true),
        natsOptions_SetMaxReconnect(o, -1),
        natsOptions_SetReconnectWait(o, 100),
        natsOptions_SetReconnectJitter(o, 50, 50),
        natsOptions_SetPingInterval(o, 2000),
        natsOptions_SetWriteDeadline(o, 2000),
        natsOptions_SetErrorHandler(o, on_trouble, NULL),
        natsOptions_SetClosedCB(o, on_closed, bus),
    };

    for (size_t i = 0; i < GBX_COUNTOF(steps); i++)
        if (steps[i] != NATS_OK)
            return steps[i];
    return NATS_OK;
}

static gbx_status make_options(nats_bus *bus, const gbx_remote_url *url,
                               const char *name, gbx_error *reterr)
{
    char text[SECRET_MAX] = "";
    const char *public_key = NULL;
    gbx_status status = read_secret(url->creds, text, reterr);
    natsStatus s = NATS_OK;

    if (status == GBX_OK)
        status = read_secret(url->nkey, text, reterr);
    if (status == GBX_OK && url->nkey != NULL) {
        public_key = find_public_key(text);
        if (public_key == NULL)
            status = gbx_fail(reterr, GBX_E_DATA,
                              "'%s' lacks the public key of its seed: both are what "
                              "\"nk -gen user -pubout\" prints",
                              url->nkey);
    }
    if (status == GBX_OK)
        s = natsOptions_Create(&bus->options);
    if (status == GBX_OK && s == NATS_OK)
        s = natsOptions_SetURL(bus->options, url->server);
    if (status == GBX_OK && s == NATS_OK)
        s = natsOptions_SetName(bus->options, name);
    if (status == GBX_OK && s == NATS_OK)
        s = set_behaviour(bus->options, bus);
    if (status == GBX_OK && s == NATS_OK)
        s = set_credentials(bus->options, url, public_key);
    explicit_bzero(text, sizeof text);
    return s == NATS_OK ? status
                        : gbx_fail(reterr, GBX_E_USAGE,
                                   "the connection to NATS cannot be set up: %s",
                                   nats_GetLastError(NULL));
}

/* Threads of libnats inherit our mask, and must not take signals. */
static sigset_t block_signals(void)
{
    sigset_t all;
    sigset_t before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

/* Under lock. False: never. */
static bool topic_open(topic *t)
{
    sigset_t before = block_signals();
    natsStatus s = NATS_CONNECTION_CLOSED;

    if (t->bus->connection != NULL)
        s = t->queue != NULL
                ? natsConnection_QueueSubscribe(&t->subscription, t->bus->connection,
                                                t->subject, t->queue, on_message, t)
                : natsConnection_Subscribe(&t->subscription, t->bus->connection,
                                           t->subject, on_message, t);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (s == NATS_OK)
        s = natsSubscription_SetOnCompleteCB(t->subscription, on_complete, t);
    if (s == NATS_OK) {
        (void)natsSubscription_SetPendingLimits(t->subscription, -1, PENDING_MAX);
        t->bus->alive++;
        return true;
    }
    natsSubscription_Destroy(t->subscription);
    t->subscription = NULL;
    return s == NATS_CONNECTION_CLOSED || s == NATS_INVALID_SUBSCRIPTION;
}

/* Under lock, which is free meanwhile. */
static natsStatus connect_now(nats_bus *bus)
{
    natsConnection *connection = NULL;
    sigset_t before;
    natsStatus s;

    bus->is_lost = false; /* before the next one can be */
    bus->alive++;
    (void)pthread_mutex_unlock(&bus->lock);
    before = block_signals();
    s = natsConnection_Connect(&connection, bus->options);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_mutex_lock(&bus->lock);
    bus->connection = connection;
    if (s != NATS_OK) {
        bus->is_lost = true;
        bus->alive--;
        return s;
    }
    for (topic *t = bus->topics; t != NULL; t = t->next)
        (void)topic_open(t);
    return NATS_OK;
}

static void *keep_open(void *user)
{
    nats_bus *bus = user;
    struct timespec until;

    (void)pthread_mutex_lock(&bus->lock);
    while (!bus->is_closing) {
        if (!bus->is_lost || bus->alive > 0) {
            (void)pthread_cond_wait(&bus->changed, &bus->lock);
            continue;
        }
        natsConnection_Destroy(bus->connection);
        bus->connection = NULL;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += REOPEN_S;
        while (!bus->is_closing && pthread_cond_clockwait(&bus->changed, &bus->lock,
                                                          CLOCK_MONOTONIC, &until) == 0)
            continue;
        if (!bus->is_closing)
            (void)connect_now(bus);
    }
    (void)pthread_mutex_unlock(&bus->lock);
    return NULL;
}

/* ---- what the bus does ------------------------------------------------------- */

/* libnats would keep what is published without a connection, and send it later. */
static bool publish(gbx_bus *pub, const char *subject, const char *reply, gbx_span head,
                    gbx_span tail)
{
    nats_bus *bus = (nats_bus *)pub;
    GBX_CLEANUP(gbx_free) uint8_t *large = NULL;
    uint8_t small[4096];
    uint8_t *whole = small;
    natsStatus s = NATS_CONNECTION_CLOSED;

    if (head.len + tail.len > sizeof small)
        whole = large = malloc(head.len + tail.len);
    if (whole == NULL || head.len + tail.len > INT_MAX)
        return false;
    if (head.len > 0)
        memcpy(whole, head.data, head.len);
    if (tail.len > 0)
        memcpy(whole + head.len, tail.data, tail.len);
    (void)pthread_mutex_lock(&bus->lock);
    if (bus->connection != NULL &&
        natsConnection_Status(bus->connection) == NATS_CONN_STATUS_CONNECTED)
        s = reply != NULL
                ? natsConnection_PublishRequest(bus->connection, subject, reply, whole,
                                                (int)(head.len + tail.len))
                : natsConnection_Publish(bus->connection, subject, whole,
                                         (int)(head.len + tail.len));
    (void)pthread_mutex_unlock(&bus->lock);
    return s == NATS_OK;
}

static void *subscribe(gbx_bus *pub, const char *subject, const char *queue,
                       gbx_bus_fn fn, void *user)
{
    nats_bus *bus = (nats_bus *)pub;
    topic *t = calloc(1, sizeof *t + strlen(subject) + 1);

    if (t == NULL)
        return NULL;
    *t = (topic){.bus = bus, .fn = fn, .user = user, .queue = queue};
    memcpy(t->subject, subject, strlen(subject) + 1);
    (void)pthread_mutex_lock(&bus->lock);
    if (topic_open(t)) {
        t->next = bus->topics;
        bus->topics = t;
    } else {
        free(t);
        t = NULL;
    }
    (void)pthread_mutex_unlock(&bus->lock);
    return t;
}

static void unsubscribe(gbx_bus *pub, void *subscription)
{
    nats_bus *bus = (nats_bus *)pub;
    topic *t = subscription;
    bool is_within = pthread_mutex_lock(&bus->calling) == EDEADLK;
    topic **at = &bus->topics;

    (void)pthread_mutex_lock(&bus->lock);
    t->fn = NULL; /* from now on, on_complete() frees it */
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    if (t->subscription != NULL)
        (void)natsSubscription_Unsubscribe(t->subscription); /* on_complete() follows */
    else
        free(t);
    (void)pthread_mutex_unlock(&bus->lock);
    if (!is_within)
        (void)pthread_mutex_unlock(&bus->calling);
}

static void bus_close(gbx_bus *pub)
{
    nats_bus *bus = (nats_bus *)pub;

    (void)pthread_mutex_lock(&bus->lock);
    bus->is_closing = true;
    (void)pthread_cond_broadcast(&bus->changed);
    (void)pthread_mutex_unlock(&bus->lock);
    if (bus->keeper != 0)
        (void)pthread_join(bus->keeper, NULL);
    if (bus->connection != NULL)
        natsConnection_Close(bus->connection);
    (void)pthread_mutex_lock(&bus->lock);
    while (bus->alive > 0)
        (void)pthread_cond_wait(&bus->changed, &bus->lock);
    (void)pthread_mutex_unlock(&bus->lock);
    while (bus->topics != NULL) {
        topic *next = bus->topics->next;

        free(bus->topics);
        bus->topics = next;
    }
    natsConnection_Destroy(bus->connection);
    natsOptions_Destroy(bus->options);
    (void)pthread_cond_destroy(&bus->changed);
    (void)pthread_mutex_destroy(&bus->lock);
    (void)pthread_mutex_destroy(&bus->calling);
    free(bus);
}

static const gbx_bus_ops ops = {publish, subscribe, unsubscribe, bus_close};

static gbx_status start(nats_bus *bus, const gbx_remote_url *url, const char *name,
                        gbx_error *reterr)
{
    gbx_status status = make_options(bus, url, name, reterr);
    int64_t most;
    natsStatus s;

    if (status != GBX_OK)
        return status;
    (void)pthread_mutex_lock(&bus->lock);
    s = connect_now(bus);
    (void)pthread_mutex_unlock(&bus->lock);
    if (s != NATS_OK)
        return gbx_fail(reterr, GBX_E_CLOSED, "no connection to the NATS server: %s",
                        nats_GetLastError(NULL));
    most = natsConnection_GetMaxPayload(bus->connection) - CHUNK_SPARE;
    bus->pub.chunk = most < (int64_t)CHUNK_MAX ? (size_t)most : CHUNK_MAX;
    if (most < CHUNK_SPARE)
        return gbx_fail(reterr, GBX_E_CLOSED,
                        "the NATS server takes small payloads only");
    errno = gbx_thread_start(&bus->keeper, keep_open, bus);
    return errno == 0 ? GBX_OK : gbx_fail(reterr, GBX_E_OS, "cannot start a thread");
}

gbx_status gbx_bus_nats_open(const gbx_remote_url *url, const char *name, gbx_bus **ret,
                             gbx_error *reterr)
{
    nats_bus *bus = calloc(1, sizeof *bus);
    pthread_mutexattr_t checked;
    gbx_status status;

    if (bus == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a connection");
    bus->pub.ops = &ops;
    (void)pthread_mutexattr_init(&checked);
    (void)pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
    (void)pthread_mutex_init(&bus->calling, &checked);
    (void)pthread_mutexattr_destroy(&checked);
    (void)pthread_mutex_init(&bus->lock, NULL);
    (void)pthread_cond_init(&bus->changed, NULL);
    status = start(bus, url, name, reterr);
    if (status == GBX_OK)
        *ret = &bus->pub;
    else
        bus_close(&bus->pub);
    return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * client - the caller's side behind gbx_runner: finds seats for the leases of an engine,
 * and carries their bytes. All decisions about a lease are rows of gbx_caller_table.
 *
 * A question goes to those runners that have an engine for its contents, or to any. A
 * few are open at once; the other calls wait in their order. If all runners are full,
 * the client waits some random milliseconds: so clients get seats alike.
 */
#include "base/clock.h"
#include "base/thread.h"
#include "base/timeouts.h"
#include "remote/call_states.h"
#include "remote/frames.h"
#include "remote/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#define QUESTIONS_MAX 4u /* open at once */
#define REFUSALS_MAX  8u /* of one call, for other reasons than that a runner is full */
#define PAUSE_MS      8u

typedef struct lessee {
    TAILQ_ENTRY(lessee) link;
    gbx_lease *lease;
    gbx_caller_state state;
    uint64_t number; /* of the question, then of the seat */
    uint8_t key[GBX_SHA256_SIZE];
    gbx_buf setup; /* what the key is the hash of; in ASKED */
    gbx_buf in;    /* bytes of the worker */
    uint64_t left; /* bytes of the call that are not yet sent; in HELD */
    unsigned refusals;
    gbx_remote_refuse refused; /* the last one; without its text */
    int64_t due_ns;            /* until then the runner must say something */
    int64_t beat_ns;           /* then it must hear something */
    int64_t nobody_ns;         /* since then no runner was there; 0: one may be */
    gbx_flow flow;
    char runner[GBX_REMOTE_SUBJECT_MAX + 1];
} lessee;

struct gbx_client {
    gbx_bus *bus;
    const gbx_remote_url *url;
    void *owner;
    void *subscription;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* due_ns, ends, or the state of a prepare() */
    pthread_t timer;
    bool has_timer, ends;
    int64_t due_ns;                       /* when the timer's thread must tick */
    int64_t ready_ns;                     /* no question before */
    TAILQ_HEAD(lessees, lessee) lessees;  /* in the order in which they came */
    unsigned open;                        /* those in ASKED */
    uint8_t known[GBX_SHA256_SIZE];       /* key of contents that some runner has */
    uint64_t filled_by;                   /* question whose runner fetches contents: */
    uint8_t filled[GBX_SHA256_SIZE];      /* those with the same key wait */
    char own[GBX_REMOTE_SUBJECT_MAX + 1]; /* without the last token */
};

static void on_event(gbx_client *c, lessee *k, gbx_caller_event event,
                     const gbx_remote_any *msg, const char *text);

static void wake_at(gbx_client *c, int64_t ns)
{
    if (ns < c->due_ns) {
        c->due_ns = ns;
        (void)pthread_cond_broadcast(&c->changed);
    }
}

/* ---- contents ------------------------------------------------------------------ */

static bool is_known(const gbx_client *c, const lessee *k)
{
    return memcmp(c->known, k->key, sizeof k->key) == 0;
}

/* Bytes of what has this hash. Returns their number; 0: there are none. */
static size_t read_contents(const lessee *k, const gbx_remote_fetch *fetch, uint8_t *to,
                            size_t len)
{
    const gbx_contents *c = k->lease->contents;
    uint64_t at = fetch->offset;

    if (memcmp(k->key, fetch->sha256.data, sizeof k->key) == 0) {
        len = at >= k->setup.len        ? 0
              : len < k->setup.len - at ? len
                                        : k->setup.len - at;
        (void)memcpy(to, k->setup.data + (len > 0 ? at : 0), len);
        return len;
    }
    for (size_t i = 0; i < c->count; i++)
        if (at < c->items[i].size &&
            memcmp(c->items[i].sha256, fetch->sha256.data, GBX_SHA256_SIZE) == 0) {
            uint64_t left = c->items[i].size - at;
            ssize_t got = pread(c->items[i].fd, to, len < left ? len : left, (off_t)at);

            return got > 0 ? (size_t)got : 0;
        }
    return 0;
}

static void send_blob(gbx_client *c, lessee *k, const gbx_remote_fetch *fetch)
{
    size_t len = fetch->length < c->bus->chunk ? fetch->length : c->bus->chunk;
    GBX_CLEANUP(gbx_free) uint8_t *bytes = malloc(len);
    gbx_remote_blob blob = {.sha256 = fetch->sha256, .offset = fetch->offset};

    c->filled_by = k->number;
    (void)memcpy(c->filled, k->key, sizeof c->filled);
    k->due_ns = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_MAKING);
    if (bytes == NULL)
        return;
    blob.bytes = (gbx_span){bytes, read_contents(k, fetch, bytes, len)};
    (void)gbx_remote_send(c->bus, k->runner, NULL, k->number, GBX_REMOTE_BLOB, &blob);
}

/* ---- questions ----------------------------------------------------------------- */

static void ask(gbx_client *c, lessee *k)
{
    char subject[GBX_REMOTE_SUBJECT_MAX + 1];
    char caller[GBX_REMOTE_SUBJECT_MAX + 4];
    char reply[GBX_REMOTE_SUBJECT_MAX + 20];
    char key[GBX_SHA256_HEX_SIZE];
    gbx_remote_want want = {.version = GBX_REMOTE_VERSION,
                            .wire_version = GBX_WIRE_VERSION,
                            .library = gbx_span_of(GBX_VERSION),
                            .key = {k->key, sizeof k->key},
                            .limits = {(const uint8_t *)k->lease->limits,
                                       sizeof *k->lease->limits},
                            .capabilities = k->lease->capabilities,
                            .call_bytes = k->lease->call_bytes};
    bool is_put = gbx_remote_put_setup(&k->setup, k->lease->contents);

    gbx_sha256_print(k->key, key);
    want.setup_bytes = (uint32_t)k->setup.len;
    k->number = gbx_remote_number();
    k->due_ns = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_ASKED);
    wake_at(c, k->due_ns);
    (void)snprintf(caller, sizeof caller, "%s.m", c->own);
    want.caller = gbx_span_of(caller);
    (void)snprintf(reply, sizeof reply, "%s.%016" PRIx64, c->own, k->number);
    if (!is_put || k->number == 0 ||
        !gbx_remote_subject(subject, c->url->pool,
                            is_known(c, k) ? GBX_SUBJECT_KEY : GBX_SUBJECT_ANY,
                            is_known(c, k) ? key : NULL, NULL) ||
        !gbx_remote_send(c->bus, subject, reply, k->number, GBX_REMOTE_WANT, &want))
        on_event(c, k, GBX_CALLER_ON_UNHEARD, NULL, NULL);
}

/* Let those ask that may. Returns when others may. */
static int64_t ask_more(gbx_client *c, int64_t now_ns)
{
    lessee *k;
    bool is_any = false;

    TAILQ_FOREACH(k, &c->lessees, link)
    {
        if (k->state != GBX_CALLER_LISTED ||
            (c->filled_by != 0 && memcmp(c->filled, k->key, sizeof k->key) == 0))
            continue;
        is_any = true;
        if (c->open >= QUESTIONS_MAX || c->ready_ns > now_ns)
            break;
        on_event(c, k, GBX_CALLER_ON_ASK, NULL, NULL);
    }
    return is_any && c->ready_ns > now_ns ? c->ready_ns : INT64_MAX;
}

/* The question is answered, but without a seat. Where nobody was there, or none had a
 * seat, any other runner is asked next, and then there is a pause. */
static void ask_again(gbx_client *c, lessee *k, const gbx_remote_any *msg)
{
    int64_t now_ns = gbx_clock_now_ns();

    if (msg != NULL && msg->type == GBX_REMOTE_REFUSE &&
        msg->refuse.why == GBX_WHY_READY)
        (void)memcpy(c->known, k->key, sizeof c->known);
    else if (is_known(c, k))
        (void)memset(c->known, 0, sizeof c->known);
    else
        c->ready_ns =
            now_ns + (int64_t)(1 + gbx_remote_number() % PAUSE_MS) * GBX_NS_PER_MS;
    wake_at(c, c->ready_ns > now_ns ? c->ready_ns : now_ns);
}

/* ---- rows ---------------------------------------------------------------------- */

/* ret has room for it, and a NUL. */
static void copy_text(gbx_span span, char *ret)
{
    (void)memcpy(ret, span.data, span.len);
    ret[span.len] = 0;
}

/* That of prepare() has no wake(). */
static void wake_engine(gbx_client *c, lessee *k)
{
    if (k->lease->wake != NULL)
        k->lease->wake(k->lease);
    else
        (void)pthread_cond_broadcast(&c->changed);
}

static void granted(gbx_client *c, lessee *k, const gbx_remote_grant *grant)
{
    copy_text(grant->runner, k->runner);
    copy_text(grant->machine, k->lease->machine);
    copy_text(grant->engine, k->lease->engine);
    (void)memcpy(c->known, k->key, sizeof c->known);
    k->number = grant->seat;
    k->due_ns = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_PEER);
    k->beat_ns = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_BEAT);
    wake_at(c, k->beat_ns);
    gbx_flow_init(&k->flow);
}

/* Without evidence: no worker was found, or nobody knows how it ended. */
static void fail(lessee *k, gbx_ending_how how, const gbx_remote_any *msg,
                 const char *text)
{
    gbx_span said = gbx_remote_text(text, GBX_REMOTE_TEXT_MAX);

    if (msg != NULL && msg->type == GBX_REMOTE_REFUSE) {
        said = msg->refuse.text;
        k->refused = msg->refuse;
    } else if (msg != NULL && msg->type == GBX_REMOTE_END && msg->end.reason.len > 0) {
        said = msg->end.reason;
    }
    k->lease->ending = (gbx_ending){.how = how};
    copy_text(said, k->lease->ending.reason);
}

static void ended(lessee *k, const gbx_remote_end *end)
{
    k->lease->ending = (gbx_ending){.how = end->how,
                                    .wait_status = end->wait_status,
                                    .shortage = end->shortage,
                                    .cpu_us = end->cpu_us,
                                    .growth_bytes = end->growth_bytes,
                                    .group_bytes = end->group_bytes};
    copy_text(end->reason, k->lease->ending.reason);
}

static void on_event(gbx_client *c, lessee *k, gbx_caller_event event,
                     const gbx_remote_any *msg, const char *text)
{
    const gbx_call_row *row = gbx_call_row_of(&gbx_caller_table, k->state, event);
    unsigned todo = row != NULL ? row->actions : 0;

    if (row == NULL)
        return;
    c->open += row->next == GBX_CALLER_ASKED;
    c->open -= k->state == GBX_CALLER_ASKED;
    if (k->state == GBX_CALLER_ASKED && row->next != GBX_CALLER_ASKED) {
        gbx_buf_cleanup(&k->setup);
        c->filled_by = c->filled_by == k->number ? 0 : c->filled_by;
    }
    if (k->state == GBX_CALLER_ASKED && row->next == GBX_CALLER_LISTED)
        ask_again(c, k, msg);
    k->state = row->next;
    if ((todo & GBX_CALLER_DO_CANCEL) != 0)
        (void)gbx_remote_send(c->bus, k->runner, NULL, k->number, GBX_REMOTE_CANCEL,
                              &(gbx_remote_cancel){0});
    if ((todo & GBX_CALLER_DO_END) != 0)
        ended(k, &msg->end);
    if ((todo & GBX_CALLER_DO_UNAVAILABLE) != 0)
        fail(k, GBX_ENDING_NO_WORKER, msg, text);
    if ((todo & GBX_CALLER_DO_LOST) != 0)
        fail(k, GBX_ENDING_GONE, msg, text);
    if ((todo & GBX_CALLER_DO_BLOB) != 0)
        send_blob(c, k, &msg->fetch);
    if ((todo & GBX_CALLER_DO_GRANTED) != 0)
        granted(c, k, &msg->grant);
    if (row->next >= GBX_CALLER_HELD && todo != 0)
        wake_engine(c, k);
    if ((todo & GBX_CALLER_DO_WANT) != 0)
        ask(c, k);
}

/* ---- what the bus brings ------------------------------------------------------- */

/* The event that a valid message is, for the lease with its number. */
static gbx_caller_event event_of(gbx_client *c, lessee *k, const gbx_remote_any *msg)
{
    const gbx_remote_end *end = &msg->end;

    switch (msg->type) {
    case GBX_REMOTE_REFUSE:
        k->refusals += msg->refuse.why == GBX_WHY_NOT_HERE;
        return msg->refuse.why == GBX_WHY_CONTENTS || k->refusals >= REFUSALS_MAX
                   ? GBX_CALLER_ON_REFUSED_FINAL
                   : GBX_CALLER_ON_REFUSED;
    case GBX_REMOTE_GRANT:
        if (gbx_remote_is_subject(msg->grant.runner, c->url->pool, GBX_SUBJECT_RUNNER))
            return GBX_CALLER_ON_GRANT;
        break;
    case GBX_REMOTE_FETCH:
        if (!gbx_remote_is_subject(msg->fetch.runner, c->url->pool, GBX_SUBJECT_RUNNER))
            break;
        copy_text(msg->fetch.runner, k->runner);
        return GBX_CALLER_ON_FETCH;
    case GBX_REMOTE_DATA:
        if (gbx_flow_take(&k->flow, msg->data.seq, msg->data.bytes.len,
                          msg->data.room) &&
            gbx_buf_append(&k->in, msg->data.bytes.data, msg->data.bytes.len))
            return GBX_CALLER_ON_DATA;
        break;
    case GBX_REMOTE_END:
        if (end->how == GBX_ENDING_NO_WORKER || end->how == GBX_ENDING_FULL)
            return GBX_CALLER_ON_END_NOT_BEGUN;
        if (end->how >= GBX_ENDING_GONE)
            return GBX_CALLER_ON_END_GONE;
        if (gbx_flow_take(&k->flow, end->seq, end->bytes.len, 0) &&
            gbx_buf_append(&k->in, end->bytes.data, end->bytes.len))
            return GBX_CALLER_ON_END;
        break;
    case GBX_REMOTE_WANT:
    case GBX_REMOTE_BLOB:
    case GBX_REMOTE_CANCEL: break;
    }
    return GBX_CALLER_ON_BROKEN;
}

static lessee *find(gbx_client *c, uint64_t number)
{
    lessee *k;

    TAILQ_FOREACH(k, &c->lessees, link)
    if (k->number == number && k->state != GBX_CALLER_LISTED)
        break;
    return k;
}

static void on_frame(gbx_client *c, gbx_span frame)
{
    char runner[GBX_REMOTE_SUBJECT_MAX + 1];
    gbx_remote_any msg;
    bool is_valid = gbx_remote_read(frame, &msg);
    lessee *k = find(c, msg.number);

    if (k != NULL && k->state != GBX_CALLER_OVER) {
        k->nobody_ns = 0;
        if (k->state > GBX_CALLER_ASKED)
            k->due_ns = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_PEER);
        on_event(c, k, is_valid ? event_of(c, k, &msg) : GBX_CALLER_ON_BROKEN,
                 is_valid ? &msg : NULL, "a message was lost, or is not as it must be");
    } else if (is_valid && msg.type == GBX_REMOTE_GRANT &&
               find(c, msg.grant.seat) == NULL && /* not one that came twice */
               gbx_remote_is_subject(msg.grant.runner, c->url->pool,
                                     GBX_SUBJECT_RUNNER)) {
        /* It comes too late: the seat is given back. */
        copy_text(msg.grant.runner, runner);
        (void)gbx_remote_send(c->bus, runner, NULL, msg.grant.seat, GBX_REMOTE_CANCEL,
                              &(gbx_remote_cancel){0});
    }
}

static void on_nobody(gbx_client *c, const char *subject)
{
    const char *token = strrchr(subject, '.');
    lessee *k = find(c, token != NULL ? strtoull(token + 1, NULL, 16) : 0);
    int64_t now_ns = gbx_clock_now_ns();
    char text[GBX_REMOTE_TEXT_MAX];
    bool is_final;

    if (k == NULL)
        return;
    if (!is_known(c, k) && k->nobody_ns == 0)
        k->nobody_ns = now_ns;
    is_final = k->nobody_ns != 0 &&
               now_ns - k->nobody_ns >= gbx_timeout_ns(GBX_TIMEOUT_NOBODY);
    (void)snprintf(text, sizeof text, "no runner answers in the pool '%s'",
                   c->url->pool);
    on_event(c, k, is_final ? GBX_CALLER_ON_REFUSED_FINAL : GBX_CALLER_ON_UNHEARD, NULL,
             text);
}

static void on_bus(void *user, gbx_bus_event event, const gbx_bus_message *message)
{
    gbx_client *c = user;

    (void)pthread_mutex_lock(&c->lock);
    if (event == GBX_BUS_MESSAGE)
        on_frame(c, message->body);
    else
        on_nobody(c, message->subject);
    wake_at(c, ask_more(c, gbx_clock_now_ns()));
    (void)pthread_mutex_unlock(&c->lock);
}

/* ---- what time brings ------------------------------------------------------------ */

/* Returns when something is due again for this lease. */
static int64_t tick(gbx_client *c, lessee *k, int64_t now_ns)
{
    bool is_held = k->state == GBX_CALLER_HELD || k->state == GBX_CALLER_SENT;

    if (!is_held && k->state != GBX_CALLER_ASKED)
        return INT64_MAX;
    if (k->due_ns <= now_ns) {
        on_event(c, k, GBX_CALLER_ON_SILENT, NULL, "it gives no sign of life");
        return INT64_MAX;
    }
    if (is_held && k->beat_ns <= now_ns) {
        (void)gbx_flow_send(&k->flow, c->bus, k->runner, k->number, NULL, 0, true);
        k->beat_ns = now_ns + gbx_timeout_ns(GBX_TIMEOUT_BEAT);
        wake_engine(c, k); /* the bus may have been away */
    }
    return is_held && k->beat_ns < k->due_ns ? k->beat_ns : k->due_ns;
}

int64_t gbx_client_tick(gbx_client *c, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    lessee *k;

    (void)pthread_mutex_lock(&c->lock);
    /* This process was stopped: what came meanwhile is heard first. */
    if (now_ns - c->due_ns > gbx_timeout_ns(GBX_TIMEOUT_NOBODY))
        TAILQ_FOREACH(k, &c->lessees, link)
    k->due_ns += now_ns - c->due_ns;
    c->due_ns = INT64_MAX;
    TAILQ_FOREACH(k, &c->lessees, link)
    {
        int64_t due_ns = tick(c, k, now_ns);

        next_ns = due_ns < next_ns ? due_ns : next_ns;
    }
    wake_at(c, next_ns);
    wake_at(c, ask_more(c, now_ns));
    next_ns = c->due_ns;
    (void)pthread_mutex_unlock(&c->lock);
    return next_ns;
}

static void *run_timer(void *user)
{
    gbx_client *c = user;

    (void)pthread_mutex_lock(&c->lock);
    while (!c->ends) {
        struct timespec until = {c->due_ns / 1000000000, c->due_ns % 1000000000};

        if (c->due_ns <= gbx_clock_now_ns()) {
            (void)pthread_mutex_unlock(&c->lock);
            (void)gbx_client_tick(c, gbx_clock_now_ns());
            (void)pthread_mutex_lock(&c->lock);
        } else {
            (void)pthread_cond_clockwait(&c->changed, &c->lock, CLOCK_MONOTONIC,
                                         &until);
        }
    }
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- what the engine says ---------------------------------------------------------- */

static gbx_status begin_lease(void *user, gbx_lease *lease, gbx_error *reterr)
{
    gbx_client *c = user;
    lessee *k = calloc(1, sizeof *k);
    bool is_put = false;

    lease->plugin = k;
    if (k != NULL) {
        gbx_buf_init(&k->setup, GBX_REMOTE_SETUP_MAX);
        gbx_buf_init(&k->in, GBX_LEASE_WINDOW);
        is_put = gbx_remote_put_setup(&k->setup, lease->contents);
        gbx_sha256_of(k->setup.data, k->setup.len, k->key);
        gbx_buf_cleanup(&k->setup); /* until it asks */
        k->lease = lease;
        (void)pthread_mutex_lock(&c->lock);
        TAILQ_INSERT_TAIL(&c->lessees, k, link);
        if (is_put)
            wake_at(c, ask_more(c, gbx_clock_now_ns()));
        (void)pthread_mutex_unlock(&c->lock);
    }
    return is_put ? GBX_OK
                  : gbx_fail(reterr, GBX_E_NOMEM,
                             "no memory for the call, or its contents are too many");
}

static void release(void *user, gbx_lease *lease)
{
    gbx_client *c = user;
    lessee *k = lease->plugin;

    if (k == NULL)
        return;
    (void)pthread_mutex_lock(&c->lock);
    on_event(c, k, GBX_CALLER_ON_ABORT, NULL, "it was cancelled");
    TAILQ_REMOVE(&c->lessees, k, link);
    wake_at(c, ask_more(c, gbx_clock_now_ns()));
    (void)pthread_mutex_unlock(&c->lock);
    gbx_buf_cleanup(&k->setup);
    gbx_buf_cleanup(&k->in);
    free(k);
}

/* A seat that is given back at once: then some runner has made an engine. */
static gbx_status prepare(void *user, const gbx_contents *contents, gbx_error *reterr)
{
    static const gbx_limits least = {.struct_size = sizeof least};
    gbx_client *c = user;
    gbx_lease lease = {.contents = contents, .limits = &least};
    int64_t end_ns = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_LOAD);
    struct timespec until = {end_ns / 1000000000, end_ns % 1000000000};
    gbx_status status = begin_lease(c, &lease, reterr);
    const lessee *k = lease.plugin;

    (void)pthread_mutex_lock(&c->lock);
    while (status == GBX_OK && k->state < GBX_CALLER_HELD)
        if (pthread_cond_clockwait(&c->changed, &c->lock, CLOCK_MONOTONIC, &until) ==
            ETIMEDOUT)
            status = gbx_fail(reterr, GBX_E_CLOSED, "no runner had a place");
    if (status == GBX_OK && k->state == GBX_CALLER_OVER)
        status = k->refused.why == GBX_WHY_CONTENTS
                     ? gbx_fail_at(reterr, GBX_E_DATA, k->refused.line,
                                   k->refused.column, "%s", lease.ending.reason)
                     : gbx_fail(reterr, GBX_E_CLOSED, "%s", lease.ending.reason);
    (void)pthread_mutex_unlock(&c->lock);
    release(c, &lease);
    return status;
}

static size_t send_lease(void *user, gbx_lease *lease, const void *data, size_t len)
{
    gbx_client *c = user;
    lessee *k = lease->plugin;
    gbx_header header = {0};
    size_t sent;

    (void)pthread_mutex_lock(&c->lock);
    sent = k->state == GBX_CALLER_OVER ? len : 0;
    /* The first bytes are the header of the call, which says how many it has. */
    if (k->state == GBX_CALLER_HELD && k->left == 0 && len >= sizeof header) {
        (void)gbx_header_decode(data, &header);
        k->left = sizeof header + (uint64_t)header.body_len;
    }
    if (k->state == GBX_CALLER_HELD && len >= k->left && k->flow.out_room >= k->left)
        on_event(c, k, GBX_CALLER_ON_SENT, NULL, NULL); /* before it leaves */
    if (k->state == GBX_CALLER_HELD || k->state == GBX_CALLER_SENT) {
        sent = gbx_flow_send(&k->flow, c->bus, k->runner, k->number, data, len, false);
        k->left -= sent < k->left ? sent : k->left;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return sent;
}

static ptrdiff_t receive(void *user, gbx_lease *lease, void *to, size_t size)
{
    gbx_client *c = user;
    lessee *k = lease->plugin;
    bool is_over;
    size_t n;

    (void)pthread_mutex_lock(&c->lock);
    n = size < k->in.len ? size : k->in.len;
    if (n > 0) {
        (void)memcpy(to, k->in.data, n);
        gbx_buf_consume(&k->in, n);
        k->flow.in_taken += n;
    }
    if (n > 0 && k->state == GBX_CALLER_SENT)
        (void)gbx_flow_send(&k->flow, c->bus, k->runner, k->number, NULL, 0, false);
    is_over = k->state == GBX_CALLER_OVER;
    (void)pthread_mutex_unlock(&c->lock);
    return n > 0 || is_over ? (ptrdiff_t)n : -1;
}

static void cancel(void *user, gbx_lease *lease)
{
    gbx_client *c = user;

    (void)pthread_mutex_lock(&c->lock);
    on_event(c, lease->plugin, GBX_CALLER_ON_ABORT, NULL, "it was cancelled");
    (void)pthread_mutex_unlock(&c->lock);
}

/* ---- making it ----------------------------------------------------------------------- */

gbx_client *gbx_client_new(gbx_bus *bus, const gbx_remote_url *url, gbx_error *reterr)
{
    gbx_client *c = calloc(1, sizeof *c);
    char id[33];
    char all[GBX_REMOTE_SUBJECT_MAX + 4];

    if (c == NULL) {
        (void)gbx_fail(reterr, GBX_E_NOMEM, "no memory for a runner's client");
        return NULL;
    }
    c->bus = bus;
    c->url = url;
    c->due_ns = INT64_MAX;
    TAILQ_INIT(&c->lessees);
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->changed, NULL);
    (void)snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64, gbx_remote_number(),
                   gbx_remote_number());
    if (gbx_remote_subject(c->own, url->pool, GBX_SUBJECT_CALLER, id, NULL)) {
        (void)snprintf(all, sizeof all, "%s.*", c->own);
        c->subscription = bus->ops->subscribe(bus, all, NULL, on_bus, c);
    }
    if (c->subscription == NULL) {
        (void)gbx_fail(reterr, GBX_E_CLOSED, "cannot subscribe to '%s'", c->own);
        gbx_client_free(c);
        return NULL;
    }
    return c;
}

gbx_status gbx_client_start(gbx_client *c, gbx_error *reterr)
{
    int error = gbx_thread_start(&c->timer, run_timer, c);

    errno = error;
    if (error != 0)
        return gbx_fail(reterr, GBX_E_OS,
                        "cannot start the thread of a runner's client");
    c->has_timer = true;
    return GBX_OK;
}

void **gbx_client_owner(gbx_client *c)
{
    return &c->owner;
}

void gbx_client_runner(gbx_client *c, gbx_runner *ret)
{
    ret->user = c;
    ret->execute = NULL;
    ret->prepare = prepare;
    ret->lease = begin_lease;
    ret->send = send_lease;
    ret->receive = receive;
    ret->cancel = cancel;
    ret->release = release;
}

void gbx_client_free(gbx_client *c)
{
    if (c == NULL)
        return;
    if (c->has_timer) {
        (void)pthread_mutex_lock(&c->lock);
        c->ends = true;
        (void)pthread_cond_broadcast(&c->changed);
        (void)pthread_mutex_unlock(&c->lock);
        (void)pthread_join(c->timer, NULL);
    }
    if (c->subscription != NULL)
        c->bus->ops->unsubscribe(c->bus, c->subscription);
    (void)pthread_cond_destroy(&c->changed);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

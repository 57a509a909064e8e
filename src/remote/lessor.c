/* SPDX-License-Identifier: MIT */
/*
 * lessor - the runner's side: seats for calls of others. What happens to a seat is a row
 * of gbx_runner_table. The bus' thread handles messages, and steps the relays that they
 * concern; whoever calls gbx_lessor_step() steps those whose worker has said something.
 */
#include "remote/lessor.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/timeouts.h"
#include "policy/policy.h"
#include "remote/call_states.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NS_PER_BYTE 1000 /* of a call, until it is whole: 1 MB a second */

typedef struct seat {
    TAILQ_ENTRY(seat) link;
    gbx_lessor *server;
    uint64_t number;
    gbx_runner_state state;
    char caller[GBX_REMOTE_SUBJECT_MAX + 1];
    int64_t begun_ns;
    int64_t heard_ns;
    int64_t told_ns; /* the last message to the caller */
    gbx_limits limits;
    uint64_t call_bytes; /* the most that the call has */
    gbx_buf call;        /* in HELD */
    gbx_kept *engine;
    gbx_relay *relay; /* in RUNNING */
    gbx_flow flow;
} seat;

static void on_event(seat *t, gbx_runner_event event, gbx_span bytes, const char *text,
                     const gbx_ending *ending);

/* ---- seats ----------------------------------------------------------------------- */

static void seat_free(seat *t)
{
    gbx_lessor *s = t->server;

    TAILQ_REMOVE(&s->seats, t, link);
    s->seat_count--;
    s->call_bytes -= t->call_bytes;
    s->memory_bytes -= t->limits.memory_bytes;
    if (t->relay != NULL)
        s->options->api->free(t->relay);
    t->engine->calls--;
    gbx_buf_cleanup(&t->call);
    free(t);
    if (s->is_draining) /* it may have been the last one */
        gbx_lessor_wake(s, 0);
}

static void say_end(seat *t, const gbx_ending *e, gbx_span last)
{
    gbx_remote_end end = {.how = (uint8_t)e->how,
                          .wait_status = e->wait_status,
                          .shortage = (uint8_t)e->shortage,
                          .cpu_us = e->cpu_us,
                          .growth_bytes = e->growth_bytes,
                          .group_bytes = e->group_bytes,
                          .reason = gbx_remote_text(e->reason, GBX_REMOTE_TEXT_MAX),
                          .seq = t->flow.out_seq,
                          .bytes = last};

    (void)gbx_remote_send(t->server->bus, t->caller, NULL, t->number, GBX_REMOTE_END,
                          &end);
}

/* Pass on what the worker says, as far as there is room; the last part of it goes with
 * the END. The seat may be gone afterwards. */
static void step(seat *t)
{
    const gbx_relay_api *api = t->server->options->api;
    gbx_bus *bus = t->server->bus;
    size_t sent = 1;

    while (sent > 0 && t->relay != NULL) {
        const gbx_ending *ending = NULL;
        const void *data = NULL;
        size_t len = api->step(t->relay, &data, &ending);
        size_t last = ending == NULL || len > t->flow.out_room ? 0
                      : len < bus->chunk                       ? len
                                                               : bus->chunk;

        sent =
            gbx_flow_send(&t->flow, bus, t->caller, t->number, data, len - last, false);
        if (sent > 0)
            t->told_ns = gbx_clock_now_ns();
        if (ending != NULL && sent + last == len) {
            on_event(t, GBX_RUNNER_ON_ENDED,
                     (gbx_span){last > 0 ? (const uint8_t *)data + sent : NULL, last},
                     "", ending);
            return;
        }
        api->taken(t->relay, sent);
    }
}

static void begin(seat *t)
{
    gbx_lessor *s = t->server;
    gbx_error error = {0};
    struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = t->number};

    if (s->options->api->open(t->engine->engine, t->call.data, t->call.len, &t->limits,
                              &t->relay, &error) != GBX_OK) {
        on_event(t, GBX_RUNNER_ON_FAILED, (gbx_span){0}, error.message, NULL);
        return;
    }
    gbx_buf_cleanup(&t->call);
    if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->options->api->fd(t->relay), &wanted) == 0)
        step(t);
    else
        on_event(t, GBX_RUNNER_ON_BROKEN, (gbx_span){0}, "", NULL);
}

static void on_event(seat *t, gbx_runner_event event, gbx_span bytes, const char *text,
                     const gbx_ending *ending)
{
    const gbx_relay_api *api = t->server->options->api;
    const gbx_call_row *row = gbx_call_row_of(&gbx_runner_table, t->state, event);
    unsigned todo = row != NULL ? row->actions : 0;
    gbx_ending said = {0};

    if (row == NULL)
        return;
    if (ending != NULL)
        said = *ending;
    else
        (void)snprintf(said.reason, sizeof said.reason, "%s", text);
    t->state = row->next;
    if ((todo & GBX_RUNNER_DO_UNRUN) != 0)
        said.how = GBX_ENDING_NO_WORKER;
    if ((todo & GBX_RUNNER_DO_GONE) != 0)
        said.how = GBX_ENDING_GONE;
    if ((todo & (GBX_RUNNER_DO_END | GBX_RUNNER_DO_UNRUN | GBX_RUNNER_DO_GONE)) != 0)
        say_end(t, &said, event == GBX_RUNNER_ON_ENDED ? bytes : (gbx_span){0});
    if (row->next == GBX_RUNNER_OVER) {
        seat_free(t);
        return;
    }
    t->flow.in_taken += bytes.len;
    (void)gbx_flow_send(&t->flow, t->server->bus, t->caller, t->number, NULL, 0, false);
    if ((todo & GBX_RUNNER_DO_ABORT) != 0)
        api->abort(t->relay);
    /* Each of these is the last thing: the seat may be gone then. */
    if ((todo & GBX_RUNNER_DO_FEED) != 0 &&
        api->feed(t->relay, bytes.data, bytes.len) != GBX_OK)
        on_event(t, GBX_RUNNER_ON_BROKEN, (gbx_span){0}, "", NULL);
    else if ((todo & GBX_RUNNER_DO_BEGIN) != 0)
        begin(t);
    else
        step(t);
}

/* The call is one frame: its header says how long it is. */
static gbx_runner_event keep(seat *t, gbx_span bytes)
{
    gbx_header header = {0};

    /* Without a limit of memory it was to have an engine made, and has no call. */
    if (t->limits.memory_bytes == 0 || !gbx_buf_append(&t->call, bytes.data, bytes.len))
        return GBX_RUNNER_ON_BROKEN;
    if (t->call.len < sizeof header)
        return GBX_RUNNER_ON_PART;
    (void)gbx_header_decode(t->call.data, &header);
    if (t->call.len - sizeof header == header.body_len)
        return GBX_RUNNER_ON_WHOLE;
    return t->call.len - sizeof header < header.body_len &&
                   header.body_len < t->call.ceiling
               ? GBX_RUNNER_ON_PART
               : GBX_RUNNER_ON_BROKEN;
}

static void on_data(seat *t, const gbx_remote_data *data)
{
    gbx_runner_event event = GBX_RUNNER_ON_LATER;

    if (!gbx_flow_take(&t->flow, data->seq, data->bytes.len, data->room))
        event = GBX_RUNNER_ON_BROKEN;
    else if (data->bytes.len == 0) {
        step(t); /* for the room */
        return;
    } else if (t->state == GBX_RUNNER_HELD)
        event = keep(t, data->bytes);
    on_event(t, event, data->bytes, "a message was lost, or is too long", NULL);
}

/* ---- questions --------------------------------------------------------------------- */

/* Refuse what is more than the most, which may be 0: no limit. */
static void check(const gbx_lessor *s, const char *what, uint64_t most, uint64_t asked,
                  gbx_error *ret)
{
    if (most != 0 && asked > most && ret->status == GBX_OK)
        (void)gbx_fail(ret, GBX_E_UNSUPPORTED,
                       "the runner '%s' allows at most %" PRIu64 " for %s, and %" PRIu64
                       " were asked for",
                       s->options->machine, most, what, asked);
}

/* Why this runner refuses it; false: it does not. */
static bool objects(const gbx_lessor *s, const gbx_remote_want *w, gbx_limits *limits,
                    gbx_error *ret)
{
    const char *machine = s->options->machine;

    if (w->version != GBX_REMOTE_VERSION || w->wire_version != GBX_WIRE_VERSION ||
        w->limits.len != sizeof *limits)
        return gbx_fail(ret, GBX_E_UNSUPPORTED,
                        "the runner '%s' has version %s, the caller %.*s", machine,
                        GBX_VERSION, (int)w->library.len,
                        (const char *)w->library.data) != GBX_OK;
    if (!gbx_lessor_allows(s, w->capabilities))
        return gbx_fail(ret, GBX_E_UNSUPPORTED,
                        "the runner '%s' does not allow all capabilities of the call",
                        machine) != GBX_OK;
    (void)memcpy(limits, w->limits.data, sizeof *limits);
    limits->struct_size = sizeof *limits; /* the caller may say any other */
#define CHECK(field, name, standard, least, most) \
    check(s, name, s->options->caps.field, limits->field, ret);
    GBX_LIMIT_MAP(CHECK)
#undef CHECK
    check(s, "memoryBytes", s->options->memory_bytes, limits->memory_bytes, ret);
    /* What does not fit the worker need not be taken. */
    check(s, "the call's bytes", limits->memory_bytes + GBX_MIB(4), w->call_bytes, ret);
    check(s, "the call's bytes", s->options->call_bytes, w->call_bytes, ret);
    return ret->status != GBX_OK;
}

static bool seat_begin(gbx_lessor *s, gbx_kept *engine, uint64_t number,
                       const gbx_remote_want *w, const gbx_limits *limits)
{
    const gbx_server_options *o = s->options;
    bool is_full = s->seat_count >= o->max_workers ||
                   w->call_bytes > o->call_bytes - s->call_bytes ||
                   limits->memory_bytes > o->memory_bytes - s->memory_bytes;
    seat *t = is_full ? NULL : calloc(1, sizeof *t);
    gbx_remote_grant grant = {.seat = gbx_remote_number(),
                              .machine = gbx_remote_text(o->machine, 64),
                              .runner = gbx_span_of(s->own),
                              .engine = gbx_remote_text(o->js_engine, 64)};

    if (t == NULL || grant.seat == 0) {
        free(t);
        return false;
    }
    t->server = s;
    t->engine = engine;
    t->number = grant.seat;
    t->begun_ns = t->heard_ns = t->told_ns = gbx_clock_now_ns();
    gbx_lessor_wake(s, t->told_ns + gbx_timeout_ns(GBX_TIMEOUT_BEAT));
    (void)memcpy(t->caller, w->caller.data, w->caller.len);
    t->call_bytes = w->call_bytes;
    gbx_buf_init(&t->call, w->call_bytes);
    gbx_flow_init(&t->flow);
    t->limits = *limits;
    TAILQ_INSERT_TAIL(&s->seats, t, link);
    s->seat_count++;
    s->call_bytes += t->call_bytes;
    s->memory_bytes += t->limits.memory_bytes;
    engine->calls++;
    TAILQ_REMOVE(&s->engines, engine, link);
    TAILQ_INSERT_HEAD(&s->engines, engine, link);
    (void)gbx_remote_send(s->bus, t->caller, NULL, number, GBX_REMOTE_GRANT, &grant);
    return true;
}

static void on_want(gbx_lessor *s, uint64_t number, const gbx_remote_want *w)
{
    char caller[GBX_REMOTE_SUBJECT_MAX + 1] = "";
    gbx_error error = {0};
    gbx_limits limits;
    gbx_kept *engine;
    bool is_taken = false;

    if (!gbx_remote_is_subject(w->caller, s->url->pool, GBX_SUBJECT_CALLER))
        return;
    (void)memcpy(caller, w->caller.data, w->caller.len);
    if (objects(s, w, &limits, &error)) {
        gbx_lessor_refuse(s, caller, number, GBX_WHY_NOT_HERE, &error);
        return;
    }
    TAILQ_FOREACH(engine, &s->engines, link)
    if (memcmp(engine->key, w->key.data, sizeof engine->key) == 0)
        break;
    if (!s->is_draining)
        is_taken = engine != NULL && engine->engine != NULL
                       ? seat_begin(s, engine, number, w, &limits)
                       : gbx_kept_begin(s, number, w);
    if (!is_taken)
        gbx_lessor_refuse(s, caller, number, GBX_WHY_BUSY,
                          &(gbx_error){.message = "no seat is free"});
}

/* ---- what the bus brings ----------------------------------------------------------- */

static seat *find(gbx_lessor *s, uint64_t number)
{
    seat *t;

    TAILQ_FOREACH(t, &s->seats, link)
    if (t->number == number)
        break;
    return t;
}

static void on_frame(gbx_lessor *s, gbx_span frame)
{
    gbx_remote_any msg;
    bool is_valid = gbx_remote_read(frame, &msg);
    seat *t = find(s, msg.number);
    gbx_kept *e = NULL;

    if (is_valid && msg.type == GBX_REMOTE_WANT)
        on_want(s, msg.number, &msg.want);
    if (is_valid && msg.type == GBX_REMOTE_BLOB)
        TAILQ_FOREACH(e, &s->engines, link)
    if (e->number == msg.number && !e->is_made)
        break;
    if (e != NULL)
        gbx_kept_put(e, &msg.blob);
    if (t == NULL)
        return;
    t->heard_ns = gbx_clock_now_ns();
    if (is_valid && msg.type == GBX_REMOTE_DATA)
        on_data(t, &msg.data);
    else if (is_valid && msg.type == GBX_REMOTE_CANCEL)
        on_event(t, GBX_RUNNER_ON_CANCEL, (gbx_span){0}, "", NULL);
    else
        on_event(t, GBX_RUNNER_ON_BROKEN, (gbx_span){0}, "", NULL);
}

static void on_bus(void *user, gbx_bus_event event, const gbx_bus_message *message)
{
    gbx_lessor *s = user;

    if (event != GBX_BUS_MESSAGE)
        return;
    (void)pthread_mutex_lock(&s->lock);
    on_frame(s, message->body);
    (void)pthread_mutex_unlock(&s->lock);
}

/* ---- what time brings -------------------------------------------------------------- */

/* Returns when something is due again for this seat, which may be gone then. */
static int64_t tick(seat *t, int64_t now_ns)
{
    int64_t silent_ns = t->heard_ns + gbx_timeout_ns(GBX_TIMEOUT_PEER);
    int64_t beat_ns = t->told_ns + gbx_timeout_ns(GBX_TIMEOUT_BEAT);
    bool is_slow =
        t->state == GBX_RUNNER_HELD && t->begun_ns + gbx_timeout_ns(GBX_TIMEOUT_SEAT) +
                                               (int64_t)t->call.len * NS_PER_BYTE <=
                                           now_ns;

    if (silent_ns <= now_ns || is_slow) {
        on_event(t, GBX_RUNNER_ON_SILENT, (gbx_span){0},
                 "the caller sent nothing for too long", NULL);
        return INT64_MAX;
    }
    if (beat_ns <= now_ns) {
        t->told_ns = now_ns;
        (void)gbx_flow_send(&t->flow, t->server->bus, t->caller, t->number, NULL, 0,
                            true);
        beat_ns = now_ns + gbx_timeout_ns(GBX_TIMEOUT_BEAT);
        step(t); /* the bus may have been away */
    }
    return silent_ns < beat_ns ? silent_ns : beat_ns;
}

static void step_readable(gbx_lessor *s)
{
    struct epoll_event events[64];
    int count = epoll_wait(s->epoll, events, GBX_COUNTOF(events), 0);

    for (int i = 0; i < count; i++) {
        eventfd_t ignored;
        seat *t = find(s, events[i].data.u64);

        if (events[i].data.u64 == 0)
            (void)eventfd_read(s->wake, &ignored);
        else if (t != NULL)
            step(t);
    }
}

int64_t gbx_lessor_step(gbx_lessor *s, int64_t now_ns)
{
    int64_t late_ns;
    int64_t next_ns = INT64_MAX;

    (void)pthread_mutex_lock(&s->lock);
    late_ns = now_ns - s->due_ns;
    step_readable(s);
    s->due_ns = INT64_MAX;
    for (seat *t = TAILQ_FIRST(&s->seats), *after; t != NULL; t = after) {
        int64_t due_ns;

        after = TAILQ_NEXT(t, link);
        /* This process was stopped: what came meanwhile is heard first. */
        if (late_ns > gbx_timeout_ns(GBX_TIMEOUT_NOBODY))
            t->heard_ns = t->begun_ns = now_ns;
        due_ns = tick(t, now_ns);
        next_ns = due_ns < next_ns ? due_ns : next_ns;
    }
    for (gbx_kept *e = TAILQ_FIRST(&s->engines), *after; e != NULL; e = after) {
        after = TAILQ_NEXT(e, link);
        if (e->due_ns <= now_ns)
            gbx_kept_fail(e, "what the engine needs did not come");
        else
            next_ns = e->due_ns < next_ns ? e->due_ns : next_ns;
    }
    s->due_ns = next_ns < s->due_ns ? next_ns : s->due_ns;
    next_ns = s->due_ns;
    (void)pthread_mutex_unlock(&s->lock);
    return next_ns;
}

static void put_number(gbx_buf *to, const char *name, uint64_t number)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    gbx_json_put_text(to, name, text);
}

/* For those who list runners. */
static void describe(void *user, gbx_buf *to)
{
    gbx_lessor *s = user;
    const gbx_server_options *o = s->options;
    uint64_t bytes;

    (void)pthread_mutex_lock(&s->lock);
    gbx_json_put_text(to, "machine", o->machine);
    gbx_json_put_text(to, "pool", s->url->pool);
    gbx_json_put_text(to, "engine", o->js_engine);
    gbx_json_put_text(to, "layers", o->layers);
    put_number(to, "engineDays", o->engine_days);
    put_number(to, "running", s->seat_count);
    put_number(to, "max", o->max_workers);
    put_number(to, "datasets", gbx_blobs_count(s->blobs, &bytes));
    put_number(to, "datasetBytes", bytes);
    gbx_json_put_text(to, "state", s->is_draining ? "draining" : "serving");
    (void)pthread_mutex_unlock(&s->lock);
}

/* ---- its beginning and end --------------------------------------------------------- */

static bool open_descriptors(gbx_lessor *s)
{
    struct epoll_event wanted = {.events = EPOLLIN};

    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return s->epoll >= 0 && s->wake >= 0 &&
           epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wake, &wanted) == 0;
}

static bool listen_to_bus(gbx_lessor *s)
{
    (void)snprintf(s->id, sizeof s->id, "%016" PRIx64 "%016" PRIx64,
                   gbx_remote_number(), gbx_remote_number());
    if (!gbx_remote_subject(s->own, s->url->pool, GBX_SUBJECT_RUNNER, s->id, "m"))
        return false;
    s->own_subscription = gbx_lessor_listen(s, GBX_SUBJECT_RUNNER, s->id, "*", NULL);
    s->service = (gbx_service){s->bus, s->id, describe, s, NULL};
    if (s->own_subscription != NULL && gbx_service_open(&s->service))
        s->any_subscription =
            gbx_lessor_listen(s, GBX_SUBJECT_ANY, NULL, NULL, GBX_SUBJECT_GROUP);
    return s->any_subscription != NULL;
}

gbx_lessor *gbx_lessor_new(gbx_bus *bus, const gbx_remote_url *url,
                           const gbx_server_options *options, gbx_error *reterr)
{
    gbx_lessor *s = calloc(1, sizeof *s);

    if (s == NULL) {
        (void)gbx_fail(reterr, GBX_E_NOMEM, "no memory for a runner");
        return NULL;
    }
    s->bus = bus;
    s->url = url;
    s->options = options;
    s->on_bus = on_bus;
    s->due_ns = INT64_MAX;
    s->epoll = s->wake = -1;
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->changed, NULL);
    TAILQ_INIT(&s->seats);
    TAILQ_INIT(&s->engines);
    s->blobs = gbx_blobs_new(options->dataset_bytes, options->datasets_dir, reterr);
    if (s->blobs != NULL && !open_descriptors(s))
        (void)gbx_fail(reterr, GBX_E_OS, "cannot make the descriptors of a runner");
    else if (s->blobs != NULL && !listen_to_bus(s))
        (void)gbx_fail(reterr, GBX_E_CLOSED, "cannot subscribe to '%s'", s->own);
    if (s->any_subscription != NULL)
        return s;
    gbx_lessor_free(s);
    return NULL;
}

void gbx_lessor_drain(gbx_lessor *s, bool abort)
{
    void *any;

    (void)pthread_mutex_lock(&s->lock);
    s->is_draining = true;
    any = s->any_subscription;
    s->any_subscription = NULL;
    for (seat *t = TAILQ_FIRST(&s->seats), *after; abort && t != NULL; t = after) {
        after = TAILQ_NEXT(t, link);
        on_event(t, t->relay != NULL ? GBX_RUNNER_ON_CANCEL : GBX_RUNNER_ON_SILENT,
                 (gbx_span){0}, "the runner ends", NULL);
    }
    gbx_lessor_wake(s, 0);
    (void)pthread_mutex_unlock(&s->lock);
    if (any != NULL)
        s->bus->ops->unsubscribe(s->bus, any);
}

bool gbx_lessor_is_idle(gbx_lessor *s)
{
    bool is_idle;

    (void)pthread_mutex_lock(&s->lock);
    is_idle = TAILQ_EMPTY(&s->seats);
    (void)pthread_mutex_unlock(&s->lock);
    return is_idle;
}

void gbx_lessor_free(gbx_lessor *s)
{
    if (s == NULL)
        return;
    gbx_lessor_drain(s, false);
    if (s->own_subscription != NULL)
        s->bus->ops->unsubscribe(s->bus, s->own_subscription);
    if (s->service.subscription != NULL)
        s->bus->ops->unsubscribe(s->bus, s->service.subscription);
    (void)pthread_mutex_lock(&s->lock);
    while (!TAILQ_EMPTY(&s->seats))
        seat_free(TAILQ_FIRST(&s->seats));
    (void)pthread_mutex_unlock(&s->lock);
    gbx_kept_free_all(s);
    gbx_blobs_free(s->blobs);
    gbx_fd_close(&s->epoll);
    gbx_fd_close(&s->wake);
    (void)pthread_cond_destroy(&s->changed);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

gbx_status gbx_server_run(gbx_bus *bus, const gbx_remote_url *url,
                          const gbx_server_options *options, int stop_fd,
                          gbx_error *reterr)
{
    gbx_lessor *s = gbx_lessor_new(bus, url, options, reterr);
    struct pollfd fds[2] = {{.fd = stop_fd, .events = POLLIN}};
    unsigned stops = 0;

    if (s == NULL)
        return reterr != NULL ? reterr->status : GBX_E_CLOSED;
    fds[1] = (struct pollfd){.fd = s->epoll, .events = POLLIN};
    while (stops == 0 || !gbx_lessor_is_idle(s)) {
        int64_t due_ns = gbx_lessor_step(s, gbx_clock_now_ns());
        int64_t ms = (due_ns - gbx_clock_now_ns()) / GBX_NS_PER_MS;
        eventfd_t ignored;

        ms = ms < 0 ? 0 : ms < 60000 ? ms + 1 : 60000;

        fds[0].revents = 0;
        if (poll(fds, 2, due_ns == INT64_MAX ? -1 : (int)ms) < 0 && errno != EINTR)
            break;
        if ((fds[0].revents & POLLIN) != 0 && eventfd_read(stop_fd, &ignored) == 0)
            gbx_lessor_drain(s, stops++ > 0);
    }
    gbx_lessor_free(s);
    return GBX_OK;
}

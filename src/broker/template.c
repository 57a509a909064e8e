/* SPDX-License-Identifier: MIT */
/*
 * template - the host's end of the control channel. A template has seen datasets but
 * never code; its bytes are checked all the same, and what does not fit kills it.
 */
#include "broker/engine.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The template's own deadline for its first word and for each dataset: far above
 * what a loaded machine needs, so that only a hang meets it. */
#define TEMPLATE_PATIENCE_S 30

/* A forked worker must be sealed and READY by then, or is replaced. */
#define READY_PATIENCE_S 10

#define FDINFO_SIZE 512

static void on_control(evutil_socket_t fd, short what, void *arg);

/* The pid of a pidfd as this process sees it, through our own /proc; 0 without one. */
static pid_t pid_of(int pidfd)
{
    char text[FDINFO_SIZE];
    const char *at;
    ssize_t n;
    int fd;

    (void)snprintf(text, sizeof text, "/proc/self/fdinfo/%d", pidfd);
    fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (n <= 0)
        return 0;
    text[n] = 0;
    at = strstr(text, "Pid:");
    return at != NULL ? (pid_t)strtol(at + 4, NULL, 10) : 0;
}

static int open_status(pid_t pid)
{
    char path[64];

    if (pid <= 0)
        return -1;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The worker's first and only message to the supervisor. */
static void on_ready(evutil_socket_t fd, short what, void *arg)
{
    gbx_worker *w = arg;
    gbx_engine *engine = w->from->engine;
    uint8_t data[GBX_FRAME_HEADER_SIZE];
    gbx_header header;
    bool is_ready = (what & EV_READ) != 0 &&
                    recv(fd, data, sizeof data, MSG_DONTWAIT) == (ssize_t)sizeof data &&
                    gbx_header_decode(data, &header) && header.type == GBX_MSG_READY &&
                    header.body_len == 0 && header.call_id == 0;

    event_free(w->ready);
    w->ready = NULL;
    w->rss_kib = gbx_worker_rss_kib(w, false);
    (void)pthread_mutex_lock(&engine->lock);
    if (w->state == GBX_WORKER_STARTING) {
        if (is_ready)
            gbx_pool_ready(engine, w);
        else
            gbx_pool_discard(engine, w);
        gbx_pool_fill(engine);
    }
    (void)pthread_mutex_unlock(&engine->lock);
}

static bool on_forked(gbx_template *t, gbx_span body)
{
    static const struct timeval patience = {READY_PATIENCE_S, 0};
    gbx_engine *engine = t->engine;
    gbx_msg_forked msg;
    gbx_worker *w;

    if (!gbx_msg_get_forked(body, &msg) || (msg.error == 0 && t->fd_count < 2))
        return false;
    (void)pthread_mutex_lock(&engine->lock);
    w = gbx_pool_find(engine, msg.worker_id);
    if (w != NULL && w->from == t && w->channel < 0 && msg.error == 0) {
        w->channel = t->fds[0];
        w->pidfd = t->fds[1];
        t->fd_count -= 2;
        memmove(t->fds, t->fds + 2, t->fd_count * sizeof t->fds[0]);
        if (w->state == GBX_WORKER_FORKING)
            w->state = GBX_WORKER_STARTING;
    }
    (void)pthread_mutex_unlock(&engine->lock);
    if (w == NULL || w->from != t)
        return false;
    if (msg.error != 0) {
        (void)pthread_mutex_lock(&engine->lock);
        gbx_pool_exited(engine, w, NULL);
        (void)pthread_mutex_unlock(&engine->lock);
        return true;
    }
    (void)fcntl(w->channel, F_SETFL, O_NONBLOCK);
    w->pid = pid_of(w->pidfd);
    w->status_fd = open_status(w->pid);
    w->ready = event_new(engine->base, w->channel, EV_READ, on_ready, w);
    if (w->ready == NULL || event_add(w->ready, &patience) < 0)
        return false;
    return true;
}

static bool on_exited(gbx_template *t, gbx_span body)
{
    gbx_engine *engine = t->engine;
    gbx_msg_exited msg;
    gbx_worker *w;

    if (!gbx_msg_get_exited(body, &msg))
        return false;
    (void)pthread_mutex_lock(&engine->lock);
    w = gbx_pool_find(engine, msg.worker_id);
    if (w != NULL && w->from == t && !w->has_exited) {
        gbx_pool_exited(engine, w, &msg);
        gbx_pool_fill(engine);
    }
    (void)pthread_mutex_unlock(&engine->lock);
    return true;
}

static void copy_line(char *to, size_t size, gbx_span text)
{
    gbx_buf buf;

    gbx_buf_init(&buf, size - 1);
    (void)gbx_utf8_append_escaped(&buf, text.data,
                                  text.len < size / 2 ? text.len : size / 2,
                                  GBX_ESCAPE_LINE);
    memcpy(to, buf.data != NULL ? (const char *)buf.data : "", buf.len);
    to[buf.len] = 0;
    gbx_buf_cleanup(&buf);
}

static void keep_facts(gbx_engine_facts *facts, const gbx_msg_hello *hello,
                       const gbx_spawned *process)
{
    facts->known = true;
    facts->threads = hello->threads;
    facts->landlock_abi = hello->landlock_abi;
    facts->oom_known = hello->oom_known != 0;
    facts->jit_page = hello->jit_page != 0;
    copy_line(facts->engine, sizeof facts->engine, hello->engine);
    for (size_t i = 0; i < hello->layer_count; i++) {
        const gbx_layer_report *layer = &hello->layers[i];

        if (layer->layer >= GBX_LAYER_COUNT)
            continue;
        facts->layers[layer->layer].stands = layer->stands != 0;
        copy_line(facts->layers[layer->layer].reason, sizeof facts->layers[0].reason,
                  layer->reason);
    }
    (void)process;
}

/* Does what stands satisfy what is required? The first that does not, by name. */
static bool is_enough(const gbx_engine *engine, gbx_error *reterr)
{
    static const struct {
        const char *name;
        bool is_required;
    } table[] = {
#define XX(name, text, required, what) {text, required},
        GBX_LAYER_MAP(XX)
#undef XX
    };
    bool is_strict = engine->settings.options.require == GBX_REQUIRE_STRICT;

    for (size_t i = 0; i < GBX_LAYER_COUNT; i++) {
        if (engine->facts.layers[i].stands || (!table[i].is_required && !is_strict))
            continue;
        (void)gbx_fail(reterr, GBX_E_UNSUPPORTED,
                       "the layer '%s' is required and missing: %s", table[i].name,
                       engine->facts.layers[i].reason);
        return false;
    }
    return true;
}

static void serves(gbx_template *t)
{
    gbx_engine *engine = t->engine;

    t->state = GBX_TEMPLATE_SERVING;
    if (engine->current != NULL)
        gbx_template_retire(engine->current);
    engine->current = t;
    engine->failed_starts = 0;
    engine->has_started = true;
    (void)pthread_cond_broadcast(&engine->changed);
    gbx_pool_fill(engine);
}

static bool on_hello(gbx_template *t, gbx_span body)
{
    gbx_engine *engine = t->engine;
    gbx_error error = {0};
    gbx_msg_hello hello;
    bool ok;

    if (t->state != GBX_TEMPLATE_STARTING || !gbx_msg_get_hello(body, &hello) ||
        hello.version != GBX_WIRE_VERSION)
        return false;
    (void)pthread_mutex_lock(&engine->lock);
    keep_facts(&engine->facts, &hello, &t->process);
    ok = hello.failure.len == 0;
    if (!ok) {
        char text[256];

        copy_line(text, sizeof text, hello.failure);
        (void)gbx_fail(&error, GBX_E_UNSUPPORTED, "the worker program cannot serve: %s",
                       text);
    } else {
        ok = is_enough(engine, &error);
    }
    if (!ok && !engine->has_started) {
        engine->start_error = error;
        engine->has_started = true;
        (void)pthread_cond_broadcast(&engine->changed);
    }
    t->loads_pending = 0;
    t->state = GBX_TEMPLATE_LOADING;
    (void)pthread_mutex_unlock(&engine->lock);
    if (!ok)
        return false;
    /* Only the supervisor and gbx_engine_load() touch datasets, never at once. */
    for (gbx_dataset *d = engine->datasets; d != NULL; d = d->next) {
        if (!gbx_template_send_load(t, d))
            return false;
        t->loads_pending++;
    }
    if (t->loads_pending == 0) {
        (void)pthread_mutex_lock(&engine->lock);
        serves(t);
        (void)pthread_mutex_unlock(&engine->lock);
    }
    return true;
}

static bool on_loaded(gbx_template *t, gbx_span body)
{
    gbx_engine *engine = t->engine;
    gbx_msg_loaded msg;

    if (!gbx_msg_get_loaded(body, &msg) || t->loads_pending == 0)
        return false;
    (void)pthread_mutex_lock(&engine->lock);
    t->loads_pending--;
    if (t->state == GBX_TEMPLATE_LOADING && t->loads_pending == 0) {
        serves(t);
    } else if (t->state == GBX_TEMPLATE_SERVING && engine->is_loading) {
        engine->load_failed = !msg.ok;
        copy_line(engine->load_message, sizeof engine->load_message, msg.message);
        engine->load_done = true;
        (void)pthread_cond_broadcast(&engine->changed);
    }
    (void)pthread_mutex_unlock(&engine->lock);
    return true;
}

/* All that a template may ever say, and how long it may be. */
static const struct rule {
    gbx_msg_type type;
    size_t max_len;
    bool (*handle)(gbx_template *t, gbx_span body);
} rules[] = {
    {GBX_MSG_EXITED, 28, on_exited},
    {GBX_MSG_FORKED, 12, on_forked},
    {GBX_MSG_HELLO, GBX_KIB(16), on_hello},
    {GBX_MSG_LOADED, GBX_KIB(16), on_loaded},
};

static bool dispatch(gbx_template *t, const gbx_header *header, gbx_span body)
{
    for (size_t i = 0; i < GBX_COUNTOF(rules); i++)
        if (rules[i].type == header->type)
            return body.len <= rules[i].max_len && rules[i].handle(t, body);
    return false;
}

/* One recvmsg: bytes into t->in, at most two descriptors into t->fds. */
static ssize_t receive(gbx_template *t)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(2 * sizeof(int))];
    } control;
    uint8_t *room = gbx_buf_reserve(&t->in, GBX_KIB(16));
    struct iovec iov = {.iov_base = room, .iov_len = GBX_KIB(16)};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof control};
    ssize_t n;

    if (room == NULL)
        return 0;
    n = recvmsg(t->process.control, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n <= 0)
        return n;
    t->in.len += (size_t)n;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c != NULL; c = CMSG_NXTHDR(&msg, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (t->fd_count < GBX_COUNTOF(t->fds))
                t->fds[t->fd_count++] = fd;
            else
                (void)close(fd);
        }
    }
    return n;
}

/* Every whole frame in t->in. False if one does not fit. */
static bool take_frames(gbx_template *t)
{
    size_t used = 0;
    bool ok = true;

    while (ok && t->in.len - used >= GBX_FRAME_HEADER_SIZE) {
        gbx_header header;
        const uint8_t *at = t->in.data + used;

        ok = gbx_header_decode(at, &header) && header.body_len <= GBX_KIB(16);
        if (!ok || t->in.len - used - GBX_FRAME_HEADER_SIZE < header.body_len)
            break;
        ok = dispatch(t, &header,
                      (gbx_span){at + GBX_FRAME_HEADER_SIZE, header.body_len});
        used += GBX_FRAME_HEADER_SIZE + header.body_len;
    }
    gbx_buf_consume(&t->in, used);
    return ok;
}

/* The template is gone or talks nonsense: its workers are gone with it. */
static void died(gbx_template *t)
{
    gbx_engine *engine = t->engine;
    gbx_worker *next;

    gbx_engine_emit(engine, "template.died", 0, "");
    event_free(t->control);
    t->control = NULL;
    gbx_spawned_close(&t->process);
    (void)pthread_mutex_lock(&engine->lock);
    if (t->state < GBX_TEMPLATE_SERVING) {
        engine->failed_starts++;
        engine->retry_ns =
            gbx_clock_now_ns() +
            (INT64_C(50) << (engine->failed_starts < 6 ? engine->failed_starts : 6)) *
                GBX_NS_PER_MS;
        if (engine->failed_starts >= GBX_FAILED_STARTS_MAX)
            gbx_queue_fail_all(engine);
        if (!engine->has_started) {
            (void)gbx_fail(&engine->start_error, GBX_E_OS,
                           "the worker program died before it was ready");
            engine->has_started = true;
        }
    }
    t->state = GBX_TEMPLATE_DEAD;
    if (engine->current == t)
        engine->current = NULL;
    if (engine->is_loading) {
        engine->load_failed = true;
        engine->load_done = true;
        (void)snprintf(engine->load_message, sizeof engine->load_message,
                       "the template died while loading: the data does not fit");
    }
    for (gbx_worker *w = engine->workers; w != NULL; w = next) {
        next = w->next;
        if (w->from == t && !w->has_exited)
            gbx_pool_exited(engine, w, NULL);
    }
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_supervisor_wake(engine);
}

static void on_control(evutil_socket_t fd, short what, void *arg)
{
    gbx_template *t = arg;

    (void)fd;
    if ((what & EV_TIMEOUT) != 0) {
        if (t->state == GBX_TEMPLATE_STARTING)
            died(t);
        return;
    }
    for (int i = 0; i < 64; i++) { /* then let others have a turn */
        ssize_t n = receive(t);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0 || !take_frames(t)) {
            died(t);
            return;
        }
        if (t->state != GBX_TEMPLATE_STARTING)
            (void)event_remove_timer(t->control);
    }
}

/* CONFIG, first. */
static bool send_config(gbx_template *t)
{
    const gbx_options *o = &t->engine->settings.options;
    gbx_msg_config config = {
        .version = GBX_WIRE_VERSION,
        .globals = (uint8_t)o->globals,
        .warm = o->pool_size > 1 || o->fresh == GBX_FRESH_EXEC ? 1 : 0,
        .capabilities = o->capabilities,
        .ns_made = t->process.ns_made,
        .memory_bytes = o->limits.memory_bytes,
        .cpu_s = o->limits.cpu_ms / 1000 + 2,
    };
    gbx_buf buf;
    bool sent;

    gbx_buf_init(&buf, 256);
    sent =
        gbx_msg_put_config(&buf, &config) &&
        send(t->process.control, buf.data, buf.len, MSG_NOSIGNAL) == (ssize_t)buf.len;
    gbx_buf_cleanup(&buf);
    return sent;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_template_start(gbx_engine *engine, gbx_error *reterr)
{
    static const struct timeval patience = {TEMPLATE_PATIENCE_S, 0};
    const gbx_options *o = &engine->settings.options;
    gbx_spawn_options options = {.worker_path = o->worker_path, .jit = o->jit};
    gbx_template *t = calloc(1, sizeof *t);
    gbx_status status;

    if (t == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a template");
    t->engine = engine;
    t->process = (gbx_spawned){.control = -1, .pidfd = -1};
    t->born_ns = gbx_clock_now_ns();
    gbx_buf_init(&t->in, GBX_KIB(64));
    status = gbx_spawn(&options, &t->process, reterr);
    if (status == GBX_OK && !send_config(t))
        status = gbx_fail(reterr, GBX_E_OS, "cannot configure the template");
    if (status == GBX_OK) {
        t->control = event_new(engine->base, t->process.control, EV_READ | EV_PERSIST,
                               on_control, t);
        if (t->control == NULL || event_add(t->control, &patience) < 0)
            status = gbx_fail(reterr, GBX_E_NOMEM, "no memory for an event");
    }
    if (status != GBX_OK) {
        gbx_template_end(t);
        return status;
    }
    (void)pthread_mutex_lock(&engine->lock);
    t->next = engine->templates;
    engine->templates = t;
    engine->templates_started++;
    (void)pthread_mutex_unlock(&engine->lock);
    return GBX_OK;
}

bool gbx_template_send_load(gbx_template *t, const gbx_dataset *d)
{
    gbx_msg_load load = {.size = d->size,
                         .name = {(const uint8_t *)d->name, strlen(d->name)}};
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec iov;
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    gbx_buf buf;
    bool sent;

    gbx_buf_init(&buf, 512);
    (void)gbx_msg_put_load(&buf, &load);
    iov = (struct iovec){.iov_base = buf.data, .iov_len = buf.len};
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &d->memfd, sizeof(int));
    sent = !buf.failed && sendmsg(t->process.control, &msg,
                                  MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)buf.len;
    gbx_buf_cleanup(&buf);
    return sent;
}

void gbx_template_retire(gbx_template *t)
{
    gbx_engine *engine = t->engine;

    t->state = GBX_TEMPLATE_RETIRED;
    if (engine->current == t)
        engine->current = NULL;
}

void gbx_template_sweep(gbx_engine *engine)
{
    for (gbx_template **at = &engine->templates; *at != NULL;) {
        gbx_template *t = *at;
        bool is_over;

        (void)pthread_mutex_lock(&engine->lock);
        is_over = t->workers == 0 &&
                  (t->state == GBX_TEMPLATE_RETIRED || t->state == GBX_TEMPLATE_DEAD);
        if (is_over)
            *at = t->next;
        (void)pthread_mutex_unlock(&engine->lock);
        if (is_over)
            gbx_template_end(t);
        else
            at = &t->next;
    }
}

void gbx_template_end(gbx_template *t)
{
    if (t->control != NULL)
        event_free(t->control);
    gbx_spawned_close(&t->process);
    for (size_t i = 0; i < t->fd_count; i++)
        (void)close(t->fds[i]);
    gbx_buf_cleanup(&t->in);
    free(t);
}

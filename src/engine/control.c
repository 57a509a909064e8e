/* SPDX-License-Identifier: MIT */
/*
 * control - the host's end of a template's control channel. The table `rules` lists all
 * frames that a template may send; any other, unexpected or malformed one ends it.
 */
#include "engine/engine.h"

#include "base/timeouts.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Maximum length of the body of a template's frame. */
#define BODY_MAX GBX_KIB(16)

/* ---- what the host sends --------------------------------------------------- */

bool gbx_template_send_expose(gbx_template *t, const char *name)
{
    gbx_msg_expose msg = {.name = gbx_span_of(name)};
    gbx_buf buf = {.ceiling = 512};
    bool sent = gbx_msg_put(&buf, 0, &msg) &&
                send(t->process.control, buf.data, buf.len,
                     MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)buf.len;

    gbx_buf_cleanup(&buf);
    return sent;
}

bool gbx_template_send_load(gbx_template *t, const gbx_dataset *d)
{
    gbx_msg_load msg = {.size = d->size,
                        .format = d->format,
                        .name = gbx_span_of(d->name)};
    gbx_buf buf = {.ceiling = 512};
    bool sent = gbx_msg_put(&buf, 0, &msg) &&
                gbx_fd_send(t->process.control, buf.data, buf.len, &d->memfd, 1,
                            MSG_DONTWAIT) == (ssize_t)buf.len;

    gbx_buf_cleanup(&buf);
    return sent;
}

/* ---- what a template sends ------------------------------------------------- */

/* Workers of one template with the same datasets are equal: measures the first one. */
static uint64_t ready_rss_kib(const gbx_worker *w)
{
    gbx_template *t = w->from;

    if (t->ready_rss_kib == 0 || t->ready_load_seq != w->load_seq) {
        t->ready_rss_kib = gbx_proc_number(w->status_fd, "\nVmRSS:");
        t->ready_load_seq = w->load_seq;
    }
    return t->ready_rss_kib;
}

/* Handle a worker's first message, its end before that, or its timeout. If it broke the
 * protocol, `broken` says how, and the oldest waiting call ends; false if none waits.
 * The lock is held. */
static bool take_first(gbx_worker *w, short what, const uint8_t *data, ssize_t n,
                       char *broken, size_t size)
{
    gbx_engine *engine = w->from->engine;
    gbx_header header = {0};
    const char *fault = NULL; /* what is wrong with the message */

    if (n > 0 && n < GBX_FRAME_HEADER_SIZE)
        fault = "it was cut short";
    else if (n > 0 && !gbx_header_decode(data, &header))
        fault = "reserved bytes of its header were set";
    else if (n > 0 && header.type != GBX_MSG_READY)
        fault = "it was not READY";
    else if (n > 0 && (header.body_len != 0 || header.call_id != 0))
        fault = "it was malformed";
    if (n > 0 && fault == NULL) {
        engine->lack[0] = 0;
        gbx_pool_ready(engine, w);
        return true;
    }
    w->died_early = n <= 0 && (what & EV_READ) != 0;
    if (!w->died_early && fault == NULL)
        gbx_queue_lacks(engine, "a worker was not ready in time", 0);
    gbx_pool_discard(engine, w);
    if (fault == NULL)
        return true;
    (void)
        snprintf(broken, size,
                 "the worker broke the protocol with its first message and was killed: "
                 "%s (message %u)",
                 fault, header.type);
    return gbx_queue_fail_first(engine, GBX_END_BROKEN, broken);
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
    gbx_worker *w = arg;
    gbx_engine *engine = w->from->engine;
    uint8_t data[GBX_FRAME_HEADER_SIZE];
    ssize_t n = (what & EV_READ) != 0 ? recv(fd, data, sizeof data, MSG_DONTWAIT) : -1;
    char broken[200] = "";
    bool is_told = true;

    event_free(w->ready);
    w->ready = NULL;
    w->rss_kib = ready_rss_kib(w);
    (void)pthread_mutex_lock(&engine->lock);
    if (w->state == GBX_WORKER_STARTING) {
        is_told = take_first(w, what, data, n, broken, sizeof broken);
        gbx_pool_fill_in_pauses(engine);
    }
    (void)pthread_mutex_unlock(&engine->lock);
    if (!is_told)
        gbx_audit_engine_refusal(engine, GBX_AUDIT_PROTOCOL_VIOLATION, broken);
}

static bool on_forked(gbx_template *t, gbx_span body)
{
    struct timeval patience = gbx_timeout_timeval(GBX_TIMEOUT_READY);
    gbx_engine *engine = t->engine;
    gbx_msg_forked msg;
    gbx_worker *w;
    GBX_CLEANUP(gbx_fd_close) int status_fd = -1;
    struct stat st;
    pid_t pid = 0;
    bool is_lost;

    if (!gbx_msg_get(body, &msg) || (msg.error == 0 && t->fd_count < 2))
        return false;
    is_lost = msg.error == 0 && t->fds[0] < 0;
    if (msg.error == 0 && !is_lost &&
        (fstat(t->fds[0], &st) < 0 || !S_ISSOCK(st.st_mode) ||
         !gbx_pidfd_is_child(t->fds[1], &t->process, &pid, &status_fd)))
        return false;
    (void)pthread_mutex_lock(&engine->lock);
    w = gbx_pool_find(engine, msg.worker_id);
    /* Only one FORKED for each FORK: a second would replace descriptors in use. */
    if (w != NULL && (w->from != t || w->state != GBX_WORKER_FORKING))
        w = NULL;
    if (w != NULL && msg.error != 0) {
        gbx_queue_lacks(engine, "cannot fork a worker", (int)(msg.error & 0xFFF));
        gbx_pool_exited(engine, w, NULL);
    } else if (w != NULL) {
        w->channel = t->fds[0];
        w->pidfd = t->fds[1];
        w->pid = pid;
        w->status_fd = gbx_fd_take(&status_fd);
        t->fd_count -= 2;
        memmove(t->fds, t->fds + 2, t->fd_count * sizeof t->fds[0]);
        w->state = GBX_WORKER_STARTING;
        if (is_lost) {
            /* The host had no room for them. The worker finds its channel closed, and
             * the template will report its end. */
            gbx_queue_lacks(engine, "the descriptors of a worker could not be received",
                            EMFILE);
            gbx_pool_discard(engine, w);
        }
    }
    (void)pthread_mutex_unlock(&engine->lock);
    if (w == NULL || msg.error != 0 || is_lost)
        return w != NULL;
    (void)fcntl(w->channel, F_SETFL, O_NONBLOCK);
    w->ready = event_new(engine->base, w->channel, EV_READ, on_ready, w);
    if (w->ready == NULL || event_add(w->ready, &patience) < 0)
        return false;
    return true;
}

static bool on_exited(gbx_template *t, gbx_span body)
{
    gbx_engine *engine = t->engine;
    char text[sizeof engine->lack];
    gbx_msg_exited msg;
    gbx_worker *w;

    if (!gbx_msg_get(body, &msg))
        return false;
    (void)pthread_mutex_lock(&engine->lock);
    w = gbx_pool_find(engine, msg.worker_id);
    if (w != NULL && w->from == t && !w->has_exited) {
        /* Not for workers that we killed. One of those may still be counted as killed
         * by the kernel; that is harmless, since no call waits for it. */
        if (w->state != GBX_WORKER_SPENT && WIFSIGNALED((int)msg.status) &&
            WTERMSIG((int)msg.status) == SIGKILL)
            w->shortage = gbx_confine_shortage(engine);
        if (w->died_early) {
            bool is_signal = WIFSIGNALED((int)msg.status);
            int n =
                is_signal ? WTERMSIG((int)msg.status) : WEXITSTATUS((int)msg.status);
            const char *name = is_signal ? sigabbrev_np(n) : NULL;

            (void)snprintf(text, sizeof text,
                           "a worker ended before it was ready: %s %d%s%s",
                           is_signal ? "signal" : "exit status", n,
                           name != NULL ? ", " : "", name != NULL ? name : "");
            gbx_queue_lacks(engine, text, 0);
        }
        gbx_pool_exited(engine, w, &msg);
        gbx_pool_fill_in_pauses(engine);
    }
    (void)pthread_mutex_unlock(&engine->lock);
    return true;
}

/* Replace the template's reason for a missing group by the host's, which knows more. */
static void explain_group(gbx_engine_facts *facts, const gbx_engine *engine,
                          const gbx_spawned *process)
{
    char *reason = facts->layers[GBX_LAYER_CGROUP].reason;
    size_t size = sizeof facts->layers[GBX_LAYER_CGROUP].reason;

    if (facts->layers[GBX_LAYER_CGROUP].stands)
        return;
    if (engine->group.dir >= 0)
        (void)snprintf(reason, size, "the template cannot enter the control group: %s",
                       strerror(process->cgroup_errno));
    else if (engine->group.reason[0] != 0)
        (void)snprintf(reason, size, "%s", engine->group.reason);
}

static void keep_facts(gbx_engine_facts *facts, const gbx_msg_hello *hello)
{
    facts->known = true;
    facts->threads = hello->threads;
    facts->landlock_abi = hello->landlock_abi;
    facts->oom_known = hello->oom_known != 0;
    facts->jit_page = hello->jit_page != 0;
    memset(facts->layers, 0,
           sizeof facts->layers); /* unnamed layers are not in effect */
#define COPY(text)                                                        \
    gbx_utf8_copy_line(facts->text, sizeof facts->text, hello->text.data, \
                       hello->text.len)
    COPY(engine);
    COPY(user);
    COPY(layout);
    COPY(speculation);
    COPY(time_zones);
#undef COPY
    for (size_t i = 0; i < hello->layer_count; i++) {
        const gbx_layer_report *layer = &hello->layers[i];

        if (layer->layer >= GBX_LAYER_COUNT)
            continue;
        facts->layers[layer->layer].stands = layer->stands != 0;
        gbx_utf8_copy_line(facts->layers[layer->layer].reason,
                           sizeof facts->layers[0].reason, layer->reason.data,
                           layer->reason.len);
    }
}

/* True if all required layers are in effect; if not, *reterr names a missing one. */
static bool is_enough(const gbx_engine *engine, gbx_error *reterr)
{
    bool is_strict = engine->settings.options.require == GBX_REQUIRE_STRICT;

    for (size_t i = 0; i < GBX_LAYER_COUNT; i++) {
        if (engine->facts.layers[i].stands ||
            (!gbx_layers[i].is_required && !is_strict))
            continue;
        (void)gbx_fail(reterr, GBX_E_UNSUPPORTED,
                       "the layer '%s' is required and missing: %s", gbx_layers[i].name,
                       engine->facts.layers[i].reason);
        return false;
    }
    return true;
}

void gbx_template_retire(gbx_template *t)
{
    gbx_engine *engine = t->engine;

    t->state = GBX_TEMPLATE_RETIRED;
    if (engine->current == t)
        engine->current = NULL;
}

/* The template becomes current; false if it lacks new contents. The lock is held. */
static bool serves(gbx_template *t)
{
    gbx_engine *engine = t->engine;
    bool makes_better = t->is_renewal;

    if (t->content_seq != engine->content_seq)
        return false;
    gbx_change_end(engine, t, NULL);
    t->state = GBX_TEMPLATE_SERVING;
    if (engine->current != NULL) {
        makes_better = makes_better || engine->current->is_cold;
        gbx_template_retire(engine->current);
    }
    engine->current = t;
    engine->wasted = 0;
    engine->fork_ns = 0;
    if (makes_better) { /* the old one's workers lack contents, or are slow */
        engine->load_seq++;
        engine->coming = 0;
        gbx_pool_discard_stale(engine);
    }
    (void)pthread_cond_broadcast(&engine->changed);
    gbx_pool_fill(engine);
    return true;
}

static bool on_hello(gbx_template *t, gbx_span body)
{
    gbx_engine *engine = t->engine;
    gbx_error error = {0};
    gbx_msg_hello hello;
    gbx_status status = gbx_hello_read(body, &hello, &error);
    bool ok = status == GBX_OK;

    if (t->state != GBX_TEMPLATE_STARTING || status == GBX_E_PROTOCOL ||
        (hello.version == GBX_WIRE_VERSION &&
         !gbx_spawned_settle(&t->process, t->sender)))
        return false;
    (void)pthread_mutex_lock(&engine->lock);
    if (ok) {
        keep_facts(&engine->facts, &hello);
        explain_group(&engine->facts, engine, &t->process);
        ok = is_enough(engine, &error);
    }
    if (!ok) {
        gbx_queue_lacks(engine, error.message, 0);
        gbx_change_end(engine, t, &error);
    }
    t->loads_pending = 0;
    t->state = GBX_TEMPLATE_LOADING;
    (void)pthread_mutex_unlock(&engine->lock);
    if (!ok)
        return false;
    /* No lock needed: gbx_engine_load() changes them only while no template starts. */
    for (gbx_dataset *d = engine->datasets; d != NULL; d = d->next) {
        if (!gbx_template_send_load(t, d))
            return false;
        t->loads_pending++;
    }
    if (t->loads_pending == 0) {
        (void)pthread_mutex_lock(&engine->lock);
        ok = serves(t);
        (void)pthread_mutex_unlock(&engine->lock);
    }
    return ok;
}

static bool on_loaded(gbx_template *t, gbx_span body)
{
    gbx_engine *engine = t->engine;
    gbx_msg_loaded msg;
    gbx_error error = {0};
    char text[256];
    bool ok = true;

    if (!gbx_msg_get(body, &msg) || t->loads_pending == 0)
        return false;
    gbx_utf8_copy_line(text, sizeof text, msg.message.data, msg.message.len);
    if (!msg.ok && msg.line == 0)
        (void)gbx_fail(&error, GBX_E_DATA, "%s", text);
    else if (!msg.ok)
        (void)gbx_fail_at(&error, GBX_E_DATA, msg.line, msg.column,
                          "line %u, column %u: %s", msg.line, msg.column, text);
    (void)pthread_mutex_lock(&engine->lock);
    if (t->state == GBX_TEMPLATE_LOADING && !msg.ok) {
        gbx_change_end(engine, t, &error);
        (void)pthread_mutex_unlock(&engine->lock);
        return false; /* a call must not find less than the engine has */
    }
    t->loads_pending--;
    if (t->state != GBX_TEMPLATE_LOADING)
        gbx_change_end(engine, t, &error);
    else if (t->loads_pending == 0)
        ok = serves(t);
    (void)pthread_mutex_unlock(&engine->lock);
    return ok;
}

/* All messages that a template may send, and their maximum length. */
static const struct rule {
    size_t max_len;
    bool (*handle)(gbx_template *t, gbx_span body);
} rules[] = {
    [GBX_MSG_EXITED] = {28, on_exited},
    [GBX_MSG_FORKED] = {12, on_forked},
    [GBX_MSG_HELLO] = {BODY_MAX, on_hello},
    [GBX_MSG_LOADED] = {BODY_MAX, on_loaded},
};

gbx_status gbx_hello_read(gbx_span body, gbx_msg_hello *ret, gbx_error *reterr)
{
    char text[GBX_ERROR_MESSAGE_SIZE];

    if (!gbx_msg_hello_version(body, &ret->version))
        return gbx_fail(reterr, GBX_E_PROTOCOL, "the worker program sent no version");
    if (ret->version != GBX_WIRE_VERSION)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "the worker program is of another version (its protocol is %u, "
                        "the library's %u): install both of one version, or set "
                        "GLOVEBOX_WORKER to the right one",
                        ret->version, GBX_WIRE_VERSION);
    if (!gbx_msg_get(body, ret))
        return gbx_fail(reterr, GBX_E_PROTOCOL,
                        "the first message of the worker program is malformed");
    if (ret->failure.len == 0)
        return GBX_OK;
    gbx_utf8_copy_line(text, sizeof text, ret->failure.data, ret->failure.len);
    if (ret->preload > 0)
        return gbx_fail_at(reterr, GBX_E_DATA, ret->line, ret->column,
                           "cannot preload %s", text);
    return gbx_fail(reterr, GBX_E_UNSUPPORTED, "the worker program cannot serve: %s",
                    text);
}

/* ---- receiving ------------------------------------------------------------------- */

/* Keep the descriptors of one recvmsg(). They all belong to one frame: the kernel does
 * not read past a message that carries some. If the host had no room for both, both
 * become -1, so that the handler of the frame notices. */
static void take_descriptors(gbx_template *t, struct msghdr *msg)
{
    bool is_cut = (msg->msg_flags & MSG_CTRUNC) != 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;

            memcpy(&sender, CMSG_DATA(c), sizeof sender);
            t->sender = sender.pid;
        }
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (is_cut || t->fd_count == GBX_COUNTOF(t->fds))
                (void)close(fd);
            else
                t->fds[t->fd_count++] = fd;
        }
    }
    for (int i = 0; is_cut && i < 2 && t->fd_count < GBX_COUNTOF(t->fds); i++)
        t->fds[t->fd_count++] = -1;
}

/* One recvmsg: bytes into t->in, at most two descriptors into t->fds. */
static ssize_t receive(gbx_template *t)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(2 * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
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
    take_descriptors(t, &msg);
    return n;
}

bool gbx_control_take_frames(gbx_template *t)
{
    size_t used = 0;
    bool ok = true;

    while (ok && t->in.len - used >= GBX_FRAME_HEADER_SIZE) {
        gbx_header header;
        const uint8_t *at = t->in.data + used;

        ok = gbx_header_decode(at, &header) && header.type < GBX_COUNTOF(rules) &&
             rules[header.type].handle != NULL &&
             header.body_len <= rules[header.type].max_len;
        if (!ok || t->in.len - used - GBX_FRAME_HEADER_SIZE < header.body_len)
            break;
        ok = rules[header.type].handle(t, (gbx_span){at + GBX_FRAME_HEADER_SIZE,
                                                     header.body_len});
        used += GBX_FRAME_HEADER_SIZE + header.body_len;
    }
    gbx_buf_consume(&t->in, used);
    /* Only a FORKED carries descriptors: none may be left without a frame. */
    return ok && (t->in.len > 0 || t->fd_count == 0);
}
bool gbx_control_read(gbx_template *t)
{
    for (int i = 0; i < 64; i++) { /* bounded, so that other events get their turn */
        ssize_t n = receive(t);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n <= 0 || !gbx_control_take_frames(t))
            return false;
        if (t->state >= GBX_TEMPLATE_SERVING)
            (void)event_remove_timer(t->control);
    }
    return true;
}

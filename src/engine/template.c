/* SPDX-License-Identifier: MIT */
/*
 * template - the host's end of the control channel. A template has parsed datasets but
 * never run code. Its bytes are checked all the same, and invalid ones kill it.
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/timeouts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIED_LOADING "the template died while loading: the data does not fit"

/* A process that we cannot hold and kill must not run. */
static gbx_status check_pidfds(const gbx_spawned *process, gbx_error *reterr)
{
    char reason[GBX_CALL_REASON_SIZE];
    int fd = (int)syscall(SYS_pidfd_open, process->pid, 0);

    if (fd < 0 && errno != ESRCH)
        return gbx_fail(reterr, GBX_E_OS, "cannot watch the template: %s",
                        gbx_fail_call_reason("pidfd_open", errno, reason));
    gbx_fd_close(&fd);
    if (syscall(SYS_pidfd_send_signal, process->pidfd, 0, NULL, 0) < 0 &&
        errno != ESRCH)
        return gbx_fail(reterr, GBX_E_OS, "cannot signal the template: %s",
                        gbx_fail_call_reason("pidfd_send_signal", errno, reason));
    return GBX_OK;
}

static void lacks(gbx_template *t, const char *what, int error)
{
    (void)pthread_mutex_lock(&t->engine->lock);
    gbx_queue_lacks(t->engine, what, error);
    (void)pthread_mutex_unlock(&t->engine->lock);
}

static void keep(gbx_template *t, int fd)
{
    if (t->fd_count < GBX_COUNTOF(t->fds))
        t->fds[t->fd_count++] = fd;
    else
        gbx_fd_close(&fd);
}

/* The descriptors of one recvmsg all belong to one frame: the kernel reads no
 * further than a message that carries some. If we had no room for both, -1 replaces
 * each, so that the frame shows it. */
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
            if (is_cut)
                (void)close(fd);
            else
                keep(t, fd);
        }
    }
    if (is_cut) {
        keep(t, -1);
        keep(t, -1);
    }
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

static void on_ended(evutil_socket_t fd, short what, void *arg)
{
    gbx_template *t = arg;

    (void)fd;
    (void)what;
    event_free(t->ended);
    t->ended = NULL;
    gbx_spawned_reap(&t->process);
    gbx_supervisor_wake(t->engine); /* it sweeps */
}

/* Kill it; the rest follows when it has ended. Freeing gigabytes of datasets takes a
 * while, and every other call would wait. */
static void end_later(gbx_template *t)
{
    if (t->control != NULL)
        event_free(t->control);
    t->control = NULL;
    gbx_spawned_kill(&t->process);
    t->ended = event_new(t->engine->base, t->process.pidfd, EV_READ, on_ended, t);
    if (t->ended == NULL || event_add(t->ended, NULL) < 0)
        gbx_spawned_reap(&t->process); /* if memory is out: reap it here */
}

/* The template is gone or sent invalid data: its workers are gone with it. */
static void died(gbx_template *t)
{
    gbx_engine *engine = t->engine;
    gbx_worker *next;
    bool was_useful;
    bool was_current;
    bool was_loading;
    gbx_shortage shortage = gbx_confine_shortage(engine);
    gbx_error early = {0};

    gbx_audit_engine_event(engine, GBX_AUDIT_TEMPLATE_DIED, "");
    (void)gbx_worker_died_early(&t->process, &early);
    /* Other threads write to the current template's control socket: replace the
     * current template before the descriptor is closed. */
    (void)pthread_mutex_lock(&engine->lock);
    was_useful = t->was_useful || t->state == GBX_TEMPLATE_RETIRED;
    was_current = engine->current == t;
    was_loading = t->state == GBX_TEMPLATE_LOADING;
    t->state = GBX_TEMPLATE_DEAD;
    if (was_current)
        engine->current = NULL;
    (void)pthread_mutex_unlock(&engine->lock);
    end_later(t);
    (void)pthread_mutex_lock(&engine->lock);
    if (t->is_renewal && !was_useful) {
        if (was_loading)
            (void)gbx_fail(&early, GBX_E_DATA, DIED_LOADING);
        gbx_template_restart_end(engine, t, &early);
    } else if (!was_useful) {
        engine->failed_starts++;
        if (engine->lack[0] == 0)
            gbx_queue_lacks(engine, early.message, 0);
        engine->retry_ns =
            gbx_clock_now_ns() +
            (INT64_C(50) << (engine->failed_starts < 6 ? engine->failed_starts : 6)) *
                GBX_NS_PER_MS;
        if (engine->failed_starts >= GBX_FAILED_STARTS_MAX)
            gbx_queue_fail_all(engine);
        if (!engine->has_started) {
            engine->start_error = early;
            engine->has_started = true;
        }
    }
    if (was_current && gbx_dataset_loader_is_busy(engine)) {
        engine->load_failed = true;
        engine->load_done = true;
        (void)snprintf(engine->load_message, sizeof engine->load_message, "%s",
                       DIED_LOADING);
    }
    for (gbx_worker *w = engine->workers; w != NULL; w = next) {
        next = w->next;
        if (w->from != t || w->has_exited)
            continue;
        w->shortage = shortage;
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
        if (t->state < GBX_TEMPLATE_SERVING)
            died(t);
        return;
    }
    for (int i = 0; i < 64; i++) { /* then let others run */
        ssize_t n = receive(t);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0 || !gbx_control_take_frames(t)) {
            died(t);
            return;
        }
        if (t->state >= GBX_TEMPLATE_SERVING)
            (void)event_remove_timer(t->control);
    }
}

/* The first message: CONFIG. */
static bool send_config(gbx_template *t)
{
    const gbx_options *o = &t->engine->settings.options;
    gbx_msg_config config = {
        .version = GBX_WIRE_VERSION,
        .globals = (uint8_t)o->globals,
        .warm = o->pool_size > 1 || o->fresh == GBX_FRESH_EXEC ? 1 : 0,
        .huge_pages = (uint8_t)o->huge_pages,
        .flags = o->speculation == GBX_SPECULATION_GUARDED
                     ? GBX_CONFIG_GUARD_SPECULATION
                     : 0,
        .capabilities = o->capabilities,
        .memory_bytes = o->limits.memory_bytes,
        .cpu_s = o->limits.cpu_ms / 1000 + 2,
        .preloads = gbx_preloads_count(t->engine),
    };
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf names;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

    gbx_buf_init(&names, GBX_CONFIG_MAX / 2);
    gbx_buf_init(&buf, GBX_CONFIG_MAX);
    if (!gbx_hostcalls_names(t->engine, o->policy, false, &names, &t->function_serial))
        return false;
    config.functions = (gbx_span){names.data, names.len};
    return gbx_msg_put_config(&buf, &config) &&
           send(t->process.control, buf.data, buf.len, MSG_NOSIGNAL) ==
               (ssize_t)buf.len;
}

static gbx_span name_of(const gbx_dataset *d)
{
    return (gbx_span){(const uint8_t *)d->name, strlen(d->name)};
}

/* One frame with a descriptor; releases the buffer. */
static bool send_with(gbx_template *t, gbx_buf *buf, int fd)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec iov = {.iov_base = buf->data, .iov_len = buf->len};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    bool sent;

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    sent = !buf->failed && sendmsg(t->process.control, &msg,
                                   MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)buf->len;
    gbx_buf_cleanup(buf);
    return sent;
}

/* A replacement template is executed: it then has an address layout of its own, and
 * nobody waits for it. */
static bool may_fork_from_zygote(const gbx_engine *engine)
{
    const gbx_options *o = &engine->settings.options;

    return o->zygote == GBX_ZYGOTE_ON && o->fresh == GBX_FRESH_FORK &&
           o->pool_size > 1 && engine->current == NULL;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_template_start(gbx_engine *engine, gbx_error *reterr)
{
    struct timeval patience = gbx_timeout_timeval(GBX_TIMEOUT_HELLO);
    const gbx_options *o = &engine->settings.options;
    gbx_spawn_options options = {.worker_path = o->worker_path,
                                 .jit = o->jit,
                                 .uids = engine->worker_uids,
                                 .huge_pages = o->huge_pages,
                                 .cgroup = engine->group.dir};
    gbx_template *t = calloc(1, sizeof *t);
    gbx_error err = {0};
    gbx_status status = GBX_OK;

    if (t == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a template");
    t->engine = engine;
    t->process = GBX_SPAWNED_INIT;
    t->born_ns = gbx_clock_now_ns();
    gbx_buf_init(&t->in, GBX_KIB(64));
    if (engine->worker_uids[0] == 0)
        gbx_worker_uid_choose(o->worker_uid, engine->worker_uids);
    t->content_seq = engine->content_seq;
    if (!may_fork_from_zygote(engine) || !gbx_zygote_spawn(&options, &t->process))
        status = gbx_spawn(&options, &t->process, &err);
    if (status == GBX_OK)
        status = check_pidfds(&t->process, &err);
    if (status == GBX_OK && (!send_config(t) || !gbx_preloads_send(t)))
        status = gbx_worker_died_early(&t->process, &err);
    if (status == GBX_OK) {
        t->control = event_new(engine->base, t->process.control, EV_READ | EV_PERSIST,
                               on_control, t);
        if (t->control == NULL || event_add(t->control, &patience) < 0)
            status = gbx_fail(&err, GBX_E_NOMEM, "no memory for an event");
    }
    if (status != GBX_OK) {
        lacks(t, err.message, err.os_errno);
        gbx_template_end(t);
        if (reterr != NULL)
            *reterr = err;
        return status;
    }
    (void)pthread_mutex_lock(&engine->lock);
    t->next = engine->templates;
    engine->templates = t;
    t->is_renewal = engine->renewal != NULL;
    engine->templates_started++;
    engine->is_spawning = false;
    (void)pthread_mutex_unlock(&engine->lock);
    return GBX_OK;
}

bool gbx_template_send_expose(gbx_template *t, const char *name)
{
    gbx_buf buf;
    bool sent;

    gbx_buf_init(&buf, 512);
    sent = gbx_msg_put_expose(&buf, (gbx_span){(const uint8_t *)name, strlen(name)}) &&
           send(t->process.control, buf.data, buf.len, MSG_NOSIGNAL | MSG_DONTWAIT) ==
               (ssize_t)buf.len;
    gbx_buf_cleanup(&buf);
    return sent;
}

bool gbx_template_send_preload(gbx_template *t, const gbx_dataset *d)
{
    gbx_buf buf;

    gbx_buf_init(&buf, 512);
    (void)gbx_msg_put_preload(&buf,
                              &(gbx_msg_preload){.size = d->size, .name = name_of(d)});
    return send_with(t, &buf, d->memfd);
}

bool gbx_template_send_load(gbx_template *t, const gbx_dataset *d)
{
    gbx_buf buf;

    gbx_buf_init(&buf, 512);
    (void)gbx_msg_put_load(&buf, &(gbx_msg_load){.size = d->size, .name = name_of(d)});
    return send_with(t, &buf, d->memfd);
}

void gbx_template_kill(const gbx_template *t)
{
    (void)syscall(SYS_pidfd_send_signal, t->process.pidfd, SIGKILL, NULL, 0);
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
        bool is_gone;

        (void)pthread_mutex_lock(&engine->lock);
        is_over = t->workers == 0 && t->state == GBX_TEMPLATE_RETIRED;
        if (is_over)
            t->state = GBX_TEMPLATE_DEAD;
        is_gone = t->workers == 0 && t->state == GBX_TEMPLATE_DEAD;
        (void)pthread_mutex_unlock(&engine->lock);
        if (is_over)
            end_later(t);
        is_gone = is_gone && t->process.pidfd < 0;
        if (is_gone) {
            (void)pthread_mutex_lock(&engine->lock);
            *at = t->next;
            (void)pthread_mutex_unlock(&engine->lock);
            gbx_template_end(t);
        } else {
            at = &t->next;
        }
    }
}

void gbx_template_end(gbx_template *t)
{
    if (t->control != NULL)
        event_free(t->control);
    if (t->ended != NULL)
        event_free(t->ended);
    gbx_spawned_close(&t->process);
    for (size_t i = 0; i < t->fd_count; i++)
        gbx_fd_close(&t->fds[i]);
    gbx_buf_cleanup(&t->in);
    free(t);
}

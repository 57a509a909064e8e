/* SPDX-License-Identifier: MIT */
/* puppet - see puppet.h. */
#include "puppet.h"

#include "base/clock.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void pair_up(int *near, int *far)
{
    int pair[2];
    int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair);

    assert(made == 0);
    *near = pair[0];
    *far = pair[1];
}

/* Every worker of every puppet, and child of the template, which we are: it waits until it
 * is killed, and is never reaped. */
static int worker_pidfd(void)
{
    static int pidfd = -1;
    pid_t pid;

    if (pidfd < 0) {
        pid = fork();
        if (pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                (void)pause();
        }
        assert(pid > 0);
        pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    }
    if (pidfd < 0) {
        (void)printf("skipped: no pidfd, as under valgrind\n");
        exit(77);
    }
    return fcntl(pidfd, F_DUPFD_CLOEXEC, 0);
}

void puppet_init(puppet *p, const gbx_options *options)
{
    gbx_engine *e = &p->engine;
    gbx_template *t = calloc(1, sizeof *t);
    gbx_status status;

    memset(p, 0, sizeof *p);
    gbx_cgroup_init(&e->group);
    gbx_queues_init(e);
    status = gbx_settings_init(&e->settings, options, NULL);
    assert(status == GBX_OK && t != NULL);
    (void)pthread_mutex_init(&e->lock, NULL);
    (void)pthread_cond_init(&e->changed, NULL);
    e->magic = GBX_ENGINE_MAGIC;
    e->owner = getpid();
    e->load_seq = 1;
    e->kept = e->settings.options.pool_size;
    e->demand_ns = gbx_clock_now_ns();
    e->base = event_base_new();
    e->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    assert(e->base != NULL && e->wake_fd >= 0);
    t->engine = e;
    t->process = GBX_SPAWNED_INIT;
    t->process.pid = t->sender = getpid();
    pair_up(&t->process.control, &p->far);
    gbx_buf_init(&t->in, GBX_KIB(64));
    e->templates = p->template = t;
}

void puppet_cleanup(puppet *p)
{
    gbx_engine *e = &p->engine;
    gbx_worker *w;

    while ((w = LIST_FIRST(&e->workers)) != NULL)
        gbx_pool_forget(e, w);
    while (e->datasets != NULL) {
        gbx_dataset *d = e->datasets;

        e->datasets = d->next;
        gbx_fd_close(&d->memfd);
        free(d);
    }
    gbx_template_end(p->template);
    event_base_free(e->base);
    gbx_fd_close(&e->wake_fd);
    gbx_fd_close(&p->far);
    for (size_t i = 0; i < p->far_count; i++)
        gbx_fd_close(&p->fars[i]);
    (void)pthread_cond_destroy(&e->changed);
    (void)pthread_mutex_destroy(&e->lock);
}

bool puppet_hear(puppet *p, const void *data, size_t len)
{
    return gbx_buf_append(&p->template->in, data, len) &&
           gbx_control_take_frames(p->template);
}

void puppet_hand_over(puppet *p)
{
    gbx_template *t = p->template;
    int near;
    int far;

    if (t->fd_count + 2 > GBX_COUNTOF(t->fds) || p->far_count == GBX_COUNTOF(p->fars))
        return;
    pair_up(&near, &far);
    t->fds[t->fd_count++] = near;
    t->fds[t->fd_count++] = worker_pidfd();
    p->fars[p->far_count++] = far;
}

/* Encoded frames are heard and freed. */
static bool hear_buf(puppet *p, gbx_buf *buf)
{
    bool fits = puppet_hear(p, buf->data, buf->len);

    gbx_buf_cleanup(buf);
    return fits;
}

bool puppet_say_hello(puppet *p)
{
    gbx_msg_hello hello = {.version = GBX_WIRE_VERSION,
                           .threads = 1,
                           .oom_known = 1,
                           .layer_count = GBX_LAYER_COUNT};
    gbx_buf buf;

    for (uint8_t i = 0; i < GBX_LAYER_COUNT; i++)
        hello.layers[i] = (gbx_layer_report){.layer = i, .stands = 1};
    gbx_buf_init(&buf, GBX_KIB(4));
    (void)gbx_msg_put(&buf, 0, &hello);
    return hear_buf(p, &buf);
}

bool puppet_say_forked(puppet *p, uint64_t worker_id, uint32_t error)
{
    gbx_msg_forked forked = {.worker_id = worker_id, .error = error};
    gbx_buf buf;

    if (error == 0)
        puppet_hand_over(p);
    gbx_buf_init(&buf, 256);
    (void)gbx_msg_put(&buf, 0, &forked);
    return hear_buf(p, &buf);
}

bool puppet_say_exited(puppet *p, uint64_t worker_id, uint32_t status)
{
    gbx_msg_exited exited = {.worker_id = worker_id, .status = status};
    gbx_buf buf;

    gbx_buf_init(&buf, 256);
    (void)gbx_msg_put(&buf, 0, &exited);
    return hear_buf(p, &buf);
}

void puppet_say_ready(puppet *p, size_t n)
{
    static const uint8_t ready[GBX_FRAME_HEADER_SIZE] = {[4] = GBX_MSG_READY};

    (void)send(p->fars[n], ready, sizeof ready, MSG_NOSIGNAL);
    puppet_loop(p);
}

void puppet_loop(puppet *p)
{
    (void)event_base_loop(p->engine.base, EVLOOP_NONBLOCK);
}

size_t puppet_count_sent(puppet *p, gbx_msg_type type)
{
    uint8_t data[GBX_KIB(32)];
    ssize_t n = recv(p->far, data, sizeof data, MSG_DONTWAIT);
    size_t count = 0;

    for (ssize_t at = 0; at + GBX_FRAME_HEADER_SIZE <= n;) {
        gbx_header header;
        bool is_frame = gbx_header_decode(data + at, &header);

        assert(is_frame);
        count += header.type == type;
        at += GBX_FRAME_HEADER_SIZE + (ssize_t)header.body_len;
    }
    return count;
}

bool puppet_is_sound(const puppet *p)
{
    const gbx_engine *e = &p->engine;
    uint32_t alive = 0;
    uint32_t coming = 0;
    uint32_t ready = 0;
    uint32_t listed = 0;
    const gbx_worker *w;

    LIST_FOREACH(w, &e->workers, link)
    {
        alive++;
        coming += w->load_seq == e->load_seq &&
                  (w->state == GBX_WORKER_FORKING || w->state == GBX_WORKER_STARTING);
        ready += w->state == GBX_WORKER_READY;
        if ((w->run != NULL) != (w->state == GBX_WORKER_BUSY))
            return false;
    }
    LIST_FOREACH(w, &e->ready, ready_link)
    listed++;
    return alive == e->alive && coming == e->coming && ready == e->ready_count &&
           listed == ready && p->template->workers == alive &&
           p->template->fd_count <= GBX_COUNTOF(p->template->fds);
}

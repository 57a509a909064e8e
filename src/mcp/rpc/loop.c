/* SPDX-License-Identifier: MIT */
/*
 * loop - the event loop: libevent without locks. Posts reach it through a list and an
 * eventfd, so that an engine's thread never touches the event base.
 */
#include "mcp/rpc/rpc.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct gbx_mcp_loop {
    struct event_base *base;
    struct event *woken;
    int wake_fd;
    pthread_mutex_t
        lock; /* protects the list, the loop's members of a post, and stopped when
               * another thread reads it */
    gbx_mcp_post *first;
    gbx_mcp_post **last;
    bool stays; /* keep the thread on its CPU in the next turn */
    bool stopped;
    int status;
};

/* Posts made meanwhile wait for the next turn, so that events are not starved. A post
 * belongs to the list until it is begun; from then on it can be posted again. */
static void on_woken(evutil_socket_t fd, short what, void *arg)
{
    gbx_mcp_loop *loop = arg;
    uint64_t count;
    ssize_t got = read(fd, &count, sizeof count);
    gbx_mcp_post *at;

    (void)got; /* fails if another wake-up read it; only the list matters */
    (void)pthread_mutex_lock(&loop->lock);
    at = loop->first;
    loop->first = NULL;
    loop->last = &loop->first;
    while (at != NULL && !loop->stopped) {
        gbx_mcp_post *post = at;

        at = post->next;
        post->is_posted = false;
        (void)pthread_mutex_unlock(&loop->lock);
        post->run(post->arg);
        (void)pthread_mutex_lock(&loop->lock);
    }
    (void)pthread_mutex_unlock(&loop->lock);
}

/* Longest time for due events before the kernel is asked for others. A busy source,
 * such as a server that never stops sending, must not delay signals or other events. */
#define TURN_US 1000

/* libevent ends the process if it cannot open its three descriptors. */
static struct event_base *new_base(void)
{
    struct event_config *config;
    struct event_base *base = NULL;

    if (!gbx_fd_has_spare(3))
        return NULL;
    config = event_config_new();
    if (config != NULL && event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) == 0 &&
        event_config_set_max_dispatch_interval(config,
                                               &(struct timeval){.tv_usec = TURN_US},
                                               -1, 0) == 0)
        base = event_base_new_with_config(config);
    if (config != NULL)
        event_config_free(config);
    return base;
}

/* If turns last longer than this, staying on one CPU gains nothing, and others may need
 * it: let the kernel choose. */
#define STAYS_NS GBX_NS_PER_MS

gbx_mcp_loop *gbx_mcp_loop_new(void)
{
    gbx_mcp_loop *loop = gbx_need(calloc(1, sizeof *loop));

    (void)pthread_mutex_init(&loop->lock, NULL); /* cannot fail without attributes */
    loop->last = &loop->first;
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop->base = loop->wake_fd >= 0 ? new_base() : NULL;
    if (loop->base != NULL)
        loop->woken =
            event_new(loop->base, loop->wake_fd, EV_READ | EV_PERSIST, on_woken, loop);
    if (loop->woken == NULL || event_add(loop->woken, NULL) != 0) {
        gbx_mcp_loop_free(loop);
        return NULL;
    }
    return loop;
}

void gbx_mcp_loop_free(gbx_mcp_loop *loop)
{
    if (loop == NULL)
        return;
    if (loop->woken != NULL)
        event_free(loop->woken);
    if (loop->base != NULL)
        event_base_free(loop->base);
    gbx_fd_close(&loop->wake_fd);
    (void)pthread_mutex_destroy(&loop->lock);
    free(loop);
}

struct event_base *gbx_mcp_loop_base(gbx_mcp_loop *loop)
{
    return loop->base;
}

void gbx_mcp_loop_post(gbx_mcp_loop *loop, gbx_mcp_post *post)
{
    static const uint64_t one = 1;
    bool is_new;
    ssize_t done;

    (void)pthread_mutex_lock(&loop->lock);
    is_new = !post->is_posted && !loop->stopped;
    if (is_new) {
        post->is_posted = true;
        post->next = NULL;
        *loop->last = post;
        loop->last = &post->next;
    }
    (void)pthread_mutex_unlock(&loop->lock);
    if (!is_new)
        return;
    /* EAGAIN: the counter is full, so the loop is awake already. */
    do
        done = write(loop->wake_fd, &one, sizeof one);
    while (done < 0 && errno == EINTR);
}

int gbx_mcp_loop_run(gbx_mcp_loop *loop)
{
    int64_t turn_ns = 0;
    int failed = 0;

    while (!loop->stopped && failed >= 0) {
        int64_t start_ns = gbx_clock_now_ns();

        if (loop->stays && turn_ns < STAYS_NS)
            gbx_cpu_stay();
        else
            gbx_cpu_roam();
        loop->stays = false;
        failed = event_base_loop(loop->base, EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY);
        turn_ns = gbx_clock_now_ns() - start_ns;
    }
    gbx_cpu_roam();
    return loop->status;
}

void gbx_mcp_loop_stay(gbx_mcp_loop *loop)
{
    loop->stays = true;
}

void gbx_mcp_loop_stop(gbx_mcp_loop *loop, int status)
{
    if (loop->stopped)
        return;
    (void)pthread_mutex_lock(&loop->lock);
    loop->stopped = true;
    loop->first = NULL; /* from here on, owners may free their posts */
    loop->last = &loop->first;
    (void)pthread_mutex_unlock(&loop->lock);
    loop->status = status;
    (void)event_base_loopbreak(loop->base);
}

/* ---- timers ------------------------------------------------------------------ */

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    const gbx_mcp_timer *timer = arg;

    timer->run(timer->user);
}

void gbx_mcp_timer_init(gbx_mcp_timer *timer, gbx_mcp_loop *loop,
                        void (*run)(void *user), void *user)
{
    timer->run = run;
    timer->user = user;
    timer->event = gbx_need(evtimer_new(loop->base, on_timer, timer));
}

void gbx_mcp_timer_cleanup(gbx_mcp_timer *timer)
{
    if (timer->event != NULL)
        event_free(timer->event);
    timer->event = NULL;
}

void gbx_mcp_timer_set(gbx_mcp_timer *timer, uint32_t ms)
{
    struct timeval after = gbx_clock_timeval(ms);

    (void)event_add(timer->event, &after);
}

void gbx_mcp_timer_fire(gbx_mcp_timer *timer)
{
    event_active(timer->event, EV_TIMEOUT, 0);
}

void gbx_mcp_timer_clear(gbx_mcp_timer *timer)
{
    (void)event_del(timer->event);
}

bool gbx_mcp_timer_is_set(const gbx_mcp_timer *timer)
{
    return evtimer_pending(timer->event, NULL) != 0;
}

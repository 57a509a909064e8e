/* SPDX-License-Identifier: MIT */
/* multi - transfers on the event loop: libcurl chooses sockets and timeouts, libevent
 * waits for them. libcurl is never called from one of its own callbacks. */
#include "fetch/fetch.h"

#include "base/clock.h"

#include <event2/event.h>
#include <stdlib.h>

struct gbx_multi {
    const gbx_libcurl *lib;
    CURLM *curl;
    struct event_base *base;
    struct event *timer;
};

static void report_done(gbx_multi *multi)
{
    CURLMsg *message;
    int left;

    while ((message = multi->lib->curl_multi_info_read(multi->curl, &left)) != NULL) {
        CURL *easy = message->easy_handle;
        CURLcode result = message->data.result; /* invalid once it is removed */
        const gbx_multi_entry *entry = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)multi->lib->curl_easy_getinfo(easy, CURLINFO_PRIVATE, &entry);
        (void)multi->lib->curl_multi_remove_handle(multi->curl, easy);
        entry->done(entry->user, result);
    }
}

static void on_socket_event(evutil_socket_t fd, short what, void *user)
{
    gbx_multi *multi = user;
    int flags = ((what & EV_READ) != 0 ? CURL_CSELECT_IN : 0) |
                ((what & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0);
    int running;

    (void)multi->lib->curl_multi_socket_action(multi->curl, fd, flags, &running);
    report_done(multi);
}

static void on_timer(evutil_socket_t fd, short what, void *user)
{
    gbx_multi *multi = user;
    int running;

    (void)multi->lib->curl_multi_socket_action(multi->curl, CURL_SOCKET_TIMEOUT, 0,
                                               &running);
    report_done(multi);
}

/* watched is the event of this socket, NULL the first time. */
static int watch(CURL *easy, curl_socket_t fd, int what, void *user, void *watched)
{
    gbx_multi *multi = user;
    short events = (short)(EV_PERSIST | ((what & CURL_POLL_IN) != 0 ? EV_READ : 0) |
                           ((what & CURL_POLL_OUT) != 0 ? EV_WRITE : 0));
    struct event *event = watched;

    if (event != NULL)
        event_free(event);
    if (what == CURL_POLL_REMOVE) {
        (void)multi->lib->curl_multi_assign(multi->curl, fd, NULL);
        return 0;
    }
    event = event_new(multi->base, fd, events, on_socket_event, multi);
    (void)multi->lib->curl_multi_assign(multi->curl, fd, event);
    return event == NULL || event_add(event, NULL) != 0 ? -1 : 0;
}

static int set_timer(CURLM *curl, long ms, void *user)
{
    gbx_multi *multi = user;
    struct timeval after = gbx_clock_timeval(ms > 0 ? (uint32_t)ms : 0);

    if (ms < 0)
        return event_del(multi->timer);
    return event_add(multi->timer, &after);
}

gbx_multi *gbx_multi_new(const gbx_libcurl *lib, struct event_base *base,
                         long connections_max)
{
    gbx_multi *multi = calloc(1, sizeof *multi);

    if (multi == NULL)
        return NULL;
    multi->lib = lib;
    multi->base = base;
    multi->timer = evtimer_new(base, on_timer, multi);
    multi->curl = multi->lib->curl_multi_init();
    if (multi->timer == NULL || multi->curl == NULL) {
        gbx_multi_free(multi);
        return NULL;
    }
    (void)multi->lib->curl_multi_setopt(multi->curl, CURLMOPT_SOCKETFUNCTION, watch);
    (void)multi->lib->curl_multi_setopt(multi->curl, CURLMOPT_SOCKETDATA, multi);
    (void)multi->lib->curl_multi_setopt(multi->curl, CURLMOPT_TIMERFUNCTION, set_timer);
    (void)multi->lib->curl_multi_setopt(multi->curl, CURLMOPT_TIMERDATA, multi);
    (void)multi->lib->curl_multi_setopt(multi->curl, CURLMOPT_PIPELINING,
                                        CURLPIPE_NOTHING);
    (void)multi->lib->curl_multi_setopt(multi->curl, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                                        connections_max);
    return multi;
}

void gbx_multi_free(gbx_multi *multi)
{
    if (multi == NULL)
        return;
    if (multi->curl != NULL)
        (void)multi->lib->curl_multi_cleanup(multi->curl);
    if (multi->timer != NULL)
        event_free(multi->timer);
    free(multi);
}

bool gbx_multi_add(gbx_multi *multi, CURL *easy, const gbx_multi_entry *entry)
{
    return multi->lib->curl_easy_setopt(easy, CURLOPT_PRIVATE, entry) == CURLE_OK &&
           multi->lib->curl_multi_add_handle(multi->curl, easy) == CURLM_OK;
}

void gbx_multi_drain(gbx_multi *multi, uint32_t ms)
{
    int64_t until_ns = gbx_clock_now_ns() + ms * GBX_NS_PER_MS;
    int64_t left_ms = ms;
    int running = 0;

    while (multi->lib->curl_multi_perform(multi->curl, &running) == CURLM_OK &&
           running > 0 && left_ms > 0) {
        (void)multi->lib->curl_multi_poll(multi->curl, NULL, 0, (int)left_ms, NULL);
        left_ms = (until_ns - gbx_clock_now_ns()) / GBX_NS_PER_MS;
    }
}

void gbx_multi_remove(gbx_multi *multi, CURL *easy)
{
    (void)multi->lib->curl_multi_remove_handle(multi->curl, easy);
}

/* SPDX-License-Identifier: MIT */
/*
 * sift - a long answer is looked through for secrets on a thread of its own: a hostile one
 * takes seconds, in which others want to be served. The thread has a copy, and tells its
 * end to the loop through a descriptor; all else of it is the loop's.
 */
#include "base/cleanup.h"
#include "mcp/gate/parts.h"
#include "policy/secrets.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct gbx_gate_sift {
    gbx_gate_sift *next;
    gbx_gate_sift **link; /* of the gate's list */
    gbx_gate_call *call;
    const gbx_policy *secrets;
    uint8_t *data;
    size_t len;
    gbx_buf out;
    bool done;
    bool changed;
    atomic_bool stop;
    int over_fd;
    struct event *over;
    pthread_t thread;
};

static void free_sift(gbx_gate_sift *s)
{
    if (s->over != NULL)
        event_free(s->over);
    gbx_fd_close(&s->over_fd);
    gbx_buf_cleanup(&s->out);
    free(s->data);
    free(s);
}

/* ---- on the thread ----------------------------------------------------------------- */

static void *look_through(void *user)
{
    gbx_gate_sift *s = user;
    const uint64_t one = 1;

    s->done = gbx_secrets_strip_until(s->secrets, GBX_SECRET_DATA,
                                      (gbx_span){s->data, s->len}, &s->stop, &s->out,
                                      &s->changed);
    while (write(s->over_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    return NULL;
}

/* ---- on the loop ------------------------------------------------------------------- */

/* The thread is at its end, or will soon be. */
static gbx_gate_call *end(gbx_gate_sift *s)
{
    gbx_gate_call *call = s->call;

    (void)pthread_join(s->thread, NULL);
    *s->link = s->next;
    if (s->next != NULL)
        s->next->link = s->link;
    call->sift = NULL;
    return call;
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
    gbx_gate_sift *s = arg;
    gbx_gate_call *call = end(s);
    gbx_view view = {(const char *)s->data, s->len};

    (void)fd;
    (void)what;
    if (gbx_gate_called_back(call))
        gbx_gate_give(call, view, s->done, s->changed, &s->out);
    free_sift(s);
}

/* Signals are the loop's. */
static bool start_thread(gbx_gate_sift *s)
{
    sigset_t all, before;
    int status;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    status = pthread_create(&s->thread, NULL, look_through, s);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status == 0;
}

/* ---- for the other parts ----------------------------------------------------------- */

bool gbx_gate_sift_start(gbx_gate_call *call, gbx_view result)
{
    gbx_gate *gate = call->gate;
    gbx_gate_sift *s = calloc(1, sizeof *s);

    if (s == NULL)
        return false;
    s->call = call;
    s->secrets = gate->config->rules->secrets;
    s->len = result.len;
    s->data = malloc(result.len);
    gbx_buf_init(&s->out, gbx_gate_sift_ceiling(result.len));
    atomic_init(&s->stop, false);
    s->over_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->over_fd >= 0)
        s->over =
            event_new(gbx_mcp_loop_base(gate->loop), s->over_fd, EV_READ, on_over, s);
    if (s->data != NULL)
        memcpy(s->data, result.at, result.len);
    if (s->data == NULL || s->over == NULL || event_add(s->over, NULL) != 0 ||
        !start_thread(s)) {
        free_sift(s);
        return false;
    }
    s->link = &gate->sifts;
    s->next = gate->sifts;
    if (s->next != NULL)
        s->next->link = &s->next;
    gate->sifts = s;
    call->sift = s;
    call->callbacks++;
    return true;
}

void gbx_gate_sift_stop(gbx_gate_sift *sift)
{
    if (sift != NULL)
        atomic_store(&sift->stop, true);
}

void gbx_gate_sift_end_all(gbx_gate *gate)
{
    while (gate->sifts != NULL) {
        gbx_gate_sift *s = gate->sifts;

        gbx_gate_sift_stop(s);
        (void)gbx_gate_called_back(end(s)); /* it is over: its last callback frees it */
        free_sift(s);
    }
}

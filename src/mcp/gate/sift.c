/* SPDX-License-Identifier: MIT */
/*
 * sift - a long text is looked through for secrets on a thread of its own: a hostile one
 * takes seconds, in which others want to be served. The thread has a copy, and tells its
 * end to the loop through a descriptor; all else of it is the loop's.
 */
#include "base/cleanup.h"
#include "mcp/gate/parts.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Longer ones are not looked through on the loop. */
#define SIFT_BYTES GBX_KIB(64)

struct gbx_gate_sift {
    gbx_gate_sift *next;
    gbx_gate_sift **link;    /* of the gate's list */
    gbx_gate_sifted_fn tell; /* NULL: nobody wants to know */
    void *user;
    const gbx_policy *secrets;
    gbx_secret_text kind;
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

    s->done = gbx_secrets_strip_until(s->secrets, s->kind, (gbx_span){s->data, s->len},
                                      &s->stop, &s->out, &s->changed);
    while (write(s->over_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    return NULL;
}

/* ---- on the loop ------------------------------------------------------------------- */

/* The thread is at its end, or will soon be. */
static void end(gbx_gate_sift *s)
{
    gbx_gate_sifted sifted;

    (void)pthread_join(s->thread, NULL);
    *s->link = s->next;
    if (s->next != NULL)
        s->next->link = s->link;
    sifted = (gbx_gate_sifted){{(const char *)s->data, s->len}, s->done, s->changed};
    if (s->changed)
        sifted.text = (gbx_view){(const char *)s->out.data, s->out.len};
    if (s->tell != NULL)
        s->tell(s->user, &sifted);
    free_sift(s);
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    end(arg);
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

gbx_gate_sift *gbx_gate_sift_start(gbx_gate *gate, gbx_secret_text kind, gbx_view text,
                                   gbx_gate_sifted_fn tell, void *user)
{
    const gbx_policy *secrets = gate->config->rules->secrets;
    bool is_long =
        text.len > SIFT_BYTES && secrets != NULL && secrets->secret_count > 0;
    gbx_gate_sift *s = is_long ? calloc(1, sizeof *s) : NULL;

    if (s == NULL)
        return NULL;
    s->tell = tell;
    s->user = user;
    s->secrets = secrets;
    s->kind = kind;
    s->len = text.len;
    s->data = malloc(text.len);
    gbx_buf_init(&s->out, gbx_gate_sift_ceiling(text.len));
    atomic_init(&s->stop, false);
    s->over_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->over_fd >= 0)
        s->over =
            event_new(gbx_mcp_loop_base(gate->loop), s->over_fd, EV_READ, on_over, s);
    if (s->data != NULL)
        memcpy(s->data, text.at, text.len);
    if (s->data == NULL || s->over == NULL || event_add(s->over, NULL) != 0 ||
        !start_thread(s)) {
        free_sift(s);
        return NULL;
    }
    s->link = &gate->sifts;
    s->next = gate->sifts;
    if (s->next != NULL)
        s->next->link = &s->next;
    gate->sifts = s;
    return s;
}

void gbx_gate_sift_stop(gbx_gate_sift *sift)
{
    if (sift != NULL)
        atomic_store(&sift->stop, true);
}

void gbx_gate_sift_end_all(gbx_gate *gate)
{
    while (gate->sifts != NULL) {
        gbx_gate_sift_stop(gate->sifts);
        end(gate->sifts);
    }
}

/* ---- public to other modules -------------------------------------------- */

gbx_gate_sift *gbx_gate_redact_later(gbx_gate *gate, const char *text, size_t len,
                                     gbx_gate_sifted_fn tell, void *user)
{
    return gbx_gate_sift_start(gate, GBX_SECRET_LINE, (gbx_view){text, len}, tell,
                               user);
}

void gbx_gate_forget(gbx_gate_sift *sift)
{
    if (sift != NULL)
        sift->tell = NULL;
    gbx_gate_sift_stop(sift);
}

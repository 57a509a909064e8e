/* SPDX-License-Identifier: MIT */
/*
 * redact - removes the values of secrets from texts. Long texts are redacted on a
 * separate thread: hostile ones take seconds, and the loop must not be blocked. The
 * thread works on a copy and signals its end through a descriptor; everything else
 * belongs to the loop. If no thread can be started, the loop redacts the text.
 */
#include "base/cleanup.h"
#include "base/thread.h"
#include "mcp/approval/gate_call.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Longer texts are redacted on a thread. Each text counts for TEXT_BYTES more. */
#define SIFT_BYTES GBX_KIB(64)
#define TEXT_BYTES 64

struct gbx_gate_sift {
    LIST_ENTRY(gbx_gate_sift) in_gate;
    gbx_gate_sifted_fn tell; /* NULL: the result is not wanted */
    void *user;
    const gbx_policy *secrets;
    gbx_secret_text kind;
    gbx_buf data; /* copies of all texts, for a thread */
    gbx_buf out;  /* the redacted forms of the changed ones */
    gbx_gate_sifted *texts;
    size_t count;
    atomic_bool stop;
    int over_fd;
    struct event *over;
    pthread_t thread;
};

/* A changed text is appended to out, which may still move: at first only its length is
 * set. */
static void look_through(gbx_gate_sift *s)
{
    size_t at = 0;

    for (size_t i = 0; i < s->count && !atomic_load(&s->stop); i++) {
        gbx_gate_sifted *text = &s->texts[i];
        gbx_span span = {(const uint8_t *)text->text.at, text->text.len};
        size_t before = s->out.len;

        text->done = gbx_secrets_strip(s->secrets, s->kind, span, &s->stop, &s->out,
                                       &text->changed);
        if (text->changed)
            text->text.len = s->out.len - before;
    }
    for (size_t i = 0; i < s->count; i++) {
        if (!s->texts[i].changed)
            continue;
        s->texts[i].text.at = s->out.data != NULL ? (const char *)s->out.data + at : "";
        at += s->texts[i].text.len;
    }
}

static void end(gbx_gate_sift *s)
{
    if (s->tell != NULL)
        s->tell(s->user, s->texts);
    if (s->over != NULL)
        event_free(s->over);
    gbx_fd_close(&s->over_fd);
    gbx_buf_cleanup(&s->out);
    free(s->texts);
    gbx_buf_cleanup(&s->data);
    free(s);
}

/* ---- long texts ------------------------------------------------------------------ */

static void *run(void *user)
{
    gbx_gate_sift *s = user;
    const uint64_t one = 1;

    look_through(s);
    while (write(s->over_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    return NULL;
}

/* Call it when the thread has ended, or will soon. */
static void join(gbx_gate_sift *s)
{
    (void)pthread_join(s->thread, NULL);
    LIST_REMOVE(s, in_gate);
    end(s);
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    join(arg);
}

/* Start a thread that redacts copies of the texts. False: it could not be started. */
static bool start_thread(gbx_gate_sift *s, gbx_gate *gate, size_t len)
{
    gbx_buf_init_secret(&s->data, len + 1);
    s->over_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->over_fd < 0 || gbx_buf_reserve(&s->data, len + 1) == NULL)
        return false;
    for (size_t i = 0; i < s->count; i++) {
        gbx_view *text = &s->texts[i].text;
        const char *at = text->at;

        text->at = (const char *)s->data.data + s->data.len;
        (void)gbx_buf_append(&s->data, at, text->len);
    }
    s->over = gbx_need(
        event_new(gbx_mcp_loop_base(gate->loop), s->over_fd, EV_READ, on_over, s));
    return event_add(s->over, NULL) == 0 && gbx_thread_start(&s->thread, run, s) == 0;
}

/* ---- short and long texts -------------------------------------------------------- */

void gbx_gate_redact_start(gbx_gate *gate, gbx_secret_text kind, const gbx_view *texts,
                           size_t count, gbx_gate_sifted_fn tell, void *user,
                           gbx_gate_sift **ret)
{
    const gbx_policy *secrets = gate->config->rules->secrets;
    gbx_gate_sift *s = gbx_need(calloc(1, sizeof *s));
    size_t len = 0;

    s->texts = gbx_need(calloc(count, sizeof *s->texts));
    s->count = count;
    for (size_t i = 0; i < count; i++) {
        s->texts[i].text = texts[i];
        len += texts[i].len;
    }
    s->tell = tell;
    s->user = user;
    s->secrets = secrets;
    s->kind = kind;
    s->over_fd = -1;
    gbx_buf_init(&s->out, gbx_gate_redact_ceiling(len));
    *ret = NULL;
    if (len + count * TEXT_BYTES > SIFT_BYTES && secrets->secret_count > 0 &&
        start_thread(s, gate, len)) {
        LIST_INSERT_HEAD(&gate->sifts, s, in_gate);
        *ret = s;
        return;
    }
    look_through(s);
    end(s);
}

void gbx_gate_redact_stop(gbx_gate_sift *sift)
{
    if (sift != NULL)
        atomic_store(&sift->stop, true);
}

void gbx_gate_redact_end_all(gbx_gate *gate)
{
    gbx_gate_sift *s;

    while ((s = LIST_FIRST(&gate->sifts)) != NULL) {
        gbx_gate_redact_stop(s);
        join(s);
    }
}

bool gbx_gate_redact(const gbx_gate *gate, const char *text, size_t len, gbx_buf *to)
{
    return gbx_secrets_append_clean(gate->config->rules->secrets, GBX_SECRET_LINE,
                                    (gbx_span){(const uint8_t *)text, len}, to);
}

void gbx_gate_forget(gbx_gate_sift *sift)
{
    if (sift != NULL)
        sift->tell = NULL;
    gbx_gate_redact_stop(sift);
}

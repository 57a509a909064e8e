/* SPDX-License-Identifier: MIT */
/*
 * redact - removes the values of secrets from texts. Long texts are redacted on a
 * separate thread: hostile ones take seconds, and the loop must not be blocked. The
 * thread works on a copy and posts its end to the loop, to which everything else
 * belongs. If no thread can be started, the loop redacts the text.
 */
#include "base/cleanup.h"
#include "base/thread.h"
#include "mcp/approval/gate_call.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
    atomic_bool stop;
    gbx_mcp_loop *loop;
    gbx_mcp_post over;
    pthread_t thread;
    size_t count;
    gbx_gate_sifted texts[];
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
    gbx_buf_cleanup(&s->out);
    gbx_buf_cleanup(&s->data);
    free(s);
}

/* ---- long texts ------------------------------------------------------------------ */

static void *run(void *user)
{
    gbx_gate_sift *s = user;

    look_through(s);
    gbx_mcp_loop_post(s->loop, &s->over);
    return NULL;
}

/* Call it when the thread has ended, or will soon. */
static void join(void *arg)
{
    gbx_gate_sift *s = arg;

    (void)pthread_join(s->thread, NULL);
    LIST_REMOVE(s, in_gate);
    end(s);
}

/* Start a thread that redacts copies of the texts. False: it could not be started. */
static bool start_thread(gbx_gate_sift *s, size_t len)
{
    gbx_buf_init_secret(&s->data, len + 1);
    if (gbx_buf_reserve(&s->data, len + 1) == NULL)
        return false;
    for (size_t i = 0; i < s->count; i++) {
        gbx_view *text = &s->texts[i].text;
        const char *at = text->at;

        text->at = (const char *)s->data.data + s->data.len;
        (void)gbx_buf_append(&s->data, at, text->len);
    }
    return gbx_thread_start(&s->thread, run, s) == 0;
}

/* ---- short and long texts -------------------------------------------------------- */

void gbx_gate_redact_start(gbx_gate *gate, gbx_secret_text kind, const gbx_view *texts,
                           size_t count, gbx_gate_sifted_fn tell, void *user,
                           gbx_gate_sift **ret)
{
    const gbx_policy *secrets = gate->config->rules->secrets;
    gbx_gate_sift *s = gbx_need(calloc(1, sizeof *s + count * sizeof *s->texts));
    size_t len = 0;

    s->count = count;
    for (size_t i = 0; i < count; i++) {
        s->texts[i].text = texts[i];
        len += texts[i].len;
    }
    s->tell = tell;
    s->user = user;
    s->secrets = secrets;
    s->kind = kind;
    s->loop = gate->loop;
    s->over = (gbx_mcp_post){.run = join, .arg = s};
    gbx_buf_init(&s->out, gbx_secrets_ceiling(len));
    *ret = NULL;
    if (len + count * TEXT_BYTES > SIFT_BYTES && secrets->secret_count > 0 &&
        start_thread(s, len)) {
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

/* SPDX-License-Identifier: MIT */
/*
 * sign_in - a server that wants a token: a person signs in while the call waits.
 *
 * The client shows the address to the person (elicitation in URL mode). The sign-in itself is that
 * of `glovebox mcp login`, on a thread with a loop of its own. One sign-in serves all calls
 * that wait for the same server. What a person has declined is not asked again in that run.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "mcp/approval/gate_call.h"
#include "mcp/upstream/oauth.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PATIENCE_MS 300000

struct gbx_gate_sign_in {
    LIST_ENTRY(gbx_gate_sign_in) in_gate;
    unsigned holders; /* the gate, and an open question */
    gbx_gate *gate;
    gbx_upstream_id *server;
    char run[GBX_TOOL_CALL_RUN_SIZE]; /* of the call that began it */
    char id[40];                      /* of the question */
    pthread_t thread;
    int stop_fd;
    bool is_listed;
    bool is_declined;
    bool is_over; /* the thread is joined */
    /* The thread writes these before it posts. */
    char *url;
    gbx_mcp_post has_url;
    gbx_status status;
    gbx_error err;
    gbx_mcp_post has_ended;
};

static void release(gbx_gate_sign_in *s)
{
    if (--s->holders > 0)
        return;
    free(s->url);
    free(s);
}

static void stop(const gbx_gate_sign_in *s)
{
    const uint64_t one = 1;

    if (s->is_over)
        return;
    while (write(s->stop_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

/* Off the gate's list, which no longer holds it; the caller still does. */
static void unlist(gbx_gate_sign_in *s)
{
    if (!s->is_listed)
        return;
    s->is_listed = false;
    LIST_REMOVE(s, in_gate);
    s->holders--;
}

static void join(gbx_gate_sign_in *s)
{
    (void)pthread_join(s->thread, NULL);
    s->is_over = true;
    gbx_fd_close(&s->stop_fd);
}

static gbx_tool_call *first_call(const gbx_gate_sign_in *s)
{
    gbx_tool_call *call;

    TAILQ_FOREACH(call, &s->gate->calls, in_gate)
    if (call->sign_in == s && !call->cancelled)
        return call;
    return NULL;
}

/* ---- the thread ------------------------------------------------------------------- */

static void on_url(void *user, const char *url)
{
    gbx_gate_sign_in *s = user;

    s->url = gbx_need(strdup(url));
    gbx_mcp_loop_post(s->gate->loop, &s->has_url);
}

static void *run(void *user)
{
    gbx_gate_sign_in *s = user;
    const gbx_oauth_sign_in_options options = {.server = s->server,
                                               .trust = s->gate->config->trust,
                                               .timeout_ms = PATIENCE_MS,
                                               .input = -1,
                                               .stop = s->stop_fd,
                                               .open = on_url,
                                               .user = s};

    s->status = gbx_oauth_sign_in(&options, &s->err);
    gbx_mcp_loop_post(s->gate->loop, &s->has_ended);
    return NULL;
}

/* ---- the question ------------------------------------------------------------------- */

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    gbx_gate_sign_in *s = user;

    s->is_declined =
        answer == GBX_MCP_ANSWER_DECLINE || answer == GBX_MCP_ANSWER_CANCEL;
    if (answer != GBX_MCP_ANSWER_ACCEPT)
        stop(s);
    release(s);
}

/* The address is known. */
static void ask(void *arg)
{
    gbx_gate_sign_in *s = arg;
    const gbx_tool_call *call = first_call(s);
    const char *host;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(16)};

    if (call == NULL) {
        stop(s);
        return;
    }
    host = strstr(s->url, "://") + 3;
    (void)gbx_buf_puts(&message, "Sign in to the server ");
    gbx_gate_put_name(&message, s->server->name);
    (void)gbx_buf_printf(&message,
                         " at %.*s? Its tools are then called with your account, by "
                         "your rules. Open the page on the machine that runs Glovebox.",
                         (int)strcspn(host, "/?#"), host);
    (void)gbx_buf_append(&message, "", 1);
    s->holders++;
    gbx_mcp_ask_url(call->request, (const char *)message.data, s->url, s->id, on_answer,
                    s);
}

/* ---- the end -------------------------------------------------------------------------- */

static void end(void *arg)
{
    gbx_gate_sign_in *s = arg;
    gbx_tool_call *call = first_call(s);

    join(s);
    s->holders++; /* the end of a call may end its run, which takes it off the list */
    if (s->status == GBX_OK) {
        gbx_upstream_signed_in(s->gate->upstreams, s->server);
        if (call != NULL)
            gbx_mcp_url_is_done(call->request, s->id);
    }
    for (; call != NULL; call = first_call(s)) {
        call->sign_in = NULL;
        call->has_signed_in |= s->status == GBX_OK;
        if (s->status != GBX_OK) {
            gbx_gate_refuse(call, call->refusal_code, "%s; %s", call->refusal,
                            s->is_declined ? "a person has declined to do so"
                                           : s->err.message);
        } else if (call->decided) {
            gbx_gate_pass(call);
        } else {
            call->state = GBX_TOOL_CALL_UNDECIDED;
            gbx_mcp_timer_fire(&call->later);
        }
    }
    if (!s->is_declined || s->run[0] == '\0')
        unlist(s);
    release(s);
}

/* ---- the beginning ---------------------------------------------------------------------- */

/* NULL: the system has no more threads or descriptors. */
static gbx_gate_sign_in *start(const gbx_tool_call *call)
{
    gbx_gate *gate = call->gate;
    gbx_gate_sign_in *s = gbx_need(calloc(1, sizeof *s));

    s->holders = 1;
    s->gate = gate;
    s->server = call->up.server;
    memcpy(s->run, call->run, sizeof s->run);
    (void)snprintf(s->id, sizeof s->id, "%s-%u", gate->id, ++gate->sign_in_count);
    s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->has_url = (gbx_mcp_post){.run = ask, .arg = s};
    s->has_ended = (gbx_mcp_post){.run = end, .arg = s};
    if (s->stop_fd < 0 || gbx_thread_start(&s->thread, run, s) != 0) {
        gbx_fd_close(&s->stop_fd);
        release(s);
        return NULL;
    }
    s->is_listed = true;
    LIST_INSERT_HEAD(&gate->sign_ins, s, in_gate);
    return s;
}

void gbx_gate_ask_to_sign_in(gbx_tool_call *call)
{
    gbx_gate *gate = call->gate;
    gbx_gate_sign_in *s = NULL;

    if (gate->options.takes_sign_ins && call->request != NULL &&
        (gbx_mcp_can_ask(call->request) & GBX_MCP_ASK_URL) != 0) {
        /* One that is under way, or was declined in that run. */
        LIST_FOREACH(s, &gate->sign_ins, in_gate)
        {
            if (s->server == call->up.server &&
                (!s->is_over || strcmp(s->run, call->run) == 0))
                break;
        }
        if (s == NULL && gbx_bucket_take(&gate->questions, gbx_clock_now_ns()))
            s = start(call);
    }
    if (s == NULL || s->is_over) {
        gbx_gate_refuse(call, call->refusal_code, "%s", call->refusal);
        return;
    }
    call->sign_in = s;
    call->state = GBX_TOOL_CALL_ASKING;
}

void gbx_gate_sign_ins_end(gbx_gate *gate, const char *run)
{
    gbx_gate_sign_in *s = LIST_FIRST(&gate->sign_ins);

    while (s != NULL) {
        gbx_gate_sign_in *next = LIST_NEXT(s, in_gate);

        if (run == NULL && !s->is_over) {
            stop(s);
            join(s);
        }
        if (s->is_over && (run == NULL || strcmp(s->run, run) == 0)) {
            s->holders++;
            unlist(s);
            release(s);
        }
        s = next;
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * calls - the life of a call: it waits, is in flight, and ends. A call is in one list at
 * a time. Its end is reported once, never from inside the functions that begin or cancel
 * it.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- waiting and ending ------------------------------------------------------ */

static void append(gbx_upstream_call *call, gbx_call_list *list)
{
    call->list = list;
    TAILQ_INSERT_TAIL(list, call, entry);
}

/* Remove it from whatever list it is in. */
static void unlink_call(gbx_upstream_call *call)
{
    gbx_server *server = call->server;

    if (call->list == NULL)
        return;
    if (call->list == &call->all->flying) {
        call->session = NULL;
        server->in_flight--;
        call->all->in_flight--;
    } else if (call->list != &call->all->ended) {
        server->waiting_count--;
        server->waiting_bytes -= call->args.len;
    }
    TAILQ_REMOVE(call->list, call, entry);
    call->list = NULL;
}

void gbx_call_enqueue(gbx_upstream_call *call)
{
    gbx_server *server = call->server;

    call->since_ns = gbx_clock_now_ns();
    append(call, &server->waiting);
    server->waiting_count++;
    server->waiting_bytes += call->args.len;
}

void gbx_upstreams_wake(gbx_upstreams *all)
{
    event_active(all->turn, 0, 0);
}

static void free_call(gbx_upstream_call *call)
{
    if (call->timer != NULL)
        event_free(call->timer);
    free(call->tool);
    gbx_buf_cleanup(&call->args);
    free(call->meta);
    free(call->message);
    free(call);
}

void gbx_call_end(gbx_upstream_call *call, const gbx_upstream_reply *reply)
{
    gbx_upstream_done_fn done = call->done;
    void *user = call->user;

    unlink_call(call);
    if (done != NULL)
        done(user, reply);
    free_call(call);
}

void gbx_call_end_later(gbx_upstream_call *call, gbx_upstream_fault fault,
                        const char *message)
{
    unlink_call(call);
    if (call->timer != NULL)
        (void)event_del(call->timer);
    free(call->message);
    call->fault = fault;
    call->message = gbx_need(strdup(message));
    append(call, &call->all->ended);
    gbx_upstreams_wake(call->all);
}

void gbx_call_refuse_unknown(gbx_upstream_call *call)
{
    const gbx_server *server = call->server;
    const char *nearest = gbx_tools_nearest(&server->tools, call->tool);
    char message[1024];

    if (nearest != NULL)
        (void)snprintf(message, sizeof message,
                       "the server '%s' has no tool '%s': did you mean '%s'?",
                       server->config->name, call->tool, nearest);
    else
        (void)snprintf(message, sizeof message, "the server '%s' has no tool '%s'",
                       server->config->name, call->tool);
    gbx_call_end_later(call, GBX_UPSTREAM_UNKNOWN_TOOL, message);
}

/* ---- in flight --------------------------------------------------------------- */

/* One of the server's calls has ended with this fault. */
static void note_end(gbx_server *server, gbx_session *session, gbx_upstream_fault fault)
{
    if (fault == GBX_UPSTREAM_OK || fault == GBX_UPSTREAM_REFUSED ||
        fault == GBX_UPSTREAM_INPUT) {
        server->failures = 0;
        server->fault[0] = 0;
    }
    /* Is it slow, or does it hang? A session with other work is not checked. */
    if (fault == GBX_UPSTREAM_TIMEOUT && session != NULL && session->calls == 0)
        gbx_session_check(session);
    gbx_upstreams_wake(server->all);
}

static uint32_t timeout_of(const gbx_upstream_call *call)
{
    if (call->timeout_ms != 0)
        return call->timeout_ms;
    return call->server->config->timeout_ms != 0 ? call->server->config->timeout_ms
                                                 : GBX_UPSTREAM_TIMEOUT_MS;
}

/* By the last session's list. After a restart, the new list is consulted when the
 * call is sent. */
static bool is_repeatable(const gbx_upstream_call *call)
{
    const gbx_tool *tool = gbx_tools_find(&call->server->tools, call->tool);

    return tool != NULL && tool->is_repeatable;
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
    gbx_upstream_call *call = arg;
    gbx_server *server = call->server;
    gbx_session *session = call->session;
    int64_t ms = (gbx_clock_now_ns() - call->armed_ns) / GBX_NS_PER_MS;
    char message[200];
    gbx_upstream_reply reply = {.fault = GBX_UPSTREAM_TIMEOUT,
                                .message = message,
                                .was_not_begun = !call->was_sent,
                                .is_repeatable = is_repeatable(call)};

    (void)fd;
    (void)what;
    (void)snprintf(message, sizeof message, "%s %" PRIi64 " ms%s",
                   call->was_sent ? "no answer after" : "it could not be sent within",
                   call->was_extended ? ms : (int64_t)timeout_of(call),
                   call->timeout_ms != 0 ? " (opts.timeoutMs)"
                                         : " (timeoutMs of the server's configuration; "
                                           "code gives a call more by opts.timeoutMs)");
    if (session != NULL)
        gbx_session_drop_call(session, call->id, "the call has taken too long");
    unlink_call(call);
    note_end(server, session, GBX_UPSTREAM_TIMEOUT);
    gbx_call_end(call, &reply);
}

static bool may_repeat(const gbx_upstream_call *call, bool was_not_begun)
{
    return !call->was_retried && !call->all->is_closing &&
           gbx_tools_find(&call->server->tools, call->tool) != NULL &&
           (was_not_begun || is_repeatable(call));
}

static void on_answer(void *user, const gbx_upstream_reply *reply)
{
    gbx_upstream_call *call = user;
    gbx_server *server = call->server;
    gbx_session *session = call->session;
    gbx_upstream_reply told = *reply;

    unlink_call(call);
    gbx_upstreams_wake(call->all);
    if (reply->fault == GBX_UPSTREAM_EXIT && may_repeat(call, reply->was_not_begun)) {
        call->was_retried = true;
        call->was_sent = !reply->was_not_begun;
        gbx_call_enqueue(call);
        return;
    }
    note_end(server, session, reply->fault);
    told.is_repeatable = is_repeatable(call);
    gbx_call_end(call, &told);
}

/* A progress report restarts the time of a call, within a limit. A timeout that the
 * code has set itself is never extended. */
static void extend(gbx_upstream_call *call)
{
    int64_t ms = timeout_of(call);
    int64_t end_ns = call->armed_ns + GBX_UPSTREAM_PROGRESS_TIMES * ms * GBX_NS_PER_MS;
    int64_t left_ms = (end_ns - gbx_clock_now_ns()) / GBX_NS_PER_MS;
    struct timeval after;

    if (call->timeout_ms != 0 || left_ms <= 0)
        return;
    left_ms = left_ms < ms ? left_ms : ms;
    after = gbx_clock_timeval((uint32_t)left_ms);
    call->was_extended = true;
    (void)event_add(call->timer, &after);
}

static void on_progress(void *user, const char *message, size_t len)
{
    gbx_upstream_call *call = user;

    extend(call);
    if (call->progress != NULL)
        call->progress(call->user, message, len);
}

/* Time in our own queue does not count: that is not the server's fault. */
void gbx_call_arm(gbx_upstream_call *call)
{
    struct event_base *base = gbx_mcp_loop_base(call->all->loop);
    struct timeval after = gbx_clock_timeval(timeout_of(call));

    if (call->timer != NULL || call->tool == NULL)
        return;
    call->armed_ns = gbx_clock_now_ns();
    call->timer = gbx_need(evtimer_new(base, on_timeout, call));
    (void)event_add(call->timer, &after);
}

void gbx_call_send(gbx_upstream_call *call, gbx_session *session)
{
    gbx_session_call c = {
        .tool = call->tool,
        .args = (const char *)call->args.data,
        .args_len = call->args.len,
        .meta = call->meta,
        .is_again = call->was_retried,
        .user = call,
        .progress = on_progress,
        .answer = on_answer,
    };

    unlink_call(call);
    gbx_call_arm(call);
    call->id = gbx_session_start_call(session, &c);
    if (call->id == 0) {
        gbx_call_end_later(call, GBX_UPSTREAM_BUSY,
                           "the server does not read its input");
        return;
    }
    call->session = session;
    call->was_sent = true;
    call->server->in_flight++;
    call->all->in_flight++;
    append(call, &call->all->flying);
}

/* ---- how a call fails -------------------------------------------------------- */

const char *gbx_upstream_fault_name(gbx_upstream_fault fault)
{
    static const char *const names[] = {
        [GBX_UPSTREAM_OK] = "OK",
        [GBX_UPSTREAM_UNKNOWN_SERVER] = "UPSTREAM_UNKNOWN_SERVER",
        [GBX_UPSTREAM_UNKNOWN_TOOL] = "UPSTREAM_UNKNOWN_TOOL",
        [GBX_UPSTREAM_START] = "UPSTREAM_START",
        [GBX_UPSTREAM_EXIT] = "UPSTREAM_EXIT",
        [GBX_UPSTREAM_TIMEOUT] = "UPSTREAM_TIMEOUT",
        [GBX_UPSTREAM_CANCELLED] = "UPSTREAM_CANCELLED",
        [GBX_UPSTREAM_OPEN] = "UPSTREAM_OPEN",
        [GBX_UPSTREAM_PROTOCOL] = "UPSTREAM_PROTOCOL",
        [GBX_UPSTREAM_REFUSED] = "UPSTREAM_REFUSED",
        [GBX_UPSTREAM_BUSY] = "UPSTREAM_BUSY",
        [GBX_UPSTREAM_INPUT] = "UPSTREAM_INPUT",
        [GBX_UPSTREAM_CHANGED] = "UPSTREAM_CHANGED",
    };

    return names[fault];
}

bool gbx_upstream_is_retryable(const gbx_upstream_reply *reply)
{
    gbx_upstream_fault fault = reply->fault;

    if (fault == GBX_UPSTREAM_EXIT || fault == GBX_UPSTREAM_TIMEOUT ||
        (fault == GBX_UPSTREAM_REFUSED && reply->is_passing))
        return reply->was_not_begun || reply->is_repeatable;
    /* Nothing was sent. */
    if (reply->is_lasting)
        return false;
    return fault == GBX_UPSTREAM_START || fault == GBX_UPSTREAM_OPEN ||
           fault == GBX_UPSTREAM_BUSY || fault == GBX_UPSTREAM_CHANGED;
}

bool gbx_upstream_may_have_acted(const gbx_upstream_reply *reply)
{
    gbx_upstream_fault fault = reply->fault;

    return !reply->was_not_begun &&
           (fault == GBX_UPSTREAM_EXIT || fault == GBX_UPSTREAM_TIMEOUT ||
            fault == GBX_UPSTREAM_CANCELLED || fault == GBX_UPSTREAM_PROTOCOL ||
            (fault == GBX_UPSTREAM_REFUSED && reply->is_passing));
}

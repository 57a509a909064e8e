/* SPDX-License-Identifier: MIT */
/*
 * session_read - what comes in is told apart here, and sent to whom it concerns. What
 * nobody waits for (a wrong id, a second answer, noise) is dropped, and said in the log.
 */
#include "mcp/upstream/session_parts.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* Our question, answered: the id is found wherever a sound server would write it. */
static void on_response(gbx_session *s, const gbx_rpc_message *message, int64_t about)
{
    int64_t id = about;
    gbx_pending *p;

    /* An error may come with an id of the server's own: it did not read ours. */
    if (message->id.at != NULL && (about == 0 || message->kind != GBX_RPC_ERROR) &&
        !gbx_rpc_integer(message->id, &id))
        id = 0;
    p = gbx_session_take(s, id);
    if (p == NULL) {
        gbx_session_log(s, "an answer that nobody waits for was dropped");
        return;
    }
    switch (p->ask) {
    case GBX_ASK_DISCOVER: gbx_session_on_discover(s, message); break;
    case GBX_ASK_INITIALIZE: gbx_session_on_initialize(s, message); break;
    case GBX_ASK_TOOLS: gbx_session_on_tools(s, message); break;
    case GBX_ASK_LISTEN: gbx_session_on_listen_end(s); break;
    case GBX_ASK_CHECK: (void)event_del(s->check_timer); break;
    case GBX_ASK_CALL: gbx_session_on_call(s, p, message); return;
    }
    free(p);
}

/* Nothing was declared that a server might ask for, but for ping; in the era without
 * requests from servers, nothing is answered. */
static void on_request(gbx_session *s, const gbx_rpc_message *message)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    gbx_link_message about = {0};

    if (s->facts.is_modern) {
        gbx_session_log(s, "a request was dropped: servers of this era have none");
        return;
    }
    gbx_buf_init(&text, GBX_KIB(4));
    if (strcmp(message->method, "ping") == 0) {
        gbx_rpc_begin_result(&text, message->id);
        (void)gbx_buf_puts(&text, "{}");
        gbx_rpc_end(&text);
    } else {
        gbx_rpc_append_error(&text, message->id, GBX_RPC_METHOD_NOT_FOUND,
                             "this client answers no requests but ping", NULL);
    }
    (void)gbx_session_send(s, &text, &about);
}

static void on_notification(gbx_session *s, const gbx_rpc_message *message)
{
    if (strcmp(message->method, "notifications/progress") == 0)
        gbx_session_on_progress(s, message->payload);
    else if (strcmp(message->method, "notifications/tools/list_changed") == 0)
        gbx_session_on_change(s);
}

static void take_message(gbx_session *s, const gbx_rpc_message *message, int64_t about)
{
    gbx_rpc_message one;
    gbx_rpc_fault fault;
    size_t cursor = 0;
    gbx_view none;
    gbx_view view;

    if (message->kind == GBX_RPC_REQUEST)
        on_request(s, message);
    else if (message->kind == GBX_RPC_NOTIFICATION)
        on_notification(s, message);
    else if (message->kind != GBX_RPC_BATCH)
        on_response(s, message, about);
    else /* Of one revision, 2025-03-26, which had them. */
        while (s->phase != GBX_PHASE_LOST &&
               gbx_view_next(message->payload, &cursor, &none, &view))
            if (gbx_rpc_read_view(view, &one, &fault) && one.kind != GBX_RPC_BATCH)
                take_message(s, &one, 0);
}

/* What answers this request of ours is no answer. */
static void fail_request(gbx_session *s, int64_t id, const char *why)
{
    gbx_pending *p = gbx_session_take(s, id);

    if (p == NULL)
        return;
    if (p->ask == GBX_ASK_CALL) {
        gbx_session_fail_call(s, p, GBX_UPSTREAM_PROTOCOL, why, false);
        return;
    }
    free(p);
    gbx_session_lose(s, why);
}

static void on_message(void *user, const char *text, size_t len, int64_t about)
{
    gbx_session *s = user;
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    int64_t id = 0;

    if (gbx_rpc_read(text, len, &message, &fault)) {
        take_message(s, &message, about);
        if (about != 0)
            fail_request(s, about, "it answers with what is no answer");
        return;
    }
    gbx_session_log(s, "a line was dropped: %s", fault.message);
    if (about != 0)
        id = about;
    else if (fault.is_answerable || !gbx_rpc_integer(fault.id, &id))
        return;
    fail_request(s, id, fault.message);
}

/* The number after "id": at the beginning of the line or at its end, or 0. */
static int64_t find_id(const char *text, size_t len, bool is_end)
{
    static const char key[] = "\"id\":";
    size_t n = sizeof key - 1;
    int64_t id = 0;

    for (size_t i = 0; i + n < len; i++) {
        const char *digit = text + i + n;

        if (memcmp(text + i, key, n) != 0)
            continue;
        for (id = 0; digit < text + len && *digit >= '0' && *digit <= '9'; digit++)
            id = id < INT64_MAX / 16 ? id * 10 + (*digit - '0') : id;
        if (!is_end)
            return id;
    }
    return id;
}

static void on_too_long(void *user, const char *head, size_t head_len, const char *tail,
                        size_t tail_len)
{
    gbx_session *s = user;
    int64_t id = find_id(head, head_len, false);

    if (id == 0)
        id = find_id(tail, tail_len, true);
    gbx_session_log(s, "a message of more than %zu MiB was dropped",
                    GBX_LINK_MESSAGE_MAX >> 20);
    fail_request(s, id, "the answer is longer than 32 MiB");
}

static void on_unanswered(void *user, int64_t about, gbx_upstream_fault fault,
                          const char *why, bool is_spoken)
{
    gbx_session *s = user;
    gbx_pending *p = gbx_session_take(s, about);

    if (p == NULL)
        return;
    if (p->ask == GBX_ASK_CALL) {
        gbx_session_fail_call(s, p, fault, why, is_spoken);
        return;
    }
    if (p->ask == GBX_ASK_DISCOVER && is_spoken)
        gbx_session_on_no_discover(s);
    else if (p->ask == GBX_ASK_LISTEN)
        gbx_session_on_listen_end(s);
    else
        gbx_session_lose(s, why);
    free(p);
}

static void on_forgotten(void *user, int64_t about, const char *why)
{
    gbx_session *s = user;
    gbx_pending *p = gbx_session_take(s, about);

    if (p != NULL && p->ask == GBX_ASK_CALL)
        gbx_session_fail_call(s, p, GBX_UPSTREAM_EXIT, why, true);
    else
        free(p);
    gbx_session_end(s, why);
}

static void on_log(void *user, const char *line)
{
    gbx_session *s = user;

    s->options.hooks.log(s->options.hooks.user, line);
}

static void on_lost(void *user, const char *why, bool is_lasting)
{
    gbx_session *s = user;

    s->link = NULL;
    s->facts.is_lasting = is_lasting;
    s->died_asking = s->phase == GBX_PHASE_ASKING;
    gbx_session_lose(s, why);
}

/* ---- the rest of the session ---------------------------------------------- */

gbx_link_hooks gbx_session_hooks_of(gbx_session *s)
{
    return (
        gbx_link_hooks){s,      on_message, on_too_long, on_unanswered, on_forgotten,
                        on_log, on_lost};
}

/* SPDX-License-Identifier: MIT */
/* session_request - what is asked of a server and not answered yet; and the end, when all
 * of it fails. */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- requests of ours -------------------------------------------------------- */

bool gbx_session_send(gbx_session *s, const gbx_buf *text, gbx_link_message about)
{
    about.text = (const char *)text->data;
    about.len = text->len;
    if (text->failed || s->link == NULL || !s->link->ops->send(s->link, &about))
        return false;
    s->sent_bytes += about.len;
    return true;
}

void gbx_session_put_meta(const gbx_session *s, int64_t progress_token,
                          const char *more, gbx_buf *to)
{
    gbx_rpc_put_open(to, "_meta", '{');
    if (s->is_modern) {
        gbx_rpc_put_text(to, "io.modelcontextprotocol/protocolVersion",
                         s->facts.version);
        gbx_rpc_put_json(to, "io.modelcontextprotocol/clientInfo", GBX_CLIENT_INFO,
                         sizeof GBX_CLIENT_INFO - 1);
        gbx_rpc_put_json(to, "io.modelcontextprotocol/clientCapabilities", "{}", 2);
    }
    if (progress_token != 0)
        gbx_rpc_put_integer(to, "progressToken", progress_token);
    if (more != NULL && *more != 0)
        gbx_rpc_put_json(to, NULL, more, strlen(more));
    (void)gbx_buf_puts(to, "}");
}

/* id 0: a notification. */
static bool send_method(gbx_session *s, int64_t id, const char *method,
                        const char *params)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};

    gbx_buf_init(&text, GBX_KIB(64));
    if (id != 0)
        gbx_rpc_begin_request(&text, id, method);
    else
        gbx_rpc_begin_notification(&text, method);
    (void)gbx_buf_puts(&text, params);
    if (s->is_modern)
        gbx_session_put_meta(s, 0, NULL, &text);
    gbx_rpc_end(&text);
    return gbx_session_send(s, &text, (gbx_link_message){.id = id, .method = method});
}

bool gbx_session_ask(gbx_session *s, gbx_ask ask, const char *method,
                     const char *params)
{
    s->asked[ask] = ++s->last_id;
    if (send_method(s, s->asked[ask], method, params))
        return true;
    s->asked[ask] = 0;
    return false;
}

void gbx_session_notify(gbx_session *s, const char *method, const char *params)
{
    (void)send_method(s, 0, method, params);
}

void gbx_session_cancel(gbx_session *s, int64_t id, const char *reason)
{
    char params[128];

    if (s->link == NULL)
        return;
    (void)snprintf(params, sizeof params, "\"requestId\":%" PRId64 ",\"reason\":\"%s\"",
                   id, reason);
    gbx_session_notify(s, "notifications/cancelled", params);
    if (s->link->ops->forget != NULL)
        s->link->ops->forget(s->link, id);
}

gbx_ask gbx_session_find(const gbx_session *s, int64_t id, gbx_upstream_call **ret_call)
{
    gbx_upstream_call *call;

    *ret_call = NULL;
    for (int ask = 0; id != 0 && ask < GBX_ASK_CALL; ask++)
        if (s->asked[ask] == id)
            return (gbx_ask)ask;
    TAILQ_FOREACH(call, &s->calls, entry)
    if (call->id == id) {
        *ret_call = call;
        return GBX_ASK_CALL;
    }
    return GBX_ASK_NOTHING;
}

gbx_ask gbx_session_take(gbx_session *s, int64_t id, gbx_upstream_call **ret_call)
{
    gbx_ask ask = gbx_session_find(s, id, ret_call);

    if (ask < GBX_ASK_CALL)
        s->asked[ask] = 0;
    return ask;
}

bool gbx_session_awaits(const gbx_session *s, int64_t id)
{
    gbx_upstream_call *call;

    return gbx_session_find(s, id, &call) != GBX_ASK_NOTHING;
}

/* ---- the end ----------------------------------------------------------------- */

static void stop_timers(gbx_session *s)
{
    gbx_mcp_timer_clear(&s->start_timer);
    gbx_mcp_timer_clear(&s->list_timer);
    gbx_mcp_timer_clear(&s->page_timer);
    gbx_mcp_timer_clear(&s->listen_timer);
    gbx_mcp_timer_clear(&s->check_timer);
}

void gbx_session_fail_call(const gbx_session *s, gbx_upstream_call *call,
                           gbx_upstream_fault fault, const char *why,
                           bool was_not_begun)
{
    s->hooks->answer(call, (gbx_upstream_reply){.fault = fault,
                                                .message = why,
                                                .was_not_begun = was_not_begun});
}

void gbx_session_on_call_end(gbx_session *s)
{
    if (s->phase == GBX_PHASE_ENDING && s->call_count == 0)
        gbx_mcp_timer_fire(&s->start_timer);
}

void gbx_session_end(gbx_session *s, const char *why)
{
    if (s->phase == GBX_PHASE_ENDING || s->phase == GBX_PHASE_LOST)
        return;
    if (s->phase != GBX_PHASE_READY || s->call_count == 0) {
        gbx_session_lose(s, why);
        return;
    }
    s->phase = GBX_PHASE_ENDING;
    stop_timers(s);
    s->hooks->ending(s->server, s, why);
}

void gbx_session_lose(gbx_session *s, const char *why)
{
    gbx_upstream_call *call;

    if (s->phase == GBX_PHASE_LOST)
        return;
    s->phase = GBX_PHASE_LOST;
    stop_timers(s);
    if (s->link != NULL)
        s->link->ops->leave(s->link, !s->is_deaf);
    s->link = NULL;
    memset(s->asked, 0, sizeof s->asked);
    while ((call = TAILQ_FIRST(&s->calls)) != NULL)
        gbx_session_fail_call(s, call, GBX_UPSTREAM_EXIT, why, false);
    s->hooks->lost(s->server, s, why);
}

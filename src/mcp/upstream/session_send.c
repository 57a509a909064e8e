/* SPDX-License-Identifier: MIT */
/* session_send - messages to a server: requests of our own, notifications, and what all of
 * them have in _meta. */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool gbx_session_send(gbx_session *s, const gbx_buf *text, gbx_link_message about)
{
    about.text = (const char *)text->data;
    about.len = text->len;
    about.is_aside |= about.id == 0;
    if (text->failed || s->link == NULL || !s->link->ops->send(s->link, &about))
        return false;
    s->sent_bytes += about.len;
    return true;
}

void gbx_session_put_meta(const gbx_session *s, const gbx_upstream_call *call,
                          gbx_buf *to)
{
    gbx_json_put_open(to, "_meta", '{');
    if (s->is_modern) {
        bool has_tasks = call != NULL && (s->facts.has & GBX_HAS_TASKS) != 0;

        gbx_json_put_text(to, "io.modelcontextprotocol/protocolVersion",
                          s->facts.version);
        gbx_json_put_json(to, "io.modelcontextprotocol/clientInfo", GBX_CLIENT_INFO,
                          sizeof GBX_CLIENT_INFO - 1);
        gbx_mcp_asking_put(to, "io.modelcontextprotocol/clientCapabilities",
                           call != NULL ? call->can_ask : 0,
                           has_tasks ? "{\"" GBX_TASKS "\":{}}" : NULL);
    }
    if (call != NULL)
        gbx_json_put_integer(to, "progressToken", call->id);
    if (call != NULL && call->meta != NULL && *call->meta != 0)
        gbx_json_put_json(to, NULL, call->meta, strlen(call->meta));
    (void)gbx_buf_puts(to, "}");
}

bool gbx_session_send_method(gbx_session *s, int64_t id, const char *method,
                             const char *name, const char *params)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = strlen(params) + GBX_KIB(64)};

    if (id != 0)
        gbx_rpc_begin_request(&text, id, method);
    else
        gbx_rpc_begin_notification(&text, method);
    (void)gbx_buf_puts(&text, params);
    if (s->is_modern)
        gbx_session_put_meta(s, NULL, &text);
    gbx_rpc_end(&text);
    return gbx_session_send(s, &text,
                            (gbx_link_message){.id = id,
                                               .method = method,
                                               .name = name,
                                               .is_aside = !gbx_session_awaits(s, id)});
}

bool gbx_session_ask(gbx_session *s, gbx_ask ask, const char *method,
                     const char *params)
{
    s->asked[ask] = ++s->last_id;
    if (gbx_session_send_method(s, s->asked[ask], method, NULL, params))
        return true;
    s->asked[ask] = 0;
    return false;
}

void gbx_session_cancel(gbx_session *s, int64_t id, const char *reason)
{
    char params[128];

    if (s->link == NULL)
        return;
    (void)snprintf(params, sizeof params, "\"requestId\":%" PRId64 ",\"reason\":\"%s\"",
                   id, reason);
    (void)gbx_session_send_method(s, 0, "notifications/cancelled", NULL, params);
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

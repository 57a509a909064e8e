/* SPDX-License-Identifier: MIT */
/* message_ids - replaces ids in a message. The text around them is not changed, so the
 * child reads what the client wrote. */
#include "mcp/http/http.h"

#include <string.h>

/* The first cut at or after `at`, or NULL. */
static const gbx_message_cut *next_cut(const char *at, const gbx_message_cut *cuts,
                                       size_t count)
{
    const gbx_message_cut *next = NULL;

    for (size_t i = 0; i < count; i++)
        if (cuts[i].old.at != NULL && cuts[i].old.at >= at &&
            (next == NULL || cuts[i].old.at < next->old.at))
            next = &cuts[i];
    return next;
}

bool gbx_message_splice(gbx_buf *to, const char *text, size_t len,
                        const gbx_message_cut *cuts, size_t count)
{
    const gbx_message_cut *cut;
    const char *at = text;

    while ((cut = next_cut(at, cuts, count)) != NULL) {
        (void)gbx_buf_append(to, at, (size_t)(cut->old.at - at));
        (void)gbx_buf_append(to, cut->fresh.at, cut->fresh.len);
        at = cut->old.at + cut->old.len;
    }
    return gbx_buf_append(to, at, (size_t)(text + len - at));
}

void gbx_message_read_refs(const gbx_rpc_message *message, gbx_message_refs *ret)
{
    bool is_answer = message->kind == GBX_RPC_RESULT || message->kind == GBX_RPC_ERROR;
    gbx_view meta = gbx_view_member(message->payload, "_meta");

    *ret = (gbx_message_refs){0};
    if (is_answer)
        ret->id = message->id;
    if (message->kind == GBX_RPC_NOTIFICATION &&
        strcmp(message->method, "notifications/progress") == 0)
        ret->token = gbx_view_member(message->payload, "progressToken");
    if (gbx_view_kind(meta) == '{')
        ret->request = gbx_view_member(meta, GBX_MCP_META_PREFIX "subscriptionId");
    if (gbx_view_kind(meta) == '{' && ret->request.at == NULL)
        ret->request = gbx_view_member(meta, GBX_MCP_LOG_META);
}

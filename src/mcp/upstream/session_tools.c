/* SPDX-License-Identifier: MIT */
/* session_tools - reads the list of tools with all its pages, and follows its
 * changes. */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_MAX    200 /* beyond the number of tools */
#define CURSOR_MAX   GBX_KIB(8)
#define UNLISTED_MAX 2 /* failed lists in a row until the server is restarted */

/* Before the session is ready, one timer limits all pages together. */
static void ask_page(gbx_session *s, const char *params)
{
    if (!gbx_session_ask(s, GBX_ASK_TOOLS, "tools/list", params))
        gbx_session_lose(s, "it does not read its input");
    else if (s->phase == GBX_PHASE_READY)
        gbx_mcp_timer_set(&s->page_timer, s->server->config->timeout_ms);
}

/* True if the pages form a cycle. One cursor is kept, that of the last page whose
 * number is a power of two: eventually it is on the cycle, and the cycle is shorter
 * than the distance to the next power. */
static bool goes_in_circles(gbx_session *s, gbx_view cursor)
{
    if (cursor.len == s->cursor.len &&
        memcmp(cursor.at, s->cursor.data, cursor.len) == 0)
        return true;
    if ((s->pages & (s->pages - 1)) == 0) {
        s->cursor.len = 0;
        s->cursor.ceiling = CURSOR_MAX;
        (void)gbx_buf_append(&s->cursor, cursor.at, cursor.len);
    }
    return false;
}

/* False: the list has no further page, or none worth asking for. */
static bool ask_next(gbx_session *s, gbx_view result)
{
    gbx_view cursor = gbx_view_member(result, "nextCursor");
    GBX_CLEANUP(gbx_free) char *text = NULL;
    gbx_buf params = {.ceiling = CURSOR_MAX + 64};

    if (gbx_view_kind(cursor) != '"' || cursor.len <= 2)
        return false;
    s->pages++;
    s->coming->is_cut = cursor.len > CURSOR_MAX || goes_in_circles(s, cursor) ||
                        s->pages >= s->coming->count + PAGES_MAX ||
                        s->coming->count + s->coming->dropped >= GBX_TOOLS_MAX;
    if (s->coming->is_cut)
        return false;
    gbx_json_put_json(&params, "cursor", cursor.at, cursor.len);
    text = gbx_need(gbx_buf_take_string(&params, NULL));
    ask_page(s, text);
    return true;
}

static void end_list(gbx_session *s)
{
    gbx_tools_close(s->coming);
    if (s->coming->dropped_why[0] != 0)
        gbx_session_log(s, "%zu tools, %s", s->coming->count, s->coming->dropped_why);
    gbx_tools_drop(s->tools);
    s->tools = s->coming;
    s->coming = NULL;
    s->is_listing = false;
    s->unlisted = 0;
    s->listed_ns = s->asked_ns;
    if (s->phase == GBX_PHASE_LISTING) {
        gbx_mcp_timer_clear(&s->start_timer);
        s->phase = GBX_PHASE_READY;
        s->stray[0] = 0;
        s->facts.containment =
            s->link->ops->containment != NULL ? s->link->ops->containment(s->link) : "";
        s->facts.start_ms =
            (double)(gbx_clock_now_ns() - s->started_ns) / (double)GBX_NS_PER_MS;
        s->hooks->ready(s->server, s);
        gbx_session_listen_anew(s);
    } else {
        s->hooks->listed(s->server, s);
    }
    if (s->phase == GBX_PHASE_READY && s->is_stale)
        gbx_session_on_change(s);
}

/* ---- called by other files of the session --------------------------------- */

void gbx_session_list(gbx_session *s)
{
    if (s->phase == GBX_PHASE_LOST)
        return;
    s->is_stale = s->is_listing;
    if (s->is_listing)
        return;
    gbx_tools_drop(s->coming);
    s->coming = gbx_tools_new();
    s->is_listing = true;
    s->asked_ns = gbx_clock_now_ns();
    s->pages = 0;
    s->cursor.len = 0;
    ask_page(s, "");
}

void gbx_session_list_now(gbx_session *s)
{
    if (s->phase == GBX_PHASE_READY && !s->is_listing)
        gbx_mcp_timer_set(&s->list_timer, 0);
}

bool gbx_session_is_stale(const gbx_session *s)
{
    return s->is_listing || s->is_stale || gbx_mcp_timer_is_set(&s->list_timer);
}

void gbx_session_on_tools(gbx_session *s, const gbx_rpc_message *message)
{
    bool has_headers = s->is_modern && !s->is_process;
    int64_t least_ms = gbx_timeout_ms(GBX_TIMEOUT_LIST);
    int64_t ms;
    char text[256] = "";
    char why[320];

    gbx_mcp_timer_clear(&s->page_timer);
    if (message->kind == GBX_RPC_ERROR && s->phase != GBX_PHASE_LISTING) {
        gbx_session_keep_tools(s);
        return;
    }
    if (message->kind == GBX_RPC_ERROR && !s->tells_tools) {
        end_list(s); /* it has not declared any tools */
        return;
    }
    if (message->kind == GBX_RPC_ERROR) {
        (void)gbx_rpc_copy_text(gbx_rpc_error_message(message->payload), text,
                                sizeof text);
        (void)snprintf(why, sizeof why, "it does not tell its tools%s%s",
                       text[0] != 0 ? ": " : "", text);
        gbx_session_lose(s, why);
        return;
    }
    if (!gbx_tools_add(s->coming, gbx_view_member(message->payload, "tools"),
                       has_headers, s->server->all->yard.secrets)) {
        gbx_session_on_no_tools(s, "its list of tools is not valid");
        return;
    }
    /* A missing or very short time means the shortest interval between two requests. */
    if (!gbx_rpc_integer(gbx_view_member(message->payload, "ttlMs"), &ms) ||
        ms < least_ms)
        ms = least_ms;
    if (s->is_modern)
        s->ttl_ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
    if (!ask_next(s, message->payload) && s->phase != GBX_PHASE_LOST)
        end_list(s);
}

/* The known tools stay, but calls that rely on them ask for the list again. */
void gbx_session_on_no_tools(gbx_session *s, const char *why)
{
    if (s->phase == GBX_PHASE_LISTING) {
        gbx_session_lose(s, why);
        return;
    }
    gbx_mcp_timer_clear(&s->page_timer);
    if (s->asked[GBX_ASK_TOOLS] != 0)
        gbx_session_cancel(s, s->asked[GBX_ASK_TOOLS], "the list has taken too long");
    s->asked[GBX_ASK_TOOLS] = 0;
    gbx_session_log(s, "%s", why);
    if (++s->unlisted == UNLISTED_MAX) {
        gbx_session_end(s, "it does not tell its tools any more");
        return;
    }
    s->is_listing = false;
    s->is_stale = true;
    s->hooks->listed(s->server, s);
}

void gbx_session_keep_tools(gbx_session *s)
{
    gbx_mcp_timer_clear(&s->page_timer);
    s->is_listing = false;
    s->listed_ns = s->asked_ns;
    s->hooks->listed(s->server, s);
}

void gbx_session_listen_anew(gbx_session *s)
{
    static const unsigned tells =
        GBX_TELLS_TOOLS | GBX_TELLS_RESOURCES | GBX_TELLS_PROMPTS;

    if (s->phase != GBX_PHASE_READY || !s->is_modern)
        return;
    if (s->asked[GBX_ASK_LISTEN] != 0) {
        gbx_session_cancel(s, s->asked[GBX_ASK_LISTEN], "other resources are wanted");
        s->asked[GBX_ASK_LISTEN] = 0;
    }
    gbx_mcp_timer_clear(&s->listen_timer);
    if ((s->facts.has & tells) != 0 || s->server->wanted.count > 0)
        gbx_session_listen(s);
}

/* Of this era: one stream has all that changes. */
void gbx_session_listen(gbx_session *s)
{
    static const struct {
        gbx_upstream_has tells;
        const char *filter;
    } rows[] = {{GBX_TELLS_TOOLS, "toolsListChanged"},
                {GBX_TELLS_RESOURCES, "resourcesListChanged"},
                {GBX_TELLS_PROMPTS, "promptsListChanged"}};
    const gbx_uris *wanted = &s->server->wanted;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf params = {.ceiling = GBX_MIB(16)};

    gbx_json_put_open(&params, "notifications", '{');
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++)
        if ((s->facts.has & rows[i].tells) != 0)
            gbx_json_put_bool(&params, rows[i].filter, true);
    if (wanted->count > 0) {
        gbx_json_put_open(&params, "resourceSubscriptions", '[');
        for (size_t i = 0; i < wanted->count; i++)
            gbx_json_put_text(&params, NULL, wanted->items[i]);
        (void)gbx_buf_puts(&params, "]");
    }
    (void)gbx_buf_puts(&params, "}");
    (void)gbx_session_ask(s, GBX_ASK_LISTEN, "subscriptions/listen",
                          gbx_rpc_string(&params));
}

void gbx_session_on_acknowledged(gbx_session *s, gbx_view params)
{
    gbx_view taken = gbx_view_member(params, "notifications");

    if (s->phase != GBX_PHASE_READY)
        return;
    s->listen_failures = 0;
    if (!gbx_view_is_true(gbx_view_member(taken, "toolsListChanged")))
        return;
    s->is_listening = true;
    gbx_session_on_change(s);
}

void gbx_session_on_listen_end(gbx_session *s, const gbx_rpc_message *message)
{
    bool has_none = message != NULL && message->kind == GBX_RPC_ERROR &&
                    gbx_rpc_error_code(message->payload) == GBX_RPC_METHOD_NOT_FOUND;
    uint32_t most_ms = gbx_timeout_ms(GBX_TIMEOUT_LISTEN_MAX);
    uint32_t ms = gbx_timeout_ms(GBX_TIMEOUT_LISTEN);

    if (s->phase != GBX_PHASE_READY)
        return;
    if (s->is_listening) {
        s->is_listening = false;
        s->hooks->listed(s->server, s); /* it was current until
                                                            * now */
    }
    if (has_none)
        return;
    for (unsigned i = 0; i < s->listen_failures && ms < most_ms; i++)
        ms *= 2;
    s->listen_failures++; /* until the next one is open */
    gbx_mcp_timer_set(&s->listen_timer, ms < most_ms ? ms : most_ms);
}

void gbx_session_on_change(gbx_session *s)
{
    if (s->phase == GBX_PHASE_LISTING)
        s->is_stale = true;
    if (s->phase == GBX_PHASE_READY && !gbx_mcp_timer_is_set(&s->list_timer))
        gbx_mcp_timer_set(&s->list_timer, gbx_timeout_ms(GBX_TIMEOUT_LIST));
}

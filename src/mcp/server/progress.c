/* SPDX-License-Identifier: MIT */
/* progress - sends progress, keep-alives and logs: only to clients that asked for them,
 * no more than a person can read, and none while the client does not read. */
#include "mcp/server/server_state.h"

#include "base/clock.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Larger figures are ignored, so that adding 1 always changes the number. */
#define FIGURE_END 4503599627370496.0 /* 2^52 */

/* More than the sent decimals can hide, less than any step of a handler's own
 * figures. */
#define SIGN_OF_LIFE 0.0015

/* True if the client reads, and one more message may be sent now. */
static bool take(const gbx_mcp_request *request, gbx_bucket *rate)
{
    const gbx_mcp_client_hooks *hooks = &request->server->hooks;

    return !hooks->is_full(hooks->user) && gbx_bucket_take(rate, gbx_clock_now_ns());
}

static bool has_room(const gbx_mcp_request *request)
{
    gbx_bucket copy = request->rate;

    return take(request, &copy);
}

static bool asked_for(const gbx_mcp_request *request, int level)
{
    const gbx_mcp_era *era;

    if (request->id_len == 0)
        return false;
    /* Legacy: the level may have been set after the request came. */
    era = request->era.is_modern ? &request->era : &request->server->era;
    return era->log_level >= 0 && level >= era->log_level;
}

/* The next whole number, at least 1. */
static double next_figure(const gbx_mcp_request *request)
{
    return floor(fmax(request->progress, 0)) + 1;
}

/* The protocol's level: an index into debug, info, notice, warning, error ... */
static int level_of(gbx_log_level level)
{
    static const int levels[] = {[GBX_LOG_DEBUG] = 0,
                                 [GBX_LOG_LOG] = 1,
                                 [GBX_LOG_INFO] = 1,
                                 [GBX_LOG_WARN] = 3,
                                 [GBX_LOG_ERROR] = 4};

    return levels[level <= GBX_LOG_ERROR ? level : GBX_LOG_LOG];
}

bool gbx_mcp_wants_progress(const gbx_mcp_request *request)
{
    return request->id_len > 0 && request->token_len > 0;
}

void gbx_mcp_progress_at(gbx_mcp_request *request, double progress, double total,
                         const char *message, size_t message_len)
{
    gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};

    /* Three decimals are sent: smaller changes do not count as growth. */
    progress = progress >= 0 && progress < FIGURE_END ? floor(progress * 1000) / 1000
                                                      : request->progress;
    if (progress <= request->progress && (message == NULL || message_len == 0))
        return;
    if (progress <= request->progress) { /* send the message: the number
                                          * must grow anyway */
        progress = next_figure(request);
        total = -1;
    }
    if (!gbx_mcp_wants_progress(request) || !take(request, &request->rate))
        return;
    request->progress = progress;
    request->said_ns = gbx_clock_now_ns();
    gbx_rpc_begin_notification(&to, "notifications/progress");
    gbx_json_put_json(&to, "progressToken", request->token, request->token_len);
    gbx_json_put_number(&to, "progress", progress);
    if (total >= 0 && isfinite(total)) {
        gbx_json_put_key(&to, "total");
        (void)gbx_json_append_number(&to, total);
    }
    gbx_json_put_shown(&to, "message", message, message_len);
    gbx_rpc_end(&to);
    gbx_mcp_send(request->server, &to);
}

void gbx_mcp_progress(gbx_mcp_request *request, double total, const char *message,
                      size_t message_len)
{
    gbx_mcp_progress_at(request, next_figure(request), total, message, message_len);
}

void gbx_mcp_beat(gbx_mcp_server *server)
{
    int64_t now = gbx_clock_now_ns();
    gbx_mcp_request *r;
    char text[80];

    LIST_FOREACH(r, &server->requests, entry)
    {
        int n;

        if (!gbx_mcp_wants_progress(r) ||
            now - r->said_ns < (int64_t)server->beat_ms * GBX_NS_PER_MS)
            continue;
        n = snprintf(text, sizeof text, "%s, %lld s",
                     r->ask_count > 0 ? "waiting for a person" : "still at work",
                     (long long)((now - r->bound_ns) / (1000 * GBX_NS_PER_MS)));
        gbx_mcp_progress_at(r, fmax(r->progress, 0) + SIGN_OF_LIFE, -1, text,
                            (size_t)n);
    }
}

bool gbx_mcp_hears_progress(gbx_mcp_request *request)
{
    return gbx_mcp_wants_progress(request) && has_room(request);
}

void gbx_mcp_log_line(gbx_mcp_request *request, gbx_log_level level, const char *text,
                      size_t len)
{
    gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};

    if (!asked_for(request, level_of(level)) || !take(request, &request->rate))
        return;
    gbx_rpc_begin_notification(&to, "notifications/message");
    gbx_json_put_text(&to, "level", gbx_mcp_level_name(level_of(level)));
    gbx_json_put_text(&to, "logger", "console");
    gbx_json_put_shown(&to, "data", text, len);
    if (request->era.is_modern) {
        gbx_json_put_open(&to, "_meta", '{');
        gbx_json_put_json(&to, GBX_MCP_LOG_META, request->id, request->id_len);
        (void)gbx_buf_puts(&to, "}");
    }
    gbx_rpc_end(&to);
    gbx_mcp_send(request->server, &to);
}

bool gbx_mcp_hears_line(gbx_mcp_request *request, gbx_log_level level)
{
    return (gbx_mcp_wants_progress(request) || asked_for(request, level_of(level))) &&
           has_room(request);
}

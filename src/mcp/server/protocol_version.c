/* SPDX-License-Identifier: MIT */
/*
 * protocol_version - which of the two protocols a request speaks.
 *
 * A request with a version in _meta is modern, on any connection, and needs no other
 * request before it. Others use the version that `initialize` has agreed on.
 */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <string.h>

#define META "io.modelcontextprotocol/"

#define UNSUPPORTED_VERSION (-32022)

static const char *const level_names[] = {"debug", "info",     "notice", "warning",
                                          "error", "critical", "alert",  "emergency"};

static int level_of(gbx_view name)
{
    for (size_t i = 0; i < GBX_COUNTOF(level_names); i++)
        if (gbx_view_is_text(name, level_names[i]))
            return (int)i;
    return -1;
}

static void put_capabilities(gbx_buf *to, const gbx_mcp_server *server)
{
    gbx_json_put_key(to, "capabilities");
    (void)gbx_buf_puts(to, "{\"tools\":{\"listChanged\":true},"
                           "\"resources\":{\"subscribe\":true,\"listChanged\":true},");
    (void)gbx_buf_puts(to,
                       server->proxy != NULL
                           ? "\"prompts\":{\"listChanged\":true},\"completions\":{},"
                           : "\"prompts\":{},");
    (void)gbx_buf_puts(to, "\"logging\":{}}");
}

const char *gbx_mcp_level_name(int level)
{
    return level_names[level];
}

static const char no_version[] =
    "no protocol version: send 'initialize' first (" GBX_MCP_LEGACY_NEWEST
    " and before), or _meta with " META "protocolVersion (" GBX_MCP_MODERN ")";

static const char bad_meta[] =
    "_meta must have " META "protocolVersion, a string, and " META
    "clientCapabilities, an object";

static const char bad_version[] = "unsupported protocol version";

static const char *find_fault(const gbx_mcp_server *server, const char *method,
                              gbx_view meta, gbx_mcp_era *ret)
{
    gbx_view version = gbx_view_member(meta, META "protocolVersion");
    gbx_view capabilities = gbx_view_member(meta, META "clientCapabilities");
    gbx_view level = gbx_view_member(meta, META "logLevel");

    if (meta.at != NULL && gbx_view_kind(meta) != '{' && gbx_view_kind(meta) != 'n')
        return bad_meta;
    if (version.at == NULL) {
        *ret = server->era;
        /* These two may come before a version is agreed on. */
        return server->version[0] != '\0' || strcmp(method, "initialize") == 0 ||
                       strcmp(method, "ping") == 0
                   ? NULL
                   : no_version;
    }
    if (gbx_view_kind(version) != '"')
        return bad_meta;
    if (!gbx_view_is_text(version, GBX_MCP_MODERN))
        return bad_version;
    if (gbx_view_kind(capabilities) != '{')
        return bad_meta;
    *ret = (gbx_mcp_era){.is_modern = true,
                         .can_ask = gbx_mcp_asking_read(capabilities),
                         .log_level = level_of(level)};
    return level.at == NULL || ret->log_level >= 0 ? NULL
                                                   : META
               "logLevel is not a level of logs";
}

bool gbx_mcp_era_read(gbx_mcp_server *server, const gbx_rpc_message *message,
                      gbx_mcp_era *ret)
{
    gbx_view meta = gbx_view_member(message->payload, "_meta");
    const char *fault = find_fault(server, message->method, meta, ret);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf data = {.ceiling = 1024};
    char requested[64] = "?";

    if (fault == bad_version) {
        (void)gbx_rpc_copy_text(gbx_view_member(meta, META "protocolVersion"),
                                requested, sizeof requested);
        (void)gbx_buf_puts(&data, "{\"supported\":[\"" GBX_MCP_MODERN "\"]");
        gbx_json_put_text(&data, "requested", requested);
        (void)gbx_buf_append(&data, "}", 2); /* with its NUL */
        gbx_mcp_refuse(server, message->id, UNSUPPORTED_VERSION, fault,
                       (const char *)data.data);
    } else if (fault != NULL) {
        gbx_mcp_refuse(server, message->id, GBX_RPC_INVALID_PARAMS, fault, NULL);
    } else {
        server->latest = *ret;
    }
    return fault == NULL;
}

void gbx_mcp_on_initialize(gbx_mcp_request *request)
{
    gbx_mcp_server *server = request->server;
    gbx_view capabilities = gbx_view_member(request->params, "capabilities");
    char version[sizeof server->version];
    gbx_buf to;

    if (gbx_view_kind(gbx_view_member(request->params, "protocolVersion")) != '"') {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                     "protocolVersion must be a string");
        return;
    }
    if (!gbx_rpc_copy_text(gbx_view_member(request->params, "protocolVersion"), version,
                           sizeof version) ||
        !gbx_text_is_listed(GBX_MCP_LEGACY, version, strlen(version)))
        memcpy(version, GBX_MCP_LEGACY_NEWEST, sizeof GBX_MCP_LEGACY_NEWEST);
    memcpy(server->version, version, sizeof version);
    server->era =
        (gbx_mcp_era){.can_ask = gbx_mcp_asking_read(capabilities), .log_level = -1};
    request->era = server->latest = server->era;
    gbx_mcp_reply_begin(&to, request, "complete", NULL);
    gbx_json_put_text(&to, "protocolVersion", version);
    put_capabilities(&to, request->server);
    gbx_json_put_json(&to, "serverInfo", request->server->info,
                      strlen(request->server->info));
    gbx_json_put_text(&to, "instructions", request->server->instructions);
    gbx_mcp_reply_end(request, &to);
}

void gbx_mcp_on_discover(gbx_mcp_request *request)
{
    gbx_buf to;

    gbx_mcp_reply_begin(&to, request, "complete", NULL);
    gbx_json_put_key(&to, "supportedVersions");
    (void)gbx_buf_puts(&to, "[\"" GBX_MCP_MODERN "\"]");
    put_capabilities(&to, request->server);
    gbx_json_put_text(&to, "instructions", request->server->instructions);
    gbx_mcp_reply_cacheable(&to, request);
    gbx_mcp_reply_end(request, &to);
}

void gbx_mcp_on_set_level(gbx_mcp_request *request)
{
    int level = level_of(gbx_view_member(request->params, "level"));

    if (level < 0) {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, "unknown level of logs");
        return;
    }
    request->server->era.log_level = level;
    gbx_mcp_reply_empty(request);
}

/* SPDX-License-Identifier: MIT */
/*
 * headers - drops configured headers that the transport sets itself: with a header such
 * as Content-Type sent twice, no server understands the request.
 */
#include "mcp/config/config_reader.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Limit of a name in the message. */
#define NAME_MAX_SHOWN 64

static bool is_own(const char *name)
{
    static const char *const own[] = {
        "Accept",         "Accept-Encoding",
        "Connection",     "Content-Encoding",
        "Content-Length", "Content-Type",
        "Expect",         "Keep-Alive",
        "Last-Event-ID",  "MCP-Protocol-Version",
        "Mcp-Method",     "Mcp-Name",
        "Mcp-Session-Id", "TE",
        "Trailer",        "Transfer-Encoding",
        "Upgrade",
    };
    static const char params[] = "Mcp-Param-";

    for (size_t i = 0; i < GBX_COUNTOF(own); i++)
        if (strcasecmp(name, own[i]) == 0)
            return true;
    return strncasecmp(name, params, sizeof params - 1) == 0;
}

static void free_header(gbx_mcp_variable *header)
{
    explicit_bzero(header->value, strlen(header->value));
    free(header->value);
    free(header->name);
}

/* ---- for the other parts ---------------------------------------------------- */

gbx_status gbx_mcp_drop_own_headers(gbx_json_reader *r, gbx_mcp_upstream_config *server)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf names = {0};
    size_t kept = 0;

    gbx_buf_init(&names, server->header_count * (NAME_MAX_SHOWN + 2) + 1);
    for (size_t i = 0; i < server->header_count; i++) {
        gbx_mcp_variable *header = &server->headers[i];

        if (!is_own(header->name)) {
            server->headers[kept++] = *header;
            continue;
        }
        (void)gbx_buf_printf(&names, "%s%.*s", names.len > 0 ? ", " : "",
                             NAME_MAX_SHOWN, header->name);
        free_header(header);
    }
    if (kept == server->header_count)
        return GBX_OK;
    server->header_count = kept;
    server->unsent_headers = gbx_buf_take_string(&names, NULL);
    return server->unsent_headers != NULL ? GBX_OK : gbx_list_nomem(r->err);
}

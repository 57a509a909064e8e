/* SPDX-License-Identifier: MIT */
/* request_checks - checks of requests. A web page can send some to this machine, even
 * by a host name of its own (DNS rebinding), so Host and Origin must be ours. */
#include "mcp/http/http.h"

#include "base/base64.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEADER_MISMATCH (-32020)
#define NO_ID           ((gbx_view){0})

/* A longer name is of no tool. */
#define TOOL_MAX 130

/* ---- the head ---------------------------------------------------------------------- */

static const char *const loopback_names[] = {"localhost", "127.0.0.1", "[::1]"};

/* The length of the name in NAME or NAME:PORT; *ret_port is "" without one. */
static size_t name_length(const char *authority, const char **ret_port)
{
    size_t len =
        authority[0] == '[' ? strcspn(authority, "]") + 1 : strcspn(authority, ":");
    size_t all = strlen(authority);

    *ret_port = len < all && authority[len] == ':' ? authority + len + 1 : "";
    return len < all && authority[len] != ':' ? all : len;
}

static bool is_name(const char *text, size_t len, const char *name)
{
    return len == strlen(name) && strncasecmp(text, name, len) == 0;
}

static bool is_loopback_name(const char *text, size_t len)
{
    for (size_t i = 0; i < GBX_COUNTOF(loopback_names); i++)
        if (is_name(text, len, loopback_names[i]))
            return true;
    return false;
}

/* True if the field Host names this server. Web pages cannot reach a socket file. */
static bool is_our_host(const gbx_http_options *o, const gbx_http_listener *listener,
                        const char *host)
{
    char port[8];
    const char *given;
    size_t len = name_length(host, &given);

    if (gbx_http_is_public(o) ||
        listener->host[0] == '\0') /* credentials are required */
        return true;
    (void)snprintf(port, sizeof port, "%u", listener->port);
    return (is_loopback_name(host, len) || is_name(host, len, listener->host)) &&
           strcmp(*given != '\0' ? given : "80", port) == 0;
}

/* True for a page of this machine or, at a public address, of the same site. */
static bool is_our_origin(const gbx_http_options *o, const char *origin,
                          const char *host)
{
    const char *authority = strncmp(origin, "http://", 7) == 0    ? origin + 7
                            : strncmp(origin, "https://", 8) == 0 ? origin + 8
                                                                  : NULL;
    const char *port;
    size_t len;

    if (authority == NULL || authority[strcspn(authority, "/@?#")] != '\0')
        return false;
    len = name_length(authority, &port);
    return (is_loopback_name(authority, len) &&
            port[strspn(port, "0123456789")] == '\0') ||
           (gbx_http_is_public(o) && strcasecmp(authority, host) == 0);
}

/* Minimum length of a token, so that it cannot be guessed. */
#define TOKEN_MIN 16

gbx_status gbx_http_read_token(gbx_http_options *options, gbx_error *reterr)
{
    const char *path = options->token_file;
    const gbx_trusted_file file = {path, "the token ", O_RDONLY, options->trust, true};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    char warning[GBX_ERROR_MESSAGE_SIZE] = "";
    size_t len = 0;
    gbx_status status;

    if (path == NULL)
        return GBX_OK;
    status = gbx_trusted_file_read(&file, GBX_KIB(4), &text, NULL, warning, reterr);
    if (warning[0] != '\0')
        gbx_mcp_warn("warning: %s", warning);
    if (status != GBX_OK)
        return status;
    while (len < text.len && text.data[len] > ' ' && text.data[len] <= '~')
        len++;
    while (text.len > len &&
           (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
        text.len--;
    if (len < TOKEN_MIN || len != text.len)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "'%s' must hold a token of at least %d visible characters",
                        path, TOKEN_MIN);
    gbx_sha256_of(text.data, len, options->token);
    return GBX_OK;
}

/* Compares hashes, so that the timing reveals nothing about the token. */
static bool has_token(const gbx_http_options *o, const char *authorization)
{
    uint8_t hash[GBX_SHA256_SIZE];
    unsigned differs = 0;

    if (o->token_file == NULL)
        return true;
    if (authorization == NULL || strncasecmp(authorization, "bearer ", 7) != 0)
        return false;
    authorization += 7 + strspn(authorization + 7, " ");
    gbx_sha256_of(authorization, strlen(authorization), hash);
    for (size_t i = 0; i < sizeof hash; i++)
        differs |= (unsigned)(hash[i] ^ o->token[i]);
    return differs == 0;
}

static bool refuse(gbx_http_connection *c, int status, const char *fields,
                   const char *why)
{
    gbx_http_reply_error(c, status, fields, NO_ID, GBX_RPC_INVALID_REQUEST, why);
    return false;
}

/* Check the method, and the media types of the request and of its answer. */
static bool check_method(gbx_http_connection *c, const gbx_http_request *r)
{
    const char *accept = gbx_http_field_of(r, "accept");
    bool is_post = strcmp(r->method, "POST") == 0;
    bool is_get = strcmp(r->method, "GET") == 0;
    const char *type = gbx_http_field_of(r, "content-type");

    if (!is_post && !is_get && strcmp(r->method, "DELETE") != 0)
        return refuse(c, 405, "Allow: GET, POST, DELETE\r\n", "unknown method");
    if (!is_post && r->part == GBX_HTTP_IN_BODY)
        return refuse(c, 400, NULL, "only POST has a body");
    if ((is_post || is_get) && !gbx_http_accepts(accept, "text/event-stream"))
        return refuse(c, 406, NULL, "Accept must have text/event-stream");
    if (is_post && !gbx_http_accepts(accept, "application/json"))
        return refuse(c, 406, NULL, "Accept must have application/json");
    if (is_post &&
        (type == NULL || !is_name(type, strcspn(type, "; \t"), "application/json")))
        return refuse(c, 415, NULL, "Content-Type must be application/json");
    return true;
}

gbx_http_verdict gbx_http_admit(const gbx_http_options *o, gbx_http_connection *c,
                                const gbx_http_request *r, gbx_http_caller *ret)
{
    const char *field = gbx_http_field_of(r, "authorization");
    gbx_http_admission a = {401, "WWW-Authenticate: Bearer\r\n",
                            "the token is missing or wrong"};

    if (o->access != NULL)
        a = o->access->admit(o->access, field, ret);
    else if (has_token(o, field))
        a = (gbx_http_admission){0};
    if (a.status == GBX_HTTP_PENDING)
        return GBX_HTTP_UNDECIDED;
    return a.status == 0 || refuse(c, a.status, a.fields, a.why) ? GBX_HTTP_GO_ON
                                                                 : GBX_HTTP_ANSWERED;
}

bool gbx_http_check_call(const gbx_http_options *o, gbx_http_connection *c,
                         const gbx_http_caller *caller, const gbx_rpc_message *message)
{
    gbx_http_admission a = {0};
    char tool[TOOL_MAX] = "";

    if (o->access != NULL && message == NULL)
        a = o->access->call(o->access, caller, NULL);
    else if (o->access != NULL && message->kind == GBX_RPC_REQUEST &&
             strcmp(message->method, "tools/call") == 0 &&
             gbx_rpc_copy_text(gbx_view_member(message->payload, "name"), tool,
                               sizeof tool))
        a = o->access->call(o->access, caller, tool);
    return a.status == 0 || refuse(c, a.status, a.fields, a.why);
}

bool gbx_http_wants_metrics(const gbx_http_options *o, const gbx_http_request *r)
{
    return o->metrics != NULL && strcmp(r->path, GBX_HTTP_METRICS) == 0 &&
           strcmp(o->path, GBX_HTTP_METRICS) != 0 && strcmp(r->method, "GET") == 0 &&
           r->part != GBX_HTTP_IN_BODY;
}

gbx_http_verdict gbx_http_guard_head(const gbx_http_options *o, gbx_http_connection *c,
                                     const gbx_http_request *r)
{
    const char *document = o->access != NULL && strcmp(r->method, "GET") == 0
                               ? o->access->document(o->access, r->path)
                               : NULL;
    const char *host = gbx_http_field_of(r, "host");
    const char *origin = gbx_http_field_of(r, "origin");
    gbx_http_caller caller;
    gbx_http_verdict verdict;

    /* A page of another site may have sent it. */
    if (!is_our_host(o, gbx_http_listener_of(c), host)) {
        (void)refuse(c, 403, NULL, "the Host field names another server");
        return GBX_HTTP_ANSWERED;
    }
    if (origin != NULL && !is_our_origin(o, origin, host)) {
        (void)refuse(c, 403, NULL, "the Origin is not allowed");
        return GBX_HTTP_ANSWERED;
    }
    if (document != NULL) {
        gbx_http_reply(c, 200, NULL, "application/json", document, strlen(document));
        return GBX_HTTP_ANSWERED;
    }
    verdict = gbx_http_admit(o, c, r, &caller);
    if (verdict != GBX_HTTP_GO_ON)
        return verdict;
    if (gbx_http_wants_metrics(o, r))
        return GBX_HTTP_GO_ON;
    if (strcmp(r->path, o->path) != 0)
        (void)refuse(c, 404, NULL, "nothing is served at this path");
    else if (check_method(c, r))
        return GBX_HTTP_GO_ON;
    return GBX_HTTP_ANSWERED;
}

/* ---- versions ---------------------------------------------------------------------- */

#define VERSION_FIELD "mcp-protocol-version"

bool gbx_http_is_modern(const gbx_http_request *r, const gbx_rpc_message *message)
{
    const char *version = gbx_http_field_of(r, VERSION_FIELD);

    if (version != NULL && strcmp(version, GBX_MCP_MODERN) == 0)
        return true;
    return message != NULL &&
           gbx_view_member(gbx_view_member(message->payload, "_meta"),
                           GBX_MCP_META_PREFIX "protocolVersion")
                   .at != NULL;
}

bool gbx_http_check_legacy(gbx_http_connection *c, const gbx_http_request *r)
{
    const char *version = gbx_http_field_of(r, VERSION_FIELD);

    return version == NULL ||
           gbx_text_is_listed(GBX_MCP_LEGACY, version, strlen(version)) ||
           refuse(c, 400, NULL, "unsupported MCP-Protocol-Version");
}

/* True if the field has the value in the body. It may be in base64, for characters that
 * a field cannot hold. */
static bool is_field(const gbx_http_request *r, const char *name, gbx_view value)
{
    const char *field = gbx_http_field_of(r, name);
    size_t len = field != NULL ? strlen(field) : 0;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf given = {.ceiling = GBX_HTTP_HEAD_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf wanted = {.ceiling = GBX_HTTP_HEAD_MAX};

    if (field == NULL || !gbx_view_take_text(value, &wanted) ||
        !gbx_buf_append(&given, field, len))
        return false;
    if (len >= 11 && memcmp(field, "=?base64?", 9) == 0 &&
        memcmp(field + len - 2, "?=", 2) == 0 &&
        !gbx_base64_decode(field + 9, len - 11, given.data, &given.len))
        return false;
    return given.len == wanted.len &&
           (wanted.len == 0 || memcmp(given.data, wanted.data, wanted.len) == 0);
}

bool gbx_http_check_modern(gbx_http_connection *c, const gbx_http_request *r,
                           const gbx_rpc_message *m)
{
    static const char *const in_params[] = {"_meta", "name", "uri"};
    static const char *const in_meta[] = {GBX_MCP_META_PREFIX "protocolVersion",
                                          GBX_MCP_META_PREFIX "clientCapabilities",
                                          "progressToken"};
    gbx_view params[GBX_COUNTOF(in_params)];
    gbx_view meta[GBX_COUNTOF(in_meta)];
    bool all_once =
        gbx_view_once(m->payload, in_params, GBX_COUNTOF(in_params), params);
    bool has_name =
        strcmp(m->method, "tools/call") == 0 || strcmp(m->method, "prompts/get") == 0;
    /* The member of params that Mcp-Name repeats. */
    const char *named = has_name                                   ? "name"
                        : strcmp(m->method, "resources/read") == 0 ? "uri"
                                                                   : NULL;
    const char *method = gbx_http_field_of(r, "mcp-method");
    const char *fault = NULL;
    int code = HEADER_MISMATCH;

    all_once =
        gbx_view_once(params[0], in_meta, GBX_COUNTOF(in_meta), meta) && all_once;
    if (m->kind == GBX_RPC_REQUEST &&
        (gbx_view_kind(meta[0]) != '"' || gbx_view_kind(meta[1]) != '{')) {
        code = GBX_RPC_INVALID_PARAMS;
        fault = "_meta must have " GBX_MCP_META_PREFIX "protocolVersion, a string, "
                "and " GBX_MCP_META_PREFIX "clientCapabilities, an object";
    } else if (!all_once) {
        code = GBX_RPC_INVALID_REQUEST;
        fault = "a member is there twice";
    } else if (meta[0].at != NULL && !is_field(r, VERSION_FIELD, meta[0])) {
        fault = "MCP-Protocol-Version is not the version in _meta";
    } else if (method == NULL || strcmp(method, m->method) != 0) {
        fault = "Mcp-Method is not the method";
    } else if (named != NULL && m->kind == GBX_RPC_REQUEST &&
               !is_field(r, "mcp-name", gbx_view_member(m->payload, named))) {
        fault = "Mcp-Name is not the name in params";
    }
    if (fault != NULL)
        gbx_http_reply_error(c, 400, NULL, m->id, code, fault);
    return fault == NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * session_start - finds out the era of a server. A process is asked to initialize
 * first: some die of any other request, or stay silent. If it refuses, whatever its
 * code, server/discover follows. An address is asked in the reverse order, since an
 * unknown request does it no harm.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSUPPORTED_VERSION (-32022)

static const char *const legacy_versions[] = {
    "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07",
};

/* Among the bits of gbx_session.versions: the modern version was asked for a second time. */
#define MODERN_AGAIN (1u << GBX_COUNTOF(legacy_versions))

static bool is_legacy(gbx_view version)
{
    for (size_t i = 0; i < GBX_COUNTOF(legacy_versions); i++)
        if (gbx_view_is_text(version, legacy_versions[i]))
            return true;
    return false;
}

/* Copy a text without values of secrets; "" if it is too long, or not a text. */
static void copy_fact(const gbx_session *s, gbx_view view, char *to, size_t size)
{
    char text[256];

    *to = 0;
    if (gbx_rpc_copy_text(view, text, size))
        gbx_redact_copy(s->server->all->yard.secrets, text, to, size);
}

/* Its name and capabilities: the same members in both eras, in different places. */
static void note_facts(gbx_session *s, gbx_view result, gbx_view info)
{
    static const struct {
        const char *name;
        const char *flag; /* NULL: the name alone */
        gbx_upstream_has has;
    } rows[] = {
        {"resources", NULL, GBX_HAS_RESOURCES},
        {"prompts", NULL, GBX_HAS_PROMPTS},
        {"completions", NULL, GBX_HAS_COMPLETIONS},
        {"tools", "listChanged", GBX_TELLS_TOOLS},
        {"resources", "listChanged", GBX_TELLS_RESOURCES},
        {"prompts", "listChanged", GBX_TELLS_PROMPTS},
        {"resources", "subscribe", GBX_TELLS_UPDATES},
        {"tasks", NULL, GBX_HAS_TASKS},
        {"extensions", GBX_TASKS, GBX_HAS_TASKS},
    };
    gbx_view capabilities = gbx_view_member(result, "capabilities");

    copy_fact(s, gbx_view_member(info, "name"), s->facts.server_name,
              sizeof s->facts.server_name);
    copy_fact(s, gbx_view_member(info, "version"), s->facts.server_version,
              sizeof s->facts.server_version);
    s->tells_tools = gbx_view_kind(gbx_view_member(capabilities, "tools")) == '{';
    s->facts.has = 0;
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_view one = gbx_view_member(capabilities, rows[i].name);

        if (rows[i].flag != NULL)
            one = gbx_view_member(one, rows[i].flag);
        if (gbx_view_kind(one) == '{' || gbx_view_is_true(one))
            s->facts.has |= rows[i].has;
    }
}

static bool ask_to_initialize(gbx_session *s)
{
    const gbx_upstream_hooks *hooks = &s->server->all->hooks;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf params = {.ceiling = GBX_KIB(1)};

    s->is_modern = false;
    s->may_ask = hooks->can_ask != NULL ? hooks->can_ask(hooks->user) : 0;
    s->may_ask &= gbx_upstream_may_ask(s->server->config);
    gbx_json_put_text(&params, "protocolVersion", legacy_versions[s->version]);
    gbx_mcp_asking_put(&params, "capabilities", s->may_ask, NULL);
    gbx_json_put_json(&params, "clientInfo", GBX_CLIENT_INFO,
                      sizeof GBX_CLIENT_INFO - 1);
    s->versions |= 1u << s->version;
    return gbx_session_ask(s, GBX_ASK_INITIALIZE, "initialize",
                           gbx_rpc_string(&params));
}

static bool ask_to_discover(gbx_session *s)
{
    s->is_modern = true;
    return gbx_session_ask(s, GBX_ASK_DISCOVER, "server/discover", "");
}

static void fail_version(gbx_session *s, gbx_view supported)
{
    char why[256];

    (void)snprintf(why, sizeof why,
                   "it speaks no version of MCP that is known here: %.*s",
                   supported.len < 128 ? (int)supported.len : 0, supported.at);
    s->remedy = GBX_REMEDY_REPAIR; /* unless it answers the other request */
    gbx_session_on_no_initialize(s, why);
}

static void become(gbx_session *s, const char *version, bool is_modern)
{
    s->remedy = GBX_REMEDY_NONE;
    s->is_modern = is_modern;
    (void)snprintf(s->facts.version, sizeof s->facts.version, "%s", version);
    if (s->link->ops->agree != NULL)
        s->link->ops->agree(s->link, version, is_modern);
    s->phase = GBX_PHASE_LISTING;
    if (!is_modern)
        (void)gbx_session_send_method(s, 0, "notifications/initialized", NULL, "");
    gbx_session_list(s);
}

/* With the older HTTP+SSE transport, every server is of the legacy era. */
static bool begins_with_initialize(const gbx_session *s)
{
    return s->is_process || s->server->config->transport == GBX_MCP_SSE;
}

/* ---- called by other files of the session --------------------------------- */

bool gbx_session_begin(gbx_session *s)
{
    (void)snprintf(s->facts.version, sizeof s->facts.version, "%s", GBX_MCP_MODERN);
    return begins_with_initialize(s) ? ask_to_initialize(s) : ask_to_discover(s);
}

void gbx_session_on_no_discover(gbx_session *s)
{
    if (begins_with_initialize(s))
        gbx_session_lose(s, s->refusal);
    else if (s->phase == GBX_PHASE_ASKING && !ask_to_initialize(s))
        gbx_session_lose(s, "it does not take the first message");
}

void gbx_session_on_no_initialize(gbx_session *s, const char *why)
{
    if (!s->is_process || s->refusal[0] != 0) {
        gbx_session_lose(s, why);
        return;
    }
    (void)snprintf(s->refusal, sizeof s->refusal, "%s", why);
    if (!ask_to_discover(s))
        gbx_session_lose(s, why);
}

bool gbx_session_ask_other_version(gbx_session *s, const char *words, size_t len)
{
    for (unsigned i = 0; i < GBX_COUNTOF(legacy_versions); i++) {
        const char *version = legacy_versions[i];

        if ((s->versions & (1u << i)) != 0 ||
            memmem(words, len, version, strlen(version)) == NULL)
            continue;
        gbx_session_log(s, "it is asked to begin in %s, which it names", version);
        s->version = i;
        if (!ask_to_initialize(s))
            gbx_session_lose(s, "it does not take the first message");
        return true;
    }
    return false;
}

void gbx_session_on_discover(gbx_session *s, const gbx_rpc_message *message)
{
    gbx_view versions = gbx_view_member(message->payload, "supportedVersions");
    gbx_view data = gbx_view_member(message->payload, "data");
    gbx_view info = gbx_view_member(gbx_view_member(message->payload, "_meta"),
                                    "io.modelcontextprotocol/serverInfo");
    bool has_modern = false;
    bool has_legacy = false;
    size_t cursor = 0;
    gbx_view none;
    gbx_view item;

    if (s->phase != GBX_PHASE_ASKING)
        return;
    if (message->kind == GBX_RPC_ERROR &&
        gbx_rpc_error_code(message->payload) == UNSUPPORTED_VERSION)
        versions = gbx_view_member(data, "supported");
    while (gbx_view_next(versions, &cursor, &none, &item)) {
        has_modern = has_modern || gbx_view_is_text(item, GBX_MCP_MODERN);
        has_legacy = has_legacy || is_legacy(item);
    }
    if (message->kind != GBX_RPC_ERROR && has_modern) {
        note_facts(s, message->payload, info);
        become(s, GBX_MCP_MODERN, true);
    } else if (has_modern && (s->versions & MODERN_AGAIN) == 0) {
        s->versions |= MODERN_AGAIN; /* it names the version that it refused */
        if (!ask_to_discover(s))
            gbx_session_lose(s, "it does not take the first message");
    } else if (has_legacy || gbx_view_kind(versions) != '[') {
        gbx_session_on_no_discover(s);
    } else {
        fail_version(s, versions);
    }
}

void gbx_session_on_initialize(gbx_session *s, const gbx_rpc_message *message)
{
    char version[GBX_VERSION_TEXT_MAX];
    char text[200] = "";
    char why[256];
    gbx_view said = gbx_view_member(message->payload, "protocolVersion");

    if (s->phase != GBX_PHASE_ASKING)
        return;
    if (message->kind == GBX_RPC_ERROR &&
        gbx_session_ask_other_version(s, message->payload.at, message->payload.len)) {
        return;
    } else if (message->kind == GBX_RPC_ERROR) {
        (void)gbx_rpc_copy_text(gbx_rpc_error_message(message->payload), text,
                                sizeof text);
        (void)snprintf(why, sizeof why, "it refused to begin: %s", text);
        gbx_session_on_no_initialize(s, why);
    } else if (!gbx_rpc_copy_text(said, version, sizeof version) || !is_legacy(said)) {
        fail_version(s, said);
    } else {
        note_facts(s, message->payload,
                   gbx_view_member(message->payload, "serverInfo"));
        become(s, version, false);
    }
}

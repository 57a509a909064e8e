/* SPDX-License-Identifier: MIT */
/*
 * session_start - of which era is it? server/discover is answered by the modern ones; any
 * other answer, whatever its code, and silence too, mean that initialize is due.
 */
#include "mcp/upstream/session_parts.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSUPPORTED_VERSION (-32022)

static const char *const legacy_versions[] = {
    "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07",
};

static bool is_legacy_version(const char *version)
{
    for (size_t i = 0; i < GBX_COUNTOF(legacy_versions); i++)
        if (strcmp(version, legacy_versions[i]) == 0)
            return true;
    return false;
}

static bool names_version(gbx_view list, const char *version)
{
    size_t cursor = 0;
    gbx_view none;
    gbx_view item;

    while (gbx_view_next(list, &cursor, &none, &item))
        if (gbx_view_is_text(item, version))
            return true;
    return false;
}

static bool names_legacy(gbx_view list)
{
    for (size_t i = 0; i < GBX_COUNTOF(legacy_versions); i++)
        if (names_version(list, legacy_versions[i]))
            return true;
    return false;
}

static void copy_text(gbx_view view, char *to, size_t size)
{
    if (!gbx_rpc_copy_text(view, to, size))
        *to = 0;
}

/* Who it is and what it can; the same members in both eras, in different places. */
static bool note_facts(gbx_session *s, gbx_view result, gbx_view info)
{
    gbx_view tools = gbx_view_member(gbx_view_member(result, "capabilities"), "tools");
    gbx_view instructions = gbx_view_member(result, "instructions");
    gbx_buf text;

    copy_text(gbx_view_member(info, "name"), s->facts.server_name,
              sizeof s->facts.server_name);
    copy_text(gbx_view_member(info, "version"), s->facts.server_version,
              sizeof s->facts.server_version);
    s->tells_tools = gbx_view_kind(tools) == '{';
    s->tells_changes = gbx_view_is_true(gbx_view_member(tools, "listChanged"));
    gbx_buf_init(&text, GBX_KIB(256));
    if (gbx_view_kind(instructions) != '"' ||
        !gbx_view_take_text(instructions, &text) ||
        (text.len > 0 && memchr(text.data, 0, text.len) != NULL)) {
        gbx_buf_cleanup(&text);
        gbx_buf_init(&text, 1);
    }
    free(s->facts.instructions);
    s->facts.instructions = gbx_buf_take_string(&text, NULL);
    if (s->facts.instructions == NULL)
        s->facts.instructions = strdup("");
    return s->facts.instructions != NULL;
}

static bool ask_to_initialize(gbx_session *s)
{
    char params[256];

    s->facts.is_modern = false;
    (void)snprintf(params, sizeof params,
                   "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":"
                   "{\"name\":\"glovebox\",\"version\":\"" GBX_VERSION "\"}",
                   legacy_versions[s->version]);
    s->versions |= 1u << s->version;
    return gbx_session_ask(s, GBX_ASK_INITIALIZE, "initialize", params) != 0;
}

static bool ask_to_discover(gbx_session *s)
{
    s->facts.is_modern = true;
    return gbx_session_ask(s, GBX_ASK_DISCOVER, "server/discover", "") != 0;
}

/* Its answer was lost. Once: a server that loses two has no other. */
static void ask_again(gbx_session *s, gbx_ask ask)
{
    if (s->was_asked_again)
        return;
    s->was_asked_again = true;
    if (ask == GBX_ASK_DISCOVER ? !ask_to_discover(s) : !ask_to_initialize(s))
        gbx_session_lose(s, "it does not take the first message");
}

static bool is_asked(const gbx_session *s, gbx_ask ask)
{
    const gbx_pending *p = s->pending;

    while (p != NULL && p->ask != ask)
        p = p->next;
    return p != NULL;
}

static void wait_for_silence(gbx_session *s)
{
    uint32_t silence_ms = gbx_timeout_ms(GBX_TIMEOUT_SILENCE);
    uint32_t ms =
        s->options.start_ms / 3 < silence_ms ? s->options.start_ms / 3 : silence_ms;

    (void)event_add(s->silence_timer,
                    &(struct timeval){ms / 1000, (suseconds_t)(ms % 1000) * 1000});
}

static void fail_version(gbx_session *s, gbx_view supported)
{
    char why[256];
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf list = {0};

    gbx_buf_init(&list, 128);
    if (supported.at != NULL && supported.len < 128)
        (void)gbx_buf_append(&list, supported.at, supported.len);
    (void)snprintf(why, sizeof why,
                   "it speaks no version of MCP that is known here: %.*s",
                   (int)list.len, list.len > 0 ? (const char *)list.data : "");
    /* What was remembered of its era may be why: then it is asked the other question. */
    s->facts.is_lasting = s->options.hint == GBX_ERA_ASK && !s->knows_modern;
    gbx_session_on_no_initialize(s, why);
}

static void become(gbx_session *s, const char *version, bool is_modern)
{
    (void)event_del(s->silence_timer);
    if (s->misframed != NULL) /* it was not what is read */
        (void)event_add(s->start_timer,
                        &(struct timeval){.tv_sec = s->options.start_ms / 1000 + 1});
    s->misframed = NULL;
    s->facts.is_modern = is_modern;
    (void)snprintf(s->facts.version, sizeof s->facts.version, "%s", version);
    s->link->ops->agree(s->link, version, is_modern);
    s->phase = GBX_PHASE_LISTING;
    if (!is_modern)
        gbx_session_notify(s, "notifications/initialized", "");
    gbx_session_list(s);
}

/* ---- the rest of the session ---------------------------------------------- */

bool gbx_session_begin(gbx_session *s)
{
    (void)snprintf(s->facts.version, sizeof s->facts.version, "%s", GBX_MODERN_VERSION);
    if (s->options.hint == GBX_ERA_LEGACY)
        return ask_to_initialize(s);
    if (s->link->ops->is_silence_an_answer)
        wait_for_silence(s);
    return ask_to_discover(s);
}

void gbx_session_on_no_discover(gbx_session *s)
{
    (void)event_del(s->silence_timer);
    if (s->phase == GBX_PHASE_ASKING && !ask_to_initialize(s))
        gbx_session_lose(s, "it does not take the first message");
}

void gbx_session_on_no_initialize(gbx_session *s, const char *why)
{
    if (s->knows_modern)
        become(s, GBX_MODERN_VERSION, true);
    else
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

void gbx_session_on_silence(gbx_session *s)
{
    if (s->phase != GBX_PHASE_ASKING)
        return;
    if (s->knows_modern) {
        become(s, GBX_MODERN_VERSION, true);
    } else if (!s->was_silent) {
        s->was_silent = true;
        gbx_session_on_no_discover(s);
    }
}

void gbx_session_on_lost(gbx_session *s, int64_t id)
{
    gbx_pending *p = gbx_session_take(s, id);

    if (p != NULL)
        ask_again(s, p->ask);
    free(p);
}

void gbx_session_on_discover(gbx_session *s, const gbx_rpc_message *message)
{
    gbx_view versions = gbx_view_member(message->payload, "supportedVersions");
    gbx_view data = gbx_view_member(message->payload, "data");
    gbx_view info = gbx_view_member(gbx_view_member(message->payload, "_meta"),
                                    "io.modelcontextprotocol/serverInfo");

    if (s->phase != GBX_PHASE_ASKING)
        return;
    if (message->kind == GBX_RPC_ERROR &&
        gbx_rpc_error_code(message->payload) == UNSUPPORTED_VERSION) {
        versions = gbx_view_member(data, "supported");
        if (names_legacy(versions))
            gbx_session_on_no_discover(s);
        else
            fail_version(s, versions);
        return;
    }
    if (message->kind == GBX_RPC_ERROR || gbx_view_kind(versions) != '[') {
        if (!s->was_silent)
            gbx_session_on_no_discover(s);
        else if (!is_asked(s, GBX_ASK_INITIALIZE)) /* it has refused that, too */
            gbx_session_lose(s, "it refused to begin");
        return;
    }
    if (!names_version(versions, GBX_MODERN_VERSION)) {
        if (names_legacy(versions))
            gbx_session_on_no_discover(s);
        else
            fail_version(s, versions);
        return;
    }
    if (!note_facts(s, message->payload, info)) {
        gbx_session_lose(s, "out of memory");
    } else if (is_asked(s, GBX_ASK_INITIALIZE)) {
        /* A server of both eras is of the one that it was begun in. */
        s->knows_modern = true;
        wait_for_silence(s);
    } else {
        become(s, GBX_MODERN_VERSION, true);
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
    if (message->kind == GBX_RPC_ERROR && is_asked(s, GBX_ASK_DISCOVER)) {
        gbx_session_log(s,
                        "initialize was refused: it may be of the other era, and slow");
        ask_again(s, GBX_ASK_DISCOVER);
    } else if (message->kind == GBX_RPC_ERROR &&
               gbx_session_ask_other_version(s, message->payload.at,
                                             message->payload.len)) {
        return;
    } else if (message->kind == GBX_RPC_ERROR) {
        copy_text(gbx_rpc_error_message(message->payload), text, sizeof text);
        (void)snprintf(why, sizeof why, "it refused to begin: %s", text);
        gbx_session_on_no_initialize(s, why);
    } else if (!gbx_rpc_copy_text(said, version, sizeof version) ||
               !is_legacy_version(version)) {
        fail_version(s, said);
    } else if (!note_facts(s, message->payload,
                           gbx_view_member(message->payload, "serverInfo"))) {
        gbx_session_lose(s, "out of memory");
    } else {
        become(s, version, false);
    }
}

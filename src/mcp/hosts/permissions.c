/* SPDX-License-Identifier: MIT */
/*
 * permissions - tools of a server that its host does not let be called, or asks about.
 *
 * Behind us the host sees our tools alone, and what it says of others means nothing any
 * more. What it allows is not taken over: without it a person is asked once more.
 */
#include "mcp/hosts/take.h"

#include "base/cleanup.h"
#include "mcp/rules/glob.h"

#include <stdio.h>
#include <string.h>

/* Claude Code writes '_' for each character that a name must not have. */
static void clean(const char *name, char *out, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";

    (void)snprintf(out, size, "%s", name);
    for (; *out != '\0'; out++)
        if (strchr(letters, *out) == NULL)
            *out = '_';
}

/* "mcp__*__tool": a server of any of several names. */
static const char *tool_of_pattern(const char *pattern, const char *server)
{
    char servers[256];
    const char *end =
        strncmp(pattern, "mcp__", 5) == 0 ? strstr(pattern + 5, "__") : NULL;

    if (end == NULL ||
        snprintf(servers, sizeof servers, "%.*s", (int)(end - pattern - 5),
                 pattern + 5) >= (int)sizeof servers ||
        strchr(servers, '*') == NULL || !gbx_glob_name(servers, server, GBX_GLOB_EXACT))
        return NULL;
    return end + 2;
}

/* What a pattern of Claude Code's says of that server's tools; NULL: nothing. */
static const char *tool_of(const char *pattern, const char *server)
{
    char full[256];
    size_t len = (size_t)snprintf(full, sizeof full, "mcp__%s__", server);
    size_t plain = strcspn(pattern, "*");

    if (len >= sizeof full)
        return NULL;
    if (strncmp(pattern, full, len) == 0)
        return pattern[len] != '\0' ? pattern + len : "*";
    /* "mcp__server", or a star that takes all of that. */
    if (strncmp(pattern, full, plain) == 0 &&
        (pattern[plain] == '\0' ? plain == len - 2 : pattern[plain + 1] == '\0'))
        return "*";
    return tool_of_pattern(pattern, server);
}

/* A tool as a pattern of ours. What is '_' in Claude Code may be another character. */
static void add_tool(json_t *tools, const char *tool, bool is_pattern)
{
    char text[2 * GBX_GLOB_MAX + 1];
    size_t len = 0;

    for (; *tool != '\0' && len + 2 < sizeof text; tool++) {
        if (*tool == '?' || *tool == '\\' || (*tool == '*' && !is_pattern))
            text[len++] = '\\';
        text[len++] = (char)(*tool == '_' && is_pattern ? '?' : *tool);
    }
    (void)json_array_append_new(tools, json_stringn(text, len));
}

static void add_claude(json_t *tools, const json_t *patterns, const char *name)
{
    char server[256];
    const char *pattern;
    json_t *file;

    clean(name, server, sizeof server);
    json_object_foreach((json_t *)(uintptr_t)patterns, pattern, file)
    {
        const char *tool = tool_of(pattern, server);

        if (tool != NULL)
            add_tool(tools, tool, true);
    }
}

static void add_codex(json_t *tools, const json_t *names)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (json_is_string(json_array_get(names, i)))
            add_tool(tools, json_string_value(json_array_get(names, i)), false);
}

static bool asks(const json_t *mode)
{
    return json_is_string(mode) && strcmp(json_string_value(mode), "prompt") == 0;
}

/* Of a server, or of single tools. Its other modes ask about no more than we do. */
static void add_codex_asked(json_t *tools, const json_t *entry)
{
    const char *name;
    json_t *tool;

    if (asks(json_object_get(entry, "default_tools_approval_mode")))
        add_tool(tools, "*", true);
    json_object_foreach(json_object_get(entry, "tools"), name, tool)
    {
        if (asks(json_object_get(tool, "approval_mode")))
            add_tool(tools, name, false);
    }
}

static bool has_all(const json_t *tools)
{
    for (size_t i = 0; i < json_array_size(tools); i++)
        if (strcmp(json_string_value(json_array_get(tools, i)), "*") == 0)
            return true;
    return false;
}

/* tools is owned from now on; none of them is no rule. */
static void add_rule(json_t *rules, const char *action, const char *server,
                     json_t *tools)
{
    json_t *rule = json_pack("{s:s,s:s}", "action", action, "server", server);

    if (json_array_size(tools) == 1 && !has_all(tools))
        (void)json_object_set(rule, "tool", json_array_get(tools, 0));
    else if (!has_all(tools))
        (void)json_object_set(rule, "tool", tools);
    if (json_array_size(tools) > 0)
        (void)json_array_append(rules, rule);
    json_decref(rule);
    json_decref(tools);
}

/* ---- public to other modules -------------------------------------------- */

json_t *gbx_host_rules(const gbx_host_place *place, const gbx_host_answers *answers,
                       const char *name, const json_t *entry, const char *ours)
{
    json_t *rules = json_array();
    json_t *denied = json_array();
    json_t *asked = json_array();

    if (place->host == GBX_HOST_CODEX) {
        add_codex(denied, json_object_get(entry, "disabled_tools"));
        add_codex_asked(asked, entry);
    }
    add_claude(denied, answers->denied, name);
    add_claude(asked, answers->asked, name);
    add_rule(rules, "deny", ours, denied);
    add_rule(rules, "ask", ours, asked);
    return rules;
}

const json_t *gbx_host_only(const gbx_host_place *place, const json_t *entry)
{
    const json_t *only = json_object_get(entry, "enabled_tools");

    return place->host == GBX_HOST_CODEX && json_is_array(only) ? only : NULL;
}

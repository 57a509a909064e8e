/* SPDX-License-Identifier: MIT */
/* known_names - server names come from the configuration, tool names from what servers
 * have listed. */
#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/json.h"
#include "base/utf8.h"
#include "guard/tree.h"
#include "mcp/code/code_mode.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SERVERS_MAX 512 /* searched for the nearest name */
#define NAMED_MAX   20  /* named in one message */
#define MEANT_MAX   5
#define NAME_SIZE   (GBX_TOOL_NAME_MAX + 1)

/* Letters and digits in lower case: the same for readFile and read_file. */
static void fold(const char *name, char ret[NAME_SIZE])
{
    size_t n = 0;

    for (; *name != 0 && n < GBX_TOOL_NAME_MAX; name++)
        if (isalnum((unsigned char)*name))
            ret[n++] = (char)tolower((unsigned char)*name);
    ret[n] = 0;
}

struct names {
    char *list[GBX_TOOLS_MAX];
    size_t count;
};

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
}

static void read_names(gbx_view tools, struct names *ret)
{
    size_t cursor = 0;
    gbx_view key;
    gbx_view tool;

    ret->count = 0;
    while (ret->count < GBX_TOOLS_MAX && gbx_view_next(tools, &cursor, &key, &tool)) {
        char name[NAME_SIZE];

        if (!gbx_code_take_name(gbx_view_member(tool, "name"), name, sizeof name))
            continue;
        ret->list[ret->count] = strdup(name);
        if (ret->list[ret->count] != NULL)
            ret->count++;
    }
}

/* List the servers that code may see; returns their number. */
static size_t list_servers(const gbx_mcp_code *code, const char *ret[SERVERS_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < code->config->server_count && count < SERVERS_MAX; i++)
        if (gbx_code_is_listed(&code->config->servers[i]))
            ret[count++] = code->config->servers[i].name;
    return count;
}

static void say_unknown(const gbx_mcp_code *code, const char *name, gbx_buf *message)
{
    const char *names[SERVERS_MAX] = {NULL};
    const char *near = gbx_nearest_name(name, names, list_servers(code, names));

    (void)gbx_buf_printf(message, "unknown server '%.64s'", name);
    if (near != NULL)
        (void)gbx_buf_printf(message, ": did you mean '%s'?", near);
    (void)gbx_buf_puts(message, " (");
    gbx_code_put_servers(code, message);
    (void)gbx_buf_puts(message, ")");
}

static bool has_name(const struct names *names, const char *tool)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i], tool) == 0)
            return true;
    return false;
}

/* Other hosts prefix a tool with its server's name: files.read, mcp__files__read. */
static const char *without_server(const char *server, const char *tool)
{
    size_t len = strlen(server);
    const char *name = strncmp(tool, "mcp__", 5) == 0 ? tool + 5 : tool;
    const char *rest;

    if (strncmp(name, server, len) != 0)
        return tool;
    rest = name + len + strspn(name + len, "._-/:");
    return rest > name + len && *rest != 0 ? rest : tool;
}

/* A server's name as an identifier after a dot. */
static char *as_word(const char *name)
{
    char *word = strdup(name);

    for (char *at = word; at != NULL && *at != 0; at++)
        if (!gbx_text_is_name((unsigned char)*at) || *at == '$')
            *at = '_';
    return word;
}

/* Name the nearest tool of each server; nothing if some server has that tool. */
static void no_tool_anywhere(const gbx_mcp_code *code, const char *tool,
                             gbx_buf *message)
{
    size_t before = message->len;
    size_t meant = 0;

    (void)gbx_buf_printf(message, "no server has a tool '%.256s'", tool);
    for (size_t i = 0; i < gbx_upstreams_count(code->upstreams); i++) {
        gbx_upstream_info info = gbx_upstreams_info(code->upstreams, i);
        struct names names;
        const char *near;
        bool is_there;

        read_names(info.tools, &names);
        is_there = has_name(&names, tool);
        near = gbx_nearest_name(tool, (const char *const *)names.list, names.count);
        if (near != NULL && meant < MEANT_MAX)
            (void)gbx_buf_printf(message, "%s'%s.%s'",
                                 meant++ == 0 ? ": did you mean " : " or ", info.name,
                                 near);
        free_names(&names);
        if (is_there) {
            message->len = before;
            return;
        }
    }
    (void)gbx_buf_puts(message, meant > 0 ? "?" : "");
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_code_is_listed(const gbx_mcp_upstream_config *server)
{
    return !server->disabled || server->fault != NULL;
}

const gbx_mcp_upstream_config *gbx_code_find_server(const gbx_mcp_code *code,
                                                    const char *name, gbx_buf *message,
                                                    const char **ret_code)
{
    const gbx_mcp_upstream_config *found = gbx_mcp_config_server(code->config, name);

    *ret_code = found != NULL && found->fault != NULL ? "UPSTREAM_START" : "NOT_FOUND";
    if (found != NULL && !found->disabled)
        return found;
    if (found == NULL)
        say_unknown(code, name, message);
    else if (found->fault != NULL)
        (void)gbx_buf_printf(message, "the server '%s' cannot start: %s", found->name,
                             found->fault);
    else
        (void)gbx_buf_printf(message,
                             "the server '%s' is disabled in the configuration",
                             found->name);
    return NULL;
}

bool gbx_code_info(const gbx_mcp_code *code, const char *server, gbx_upstream_info *ret)
{
    for (size_t i = 0; i < gbx_upstreams_count(code->upstreams); i++) {
        gbx_upstream_info info = gbx_upstreams_info(code->upstreams, i);

        if (strcmp(info.name, server) != 0)
            continue;
        *ret = info;
        return true;
    }
    return false;
}

const char *gbx_code_meant_server(const gbx_mcp_code *code, const char *name)
{
    const char *found = NULL;
    char wanted[NAME_SIZE];

    fold(name, wanted);
    for (size_t i = 0; i < code->config->server_count; i++) {
        const gbx_mcp_upstream_config *server = &code->config->servers[i];
        char other[NAME_SIZE];

        if (!gbx_code_is_listed(server))
            continue;
        if (strcmp(server->name, name) == 0)
            return server->name;
        fold(server->name, other);
        if (found == NULL && wanted[0] != 0 && strcmp(other, wanted) == 0)
            found = server->name;
    }
    return found;
}

void gbx_code_put_servers(const gbx_mcp_code *code, gbx_buf *to)
{
    const char *names[SERVERS_MAX] = {NULL};
    size_t count = list_servers(code, names);

    (void)gbx_buf_puts(to, count > 0 ? "there are:" : "there are none");
    for (size_t i = 0; i < count && i < NAMED_MAX; i++)
        (void)gbx_buf_printf(to, "%s %s", i > 0 ? "," : "", names[i]);
    (void)gbx_buf_puts(to, count > NAMED_MAX ? ", ..." : "");
}

char *gbx_code_other_name(const gbx_mcp_code *code, const char *server,
                          const char *tool)
{
    gbx_upstream_info info;
    struct names names;
    char wanted[NAME_SIZE];
    char *found = NULL;
    unsigned fits = 0;

    if (!gbx_code_info(code, server, &info))
        return NULL;
    fold(tool, wanted);
    read_names(info.tools, &names);
    for (size_t i = 0; i < names.count; i++) {
        char other[NAME_SIZE];

        fold(names.list[i], other);
        if (strcmp(names.list[i], tool) == 0) {
            fits = 2; /* the name exists: something else was not found */
        } else if (strcmp(other, wanted) == 0) {
            fits++;
            free(found);
            found = strdup(names.list[i]);
        }
    }
    free_names(&names);
    if (fits == 1 && wanted[0] != 0)
        return found;
    free(found);
    return NULL;
}

void gbx_code_put_call(const gbx_mcp_code *code, const char *word, gbx_buf *to)
{
    size_t meant = 0;

    for (size_t i = 0; i < gbx_upstreams_count(code->upstreams) && meant < MEANT_MAX;
         i++) {
        gbx_upstream_info info = gbx_upstreams_info(code->upstreams, i);
        GBX_CLEANUP(gbx_free) char *alias = as_word(info.name);
        const char *tool = alias != NULL ? without_server(alias, word) : word;
        struct names names;

        read_names(info.tools, &names);
        if (alias != NULL &&
            (has_name(&names, tool) || (names.count == 0 && tool != word)))
            (void)gbx_buf_printf(to, "%sservers.%s.%s(args)",
                                 meant++ == 0 ? "did you mean " : " or ", alias, tool);
        free_names(&names);
    }
    (void)gbx_buf_puts(to, meant > 0 ? "?" : "");
}

void gbx_code_advise_call(void *user, const char *word, gbx_buf *to)
{
    const gbx_mcp_code *code = user;
    size_t meant = 0;

    for (size_t i = 0; i < gbx_upstreams_count(code->upstreams) && meant < MEANT_MAX;
         i++) {
        gbx_upstream_info info = gbx_upstreams_info(code->upstreams, i);
        const char *tool = without_server(info.name, word);
        struct names names;

        read_names(info.tools, &names);
        if (has_name(&names, tool) || (names.count == 0 && tool != word)) {
            (void)gbx_buf_puts(to, meant++ == 0 ? "call it by the tool 'call', with "
                                                : " or ");
            (void)gbx_buf_printf(to, "{\"server\": \"%s\", \"tool\": ", info.name);
            (void)gbx_json_append_safe(to, tool, strlen(tool));
            (void)gbx_buf_puts(to, ", \"args\": {...}}");
        }
        free_names(&names);
    }
    if (meant > 0)
        (void)gbx_buf_puts(to, ", or in the code of 'execute'");
}

void gbx_code_no_tool(const gbx_mcp_code *code, const char *server, const char *tool,
                      gbx_buf *message)
{
    gbx_upstream_info info;
    struct names names;
    const char *near;

    if (server[0] == 0) {
        no_tool_anywhere(code, tool, message);
        return;
    }
    if (!gbx_code_info(code, server, &info) || gbx_view_kind(info.tools) != '[')
        return;
    read_names(info.tools, &names);
    if (!has_name(&names, tool)) {
        near = gbx_nearest_name(without_server(server, tool),
                                (const char *const *)names.list, names.count);
        (void)gbx_buf_printf(message, "the server '%s' has no tool '%.256s'", server,
                             tool);
        if (near != NULL)
            (void)gbx_buf_printf(message, ": did you mean '%s'?", near);
        else
            (void)gbx_buf_printf(message,
                                 ": discover({ server: \"%s\" }) lists its tools",
                                 server);
    }
    free_names(&names);
}

bool gbx_code_take_name(gbx_view view, char *ret, size_t size)
{
    gbx_buf text;
    bool ok;

    gbx_buf_init(&text, size - 1);
    ok = gbx_view_kind(view) == '"' && gbx_view_append_text(view, &text) &&
         text.len > 0 && memchr(text.data, 0, text.len) == NULL;
    if (ok) {
        memcpy(ret, text.data, text.len);
        ret[text.len] = 0;
    }
    gbx_buf_cleanup(&text);
    return ok;
}

void gbx_code_put_fault(const gbx_mcp_code *code, const char *fault, gbx_buf *to)
{
    gbx_buf clean;

    gbx_buf_init(&clean, GBX_KIB(64));
    if (gbx_gate_redact(code->gate, fault, strlen(fault), &clean))
        (void)gbx_utf8_append_escaped(to, clean.data, clean.len, GBX_ESCAPE_LINE);
    else
        (void)gbx_buf_puts(to, "why cannot be shown");
    gbx_buf_cleanup(&clean);
}

bool gbx_code_is_long_name(gbx_view view)
{
    gbx_buf text;
    bool fits;

    if (gbx_view_kind(view) != '"' || view.len - 2 <= GBX_TOOL_NAME_MAX)
        return false;
    gbx_buf_init(&text, GBX_TOOL_NAME_MAX);
    fits = gbx_view_append_text(view, &text);
    gbx_buf_cleanup(&text);
    return !fits;
}

bool gbx_code_take_count(gbx_view view, uint32_t max, uint32_t *ret)
{
    uint64_t value = 0;

    if (gbx_view_kind(view) != '0' || view.at[0] == '-')
        return false;
    for (size_t i = 0; i < view.len; i++) {
        if (view.at[i] == '.' && i > 0)
            break; /* the fraction of a millisecond is dropped */
        if (view.at[i] < '0' || view.at[i] > '9')
            return false;
        if (value <= max)
            value = value * 10 + (uint64_t)(view.at[i] - '0');
    }
    *ret = value < max ? (uint32_t)value : max;
    return true;
}

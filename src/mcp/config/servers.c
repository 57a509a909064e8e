/* SPDX-License-Identifier: MIT */
/*
 * servers - reads the entries of upstream servers, as any MCP host writes them.
 *
 * Members of hosts that mean nothing here are skipped; those with a meaning must be
 * valid. A server with a wrong entry is disabled with a reason; the others stay usable.
 */
#include "mcp/config/config_reader.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/utf8.h"
#include "mcp/config/config.h"
#include "policy/policy.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ITEMS_MAX 1000 /* of args, env or headers */

/* An entry that is being read. */
typedef struct entry {
    gbx_mcp_upstream_config *server;
    const char *url; /* as written: its variables are not filled in */
    bool has_type;
} entry;

static void free_variables(gbx_mcp_variable *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gbx_wipe(list[i].value);
        free(list[i].name);
    }
    free(list);
}

static void free_parts(gbx_mcp_upstream_config *server)
{
    free(server->command);
    for (size_t i = 0; i < server->arg_count; i++)
        gbx_wipe(server->args[i]);
    free(server->args);
    free_variables(server->env, server->env_count);
    free(server->cwd);
    free(server->url);
    free_variables(server->headers, server->header_count);
    gbx_names_free(server->inherit, server->inherit_count);
    gbx_names_free(server->plain, server->plain_count);
    gbx_names_free(server->hidden, server->hidden_count);
    free(server->oauth.client_id);
    gbx_wipe(server->oauth.client_secret);
    free(server->oauth.issuer);
    free(server->oauth.client_url);
    free(server->description);
    free(server->fault);
}

void gbx_mcp_free_server(gbx_mcp_upstream_config *server)
{
    free_parts(server);
    free(server->name);
}

/* ---- names of servers: rules, code and messages use them unquoted ---------- */

static const char name_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "0123456789_.-";

/* May a server have this name? */
static bool is_server_name(const char *name)
{
    size_t len = strspn(name, name_letters);

    return len > 0 && len <= GBX_MCP_NAME_MAX && name[len] == '\0';
}

/* ---- misspelt members: skipped, they would have no effect --------------------- */

#define SHORT_MAX 5 /* shorter names are too near to one another */

static bool has_one_letter_more(const char *longer, const char *shorter)
{
    while (*shorter != '\0' && *longer == *shorter) {
        longer++;
        shorter++;
    }
    return *longer != '\0' && strcmp(longer + 1, shorter) == 0;
}

const char *gbx_mcp_typo_of(const char *name, const char *const *words, size_t count,
                            size_t loose)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, words[i]) == 0)
            return NULL;
    for (size_t i = 0; i < count; i++)
        if (gbx_names_alike(name, words[i]) ||
            (i < loose && (has_one_letter_more(name, words[i]) ||
                           has_one_letter_more(words[i], name))))
            return words[i];
    return strlen(name) > SHORT_MAX ? gbx_nearest_name(name, words, loose) : NULL;
}

/* ---- entries -------------------------------------------------------------------- */

/* An unset variable disables only this server. All of its variables are checked before
 * that is reported. */
static gbx_status on_variable(void *user, const char *name, const char *value)
{
    gbx_mcp_reader *all = gbx_mcp_reader_of(user);
    size_t len = strlen(name);

    if (value != NULL || all->unset_count == ITEMS_MAX ||
        gbx_names_find(all->unset, 0, all->unset_count, name, len) < all->unset_count)
        return GBX_OK;
    return gbx_names_add(&all->unset, &all->unset_count, name, len,
                         all->rules.json.err);
}

/* Disable the server, with the reason. */
static void put_out_of_use(gbx_mcp_reader *all, gbx_mcp_upstream_config *server,
                           char *fault)
{
    server->disabled = true;
    free(server->fault);
    server->fault = fault;
    gbx_names_cut(all->unset, 0, all->unset_count);
    all->unset_count = 0;
}

static gbx_status fill(gbx_json_reader *r, const char *text, char **ret)
{
    gbx_status status = gbx_variables_fill(text, on_variable, r, ret, r->err);

    return r->err->line == 0 ? gbx_json_placed(r, status) : status;
}

static gbx_status read_text(gbx_json_reader *r, gbx_view value, char **ret)
{
    const char *text;
    gbx_status status = gbx_json_read_text(r, value, "a string", &text);

    return status == GBX_OK ? fill(r, text, ret) : status;
}

/* A number or a boolean counts as its text, as in editors. */
static gbx_status read_value(gbx_json_reader *r, gbx_view value, char **ret)
{
    if (strchr("0tf", gbx_view_kind(value)) == NULL)
        return read_text(r, value, ret);
    *ret = gbx_need(strndup(value.at, value.len));
    return GBX_OK;
}

/* A word of a command line, with a leading tilde as in a shell: "~" and "~/..." are
 * below the home directory, "\~" is "~". */
static gbx_status read_word(gbx_json_reader *r, gbx_view value, char **ret)
{
    GBX_CLEANUP(gbx_free) char *below = NULL;
    const char *text;
    const char *tilde;
    gbx_status status;

    if (gbx_view_kind(value) != '"')
        return read_value(r, value, ret);
    status = gbx_json_read_text(r, value, "a string", &text);
    if (status != GBX_OK)
        return status;
    tilde = text + strspn(text, "\\");
    if (*tilde != '~' || (tilde[1] != '/' && tilde[1] != '\0'))
        return fill(r, text, ret);
    if (tilde > text)
        return fill(r, text + 1, ret);
    below = gbx_printed("${HOME}%s", tilde + 1);
    return fill(r, below, ret);
}

/* The path is relative to the file, like its other paths. */
static void put_below_file(const gbx_json_reader *r, char **path)
{
    char *below;

    assert(*path != NULL);
    if (**path == '\0' || **path == '/')
        return;
    below = gbx_printed("%s/%s", r->base_dir, *path);
    free(*path);
    *path = below;
}

static gbx_status read_path(gbx_json_reader *r, gbx_view value, char **ret)
{
    gbx_status status = gbx_view_kind(value) == '"'
                            ? read_word(r, value, ret)
                            : gbx_json_refuse_type(r, value, "a string");

    if (status == GBX_OK)
        put_below_file(r, ret);
    return status;
}

static gbx_status read_cwd(gbx_json_reader *r, gbx_view value, void *target)
{
    entry *e = target;

    return read_path(r, value, &e->server->cwd);
}

/* If a variable is unset, the path is unknown; the variable is reported anyway. */
static gbx_status read_env_file(gbx_json_reader *r, gbx_view value, void *target)
{
    GBX_CLEANUP(gbx_free) char *path = NULL;
    entry *e = target;
    gbx_status status = read_path(r, value, &path);

    return status == GBX_OK && gbx_mcp_reader_of(r)->unset_count == 0
               ? gbx_mcp_read_env_file(r, e->server, path)
               : status;
}

static gbx_status read_arg(gbx_json_reader *r, gbx_view value, void *target)
{
    gbx_mcp_upstream_config *server = target;

    if (server->arg_count == ITEMS_MAX)
        return gbx_json_refuse(r, "there are more than %d arguments", ITEMS_MAX);
    /* One item more: the list ends in NULL. */
    (void)gbx_need(
        gbx_list_room(&server->args, server->arg_count + 1, sizeof *server->args));
    server->args[server->arg_count] = NULL;
    return read_word(r, value, &server->args[server->arg_count++]);
}

/* The command, then its arguments. */
static gbx_status read_command_word(gbx_json_reader *r, gbx_view value, void *target)
{
    gbx_mcp_upstream_config *server = target;

    return server->command == NULL ? read_word(r, value, &server->command)
                                   : read_arg(r, value, server);
}

static gbx_status read_args(gbx_json_reader *r, gbx_view value, void *target)
{
    entry *e = target;
    bool is_command = strcmp(r->row->name, "command") == 0;

    if (e->server->arg_count > 0 && gbx_view_count(value) > is_command)
        return gbx_json_refuse(r, "\"command\" and \"args\" both list arguments: write "
                                  "them in one of the two");
    return gbx_json_read_items(r, value, is_command ? read_command_word : read_arg,
                               e->server);
}

/* A program, or a list of a program and its arguments. */
static gbx_status read_command(gbx_json_reader *r, gbx_view value, void *target)
{
    entry *e = target;

    return gbx_view_kind(value) == '[' ? read_args(r, value, target)
           : gbx_view_kind(value) == '"'
               ? read_word(r, value, &e->server->command)
               : gbx_json_refuse_type(r, value, "a string, or a list of strings,");
}

/* Hosts have three names for it. */
static gbx_status read_url(gbx_json_reader *r, gbx_view value, void *target)
{
    entry *e = target;
    gbx_status status;

    if (e->server->url != NULL)
        return gbx_json_refuse_key(r, "the server has another URL already: leave one "
                                      "out");
    status = gbx_json_read_text(r, value, "a string", &e->url);
    return status == GBX_OK ? fill(r, e->url, &e->server->url) : status;
}

/* The transport sets these itself, and leaves out what is configured. */
static bool is_own_header(const char *name)
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

typedef struct pairs {
    gbx_mcp_variable **items;
    size_t *count;
    bool are_headers; /* or variables */
} pairs;

static gbx_status read_pair(gbx_json_reader *r, const char *name, gbx_view value,
                            void *target)
{
    pairs *p = target;
    gbx_mcp_variable *room;
    gbx_status status;

    if (*p->count == ITEMS_MAX)
        return gbx_json_refuse_key(r, "there are more than %d of these", ITEMS_MAX);
    if (p->are_headers ? !gbx_is_token(name, strlen(name))
                       : *name == '\0' || strchr(name, '=') != NULL)
        return gbx_json_refuse_key(r, p->are_headers
                                          ? "this is not the name of a header"
                                          : "this is not the name of a variable");
    if (gbx_view_kind(value) == 'n' || (p->are_headers && is_own_header(name)))
        return GBX_OK; /* null counts as missing */
    room = gbx_need(gbx_list_room(p->items, *p->count, sizeof *room));
    ++*p->count;
    room->name = gbx_need(strdup(name));
    status = read_value(r, value, &room->value);
    if (status == GBX_OK && p->are_headers && strpbrk(room->value, "\r\n") != NULL)
        return gbx_json_refuse(r, "a header has no line end in it, with its variables");
    return status;
}

static gbx_status read_env(gbx_json_reader *r, gbx_view value, void *target)
{
    entry *e = target;
    pairs p = {&e->server->env, &e->server->env_count, false};

    return gbx_json_read_members(r, value, read_pair, &p);
}

static gbx_status read_headers(gbx_json_reader *r, gbx_view value, void *target)
{
    entry *e = target;
    pairs p = {&e->server->headers, &e->server->header_count, true};

    return gbx_json_read_members(r, value, read_pair, &p);
}

static gbx_status read_type(gbx_json_reader *r, gbx_view value, void *target)
{
    static const struct {
        const char *name;
        gbx_mcp_transport transport;
    } types[] = {{"stdio", GBX_MCP_STDIO},
                 {"local", GBX_MCP_STDIO},
                 {"http", GBX_MCP_HTTP},
                 {"remote", GBX_MCP_HTTP},
                 {"streamable-http", GBX_MCP_HTTP},
                 {"streamable_http", GBX_MCP_HTTP},
                 {"streamableHttp", GBX_MCP_HTTP},
                 {"sse", GBX_MCP_SSE}};
    entry *e = target;

    for (size_t i = 0; i < GBX_COUNTOF(types); i++)
        if (gbx_view_is_text(value, types[i].name)) {
            e->server->transport = types[i].transport;
            e->has_type = true;
            return GBX_OK;
        }
    return gbx_json_refuse(r, "this is \"stdio\", \"http\" or \"sse\"");
}

static gbx_status add_inherited(gbx_json_reader *r, const char *text, size_t len,
                                void *target)
{
    gbx_mcp_upstream_config *server = target;

    if (len == 0 || memchr(text, '=', len) != NULL)
        return gbx_refuse(r->err, text, 0, "this is not the name of a variable");
    return gbx_names_add(&server->inherit, &server->inherit_count, text, len, r->err);
}

static gbx_status add_plain(gbx_json_reader *r, const char *text, size_t len,
                            void *target)
{
    gbx_mcp_upstream_config *server = target;

    return gbx_names_add(&server->plain, &server->plain_count, text, len, r->err);
}

static gbx_status read_client_text(gbx_json_reader *r, gbx_view value, void *target)
{
    return read_text(r, value, (char **)(void *)((char *)target + r->row->offset));
}

static gbx_status read_oauth(gbx_json_reader *r, gbx_view value, void *target)
{
#define TEXT(key, field)                                \
    {                                                   \
        .name = (key), .read = read_client_text,        \
        .offset = offsetof(gbx_mcp_oauth_config, field) \
    }
    static const gbx_json_key keys[] = {
        TEXT("clientId", client_id),
        TEXT("clientSecret", client_secret),
        TEXT("issuer", issuer),
        TEXT("clientMetadataUrl", client_url),
    };
#undef TEXT
    gbx_mcp_oauth_config *oauth = &((gbx_mcp_upstream_config *)target)->oauth;
    gbx_status status = gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), oauth);

    if (status == GBX_OK && oauth->client_secret != NULL && oauth->issuer == NULL)
        return gbx_json_refuse(r,
                               "\"clientSecret\" needs \"issuer\", the authorization "
                               "server that may have it");
    return status;
}

static gbx_status read_description(gbx_json_reader *r, gbx_view value, void *target)
{
    static const char wanted[] = "one line of at most 200 bytes";
    gbx_mcp_upstream_config *server = target;
    const char *text;
    gbx_status status = gbx_json_read_text(r, value, wanted, &text);

    if (status != GBX_OK)
        return status;
    if (strlen(text) > 200 || strpbrk(text, "\r\n") != NULL)
        return gbx_json_refuse_type(r, value, wanted);
    server->description = gbx_need(strdup(text));
    return GBX_OK;
}

static gbx_status read_flag(gbx_json_reader *r, gbx_view value, void *target)
{
    gbx_mcp_upstream_config *server = target;
    const char *name = r->row->name;

    return gbx_json_read_bool(r, value,
                              strcmp(name, "eager") == 0      ? &server->eager
                              : strcmp(name, "sampling") == 0 ? &server->sampling
                                                              : &server->roots);
}

/* Only checks the type: gbx_mcp_read_server() has read it before, and ignores
 * other types. */
static gbx_status read_switch(gbx_json_reader *r, gbx_view value, void *target)
{
    bool is_on;

    return gbx_json_read_bool(r, value, &is_on);
}

/* Our own key in a server's entry. */
static gbx_status read_ours(gbx_json_reader *r, gbx_view value, void *target)
{
#define NUMBER(name, field, least, most) \
    GBX_JSON_NUMBER(name, gbx_mcp_upstream_config, field, least, most)
    static const gbx_json_key keys[] = {
        NUMBER("timeoutMs", timeout_ms, 1, 3600000),
        NUMBER("startMs", start_ms, 1, 600000),
        NUMBER("idleMs", idle_ms, 0, 86400000),
        NUMBER("callsAtOnce", calls_at_once, 1, 1024),
        NUMBER("processes", processes, 1, 64),
        {.name = "env", .read = gbx_json_read_list, .add = add_inherited},
        {.name = "plain", .read = gbx_json_read_list, .add = add_plain},
        {.name = "oauth", .read = read_oauth},
        {.name = "description", .read = read_description},
        {.name = "eager", .read = read_flag},
        {.name = "sampling", .read = read_flag},
        {.name = "roots", .read = read_flag},
    };
#undef NUMBER
    entry *e = target;

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), e->server);
}

/* Some hosts write null for a missing value. */
static gbx_status read_member(gbx_json_reader *r, const char *name, gbx_view value,
                              void *target)
{
    static const gbx_json_key keys[] = {
        {.name = "glovebox", .read = read_ours},
        {.name = "disabled", .read = read_switch},
        {.name = "enabled", .read = read_switch},
        {.name = "type", .read = read_type},
        {.name = "transport", .read = read_type},
        {.name = "command", .read = read_command},
        {.name = "args", .read = read_args},
        {.name = "arguments", .read = read_args},
        {.name = "env", .read = read_env},
        {.name = "environment", .read = read_env},
        {.name = "envFile", .read = read_env_file},
        {.name = "cwd", .read = read_cwd},
        {.name = "workingDirectory", .read = read_cwd},
        {.name = "url", .read = read_url},
        {.name = "httpUrl", .read = read_url},
        {.name = "serverUrl", .read = read_url},
        {.name = "headers", .read = read_headers},
    };
    const char *words[GBX_COUNTOF(keys)];
    entry *e = target;
    const gbx_json_key *key = NULL;
    const char *meant;

    for (size_t i = 0; i < GBX_COUNTOF(keys); i++) {
        words[i] = keys[i].name;
        if (strcmp(keys[i].name, name) == 0)
            key = &keys[i];
    }
    meant = gbx_mcp_typo_of(name, words, GBX_COUNTOF(words), GBX_COUNTOF(words));
    if (meant != NULL)
        return gbx_json_refuse_key(r, "unknown key: did you mean '%s'?", meant);
    /* For a disabled server, only our own key and the switches are read: its variables
     * need not be set. */
    if (key == NULL || gbx_view_kind(value) == 'n' ||
        (e->server->disabled && key->read != read_ours && key->read != read_switch))
        return GBX_OK;
    r->row = key;
    return key->read(r, value, e);
}

/* A command with a path is relative to cwd, or else to the file. */
static gbx_status check_command(gbx_json_reader *r, gbx_mcp_upstream_config *server)
{
    if (server->command == NULL)
        return gbx_json_refuse(r, "'command' is missing%s",
                               server->url == NULL ? ", or a 'url'"
                                                   : ": the 'type' is that of one");
    if (*server->command == '\0')
        return gbx_json_refuse(r, "the \"command\" is empty, with its variables");
    if (server->cwd != NULL || strchr(server->command, '/') == NULL)
        return GBX_OK;
    put_below_file(r, &server->command);
    return GBX_OK;
}

static gbx_status check_whole(gbx_json_reader *r, const entry *e)
{
    gbx_mcp_upstream_config *server = e->server;
    const char *url = server->url;

    if (!e->has_type && url != NULL)
        server->transport = GBX_MCP_HTTP;
    if (server->command != NULL && url != NULL)
        return gbx_json_refuse(r, "there are a \"command\" and a \"url\": a server has "
                                  "one of them");
    if (server->transport == GBX_MCP_STDIO)
        return check_command(r, server);
    if (url == NULL)
        return gbx_json_refuse(r, "'url' is missing: the server is not a command");
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return gbx_json_refuse(r, "the URL begins with http:// or https://, with its "
                                  "variables");
    return GBX_OK;
}

static gbx_status read_entry(gbx_json_reader *r, const char *name, gbx_view value,
                             gbx_mcp_upstream_config *server)
{
    gbx_mcp_reader *all = gbx_mcp_reader_of(r);
    entry e = {.server = server};
    gbx_status status;

    if (!server->disabled && !is_server_name(name))
        return gbx_json_refuse_key(r,
                                   "a server's name has from 1 to %d letters, "
                                   "digits, '_', '.' and '-': write \"%s\", or take "
                                   "them all over by 'glovebox mcp import --from FILE'",
                                   GBX_MCP_NAME_MAX, server->name);
    status = gbx_json_read_members(r, value, read_member, &e);
    if (status == GBX_OK && all->unset_count > 0)
        put_out_of_use(all, server, gbx_variables_unset(all->unset, all->unset_count));
    if (status != GBX_OK || server->disabled)
        return status;
    status = check_whole(r, &e);
    return status == GBX_OK ? gbx_mcp_hide_values(r, server, e.url) : status;
}

static bool is_in_file(const gbx_rules_reader *rules, const char *name)
{
    for (size_t i = 0; i < rules->server_count; i++)
        if (strcmp(rules->servers[i], name) == 0)
            return true;
    return false;
}

/* Find an unused name for a server whose own name is invalid: "Google Drive" becomes
 * "Google-Drive". */
static void find_name(const gbx_mcp_reader *all, const char *name,
                      char out[GBX_MCP_NAME_MAX + 1])
{
    char clean[GBX_MCP_NAME_MAX + 1];
    size_t len = 0;

    for (; *name != '\0' && len < GBX_MCP_NAME_MAX; name++)
        if (strchr(name_letters, *name) != NULL)
            clean[len++] = *name;
        else if (len > 0 && clean[len - 1] != '-')
            clean[len++] = '-';
    clean[len] = '\0';
    (void)snprintf(out, sizeof clean, "%s", len > 0 ? clean : "server");
    for (unsigned i = 2; is_in_file(&all->rules, out) ||
                         gbx_mcp_config_server(all->config, out) != NULL;
         i++)
        (void)snprintf(out, sizeof clean, "%.*s-%u", GBX_MCP_NAME_MAX - 11,
                       len > 0 ? clean : "server", i);
}

static gbx_mcp_upstream_config *add_server(gbx_mcp_config *config, const char *name,
                                           bool is_disabled)
{
    gbx_mcp_upstream_config *server =
        gbx_need(gbx_list_room(&config->servers, config->server_count, sizeof *server));

    config->server_count++;
    *server = (gbx_mcp_upstream_config){.name = gbx_need(strdup(name)),
                                        .args = gbx_need(calloc(1, sizeof(char *))),
                                        .timeout_ms = 60000,
                                        .start_ms = 30000,
                                        .idle_ms = 300000,
                                        .calls_at_once = 8,
                                        .processes = 1,
                                        .disabled = is_disabled};
    return server;
}

gbx_status gbx_mcp_read_server(gbx_json_reader *r, const char *name, gbx_view value,
                               void *target)
{
    gbx_mcp_reader *all = gbx_mcp_reader_of(r);
    gbx_mcp_config *config = all->config;
    gbx_mcp_upstream_config *server =
        (gbx_mcp_upstream_config *)(uintptr_t)gbx_mcp_config_server(config, name);
    gbx_error *err = r->err;
    char own_name[GBX_MCP_NAME_MAX + 1];
    char *fault;
    gbx_status status;

    if (server != NULL) { /* it is unclear which of them is meant */
        status = gbx_json_refuse_key(r, "another server has this name: rename one");
    } else if (config->server_count == GBX_MCP_SERVERS_MAX) {
        return gbx_json_refuse_key(r, "there are more than %d servers",
                                   GBX_MCP_SERVERS_MAX);
    } else {
        if (!is_server_name(name))
            find_name(all, name, own_name);
        server =
            add_server(config, is_server_name(name) ? name : own_name,
                       gbx_view_is_true(gbx_view_member(value, "disabled")) ||
                           gbx_view_kind(gbx_view_member(value, "enabled")) == 'f');
        status = read_entry(r, name, value, server);
    }
    if (status != GBX_E_POLICY)
        return status;
    /* Refuse this server alone. */
    fault = gbx_printed("its configuration is wrong at line %u, column %u: %s",
                        err->line, err->column, err->message);
    *err = (gbx_error){0};
    free_parts(server);
    *server = (gbx_mcp_upstream_config){.name = server->name, .is_malformed = true};
    put_out_of_use(all, server, fault);
    return GBX_OK;
}

const gbx_mcp_upstream_config *gbx_mcp_config_server(const gbx_mcp_config *config,
                                                     const char *name)
{
    for (size_t i = 0; i < config->server_count; i++)
        if (config->servers[i].name != NULL &&
            strcmp(config->servers[i].name, name) == 0)
            return &config->servers[i];
    return NULL;
}

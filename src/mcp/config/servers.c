/* SPDX-License-Identifier: MIT */
/*
 * servers - the entries of a hosts' file, each one server.
 *
 * Members of the hosts that mean nothing here are passed over; those that mean something
 * must be what they are meant to be.
 */
#include "mcp/config/parts.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/config/variable.h"
#include "policy/lists.h"
#include "policy/refuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVERS_MAX 256
#define ITEMS_MAX   1000 /* of args, env or headers */

/* What a server's entry says of how to reach it. */
typedef struct entry {
    gbx_mcp_upstream_config *server;
    bool has_type;
} entry;

/* One text, and what its variables are used for. */
typedef struct use {
    gbx_json_reader *r;
    gbx_mcp_sound sound; /* of where it is used */
} use;

/* A server can do without a text whose variable is not set: it cannot be used, and the
 * others can. All of its variables are looked for before that is said. */
static gbx_status note_unset(gbx_mcp_reader *all, const char *name)
{
    size_t len = strlen(name);

    if (all->unset_count == ITEMS_MAX ||
        gbx_names_find(all->unset, 0, all->unset_count, name, len) < all->unset_count)
        return GBX_OK;
    return gbx_names_add(&all->unset, &all->unset_count, name, len,
                         all->rules.json.err);
}

static gbx_status on_variable(void *user, const char *name, const char *value)
{
    const use *u = user;
    gbx_mcp_sound own = gbx_mcp_sounds_secret(name);

    if (value == NULL)
        return note_unset(gbx_mcp_reader_of(u->r), name);
    return gbx_mcp_keep_secret(u->r, own > u->sound ? own : u->sound, name, value);
}

/* Then it is as if it was switched off. */
static gbx_status take_unset(gbx_mcp_reader *all, gbx_mcp_upstream_config *server)
{
    if (all->unset_count == 0)
        return GBX_OK;
    server->disabled = true;
    free(server->fault);
    server->fault = gbx_variables_unset(all->unset, all->unset_count);
    gbx_names_cut(all->unset, 0, all->unset_count);
    all->unset_count = 0;
    return server->fault != NULL ? GBX_OK : gbx_list_nomem(all->rules.json.err);
}

/* What a text must not be: `what`, for the file; or that of its variables, which are not
 * the file's, and stop their server alone: `fault`. */
static gbx_status refuse_text(gbx_json_reader *r, gbx_mcp_upstream_config *server,
                              const json_t *value, const char *what, const char *fault)
{
    if (!json_is_string(value) || strstr(json_string_value(value), "${") == NULL)
        return gbx_json_refuse(r, "%s", what);
    server->disabled = true;
    if (server->fault == NULL)
        server->fault = strdup(fault);
    return server->fault != NULL ? GBX_OK : gbx_list_nomem(r->err);
}

static gbx_status read_text(gbx_json_reader *r, const json_t *value,
                            gbx_mcp_sound sound, char **ret)
{
    use u = {r, sound};
    gbx_status status;

    if (!json_is_string(value))
        return gbx_json_refuse_type(r, value, "a string");
    status = gbx_variables_fill(json_string_value(value), on_variable, &u, ret, r->err);
    return r->err->line == 0 ? gbx_json_placed(r, status) : status;
}

/* key->offset is that of the char * in the server. */
static gbx_status read_field(gbx_json_reader *r, const json_t *value,
                             const gbx_json_key *key, void *target)
{
    entry *e = target;

    return read_text(r, value, GBX_MCP_PLAIN,
                     (char **)(void *)((char *)e->server + key->offset));
}

/* Relative to the file, as its other paths are. */
static gbx_status read_cwd(gbx_json_reader *r, const json_t *value,
                           const gbx_json_key *key, void *target)
{
    entry *e = target;
    char *below = NULL;
    char **cwd = &e->server->cwd;
    gbx_status status = read_text(r, value, GBX_MCP_PLAIN, cwd);
    (void)key;

    if (status != GBX_OK || *cwd == NULL || **cwd == '\0' || **cwd == '/')
        return status;
    if (asprintf(&below, "%s/%s", r->base_dir, *cwd) < 0)
        return gbx_list_nomem(r->err);
    free(*cwd);
    *cwd = below;
    return GBX_OK;
}

static gbx_status read_arg(gbx_json_reader *r, const json_t *value, void *target)
{
    gbx_mcp_upstream_config *server = target;
    char **room;

    if (server->arg_count == ITEMS_MAX)
        return gbx_json_refuse(r, "there are more than %d arguments", ITEMS_MAX);
    /* One more than there are: the list ends in NULL. */
    room = gbx_list_room(&server->args, server->arg_count + 1, sizeof *room);
    if (room == NULL)
        return gbx_list_nomem(r->err);
    server->args[server->arg_count] = NULL;
    return read_text(r, value, GBX_MCP_PLAIN, &server->args[server->arg_count++]);
}

static gbx_status read_args(gbx_json_reader *r, const json_t *value,
                            const gbx_json_key *key, void *target)
{
    entry *e = target;
    gbx_status status = gbx_json_read_items(r, value, read_arg, e->server);
    (void)key;

    return status == GBX_OK ? gbx_mcp_keep_args(r, e->server) : status;
}

typedef struct pairs {
    gbx_mcp_variable **items;
    size_t *count;
    gbx_mcp_upstream_config *headers_of; /* NULL: they are variables */
} pairs;

static gbx_status check_pair(gbx_json_reader *r, const pairs *p, const char *name)
{
    static const char token[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789!#$%&'*+-.^_`|~";

    if (*p->count == ITEMS_MAX)
        return gbx_json_refuse_key(r, "there are more than %d of these", ITEMS_MAX);
    if (p->headers_of != NULL ? *name == '\0' || name[strspn(name, token)] != '\0'
                              : *name == '\0' || strchr(name, '=') != NULL)
        return gbx_json_refuse_key(r, p->headers_of != NULL
                                          ? "this is no name of a header"
                                          : "this is no name of a variable");
    return GBX_OK;
}

/* A number is its text: editors take one for a string. */
static gbx_status read_value(gbx_json_reader *r, const json_t *value,
                             gbx_mcp_sound sound, char **ret)
{
    size_t len;
    const char *text;

    if (!json_is_number(value))
        return read_text(r, value, sound, ret);
    text = gbx_json_written(r, &len);
    *ret = strndup(text, len);
    return *ret != NULL ? GBX_OK : gbx_list_nomem(r->err);
}

static gbx_status read_pair(gbx_json_reader *r, const char *name, const json_t *value,
                            void *target)
{
    pairs *p = target;
    gbx_mcp_sound sound = gbx_mcp_sounds_secret(name);
    gbx_mcp_variable *room;
    gbx_status status = check_pair(r, p, name);

    if (status != GBX_OK || json_is_null(value)) /* null: there is none */
        return status;
    room = gbx_list_room(p->items, *p->count, sizeof *room);
    if (room == NULL)
        return gbx_list_nomem(r->err);
    ++*p->count;
    room->name = strdup(name);
    if (room->name == NULL)
        return gbx_list_nomem(r->err);
    /* What a variable puts into a header may well be a credential. */
    status =
        read_value(r, value,
                   p->headers_of != NULL && sound == GBX_MCP_PLAIN ? GBX_MCP_PERHAPS
                                                                   : sound,
                   &room->value);
    if (status != GBX_OK)
        return status;
    if (p->headers_of != NULL && strpbrk(room->value, "\r\n") != NULL)
        return refuse_text(r, p->headers_of, value, "a header has no line end in it",
                           "a variable of a header has a line end in it");
    return gbx_mcp_keep_written(r,
                                p->headers_of != NULL ? GBX_MCP_HEADER
                                                      : GBX_MCP_VARIABLE,
                                name, room->value);
}

static gbx_status read_env(gbx_json_reader *r, const json_t *value,
                           const gbx_json_key *key, void *target)
{
    entry *e = target;
    pairs p = {&e->server->env, &e->server->env_count, NULL};
    (void)key;

    return gbx_json_read_members(r, value, read_pair, &p);
}

static gbx_status read_headers(gbx_json_reader *r, const json_t *value,
                               const gbx_json_key *key, void *target)
{
    entry *e = target;
    pairs p = {&e->server->headers, &e->server->header_count, e->server};
    gbx_status status = gbx_json_read_members(r, value, read_pair, &p);
    (void)key;

    return status == GBX_OK ? gbx_mcp_drop_own_headers(r, e->server) : status;
}

static gbx_status read_type(gbx_json_reader *r, const json_t *value,
                            const gbx_json_key *key, void *target)
{
    static const struct {
        const char *name;
        gbx_mcp_transport transport;
    } types[] = {{"stdio", GBX_MCP_STDIO},
                 {"http", GBX_MCP_HTTP},
                 {"streamable-http", GBX_MCP_HTTP},
                 {"streamableHttp", GBX_MCP_HTTP},
                 {"sse", GBX_MCP_SSE}};
    entry *e = target;
    (void)key;

    for (size_t i = 0; i < GBX_COUNTOF(types); i++)
        if (json_is_string(value) &&
            strcmp(json_string_value(value), types[i].name) == 0) {
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
    const char *value = getenv(text);
    gbx_status status;

    if (len == 0 || memchr(text, '=', len) != NULL)
        return gbx_refuse(r->err, text, 0, "this is no name of a variable");
    status = gbx_names_add(&server->inherit, &server->inherit_count, text, len, r->err);
    return status == GBX_OK && value != NULL
               ? gbx_mcp_keep_written(r, GBX_MCP_VARIABLE, text, value)
               : status;
}

static gbx_status read_description(gbx_json_reader *r, const json_t *value,
                                   const gbx_json_key *key, void *target)
{
    gbx_mcp_upstream_config *server = target;
    (void)key;

    if (!json_is_string(value) || json_string_length(value) > 200 ||
        strpbrk(json_string_value(value), "\r\n") != NULL)
        return gbx_json_refuse_type(r, value, "one line of at most 200 bytes");
    server->description = strdup(json_string_value(value));
    return server->description != NULL ? GBX_OK : gbx_list_nomem(r->err);
}

static gbx_status read_eager(gbx_json_reader *r, const json_t *value,
                             const gbx_json_key *key, void *target)
{
    gbx_mcp_upstream_config *server = target;
    (void)key;

    if (!json_is_boolean(value))
        return gbx_json_refuse_type(r, value, "true or false");
    server->eager = json_is_true(value);
    return GBX_OK;
}

/* gbx_mcp_read_server() looks at it first: what is no boolean would be as if it was not
 * there. */
static gbx_status read_switch(gbx_json_reader *r, const json_t *value,
                              const gbx_json_key *key, void *target)
{
    (void)key;
    (void)target;
    return json_is_boolean(value) ? GBX_OK
                                  : gbx_json_refuse_type(r, value, "true or false");
}

/* Our own key in a server's entry. */
static gbx_status read_ours(gbx_json_reader *r, const json_t *value,
                            const gbx_json_key *key, void *target)
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
        {.name = "description", .read = read_description},
        {.name = "eager", .read = read_eager},
    };
#undef NUMBER
    entry *e = target;
    (void)key;

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), e->server);
}

/* Some hosts write out what a server does not have. */
static bool may_be_null(const char *name)
{
    static const char *const names[] = {"args", "env", "headers", "disabled",
                                        "enabled"};

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static gbx_status read_member(gbx_json_reader *r, const char *name, const json_t *value,
                              void *target)
{
#define FIELD(key, field)                                  \
    {                                                      \
        .name = (key), .read = read_field,                 \
        .offset = offsetof(gbx_mcp_upstream_config, field) \
    }
    static const gbx_json_key keys[] = {
        {.name = "type", .read = read_type},
        FIELD("command", command),
        {.name = "args", .read = read_args},
        {.name = "env", .read = read_env},
        {.name = "cwd", .read = read_cwd},
        FIELD("url", url),
        {.name = "headers", .read = read_headers},
        {.name = "glovebox", .read = read_ours},
        {.name = "disabled", .read = read_switch},
        {.name = "enabled", .read = read_switch},
    };
#undef FIELD
    static const char *const words[] = {"glovebox", "disabled", "enabled", "type",
                                        "command",  "args",     "env",     "cwd",
                                        "url",      "headers"};
    entry *e = target;
    const char *meant = gbx_mcp_slip_of(name, words, GBX_COUNTOF(words), 3);

    if (meant != NULL)
        return gbx_json_refuse_key(r, "there is no such key: did you mean '%s'?",
                                   meant);
    for (size_t i = 0; i < GBX_COUNTOF(keys); i++) {
        if (strcmp(keys[i].name, name) != 0)
            continue;
        /* Of a server that is switched off only our own key and the switches are looked
         * at: its variables need not be set. */
        if ((e->server->disabled && keys[i].read != read_ours &&
             keys[i].read != read_switch) ||
            (json_is_null(value) && may_be_null(name)))
            return GBX_OK;
        return keys[i].read(r, value, &keys[i], e);
    }
    return GBX_OK;
}

static gbx_status check_whole(gbx_json_reader *r, const json_t *value, entry *e)
{
    gbx_mcp_upstream_config *server = e->server;
    const char *url = server->url;
    gbx_status status = GBX_OK;

    if (!e->has_type && url != NULL)
        server->transport = GBX_MCP_HTTP;
    if (server->command != NULL && url != NULL)
        return gbx_json_refuse(r, "there are a \"command\" and a \"url\": a server has "
                                  "one of them");
    if (url != NULL)
        status = gbx_mcp_keep_url(r, url);
    if (status != GBX_OK)
        return status;
    if (server->transport == GBX_MCP_STDIO) {
        status = gbx_json_require(r, value, "command", "or a \"url\"");
        if (status == GBX_OK && (server->command == NULL || *server->command == '\0'))
            return refuse_text(r, server, json_object_get(value, "command"),
                               "the \"command\" is empty",
                               "the \"command\" is empty, as its variables are set");
        return status;
    }
    if (url == NULL)
        return gbx_json_require(r, value, "url", "the server is not a command");
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return refuse_text(
            r, server, json_object_get(value, "url"),
            "the \"url\" begins with http:// or https://",
            "the \"url\" does not begin with http:// or https://, as its "
            "variables are set");
    return GBX_OK;
}

static gbx_status check_name(gbx_json_reader *r, const char *name)
{
    char clean[GBX_MCP_NAME_MAX + 1];

    gbx_mcp_clean_name(name, clean);
    if (!gbx_mcp_is_name(name))
        return gbx_json_refuse_key(r,
                                   "a server's name has from 1 to %d letters, "
                                   "digits, '_', '.' and '-': write \"%s\", or take "
                                   "them all over by 'glovebox mcp import --from FILE'",
                                   GBX_MCP_NAME_MAX, clean);
    if (gbx_mcp_config_server(gbx_mcp_reader_of(r)->config, name) != NULL)
        return gbx_json_refuse_key(r, "there is a server of this name already");
    return GBX_OK;
}

static bool is_off(const json_t *value)
{
    return json_is_true(json_object_get(value, "disabled")) ||
           json_is_false(json_object_get(value, "enabled"));
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_mcp_read_server(gbx_json_reader *r, const char *name,
                               const json_t *value, void *target)
{
    gbx_mcp_config *config = gbx_mcp_reader_of(r)->config;
    entry e = {.server = NULL};
    gbx_status status = check_name(r, name);
    (void)target;

    if (status != GBX_OK)
        return status;
    if (config->server_count == SERVERS_MAX)
        return gbx_json_refuse_key(r, "there are more than %d servers", SERVERS_MAX);
    e.server = gbx_list_room(&config->servers, config->server_count, sizeof *e.server);
    if (e.server == NULL)
        return gbx_list_nomem(r->err);
    config->server_count++;
    *e.server = (gbx_mcp_upstream_config){.name = strdup(name),
                                          .args = calloc(1, sizeof(char *)),
                                          .timeout_ms = 60000,
                                          .start_ms = 30000,
                                          .idle_ms = 300000,
                                          .calls_at_once = 8,
                                          .processes = 1,
                                          .disabled = is_off(value)};
    if (e.server->name == NULL || e.server->args == NULL)
        return gbx_list_nomem(r->err);
    status = gbx_json_read_members(r, value, read_member, &e);
    if (status == GBX_OK)
        status = take_unset(gbx_mcp_reader_of(r), e.server);
    if (status == GBX_OK && !e.server->disabled)
        status = check_whole(r, value, &e);
    return status;
}

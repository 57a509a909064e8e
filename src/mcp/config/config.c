/* SPDX-License-Identifier: MIT */
/*
 * config - see config.h.
 *
 * The top-level key "glovebox" is read first: declared secrets keep their names, and
 * secrets found in env and headers get other names.
 */
#include "mcp/config/config.h"

#include "base/cleanup.h"
#include "base/json_view.h"
#include "base/utf8.h"
#include "mcp/config/config_reader.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_BYTES_MAX GBX_MIB(4)
#define CONFIG_DEPTH_MAX 100 /* of what hosts keep besides the servers */

static const char *const server_keys[] = {"mcpServers", "servers"};
static const gbx_jsonc_wanted wanted[] = {{"mcpServers", NULL},
                                          {"servers", NULL},
                                          {"glovebox", NULL},
                                          {NULL, NULL}};

static const char *const top_keys[] = {"mcpServers", "glovebox", "servers"};
#define TOP_LOOSE 2 /* without "servers": hosts may have a "server" */

static void release_config(gbx_mcp_config **config)
{
    gbx_mcp_config_free(*config);
}

static void release_json(json_t **value)
{
    json_decref(*value);
}

static gbx_mcp_config *config_new(const char *path, gbx_trust trust)
{
    gbx_mcp_config *config = calloc(1, sizeof *config);

    if (config == NULL)
        return NULL;
    gbx_mcp_settings_default(&config->settings);
    config->rules = gbx_gate_rules_new();
    config->stamp = calloc(1, sizeof *config->stamp);
    config->path = path != NULL ? strdup(path) : NULL;
    if (config->settings.tool_prefix == NULL || config->rules == NULL ||
        config->stamp == NULL || (path != NULL && config->path == NULL)) {
        gbx_mcp_config_free(config);
        return NULL;
    }
    config->trust = config->rules->secrets->trust = trust;
    return config;
}

/* All server names, which rules are checked against; free() it. */
static const char **names_of(const json_t *root, size_t *ret_count)
{
    const char **names;
    size_t count = 0;

    for (size_t k = 0; k < GBX_COUNTOF(server_keys); k++)
        count += json_object_size(json_object_get(root, server_keys[k]));
    names = calloc(count + 1, sizeof *names);
    *ret_count = 0;
    for (size_t k = 0; names != NULL && k < GBX_COUNTOF(server_keys); k++) {
        json_t *servers = json_object_get(root, server_keys[k]);

        for (void *at = json_object_iter(servers); at != NULL;
             at = json_object_iter_next(servers, at))
            names[(*ret_count)++] = json_object_iter_key(at);
    }
    return names;
}

static gbx_status read_own(gbx_json_reader *r, const char *name, const json_t *value,
                           void *target)
{
    (void)target;
    return strcmp(name, "glovebox") == 0 ? gbx_mcp_read_settings(r, value) : GBX_OK;
}

static gbx_status read_servers(gbx_json_reader *r, const char *name,
                               const json_t *value, void *target)
{
    for (size_t k = 0; k < GBX_COUNTOF(server_keys); k++)
        if (strcmp(name, server_keys[k]) == 0)
            return gbx_json_read_members(r, value, gbx_mcp_read_server, target);
    return GBX_OK;
}

/* Is the server's text valid JSON that our parser rejects (a duplicate name, NUL, half
 * a surrogate pair, a number that is too large)? *ret says what and where. */
static bool is_unread(const gbx_json_reader *r, gbx_view value, gbx_error *ret)
{
    GBX_CLEANUP(release_json) json_t *root = NULL;
    gbx_json_reader own = {.text = value.at, .len = value.len, .err = ret};
    uint32_t line;
    uint32_t column;

    if (gbx_json_decode(&own, "server", value.len, CONFIG_DEPTH_MAX, &root) !=
        GBX_E_POLICY)
        return false;
    gbx_utf8_position(r->text, r->len, (size_t)(value.at - r->text), &line, &column);
    ret->column += ret->line == 1 ? column - 1 : 0;
    ret->line += line - 1;
    return true;
}

static bool set_aside(gbx_mcp_reader *all, gbx_view name, const gbx_error *err)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf plain;
    struct gbx_mcp_unread *unread;

    gbx_buf_init(&plain, name.len + 1);
    if (!gbx_view_take_text(name, &plain) || !gbx_buf_append(&plain, "", 1))
        return true; /* the name itself cannot be read: the whole file is refused */
    unread = gbx_list_room(&all->unread, all->unread_count, sizeof *unread);
    if (unread == NULL)
        return false;
    all->unread_count++;
    *unread =
        (struct gbx_mcp_unread){.name = gbx_buf_take_string(&plain, NULL), .err = *err};
    return true;
}

/* Does an earlier server have this name? Nobody knows which of them is meant. */
static bool is_second(const gbx_json_reader *r, gbx_view servers, gbx_view name,
                      gbx_error *ret)
{
    size_t cursor = 0;
    gbx_view other;
    gbx_view value;

    while (gbx_view_next(servers, &cursor, &other, &value) && other.at < name.at)
        if (other.len == name.len && memcmp(other.at, name.at, name.len) == 0) {
            (void)gbx_refuse(ret, "", 0, "another server has this name: rename one");
            gbx_utf8_position(r->text, r->len, (size_t)(name.at - r->text), &ret->line,
                              &ret->column);
            return true;
        }
    return false;
}

/* Set servers aside that the parser rejects: replace a server's value by a number, and
 * remove a duplicate name. Skipped if there are too many servers, since each is
 * compared with all before it. */
static gbx_status set_unread_aside(gbx_mcp_reader *all, char *text, gbx_view servers)
{
    gbx_json_reader *r = &all->rules.json;
    const char *second = NULL; /* its beginning; erased once its end is known */
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    if (gbx_view_count(servers) > GBX_MCP_SERVERS_MAX)
        return GBX_OK;
    while (gbx_view_next(servers, &cursor, &name, &value)) {
        size_t at = (size_t)(value.at - text);
        gbx_error err = {0};

        if (second != NULL)
            gbx_jsonc_erase(text, (size_t)(second - text), (size_t)(name.at - text));
        second = is_second(r, servers, name, &err) ? name.at : NULL;
        if (second == NULL && !is_unread(r, value, &err))
            continue;
        if (!set_aside(all, name, &err))
            return gbx_list_nomem(r->err);
        gbx_jsonc_erase(text, at, at + value.len);
        text[at] = '0';
    }
    if (second != NULL)
        gbx_jsonc_erase(text, (size_t)(second - text),
                        (size_t)(value.at + value.len - text));
    gbx_jsonc_blank(text, r->len); /* removes commas that are now the last */
    return GBX_OK;
}

/* Decode the file. Bad servers are set aside, so that the others stay usable. */
static gbx_status decode(gbx_mcp_reader *all, char *text, json_t **ret)
{
    gbx_json_reader *r = &all->rules.json;
    gbx_status status =
        gbx_json_decode(r, "configuration", CONFIG_BYTES_MAX, CONFIG_DEPTH_MAX, ret);
    gbx_view root;

    if (status != GBX_E_POLICY || !gbx_view_open(text, r->len, &root))
        return status;
    for (size_t k = 0; k < GBX_COUNTOF(server_keys); k++)
        if (set_unread_aside(all, text, gbx_view_member(root, server_keys[k])) !=
            GBX_OK)
            return GBX_E_NOMEM;
    if (all->unread_count == 0)
        return status;
    *r->err = (gbx_error){0};
    return gbx_json_decode(r, "configuration", CONFIG_BYTES_MAX, CONFIG_DEPTH_MAX, ret);
}

static gbx_status read_all(gbx_mcp_reader *all, char *text, gbx_error *reterr)
{
    GBX_CLEANUP(release_json) json_t *root = NULL;
    GBX_CLEANUP(gbx_free) const char **names = NULL;
    gbx_json_reader *r = &all->rules.json;
    gbx_status status = decode(all, text, &root);

    if (status != GBX_OK)
        return status;
    names = names_of(root, &all->rules.server_count);
    if (names == NULL)
        return gbx_list_nomem(reterr);
    all->rules.servers = names;
    status = gbx_json_read_members(r, root, read_own, NULL);
    if (status == GBX_OK)
        status = gbx_json_read_members(r, root, read_servers, NULL);
    return status == GBX_OK ? gbx_secrets_prepare(r->policy, r->err) : status;
}

/* Must run before unwanted members are blanked. */
static gbx_status check_slips(const char *text, size_t len, gbx_error *reterr)
{
    gbx_view root;
    gbx_view name;
    gbx_view value;
    size_t cursor = 0;

    if (!gbx_view_open(text, len, &root) || gbx_view_kind(root) != '{')
        return GBX_OK; /* the parser reports this */
    while (gbx_view_next(root, &cursor, &name, &value)) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf plain;
        char quote[GBX_QUOTE_SIZE];
        const char *meant = NULL;

        gbx_buf_init(&plain, name.len + 1);
        if (gbx_view_take_text(name, &plain) && gbx_buf_append(&plain, "", 1))
            meant = gbx_mcp_typo_of((const char *)plain.data, top_keys,
                                    GBX_COUNTOF(top_keys), TOP_LOOSE);
        if (meant == NULL)
            continue;
        (void)gbx_refuse(reterr, "", 0, "%s: unknown key: did you mean '%s'?",
                         gbx_quote(quote, (const char *)plain.data, plain.len - 1),
                         meant);
        gbx_utf8_position(text, len, (size_t)(name.at - text), &reterr->line,
                          &reterr->column);
        return GBX_E_POLICY;
    }
    return GBX_OK;
}

static char *directory_of(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static gbx_status read_file(int fd, const char *path, gbx_buf *buf, gbx_error *reterr)
{
    for (;;) {
        uint8_t *at = gbx_buf_reserve(buf, GBX_KIB(16));
        ssize_t n = at != NULL ? read(fd, at, GBX_KIB(16)) : 0;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gbx_fail(reterr, GBX_E_OS, "cannot read the configuration '%s': %s",
                            path, gbx_fail_reason(errno));
        if (buf->failed)
            return gbx_fail(reterr, GBX_E_POLICY,
                            "the configuration '%s' is larger than %zu bytes", path,
                            CONFIG_BYTES_MAX);
        if (n == 0)
            return GBX_OK;
        buf->len += (size_t)n;
    }
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_mcp_config_parse(const char *text, size_t len, const char *path,
                                gbx_trust trust, gbx_mcp_config **ret,
                                gbx_error *reterr)
{
    GBX_CLEANUP(release_config) gbx_mcp_config *config = config_new(path, trust);
    size_t mark_len = gbx_jsonc_mark_len(text, len);
    GBX_CLEANUP(gbx_free) char *copy = malloc(len + 1);
    GBX_CLEANUP(gbx_free) char *directory = directory_of(path);
    gbx_error err = {0};
    gbx_mcp_reader all = {.config = config};
    gbx_status status;

    if (config == NULL || copy == NULL || directory == NULL)
        return gbx_list_nomem(reterr);
    len -= mark_len;
    memcpy(copy, text + mark_len, len);
    copy[len] = '\0';
    gbx_jsonc_blank(copy, len);
    status = check_slips(copy, len, &err);
    gbx_jsonc_keep(copy, len, wanted);
    all.rules.rules = config->rules;
    all.rules.json = (gbx_json_reader){.text = copy,
                                       .len = len,
                                       .base_dir = directory,
                                       .policy = config->rules->secrets,
                                       .err = &err};
    if (status == GBX_OK)
        status = read_all(&all, copy, &err);
    gbx_names_cut(all.unset, 0, all.unset_count);
    free(all.unset);
    for (size_t i = 0; i < all.unread_count; i++)
        free(all.unread[i].name);
    free(all.unread);
    explicit_bzero(copy, len); /* it may hold secrets */
    if (status != GBX_OK) {
        if (reterr != NULL)
            *reterr = err;
        return status;
    }
    *ret = config;
    config = NULL;
    return GBX_OK;
}

gbx_status gbx_mcp_config_load(const char *path, gbx_trust trust, gbx_mcp_config **ret,
                               gbx_error *reterr)
{
    const gbx_trusted_file file = {path, "the configuration ", O_RDONLY, trust, false};
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};
    gbx_status status;

    if (path == NULL)
        return gbx_mcp_config_parse("{}", 2, NULL, trust, ret, reterr);
    status = gbx_trusted_file_open(&file, &fd, NULL, reterr);
    if (status != GBX_OK)
        return status;
    gbx_buf_init_secret(&buf, CONFIG_BYTES_MAX + GBX_KIB(16));
    status = read_file(fd, path, &buf, reterr);
    if (status == GBX_OK)
        status = gbx_mcp_config_parse(buf.data != NULL ? (const char *)buf.data : "",
                                      buf.len, path, trust, ret, reterr);
    if (status == GBX_OK)
        gbx_config_fingerprint_set((*ret)->stamp, fd, buf.data, buf.len);
    return status;
}

void gbx_mcp_config_free(gbx_mcp_config *config)
{
    if (config == NULL)
        return;
    for (size_t i = 0; i < config->server_count; i++)
        gbx_mcp_free_server(&config->servers[i]);
    free(config->servers);
    free(config->settings.tool_prefix);
    free(config->settings.audit_path);
    gbx_gate_rules_free(config->rules);
    free(config->stamp);
    free(config->path);
    free(config);
}

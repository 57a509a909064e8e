/* SPDX-License-Identifier: MIT */
/*
 * config - reads a configuration file; see config.h.
 *
 * The top-level key "glovebox" is read first: declared secrets keep their names, and
 * secrets found in env and headers get other names.
 */
#include "mcp/config/config.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/config/config_reader.h"
#include "policy/policy.h"
#include "remote/remote.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the settings: the members of "glovebox" at the top of a file -------------- */

static gbx_status read_tool_names(gbx_json_reader *r, gbx_view value, void *target)
{
    gbx_mcp_settings *settings = target;
    bool is_empty = gbx_view_is_text(value, "");

    if (!is_empty && !gbx_view_is_text(value, "mcp_"))
        return gbx_json_refuse(r,
                               "this is \"\" or \"mcp_\": what the names of the tools "
                               "begin with");
    free(settings->tool_prefix);
    settings->tool_prefix = gbx_need(strdup(is_empty ? "" : "mcp_"));
    return GBX_OK;
}

/* The path is relative to the file, like its other paths. */
static gbx_status read_audit(gbx_json_reader *r, gbx_view value, void *target)
{
    static const char wanted[] = "the path of a file, or \"-\"";
    gbx_mcp_settings *settings = target;
    char path[PATH_MAX];
    const char *text;
    gbx_status status = gbx_json_read_text(r, value, wanted, &text);

    if (status != GBX_OK)
        return status;
    if (*text == '\0')
        return gbx_json_refuse_type(r, value, wanted);
    status = gbx_full_path(r->base_dir, text, strlen(text), path, r->err);
    if (status != GBX_OK)
        return gbx_json_placed(r, status);
    settings->audit_path = gbx_need(strdup(strcmp(text, "-") == 0 ? "-" : path));
    return GBX_OK;
}

static gbx_status read_runner_text(gbx_json_reader *r, gbx_view value, void *target)
{
    const char **to = (const char **)target + r->row->offset;

    return gbx_json_read_text(r, value, "a string", to);
}

/* Becomes one address; the paths are relative to the file. */
static gbx_status read_runner(gbx_json_reader *r, gbx_view value, void *target)
{
    static const gbx_json_key keys[] = {
        {.name = "nats", .read = read_runner_text, .offset = 0},
        {.name = "creds", .read = read_runner_text, .offset = 1},
        {.name = "tlsCa", .read = read_runner_text, .offset = 2},
    };
    static const char *const parameters[] = {NULL, "creds", "tls-ca"};
    gbx_mcp_settings *settings = target;
    const char *texts[GBX_COUNTOF(keys)] = {NULL};
    gbx_buf address = {.ceiling = GBX_KIB(16)};
    char path[PATH_MAX];
    gbx_remote_url url;
    gbx_error err;
    gbx_status status = gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), texts);

    if (status == GBX_OK)
        status = gbx_json_require(r, value, "nats", "the address of the server");
    (void)gbx_buf_puts(&address, texts[0] != NULL ? texts[0] : "");
    for (size_t i = 1; status == GBX_OK && i < GBX_COUNTOF(keys); i++)
        if (texts[i] != NULL) {
            status = gbx_json_placed(r, gbx_full_path(r->base_dir, texts[i],
                                                      strlen(texts[i]), path, r->err));
            gbx_remote_url_put(&address, parameters[i], path);
        }
    settings->runner = gbx_need(gbx_buf_take_string(&address, NULL));
    return status == GBX_OK &&
                   gbx_remote_url_parse(settings->runner, &url, &err) != GBX_OK
               ? gbx_json_refuse(r, "%s", err.message)
               : status;
}

static gbx_status read_limits(gbx_json_reader *r, gbx_view value, void *target)
{
#define NUMBER(name, field, least, most) \
    GBX_JSON_NUMBER(name, gbx_mcp_settings, field, least, most)
    static const gbx_json_key keys[] = {
        NUMBER("timeoutMs", timeout_ms, 1, 600000),
        NUMBER("sleepMs", sleep_ms, 1, 600000),
        NUMBER("codeBytes", code_bytes, 1, GBX_MIB(1)),
        NUMBER("outputBytes", output_bytes, 1, GBX_MIB(256)),
        NUMBER("memoryBytes", memory_bytes, GBX_MIB(8), GBX_MIB(4096)),
        NUMBER("replyBytes", reply_bytes, 1000, GBX_MIB(1)),
        NUMBER("calls", calls, 1, 1000000),
        NUMBER("callsAtOnce", calls_at_once, 1, 1024),
        NUMBER("artifactMs", artifact_ms, 1000, 86400000),
        NUMBER("artifactBytes", artifact_bytes, 1000, GBX_MIB(1024)),
    };
#undef NUMBER

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), target);
}

static void gbx_mcp_settings_default(gbx_mcp_settings *settings)
{
    *settings = (gbx_mcp_settings){
        .tool_prefix = gbx_need(strdup("")),
        .timeout_ms = 120000,
        .sleep_ms = 30000,
        .code_bytes = GBX_KIB(50),
        .output_bytes = GBX_MIB(10),
        .memory_bytes = GBX_MIB(128),
        .reply_bytes = 40000,
        .calls = 1000,
        .calls_at_once = 32,
        .artifact_ms = 3600000,
        .artifact_bytes = GBX_MIB(64),
    };
}

/* Read our own top-level key. */
static gbx_status read_settings(gbx_json_reader *r, const char *name, gbx_view value,
                                void *target)
{
    static const gbx_json_key keys[] = {
        {.name = "toolNames", .read = read_tool_names},
        {.name = "limits", .read = read_limits},
        {.name = "rules", .read = gbx_rules_read},
        {.name = "defaults", .read = gbx_rules_read_defaults},
        {.name = "secrets", .read = gbx_rules_read_secrets},
        {.name = "audit", .read = read_audit},
        {.name = "runner", .read = read_runner},
    };

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), target);
}

bool gbx_config_has_changed(const gbx_mcp_config *config)
{
    struct stat now;

    return S_ISREG(config->read.st_mode) && stat(config->path, &now) == 0 &&
           S_ISREG(now.st_mode) && !gbx_file_is_same(&now, &config->read);
}

/* ---- JSON as editors accept it ------------------------------------------------ */

/* Comments, and commas before closing brackets, are replaced by blanks, so that all
 * other text keeps its position. */

/* The offset behind the comment at `at`; or `at` itself if no whole comment is
 * there. */
static size_t past_comment(const char *text, size_t len, size_t at)
{
    const char *end = NULL;

    if (at + 1 >= len || text[at] != '/')
        return at;
    if (text[at + 1] == '/') {
        end = memchr(text + at, '\n', len - at);
        return end != NULL ? (size_t)(end - text) : len;
    }
    if (text[at + 1] == '*')
        end = memmem(text + at + 2, len - at - 2,
                     "*"
                     "/",
                     2);
    return end != NULL ? (size_t)(end - text) + 2 : at;
}

/* Works in place. Text that is neither JSON nor a comment stays. */
static void blank(char *text, size_t len)
{
    size_t comma = len; /* the last non-blank, if it is a comma */

    for (size_t at = 0; at < len;) {
        size_t end = past_comment(text, len, at);

        if (end > at) {
            for (; at < end; at++) /* line breaks stay */
                if (text[at] != '\n' && text[at] != '\r')
                    text[at] = ' ';
            continue;
        }
        if ((text[at] == ']' || text[at] == '}') && comma < len)
            text[comma] = ' ';
        if (text[at] == ',')
            comma = at;
        else if (strchr(" \t\r\n", text[at]) == NULL || text[at] == '\0')
            comma = len;
        if (text[at] == '"') /* to the end of the string */
            for (at++; at < len && text[at] != '"'; at++)
                if (text[at] == '\\')
                    at++;
        at++;
    }
}

/* ---- the file ---------------------------------------------------------------- */

#define CONFIG_BYTES_MAX GBX_MIB(4)

static const char *const top_keys[] = {"mcpServers", "glovebox", "servers"};
#define TOP_LOOSE 2 /* not "servers": hosts may have a "server" */

static void release_config(gbx_mcp_config **config)
{
    gbx_mcp_config_free(*config);
}

static gbx_mcp_config *config_new(const char *path, gbx_trust trust)
{
    gbx_mcp_config *config = gbx_need(calloc(1, sizeof *config));

    gbx_mcp_settings_default(&config->settings);
    config->rules = gbx_need(gbx_gate_rules_new());
    config->path = path != NULL ? gbx_need(strdup(path)) : NULL;
    config->trust = config->rules->secrets->trust = trust;
    return config;
}

/* Rules are checked against the names of all servers. */
static gbx_status note_name(gbx_json_reader *r, const char *name, gbx_view value,
                            void *target)
{
    gbx_rules_reader *rules = target;

    *(const char **)gbx_need(gbx_list_room(&rules->servers, rules->server_count,
                                           sizeof *rules->servers)) = name;
    rules->server_count++;
    return GBX_OK;
}

static gbx_status note_names(gbx_json_reader *r, const char *name, gbx_view value,
                             void *target)
{
    return gbx_json_each_member(r, value, note_name, target);
}

static gbx_status read_servers(gbx_json_reader *r, const char *name, gbx_view value,
                               void *target)
{
    return gbx_json_each_member(r, value, gbx_mcp_read_server, target);
}

/* Hosts may have other members of the root. A misspelling of one of ours is refused. */
static gbx_status check_typos(const gbx_json_reader *r, gbx_view root)
{
    gbx_view name;
    gbx_view value;
    size_t cursor = 0;

    while (gbx_view_next(root, &cursor, &name, &value)) {
        GBX_CLEANUP(gbx_free) char *plain = gbx_view_string(name, name.len);
        char quote[GBX_QUOTE_SIZE];
        const char *meant = NULL;

        if (plain != NULL)
            meant = gbx_mcp_typo_of(plain, top_keys, GBX_COUNTOF(top_keys), TOP_LOOSE);
        if (meant == NULL)
            continue;
        (void)gbx_refuse(r->err, "", 0, "%s: unknown key: did you mean '%s'?",
                         gbx_quote(quote, plain, strlen(plain)), meant);
        gbx_utf8_position(r->text, r->len, (size_t)(name.at - r->text), &r->err->line,
                          &r->err->column);
        return GBX_E_POLICY;
    }
    return GBX_OK;
}

static gbx_status read_all(gbx_mcp_reader *all)
{
    const struct {
        const char *name;
        gbx_json_member_fn read;
        void *target;
    } steps[] = {
        {"mcpServers", note_names, &all->rules},
        {"servers", note_names, &all->rules},
        {"glovebox", read_settings, &all->config->settings},
        {"mcpServers", read_servers, NULL},
        {"servers", read_servers, NULL},
    };
    gbx_json_reader *r = &all->rules.json;
    gbx_view root = {0};
    gbx_status status =
        gbx_json_open(r, "configuration", CONFIG_BYTES_MAX, GBX_JSON_DEPTH_MAX, &root);

    if (status == GBX_OK)
        status = check_typos(r, root);
    for (size_t i = 0; status == GBX_OK && i < GBX_COUNTOF(steps); i++)
        status = gbx_json_read_member(r, root, steps[i].name, steps[i].read,
                                      steps[i].target);
    return status == GBX_OK ? gbx_secrets_prepare(r->policy, r->err) : status;
}

gbx_status gbx_mcp_config_parse(const char *text, size_t len, const char *path,
                                gbx_trust trust, gbx_mcp_config **ret,
                                gbx_error *reterr)
{
    GBX_CLEANUP(release_config) gbx_mcp_config *config = config_new(path, trust);
    /* Editors do not count a byte order mark as a column. */
    size_t mark_len = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    GBX_CLEANUP(gbx_free) char *copy = gbx_need(malloc(len + 1));
    GBX_CLEANUP(gbx_free) char *directory = gbx_need(gbx_directory_of(path));
    gbx_error err = {0};
    gbx_mcp_reader all = {.config = config};
    gbx_status status;

    len -= mark_len;
    memcpy(copy, text + mark_len, len);
    copy[len] = '\0';
    blank(copy, len);
    all.rules.rules = config->rules;
    all.rules.json = (gbx_json_reader){.text = copy,
                                       .len = len,
                                       .base_dir = directory,
                                       .policy = config->rules->secrets,
                                       .err = &err};
    status = read_all(&all);
    gbx_names_free(all.unset, all.unset_count);
    free(all.rules.servers);
    gbx_json_end(&all.rules.json);
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
    status = gbx_trusted_file_read(&file, CONFIG_BYTES_MAX, &buf, &fd, NULL, reterr);
    if (status != GBX_OK)
        return status;
    status = gbx_mcp_config_parse(buf.data != NULL ? (const char *)buf.data : "",
                                  buf.len, path, trust, ret, reterr);
    if (status == GBX_OK && fstat(fd, &(*ret)->read) != 0)
        (*ret)->read = (struct stat){0};
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
    gbx_wipe(config->settings.runner);
    gbx_gate_rules_free(config->rules);
    free(config->path);
    free(config);
}

/* SPDX-License-Identifier: MIT */
/* access_file - reads the file of --oauth:
 *
 *     {"issuer": "https://login.example.com",
 *      "resource": "https://mcp.example.com/mcp",
 *      "scopes": {"orders": {"tools": ["compute"], "datasets": ["orders"]}}}
 */
#include "mcp/access/access.h"

#include "base/cleanup.h"
#include "policy/json_reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX  GBX_KIB(64)
#define TEXT_MAX  500 /* of a URL */
#define SCOPE_MAX 100

/* Signatures by public keys: with a shared secret, whoever can check a token could make
 * one. */
static const char *const known_algorithms[] = {"RS256", "RS384", "RS512",
                                               "PS256", "PS384", "PS512",
                                               "ES256", "ES384", "ES512"};
static const char *const known_tools[] = {"compute", "execute",   "discover",
                                          "call",    "provision", "*"};

static bool is_among(const char *const *list, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

static bool has_name(const gbx_access_names *names, const char *name)
{
    return is_among((const char *const *)names->items, names->count, name) ||
           is_among((const char *const *)names->items, names->count, "*");
}

bool gbx_access_gives_tool(const gbx_access_file *file, uint32_t scopes,
                           const char *tool)
{
    const char *name = strncmp(tool, "mcp_", 4) == 0 ? tool + 4 : tool;

    for (size_t i = 0; i < file->scope_count; i++)
        if ((scopes >> i & 1) != 0 && has_name(&file->scopes[i].tools, name))
            return true;
    return false;
}

bool gbx_access_gives_dataset(const gbx_access_file *file, uint32_t scopes,
                              const char *dataset)
{
    for (size_t i = 0; i < file->scope_count; i++)
        if ((scopes >> i & 1) != 0 && has_name(&file->scopes[i].datasets, dataset))
            return true;
    return false;
}

bool gbx_access_gives_metrics(const gbx_access_file *file, uint32_t scopes)
{
    for (size_t i = 0; i < file->scope_count; i++)
        if ((scopes >> i & 1) != 0 && file->scopes[i].metrics)
            return true;
    return false;
}

bool gbx_access_takes_algorithm(const gbx_access_file *file, const char *name)
{
    return file->algorithms.count > 0
               ? is_among((const char *const *)file->algorithms.items,
                          file->algorithms.count, name)
               : is_among(known_algorithms, GBX_COUNTOF(known_algorithms), name);
}

/* ---- reading ------------------------------------------------------------------- */

static gbx_status add_name(gbx_json_reader *r, const char *text, size_t len,
                           void *target)
{
    void *field = (char *)target + r->row->offset;
    gbx_access_names *names = field;

    return gbx_names_add(&names->items, &names->count, text, len, r->err);
}

static gbx_status add_tool(gbx_json_reader *r, const char *text, size_t len,
                           void *target)
{
    if (!is_among(known_tools, GBX_COUNTOF(known_tools), text))
        return gbx_refuse(
            r->err, text, 0,
            "the tools are compute, execute, discover, call, provision, or "
            "'*' for all");
    return add_name(r, text, len, target);
}

static gbx_status add_algorithm(gbx_json_reader *r, const char *text, size_t len,
                                void *target)
{
    if (!is_among(known_algorithms, GBX_COUNTOF(known_algorithms), text))
        return gbx_refuse(r->err, text, 0,
                          "the algorithms are RS, PS or ES with 256, 384 or 512");
    return add_name(r, text, len, target);
}

/* It must fit into a header field, between quotes. */
static bool is_quotable(const char *text)
{
    size_t len = 0;

    while (text[len] >= ' ' && text[len] <= '~' && strchr("\"\\", text[len]) == NULL)
        len++;
    return text[len] == '\0' && len > 0 && len <= TEXT_MAX;
}

static gbx_status read_string(gbx_json_reader *r, gbx_view value, void *target)
{
    void *at = (char *)target + r->row->offset;
    char **field = at;
    const char *text;
    gbx_status status = gbx_json_read_text(r, value, "a string", &text);

    if (status == GBX_OK && !is_quotable(text))
        return gbx_json_refuse(r,
                               "this has at most %d characters of ASCII, without "
                               "quotes and backslashes",
                               TEXT_MAX);
    if (status == GBX_OK)
        *field = gbx_need(strdup(text));
    return status;
}

/* A URL, of which only the beginning is checked here. */
static gbx_status read_url(gbx_json_reader *r, gbx_view value, void *target)
{
    static const char *const begins[] = {"https://", "http://127.0.0.1:",
                                         "http://localhost:", "http://[::1]:"};

    for (size_t i = 0; i < GBX_COUNTOF(begins); i++)
        if (value.len > strlen(begins[i]) + 2 &&
            memcmp(value.at + 1, begins[i], strlen(begins[i])) == 0 &&
            memchr(value.at, '?', value.len) == NULL &&
            memchr(value.at, '#', value.len) == NULL)
            return read_string(r, value, target);
    return gbx_json_refuse(r, "this is an https URL, or an http one of this machine, "
                              "without '?' and '#'");
}

static gbx_status read_flag(gbx_json_reader *r, gbx_view value, void *target)
{
    void *at = (char *)target + r->row->offset;

    return gbx_json_read_bool(r, value, at);
}

/* The names of scopes stand in lists with blanks between them (RFC 6749). */
static gbx_status read_scope(gbx_json_reader *r, const char *name, gbx_view value,
                             void *target)
{
    static const gbx_json_key keys[] = {
        {.name = "tools",
         .read = gbx_json_read_list,
         .add = add_tool,
         .offset = offsetof(gbx_scope, tools)},
        {.name = "datasets",
         .read = gbx_json_read_list,
         .add = add_name,
         .offset = offsetof(gbx_scope, datasets)},
        {.name = "metrics", .read = read_flag, .offset = offsetof(gbx_scope, metrics)},
    };
    gbx_access_file *file = target;
    gbx_scope *scope = &file->scopes[file->scope_count];

    if (strchr(name, ' ') != NULL || strlen(name) > SCOPE_MAX || !is_quotable(name))
        return gbx_json_refuse_key(r,
                                   "a scope has at most %d characters of ASCII, "
                                   "without blanks, quotes and backslashes",
                                   SCOPE_MAX);
    if (file->scope_count == GBX_SCOPES_MAX)
        return gbx_json_refuse_key(r, "there are more than %d scopes", GBX_SCOPES_MAX);
    scope->name = gbx_need(strdup(name));
    file->scope_count++;
    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), scope);
}

static gbx_status read_scopes(gbx_json_reader *r, gbx_view value, void *target)
{
    return gbx_json_read_members(r, value, read_scope, target);
}

gbx_status gbx_access_parse(const char *text, size_t len, gbx_access_file *ret,
                            gbx_error *reterr)
{
    static const gbx_json_key keys[] = {
        {.name = "issuer",
         .read = read_url,
         .offset = offsetof(gbx_access_file, issuer)},
        {.name = "resource",
         .read = read_url,
         .offset = offsetof(gbx_access_file, resource)},
        {.name = "audience",
         .read = read_string,
         .offset = offsetof(gbx_access_file, audience)},
        {.name = "algorithms",
         .read = gbx_json_read_list,
         .add = add_algorithm,
         .offset = offsetof(gbx_access_file, algorithms)},
        {.name = "scopes", .read = read_scopes},
    };
    static const char *const required[][2] = {
        {"issuer", "the authorization server whose tokens are accepted"},
        {"resource", "the URL at which clients find this server"},
        {"scopes", "what each scope of a token gives"},
    };
    gbx_json_reader reader = {.text = text, .len = len, .err = reterr};
    gbx_view root = {0};
    gbx_status status =
        gbx_json_open(&reader, "file of --oauth", FILE_MAX, GBX_JSON_DEPTH_MAX, &root);

    if (status == GBX_OK)
        status = gbx_json_read_object(&reader, root, keys, GBX_COUNTOF(keys), ret);
    for (size_t i = 0; status == GBX_OK && i < GBX_COUNTOF(required); i++)
        status = gbx_json_require(&reader, root, required[i][0], required[i][1]);
    gbx_json_end(&reader);
    if (status != GBX_OK)
        return status;
    if (ret->audience == NULL)
        ret->audience = gbx_need(strdup(ret->resource));
    return GBX_OK;
}

gbx_status gbx_access_read(const char *path, gbx_trust trust, gbx_access_file *ret,
                           gbx_error *reterr)
{
    const gbx_trusted_file file = {path, "the file of --oauth ", O_RDONLY, trust,
                                   false};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    gbx_status status =
        gbx_trusted_file_read(&file, FILE_MAX, &text, NULL, NULL, reterr);

    return status == GBX_OK
               ? gbx_access_parse((const char *)text.data, text.len, ret, reterr)
               : status;
}

void gbx_access_file_cleanup(gbx_access_file *file)
{
    free(file->issuer);
    free(file->resource);
    free(file->audience);
    gbx_names_free(file->algorithms.items, file->algorithms.count);
    for (size_t i = 0; i < file->scope_count; i++) {
        gbx_scope *scope = &file->scopes[i];

        free(scope->name);
        gbx_names_free(scope->tools.items, scope->tools.count);
        gbx_names_free(scope->datasets.items, scope->datasets.count);
    }
    *file = (gbx_access_file){0};
}

/* SPDX-License-Identifier: MIT */
/*
 * literal_secrets - finds secrets in the texts that a server gets: env, headers,
 * arguments, its URL.
 *
 * They are found by the names of variables, headers, options and query parameters,
 * as in secret_names.c. A password in a URL needs no name, and members of JSON
 * have their own.
 */
#include "mcp/config/config_reader.h"

#include "base/cleanup.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_CHARS                                                   \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" \
    "_-."

/* As gbx_mcp_keep_secret(), for the first len bytes of a longer text. */
static gbx_status keep_part(gbx_json_reader *r, gbx_mcp_sound sound, const char *name,
                            const char *value, size_t len)
{
    char *copy = strndup(value, len);
    gbx_status status;

    if (copy == NULL)
        return gbx_list_nomem(r->err);
    status = gbx_mcp_keep_secret(r, sound, name, copy);
    explicit_bzero(copy, len);
    free(copy);
    return status;
}

/* ?api_key=... */
static gbx_status keep_query(gbx_json_reader *r, const char *query)
{
    gbx_status status = GBX_OK;

    while (status == GBX_OK && *query != '\0' && *query != '#') {
        size_t name_len = strcspn(query, "=&#");
        const char *value = query + name_len + (query[name_len] == '=');
        size_t len = strcspn(value, "&#");
        GBX_CLEANUP(gbx_free) char *name = strndup(query, name_len);

        if (name == NULL)
            return gbx_list_nomem(r->err);
        status = keep_part(r, gbx_mcp_sounds_secret(name), name, value, len);
        query = value + len + (value[len] == '&');
    }
    return status;
}

/* It is certainly a password; but a common word stays in answers. */
static gbx_status keep_password(gbx_json_reader *r, const char *name, const char *value,
                                size_t len)
{
    GBX_CLEANUP(gbx_free) char *of_name = NULL;

    if (asprintf(&of_name, "%s_PASSWORD", name) < 0)
        return gbx_list_nomem(r->err);
    return keep_part(r, GBX_MCP_SECRET, of_name, value, len);
}

/* scheme://user:password@host/path?query; a user without a password may be a
 * secret, too. */
static gbx_status keep_address(gbx_json_reader *r, const char *name, const char *text)
{
    const char *slashes = strstr(text, "://");
    const char *user = slashes != NULL ? slashes + 3 : NULL;
    const char *at;
    const char *colon;
    const char *query;
    gbx_status status = GBX_OK;

    if (user == NULL)
        return GBX_OK;
    at = memrchr(user, '@', strcspn(user, "/?#"));
    colon = at != NULL ? memchr(user, ':', (size_t)(at - user)) : NULL;
    if (colon != NULL)
        status = keep_password(r, name, colon + 1, (size_t)(at - colon - 1));
    else if (at != NULL)
        status = keep_part(r, GBX_MCP_PERHAPS, name, user, (size_t)(at - user));
    query = strchr(user, '?');
    return status == GBX_OK && query != NULL ? keep_query(r, query + 1) : status;
}

/* "Authorization: Bearer abc, X: y", whatever the whole text is called. */
static gbx_status keep_keys(gbx_json_reader *r, const char *name, const char *text)
{
    static const char *const schemes[] = {"Bearer ", "Basic "};
    gbx_status status = GBX_OK;

    for (size_t i = 0; i < GBX_COUNTOF(schemes); i++)
        for (const char *at = text;
             status == GBX_OK && (at = strcasestr(at, schemes[i])) != NULL;) {
            at += strlen(schemes[i]);
            at += strspn(at, " ");
            status = keep_part(r, GBX_MCP_PERHAPS, name, at, strcspn(at, " ,;|\"'"));
        }
    return status;
}

/* {"Authorization": "Bearer abc"}: each value by the name of its member. */
static gbx_status keep_json(gbx_json_reader *r, const char *name, json_t *value)
{
    gbx_status status = GBX_OK;
    const char *member;
    json_t *inner;

    if (json_is_string(value))
        return gbx_mcp_keep_written(r, GBX_MCP_VARIABLE, name,
                                    json_string_value(value));
    for (size_t i = 0; status == GBX_OK && i < json_array_size(value); i++)
        status = keep_json(r, name, json_array_get(value, i));
    json_object_foreach(value, member, inner)
    {
        if (status == GBX_OK)
            status = keep_json(r, member, inner);
    }
    return status;
}

/* Secrets inside a text whose own name does not suggest one. */
static gbx_status keep_inner(gbx_json_reader *r, const char *name, const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    gbx_status status =
        json != NULL ? keep_json(r, name, json) : keep_address(r, name, text);

    json_decref(json);
    return status == GBX_OK ? keep_keys(r, name, text) : status;
}

/* The scheme that comes before a key, such as "Bearer". */
static bool is_scheme(const char *value, size_t len)
{
    static const char *const words[] = {"Bearer", "Basic", "Token"};

    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        if (len == strlen(words[i]) && strncasecmp(value, words[i], len) == 0)
            return true;
    return false;
}

/* NAME=value, Name: value, and the same after an option: --env=NAME=value. */
static gbx_status keep_argument(gbx_json_reader *r, const char *text)
{
    while (true) {
        const char *begin = text + strspn(text, "-");
        size_t len = strspn(begin, NAME_CHARS);
        const char *value = begin + len;
        gbx_mcp_sound sound;
        GBX_CLEANUP(gbx_free) char *name = strndup(begin, len);

        if (name == NULL)
            return gbx_list_nomem(r->err);
        if (len == 0 || (begin[len] != '=' && begin[len] != ':') ||
            strncmp(begin + len, "://", 3) == 0)
            return keep_inner(r, "URL", text);
        value += 1 + strspn(value + 1, " ");
        sound = gbx_mcp_sounds_secret(name);
        if (sound != GBX_MCP_PLAIN)
            return gbx_mcp_keep_written(r,
                                        begin[len] == ':' ? GBX_MCP_HEADER
                                                          : GBX_MCP_VARIABLE,
                                        name, value);
        text = value;
    }
}

/* "--token", whose value is the next argument. */
static bool is_option(const char *arg)
{
    return arg[0] == '-' && arg[1] != '\0' && strpbrk(arg, "=: ") == NULL;
}

/* ---- for the other parts ---------------------------------------------------- */

gbx_status gbx_mcp_keep_written(gbx_json_reader *r, gbx_mcp_written kind,
                                const char *name, const char *value)
{
    gbx_mcp_sound sound = gbx_mcp_sounds_secret(name);
    size_t first = strcspn(value, " ");
    const char *rest = value + first;
    gbx_mcp_sound of_rest =
        sound >= GBX_MCP_SECRET && kind == GBX_MCP_VARIABLE && !is_scheme(value, first)
            ? GBX_MCP_PERHAPS
            : sound;
    gbx_status status = gbx_mcp_keep_secret(r, of_rest, name, rest + strspn(rest, " "));

    if (status == GBX_OK)
        status = gbx_mcp_keep_secret(r, sound, name, value);
    return status == GBX_OK ? keep_inner(r, name, value) : status;
}

gbx_status gbx_mcp_keep_url(gbx_json_reader *r, const char *url)
{
    return keep_address(r, "URL", url);
}

gbx_status gbx_mcp_keep_args(gbx_json_reader *r, const gbx_mcp_upstream_config *server)
{
    gbx_status status = GBX_OK;

    for (size_t i = 0; status == GBX_OK && i < server->arg_count; i++) {
        const char *before =
            i > 0 && is_option(server->args[i - 1]) ? server->args[i - 1] : NULL;

        if (before != NULL && !is_option(server->args[i]))
            status =
                gbx_mcp_keep_written(r, GBX_MCP_VARIABLE, before + strspn(before, "-"),
                                     server->args[i]);
        if (status == GBX_OK)
            status = keep_argument(r, server->args[i]);
    }
    return status;
}

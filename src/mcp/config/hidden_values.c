/* SPDX-License-Identifier: MIT */
/*
 * hidden_values - finds values of an entry that are redacted from answers although they
 * are not declared under "secrets". They are found by their place (in a variable or a
 * URL, after "Bearer"), never by their own form. "plain" names exceptions.
 */
#include "mcp/config/config_reader.h"

#include "base/cleanup.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_SIZE 112

typedef struct hider {
    gbx_json_reader *r;
    gbx_mcp_upstream_config *server;
} hider;

static bool is_taken(const gbx_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->secret_count; i++)
        if (strcmp(policy->secrets[i].name, name) == 0)
            return true;
    return false;
}

static bool is_known(const gbx_policy *policy, const char *value, size_t len)
{
    for (size_t i = 0; i < policy->secret_count; i++)
        if (policy->secrets[i].value_len == len &&
            memcmp(policy->secrets[i].value, value, len) == 0)
            return true;
    return false;
}

/* Choose a name that is valid in a reference and that no other secret has. */
static void choose_name(const gbx_policy *policy, const char *from, char out[NAME_SIZE])
{
    static const char valid[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789";
    char name[80];
    size_t len = 0;

    if (*from == '\0' || (*from >= '0' && *from <= '9'))
        name[len++] = '_';
    for (; *from != '\0' && len + 1 < sizeof name; from++)
        name[len++] = (char)(strchr(valid, *from) != NULL ? *from : '_');
    name[len] = '\0';
    (void)snprintf(out, NAME_SIZE, "%s", name);
    for (unsigned i = 2; is_taken(policy, out); i++)
        (void)snprintf(out, NAME_SIZE, "%s_%u", name, i);
}

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7F;
}

/* Hide len bytes without control characters. Values under GBX_SECRET_MIN are skipped:
 * ordinary text may contain them. */
static gbx_status hide_line(const hider *h, const char *name, const char *value,
                            size_t len)
{
    gbx_policy *policy = h->r->policy;
    gbx_mcp_upstream_config *server = h->server;
    size_t name_len = strlen(name);
    gbx_secret *secret;
    char chosen[NAME_SIZE];
    gbx_status status;

    for (; len > 0 && is_blank(*value); value++)
        len--;
    while (len > 0 && is_blank(value[len - 1]))
        len--;
    if (len < GBX_SECRET_MIN || len > GBX_SECRET_MAX || is_known(policy, value, len))
        return GBX_OK;
    choose_name(policy, name, chosen);
    status =
        gbx_json_placed(h->r, gbx_grant_secret(policy,
                                               &(gbx_entry){.name = chosen,
                                                            .name_len = strlen(chosen),
                                                            .value = value,
                                                            .value_len = len},
                                               &secret, h->r->err));
    if (status != GBX_OK || gbx_names_find(server->hidden, 0, server->hidden_count,
                                           name, name_len) < server->hidden_count)
        return status;
    return gbx_names_add(&server->hidden, &server->hidden_count, name, name_len,
                         h->r->err);
}

/* Answers may contain single lines of a value, such as a private key. */
static gbx_status hide_lines(const hider *h, const char *name, const char *value,
                             size_t len)
{
    const char *end = value + len;
    gbx_status status = GBX_OK;

    while (status == GBX_OK && value < end) {
        size_t line = 0;

        while (value + line < end && (unsigned char)value[line] >= ' ' &&
               value[line] != 0x7F)
            line++;
        status = hide_line(h, name, value, line);
        value += line + 1;
    }
    return status;
}

/* Hide the values of "api_key=...&other=...". */
static gbx_status hide_query(const hider *h, const char *query)
{
    gbx_status status = GBX_OK;

    while (status == GBX_OK && *query != '\0' && *query != '#') {
        size_t name_len = strcspn(query, "=&#");
        const char *value = query + name_len + (query[name_len] == '=');
        size_t len = strcspn(value, "&#");
        GBX_CLEANUP(gbx_free) char *name = gbx_need(strndup(query, name_len));

        status = hide_lines(h, name, value, len);
        query = value + len + (value[len] == '&');
    }
    return status;
}

/* Hide the password (without one, the user) and the query of a URL. */
static gbx_status hide_url_parts(const hider *h, const char *name, const char *url)
{
    const char *slashes = strstr(url, "://");
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
        user = colon + 1;
    if (at != NULL)
        status = hide_lines(h, name, user, (size_t)(at - user));
    query = strchr(user, '?');
    return status == GBX_OK && query != NULL ? hide_query(h, query + 1) : status;
}

/* Hide "abc" of "Authorization: Bearer abc, X: y", anywhere in the text. */
static gbx_status hide_credentials(const hider *h, const char *name, const char *text)
{
    static const char *const schemes[] = {"Bearer ", "Basic ", "Token "};
    gbx_status status = GBX_OK;

    for (size_t i = 0; i < GBX_COUNTOF(schemes); i++)
        for (const char *at = text;
             status == GBX_OK && (at = strcasestr(at, schemes[i])) != NULL;) {
            at += strlen(schemes[i]);
            at += strspn(at, " ");
            status = hide_lines(h, name, at, strcspn(at, " ,;|\"'"));
        }
    return status;
}

static gbx_status hide_text(const hider *h, const char *name, const char *value);

/* Decode a JSON string into the buffer, with a NUL. */
static const char *text_of(gbx_view string, gbx_buf *to)
{
    (void)gbx_view_append_text(string, to);
    (void)gbx_buf_append(to, "", 1);
    return gbx_need(!to->failed ? to->data : NULL);
}

/* {"Authorization": "Bearer abc"}: some servers take their settings as JSON. */
static gbx_status hide_json(const hider *h, const char *name, gbx_view value)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = value.len + 1, .is_secret = true};
    gbx_status status = GBX_OK;
    size_t cursor = 0;
    gbx_view key;
    gbx_view inner;

    if (gbx_view_kind(value) == '"')
        return hide_text(h, name, text_of(value, &text));
    while (status == GBX_OK && gbx_view_next(value, &cursor, &key, &inner)) {
        text.len = 0;
        status = hide_json(h, key.at != NULL ? text_of(key, &text) : name, inner);
    }
    return status;
}

/* Hide credentials and parts of URLs in any text. */
static gbx_status hide_parts(const hider *h, const char *name, const char *text)
{
    gbx_status status = hide_credentials(h, name, text);

    return status == GBX_OK ? hide_url_parts(h, name, text) : status;
}

/* Hide a whole value, and the parts of it that answers may contain alone. */
static gbx_status hide_text(const hider *h, const char *name, const char *value)
{
    gbx_view json;
    gbx_status status;

    if (gbx_names_find(h->server->plain, 0, h->server->plain_count, name,
                       strlen(name)) < h->server->plain_count)
        return GBX_OK;
    if (gbx_view_open(value, strlen(value), &json) &&
        strchr("{[", gbx_view_kind(json)) != NULL)
        status = hide_json(h, name, json);
    else
        status = hide_parts(h, name, value);
    return status == GBX_OK ? hide_lines(h, name, value, strlen(value)) : status;
}

/* "Bearer abc": answers may also contain "abc" alone. */
static gbx_status hide_header(const hider *h, const char *name, const char *value)
{
    const char *rest = strchr(value, ' ');
    gbx_status status = rest != NULL ? hide_text(h, name, rest) : GBX_OK;

    return status == GBX_OK ? hide_text(h, name, value) : status;
}

/* True for names of options and variables such as --github-token and API_KEY. */
static bool is_for_secret(const char *name, size_t len)
{
    static const char *const ends[] = {"token", "key", "secret", "password"};

    for (size_t i = 0; i < GBX_COUNTOF(ends); i++) {
        size_t end = strlen(ends[i]);

        if (len >= end && strncasecmp(name + len - end, ends[i], end) == 0)
            return true;
    }
    return false;
}

/* Does the option take NAME=VALUE of a variable, or a header? */
static bool takes_pair(const char *option, size_t len)
{
    static const char *const options[] = {"-e", "--env", "-H", "--header"};

    for (size_t i = 0; i < GBX_COUNTOF(options); i++)
        if (strlen(options[i]) == len && strncmp(options[i], option, len) == 0)
            return true;
    return false;
}

/* before: the previous argument, or "". */
static gbx_status hide_argument(const hider *h, const char *before, const char *arg)
{
    const char *name = arg + strspn(arg, "-");
    size_t len = strcspn(name, "=:");
    const char *value = name + len + (name[len] != '\0');
    size_t before_len = strlen(before);
    GBX_CLEANUP(gbx_free) char *called = NULL;

    if (name[len] == '=' && takes_pair(arg, (size_t)(name + len - arg)))
        return hide_argument(h, "--env", value);
    if (takes_pair(before, before_len) || is_for_secret(name, len)) {
        called = gbx_need(strndup(name, len));
    } else if (*before == '-' && *arg != '-' && is_for_secret(before, before_len)) {
        called = gbx_need(strdup(before + strspn(before, "-")));
        value = arg;
    } else {
        return hide_parts(h, "URL", arg);
    }
    return value > arg && value[-1] == ':'
               ? hide_header(h, called, value + strspn(value, " "))
               : hide_text(h, called, value);
}

static gbx_status hide_variable(void *user, const char *name, const char *value)
{
    return value != NULL ? hide_text(user, name, value) : GBX_OK;
}

gbx_status gbx_mcp_hide_values(gbx_json_reader *r, gbx_mcp_upstream_config *server,
                               const char *url)
{
    hider h = {r, server};
    char *filled = NULL;
    gbx_status status = GBX_OK;

    /* It may have a secret in its path: the values of its variables are hidden, too. */
    if (url != NULL)
        status = gbx_variables_fill(url, hide_variable, &h, &filled, r->err);
    if (status == GBX_OK && url != NULL)
        status = hide_parts(&h, "URL", filled);
    gbx_wipe(filled);
    if (status == GBX_OK && server->oauth.client_secret != NULL)
        status = hide_text(&h, "clientSecret", server->oauth.client_secret);
    for (size_t i = 0; status == GBX_OK && i < server->env_count; i++)
        status = hide_text(&h, server->env[i].name, server->env[i].value);
    for (size_t i = 0; status == GBX_OK && i < server->inherit_count; i++)
        status = hide_variable(&h, server->inherit[i], getenv(server->inherit[i]));
    for (size_t i = 0; status == GBX_OK && i < server->header_count; i++)
        status = hide_header(&h, server->headers[i].name, server->headers[i].value);
    for (size_t i = 0; status == GBX_OK && i < server->arg_count; i++)
        status = hide_argument(&h, i > 0 ? server->args[i - 1] : "", server->args[i]);
    return status;
}

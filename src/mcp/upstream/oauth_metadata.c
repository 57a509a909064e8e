/* SPDX-License-Identifier: MIT */
/*
 * oauth_metadata - finds the authorization server of a server, and its endpoints
 * (RFC 9728, RFC 8414).
 *
 * A document must describe what it was requested for. Otherwise a server could name
 * another one and get tokens for it, and an issuer another one and get its codes.
 */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "fetch/url.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WELL_KNOWN "/.well-known/"

/* Maximum length of one parameter of a challenge, in bytes. */
#define CHALLENGE_MAX 2048

/* ---- URLs ------------------------------------------------------------------------- */

/* False: the URL is invalid or ambiguous, or has a fragment. */
static bool read_url(const gbx_libcurl *lib, const char *text, gbx_url *ret)
{
    return strchr(text, '#') == NULL &&
           gbx_url_parse(lib, text, strlen(text), ret, NULL);
}

static bool is_loopback(const gbx_url *url)
{
    return strcmp(url->host, "localhost") == 0 ||
           (url->is_literal && gbx_address_is_loopback(url->address.bytes));
}

bool gbx_oauth_is_safe(const gbx_libcurl *lib, const char *url, const char *asked)
{
    GBX_CLEANUP(gbx_url_cleanup) gbx_url server = {0};
    GBX_CLEANUP(gbx_url_cleanup) gbx_url other = {0};

    return read_url(lib, url, &server) && read_url(lib, asked, &other) &&
           (other.scheme == GBX_SCHEME_HTTPS ||
            (is_loopback(&server) && is_loopback(&other)));
}

/* True if url is the resource, or below its path. A resource that is not in normal form
 * is refused: another program might read it differently. */
static bool is_within(const gbx_libcurl *lib, const char *url, const char *resource)
{
    GBX_CLEANUP(gbx_url_cleanup) gbx_url own = {0};
    GBX_CLEANUP(gbx_url_cleanup) gbx_url named = {0};
    size_t len = strlen(resource);

    if (!read_url(lib, url, &own) || !read_url(lib, resource, &named) ||
        strncmp(named.text, resource, len) != 0 ||
        (named.text[len] != '\0' && strcmp(named.text + len, "/") != 0))
        return false;
    if (strcmp(own.text, named.text) == 0)
        return true;
    len = strlen(named.text);
    if (named.text[len - 1] == '/')
        len--;
    return strchr(named.text, '?') == NULL && strncmp(own.text, named.text, len) == 0 &&
           (own.text[len] == '/' || own.text[len] == '\0');
}

static const char *find_path(const gbx_url *url)
{
    return strchr(strstr(url->text, "://") + 3, '/');
}

/* The path without the query; "" for "/". To be freed. */
static char *take_path(const gbx_url *url)
{
    const char *path = find_path(url);
    size_t len = strcspn(path, "?");

    return gbx_need(strndup(path, len > 1 ? len : 0));
}

/* "https://host:1/.well-known/NAME/path", or with the name behind the path; to be freed. */
static char *well_known(const gbx_url *url, const char *path, const char *name,
                        bool is_behind)
{
    return gbx_printed("%.*s%s" WELL_KNOWN "%s%s", (int)(find_path(url) - url->text),
                       url->text, is_behind ? path : "", name, is_behind ? "" : path);
}

/* ---- the server --------------------------------------------------------------------- */

char *gbx_oauth_challenge(const char *challenge, const char *name)
{
    size_t len = strlen(name);
    size_t end;
    const char *at = strcasestr(challenge, "bearer");

    while (at != NULL && (at = strcasestr(at + 1, name)) != NULL) {
        const char *value = at + len;

        if (strchr(" ,\t", at[-1]) == NULL || *value != '=')
            continue;
        if (*++value == '"')
            value++;
        end = strcspn(value, value[-1] == '"' ? "\"" : " ,");
        for (size_t i = 0; i < end; i++)
            if (value[i] < ' ' || value[i] > '~')
                return NULL;
        return end <= CHALLENGE_MAX ? gbx_need(strndup(value, end)) : NULL;
    }
    return NULL;
}

/* The metadata of the server: the first of these documents that exists. */
static json_t *find_server(const gbx_libcurl *lib, const char *url,
                           const char *challenge, gbx_oauth_get_fn *get, void *user)
{
    static const char name[] = "oauth-protected-resource";
    GBX_CLEANUP(gbx_url_cleanup) gbx_url server = {0};
    GBX_CLEANUP(gbx_free)
    char *named = gbx_oauth_challenge(challenge, "resource_metadata");
    GBX_CLEANUP(gbx_free) char *path = NULL;
    GBX_CLEANUP(gbx_free) char *below = NULL;
    GBX_CLEANUP(gbx_free) char *root = NULL;
    json_t *found = NULL;

    if (named != NULL && gbx_oauth_is_safe(lib, url, named))
        found = get(user, named);
    if (found != NULL || !read_url(lib, url, &server))
        return found;
    path = take_path(&server);
    below = well_known(&server, path, name, false);
    found = get(user, below);
    if (found != NULL || path[0] == '\0')
        return found;
    root = well_known(&server, "", name, false);
    return get(user, root);
}

/* Values of an array, separated by blanks; NULL: there are none. */
static char *join(const json_t *list)
{
    gbx_buf text = {.ceiling = GBX_KIB(8)};

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *each = json_string_value(json_array_get(list, i));

        if (each != NULL)
            (void)gbx_buf_printf(&text, "%s%s", text.len > 0 ? " " : "", each);
    }
    if (text.len > 0 && !text.failed)
        return gbx_buf_take_string(&text, NULL);
    gbx_buf_cleanup(&text);
    return NULL;
}

static gbx_status read_server(const gbx_libcurl *lib, const char *url,
                              const json_t *document, gbx_oauth_metadata *ret,
                              gbx_error *err)
{
    const char *resource = gbx_oauth_text(document, "resource");
    const char *issuer = json_string_value(
        json_array_get(json_object_get(document, "authorization_servers"), 0));

    if (!is_within(lib, url, resource))
        return gbx_fail(err, GBX_E_DATA,
                        "it says that it is '%.200s', which is another server",
                        resource);
    if (issuer == NULL)
        return gbx_fail(err, GBX_E_DATA, "it names no authorization server");
    ret->resource = gbx_need(strdup(resource));
    ret->issuer = gbx_need(strdup(issuer));
    if (ret->scope == NULL)
        ret->scope = join(json_object_get(document, "scopes_supported"));
    return GBX_OK;
}

/* Before servers had metadata, the origin of a server was its issuer. */
static gbx_status assume_server(const gbx_libcurl *lib, const char *url,
                                gbx_oauth_metadata *ret, gbx_error *err)
{
    GBX_CLEANUP(gbx_url_cleanup) gbx_url server = {0};

    if (!read_url(lib, url, &server))
        return gbx_fail(err, GBX_E_USAGE, "its URL has a user or a fragment");
    ret->resource = gbx_need(strdup(url));
    ret->issuer =
        gbx_need(strndup(server.text, (size_t)(find_path(&server) - server.text)));
    return GBX_OK;
}

/* ---- the authorization server --------------------------------------------------------- */

char *gbx_oauth_issuer_place(const gbx_libcurl *lib, const char *issuer, size_t index)
{
    static const struct {
        const char *name;
        bool is_behind;
    } places[] = {{"oauth-authorization-server", false},
                  {"openid-configuration", false},
                  {"openid-configuration", true}};
    GBX_CLEANUP(gbx_url_cleanup) gbx_url parsed = {0};
    GBX_CLEANUP(gbx_free) char *path = NULL;
    size_t len;

    if (index >= GBX_COUNTOF(places) || !read_url(lib, issuer, &parsed))
        return NULL;
    path = take_path(&parsed);
    len = strlen(path);
    if (len > 0 && path[len - 1] == '/')
        path[len - 1] = '\0';
    if (places[index].is_behind && path[0] == '\0')
        return NULL;
    return well_known(&parsed, path, places[index].name, places[index].is_behind);
}

/* The endpoints of an authorization server without metadata, as defined in the oldest
 * version of the protocol. */
static json_t *assume_endpoints(const char *issuer)
{
    static const char *const names[][2] = {{"authorization_endpoint", "/authorize"},
                                           {"token_endpoint", "/token"},
                                           {"registration_endpoint", "/register"}};
    json_t *made = gbx_need(json_pack("{s:s, s:[s]}", "issuer", issuer,
                                      "code_challenge_methods_supported", "S256"));

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        (void)json_object_set_new(made, names[i][0],
                                  json_sprintf("%s%s", issuer, names[i][1]));
    return made;
}

static gbx_status check_endpoints(const gbx_libcurl *lib, const char *url,
                                  const gbx_oauth_metadata *m, gbx_error *err)
{
    static const char *const needed[] = {"authorization_endpoint", "token_endpoint"};
    const char *issuer = gbx_oauth_text(m->endpoints, "issuer");
    const char *optional = gbx_oauth_text(m->endpoints, "registration_endpoint");

    if (strcmp(issuer, m->issuer) != 0)
        return gbx_fail(err, GBX_E_DATA,
                        "the authorization server '%.200s' calls itself '%.200s'",
                        m->issuer, issuer);
    for (size_t i = 0; i < GBX_COUNTOF(needed); i++)
        if (!gbx_oauth_is_safe(lib, url, gbx_oauth_text(m->endpoints, needed[i])))
            return gbx_fail(err, GBX_E_DATA,
                            "the %s of '%.200s' is missing, or no https URL", needed[i],
                            m->issuer);
    if (*optional != '\0' && !gbx_oauth_is_safe(lib, url, optional))
        return gbx_fail(err, GBX_E_DATA,
                        "the registration_endpoint of '%.200s' is not an https URL",
                        m->issuer);
    if (!gbx_oauth_lists(json_object_get(m->endpoints,
                                         "code_challenge_methods_supported"),
                         "S256"))
        return gbx_fail(err, GBX_E_DATA,
                        "the authorization server '%.200s' does not support PKCE with "
                        "S256",
                        m->issuer);
    return GBX_OK;
}

gbx_status gbx_oauth_discover(const gbx_libcurl *lib, const char *url,
                              const char *challenge, gbx_oauth_get_fn *get, void *user,
                              gbx_oauth_metadata *ret, gbx_error *reterr)
{
    const char *said = challenge != NULL ? challenge : "";
    json_t *document = find_server(lib, url, said, get, user);
    bool is_old = document == NULL;
    gbx_status status;
    char *place;

    *ret = (gbx_oauth_metadata){.scope = gbx_oauth_challenge(said, "scope")};
    if (is_old && challenge == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "the server does not ask for a token");
    if (!gbx_oauth_is_safe(lib, url, url)) {
        json_decref(document);
        return gbx_fail(
            reterr, GBX_E_USAGE,
            "its URL is not https, so everybody on the way would see the token");
    }
    status = is_old ? assume_server(lib, url, ret, reterr)
                    : read_server(lib, url, document, ret, reterr);
    json_decref(document);
    if (status != GBX_OK)
        return status;
    if (!gbx_oauth_is_safe(lib, url, ret->issuer))
        return gbx_fail(reterr, GBX_E_DATA,
                        "its authorization server '%.200s' is not an https URL",
                        ret->issuer);
    for (size_t i = 0; ret->endpoints == NULL &&
                       (place = gbx_oauth_issuer_place(lib, ret->issuer, i)) != NULL;
         i++) {
        ret->endpoints = get(user, place);
        free(place);
    }
    if (ret->endpoints == NULL && is_old)
        ret->endpoints = assume_endpoints(ret->issuer);
    if (ret->endpoints == NULL)
        return gbx_fail(reterr, GBX_E_DATA,
                        "the authorization server '%.200s' has no metadata",
                        ret->issuer);
    return check_endpoints(lib, url, ret, reterr);
}

void gbx_oauth_metadata_cleanup(gbx_oauth_metadata *metadata)
{
    free(metadata->resource);
    free(metadata->scope);
    free(metadata->issuer);
    json_decref(metadata->endpoints);
}

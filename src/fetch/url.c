/* SPDX-License-Identifier: MIT */
/*
 * url - checks text before libcurl's parser, which is more forgiving, reads it;
 * libcurl's result is compared, and never trusted alone.
 */
#include "fetch/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <event2/util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(gbx_fault *fault, const char *why)
{
    return gbx_fault_set(fault, GBX_FAULT_URL, "fetch: %s", why);
}

/* Printable ASCII, without characters that some parsers drop, replace or stop at. */
static bool check_characters(const char *text, size_t len, gbx_fault *fault)
{
    bool in_query = false;

    for (size_t i = 0; i < len; i++) {
        uint8_t c = (uint8_t)text[i];

        if (c >= 0x80)
            return refuse(fault, "the URL has a character that is not ASCII: write "
                                 "hosts in punycode and the rest with %");
        if (c <= 0x20 || c == 0x7F)
            return refuse(fault, "the URL has a space or a control character");
        if (c == '"' || c == '<' || c == '>')
            return refuse(fault, "the URL has a character that must be escaped with %");
        if (c == '\\' && !in_query)
            return refuse(fault, "the URL has a backslash");
        in_query = in_query || c == '?';
    }
    return true;
}

/* Read scheme "://" host [":" port]; text ends in NUL. Host and port follow the rules for
 * a policy's sites, but a trailing dot is refused. */
static bool read_origin(const char *text, gbx_url *ret, gbx_fault *fault)
{
    gbx_hostport parts = {0};
    gbx_host host = {0};
    gbx_error err = {0};
    const char *authority;
    size_t len;

    if (strncasecmp(text, "https://", 8) != 0 && strncasecmp(text, "http://", 7) != 0)
        return refuse(fault, "only URLs that begin with https:// or http:// are "
                             "fetched");
    authority = strchr(text, '/') + 2;
    len = strcspn(authority, "/?#");
    ret->scheme = authority - text == 8 ? GBX_SCHEME_HTTPS : GBX_SCHEME_HTTP;
    if (memchr(authority, '@', len) != NULL)
        return refuse(fault, "the URL has a user or a password: send credentials in a "
                             "header");
    if (strcspn(authority, "%*") < len)
        return refuse(fault, "the URL's host has '%' or '*': escapes, zones and "
                             "patterns are refused");
    if (gbx_hostport_split(authority, len, &parts, &err) != GBX_OK)
        return refuse(fault, err.message);
    if (parts.host_len > 0 && parts.host[parts.host_len - 1] == '.')
        return refuse(fault, "the URL's host has an empty part: dots stand alone and "
                             "not at the end");
    if (gbx_host_parse(parts.host, parts.host_len, parts.is_bracketed, &host, &err) !=
        GBX_OK)
        return refuse(fault, err.message);
    ret->port = gbx_scheme_port(ret->scheme);
    if (parts.port != NULL && !gbx_port_parse(parts.port, parts.port_len, &ret->port))
        return refuse(fault, "the URL's port is not a plain number from 1 to 65535");
    memcpy(ret->host, host.text, sizeof ret->host);
    ret->is_literal = host.labels == 0;
    ret->address.is_v6 = parts.is_bracketed;
    memcpy(ret->address.bytes, host.address, sizeof ret->address.bytes);
    return true;
}

static bool part_is(const gbx_libcurl *lib, CURLU *handle, CURLUPart part,
                    unsigned flags, const char *expected)
{
    char *found = NULL;
    bool same = lib->curl_url_get(handle, part, &found, flags) == CURLUE_OK &&
                evutil_ascii_strcasecmp(found, expected) == 0;

    lib->curl_free(found);
    return same;
}

/* True if libcurl will connect to what was checked here. */
static bool agrees(CURLU *handle, const gbx_url *url)
{
    const gbx_libcurl *lib = url->lib;
    char *host = NULL;
    char port[8];
    char *absent = NULL;
    bool same;

    (void)snprintf(port, sizeof port, "%u", (unsigned)url->port);
    if (lib->curl_url_get(handle, CURLUPART_HOST, &host, 0) != CURLUE_OK)
        return false;
    if (url->is_literal && url->address.is_v6) {
        size_t len = strlen(host);
        gbx_ip again;

        same = len > 2 && host[0] == '[' && host[len - 1] == ']';
        if (same)
            host[len - 1] = '\0';
        same = same && gbx_ip_parse(host + 1, &again) &&
               gbx_ip_equal(&again, &url->address);
    } else {
        same = evutil_ascii_strcasecmp(host, url->host) == 0;
    }
    lib->curl_free(host);
    same = same &&
           lib->curl_url_get(handle, CURLUPART_USER, &absent, 0) == CURLUE_NO_USER &&
           part_is(lib, handle, CURLUPART_SCHEME, 0, gbx_scheme_name(url->scheme)) &&
           part_is(lib, handle, CURLUPART_PORT, CURLU_DEFAULT_PORT, port);
    lib->curl_free(absent);
    return same;
}

/* The canonical text, from what was checked and libcurl's path and query. */
static char *write_text(CURLU *handle, const gbx_url *url)
{
    const gbx_libcurl *lib = url->lib;
    bool is_v6 = url->is_literal && url->address.is_v6;
    char *path = NULL;
    char *query = NULL;
    gbx_buf text = {.ceiling = GBX_URL_MAX + 16};

    (void)lib->curl_url_get(handle, CURLUPART_PATH, &path, 0);
    (void)lib->curl_url_get(handle, CURLUPART_QUERY, &query, 0);
    (void)gbx_buf_printf(&text, "%s://%s%s%s", gbx_scheme_name(url->scheme),
                         is_v6 ? "[" : "", url->host, is_v6 ? "]" : "");
    if (url->port != gbx_scheme_port(url->scheme))
        (void)gbx_buf_printf(&text, ":%u", (unsigned)url->port);
    (void)gbx_buf_puts(&text, path != NULL ? path : "/");
    if (query != NULL) {
        (void)gbx_buf_puts(&text, "?");
        (void)gbx_buf_puts(&text, query);
    }
    lib->curl_free(path);
    lib->curl_free(query);
    return gbx_buf_take_string(&text, NULL);
}

/* text ends in NUL and has no other. */
static bool parse(const char *text, gbx_url *ret, gbx_fault *fault)
{
    const gbx_libcurl *lib = ret->lib;
    CURLU *handle;

    if (!check_characters(text, strlen(text), fault) || !read_origin(text, ret, fault))
        return false;
    handle = lib->curl_url();
    if (handle == NULL)
        return gbx_fault_no_memory(fault);
    if (lib->curl_url_set(handle, CURLUPART_URL, text, CURLU_DISALLOW_USER) !=
            CURLUE_OK ||
        !agrees(handle, ret))
        (void)refuse(fault, "the URL can be read in more than one way");
    else if ((ret->text = write_text(handle, ret)) == NULL)
        (void)gbx_fault_no_memory(fault);
    lib->curl_url_cleanup(handle);
    return ret->text != NULL;
}

/* Resolve a path against base. It cannot lead to another origin. */
static bool join_path(const gbx_url *base, const char *path, gbx_url *ret,
                      gbx_fault *fault)
{
    const gbx_libcurl *lib = base->lib;
    CURLU *handle = lib->curl_url();
    char *joined = NULL;
    gbx_url url = {0};
    bool fine;

    if (handle == NULL)
        return gbx_fault_no_memory(fault);
    fine = lib->curl_url_set(handle, CURLUPART_URL, base->text, 0) == CURLUE_OK &&
           lib->curl_url_set(handle, CURLUPART_URL, path, 0) == CURLUE_OK &&
           lib->curl_url_get(handle, CURLUPART_URL, &joined, 0) == CURLUE_OK;
    lib->curl_url_cleanup(handle);
    if (!fine)
        return refuse(fault, "it is not a URL");
    fine = gbx_url_parse(lib, joined, strlen(joined), &url, fault);
    lib->curl_free(joined);
    if (fine && !gbx_url_same_origin(base, &url)) {
        gbx_url_cleanup(&url);
        return refuse(fault, "the URL can be read in more than one way");
    }
    if (fine)
        *ret = url;
    return fine;
}

/* Servers write spaces and non-ASCII characters in a Location: escape them. */
static char *escape_location(const char *location)
{
    gbx_buf text = {.ceiling = (size_t)GBX_URL_MAX * 3};

    for (const char *at = location; *at != '\0'; at++) {
        uint8_t c = (uint8_t)*at;

        if (c >= 0x80 || c == ' ')
            (void)gbx_buf_printf(&text, "%%%02X", c);
        else
            (void)gbx_buf_append(&text, at, 1);
    }
    return gbx_buf_take_string(&text, NULL);
}

bool gbx_url_parse(const gbx_libcurl *lib, const char *text, size_t len, gbx_url *ret,
                   gbx_fault *fault)
{
    GBX_CLEANUP(gbx_free) char *copy = NULL;
    const char *fragment = len > 0 ? memchr(text, '#', len) : NULL;
    gbx_url url = {.lib = lib};

    if (len == 0 || len > GBX_URL_MAX)
        return refuse(fault, len == 0 ? "the URL is empty"
                                      : "the URL is longer than 8192 characters");
    if (memchr(text, '\0', len) != NULL)
        return refuse(fault, "the URL has a space or a control character");
    /* A fragment is never sent. */
    copy = strndup(text, fragment != NULL ? (size_t)(fragment - text) : len);
    if (copy == NULL)
        return gbx_fault_no_memory(fault);
    if (!parse(copy, &url, fault))
        return false;
    *ret = url;
    return true;
}

bool gbx_url_join(const gbx_url *base, const char *location, gbx_url *ret,
                  gbx_fault *fault)
{
    GBX_CLEANUP(gbx_free) char *escaped = NULL;
    GBX_CLEANUP(gbx_free) char *whole = NULL;
    size_t scheme_len;

    if (strlen(location) > GBX_URL_MAX)
        return refuse(fault, "the URL is longer than 8192 characters");
    escaped = escape_location(location);
    if (escaped == NULL)
        return gbx_fault_no_memory(fault);
    escaped[strcspn(escaped, "#")] = '\0';
    if (!check_characters(escaped, strlen(escaped), fault))
        return false;
    if (escaped[0] == '\0')
        return gbx_url_parse(base->lib, base->text, strlen(base->text), ret, fault);
    scheme_len = strspn(escaped, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789+-.");
    if (scheme_len > 0 && escaped[scheme_len] == ':') /* base is not used */
        return gbx_url_parse(base->lib, escaped, strlen(escaped), ret, fault);
    if (strncmp(escaped, "//", 2) != 0)
        return join_path(base, escaped, ret, fault);
    if (asprintf(&whole, "%s:%s", gbx_scheme_name(base->scheme), escaped) < 0)
        return gbx_fault_no_memory(fault);
    return gbx_url_parse(base->lib, whole, strlen(whole), ret, fault);
}

void gbx_url_cleanup(gbx_url *url)
{
    free(url->text);
    *url = (gbx_url){0};
}

bool gbx_url_same_origin(const gbx_url *a, const gbx_url *b)
{
    return a->scheme == b->scheme && a->port == b->port &&
           strcmp(a->host, b->host) == 0;
}

/* ---- the policy's lists ------------------------------------------------------ */

/* The lists are the policy's, except the bad ports and the default methods. */

#define SHOWN_MAX 300u /* characters of a list in a message */

/* Ports of protocols that interpret parts of an HTTP request as commands, as listed in
 * the fetch standard. An entry that names such a port allows it; ":*" does not. */
static const uint16_t bad_ports[] = {
    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,   23,   25,   37,
    42,   43,   53,   69,   77,   79,   87,   95,   101,  102,  103,  104,  109,  110,
    111,  113,  115,  117,  119,  123,  135,  137,  139,  143,  161,  179,  389,  427,
    465,  512,  513,  514,  515,  526,  530,  531,  532,  540,  548,  554,  556,  563,
    587,  601,  636,  989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045, 4190,
    5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080};

static const char *const usual_methods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                            "PATCH", "DELETE", "OPTIONS"};

static bool is_bad_port(uint16_t port)
{
    for (size_t i = 0; i < GBX_COUNTOF(bad_ports); i++)
        if (bad_ports[i] == port)
            return true;
    return false;
}

/* Write as many whole entries as fit, then the number of the others. */
static void write_sites(const gbx_fetch_policy *policy, char *text, size_t size)
{
    char site[GBX_SITE_TEXT_SIZE];
    gbx_buf list = {.ceiling = size - 32};
    size_t shown = 0;

    while (shown < policy->site_count) {
        size_t before = list.len;

        (void)gbx_site_print(&policy->sites[shown], site);
        (void)gbx_buf_printf(&list, "%s%s", shown > 0 ? ", " : "",
                             site + (strncmp(site, "https://", 8) == 0 ? 8 : 0));
        if (list.failed) {
            list.len = before;
            break;
        }
        shown++;
    }
    (void)snprintf(text, size, "%.*s", (int)list.len,
                   list.data != NULL ? (const char *)list.data : "");
    if (shown < policy->site_count)
        (void)snprintf(text + list.len, size - list.len, "%s%zu more",
                       shown > 0 ? " and " : "", policy->site_count - shown);
    if (policy->site_count == 0)
        (void)snprintf(text, size, "nothing");
    gbx_buf_cleanup(&list);
}

bool gbx_allow_url(const gbx_fetch_policy *policy, const gbx_url *url,
                   gbx_reach *ret_reach, gbx_fault *fault)
{
    gbx_reach reach = {.networks = policy->networks,
                       .network_count = policy->network_count};
    bool is_listed = false;
    bool port_is_named = false;
    char list[SHOWN_MAX];
    char host[GBX_QUOTE_SIZE];

    for (size_t i = 0; i < policy->site_count; i++) {
        const gbx_site *site = &policy->sites[i];

        if (!gbx_site_matches(site, url->host, url->port, url->scheme))
            continue;
        is_listed = true;
        port_is_named = port_is_named || !site->any_port;
        reach.loopback = reach.loopback || site->loopback;
        reach.has_named = reach.has_named || (url->is_literal && !site->below);
    }
    if (!is_listed) {
        write_sites(policy, list, sizeof list);
        return gbx_fault_set(fault, GBX_FAULT_NOT_ALLOWED,
                             "fetch: the host '%s' with %s and port %u is not on the "
                             "list; allowed: %s",
                             gbx_quote(host, url->host, strlen(url->host)),
                             gbx_scheme_name(url->scheme), (unsigned)url->port, list);
    }
    if (!port_is_named && is_bad_port(url->port))
        return gbx_fault_set(
            fault, GBX_FAULT_NOT_ALLOWED,
            "fetch: port %u belongs to another protocol than HTTP; the "
            "list would have to name it",
            (unsigned)url->port);
    reach.named = url->address;
    *ret_reach = reach;
    return true;
}

bool gbx_allow_method(const gbx_fetch_policy *policy, const char *method,
                      gbx_fault *fault)
{
    char quote[GBX_QUOTE_SIZE];
    char list[SHOWN_MAX];
    size_t len = 0;

    (void)gbx_quote(quote, method, strlen(method));
    /* The fetch standard forbids these. */
    if (evutil_ascii_strcasecmp(method, "CONNECT") == 0 ||
        evutil_ascii_strcasecmp(method, "TRACE") == 0 ||
        evutil_ascii_strcasecmp(method, "TRACK") == 0)
        return gbx_fault_set(fault, GBX_FAULT_METHOD,
                             "fetch: the method '%s' is never sent", quote);
    list[0] = '\0';
    for (size_t i = 0; i < (policy->method_count > 0 ? policy->method_count
                                                     : GBX_COUNTOF(usual_methods));
         i++) {
        const char *allowed =
            policy->method_count > 0 ? policy->methods[i] : usual_methods[i];

        if (strcmp(allowed, method) == 0)
            return true;
        if (len + strlen(allowed) + 2 < sizeof list)
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%s",
                                    len > 0 ? ", " : "", allowed);
    }
    return gbx_fault_set(fault, GBX_FAULT_METHOD,
                         "fetch: the method '%s' is not on the list; allowed: %s",
                         quote, list);
}

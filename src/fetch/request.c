/* SPDX-License-Identifier: MIT */
/*
 * request - what is sent: the only place that reads the code's own description of a
 * request, the secrets in its headers, and how a redirect changes it.
 */
#include "fetch/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json_view.h"
#include "policy/policy.h"

#include <event2/util.h>
#include <stdlib.h>
#include <string.h>

/* In lower case. Headers that frame a message, name its destination or its path, or
 * that only a user agent may set. */
static const char *const forbidden_headers[] = {"accept-charset",
                                                "accept-encoding",
                                                "connection",
                                                "content-length",
                                                "cookie2",
                                                "date",
                                                "expect",
                                                "host",
                                                "http2-settings",
                                                "keep-alive",
                                                "set-cookie",
                                                "te",
                                                "trailer",
                                                "trailers",
                                                "transfer-encoding",
                                                "upgrade",
                                                "via"};

/* A server that honours these runs another method than the one that was checked. */
static const char *const method_headers[] = {"x-http-method", "x-http-method-override",
                                             "x-method-override"};

static bool refuse_shape(gbx_fault *fault, const char *what)
{
    return gbx_fault_set(fault, GBX_FAULT_REQUEST, "fetch: %s", what);
}

static bool read_url(gbx_view view, gbx_fetch_request *ret, gbx_fault *fault)
{
    /* One byte more than a URL may have: the URL's own check has a better message. */
    ret->url = gbx_view_string(view, 8193);
    if (ret->url == NULL)
        return refuse_shape(fault, "the URL is not text, or too long");
    ret->url_len = strlen(ret->url);
    /* The braces of a reference to a secret may be percent-encoded. */
    if (strstr(ret->url, "%7B%7Bsecret") != NULL ||
        strstr(ret->url, "%7b%7bsecret") != NULL ||
        gbx_secrets_are_in(gbx_span_of(ret->url)))
        return gbx_fault_set(fault, GBX_FAULT_SECRET,
                             "fetch: a secret in the URL would be seen by others: send "
                             "it in a header");
    return true;
}

static bool read_method(gbx_view view, const gbx_fetch_policy *policy,
                        gbx_fetch_request *ret, gbx_fault *fault)
{
    static const char *const names[] = {"DELETE",  "GET",  "HEAD",
                                        "OPTIONS", "POST", "PUT"};
    GBX_CLEANUP(gbx_free) char *method = NULL;
    size_t len;

    memcpy(ret->method, "GET", sizeof "GET");
    if (view.at == NULL)
        return true;
    method = gbx_view_string(view, GBX_METHOD_MAX);
    if (method == NULL)
        return refuse_shape(fault, "the method is not text, or too long");
    len = strlen(method);
    if (!gbx_is_token(method, len)) {
        char quote[GBX_QUOTE_SIZE];

        return gbx_fault_set(fault, GBX_FAULT_METHOD, "fetch: '%s' is not a method",
                             gbx_quote(quote, method, len));
    }
    /* The fetch standard normalises the case of these methods only. */
    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (evutil_ascii_strcasecmp(names[i], method) == 0)
            memcpy(method, names[i], len);
    memcpy(ret->method, method, len + 1);
    return gbx_allow_method(policy, ret->method, fault);
}

/* Bytes of a header travel in JSON as the characters U+0000 to U+00FF. */
static bool to_bytes(char *text, size_t *len)
{
    size_t to = 0;

    for (size_t i = 0; i < *len; i++) {
        uint8_t c = (uint8_t)text[i];

        if (c == 0xC2 || c == 0xC3)
            c = (uint8_t)((c == 0xC3 ? 0xC0 : 0x80) | ((uint8_t)text[++i] & 0x3F));
        else if (c >= 0x80)
            return false;
        text[to++] = (char)c;
    }
    text[to] = '\0';
    *len = to;
    return true;
}

static bool check_header(const char *name, const char *value,
                         const gbx_fetch_policy *policy, gbx_fault *fault)
{
    char quote[GBX_QUOTE_SIZE];
    /* Only the transport, a browser or a proxy may set these. */
    bool is_forbidden = evutil_ascii_strncasecmp(name, "proxy-", 6) == 0 ||
                        evutil_ascii_strncasecmp(name, "sec-", 4) == 0;

    for (size_t i = 0; i < GBX_COUNTOF(forbidden_headers); i++)
        if (evutil_ascii_strcasecmp(name, forbidden_headers[i]) == 0)
            is_forbidden = true;
    if (is_forbidden)
        return gbx_fault_set(fault, GBX_FAULT_HEADER,
                             "fetch: the header '%s' is not for the code to set",
                             gbx_quote(quote, name, strlen(name)));
    for (size_t i = 0; i < GBX_COUNTOF(method_headers); i++)
        if (evutil_ascii_strcasecmp(name, method_headers[i]) == 0)
            return gbx_allow_method(policy, value, fault);
    return true;
}

static bool add_header(const char *name, size_t name_len, char *value, size_t value_len,
                       gbx_fetch_request *ret, gbx_fault *fault)
{
    char quote[GBX_QUOTE_SIZE];

    (void)gbx_quote(quote, name, name_len);
    if (!to_bytes(value, &value_len))
        return gbx_fault_set(
            fault, GBX_FAULT_HEADER,
            "fetch: the value of the header '%s' has a character above "
            "U+00FF",
            quote);
    switch (gbx_fields_add(&ret->headers, name, name_len, value, value_len,
                           GBX_REQUEST_HEADERS_MAX, GBX_REQUEST_HEADER_BYTES_MAX)) {
    case GBX_FIELD_FINE: return true;
    case GBX_FIELD_BAD_NAME:
        return gbx_fault_set(fault, GBX_FAULT_HEADER,
                             "fetch: '%s' is not a header name", quote);
    case GBX_FIELD_BAD_VALUE:
        return gbx_fault_set(fault, GBX_FAULT_HEADER,
                             "fetch: the value of the header '%s' has a line break or "
                             "another control character",
                             quote);
    case GBX_FIELD_TOO_MANY:
        return gbx_fault_set(
            fault, GBX_FAULT_HEADER,
            "fetch: more than 100 headers, or more than 32 KiB of them");
    case GBX_FIELD_NO_MEMORY: break;
    }
    return gbx_fault_no_memory(fault);
}

static bool read_header(gbx_view pair, const gbx_fetch_policy *policy,
                        gbx_fetch_request *ret, gbx_fault *fault)
{
    static const char shape[] = "a header is not a pair of texts, or too long";
    GBX_CLEANUP(gbx_free) char *name = NULL;
    GBX_CLEANUP(gbx_free) char *value = NULL;
    gbx_view items[2] = {{0}};
    gbx_view key;
    gbx_view more;
    size_t cursor = 0;

    if (gbx_view_kind(pair) != '[' || !gbx_view_next(pair, &cursor, &key, &items[0]) ||
        !gbx_view_next(pair, &cursor, &key, &items[1]) ||
        gbx_view_next(pair, &cursor, &key, &more))
        return refuse_shape(fault, shape);
    /* Each character of a value takes at most two bytes here. */
    name = gbx_view_string(items[0], GBX_REQUEST_HEADER_BYTES_MAX);
    value = gbx_view_string(items[1], (size_t)2 * GBX_REQUEST_HEADER_BYTES_MAX);
    if (name == NULL || value == NULL)
        return refuse_shape(fault, shape);
    return add_header(name, strlen(name), value, strlen(value), ret, fault) &&
           check_header(name, ret->headers.items[ret->headers.count - 1].value, policy,
                        fault);
}

static bool read_headers(gbx_view list, const gbx_fetch_policy *policy,
                         gbx_fetch_request *ret, gbx_fault *fault)
{
    gbx_view key;
    gbx_view pair;
    size_t cursor = 0;

    if (list.at == NULL)
        return true;
    if (gbx_view_kind(list) != '[')
        return refuse_shape(fault, "the headers are not a list");
    while (gbx_view_next(list, &cursor, &key, &pair))
        if (!read_header(pair, policy, ret, fault))
            return false;
    return true;
}

static bool read_redirect(gbx_view view, gbx_fetch_request *ret, gbx_fault *fault)
{
    if (view.at == NULL || gbx_view_is_text(view, "follow"))
        ret->redirect = GBX_REDIRECT_FOLLOW;
    else if (gbx_view_is_text(view, "error"))
        ret->redirect = GBX_REDIRECT_ERROR;
    else if (gbx_view_is_text(view, "manual"))
        ret->redirect = GBX_REDIRECT_MANUAL;
    else
        return refuse_shape(fault, "redirect is 'follow', 'error' or 'manual'");
    return true;
}

static bool read_body(gbx_span body, const gbx_fetch_policy *policy,
                      gbx_fetch_request *ret, gbx_fault *fault)
{
    if (body.len == 0)
        return true;
    if (strcmp(ret->method, "GET") == 0 || strcmp(ret->method, "HEAD") == 0)
        return refuse_shape(fault, "a GET or HEAD request has no body");
    if (body.len > policy->max_request_bytes)
        return gbx_fault_set(fault, GBX_FAULT_TOO_LARGE,
                             "fetch: the body has %zu bytes; at most %llu may be sent",
                             body.len, (unsigned long long)policy->max_request_bytes);
    if (gbx_secrets_are_in(body))
        return gbx_fault_set(fault, GBX_FAULT_SECRET,
                             "fetch: secrets are filled in in headers, not in a body");
    ret->body = malloc(body.len);
    if (ret->body == NULL)
        return gbx_fault_no_memory(fault);
    memcpy(ret->body, body.data, body.len);
    ret->body_len = body.len;
    return true;
}

bool gbx_request_read(gbx_span args, gbx_span body, const gbx_fetch_policy *policy,
                      gbx_fetch_request *ret, gbx_fault *fault)
{
    gbx_view list = {0};
    gbx_view key;
    gbx_view request = {0};
    size_t cursor = 0;

    *ret = (gbx_fetch_request){0};
    if (args.len == 0 || !gbx_view_open((const char *)args.data, args.len, &list) ||
        gbx_view_kind(list) != '[' || !gbx_view_next(list, &cursor, &key, &request) ||
        gbx_view_kind(request) != '{')
        return refuse_shape(fault, "the request is not an object");
    return read_url(gbx_view_member(request, "url"), ret, fault) &&
           read_method(gbx_view_member(request, "method"), policy, ret, fault) &&
           read_headers(gbx_view_member(request, "headers"), policy, ret, fault) &&
           read_redirect(gbx_view_member(request, "redirect"), ret, fault) &&
           read_body(body, policy, ret, fault);
}

void gbx_request_cleanup(gbx_fetch_request *request)
{
    free(request->url);
    free(request->body);
    gbx_fields_cleanup(&request->headers);
    *request = (gbx_fetch_request){0};
}

/* ---- secrets ----------------------------------------------------------------- */

/* Maximum bytes of the code's headers with their secrets filled in. */
#define FILLED_MAX (GBX_REQUEST_HEADER_BYTES_MAX + GBX_SECRETS_BYTES_MAX)

static bool add(gbx_fields *to, const gbx_field *from, gbx_span value, gbx_fault *fault)
{
    char quote[GBX_QUOTE_SIZE];

    switch (gbx_fields_add(to, from->name, strlen(from->name),
                           value.len > 0 ? (const char *)value.data : "", value.len,
                           GBX_REQUEST_HEADERS_MAX, FILLED_MAX)) {
    case GBX_FIELD_FINE: return true;
    case GBX_FIELD_BAD_NAME:
    case GBX_FIELD_BAD_VALUE:
        return gbx_fault_set(
            fault, GBX_FAULT_SECRET,
            "fetch: the secret in the header '%s' has a character that "
            "no header has",
            gbx_quote(quote, from->name, strlen(from->name)));
    case GBX_FIELD_TOO_MANY:
        return gbx_fault_set(fault, GBX_FAULT_HEADER,
                             "fetch: the headers are too long with their secrets");
    case GBX_FIELD_NO_MEMORY: break;
    }
    return gbx_fault_no_memory(fault);
}

static bool fill_one(const gbx_policy *policy, const gbx_url *url, gbx_field *from,
                     gbx_fields *to, gbx_fault *fault)
{
    gbx_secret_target target = {.host = url->host,
                                .port = url->port,
                                .scheme = url->scheme};
    gbx_span text = gbx_span_of(from->value);
    gbx_error error = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf filled = {.ceiling = FILLED_MAX};
    gbx_status status;

    if (!gbx_secrets_are_in(text))
        return add(to, from, text, fault);
    from->is_secret = true;
    status = gbx_secrets_fill(policy, &target, text, &filled, &error);
    if (status == GBX_OK)
        return add(to, from, (gbx_span){filled.data, filled.len}, fault);
    if (status == GBX_E_POLICY)
        return gbx_fault_set(fault, GBX_FAULT_SECRET, "fetch: %s", error.message);
    return gbx_fault_no_memory(fault);
}

bool gbx_fill_headers(const gbx_policy *policy, const gbx_url *url, gbx_fields *from,
                      gbx_fields *to, gbx_fault *fault)
{
    gbx_fields_cleanup(to);
    for (size_t i = 0; i < from->count; i++)
        if (!fill_one(policy, url, &from->items[i], to, fault))
            return false;
    return true;
}

/* ---- redirects --------------------------------------------------------------- */

static bool is_redirect_status(uint16_t status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

static bool refuse(gbx_fault *fault, const char *why)
{
    return gbx_fault_set(fault, GBX_FAULT_REDIRECT, "fetch: %s", why);
}

/* True if there is a single location, even if it is given twice. */
static bool one_location(const gbx_response *response)
{
    const char *first = gbx_fields_get(&response->headers, "location");

    for (size_t i = 0; i < response->headers.count; i++) {
        const gbx_field *field = &response->headers.items[i];

        if (evutil_ascii_strcasecmp(field->name, "location") == 0 &&
            strcmp(field->value, first) != 0)
            return false;
    }
    return true;
}

/* Data meant for one origin is not sent to another. */
static void drop_credentials(gbx_fetch_request *request)
{
    static const char *const credentials[] = {"authorization", "cookie",
                                              "proxy-authorization"};

    for (size_t i = 0; i < GBX_COUNTOF(credentials); i++)
        gbx_fields_remove(&request->headers, credentials[i]);
    gbx_fields_remove_secret(&request->headers);
}

/* Some redirects make it a GET without a body. */
static void change_method(gbx_fetch_request *request, uint16_t status)
{
    static const char *const of_bodies[] = {"content-encoding", "content-language",
                                            "content-location", "content-type"};
    bool is_post = strcmp(request->method, "POST") == 0;
    bool is_safe =
        strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    bool becomes_get =
        status == 303 ? !is_safe : (status == 301 || status == 302) && is_post;

    if (!becomes_get)
        return;
    memcpy(request->method, "GET", sizeof "GET");
    free(request->body);
    request->body = NULL;
    request->body_len = 0;
    for (size_t i = 0; i < GBX_COUNTOF(of_bodies); i++)
        gbx_fields_remove(&request->headers, of_bodies[i]);
}

bool gbx_redirect_next(gbx_fetch_request *request, const gbx_url *url,
                       const gbx_response *response, uint32_t redirects,
                       uint32_t max_redirects, gbx_url *ret_next, gbx_fault *fault)
{
    const char *location = gbx_fields_get(&response->headers, "location");
    gbx_fault why = {0};

    if (!is_redirect_status(response->status) || location == NULL ||
        request->redirect == GBX_REDIRECT_MANUAL)
        return false;
    if (request->redirect == GBX_REDIRECT_ERROR)
        return refuse(fault, "the server redirects, which the request forbids");
    if (redirects >= max_redirects)
        return gbx_fault_set(fault, GBX_FAULT_REDIRECT,
                             "fetch: redirected more than %u times",
                             (unsigned)max_redirects);
    if (!one_location(response))
        return refuse(fault, "the server redirects to two places at once");
    if (!gbx_url_join(url, location, ret_next, &why)) {
        char quote[GBX_QUOTE_SIZE];

        return gbx_fault_set(
            fault, GBX_FAULT_REDIRECT,
            "fetch: the server redirects to '%s', which is refused: %s",
            gbx_quote(quote, location, strlen(location)), why.message);
    }
    change_method(request, response->status);
    if (!gbx_url_same_origin(url, ret_next))
        drop_credentials(request);
    return true;
}

bool gbx_redirect_ends_body(const gbx_fetch_request *request,
                            const gbx_response *response)
{
    return request->redirect != GBX_REDIRECT_MANUAL &&
           is_redirect_status(response->status) &&
           gbx_fields_get(&response->headers, "location") != NULL;
}

/* SPDX-License-Identifier: MIT */
/* redirect - see internal.h. */
#include "fetch/internal.h"

#include "base/cleanup.h"

#include <event2/util.h>
#include <string.h>

static bool is_redirect_status(uint16_t status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

static gbx_redirect refuse(gbx_fault *fault, const char *why)
{
    (void)gbx_fault_set(fault, GBX_FAULT_REDIRECT, "fetch: %s", why);
    return GBX_REDIRECT_FAILED;
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

static void change_method(gbx_fetch_request *request, uint16_t status)
{
    bool is_post = strcmp(request->method, "POST") == 0;
    bool is_safe =
        strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;

    if (((status == 301 || status == 302) && is_post) || (status == 303 && !is_safe))
        gbx_request_become_get(request);
}

/* ---- public to other modules -------------------------------------------- */

gbx_redirect gbx_redirect_next(gbx_fetch_request *request, const gbx_url *url,
                               const gbx_response *response, uint32_t redirects,
                               uint32_t max_redirects, gbx_url *ret_next,
                               gbx_fault *fault)
{
    const char *location = gbx_fields_get(&response->headers, "location");
    gbx_fault why = {0};

    if (!is_redirect_status(response->status) || location == NULL ||
        request->redirect == GBX_REDIRECT_MANUAL)
        return GBX_REDIRECT_NONE;
    if (request->redirect == GBX_REDIRECT_ERROR)
        return refuse(fault, "the server redirects, which the request forbids");
    if (redirects >= max_redirects) {
        (void)gbx_fault_set(fault, GBX_FAULT_REDIRECT,
                            "fetch: redirected more than %u times",
                            (unsigned)max_redirects);
        return GBX_REDIRECT_FAILED;
    }
    if (!one_location(response))
        return refuse(fault, "the server redirects to two places at once");
    if (!gbx_url_join(url, location, ret_next, &why)) {
        gbx_quoted quoted = gbx_fault_quote(location, strlen(location));

        (void)gbx_fault_set(fault, GBX_FAULT_REDIRECT,
                            "fetch: the server redirects to '%s', which is refused: %s",
                            quoted.text, why.message);
        return GBX_REDIRECT_FAILED;
    }
    change_method(request, response->status);
    if (!gbx_url_same_origin(url, ret_next))
        drop_credentials(request);
    return GBX_REDIRECT_TO;
}

bool gbx_redirect_ends_body(const gbx_fetch_request *request,
                            const gbx_response *response)
{
    return request->redirect != GBX_REDIRECT_MANUAL &&
           is_redirect_status(response->status) &&
           gbx_fields_get(&response->headers, "location") != NULL;
}

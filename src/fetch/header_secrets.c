/* SPDX-License-Identifier: MIT */
/* header_secrets - see internal.h. */
#include "fetch/internal.h"

#include "base/cleanup.h"
#include "policy/policy.h"

#include <string.h>

/* The code's headers, with a value in place of each reference. */
#define FILLED_MAX (GBX_REQUEST_HEADER_BYTES_MAX + GBX_SECRETS_BYTES_MAX)

static bool host_memory(gbx_fault *fault)
{
    return gbx_fault_set(fault, GBX_FAULT_HOST, "fetch: the host is out of memory");
}

static bool add(gbx_fields *to, const gbx_field *from, gbx_span value, gbx_fault *fault)
{
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
            gbx_fault_quote(from->name, strlen(from->name)).text);
    case GBX_FIELD_TOO_MANY:
        return gbx_fault_set(fault, GBX_FAULT_HEADER,
                             "fetch: the headers are too long with their secrets");
    case GBX_FIELD_NO_MEMORY: break;
    }
    return host_memory(fault);
}

static bool fill_one(const gbx_policy *policy, const gbx_url *url, gbx_field *from,
                     gbx_fields *to, gbx_fault *fault)
{
    gbx_secret_target target = {.host = url->host,
                                .port = url->port,
                                .scheme = url->scheme};
    gbx_span text = {.data = (const uint8_t *)from->value, .len = strlen(from->value)};
    gbx_error error = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf filled = {0};
    gbx_status status;

    if (!gbx_secrets_are_in(text))
        return add(to, from, text, fault);
    from->is_secret = true;
    gbx_buf_init(&filled, FILLED_MAX);
    status = gbx_secrets_fill(policy, &target, text, &filled, &error);
    if (status == GBX_OK)
        return add(to, from, (gbx_span){filled.data, filled.len}, fault);
    if (status == GBX_E_POLICY)
        return gbx_fault_set(fault, GBX_FAULT_SECRET, "fetch: %s", error.message);
    return host_memory(fault);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_fill_headers(const gbx_policy *policy, const gbx_url *url, gbx_fields *from,
                      gbx_fields *to, gbx_fault *fault)
{
    gbx_fields_cleanup(to);
    for (size_t i = 0; i < from->count; i++)
        if (!fill_one(policy, url, &from->items[i], to, fault))
            return false;
    return true;
}

/* SPDX-License-Identifier: MIT */
/* fill - see fill.h. */
#include "fetch/fill.h"

#include "fetch/request.h"

#include <string.h>

/* ---- public to other modules -------------------------------------------- */

bool gbx_fill_headers(const gbx_policy *policy, const gbx_url *url, gbx_fields *from,
                      gbx_fields *to, gbx_fault *fault)
{
    (void)policy;
    gbx_fields_cleanup(to);
    for (size_t i = 0; i < from->count; i++) {
        gbx_field *field = &from->items[i];

        if (strstr(field->value, "{{secret:") != NULL)
            return gbx_fault_set(fault, GBX_FAULT_SECRET,
                                 "fetch: the secret is not for '%s'", url->host);
        if (gbx_fields_add(to, field->name, strlen(field->name), field->value,
                           strlen(field->value), GBX_REQUEST_HEADERS_MAX,
                           GBX_REQUEST_HEADER_BYTES_MAX) != GBX_FIELD_FINE)
            return gbx_fault_set(fault, GBX_FAULT_HOST,
                                 "fetch: the host is out of memory");
    }
    return true;
}

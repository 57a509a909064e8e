/* SPDX-License-Identifier: MIT */
/* redact_tools - see internal.h. Redact before cutting: half a secret is still a
 * leak. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

/* Upper bound of the redacted text for so many bytes. */
static size_t ceiling_of(size_t len)
{
    return len * 8 + GBX_KIB(4);
}

/* ---- the rest of upstream ------------------------------------------------- */

char *gbx_redact_text(const gbx_policy *secrets, const char *text)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf out = {0};
    gbx_span span = {(const uint8_t *)text, strlen(text)};
    bool changed;

    gbx_buf_init(&out, ceiling_of(span.len));
    if (!gbx_secrets_strip(secrets, GBX_SECRET_LINE, span, &out, &changed))
        return NULL;
    return changed ? gbx_buf_take_string(&out, NULL) : strdup(text);
}

void gbx_redact_copy(const gbx_policy *secrets, const char *text, char *ret,
                     size_t size)
{
    GBX_CLEANUP(gbx_free) char *clean = gbx_redact_text(secrets, text);
    size_t len = clean != NULL ? strlen(clean) : 0;

    if (clean != NULL && len >= size)
        for (len = size - 1; len > 0 && ((uint8_t)clean[len] & 0xC0) == 0x80;)
            len--;
    if (len > 0)
        memcpy(ret, clean, len);
    ret[len] = '\0';
}

bool gbx_redact_tools(const gbx_policy *secrets, const gbx_tools *tools, gbx_tools *ret)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf out = {0};
    gbx_view view = gbx_tools_view(tools);
    gbx_span span = {(const uint8_t *)view.at, view.len};
    bool changed;

    gbx_tools_open(ret);
    gbx_buf_init(&out, ceiling_of(view.len));
    if (!gbx_secrets_strip(secrets, GBX_SECRET_DATA, span, &out, &changed) ||
        (changed && !gbx_view_open((const char *)out.data, out.len, &view)) ||
        !gbx_tools_add_known(ret, view, changed ? tools : NULL))
        return false;
    gbx_tools_add_flaws(ret, tools);
    return gbx_tools_close(ret);
}

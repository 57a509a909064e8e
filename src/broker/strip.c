/* SPDX-License-Identifier: MIT */
/* strip - see strip.h; the search itself is policy/secrets.h. */
#include "broker/strip.h"

#include "base/cleanup.h"
#include "policy/secrets.h"

static bool strip_span(const gbx_policy *policy, gbx_secret_text kind, gbx_span from,
                       gbx_buf *buf, gbx_span *ret)
{
    bool changed = false;

    *ret = from;
    if (from.len == 0)
        return true;
    gbx_buf_init(buf, from.len * 8 + GBX_KIB(4));
    if (!gbx_secrets_strip(policy, kind, from, buf, &changed))
        return false;
    if (changed)
        *ret = (gbx_span){buf->data, buf->len};
    return true;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_strip_is_due(const gbx_policy *policy)
{
    return policy != NULL && policy->secret_count > 0;
}

bool gbx_strip(const gbx_policy *policy, const gbx_msg_answer *from, gbx_stripped *ret)
{
    *ret = (gbx_stripped){.msg = *from};
    return strip_span(policy, GBX_SECRET_DATA, from->json, &ret->json,
                      &ret->msg.json) &&
           strip_span(policy, GBX_SECRET_DATA, from->bytes, &ret->bytes,
                      &ret->msg.bytes) &&
           strip_span(policy, GBX_SECRET_LINE, from->message, &ret->message,
                      &ret->msg.message) &&
           strip_span(policy, GBX_SECRET_LINE, from->name, &ret->name,
                      &ret->msg.name) &&
           strip_span(policy, GBX_SECRET_LINE, from->code, &ret->code, &ret->msg.code);
}

void gbx_stripped_cleanup(gbx_stripped *stripped)
{
    gbx_buf_cleanup(&stripped->json);
    gbx_buf_cleanup(&stripped->bytes);
    gbx_buf_cleanup(&stripped->message);
    gbx_buf_cleanup(&stripped->name);
    gbx_buf_cleanup(&stripped->code);
}

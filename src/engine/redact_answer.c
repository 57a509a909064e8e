/* SPDX-License-Identifier: MIT */
/* redact_answer - see engine.h; the search itself is policy/secrets.h. */
#include "engine/engine.h"

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

bool gbx_redact_is_due(const gbx_policy *policy)
{
    return policy != NULL && policy->secret_count > 0;
}

bool gbx_redact_answer(const gbx_policy *policy, const gbx_msg_answer *from,
                       gbx_redacted *ret)
{
    *ret = (gbx_redacted){.msg = *from};
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

void gbx_redacted_cleanup(gbx_redacted *stripped)
{
    gbx_buf_cleanup(&stripped->json);
    gbx_buf_cleanup(&stripped->bytes);
    gbx_buf_cleanup(&stripped->message);
    gbx_buf_cleanup(&stripped->name);
    gbx_buf_cleanup(&stripped->code);
}

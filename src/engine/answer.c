/* SPDX-License-Identifier: MIT */
/* answer - checks the answers of embedders' functions before they are used. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "engine/engine.h"
#include "policy/policy.h"

#include <stdio.h>
#include <string.h>

static gbx_status nobody_waits(gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_CLOSED,
                    "nobody waits for this answer: it was given before, or the call "
                    "has ended");
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_answer(gbx_engine *engine, gbx_request request, const char *json,
                      size_t json_len, gbx_error *reterr)
{
    gbx_msg_answer msg = {.json = {(const uint8_t *)json, json != NULL ? json_len : 0}};
    gbx_json_fault fault = {0};
    gbx_status status = gbx_engine_need(engine, reterr);
    char message[128];

    if (status != GBX_OK)
        return status;
    if ((json == NULL && json_len > 0) || json_len > UINT32_MAX / 2)
        return gbx_fail(reterr, GBX_E_USAGE, "json is missing, or too long");
    if (json != NULL && !gbx_json_check(json, json_len, GBX_JSON_DEPTH_MAX, &fault)) {
        /* Says what is wrong, not where: only the host gets the position. */
        if (strcmp(fault.message, "nested too deep") == 0)
            (void)snprintf(message, sizeof message,
                           "the host's answer is nested deeper than %d levels",
                           GBX_JSON_DEPTH_MAX);
        else
            (void)snprintf(message, sizeof message, "the host's answer is not JSON: %s",
                           fault.message);
        msg = gbx_error_answer("Error", message, "ERR_HOST_ANSWER");
        (void)gbx_hostcall_reply(engine, request, &msg);
        return gbx_fail_at(reterr, GBX_E_DATA, fault.line, fault.column,
                           "the answer is not JSON: %s at line %u, column %u",
                           fault.message, fault.line, fault.column);
    }
    return gbx_hostcall_reply(engine, request, &msg) ? GBX_OK : nobody_waits(reterr);
}

gbx_status gbx_answer_error(gbx_engine *engine, gbx_request request, const char *name,
                            const char *message, const char *code, gbx_error *reterr)
{
    gbx_msg_answer msg = gbx_error_answer(name, message, code);
    gbx_status status = gbx_engine_need(engine, reterr);

    if (status != GBX_OK)
        return status;
    if (!gbx_utf8_valid(msg.name.data, msg.name.len, NULL) ||
        !gbx_utf8_valid(msg.message.data, msg.message.len, NULL) ||
        !gbx_utf8_valid(msg.code.data, msg.code.len, NULL))
        msg = gbx_error_answer("Error", "the host's error is not UTF-8",
                               "ERR_HOST_ANSWER");
    return gbx_hostcall_reply(engine, request, &msg) ? GBX_OK : nobody_waits(reterr);
}

/* ---- removing secrets: policy/policy.h searches ------------------------- */

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

/* SPDX-License-Identifier: MIT */
/* secret_json - fill secrets into JSON: a value goes into the string that refers to it,
 * escaped as JSON, so it cannot end the string. */
#include "base/cleanup.h"
#include "base/fail.h"
#include "base/json.h"
#include "policy/policy.h"

#include <string.h>

/* A value is at most six times as long in JSON; there may be many. */
#define FILLED_MAX GBX_MIB(64)

static gbx_status no_memory(gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_NOMEM, "no memory for arguments with their secrets");
}

/* Append one reference, {{secret:NAME}}, as the inside of a JSON string. */
static gbx_status put_value(const gbx_policy *policy, const gbx_secret_target *target,
                            gbx_span reference, gbx_buf *out, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf value = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf quoted = {0};
    gbx_status status;

    gbx_buf_init_secret(&value, GBX_SECRET_MAX + 16);
    gbx_buf_init_secret(&quoted, GBX_SECRET_MAX * 6 + 16);
    status = gbx_secrets_fill(policy, target, reference, &value, reterr);
    if (status != GBX_OK)
        return status;
    if (gbx_json_append_string(&quoted, value.data, value.len) &&
        gbx_buf_append(out, quoted.data + 1, quoted.len - 2))
        return GBX_OK;
    return no_memory(reterr);
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_secrets_fill_json(const gbx_policy *policy, const char *function,
                                 gbx_span args, gbx_buf *out, gbx_error *reterr)
{
    static const char open[] = "{{secret:";
    gbx_secret_target target = {.function = function};
    gbx_status status = GBX_OK;

    gbx_buf_init_secret(out, FILLED_MAX);
    while (status == GBX_OK && args.len > 0) {
        const uint8_t *at = memmem(args.data, args.len, open, sizeof open - 1);
        size_t before = at != NULL ? (size_t)(at - args.data) : args.len;
        gbx_span rest = {args.data + before, args.len - before};
        const uint8_t *end = rest.len > 0 ? memmem(rest.data, rest.len, "}}", 2) : NULL;

        if (end != NULL)
            rest.len = (size_t)(end + 2 - rest.data);
        (void)gbx_buf_append(out, args.data, before);
        if (rest.len > 0)
            status = put_value(policy, &target, rest, out, reterr);
        args = (gbx_span){rest.data + rest.len, args.len - before - rest.len};
    }
    return status == GBX_OK && out->failed ? no_memory(reterr) : status;
}

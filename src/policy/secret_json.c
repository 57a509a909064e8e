/* SPDX-License-Identifier: MIT */
/* secret_json - secrets filled into JSON: a value goes into the string that refers to it
 * as JSON writes it, and can end nothing there. */
#include "base/cleanup.h"
#include "base/fail.h"
#include "base/json.h"
#include "policy/secrets.h"

#include <string.h>

/* A value's JSON form is at most six times as long; there may be many. */
#define FILLED_MAX GBX_MIB(64)

static gbx_status no_memory(gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_NOMEM, "no memory for arguments with their secrets");
}

/* One reference, {{secret:NAME}}, as the inside of a JSON string. Room is made before
 * a value is written: growing would leave it behind in freed memory. */
static gbx_status quote_value(const gbx_policy *policy, const gbx_secret_target *target,
                              gbx_span reference, gbx_buf *quoted, gbx_error *reterr)
{
    gbx_status status;
    gbx_buf value;

    gbx_buf_init(&value, GBX_SECRET_MAX + 16);
    gbx_buf_init(quoted, GBX_SECRET_MAX * 6 + 16);
    status = gbx_secrets_fill(policy, target, reference, &value, reterr);
    if (status == GBX_OK && (gbx_buf_reserve(quoted, value.len * 6 + 2) == NULL ||
                             !gbx_json_append_string(quoted, value.data, value.len)))
        status = no_memory(reterr);
    gbx_secrets_wipe(&value);
    return status;
}

/* Walk over args: with out, write; without, count only. */
static gbx_status fill(const gbx_policy *policy, const gbx_secret_target *target,
                       gbx_span args, gbx_buf *out, size_t *ret_len, gbx_error *reterr)
{
    static const char open[] = "{{secret:";
    gbx_status status = GBX_OK;

    *ret_len = 0;
    while (status == GBX_OK && args.len > 0) {
        const uint8_t *at = memmem(args.data, args.len, open, sizeof open - 1);
        size_t before = at != NULL ? (size_t)(at - args.data) : args.len;
        gbx_span rest = {args.data + before, args.len - before};
        const uint8_t *end = rest.len > 0 ? memmem(rest.data, rest.len, "}}", 2) : NULL;
        gbx_buf quoted = {0};

        if (end != NULL)
            rest.len = (size_t)(end + 2 - rest.data);
        if (rest.len > 0)
            status = quote_value(policy, target, rest, &quoted, reterr);
        if (status == GBX_OK) {
            size_t inside = quoted.len > 0 ? quoted.len - 2 : 0; /* of its quotes */
            const uint8_t *text = quoted.data != NULL ? quoted.data + 1 : NULL;

            *ret_len += before + inside;
            if (out != NULL && !(gbx_buf_append(out, args.data, before) &&
                                 gbx_buf_append(out, text, inside)))
                status = no_memory(reterr);
        }
        gbx_secrets_wipe(&quoted);
        args = (gbx_span){rest.data + rest.len, args.len - before - rest.len};
    }
    return status;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_secrets_fill_json(const gbx_policy *policy, const char *function,
                                 gbx_span args, gbx_buf *out, gbx_error *reterr)
{
    gbx_secret_target target = {.function = function};
    size_t len;
    gbx_status status;

    gbx_buf_init(out, FILLED_MAX);
    status = fill(policy, &target, args, NULL, &len, reterr);
    if (status == GBX_OK && len > 0 && gbx_buf_reserve(out, len) == NULL)
        status = no_memory(reterr);
    return status == GBX_OK ? fill(policy, &target, args, out, &len, reterr) : status;
}

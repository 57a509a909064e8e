/* SPDX-License-Identifier: MIT */
/*
 * secrets - values that never enter the box: {{secret:NAME}} becomes the value on the way
 * to who may have it, and whatever comes back has the value replaced by {{secret:NAME}}.
 *
 * Everything fails closed: what cannot be filled in or stripped must not be sent.
 */
#ifndef GBX_POLICY_SECRETS_H
#define GBX_POLICY_SECRETS_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "policy/policy.h"
#include "wire/reader.h"

#include <stdatomic.h>

/* Shorter values would be found, and cut out, everywhere; and could be guessed by
 * having guesses sent back, to see which are cut out. */
#define GBX_SECRET_MIN 8u
#define GBX_SECRET_MAX 8192u

/* Of all values of a policy together. */
#define GBX_SECRETS_BYTES_MAX GBX_KIB(256)

/*
 * Make ready for gbx_secrets_strip() after the secrets of a policy have changed; before
 * the policy is shared. GBX_E_POLICY if they are too much together.
 */
gbx_status gbx_secrets_prepare(gbx_policy *policy, gbx_error *reterr);

/* What gbx_secrets_prepare() made, wiped; for the policy's end. */
void gbx_secrets_forget(gbx_policy *policy);

/* Who is to get the value: one site, or one exposed function. */
typedef struct gbx_secret_target {
    const char *host; /* canonical, as in gbx_site; NULL: a function */
    uint16_t port;
    uint8_t scheme; /* one GBX_SCHEME_* */
    const char *function;
} gbx_secret_target;

/* Does text refer to a secret, rightly or not? */
bool gbx_secrets_are_in(gbx_span text);

/*
 * Append text to out with every {{secret:NAME}} replaced by the value of that secret.
 * text is the code's own, and hostile; out must be empty, and is secret from then on.
 *
 * GBX_E_POLICY: a secret is unknown or not for that target, or a reference is not ended
 * well; the message names both and has no value in it. GBX_E_NOMEM: memory or the
 * ceiling of out. On failure nothing is in out.
 */
gbx_status gbx_secrets_fill(const gbx_policy *policy, const gbx_secret_target *target,
                            gbx_span text, gbx_buf *out, gbx_error *reterr);

/*
 * The same for JSON, arguments of that function: values as JSON writes them. out is made
 * ready here; clean it up in either case.
 */
gbx_status gbx_secrets_fill_json(const gbx_policy *policy, const char *function,
                                 gbx_span args, gbx_buf *out, gbx_error *reterr);

/* What the bytes are that come back. */
typedef enum gbx_secret_text {
    GBX_SECRET_LINE, /* a header's value, a message: plain text */
    GBX_SECRET_DATA, /* a body, JSON: if it is JSON it stays JSON */
} gbx_secret_text;

/*
 * Append data to out without a value of any secret of the policy, which must be the
 * engine's: a narrower one knows fewer. Not only the value as it is: its base64 (at any
 * place, in both alphabets), its hexadecimal digits, and each of these percent-encoded,
 * escaped as in JSON or HTML, or in up to four of these at once
 * (docs/internals/secrets.md).
 *
 * *ret_changed is false if there was none: then out is left empty, and data is what to
 * use. False if memory or the ceiling of out is out: data must not be passed on.
 *
 * Time: 1 to 15 ms a MiB, up to 70 where all is escapes of several kinds.
 */
bool gbx_secrets_strip(const gbx_policy *policy, gbx_secret_text kind, gbx_span data,
                       gbx_buf *out, bool *ret_changed);

/* The same, given up, which is false, soon after *stop is true. */
bool gbx_secrets_strip_until(const gbx_policy *policy, gbx_secret_text kind,
                             gbx_span data, const atomic_bool *stop, gbx_buf *out,
                             bool *ret_changed);

#endif

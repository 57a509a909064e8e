/* SPDX-License-Identifier: MIT */
/*
 * secrets - values that never enter the sandbox: {{secret:NAME}} becomes the value on
 * its way to an allowed target, and the value becomes {{secret:NAME}} in everything
 * that comes back.
 *
 * Everything fails closed: data that cannot be filled in or stripped must not be sent.
 */
#ifndef GBX_POLICY_SECRETS_H
#define GBX_POLICY_SECRETS_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "policy/policy.h"
#include "wire/reader.h"

#include <stdatomic.h>

/* Shorter values would be found, and cut out, everywhere. Code could also guess them,
 * by sending guesses and seeing which are cut out. */
#define GBX_SECRET_MIN 8u
#define GBX_SECRET_MAX 8192u

/* Bytes of all values of a policy together. */
#define GBX_SECRETS_BYTES_MAX GBX_KIB(256)

/*
 * Prepare for gbx_secrets_strip() after the secrets of a policy have changed, before
 * the policy is shared. GBX_E_POLICY if they are too large together.
 */
gbx_status gbx_secrets_prepare(gbx_policy *policy, gbx_error *reterr);

/* Wipe and free what gbx_secrets_prepare() made; for the policy's end. */
void gbx_secrets_forget(gbx_policy *policy);

/* The receiver of the value: one site, or one exposed function. */
typedef struct gbx_secret_target {
    const char *host; /* canonical, as in gbx_site; NULL: a function */
    uint16_t port;
    uint8_t scheme; /* one GBX_SCHEME_* */
    const char *function;
} gbx_secret_target;

/* Does text refer to a secret, known or not? */
bool gbx_secrets_are_in(gbx_span text);

/*
 * Append text to out with every {{secret:NAME}} replaced by the value of that secret.
 * text is the code's own, and hostile; out must be empty, and is secret from then on.
 *
 * GBX_E_POLICY: a secret is unknown or not for that target, or a reference is not
 * properly ended; the message names both and contains no value. GBX_E_NOMEM: memory or
 * the ceiling of out. On failure out is empty.
 */
gbx_status gbx_secrets_fill(const gbx_policy *policy, const gbx_secret_target *target,
                            gbx_span text, gbx_buf *out, gbx_error *reterr);

/*
 * The same for JSON arguments of that function, with values escaped as JSON. out is
 * initialised here; clean it up in either case.
 */
gbx_status gbx_secrets_fill_json(const gbx_policy *policy, const char *function,
                                 gbx_span args, gbx_buf *out, gbx_error *reterr);

/* The kind of the bytes that come back. */
typedef enum gbx_secret_text {
    GBX_SECRET_LINE, /* a header's value, a message: plain text */
    GBX_SECRET_DATA, /* a body, JSON: if it is JSON it stays JSON */
} gbx_secret_text;

/*
 * Append data to out without the values of the policy's secrets. The policy must be the
 * engine's: a narrower one knows fewer secrets. A value is removed as it is, as base64
 * (at any place, in both alphabets), as hexadecimal digits, and as each of these
 * percent-encoded, escaped as in JSON or HTML, or in up to four of these at once
 * (docs/internals/secrets.md).
 *
 * *ret_changed is false if there was none: out is then left empty, and the caller uses
 * data. False if memory or the ceiling of out is exhausted: data must not be passed on.
 *
 * Time: 1 to 15 ms a MiB, up to 70 if all of it is escapes of several kinds.
 */
bool gbx_secrets_strip(const gbx_policy *policy, gbx_secret_text kind, gbx_span data,
                       gbx_buf *out, bool *ret_changed);

/* The same; gives up and returns false soon after *stop is true. */
bool gbx_secrets_strip_until(const gbx_policy *policy, gbx_secret_text kind,
                             gbx_span data, const atomic_bool *stop, gbx_buf *out,
                             bool *ret_changed);

#endif

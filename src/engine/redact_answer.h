/* SPDX-License-Identifier: MIT */
/* redact_answer - answers on their way into the box, without the value of any secret. */
#ifndef GBX_ENGINE_REDACT_ANSWER_H
#define GBX_ENGINE_REDACT_ANSWER_H

#include "policy/policy.h"
#include "wire/messages.h"

/* An answer and what its spans may point to. */
typedef struct gbx_redacted {
    gbx_msg_answer msg;
    gbx_buf json, bytes, message, name, code;
} gbx_redacted;

/* Does an answer have to be looked through at all? policy may be NULL. */
bool gbx_redact_is_due(const gbx_policy *policy);

/* What is left of from, which *ret borrows from; clean it up in either case. False: it
 * could not be looked through, and must not be passed on. policy is the engine's. */
bool gbx_redact_answer(const gbx_policy *policy, const gbx_msg_answer *from,
                       gbx_redacted *ret);
void gbx_redacted_cleanup(gbx_redacted *stripped);

#endif

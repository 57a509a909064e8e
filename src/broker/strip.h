/* SPDX-License-Identifier: MIT */
/* strip - answers on their way into the box, without the value of any secret. */
#ifndef GBX_BROKER_STRIP_H
#define GBX_BROKER_STRIP_H

#include "policy/policy.h"
#include "wire/messages.h"

/* An answer and what its spans may point to. */
typedef struct gbx_stripped {
    gbx_msg_answer msg;
    gbx_buf json, bytes, message, name, code;
} gbx_stripped;

/* Does an answer have to be looked through at all? policy may be NULL. */
bool gbx_strip_is_due(const gbx_policy *policy);

/* What is left of from, which *ret borrows from; clean it up in either case. False: it
 * could not be looked through, and must not be passed on. policy is the engine's. */
bool gbx_strip(const gbx_policy *policy, const gbx_msg_answer *from, gbx_stripped *ret);
void gbx_stripped_cleanup(gbx_stripped *stripped);

#endif

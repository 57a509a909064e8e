/* SPDX-License-Identifier: MIT */
/* digest - which policy it was, for who looks back; no value of a secret is in it. */
#ifndef GBX_POLICY_DIGEST_H
#define GBX_POLICY_DIGEST_H

#include "base/sha256.h"
#include "policy/policy.h"

void gbx_policy_digest(const gbx_policy *policy, uint8_t ret[GBX_SHA256_SIZE]);

#endif

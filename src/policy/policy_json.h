/* SPDX-License-Identifier: MIT */
/* policy_json - the parts of a policy file that have source files of their own. Each is
 * a gbx_json_key.read whose target is the policy. */
#ifndef GBX_POLICY_POLICY_JSON_H
#define GBX_POLICY_POLICY_JSON_H

#include "policy/json_reader.h"

gbx_status gbx_policy_read_fetch(gbx_json_reader *r, const json_t *value,
                                 const gbx_json_key *key, void *target);
gbx_status gbx_policy_read_env(gbx_json_reader *r, const json_t *value,
                               const gbx_json_key *key, void *target);
gbx_status gbx_policy_read_secrets(gbx_json_reader *r, const json_t *value,
                                   const gbx_json_key *key, void *target);

/*
 * Read one secret of r->policy: its value by "from", "file" or "value", and its targets
 * by lists, whose target is the gbx_secret. why_first: the first list is required, and
 * this says why; or NULL.
 */
gbx_status gbx_policy_read_secret(gbx_json_reader *r, const char *name,
                                  const json_t *value, const gbx_json_key *lists,
                                  size_t list_count, const char *why_first);

#endif

/* SPDX-License-Identifier: MIT */
/* replay_policy - policies by which code finds names, and nothing behind them. */
#ifndef GBX_POLICY_REPLAY_POLICY_H
#define GBX_POLICY_REPLAY_POLICY_H

#include "policy/policy.h"
#include "wire/reader.h"

/*
 * These gbx_capability bits, all exposed functions, and the values of env, which is a
 * JSON object of strings that has been checked, or empty. No site, directory or secret.
 * GBX_E_POLICY: a name or a value of env that no policy would have.
 */
gbx_status gbx_policy_for_replay(uint32_t capabilities, gbx_span env, gbx_policy **ret,
                                 gbx_error *reterr);

/* These sites, a line each, for the guard to ask about; no capability. */
gbx_status gbx_policy_of_sites(gbx_span lines, gbx_policy **ret, gbx_error *reterr);

#endif

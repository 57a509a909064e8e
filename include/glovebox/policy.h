/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_POLICY_H
#define GLOVEBOX_POLICY_H

/**
 * @file policy.h
 * What code in the box may reach: nothing, until a policy lists it.
 *
 * The general pattern of use:
 *   1. make a policy with gbx_policy_new();
 *   2. give it to engines in gbx_options.policy;
 *   3. free it with gbx_policy_free(): every engine keeps a reference of its own.
 *
 * Threads: a policy is filled by one thread; once an engine has it, it can no longer be
 * changed, and any number of threads and engines may share it.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A policy that allows nothing, or NULL if memory is out. */
GBX_API gbx_policy *gbx_policy_new(void);

/** Give up the caller's reference; the last one frees the policy and wipes what is
 *  secret in it. NULL is ignored. */
GBX_API void gbx_policy_free(gbx_policy *policy);

#ifdef __cplusplus
}
#endif

#endif

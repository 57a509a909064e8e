/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_POLICY_H
#define GLOVEBOX_POLICY_H

/**
 * @file policy.h
 * What sandboxed code may reach: nothing, until a policy lists it.
 *
 * The general pattern of use:
 *   1. read a policy with gbx_policy_load(), or make an empty one with
 *      gbx_policy_new(), and add to it with gbx_policy_allow() and gbx_policy_secret();
 *   2. give it to engines in gbx_options.policy;
 *   3. free it with gbx_policy_free(): every engine keeps a reference of its own.
 *
 * Threads: one thread fills a policy. Once an engine has it, the policy can no longer
 * be changed, and any number of threads and engines may share it.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bits of the flags of gbx_policy_parse_with() and gbx_policy_load_with(). */
typedef enum gbx_policy_flag {
    GBX_POLICY_TRUST_FILES = 1, /**< accept files that others can change */
} gbx_policy_flag;

/** A policy that allows nothing, or NULL if memory is out. */
GBX_API gbx_policy *gbx_policy_new(void);

/**
 * Read a policy file: JSON, as docs/capabilities.md and
 * share/glovebox/policy.schema.json describe it. Strict: anything unknown is refused.
 * Line and column give the position of the value at fault; the message says what to do.
 *
 * @param json       at most 1 MiB; need not end in NUL.
 * @param base_dir   where relative paths begin; NULL: the current directory.
 * @param ret_policy set on GBX_OK only; free with gbx_policy_free().
 * @retval GBX_E_POLICY the text is at fault, or what it names does not exist here.
 */
GBX_API GBX_MUST_USE gbx_status gbx_policy_parse(const char *json, size_t json_len,
                                                 const char *base_dir,
                                                 gbx_policy **ret_policy,
                                                 gbx_error *reterr);

/** The same with gbx_policy_flag bits, which the policy keeps. */
GBX_API GBX_MUST_USE gbx_status gbx_policy_parse_with(const char *json, size_t json_len,
                                                      const char *base_dir,
                                                      uint32_t flags,
                                                      gbx_policy **ret_policy,
                                                      gbx_error *reterr);

/**
 * Read a policy from a file. Relative paths in it begin at the file's directory. Code
 * can never read that file, even below a directory that it may read.
 *
 * This file, and every file that a policy names (secrets, certificates), must belong to
 * root or to the effective user, and no other user may write it. The same holds for the
 * directories and symbolic links on its path, except those above $HOME. A directory
 * that others may write needs the sticky bit, unless it is mounted read-only. Others
 * may not read a secret either; one of root's is accepted with a warning. A refusal
 * names the command that repairs it (docs/capabilities.md).
 *
 * @retval GBX_E_OS the file cannot be read, or is refused: then os_errno is EPERM.
 */
GBX_API GBX_MUST_USE gbx_status gbx_policy_load(const char *path,
                                                gbx_policy **ret_policy,
                                                gbx_error *reterr);

/** The same with gbx_policy_flag bits, which the policy keeps. */
GBX_API GBX_MUST_USE gbx_status gbx_policy_load_with(const char *path, uint32_t flags,
                                                     gbx_policy **ret_policy,
                                                     gbx_error *reterr);

/**
 * Warnings about files that the policy has accepted; NULL past the last one. Each is
 * one line for the person who runs the host, borrowed until the policy changes or is
 * freed.
 */
GBX_API const char *gbx_policy_warning(const gbx_policy *policy, size_t index);

/**
 * Allow one more thing, in the syntax of the command's flag --allow:
 *
 *     console | timers | crypto
 *     fetch=SITE[,SITE...]          [https://|http://]host[:port], *.host below a host
 *     file=DIRECTORY[,DIRECTORY...]
 *     env=NAME[,NAME=VALUE...]      without a value: that of the host's environment
 *     functions=NAME[,NAME...]      exposed functions; db.* is all below db
 *
 * A grant that fails changes nothing.
 *
 * @retval GBX_E_POLICY not understood or not possible; column is the place in @p grant.
 * @retval GBX_E_USAGE  an engine has the policy already.
 */
GBX_API GBX_MUST_USE gbx_status gbx_policy_allow(gbx_policy *policy, const char *grant,
                                                 gbx_error *reterr);

/**
 * Give the policy a value that code never sees. Where code writes {{secret:NAME}} in a
 * header, or in an argument of an exposed function, the host fills it in.
 *
 * @param name      an identifier; not yet the name of a secret.
 * @param value     from 8 to 8192 bytes without control characters; copied, and wiped
 *                  when the policy is freed.
 * @param sites     the sites it may go to, as in fetch=SITE,SITE; NULL: none.
 * @param functions the exposed functions it may go to, NAME,NAME; NULL: none.
 */
GBX_API GBX_MUST_USE gbx_status gbx_policy_secret(gbx_policy *policy, const char *name,
                                                  const char *value, const char *sites,
                                                  const char *functions,
                                                  gbx_error *reterr);

/**
 * The same, but the host provides the value: the environment variable @p source or, if
 * it contains a slash, the file of that path, without its final line end. Code can
 * never read that file, and others may neither change nor read it, as for
 * gbx_policy_load().
 */
GBX_API GBX_MUST_USE gbx_status
gbx_policy_secret_from(gbx_policy *policy, const char *name, const char *source,
                       const char *sites, const char *functions, gbx_error *reterr);

/**
 * Check code without running it, as gbx_check() does, for an engine that has this
 * policy. Uses that the policy allows are not violations, and neither are names of
 * exposed functions that it lists. The lower code_bytes, of the policy or @p limits,
 * applies. A NULL policy allows nothing.
 */
GBX_API GBX_MUST_USE gbx_status gbx_policy_check(
    const gbx_policy *policy, const char *code, size_t code_len, gbx_form form,
    const gbx_limits *limits, gbx_report **ret_report, gbx_error *reterr);

/** Release the caller's reference. The last release frees the policy and wipes its
 *  secrets. NULL is ignored. */
GBX_API void gbx_policy_free(gbx_policy *policy);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * capability_grants - add one item to a policy, from text; used by the policy file and
 * by the command's flags.
 *
 * A refusal has line 1 and a column in the text given; nothing was added then. An item
 * that is already listed is refused if it was listed since index `since`, that is in
 * the same list, where it is a slip; else the list stays as it is.
 */
#ifndef GBX_POLICY_CAPABILITY_GRANTS_H
#define GBX_POLICY_CAPABILITY_GRANTS_H

#include "policy/policy.h"

/* Bytes of the value of one variable. */
#define GBX_VALUE_MAX 65536

/* Bytes of all variables together: they go along with every call, as JSON up to six
 * times as long. */
#define GBX_ENV_MAX 131072

gbx_status gbx_grant_site(gbx_site **sites, size_t *count, size_t since,
                          const char *text, size_t len, gbx_error *reterr);

/* A relative directory is below base_dir. */
gbx_status gbx_grant_root(gbx_file_policy *file, size_t since, const char *base_dir,
                          const char *text, size_t len, gbx_error *reterr);

/* The value of the host's environment variable of that name, borrowed. */
gbx_status gbx_host_value(const char *name, size_t name_len, const char **ret,
                          gbx_error *reterr);

/* A file's contents without a line end at the end, in a vault. */
typedef struct gbx_host_text {
    char *data; /* ends in NUL; NULL: nothing */
    size_t len;
} gbx_host_text;

/* The contents of a file that holds one secret, if the policy trusts the file. Code can
 * never read that file: it is added to policy->file.own. A relative path is below
 * base_dir. */
gbx_status gbx_host_file(gbx_policy *policy, const char *base_dir, const char *path,
                         size_t len, gbx_host_text *ret, gbx_error *reterr);
void gbx_host_text_free(gbx_host_text *text);

/* Keep code that may read the file's directory from reading this file. */
gbx_status gbx_file_disown(gbx_file_policy *file, int fd, gbx_error *reterr);

/* A path of the policy as one to open; out has PATH_MAX bytes. */
gbx_status gbx_full_path(const char *base_dir, const char *text, size_t len, char *out,
                         gbx_error *reterr);

/* A name and its value; borrowed. */
typedef struct gbx_entry {
    const char *name;
    size_t name_len;
    const char *value;
    size_t value_len;
} gbx_entry;

gbx_status gbx_grant_env(gbx_policy *policy, size_t since, const gbx_entry *entry,
                         gbx_error *reterr);

/* "db.query", "db.*"; "*" sets *all, which may be NULL if that is not possible. */
gbx_status gbx_grant_function(char ***patterns, size_t *count, bool *all, size_t since,
                              const char *text, size_t len, gbx_error *reterr);

/* Add the secret without its sites and functions; they are then added to *ret. */
gbx_status gbx_grant_secret(gbx_policy *policy, const gbx_entry *entry,
                            gbx_secret **ret, gbx_error *reterr);

/* GBX_E_USAGE if the policy is already shared: then it may not change. */
gbx_status gbx_policy_unused(const gbx_policy *policy, gbx_error *reterr);

/* How much is allowed so far, to return to. */
typedef struct gbx_policy_mark {
    uint32_t capabilities;
    bool all_functions;
    size_t sites;
    size_t roots;
    size_t env;
    size_t secrets;
    size_t functions;
} gbx_policy_mark;

gbx_policy_mark gbx_policy_here(const gbx_policy *policy);
void gbx_policy_back_to(gbx_policy *policy, const gbx_policy_mark *mark);

#endif

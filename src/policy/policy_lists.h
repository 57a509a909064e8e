/* SPDX-License-Identifier: MIT */
/* policy_lists - the arrays of a policy grow by one, up to a bound, and forget in bulk. */
#ifndef GBX_POLICY_POLICY_LISTS_H
#define GBX_POLICY_POLICY_LISTS_H

#include "policy/policy.h"

/* Of each list; more than any policy that a person has read. */
#define GBX_POLICY_LIST_MAX 1000

/*
 * Make room for item number count in the list that pointer_to_list points to; the item
 * is zeroed, and the caller counts it once it is whole. NULL if memory is out.
 */
void *gbx_list_room(void *pointer_to_list, size_t count, size_t item_size);

/* GBX_E_POLICY if the list is full; what names it. */
gbx_status gbx_list_check(size_t count, const char *what, gbx_error *reterr);

gbx_status gbx_list_nomem(gbx_error *reterr);

/* A copy of text as the last of names. */
gbx_status gbx_names_add(char ***names, size_t *count, const char *text, size_t len,
                         gbx_error *reterr);

/* The index of text among names[from] to names[count - 1], or count. */
size_t gbx_names_find(char *const *names, size_t from, size_t count, const char *text,
                      size_t len);

/* Free the items from index from on; the list itself stays. */
void gbx_names_cut(char **names, size_t from, size_t count);
void gbx_sites_cut(gbx_site *sites, size_t from, size_t count);
void gbx_pairs_cut(gbx_pair *pairs, size_t from, size_t count);
void gbx_secrets_cut(gbx_secret *secrets, size_t from, size_t count);
void gbx_roots_cut(gbx_file_policy *file, size_t from);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * file_tree - a scratch folder, TOP, full of what a path can end at, and a policy that lists
 * two parts of it:
 *
 *     TOP/data       listed as "./data"
 *     TOP/more       listed as "TOP/more", absolute
 *     TOP/outside    not listed; every file in it contains TREE_CANARY
 */
#ifndef GBX_TESTS_FILE_TREE_H
#define GBX_TESTS_FILE_TREE_H

#include "policy/policy.h"
#include "wire/messages.h"

#define TREE_CANARY    "nobody inside may read this"
#define TREE_MAX_BYTES 2048

/* Has this kernel openat2? If not, it is said; the status to exit with is 77. */
bool tree_can_be_read(void);

/* What makes and removes the tree of a test program, and the policy. */
int tree_begin(void **state);
int tree_end(void **state);
extern gbx_policy *tree_listing;

/* A policy that lists these (opened now), named as they are written, or as name says. */
gbx_policy *tree_policy(const char *const *folders, const char *const *names,
                        size_t count);

/* The answer to fs.readFile(path), a JavaScript string; clean bytes up. */
void tree_read(const gbx_policy *policy, const char *path, gbx_buf *bytes,
               gbx_msg_answer *ret);

/* Has ret this code ("" for success)? */
bool tree_has_code(const gbx_msg_answer *ret, const char *code);

#endif

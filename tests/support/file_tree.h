/* SPDX-License-Identifier: MIT */
/*
 * file_tree - a folder full of what a path can end at, and a policy that lists two parts
 * of it:
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

typedef struct file_tree {
    char top[64];
    gbx_policy *policy;
} file_tree;

/* Has this kernel openat2? If not, it is said; the status to exit with is 77. */
bool tree_can_be_read(void);

/* The tree of a test program, and fixtures that make and remove it. */
extern file_tree tree;
int tree_begin(void **state);
int tree_end(void **state);

/* A policy that lists these (opened now), named as they are written, or as name says. */
gbx_policy *tree_policy(const char *const *folders, const char *const *names,
                        size_t count);

/* Write a file, making nothing but it. path is below TOP; so in all of these. */
void tree_write(const file_tree *of, const char *path, const void *data, size_t len);
/* "TOP/path", in one of a few static buffers that take turns. */
const char *tree_path(const file_tree *of, const char *path);

/* The answer to fs.readFile(path), a JavaScript string; clean bytes up. */
void tree_read(const gbx_policy *policy, const char *path, gbx_buf *bytes,
               gbx_msg_answer *ret);

/* Has ret this code ("" for success)? */
bool tree_has_code(const gbx_msg_answer *ret, const char *code);

#endif

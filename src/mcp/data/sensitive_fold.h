/* SPDX-License-Identifier: MIT */
/*
 * sensitive_fold - a text as its reader takes it: digits and signs of other scripts and
 * widths as those of ASCII, every blank and hyphen as the plain one, and without what is not
 * seen (marks of direction, blanks without width). What people copy from a page, a contact
 * or a document is full of these.
 */
#ifndef GBX_MCP_DATA_SENSITIVE_FOLD_H
#define GBX_MCP_DATA_SENSITIVE_FOLD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gbx_folded {
    char *text;
    size_t len;
    size_t *from; /* of each byte, and of the end: its offset in what was folded */
} gbx_folded;

typedef enum gbx_fold_result {
    GBX_FOLD_SAME, /* there is nothing to fold, and *ret is empty */
    GBX_FOLD_DONE,
    GBX_FOLD_NOMEM,
} gbx_fold_result;

gbx_fold_result gbx_sensitive_fold(const char *text, size_t len, gbx_folded *ret);

void gbx_folded_cleanup(gbx_folded *f);

#endif

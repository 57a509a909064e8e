/* SPDX-License-Identifier: MIT */
/*
 * documents - a file of texts, each with what is to be said of it.
 *
 * "=== HEAD" begins one; it ends before the next. Lines that begin with '#' are none of it.
 */
#ifndef GBX_TESTS_DOCUMENTS_H
#define GBX_TESTS_DOCUMENTS_H

#include "base/fail.h"

/* What the parser makes of one; frees what it made. */
typedef gbx_status (*documents_parse_fn)(const char *text, size_t len,
                                         gbx_error *reterr);

/*
 * Every document: "good" is taken; "shape LINE:COLUMN MESSAGE" and "value ..." are refused
 * with GBX_E_POLICY and a message that begins so. Prints what is otherwise, and says how
 * many. *ret_count: of all.
 */
size_t documents_wrong(const char *path, documents_parse_fn parse, size_t *ret_count);

#endif

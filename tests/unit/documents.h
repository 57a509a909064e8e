/* SPDX-License-Identifier: MIT */
/* documents - cases of JSON texts that a parser takes, or refuses at a place. */
#ifndef GBX_TESTS_DOCUMENTS_H
#define GBX_TESTS_DOCUMENTS_H

#include "base/fail.h"

/* What the parser makes of one; frees what it made. */
typedef gbx_status (*documents_parse_fn)(const char *text, size_t len,
                                         gbx_error *reterr);

/*
 * Assert of every document, and that there are so many: "good" is taken; "shape
 * LINE:COLUMN MESSAGE" and "value ..." are refused with GBX_E_POLICY and a message that
 * begins so.
 */
void documents_check(const char *path, documents_parse_fn parse, size_t at_least);

#endif

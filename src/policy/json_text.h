/* SPDX-License-Identifier: MIT */
/*
 * json_text - a value as text that a person reads, or that goes into a file.
 *
 * The library that makes text of values writes 17 digits of a number that is not whole:
 * 19.99 would be shown, and written, as 19.989999999999998.
 */
#ifndef GBX_POLICY_JSON_TEXT_H
#define GBX_POLICY_JSON_TEXT_H

#include <jansson.h>

/* As json_dumps(), but each number in the fewest of 15, 16 or 17 digits that are read back
 * as the same. Free the text; NULL: memory is out. */
char *gbx_json_text(const json_t *value, size_t flags);

#endif

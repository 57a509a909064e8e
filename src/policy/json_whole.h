/* SPDX-License-Identifier: MIT */
/*
 * json_whole - are values what their text says?
 *
 * Where memory is out while a text or a number is read, the library that makes the values
 * leaves a byte of it out and goes on: a rule would be about another tool.
 */
#ifndef GBX_POLICY_JSON_WHOLE_H
#define GBX_POLICY_JSON_WHOLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* text is valid JSON, in which no member stands twice. Numbers with a fraction are not
 * compared. */
bool gbx_json_is_whole(const char *text, size_t len, const json_t *value);

#endif

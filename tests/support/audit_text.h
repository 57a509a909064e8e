/* SPDX-License-Identifier: MIT */
/* audit_text - is this one line of a security log, and harmless to print? */
#ifndef GBX_TESTS_AUDIT_TEXT_H
#define GBX_TESTS_AUDIT_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* One newline, its last byte; valid UTF-8; nothing that steers a terminal: neither in
 * the bytes nor in a string that a JSON parser makes of them. */
bool audit_text_is_harmless(const char *line, size_t len);

/* The line as an object, to be released with json_decref(); asserts that it is one, that
 * it is harmless, and that it begins as every line does. */
json_t *audit_text_parse(const char *line, size_t len);

#endif

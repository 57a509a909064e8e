/* SPDX-License-Identifier: MIT */
/* sensitive_number - digits in groups that people do not write phones as: years, serial
 * numbers, thousands, books, versions. */
#ifndef GBX_MCP_DATA_SENSITIVE_NUMBER_H
#define GBX_MCP_DATA_SENSITIVE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* s: digits, with anything else between them. What could be a phone, too, is false. */
bool gbx_sensitive_is_no_phone(const char *s, size_t len);

#endif

/* SPDX-License-Identifier: MIT */
/* number - doubles and counts as text. */
#ifndef GBX_MCP_DATA_NUMBER_H
#define GBX_MCP_DATA_NUMBER_H

#include "base/buf.h"

/* In as few digits as read back as the same, at most so many; null if not finite. */
bool gbx_number_put(gbx_buf *to, double value, int digits);

/* What code gets of a number as JSON has it: the nearest double, or an infinity. */
double gbx_number_read(const char *text, size_t len);

/* As code prints it: in the fewest digits that say which double it is. */
bool gbx_number_put_seen(gbx_buf *to, double value);

/* Is what is read from it written in the same digits again, but for zeros at their ends?
 * text: a number as JSON has it. False for what no double is near to. */
bool gbx_number_is_kept(const char *text, size_t len);

/* 1234567 as 1,234,567. */
bool gbx_number_put_count(gbx_buf *to, uint64_t count);

/* "812 bytes", "9.1 kB", "34 MB". */
bool gbx_number_put_size(gbx_buf *to, uint64_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * cell - what the text of a cell may be meant as.
 *
 * The rule is: a value is a number only if the text is what a number would be written
 * as, so that nothing is lost by it. Leading zeros, a plus sign, more digits than a
 * double holds exactly, dates: all of that is text.
 */
#ifndef GBX_MCP_DATA_CELL_H
#define GBX_MCP_DATA_CELL_H

#include <stddef.h>

typedef enum gbx_cell_kind {
    GBX_CELL_EMPTY = 1,
    GBX_CELL_INTEGER = 2, /* at most 15 digits */
    GBX_CELL_DECIMAL = 4, /* at most 15 digits that count; written as JSON has it */
    GBX_CELL_BOOLEAN = 8, /* true or false, in any case */
    GBX_CELL_TEXT = 16,
} gbx_cell_kind;

gbx_cell_kind gbx_cell_kind_of(const char *text, size_t len);

#endif

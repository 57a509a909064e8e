/* SPDX-License-Identifier: MIT */
/*
 * csv_cell - what the text of a cell may be meant as.
 *
 * The rule is: a value is a number only if the text is what a number would be written
 * as, so that nothing is lost by it. Leading zeros, a plus sign, digits that a double does
 * not keep, dates: all of that is text.
 */
#ifndef GBX_MCP_DATA_CSV_CELL_H
#define GBX_MCP_DATA_CSV_CELL_H

#include "base/buf.h"

typedef enum gbx_cell_kind {
    GBX_CELL_EMPTY = 1,
    GBX_CELL_INTEGER = 2, /* at most 15 digits */
    GBX_CELL_DECIMAL =
        4, /* read and written again it is the same, but for a zero before
                             its point */
    GBX_CELL_BOOLEAN = 8, /* true or false, in any case */
    GBX_CELL_TEXT = 16,
    GBX_CELL_POWER = 32,     /* 12e4: such a decimal, or the name of something */
    GBX_CELL_THOUSANDS = 64, /* 1.234: such a decimal, or a whole number in groups */
} gbx_cell_kind;

gbx_cell_kind gbx_cell_kind_of(const char *text, size_t len);

/* A number of one of these kinds, as JSON has it. */
bool gbx_cell_append_number(const char *text, size_t len, gbx_buf *to);

/* Are the cells of a column numbers, which has cells of these kinds? Those that may be
 * names are if others of it are decimals for sure; those that may be in groups are not. */
bool gbx_cell_are_numbers(unsigned kinds);

#endif

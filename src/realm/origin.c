/* SPDX-License-Identifier: MIT */
/*
 * origin - converts the engine's positions in our text to positions in the caller's.
 *
 * The engine gets the first line, so line numbers are right except past the end, where
 * our suffix is. Columns are shifted by our prefix on the first line and by what was
 * inserted before the last expression of a script.
 */
#include "realm/internal.h"

#include "base/lines.h"

/* Number of lines that start before byte offset at, and where the last of them
 * starts. */
static uint32_t count_lines(gbx_span code, size_t at, size_t *ret_begin)
{
    uint32_t lines = 0;

    *ret_begin = 0;
    for (size_t i = 0; i < at;) {
        size_t n = gbx_lines_end((const char *)code.data + i, code.len - i);

        if (n > 0) {
            lines++;
            *ret_begin = i + n;
        }
        i += n > 0 ? n : 1;
    }
    return lines;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_origin_map(const gbx_origin *origin, uint32_t *line, uint32_t *column)
{
    if (*line == 0)
        return;
    if (*line < origin->first_line)
        *line = origin->first_line;
    if (origin->last_line != 0 && *line > origin->last_line) {
        *line = origin->last_line;
        *column = 0;
    }
    if (*column == 0)
        return;
    if (*line == origin->first_line)
        *column = *column > origin->prefix ? *column - origin->prefix : 1;
    if (*line == origin->insert_line && *column > origin->insert_column) {
        uint32_t over = *column - origin->insert_column;

        *column -= over < origin->insert_len ? over : origin->insert_len;
    }
    if (*line == origin->first_line)
        *column += origin->first_column - 1;
}

void gbx_origin_close(gbx_origin *origin, gbx_span code)
{
    size_t begin;

    if (origin->last_line == 0)
        origin->last_line = origin->first_line + count_lines(code, code.len, &begin);
}

void gbx_origin_insert(gbx_origin *origin, gbx_span code, size_t at, uint32_t len)
{
    size_t begin;

    origin->insert_line = origin->first_line + count_lines(code, at, &begin);
    origin->insert_column =
        (uint32_t)gbx_utf16_units((const char *)code.data + begin, at - begin) + 1;
    origin->insert_len = len;
}

/* SPDX-License-Identifier: MIT */
/* lines - see lines.h. */
#include "base/lines.h"

/* The offset of the end of the line that has `at`, or len. */
static size_t end_of(const char *text, size_t len, size_t at)
{
    while (at < len && gbx_lines_end(text + at, len - at) == 0)
        at++;
    return at;
}

/* ---- public to other modules -------------------------------------------- */

size_t gbx_lines_end(const char *text, size_t len)
{
    const uint8_t *d = (const uint8_t *)text;

    if (d[0] == '\n')
        return 1;
    if (d[0] == '\r')
        return len > 1 && d[1] == '\n' ? 2 : 1;
    return len > 2 && d[0] == 0xE2 && d[1] == 0x80 && (d[2] | 1) == 0xA9 ? 3 : 0;
}

bool gbx_lines_find(const char *text, size_t len, uint32_t line, size_t *ret_start,
                    size_t *ret_end)
{
    size_t start = 0;
    size_t end = end_of(text, len, 0);

    for (uint32_t n = 1; n < line; n++) {
        if (end == len) {
            *ret_start = *ret_end = len;
            return false;
        }
        start = end + gbx_lines_end(text + end, len - end);
        end = end_of(text, len, start);
    }
    *ret_start = start;
    *ret_end = end;
    return true;
}

void gbx_lines_position(const char *text, size_t len, size_t offset, uint32_t *ret_line,
                        uint32_t *ret_column)
{
    size_t stop = offset < len ? offset : len;
    uint32_t line = 1;
    uint32_t column = 1;

    for (size_t i = 0; i < stop;) {
        size_t n = gbx_lines_end(text + i, len - i);

        if (n > 0 && i + n <= stop) {
            line++;
            column = 1;
            i += n;
        } else {
            column += ((uint8_t)text[i] & 0xC0) != 0x80;
            i++;
        }
    }
    *ret_line = line;
    *ret_column = column;
}

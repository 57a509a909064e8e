/* SPDX-License-Identifier: MIT */
/* cell - see cell.h. */
#include "mcp/data/cell.h"

#include <stdbool.h>
#include <strings.h>

/* Every integer of so many digits is a double of its own. */
#define DIGITS_MAX 15

/* No double is beyond it, and no exponent of three digits that is surely meant as one. */
#define EXPONENT_DIGITS_MAX 2

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t skip_digits(const char *text, size_t len, size_t at)
{
    while (at < len && is_digit(text[at]))
        at++;
    return at;
}

/* 1.5e3, 1e-05: with a point or a sign, else it may be the name of something (12e45). */
static bool is_exponent(const char *text, size_t len, size_t at, bool has_point)
{
    size_t digits;

    at++;
    if (at < len && (text[at] == '+' || text[at] == '-'))
        at++;
    else if (!has_point)
        return false;
    digits = skip_digits(text, len, at) - at;
    return digits > 0 && digits <= EXPONENT_DIGITS_MAX && at + digits == len;
}

static gbx_cell_kind number(const char *text, size_t len)
{
    size_t start = text[0] == '-' ? 1 : 0;
    size_t at = skip_digits(text, len, start);
    size_t whole = at - start;
    size_t part = 0;

    if (whole == 0 || whole > DIGITS_MAX || (whole > 1 && text[start] == '0'))
        return GBX_CELL_TEXT;
    if (at == len)
        return GBX_CELL_INTEGER;
    if (text[at] == '.') {
        part = skip_digits(text, len, at + 1) - at - 1;
        if (part == 0)
            return GBX_CELL_TEXT;
        at += 1 + part;
    }
    if (whole + part > DIGITS_MAX + (text[start] == '0'))
        return GBX_CELL_TEXT;
    if (at == len)
        return GBX_CELL_DECIMAL;
    if ((text[at] == 'e' || text[at] == 'E') && is_exponent(text, len, at, part > 0))
        return GBX_CELL_DECIMAL;
    return GBX_CELL_TEXT;
}

/* ---- public to other modules -------------------------------------------- */

gbx_cell_kind gbx_cell_kind_of(const char *text, size_t len)
{
    if (len == 0)
        return GBX_CELL_EMPTY;
    if (is_digit(text[0]) || text[0] == '-')
        return number(text, len);
    if ((len == 4 && strncasecmp(text, "true", 4) == 0) ||
        (len == 5 && strncasecmp(text, "false", 5) == 0))
        return GBX_CELL_BOOLEAN;
    return GBX_CELL_TEXT;
}

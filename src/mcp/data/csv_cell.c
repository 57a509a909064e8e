/* SPDX-License-Identifier: MIT */
/* csv_cell - see datasets.h. */
#include "mcp/data/datasets.h"

#include <strings.h>

/* Every integer with this many digits has its own double. */
#define DIGITS_MAX 15

/* Digits in a group of thousands. */
#define GROUP 3

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

/* What follows the e of an exponent; *ret_has_sign. */
static bool is_exponent(const char *text, size_t len, size_t at, bool *ret_has_sign)
{
    *ret_has_sign = at < len && (text[at] == '+' || text[at] == '-');
    at += *ret_has_sign;
    return at < len && skip_digits(text, len, at) == len;
}

/* ".25" and "-.25", as many programs write them. */
static bool lacks_zero(const char *text, size_t len)
{
    size_t at = len > 0 && text[0] == '-' ? 1 : 0;

    return at + 1 < len && text[at] == '.' && is_digit(text[at + 1]);
}

static bool is_kept(const char *text, size_t len)
{
    gbx_buf whole;
    bool kept;

    if (!lacks_zero(text, len))
        return gbx_number_is_kept(text, len);
    gbx_buf_init(&whole, len + 1);
    kept = gbx_cell_append_number(text, len, &whole) &&
           gbx_number_is_kept((char *)whole.data, whole.len);
    gbx_buf_cleanup(&whole);
    return kept;
}

static gbx_cell_kind number(const char *text, size_t len)
{
    size_t start = text[0] == '-' ? 1 : 0;
    size_t at = skip_digits(text, len, start);
    size_t whole = at - start;
    bool is_plain = start == 0; /* no sign or point: 12e4 may be a name */
    bool has_sign = false;

    if ((whole == 0 && !lacks_zero(text, len)) || (whole > 1 && text[start] == '0'))
        return GBX_CELL_TEXT;
    if (at == len)
        return whole > DIGITS_MAX ? GBX_CELL_TEXT : GBX_CELL_INTEGER;
    if (text[at] == '.') {
        size_t point = at;

        at = skip_digits(text, len, at + 1);
        if (at == point + 1)
            return GBX_CELL_TEXT;
        is_plain = false;
        if (at == len && at == point + 1 + GROUP && whole >= 1 && whole <= GROUP &&
            text[start] != '0')
            return GBX_CELL_THOUSANDS;
    }
    if (at == len && len <= DIGITS_MAX) /* the usual case: no digits are lost */
        return GBX_CELL_DECIMAL;
    if (at < len && ((text[at] != 'e' && text[at] != 'E') ||
                     !is_exponent(text, len, at + 1, &has_sign)))
        return GBX_CELL_TEXT;
    if (!is_kept(text, len))
        return GBX_CELL_TEXT;
    return is_plain && !has_sign ? GBX_CELL_POWER : GBX_CELL_DECIMAL;
}

/* ---- public to other modules -------------------------------------------- */

gbx_cell_kind gbx_cell_kind_of(const char *text, size_t len)
{
    if (len == 0)
        return GBX_CELL_EMPTY;
    if (is_digit(text[0]) || text[0] == '-' || text[0] == '.')
        return number(text, len);
    if ((len == 4 && strncasecmp(text, "true", 4) == 0) ||
        (len == 5 && strncasecmp(text, "false", 5) == 0))
        return GBX_CELL_BOOLEAN;
    return GBX_CELL_TEXT;
}

bool gbx_cell_append_number(const char *text, size_t len, gbx_buf *to)
{
    size_t sign = text[0] == '-' ? 1 : 0;

    if (!lacks_zero(text, len))
        return gbx_buf_append(to, text, len);
    (void)gbx_buf_append(to, text, sign);
    (void)gbx_buf_append(to, "0", 1);
    return gbx_buf_append(to, text + sign, len - sign);
}

bool gbx_cell_are_numbers(unsigned kinds)
{
    const unsigned numbers = GBX_CELL_INTEGER | GBX_CELL_DECIMAL | GBX_CELL_POWER;

    kinds &= ~(unsigned)GBX_CELL_EMPTY;
    return (kinds & ~numbers) == 0 &&
           ((kinds & GBX_CELL_POWER) == 0 || (kinds & GBX_CELL_DECIMAL) != 0);
}

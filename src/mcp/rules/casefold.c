/* SPDX-License-Identifier: MIT */
/* casefold - see rules.h. */
#include "mcp/rules/rules.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/rules/letters_table.h"

#include <string.h>

static uint32_t fold_point(uint32_t point)
{
    size_t low = 0;
    size_t high = GBX_COUNTOF(letters_table);

    while (low < high) {
        size_t middle = (low + high) / 2;
        const letters *l = &letters_table[middle];

        if (point > l->last)
            low = middle + 1;
        else if (point < l->first)
            high = middle;
        else
            return (point - l->first) % l->step == 0 ? point - l->back : point;
    }
    return point;
}

/* ---- public to other modules -------------------------------------------- */

size_t gbx_letter_fold(const char *text, size_t len, char ret[4], size_t *ret_len)
{
    const uint8_t *data = (const uint8_t *)text;
    size_t n = gbx_utf8_sequence(data, len);

    if (n == 0) {
        ret[0] = text[0];
        *ret_len = 1;
        return 1;
    }
    *ret_len = gbx_utf8_encode(fold_point(gbx_utf8_decode(data, n)), (uint8_t *)ret);
    return n;
}

bool gbx_casefold_same(const char *a, const char *b)
{
    const char *a_end = a + strlen(a);
    const char *b_end = b + strlen(b);

    while (a < a_end && b < b_end) {
        char one[4];
        char other[4];
        size_t one_len;
        size_t other_len;

        a += gbx_letter_fold(a, (size_t)(a_end - a), one, &one_len);
        b += gbx_letter_fold(b, (size_t)(b_end - b), other, &other_len);
        if (one_len != other_len || memcmp(one, other, one_len) != 0)
            return false;
    }
    return a == a_end && b == b_end;
}

/* SPDX-License-Identifier: MIT */
/* sensitive_fold - see sensitive_fold.h. A table of ranges; nothing becomes longer. */
#include "mcp/data/sensitive_fold.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What these characters become: the one that is given, or, where they are in order, as far
 * from it as from the first. 0: nothing. */
static const struct {
    uint32_t first;
    uint32_t last;
    char as;
    bool is_in_order;
} folds[] = {
    {0x00a0, 0x00a0, ' ', false}, /* blanks that do not break, or of some width */
    {0x00ad, 0x00ad, 0, false},   /* a hyphen that is not seen */
    {0x0660, 0x0669, '0', true},  /* Arabic digits, of the east too */
    {0x06f0, 0x06f9, '0', true},
    {0x0966, 0x096f, '0', true}, /* Hindi, Bengali */
    {0x09e6, 0x09ef, '0', true},
    {0x2000, 0x200a, ' ', false},
    {0x200b, 0x200f, 0, false}, /* no width, directions */
    {0x2010, 0x2015, '-', false},
    {0x202a, 0x202e, 0, false},
    {0x202f, 0x202f, ' ', false},
    {0x205f, 0x205f, ' ', false},
    {0x2060, 0x2064, 0, false},
    {0x2066, 0x2069, 0, false},
    {0x2212, 0x2212, '-', false}, /* minus */
    {0x3000, 0x3000, ' ', false},
    {0xfe63, 0xfe63, '-', false},
    {0xfeff, 0xfeff, 0, false},
    {0xff01, 0xff5e, '!', true}, /* ASCII as wide as a Chinese character */
};

/* False: it stays what it is. */
static bool fold(uint32_t point, char *ret)
{
    for (size_t i = 0; i < GBX_COUNTOF(folds); i++)
        if (point >= folds[i].first && point <= folds[i].last) {
            uint32_t behind = folds[i].is_in_order ? point - folds[i].first : 0;

            *ret = (char)((uint32_t)folds[i].as + behind);
            return true;
        }
    return false;
}

/* The character at text[at], if it is one to fold; 0: it is none. */
static size_t take(const char *text, size_t len, size_t at, char *ret)
{
    const uint8_t *data = (const uint8_t *)text + at;
    size_t n = data[0] < 0x80 ? 0 : gbx_utf8_sequence(data, len - at);

    return n > 0 && fold(gbx_utf8_decode(data, n), ret) ? n : 0;
}

/* Where the first is; len: there is none. */
static size_t first_of(const char *text, size_t len)
{
    char c;

    for (size_t at = 0; at < len; at++)
        if (take(text, len, at, &c) > 0)
            return at;
    return len;
}

/* ---- public to other modules -------------------------------------------- */

gbx_fold_result gbx_sensitive_fold(const char *text, size_t len, gbx_folded *ret)
{
    size_t at = 0;

    *ret = (gbx_folded){.text = NULL};
    if (first_of(text, len) == len)
        return GBX_FOLD_SAME;
    ret->text = malloc(len + 1);
    ret->from = calloc(len + 1, sizeof *ret->from);
    if (ret->text == NULL || ret->from == NULL) {
        gbx_folded_cleanup(ret);
        return GBX_FOLD_NOMEM;
    }
    while (at < len) {
        char c = text[at];
        size_t n = take(text, len, at, &c);

        ret->from[ret->len] = at;
        ret->text[ret->len] = c;
        ret->len += n == 0 || c != 0;
        at += n > 0 ? n : 1;
    }
    ret->from[ret->len] = len;
    ret->text[ret->len] = 0;
    return GBX_FOLD_DONE;
}

void gbx_folded_cleanup(gbx_folded *f)
{
    free(f->text);
    free(f->from);
    *f = (gbx_folded){.text = NULL};
}

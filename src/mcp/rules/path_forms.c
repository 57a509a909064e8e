/* SPDX-License-Identifier: MIT */
/* path_forms - see internal.h. */
#include "mcp/rules/internal.h"

#include <stdbool.h>
#include <string.h>

static bool is_slash(char c, gbx_path_slashes slashes)
{
    return c == '/' || (c == '\\' && slashes == GBX_RESOLVED_BOTH);
}

static size_t part_len(const char *text, size_t len, gbx_path_slashes slashes)
{
    size_t n = 0;

    while (n < len && !is_slash(text[n], slashes))
        n++;
    return n;
}

/* The length without the last part and the slash before it, but not below keep. */
static size_t without_last(const char *text, size_t len, size_t keep,
                           gbx_path_slashes slashes)
{
    while (len > keep && !is_slash(text[len - 1], slashes))
        len--;
    return len > keep ? len - 1 : len;
}

/* ---- public to other modules -------------------------------------------- */

size_t gbx_path_forms(const char *text, size_t len, gbx_path_slashes slashes, char *ret)
{
    size_t out = 0;
    size_t keep;
    size_t n;
    bool is_whole = len > 0 && is_slash(text[0], slashes);

    if (is_whole)
        ret[out++] = text[0];
    keep = out;
    for (size_t at = 0; at < len; at += n + 1) {
        bool is_back;

        n = part_len(text + at, len - at, slashes);
        is_back = n == 2 && memcmp(text + at, "..", 2) == 0;
        if (n == 0 || (n == 1 && text[at] == '.') ||
            (is_back && is_whole && out == keep))
            continue;
        if (is_back && out > keep) {
            out = without_last(ret, out, keep, slashes);
            continue;
        }
        if (out > 0 && !is_slash(ret[out - 1], slashes))
            ret[out++] = text[at - 1];
        memcpy(ret + out, text + at, n);
        out += n;
        if (is_back)
            keep = out; /* the path now begins above an unknown folder */
    }
    if (out == 0 && len > 0)
        ret[out++] = '.';
    return out;
}

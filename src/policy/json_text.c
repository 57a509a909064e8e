/* SPDX-License-Identifier: MIT */
/* json_text - see policy.h. Numbers only become shorter, so it works in place. */
#include "policy/policy.h"

#include "base/cleanup.h"

#include <stdbool.h>
#include <string.h>

/* The number in so many digits, if it reads back the same; else of length 0. */
static size_t try_digits(const json_t *number, size_t digits, char *to, size_t room)
{
    GBX_CLEANUP(gbx_free)
    char *text = json_dumps(number, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
    json_t *back = text != NULL ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    bool is_same = back != NULL && json_real_value(back) == json_real_value(number);
    size_t len = is_same ? strlen(text) : 0;

    json_decref(back);
    if (len == 0 || len > room)
        return 0;
    memcpy(to, text, len);
    return len;
}

/* Write the number at text to `to`, which may be the same place. */
static size_t shorten(const char *text, size_t len, char *to)
{
    json_t *number = json_loadb(text, len, JSON_DECODE_ANY, NULL);
    size_t shorter = 0;

    for (size_t digits = 15; json_is_real(number) && shorter == 0 && digits < 17;
         digits++)
        shorter = try_digits(number, digits, to, len);
    json_decref(number);
    if (shorter > 0)
        return shorter;
    memmove(to, text, len);
    return len;
}

/* Length of the string at text, with its quotes. */
static size_t string_len(const char *text)
{
    size_t n = 1;

    while (text[n] != '"')
        n += text[n] == '\\' ? 2 : 1;
    return n + 1;
}

char *gbx_json_text(const json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags);
    char *to = text;
    size_t n;

    for (const char *at = text; at != NULL && *at != '\0'; at += n) {
        n = strspn(at, "+-.0123456789eE");
        if (*at == '-' || (*at >= '0' && *at <= '9')) {
            to += shorten(at, n, to);
            continue;
        }
        n = *at == '"' ? string_len(at) : 1;
        memmove(to, at, n);
        to += n;
    }
    if (to != NULL)
        *to = '\0';
    return text;
}

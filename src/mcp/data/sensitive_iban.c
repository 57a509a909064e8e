/* SPDX-License-Identifier: MIT */
/* sensitive_iban - ISO 13616: moved and spelled out as a number it is 1 modulo 97. */
#include "mcp/data/sensitive_iban.h"

#include <ctype.h>

#define IBAN_MIN 15
#define IBAN_MAX 34
#define GROUP    4

static char upper(char c)
{
    if (c >= 'a' && c <= 'z')
        return (char)(c - ('a' - 'A'));
    return c;
}

/* Without what is between groups; 0 if there is anything else than letters and digits, or
 * too much. */
static size_t take_plain(const char *s, size_t len, char plain[IBAN_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        if (s[i] == ' ' || s[i] == '-')
            continue;
        if (n == IBAN_MAX || !isalnum((unsigned char)s[i]))
            return 0;
        plain[n++] = upper(s[i]);
    }
    return n;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_sensitive_is_iban(const char *s, size_t len)
{
    static const char form[] = "AA00";
    char plain[IBAN_MAX];
    size_t n = take_plain(s, len, plain);
    unsigned rest = 0;

    if (n < IBAN_MIN)
        return false;
    for (size_t i = 0; form[i] != 0; i++)
        if ((form[i] == '0') != (isdigit((unsigned char)plain[i]) != 0))
            return false;
    for (size_t i = 0; i < n; i++) {
        unsigned c = (unsigned char)plain[(i + 4) % n];

        rest = c <= '9' ? (rest * 10 + c - '0') % 97 : (rest * 100 + c - 'A' + 10) % 97;
    }
    return rest == 1;
}

size_t gbx_sensitive_iban_end(const char *s, size_t len, size_t at)
{
    size_t end = at, start = at, found = at;

    if (len - at < IBAN_MIN || !isalpha((unsigned char)s[at]) ||
        (at > 0 && isalnum((unsigned char)s[at - 1])))
        return at;
    while (end - at < IBAN_MAX + IBAN_MAX / GROUP) {
        for (start = end; end < len && isalnum((unsigned char)s[end]);)
            end++;
        if (end == start || end - start > GROUP)
            break;
        if (gbx_sensitive_is_iban(s + at, end - at))
            found = end;
        if (end - start < GROUP || end == len || (s[end] != ' ' && s[end] != '-'))
            break;
        end++;
    }
    return found;
}

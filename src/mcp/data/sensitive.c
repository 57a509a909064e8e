/* SPDX-License-Identifier: MIT */
/*
 * sensitive - text is taken apart three times: into names with their values, for secrets;
 * into runs without white space, for addresses and keys; and into runs of digits with
 * what people write between them, for numbers. What stands in the middle of a run, behind
 * a colon or a comma, is looked at once more, and more strictly: URLs, paths and lists of
 * ids are full of what would look like a number or a key by itself.
 */
#include "mcp/data/sensitive.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/data/sensitive_address.h"
#include "mcp/data/sensitive_fold.h"
#include "mcp/data/sensitive_iban.h"
#include "mcp/data/sensitive_key.h"
#include "mcp/data/sensitive_number.h"
#include "mcp/data/sensitive_pair.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGITS_MAX 40
#define PHONE_MIN  7
#define PHONE_MAX  15
#define CARD_MIN   13
#define CARD_MAX   19
#define IBAN_ROOM  43 /* with blanks */

/* ---- runs without white space ------------------------------------------------------ */

static bool is_email(const char *s, size_t len)
{
    const char *at = memchr(s, '@', len);
    const char *dot;

    if (at == NULL || at == s)
        return false;
    dot = memchr(at, '.', len - (size_t)(at - s));
    return dot != NULL && dot > at + 1 && dot + 1 < s + len;
}

/* tel:+14155550123 */
static bool is_phone_link(const char *s, size_t len)
{
    size_t digits = 0;

    if (len < 4 || (strncasecmp(s, "tel:", 4) != 0 && strncasecmp(s, "sms:", 4) != 0))
        return false;
    for (size_t i = 4; i < len; i++)
        digits += isdigit((unsigned char)s[i]) != 0;
    return digits >= PHONE_MIN;
}

/* ?sig=..., ?sid=...: what these are nowhere but in the query of a URL. */
static bool is_link_of_session(const char *query, size_t len)
{
    static const char *const names[] = {"sig", "signature", "session", "sid"};
    const char *end = query + len;

    while (query < end) {
        size_t room = (size_t)(end - ++query);

        for (size_t i = 0; i < GBX_COUNTOF(names); i++) {
            size_t n = strlen(names[i]);

            if (room > n + 1 && query[n] == '=' && query[n + 1] != '&' &&
                strncasecmp(query, names[i], n) == 0)
                return true;
        }
        query = memchr(query, '&', room);
        if (query == NULL)
            return false;
    }
    return false;
}

/* user:password@ in a URL, and what a query calls a token. */
static bool is_telling_url(const char *s, size_t len)
{
    const char *scheme = memmem(s, len, "://", 3);
    const char *query;

    if (scheme == NULL)
        return false;
    if (memchr(scheme, '@', len - (size_t)(scheme - s)) != NULL)
        return true;
    query = memchr(scheme, '?', len - (size_t)(scheme - s));
    if (query == NULL)
        return false;
    len -= (size_t)(query - s);
    return gbx_sensitive_name(query, len, false) || is_link_of_session(query, len);
}

static bool is_telling(const char *s, size_t len)
{
    if (gbx_sensitive_has_address(s, len))
        return true;
    /* What a sentence puts around it is not part of it. */
    while (len > 0 && strchr("\"'()<>[]{},;:!", s[0]) != NULL) {
        s++;
        len--;
    }
    while (len > 0 && strchr("\"'()<>[]{},;:!.", s[len - 1]) != NULL)
        len--;
    if (len == 0)
        return false;
    return is_email(s, len) || gbx_sensitive_is_key(s, len) ||
           gbx_sensitive_is_iban(s, len) || is_phone_link(s, len) ||
           is_telling_url(s, len);
}

/* ---- runs of digits ---------------------------------------------------------------- */

static bool is_between(char c)
{
    return c == ' ' || c == '-' || c == '(' || c == ')' || c == '.' || c == '/';
}

static bool is_luhn(const char *digits, size_t n)
{
    unsigned sum = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned d = (unsigned)(digits[n - 1 - i] - '0');

        d = i % 2 == 1 ? d * 2 : d;
        sum += d > 9 ? d - 9 : d;
    }
    return sum % 10 == 0;
}

/* 2024-05-01 and 01.05.2024, perhaps with a time: the commonest runs of digits. */
static bool is_date(const char *s, size_t len)
{
    size_t lens[3] = {0};
    size_t part = 0;

    for (size_t i = 0; i < len && s[i] != ' '; i++) {
        if (isdigit((unsigned char)s[i]))
            lens[part]++;
        else if (part++ == 2)
            return false;
    }
    return part == 2 && lens[1] >= 1 && lens[1] <= 2 &&
           ((lens[0] == 4 && lens[2] >= 1 && lens[2] <= 2) ||
            (lens[0] <= 2 && (lens[2] == 4 || lens[2] == 2)));
}

static bool is_ssn(const char *s, size_t len)
{
    return len == 11 && s[3] == '-' && s[6] == '-';
}

/* The run of digits at s: a card, a phone, a social security number? */
static bool is_number_of(const char *s, size_t len)
{
    char digits[DIGITS_MAX];
    size_t n = 0, dots = 0, others = 0; /* between the digits */

    for (size_t i = 0; i < len; i++) {
        if (isdigit((unsigned char)s[i]) && n < DIGITS_MAX)
            digits[n++] = s[i];
        else if (s[i] == '.')
            dots++;
        else if (s[i] != '+')
            others++;
    }
    /* Cards begin with 2 to 6; times in milliseconds with 1. */
    if (n >= CARD_MIN && n <= CARD_MAX && digits[0] >= '2' && digits[0] <= '6' &&
        dots != 1 && is_luhn(digits, n))
        return true;
    if (n < PHONE_MIN || n > PHONE_MAX || is_date(s, len))
        return false;
    if (s[0] == '+' || is_ssn(s, len))
        return true;
    return (others > 0 || dots > 1) /* with one point it is a decimal */
           && !gbx_sensitive_is_no_phone(s, len);
}

/* ---- in the middle of a run ---------------------------------------------------------- */

#define INNER_MAX 80 /* bytes of a number with what is between its digits */

static bool is_separator(char c)
{
    return c != 0 && strchr(":=,;/#|()[]{}<>\"'&?!\\", c) != NULL;
}

/* (415) 555-0123, 415-555-0123, +14155550123; not a range of years, nor a part number. */
static bool is_written_phone(const char *s, size_t len)
{
    size_t groups[4] = {0};
    size_t group = 0, digits = 0;

    for (size_t i = 0; i < len; i++) {
        bool is_digit = isdigit((unsigned char)s[i]) != 0;

        digits += is_digit;
        if (is_digit && group < GBX_COUNTOF(groups))
            groups[group]++;
        else if (i > 0 && isdigit((unsigned char)s[i - 1]))
            group++;
    }
    if (s[0] == '+')
        return digits >= PHONE_MIN && digits <= PHONE_MAX;
    return group == 2 && groups[0] == 3 && groups[1] == 3 && groups[2] == 4;
}

/* The end of a number at s[at] that is nobody's business, or at. Behind a slash it is a
 * part of a path, or of a date. */
static size_t inner_number_end(const char *s, size_t len, size_t at)
{
    size_t max = len - at < INNER_MAX ? len : at + INNER_MAX;
    size_t last = at;
    char digits[DIGITS_MAX];
    size_t n = 0;

    if (at > 0 && s[at - 1] == '/')
        return at;
    for (size_t end = at;
         end < max && n < DIGITS_MAX &&
         (isdigit((unsigned char)s[end]) || s[end] == '+' || is_between(s[end]));
         end++)
        if (isdigit((unsigned char)s[end])) {
            digits[n++] = s[end];
            last = end + 1;
        }
    if (last == at || (last < len && isalnum((unsigned char)s[last])))
        return at;
    /* Cards begin with 2 to 6; times in milliseconds with 1. */
    if (n >= CARD_MIN && n <= CARD_MAX && digits[0] >= '2' && digits[0] <= '6' &&
        is_luhn(digits, n) && memchr(s + at, '.', last - at) == NULL)
        return last;
    return (n == 9 && is_ssn(s + at, last - at)) || is_written_phone(s + at, last - at)
               ? last
               : at;
}

/* The end of what is sensitive in itself and begins at s[at], or at: there is none. */
static size_t inner_end(const char *s, size_t len, size_t at)
{
    size_t end = at;

    if (isdigit((unsigned char)s[at]) || s[at] == '+' || s[at] == '(')
        return inner_number_end(s, len, at);
    while (end < len && !isspace((unsigned char)s[end]) && !is_separator(s[end]))
        end++;
    while (end > at && s[end - 1] == '.')
        end--;
    if (gbx_sensitive_is_marked_key(s + at, end - at) ||
        gbx_sensitive_is_iban(s + at, end - at))
        return end;
    return at;
}

/* ---- parts of a text ----------------------------------------------------------------- */

/* The end of what is between the lines of a PEM, both included; at: there is none here. */
static size_t pem_end(const char *s, size_t len, size_t at)
{
    static const char begin[] = "-----BEGIN ", end[] = "-----END ";
    const char *last;

    if (len - at < sizeof begin - 1 || memcmp(s + at, begin, sizeof begin - 1) != 0)
        return at;
    last = memmem(s + at, len - at, end, sizeof end - 1);
    if (last == NULL)
        return len;
    last = memmem(last + sizeof end - 1, (size_t)(s + len - last) - (sizeof end - 1),
                  "-----", 5);
    return last != NULL ? (size_t)(last - s) + 5 : len;
}

/* As next_part(), of a run from at to end that says nothing as a whole: up to where
 * something begins in it that does. */
static size_t inner_part(const char *s, size_t len, size_t at, size_t end,
                         bool *ret_sensitive)
{
    size_t own = at == 0 || is_separator(s[at - 1]) || isspace((unsigned char)s[at - 1])
                     ? inner_end(s, len, at)
                     : at;

    *ret_sensitive = own > at;
    if (*ret_sensitive)
        return own;
    for (size_t i = at + 1; i < end; i++)
        if (is_separator(s[i - 1]) && inner_end(s, len, i) > i)
            return i;
    return end;
}

/* The run that begins at s[at], and whether it is sensitive. */
static size_t next_part(const char *s, size_t len, size_t at, bool *ret_sensitive)
{
    size_t end = pem_end(s, len, at);
    unsigned char c = (unsigned char)s[at];

    if (end == at)
        end = gbx_sensitive_pair_end(s, len, at);
    *ret_sensitive = end > at;
    if (*ret_sensitive)
        return end;
    if (isdigit(c) ||
        ((c == '+' || c == '(') && at + 1 < len && isdigit((unsigned char)s[at + 1]))) {
        size_t last = at;

        for (end = at; end < len && (isdigit((unsigned char)s[end]) || s[end] == '+' ||
                                     is_between(s[end]));
             end++)
            if (isdigit((unsigned char)s[end]))
                last = end + 1;
        if ((last == len || (!isalnum((unsigned char)s[last]) && s[last] != '@')) &&
            is_number_of(s + at, last - at)) {
            *ret_sensitive = true;
            return last;
        }
    }
    for (end = at; end < len && !isspace((unsigned char)s[end]); end++)
        if (end > at && gbx_sensitive_pair_end(s, len, end) > end)
            break; /* a value begins here: another part */
    if (end == at)
        return at + 1;
    *ret_sensitive = is_telling(s + at, end - at);
    return *ret_sensitive ? end : inner_part(s, len, at, end, ret_sensitive);
}

/* An IBAN and nothing else, with blanks anywhere. */
static bool is_all_iban(const char *text, size_t len)
{
    return len <= IBAN_ROOM && gbx_sensitive_is_iban(text, len);
}

static bool looks_as_it_stands(const char *text, size_t len)
{
    if (is_all_iban(text, len))
        return true;
    for (size_t at = 0; at < len; at++)
        if (gbx_sensitive_iban_end(text, len, at) > at)
            return true;
    for (size_t at = 0; at < len;) {
        bool is_sensitive;

        at = next_part(text, len, at, &is_sensitive);
        if (is_sensitive)
            return true;
    }
    return false;
}

/* marks: of the bytes of what is shown, in which text[i] begins at from[i]; NULL: at i. */
static void mark(size_t at, size_t end, const size_t *from, char *marks)
{
    size_t start = from != NULL ? from[at] : at;

    memset(marks + start, 1, (from != NULL ? from[end] : end) - start);
}

static void mark_parts(const char *text, size_t len, const size_t *from, char *marks)
{
    for (size_t at = 0; at < len;) {
        bool is_sensitive;
        size_t end = next_part(text, len, at, &is_sensitive);

        if (is_sensitive)
            mark(at, end, from, marks);
        at = end;
    }
    for (size_t at = 0; at < len; at++)
        mark(at, gbx_sensitive_iban_end(text, len, at), from, marks);
    if (is_all_iban(text, len))
        mark(0, len, from, marks);
}

static void put_marked(const char *text, size_t len, const char *marks, gbx_buf *to)
{
    for (size_t at = 0; at < len;) {
        size_t end = at;

        while (end < len && marks[end] == marks[at])
            end++;
        if (marks[at] != 0)
            (void)gbx_sensitive_mask(text + at, end - at, to);
        else
            (void)gbx_buf_append(to, text + at, end - at);
        at = end;
    }
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_sensitive_looks(const char *text, size_t len)
{
    gbx_folded folded;
    gbx_fold_result result;
    bool looks;

    if (looks_as_it_stands(text, len))
        return true;
    result = gbx_sensitive_fold(text, len, &folded);
    looks = result == GBX_FOLD_NOMEM ||
            (result == GBX_FOLD_DONE && looks_as_it_stands(folded.text, folded.len));
    gbx_folded_cleanup(&folded);
    return looks;
}

bool gbx_sensitive_mask(const char *text, size_t len, gbx_buf *to)
{
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)text[i];
        size_t n = gbx_utf8_sequence((const uint8_t *)text + i, len - i);

        if (c >= 0x80)
            (void)gbx_buf_puts(to, "x");
        else if (isalpha(c))
            (void)gbx_buf_puts(to, isupper(c) ? "X" : "x");
        else
            (void)gbx_buf_append(to, isdigit(c) ? "0" : (const char *)&c, 1);
        i += n == 0 ? 1 : n;
    }
    return !to->failed;
}

bool gbx_sensitive_mask_parts(const char *text, size_t len, gbx_buf *to)
{
    gbx_folded folded;
    gbx_fold_result result = gbx_sensitive_fold(text, len, &folded);
    char *marks = calloc(len + 1, 1);

    if (marks == NULL || result == GBX_FOLD_NOMEM) {
        to->failed = true;
    } else {
        mark_parts(text, len, NULL, marks);
        if (result == GBX_FOLD_DONE)
            mark_parts(folded.text, folded.len, folded.from, marks);
        put_marked(text, len, marks, to);
    }
    free(marks);
    gbx_folded_cleanup(&folded);
    return !to->failed;
}

/* SPDX-License-Identifier: MIT */
/*
 * sensitive_pair - see sensitive_pair.h. It is asked for every character: what stands
 * before decides, and is looked at no further than a name is long.
 */
#include "mcp/data/sensitive_pair.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "mcp/data/sensitive.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES 64
#define TAG_MAX_BYTES  128 /* with its attributes */
#define BLANKS_MAX     4
#define TOKEN_MIN      8
#define TOKEN_LONG     20 /* no word is */
#define LOGIN_MAX      512

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* Back over blanks, a few of them. */
static size_t before_blanks(const char *text, size_t at)
{
    for (int n = 0; n < BLANKS_MAX && at > 0 && is_blank(text[at - 1]); n++)
        at--;
    return at;
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Where the word begins that ends at `end`. */
static size_t word_start(const char *text, size_t end)
{
    size_t start = end;

    while (start > 0 && end - start < NAME_MAX_BYTES && is_of_name(text[start - 1]))
        start--;
    return start;
}

/* "Account Key" has two words, "token" one; a quote may be around it. is_figure: a
 * number stands behind it. */
static bool is_named_secret(const char *text, size_t end, bool is_figure)
{
    size_t start;

    end = before_blanks(text, end);
    if (end > 0 && text[end - 1] == '\\') /* JSON inside JSON */
        end--;
    if (end > 0 && is_quote(text[end - 1]))
        end--;
    if (end > 0 && text[end - 1] == '\\')
        end--;
    start = word_start(text, end);
    if (start == end)
        return false;
    if (gbx_sensitive_is_secret(text + start, end - start, is_figure))
        return true;
    if (start > 1 && text[start - 1] == ' ' && isalnum((unsigned char)text[start - 2]))
        start = word_start(text, start - 1);
    return gbx_sensitive_is_secret(text + start, end - start, is_figure);
}

/* Without blanks it goes to the next; in "a=b c;d=e" to the semicolon. */
static size_t plain_end(const char *text, size_t len, size_t at)
{
    size_t end = at;
    size_t semicolon;

    while (end < len && !isspace((unsigned char)text[end]) && text[end] != ';' &&
           text[end] != '&')
        end++;
    if (end == len || !is_blank(text[end]))
        return end;
    for (semicolon = end; semicolon < len && text[semicolon] != ';'; semicolon++)
        if (text[semicolon] == '=' || text[semicolon] == '\n' ||
            semicolon - at > NAME_MAX_BYTES)
            return end;
    return semicolon < len ? semicolon : end;
}

static size_t value_end(const char *text, size_t len, size_t at)
{
    const char *quote =
        is_quote(text[at]) ? memchr(text + at + 1, text[at], len - at - 1) : NULL;

    return quote != NULL ? (size_t)(quote + 1 - text) : plain_end(text, len, at);
}

/* Digits, and what JSON has behind a number. */
static bool is_number(const char *text, size_t from, size_t to)
{
    while (from < to && isdigit((unsigned char)text[from]))
        from++;
    return from == to || strchr(",}]", text[from]) != NULL;
}

/* Is the word before `end` one of those that say how what follows is to be read? */
static bool is_scheme(const char *text, size_t end)
{
    static const char *const schemes[] = {"bearer", "basic", "token", "digest"};
    size_t start = word_start(text, end);

    for (size_t i = 0; i < GBX_COUNTOF(schemes); i++)
        if (strlen(schemes[i]) == end - start &&
            strncasecmp(text + start, schemes[i], end - start) == 0)
            return true;
    return false;
}

/* user:password as base64. */
static bool is_login(const char *text, size_t len)
{
    uint8_t login[LOGIN_MAX / 4 * 3];
    size_t n = 0;

    return len <= LOGIN_MAX && gbx_base64_decode(text, len, login, &n) &&
           memchr(login, ':', n) != NULL;
}

/* Bearer abc123def456: what follows has a digit, or is longer than words are. Basic
 * dXNlcjpwYXNz: it is a login. */
static bool is_borne(const char *text, size_t len, size_t at)
{
    size_t name_end = before_blanks(text, at);
    size_t start = word_start(text, name_end);
    size_t digits = 0, n = 0;

    if (name_end == at)
        return false;
    for (; at + n < len && !isspace((unsigned char)text[at + n]); n++)
        digits += isdigit((unsigned char)text[at + n]) != 0;
    if (name_end - start == 5 && strncasecmp(text + start, "basic", 5) == 0)
        return is_login(text + at, n);
    return name_end - start == 6 && strncasecmp(text + start, "bearer", 6) == 0 &&
           (n >= TOKEN_LONG || (n >= TOKEN_MIN && digits > 0));
}

/* What a cookie has a session under: sid=..., PHPSESSID=..., connect.sid=... */
static bool is_named_session(const char *text, size_t end)
{
    static const char *const names[] = {"sid", "session", "sessid"};
    size_t start = word_start(text, end);

    for (size_t i = 0; i < GBX_COUNTOF(names); i++) {
        size_t n = strlen(names[i]);

        if (end - start >= n && strncasecmp(text + end - n, names[i], n) == 0 &&
            (end - start == n || text[end - n - 1] == '.' || n == 6))
            return true;
    }
    return false;
}

/* <password>, <ns:apiKey type="text">: where the text behind it ends, or `at`. */
static size_t tagged_end(const char *text, size_t len, size_t at, size_t before)
{
    size_t open = before - 1; /* of the tag's end */
    size_t from, to, end;

    while (open > 0 && before - open < TAG_MAX_BYTES && text[open - 1] != '<' &&
           text[open - 1] != '>')
        open--;
    if (open == 0 || text[open - 1] != '<')
        return at;
    for (from = to = open; is_of_name(text[to]) || text[to] == ':'; to++)
        if (text[to] == ':')
            from = to + 1;
    for (end = at; end < len && text[end] != '<';)
        end++;
    return gbx_sensitive_is_secret(text + from, to - from, is_number(text, at, end))
               ? end
               : at;
}

/* Up to the next word, or its quote. */
static size_t flagged_end(const char *text, size_t len, size_t at)
{
    size_t end = is_quote(text[at]) ? value_end(text, len, at) : at;

    while (end < len && !isspace((unsigned char)text[end]))
        end++;
    return end;
}

/* --password hunter2 */
static bool is_behind_flag(const char *text, size_t at)
{
    size_t end = before_blanks(text, at);
    size_t start;

    if (end == at)
        return false;
    start = word_start(text, end);
    return end - start > 2 && text[start] == '-' && text[start + 1] == '-' &&
           text[at] != '-' &&
           gbx_sensitive_is_secret(text + start, end - start,
                                   isdigit((unsigned char)text[at]) != 0);
}

/* ---- public to other modules -------------------------------------------- */

size_t gbx_sensitive_pair_end(const char *text, size_t len, size_t at)
{
    size_t before = before_blanks(text, at);
    size_t end, next;

    if (before == 0 || isspace((unsigned char)text[at]))
        return at;
    if (is_borne(text, len, at))
        return plain_end(text, len, at);
    if (is_behind_flag(text, at))
        return flagged_end(text, len, at);
    if (text[before - 1] == '>')
        return tagged_end(text, len, at, before);
    if (text[before - 1] != '=' && text[before - 1] != ':')
        return at;
    end = value_end(text, len, at);
    if (text[at - 1] == '=' && is_named_session(text, at - 1) &&
        !is_number(text, at, end))
        return end;
    if (!is_named_secret(text, before - 1, is_number(text, at, end)))
        return at;
    next = end;
    while (next < len && is_blank(text[next]))
        next++;
    /* Authorization: Basic abc */
    return next > end && next < len && is_scheme(text, end) ? plain_end(text, len, next)
                                                            : end;
}

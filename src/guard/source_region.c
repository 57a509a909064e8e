/* SPDX-License-Identifier: MIT */
/* source_region - computes offsets; nothing is copied or moved. */
#include "guard/internal.h"

#include <string.h>

#define FENCE_MIN 3

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static gbx_region trim(const char *text, size_t start, size_t end)
{
    while (start < end && is_blank(text[start]))
        start++;
    while (end > start && is_blank(text[end - 1]))
        end--;
    return (gbx_region){start, end};
}

/* Length of the run of fence characters at `at`, or 0 if it is too short for a
 * fence. */
static size_t fence_run(const char *text, size_t at, size_t end)
{
    size_t n = 0;

    if (at < end && (text[at] == '`' || text[at] == '~'))
        while (at + n < end && text[at + n] == text[at])
            n++;
    return n >= FENCE_MIN ? n : 0;
}

/*
 * After the opening run comes the language, up to the line's end. If that cannot be a
 * language's name, this is not a fence but, say, a template literal.
 */
static bool skip_info(const char *text, size_t *at, size_t end)
{
    size_t i = *at;

    for (; i < end && text[i] != '\n'; i++)
        if (!gbx_text_is_name((unsigned char)text[i]) &&
            strchr(" \t\r.+-#", text[i]) == NULL)
            return false;
    *at = i;
    return i < end;
}

static bool closes(const char *text, size_t line, size_t end, char mark, size_t run)
{
    gbx_region r = trim(text, line, end);

    return r.start < r.end && text[r.start] == mark &&
           fence_run(text, r.start, r.end) == r.end - r.start && r.end - r.start >= run;
}

bool gbx_text_is_name(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '$' || c >= 0x80;
}

gbx_region gbx_text_region(const char *text, size_t len)
{
    gbx_region r;
    size_t run, at, last;

    at = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    r = trim(text, at, len);
    run = fence_run(text, r.start, r.end);
    at = r.start + run;
    if (run == 0 || !skip_info(text, &at, r.end))
        return r;
    for (last = r.end; last > at && text[last - 1] != '\n'; last--)
        continue;
    if (last <= at || !closes(text, last, r.end, text[r.start], run))
        return r;
    return trim(text, at, last);
}

bool gbx_text_find_fence(const char *text, size_t from, size_t end, size_t *ret_at)
{
    size_t line = from;

    while (line < end) {
        size_t at = line;
        const char *eol = memchr(text + line, '\n', end - line);

        while (at < end && (text[at] == ' ' || text[at] == '\t'))
            at++;
        if (fence_run(text, at, end) != 0) {
            *ret_at = at;
            return true;
        }
        if (eol == NULL)
            break;
        line = (size_t)(eol - text) + 1;
    }
    return false;
}

/* SPDX-License-Identifier: MIT */
/* strip_fences - scans only as much as it needs to tell text from code. */
#include "mcp/code/code_mode.h"

#include "guard/tree.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define FENCE_MIN 3

#define HINT_BREAK \
    "the code has \\n as two characters: send line breaks, which JSON writes as one \\n"
#define HINT_QUOTE \
    "the code has \\ before a quote that opens a string: it was escaped once too often"

/* ---- fences --------------------------------------------------------------------- */

static size_t line_end(const char *text, size_t from, size_t end)
{
    const char *eol = memchr(text + from, '\n', end - from);

    return eol != NULL ? (size_t)(eol - text) : end;
}

/* The number of marks at `at` if they make a fence, else 0. */
static size_t marks(const char *text, size_t at, size_t end)
{
    size_t n = 0;

    while (at + n < end && text[at + n] == text[at] &&
           (text[at] == '`' || text[at] == '~'))
        n++;
    return n >= FENCE_MIN ? n : 0;
}

/* A language with what Markdown renderers also accept: ts title="run.ts". */
static bool is_info(const char *text, size_t at, size_t end)
{
    while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r'))
        at++;
    return at == end || (isalpha((unsigned char)text[at]) &&
                         memchr(text + at, '`', end - at) == NULL);
}

void gbx_strip_fence(char *text, size_t len)
{
    gbx_region region = gbx_text_region(text, len);
    size_t run = marks(text, region.start, region.end);
    size_t first_end, last;

    if (run == 0)
        return;
    first_end = line_end(text, region.start, region.end);
    if (first_end == region.end || !is_info(text, region.start + run, first_end))
        return;
    if (!gbx_text_find_fence(text, first_end, region.end, &last)) {
        for (last = region.end; last > first_end && text[last - 1] == '`'; last--)
            continue; /* at the end of the last line: a closing fence, or nothing */
        if (region.end - last < FENCE_MIN)
            last = region.end;
    } else if (last + marks(text, last, region.end) != region.end) {
        return; /* text follows */
    }
    memset(text + region.start, ' ', first_end - region.start);
    memset(text + last, ' ', region.end - last);
}

/* ---- escapes --------------------------------------------------------------------- */

/* The end of the string, template or comment that begins at `at`; else `at`. */
static size_t skip_quoted(const char *text, size_t at, size_t len)
{
    char quote = text[at];
    size_t i = at + 1;

    if (quote == '/' && i < len && text[i] == '/')
        return line_end(text, at, len);
    if (quote == '/' && i < len && text[i] == '*') {
        const char *close = memmem(text + i + 1, len - i - 1, "*/", 2);

        return close != NULL ? (size_t)(close - text) + 2 : len;
    }
    if (quote != '"' && quote != '\'' && quote != '`')
        return at;
    for (; i < len && text[i] != quote; i++)
        if (text[i] == '\\')
            i++;
    return i < len ? i + 1 : len;
}

/* The end of the regular expression at `at`; `at` if it is a division. before: the last
 * character of code. */
static size_t skip_regex(const char *text, size_t at, size_t len, char before)
{
    bool in_class = false;
    size_t i = at + 1;

    if (text[at] != '/' ||
        (before != 0 && strchr("(,=:[!&|?{};<>+-*%~^", before) == NULL))
        return at;
    for (; i < len && text[i] != '\n' && (in_class || text[i] != '/'); i++) {
        if (text[i] == '\\')
            i++;
        else if (text[i] == '[' || text[i] == ']')
            in_class = text[i] == '[';
    }
    return i < len ? i + 1 : len;
}

size_t gbx_strip_escape(const char *text, size_t len, const char **ret_hint)
{
    char before = 0;

    for (size_t i = 0; i < len;) {
        size_t after = skip_quoted(text, i, len);

        if (after == i)
            after = skip_regex(text, i, len, before);
        if (after > i) {
            before = (char)(text[i] == '/' ? before : 'a');
            i = after;
            continue;
        }
        if (text[i] == '\\' && i + 1 < len && strchr("nrt\"'`", text[i + 1]) != NULL) {
            *ret_hint = strchr("nrt", text[i + 1]) != NULL ? HINT_BREAK : HINT_QUOTE;
            return i;
        }
        if (!isspace((unsigned char)text[i]))
            before = text[i];
        i++;
    }
    return len;
}

void gbx_strip_first_line(char *text, size_t len)
{
    if (len >= 2 && memcmp(text, "#!", 2) == 0)
        memcpy(text, "//", 2);
}

/* SPDX-License-Identifier: MIT */
/* jsonc - see jsonc.h. */
#include "mcp/config/jsonc.h"

#include <string.h>

/* The offset past the string that begins at `at`. */
static size_t past_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++)
        if (text[at] == '\\')
            at++;
    return at < len ? at + 1 : len;
}

static void blank(char *text, size_t from, size_t to)
{
    for (; from < to; from++)
        if (text[from] != '\n' && text[from] != '\r')
            text[from] = ' ';
}

/* ---- public to other modules -------------------------------------------- */

size_t gbx_jsonc_past_comment(const char *text, size_t len, size_t at)
{
    const char *end = NULL;

    if (at + 1 >= len || text[at] != '/')
        return at;
    if (text[at + 1] == '/') {
        end = memchr(text + at, '\n', len - at);
        return end != NULL ? (size_t)(end - text) : len;
    }
    if (text[at + 1] == '*')
        end = memmem(text + at + 2, len - at - 2,
                     "*"
                     "/",
                     2);
    return end != NULL ? (size_t)(end - text) + 2 : at;
}

void gbx_jsonc_blank(char *text, size_t len)
{
    size_t comma = len; /* the last thing but blanks, if it is one */

    blank(text, 0, gbx_jsonc_mark_len(text, len));
    for (size_t at = 0; at < len;) {
        size_t end = gbx_jsonc_past_comment(text, len, at);

        if (end > at) {
            blank(text, at, end);
            at = end;
            continue;
        }
        if ((text[at] == ']' || text[at] == '}') && comma < len)
            text[comma] = ' ';
        if (text[at] == ',')
            comma = at;
        else if (strchr(" \t\r\n", text[at]) == NULL || text[at] == '\0')
            comma = len;
        at = text[at] == '"' ? past_string(text, len, at) : at + 1;
    }
}

size_t gbx_jsonc_mark_len(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

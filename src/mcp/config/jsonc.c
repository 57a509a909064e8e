/* SPDX-License-Identifier: MIT */
/* jsonc - see config.h. */
#include "mcp/config/config.h"

#include "base/cleanup.h"
#include "base/json_view.h"

#include <string.h>

/* The offset behind the string that begins at `at`. */
static size_t past_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++)
        if (text[at] == '\\')
            at++;
    return at < len ? at + 1 : len;
}

/* Can the parser accept that name? It must have no NUL and no half of a
 * surrogate pair. */
static bool is_name(gbx_view name)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&text, name.len);
    return gbx_view_take_text(name, &text) &&
           (text.len == 0 || memchr(text.data, '\0', text.len) == NULL);
}

static const gbx_jsonc_wanted *find(const gbx_jsonc_wanted *wanted, gbx_view name)
{
    for (; wanted->name != NULL; wanted++)
        if (strcmp(wanted->name, "*") == 0 ? is_name(name)
                                           : gbx_view_is_text(name, wanted->name))
            return wanted;
    return NULL;
}

/* Erase a member, with its comma, only when the next one is known, behind the
 * cursor. The comma before the last member stays. The depth of the wanted tables
 * bounds the recursion. */
static void keep(char *text, gbx_view object, const gbx_jsonc_wanted *wanted)
{
    const char *unwanted = NULL; /* beginning of the last member, if it is to be
                                  * erased */
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(object, &cursor, &name, &value)) {
        const gbx_jsonc_wanted *found = find(wanted, name);

        if (unwanted != NULL)
            gbx_jsonc_erase(text, (size_t)(unwanted - text), (size_t)(name.at - text));
        unwanted = NULL;
        if (found == NULL || (found->below != NULL && gbx_view_kind(value) != '{'))
            unwanted = name.at;
        else if (found->below != NULL)
            keep(text, value, found->below);
    }
    if (unwanted != NULL)
        gbx_jsonc_erase(text, (size_t)(unwanted - text),
                        (size_t)(value.at + value.len - text));
}

/* ---- public to other modules -------------------------------------------- */

void gbx_jsonc_erase(char *text, size_t from, size_t to)
{
    for (; from < to; from++)
        if (text[from] != '\n' && text[from] != '\r')
            text[from] = ' ';
}

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
    size_t comma = len; /* the last non-blank, if it is a comma */

    gbx_jsonc_erase(text, 0, gbx_jsonc_mark_len(text, len));
    for (size_t at = 0; at < len;) {
        size_t end = gbx_jsonc_past_comment(text, len, at);

        if (end > at) {
            gbx_jsonc_erase(text, at, end);
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

void gbx_jsonc_keep(char *text, size_t len, const gbx_jsonc_wanted *wanted)
{
    gbx_view root;

    if (!gbx_view_open(text, len, &root) || gbx_view_kind(root) != '{')
        return;
    keep(text, root, wanted);
    gbx_jsonc_blank(text, len); /* removes commas that are now the last */
}

size_t gbx_jsonc_mark_len(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* SPDX-License-Identifier: MIT */
/* schema_ref - what a $ref within a JSON Schema refers to. */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* A reference within a schema is a JSON pointer (RFC 6901) in a URI fragment in a JSON
 * string. Each of the three has its own escapes. */

#define POINTER_MAX 200

static int hex(uint8_t c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = c != 0 ? strchr(digits, c) : NULL;

    return at == NULL ? -1 : (int)(at - digits) - (at - digits > 15 ? 6 : 0);
}

/* Turn "A%20b" into "A b", in place. */
static void decode_percent(gbx_buf *text)
{
    size_t n = 0;

    for (size_t i = 0; i < text->len; i++) {
        bool is_escape = text->data[i] == '%' && i + 2 < text->len &&
                         hex(text->data[i + 1]) >= 0 && hex(text->data[i + 2]) >= 0;

        text->data[n++] =
            !is_escape
                ? text->data[i]
                : (uint8_t)(hex(text->data[i + 1]) * 16 + hex(text->data[i + 2]));
        i += is_escape ? 2 : 0;
    }
    text->len = n;
}

static gbx_view element(gbx_view array, const char *index)
{
    size_t cursor = 0;
    size_t left = strlen(index) < 5 ? (size_t)strtoul(index, NULL, 10) : SIZE_MAX;
    gbx_view name;
    gbx_view value;

    if (index[0] != 0 && strspn(index, "0123456789") == strlen(index))
        while (gbx_view_next(array, &cursor, &name, &value))
            if (left-- == 0)
                return value;
    return (gbx_view){NULL, 0};
}

/* One step of the pointer: "a~1b" means "a/b". */
static gbx_view step(gbx_view at, const char *part, size_t len)
{
    char name[POINTER_MAX + 1];
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        bool is_escape = part[i] == '~' && i + 1 < len;

        name[n++] = (char)(!is_escape ? part[i] : part[i + 1] == '1' ? '/' : '~');
        i += is_escape;
    }
    name[n] = 0;
    return gbx_view_kind(at) == '[' ? element(at, name) : gbx_view_member(at, name);
}

/* The definition whose keyword has that name. */
static gbx_view find_named(gbx_view root, const char *keyword, const char *wanted)
{
    static const char *const places[] = {"$defs", "definitions"};

    for (size_t i = 0; i < GBX_COUNTOF(places); i++) {
        gbx_view defs = gbx_view_member(root, places[i]);
        size_t cursor = 0;
        gbx_view name;
        gbx_view value;

        while (gbx_view_kind(defs) == '{' &&
               gbx_view_next(defs, &cursor, &name, &value))
            if (gbx_view_is_text(gbx_view_member(value, keyword), wanted))
                return value;
    }
    return (gbx_view){NULL, 0};
}

/* The fragment, if the address before it is empty or the root's own. */
static const char *fragment_of(gbx_view root, char *text)
{
    char *hash = strchr(text, '#');
    bool is_own;

    if (hash == NULL || hash == text)
        return hash;
    *hash = 0;
    is_own = gbx_view_is_text(gbx_view_member(root, "$id"), text);
    *hash = '#';
    return is_own ? hash : NULL;
}

static gbx_view walk(gbx_view root, const char *part)
{
    gbx_view at = root;

    while (*part != 0 && at.at != NULL) {
        size_t len;

        if (*part++ != '/')
            return (gbx_view){NULL, 0};
        len = strcspn(part, "/");
        at = step(at, part, len);
        part += len;
    }
    return at;
}

gbx_view gbx_schema_follow(gbx_view root, gbx_view ref)
{
    static const gbx_view nothing = {NULL, 0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    const char *fragment;

    gbx_buf_init(&text, POINTER_MAX);
    if (!gbx_view_take_text(ref, &text) || text.len == 0)
        return nothing;
    decode_percent(&text);
    if (memchr(text.data, 0, text.len) != NULL || !gbx_buf_append(&text, "", 1))
        return nothing;
    fragment = fragment_of(root, (char *)text.data);
    if (fragment == NULL)
        return find_named(root, "$id", (const char *)text.data);
    if (fragment[1] == 0 || fragment[1] == '/')
        return walk(root, fragment + 1);
    return find_named(root, "$anchor", fragment + 1);
}

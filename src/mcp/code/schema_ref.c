/* SPDX-License-Identifier: MIT */
/* schema_ref - what a $ref within a JSON Schema refers to. */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#include <event2/http.h>

/* A reference within a schema is a JSON pointer (RFC 6901) in a URI fragment in a JSON
 * string. Each of the three has its own escapes. */

#define POINTER_MAX 200

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
    char text[POINTER_MAX + 1];
    GBX_CLEANUP(gbx_free) char *plain = NULL;
    const char *fragment;
    size_t len;

    if (!gbx_code_take_name(ref, text, sizeof text))
        return nothing;
    plain = gbx_need(evhttp_uridecode(text, 0, &len));
    if (strlen(plain) != len)
        return nothing;
    fragment = fragment_of(root, plain);
    if (fragment == NULL)
        return find_named(root, "$id", plain);
    if (fragment[1] == 0 || fragment[1] == '/')
        return walk(root, fragment + 1);
    return find_named(root, "$anchor", fragment + 1);
}

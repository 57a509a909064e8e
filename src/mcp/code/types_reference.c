/* SPDX-License-Identifier: MIT */
/* types_reference - what a reference within a schema leads to: a JSON pointer (RFC 6901) in
 * the fragment of a URI, in a JSON string. Each of the three has an escape of its own. */
#include "mcp/code/types_of.h"

#include "base/cleanup.h"

#include <string.h>

#define POINTER_MAX 200

static int hex(uint8_t c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = c != 0 ? strchr(digits, c) : NULL;

    return at == NULL ? -1 : (int)(at - digits) - (at - digits > 15 ? 6 : 0);
}

/* "A%20b" is "A b", in its place. */
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

/* One step of the pointer: "a~1b" is "a/b". */
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
    return gbx_view_member(at, name);
}

/* ---- public to other files of this folder --------------------------------- */

gbx_view gbx_types_follow(gbx_view root, gbx_view ref)
{
    static const gbx_view nothing = {NULL, 0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    const char *part;
    const char *end;
    gbx_view at = root;

    gbx_buf_init(&text, POINTER_MAX);
    if (!gbx_view_take_text(ref, &text) || text.len == 0 || text.data[0] != '#')
        return nothing;
    decode_percent(&text);
    if (memchr(text.data, 0, text.len) != NULL)
        return nothing;
    part = (const char *)text.data + 1;
    end = (const char *)text.data + text.len;
    while (part < end && at.at != NULL) {
        const char *next;

        if (*part++ != '/')
            return nothing;
        next = memchr(part, '/', (size_t)(end - part));
        if (next == NULL)
            next = end;
        at = step(at, part, (size_t)(next - part));
        part = next;
    }
    return at;
}

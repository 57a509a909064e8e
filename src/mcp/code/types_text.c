/* SPDX-License-Identifier: MIT */
/* types_text - a server's strings, names and comments in TypeScript: nothing in them
 * can end their literal or comment, or disguise it. */
#include "mcp/code/code_mode.h"

#include "base/utf8.h"
#include "mcp/code/types_writer.h"

#include <string.h>

#define NAME_MAX_LEN 60 /* of a name without quotes */

/* The length of the next character. *ret_plain: what a one-line comment must have in
 * its place, or 0. */
static size_t comment_step(const uint8_t *text, size_t left, char last, char *ret_plain)
{
    uint32_t point;
    size_t n = gbx_utf8_sequence(text, left);

    *ret_plain = 0;
    if (n == 0)
        n = 1;
    if (text[0] <= ' ' || gbx_utf8_is_steering(text, n, &point))
        *ret_plain = ' ';
    else if (text[0] == '/' && last == '*')
        *ret_plain = '|';
    return n;
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_types_comment(gbx_buf *to, gbx_view text, size_t max)
{
    gbx_buf plain;
    size_t used = 0;
    char last = ' ';

    gbx_buf_init(&plain, max * 8 + 64);
    /* The text is cut anyway, so a cut escape at its end does not matter. */
    (void)gbx_view_append_text((gbx_view){text.at,
                                          text.len < max * 4 ? text.len : max * 4},
                               &plain);
    for (size_t i = 0; i < plain.len && used < max;) {
        char other;
        size_t n = comment_step(plain.data + i, plain.len - i, last, &other);

        if (other != ' ' || last != ' ') {
            (void)gbx_buf_append(to, other != 0 ? (const void *)&other : plain.data + i,
                                 other != 0 ? 1 : n);
            used += n;
        }
        last = (char)(other != 0 ? other : plain.data[i]);
        i += n;
        if (i >= plain.len)
            break;
        if (used >= max)
            (void)gbx_buf_puts(to, "...");
    }
    gbx_buf_cleanup(&plain);
}

bool gbx_types_string(gbx_buf *to, gbx_view string)
{
    const uint8_t *text = (const uint8_t *)string.at;
    size_t done = 0; /* everything before it was written */

    for (size_t i = 0, n; i < string.len; i += n) {
        uint32_t point;

        n = gbx_utf8_sequence(text + i, string.len - i);
        if (n == 0)
            n = 1;
        if (!gbx_utf8_is_steering(text + i, n, &point))
            continue;
        (void)gbx_buf_append(to, text + done, i - done);
        done = i + n;
        (void)gbx_buf_printf(to, "\\u{%x}", (unsigned)point);
    }
    return gbx_buf_append(to, text + done, string.len - done);
}

bool gbx_types_put_name(gbx_buf *to, gbx_view name)
{
    bool is_plain = name.len > 2 && name.len <= NAME_MAX_LEN;

    if (gbx_view_kind(name) != '"')
        return false;
    for (size_t i = 1; is_plain && i + 1 < name.len; i++) {
        char c = name.at[i];

        is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                   c == '$' || (i > 1 && c >= '0' && c <= '9');
    }
    return is_plain ? gbx_buf_append(to, name.at + 1, name.len - 2)
                    : gbx_types_string(to, name);
}

uint64_t gbx_types_hash(gbx_view name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    gbx_buf text;

    gbx_buf_init(&text, name.len * 3 + 1);
    (void)gbx_view_append_text(name, &text);
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ text.data[i]) * UINT64_C(1099511628211);
    gbx_buf_cleanup(&text);
    return hash;
}

void gbx_types_put(gbx_types_writer *w, const char *text)
{
    (void)gbx_buf_puts(w->to, text);
}

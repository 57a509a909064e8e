/* SPDX-License-Identifier: MIT */
/* describe_text - see describe_text.h. */
#include "mcp/data/describe_text.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/data/sibling.h"

#include <ctype.h>
#include <string.h>

/* Looked at of one text; a longer one is cut long before. */
#define TEXT_MAX       GBX_KIB(64)
#define NAME_MAX_CHARS 48

static const char ellipsis[] = "\xe2\x80\xa6";

/* The characters of a string, a long one's first. */
static void take(gbx_view string, gbx_buf *to)
{
    size_t max = TEXT_MAX / 8;

    gbx_buf_init(to, TEXT_MAX);
    if (string.len > max) { /* as if it ended there, not inside an escape */
        size_t end = 1;

        while (end < max)
            end += string.at[end] == '\\' ? (string.at[end + 1] == 'u' ? 6 : 2) : 1;
        string.len = end + 1; /* the last character plays the closing quote */
    }
    (void)gbx_view_append_text(string, to);
}

/* How many bytes are the first max characters? */
static size_t bytes_of(const uint8_t *text, size_t len, size_t max)
{
    size_t at = 0;

    while (at < len && max-- > 0) {
        size_t n = gbx_utf8_sequence(text + at, len - at);

        at += n == 0 ? 1 : n;
    }
    return at;
}

static bool is_identifier(const uint8_t *text, size_t len)
{
    if (len == 0 || isdigit(text[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum(text[i]) && text[i] != '_' && text[i] != '$')
            return false;
    return true;
}

/* With memory out nothing is shown anyway: see gbx_describe_below(). */
static bool is_personal(gbx_view name, bool is_number)
{
    gbx_buf text;
    bool is;

    take(name, &text);
    is = text.failed ||
         gbx_sensitive_is_personal((const char *)text.data, text.len, is_number);
    gbx_buf_cleanup(&text);
    return is;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_describe_string(gbx_view string, size_t max, bool is_sensitive, gbx_buf *to)
{
    gbx_buf text, shown;
    size_t n;

    take(string, &text);
    gbx_buf_init(&shown, TEXT_MAX * 2);
    if (is_sensitive)
        (void)gbx_sensitive_mask((const char *)text.data, text.len, &shown);
    else
        (void)gbx_sensitive_mask_parts((const char *)text.data, text.len, &shown);
    n = bytes_of(shown.data, shown.len, max);
    if (n < shown.len || string.len > TEXT_MAX / 8) {
        shown.len = n;
        (void)gbx_buf_puts(&shown, ellipsis);
    }
    (void)gbx_json_append_safe(to, shown.data, shown.len);
    gbx_buf_cleanup(&shown);
    gbx_buf_cleanup(&text);
    return !to->failed;
}

bool gbx_describe_name(gbx_view name, gbx_buf *to)
{
    gbx_buf text;
    bool is_plain;

    take(name, &text);
    is_plain = text.len <= NAME_MAX_CHARS && is_identifier(text.data, text.len) &&
               !gbx_sensitive_looks((const char *)text.data, text.len);
    if (is_plain)
        (void)gbx_buf_append(to, text.data, text.len);
    else
        (void)gbx_describe_string(name, NAME_MAX_CHARS, false, to);
    gbx_buf_cleanup(&text);
    return !to->failed;
}

gbx_sensitive_place gbx_describe_below(gbx_sensitive_place place, gbx_view name,
                                       bool is_number)
{
    gbx_sensitive_place below;
    gbx_buf text;

    take(name, &text);
    below = text.failed ? GBX_SENSITIVE_ALL /* memory is out: show nothing */
                        : gbx_sensitive_below(place, (const char *)text.data, text.len,
                                              is_number);
    gbx_buf_cleanup(&text);
    return below;
}

gbx_sensitive_place gbx_describe_below_field(gbx_sensitive_place place,
                                             const gbx_shape *objects,
                                             const gbx_shape_field *field)
{
    gbx_sensitive_place below =
        gbx_describe_below(place, field->name, gbx_shape_are_numbers(field->shape));

    return (field->shape->role & GBX_SIBLING_VALUE) != 0
               ? gbx_shape_beside(objects, field->shape, below)
               : below;
}

gbx_sensitive_place gbx_describe_inside(gbx_sensitive_place place, gbx_view object)
{
    size_t cursor = 0;
    gbx_view name, value;

    while (place == GBX_SENSITIVE_NOTHING &&
           gbx_view_next(object, &cursor, &name, &value))
        if (is_personal(name, gbx_view_kind(value) == '0'))
            return GBX_SENSITIVE_PERSON;
    return place;
}

gbx_sensitive_place gbx_describe_inside_all(gbx_sensitive_place place,
                                            const gbx_shape *objects)
{
    for (size_t i = 0; place == GBX_SENSITIVE_NOTHING && i < objects->field_count;
         i++) {
        const gbx_shape_field *f = &objects->fields[i];

        if (is_personal(f->name, gbx_shape_are_numbers(f->shape)))
            return GBX_SENSITIVE_PERSON;
    }
    return place;
}

gbx_sensitive_place gbx_describe_inside_row(gbx_view names)
{
    size_t cursor = 0;
    gbx_view name;

    while ((name = gbx_sibling_next(names, &cursor)).at != NULL)
        if (is_personal(name, false))
            return GBX_SENSITIVE_PERSON;
    return GBX_SENSITIVE_NOTHING;
}

bool gbx_describe_hides_text(gbx_sensitive_place place)
{
    return place == GBX_SENSITIVE_SOMEBODY || place == GBX_SENSITIVE_ALL;
}

bool gbx_describe_is_sensitive_value(gbx_view value)
{
    gbx_buf text;
    bool is;

    if (gbx_view_kind(value) != '"')
        return gbx_view_kind(value) == '0' && gbx_sensitive_looks(value.at, value.len);
    take(value, &text);
    is = gbx_sensitive_looks((const char *)text.data, text.len);
    gbx_buf_cleanup(&text);
    return is;
}

bool gbx_describe_masked_number(gbx_view number, gbx_buf *to)
{
    for (size_t i = 0; i < number.len; i++)
        (void)gbx_buf_append(to,
                             isdigit((unsigned char)number.at[i]) ? "9" : number.at + i,
                             1);
    return !to->failed;
}

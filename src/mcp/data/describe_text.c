/* SPDX-License-Identifier: MIT */
/* describe_text - texts of the data: cut, escaped, and patterns unless they are shown. */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <ctype.h>
#include <string.h>

/* Bytes of one text that are read; longer ones are cut much earlier. */
#define TEXT_MAX       GBX_KIB(64)
#define NAME_MAX_CHARS 48

/* "2024-05" may be a column name; "2024-05-17" is one of many days. */
#define NAME_DIGITS 6

static const char ellipsis[] = "\xe2\x80\xa6";

/* The characters of a string; of a long one, the first. */
static void take(gbx_view string, gbx_buf *to)
{
    size_t max = TEXT_MAX / 8;

    gbx_buf_init(to, TEXT_MAX);
    if (string.len > max) { /* cut as if it ended there, not inside an escape */
        size_t end = 1;

        while (end < max)
            end += string.at[end] == '\\' ? (string.at[end + 1] == 'u' ? 6 : 2) : 1;
        string.len = end + 1; /* the last character serves as the closing quote */
    }
    (void)gbx_view_append_text(string, to);
}

/* The length in bytes of the first max characters. */
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

/* text is UTF-8. Characters beyond ASCII count as letters. */
static void put_pattern(const gbx_buf *text, gbx_buf *to)
{
    for (size_t i = 0; i < text->len;) {
        unsigned char c = text->data[i];
        size_t n = gbx_utf8_sequence(text->data + i, text->len - i);

        if (c >= 0x80 || islower(c))
            (void)gbx_buf_puts(to, "x");
        else if (isupper(c))
            (void)gbx_buf_puts(to, "X");
        else
            (void)gbx_buf_append(to, isdigit(c) ? "0" : (const char *)&c, 1);
        i += n == 0 ? 1 : n;
    }
}

static bool is_key(const gbx_buf *text)
{
    size_t digits = 0;

    for (size_t i = 0; i < text->len; i++)
        digits += isdigit(text->data[i]) != 0;
    return digits > NAME_DIGITS || memchr(text->data, '@', text->len) != NULL;
}

/* The rest of a path after that name: "" at its end; NULL: it leads elsewhere. */
static const char *rest_of(const char *path, const gbx_buf *name)
{
    if (name->failed || name->len == 0 ||
        strncmp(path, (const char *)name->data, name->len) != 0)
        return NULL;
    path += name->len;
    return *path == '.' ? path + 1 : *path == '\0' ? path : NULL;
}

static bool leads_somewhere(const gbx_schema *s, const char *path)
{
    if (s == NULL || *path == '\0')
        return s != NULL;
    for (size_t i = 0; i < s->field_count; i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf name;
        const char *rest;

        take(s->fields[i].name, &name);
        rest = rest_of(path, &name);
        if (rest != NULL && leads_somewhere(s->fields[i].shape, rest))
            return true;
    }
    return leads_somewhere(s->element, path) || leads_somewhere(s->member, path) ||
           leads_somewhere(s->keyed, path);
}

gbx_place gbx_place_of(const gbx_shown *shown, const char *dataset)
{
    gbx_place place = {.is_shown = shown->examples == GBX_EXAMPLES_VALUES};
    size_t len = strlen(dataset);

    for (size_t i = 0; i < shown->count && place.count < GBX_SHOWN_MAX; i++) {
        const char *path = shown->fields[i];

        if (strncmp(path, dataset, len) != 0)
            continue;
        if (path[len] == '\0')
            place.is_shown = true;
        else if (path[len] == '.')
            place.paths[place.count++] = path + len + 1;
    }
    return place;
}

gbx_place gbx_place_below(const gbx_place *place, gbx_view name)
{
    gbx_place below = {.is_shown = place->is_shown};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};

    if (place->is_shown || place->count == 0)
        return below;
    take(name, &text);
    for (size_t i = 0; i < place->count; i++) {
        const char *rest = rest_of(place->paths[i], &text);

        if (rest != NULL && *rest == '\0')
            below.is_shown = true;
        else if (rest != NULL)
            below.paths[below.count++] = rest;
    }
    return below;
}

const char *gbx_place_lost(const gbx_place *place, const gbx_schema *shape)
{
    for (size_t i = 0; i < place->count; i++)
        if (!leads_somewhere(shape, place->paths[i]))
            return place->paths[i];
    return NULL;
}

bool gbx_describe_string(gbx_view string, size_t max, bool is_shown, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf shown;
    size_t n;

    take(string, &text);
    gbx_buf_init(&shown, TEXT_MAX * 2);
    if (is_shown)
        (void)gbx_buf_append(&shown, text.data, text.len);
    else
        put_pattern(&text, &shown);
    n = bytes_of(shown.data, shown.len, max);
    if (n < shown.len || string.len > TEXT_MAX / 8) {
        shown.len = n;
        (void)gbx_buf_puts(&shown, ellipsis);
    }
    return gbx_json_append_safe(to, shown.data, shown.len);
}

bool gbx_describe_name(gbx_view name, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    take(name, &text);
    if (text.len <= NAME_MAX_CHARS && is_identifier(text.data, text.len) &&
        !is_key(&text))
        return gbx_buf_append(to, text.data, text.len);
    return gbx_describe_string(name, NAME_MAX_CHARS, !is_key(&text), to);
}

bool gbx_describe_is_key(gbx_view name)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    take(name, &text);
    return text.failed || is_key(&text);
}

bool gbx_describe_number_pattern(gbx_view number, gbx_buf *to)
{
    for (size_t i = 0; i < number.len; i++)
        (void)gbx_buf_append(to,
                             isdigit((unsigned char)number.at[i]) ? "9" : number.at + i,
                             1);
    return !to->failed;
}

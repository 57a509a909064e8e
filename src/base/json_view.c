/* SPDX-License-Identifier: MIT */
/* json_view - everything here relies on the text having passed gbx_json_check(). */
#include "base/json_view.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The offset after the string that begins at text[at]. Most strings have no escape, so
 * find a quote first, and then check whether it is escaped. */
static size_t past_string(const char *text, size_t at)
{
    const char *start = text + at + 1;
    const char *quote = start;

    for (;; quote++) {
        const char *slash;

        quote = rawmemchr(quote, '"');
        slash = quote;
        while (slash > start && slash[-1] == '\\')
            slash--;
        if ((quote - slash) % 2 == 0)
            return (size_t)(quote - text) + 1;
    }
}

/* The value that begins at *cursor, which is then after it. */
static gbx_view take_value(gbx_view container, size_t *cursor)
{
    const char *text = container.at;
    size_t start = *cursor;
    size_t at = start;
    size_t depth = 0;

    do {
        if (text[at] == '"') {
            at = past_string(text, at);
        } else if (text[at] == '{' || text[at] == '[') {
            depth++;
            at++;
        } else if (text[at] == '}' || text[at] == ']') {
            depth--;
            at++;
        } else if (depth > 0) {
            at++;
        } else {
            while (at < container.len && strchr(",]} \n\t\r", text[at]) == NULL)
                at++;
        }
    } while (depth > 0);
    *cursor = at;
    return (gbx_view){.at = text + start, .len = at - start};
}

static void skip(gbx_view container, size_t *at, char also)
{
    while (gbx_json_is_space(container.at[*at]) || container.at[*at] == also)
        (*at)++;
}

static uint16_t unit(const char *hex)
{
    char digits[5] = {hex[0], hex[1], hex[2], hex[3], '\0'};

    return (uint16_t)strtoul(digits, NULL, 16);
}

/* True if the escape, without its backslash, is a surrogate that begins no pair. */
static bool is_unpaired(const char *text, size_t left)
{
    uint16_t first = text[0] == 'u' ? unit(text + 1) : 0;
    bool has_next = left >= 11 && text[5] == '\\' && text[6] == 'u';

    if (first < 0xD800 || first > 0xDFFF)
        return false;
    return first > 0xDBFF || !has_next || (unit(text + 7) & 0xFC00) != 0xDC00;
}

/* The backslash of the first unpaired surrogate; NULL if there is none. */
static const char *find_half(const char *at, const char *end)
{
    while (at < end && (at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        size_t left = (size_t)(end - at) - 1;

        if (left < 5 || at[1] != 'u')
            at += 2;
        else if (is_unpaired(at + 1, left))
            return at;
        else
            at += (unit(at + 2) & 0xF800) == 0xD800 ? 12 : 6;
    }
    return NULL;
}

/* Append the character of an escape, without its backslash; returns its length. */
static size_t append_escape(gbx_buf *to, const char *text, size_t left)
{
    static const char from[] = "bfnrt";
    static const char into[] = "\b\f\n\r\t";
    const char *letter = strchr(from, text[0]);
    uint16_t units[2];

    if (text[0] == 'u') {
        bool is_pair = left >= 11 && text[5] == '\\' && text[6] == 'u';

        units[0] = unit(text + 1);
        units[1] = is_pair ? unit(text + 7) : 0;
        is_pair = is_pair && units[0] >= 0xD800 && units[0] < 0xDC00;
        (void)gbx_utf8_append_utf16(to, units, is_pair ? 2 : 1);
        return is_pair ? 11 : 5;
    }
    (void)gbx_buf_append(to, letter != NULL ? &into[letter - from] : text, 1);
    return 1;
}

bool gbx_view_open(const char *text, size_t len, gbx_view *ret)
{
    return gbx_view_open_within(text, len, GBX_JSON_DEPTH_MAX, ret);
}

bool gbx_view_open_within(const char *text, size_t len, size_t max_depth, gbx_view *ret)
{
    if (!gbx_json_check(text, len, max_depth, NULL))
        return false;
    while (gbx_json_is_space(*text)) {
        text++;
        len--;
    }
    while (gbx_json_is_space(text[len - 1]))
        len--;
    *ret = (gbx_view){.at = text, .len = len};
    return true;
}

gbx_view gbx_view_string_at(const char *at)
{
    return (gbx_view){.at = at, .len = past_string(at, 0)};
}

char gbx_view_kind(gbx_view view)
{
    if (view.at == NULL)
        return 0;
    if (strchr("{[\"tfn", *view.at) == NULL)
        return '0';
    return *view.at;
}

gbx_view gbx_view_member(gbx_view object, const char *name)
{
    gbx_view value;

    gbx_view_members(object, &name, 1, &value);
    return value;
}

void gbx_view_members(gbx_view object, const char *const *names, size_t count,
                      gbx_view *ret)
{
    size_t cursor = 0;
    size_t found = 0;
    gbx_view key;
    gbx_view value;

    memset(ret, 0, count * sizeof *ret);
    while (found < count && gbx_view_kind(object) == '{' &&
           gbx_view_next(object, &cursor, &key, &value))
        for (size_t i = 0; i < count; i++)
            if (ret[i].at == NULL && gbx_view_is_text(key, names[i])) {
                ret[i] = value;
                found++;
            }
}

bool gbx_view_once(gbx_view object, const char *const *names, size_t count,
                   gbx_view *ret)
{
    bool all_once = true;
    size_t cursor = 0;
    gbx_view key;
    gbx_view value;

    memset(ret, 0, count * sizeof *ret);
    while (gbx_view_next(object, &cursor, &key, &value))
        for (size_t i = 0; i < count; i++) {
            if (!gbx_view_is_text(key, names[i]))
                continue;
            if (ret[i].at != NULL)
                all_once = false;
            else
                ret[i] = value;
        }
    return all_once;
}

bool gbx_view_next(gbx_view container, size_t *cursor, gbx_view *ret_name,
                   gbx_view *ret_value)
{
    char kind = gbx_view_kind(container);
    size_t at = *cursor == 0 ? 1 : *cursor;

    *ret_name = (gbx_view){0};
    if (kind != '{' && kind != '[')
        return false;
    skip(container, &at, ',');
    if (at + 1 >= container.len)
        return false;
    if (kind == '{') {
        *ret_name = take_value(container, &at);
        skip(container, &at, ':');
    }
    *ret_value = take_value(container, &at);
    *cursor = at;
    return true;
}

size_t gbx_view_count(gbx_view container)
{
    size_t cursor = 0;
    size_t count = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(container, &cursor, &name, &value))
        count++;
    return count;
}

bool gbx_view_append_json(gbx_view view, gbx_buf *to)
{
    if (view.len > 0 && gbx_buf_append(to, view.at, view.len))
        gbx_json_mend_halves((char *)to->data + to->len - view.len, view.len);
    return !to->failed;
}

bool gbx_view_append_text(gbx_view view, gbx_buf *to)
{
    size_t end = view.len - 1;

    if (gbx_view_kind(view) != '"')
        return gbx_view_append_json(view, to);
    for (size_t i = 1; i < end && !to->failed;) {
        const char *slash = memchr(view.at + i, '\\', end - i);
        size_t plain = slash != NULL ? (size_t)(slash - view.at) - i : end - i;

        (void)gbx_buf_append(to, view.at + i, plain);
        i += plain;
        if (i < end)
            i += 1 + append_escape(to, view.at + i + 1, end - i - 1);
    }
    return !to->failed;
}

bool gbx_view_is_text(gbx_view view, const char *text)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf plain = {.ceiling = strlen(text)};
    size_t len = plain.ceiling;

    /* An escape has at most six characters, and stands for a byte or more. */
    if (gbx_view_kind(view) != '"' || view.len - 2 < len || (view.len - 2) / 6 > len)
        return false;
    if (memchr(view.at + 1, '\\', view.len - 2) != NULL)
        return gbx_view_append_text(view, &plain) && plain.len == len &&
               memcmp(plain.data, text, len) == 0;
    return view.len - 2 == len && memcmp(view.at + 1, text, len) == 0;
}

bool gbx_view_take_text(gbx_view view, gbx_buf *to)
{
    return gbx_view_kind(view) == '"' && !gbx_view_has_half(view) &&
           gbx_view_append_text(view, to);
}

char *gbx_view_string(gbx_view view, size_t max)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = max};

    if (gbx_view_kind(view) != '"' || !gbx_view_append_text(view, &text) ||
        (text.len > 0 && memchr(text.data, '\0', text.len) != NULL))
        return NULL;
    return gbx_buf_take_string(&text, NULL);
}

bool gbx_view_has_half(gbx_view view)
{
    return gbx_view_kind(view) == '"' &&
           find_half(view.at + 1, view.at + view.len - 1) != NULL;
}

bool gbx_view_is_true(gbx_view view)
{
    return gbx_view_kind(view) == 't';
}

void gbx_json_mend_halves(char *json, size_t len)
{
    const char *half = json;

    while ((half = find_half(half, json + len)) != NULL) {
        memcpy(json + (half - json), "\\ufffd", 6);
        half += 6;
    }
}

bool gbx_json_append_line(gbx_buf *to, const char *json, size_t len)
{
    char *end;

    if (len == 0 || !gbx_buf_append(to, json, len))
        return !to->failed;
    end = (char *)to->data + to->len;
    /* In JSON both can only be white space between tokens. */
    for (const char *c = "\n\r"; *c != '\0'; c++)
        for (char *at = end - len; (at = memchr(at, *c, (size_t)(end - at))) != NULL;)
            *at = ' ';
    gbx_json_mend_halves(end - len, len);
    return true;
}

void gbx_json_put_json(gbx_buf *to, const char *key, const char *json, size_t len)
{
    if (json == NULL)
        return;
    gbx_json_put_key(to, key);
    (void)gbx_json_append_line(to, json, len);
}

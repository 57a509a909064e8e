/* SPDX-License-Identifier: MIT */
/* audit_text - written without the library's own tables: they are what is tested. */
#include "audit_text.h"
#include "test.h"

/* The character at text[*at], stepped over; -1: not UTF-8. */
static long next(const uint8_t *text, size_t len, size_t *at)
{
    static const long least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = text[*at];
    size_t n = first < 0x80             ? 1
               : (first & 0xE0) == 0xC0 ? 2
               : (first & 0xF0) == 0xE0 ? 3
               : (first & 0xF8) == 0xF0 ? 4
                                        : 0;
    long c = n == 1 ? first : first & (0x7F >> n);

    if (n == 0 || len - *at < n)
        return -1;
    for (size_t i = 1; i < n; i++) {
        if ((text[*at + i] & 0xC0) != 0x80)
            return -1;
        c = c << 6 | (text[*at + i] & 0x3F);
    }
    *at += n;
    if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return -1;
    return c;
}

/* C0, DEL, C1; what reorders, hides or ends a line somewhere. */
static bool steers(long c)
{
    static const struct {
        long first, last;
    } ranges[] = {{0, 0x1F},        {0x7F, 0x9F},      {0xAD, 0xAD},
                  {0x61C, 0x61C},   {0x200B, 0x200F},  {0x2028, 0x202E},
                  {0x2060, 0x206F}, {0x2800, 0x2800},  {0x3164, 0x3164},
                  {0xFEFF, 0xFEFF}, {0xE0000, 0xE0FFF}};

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static bool is_plain(const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        long c = next((const uint8_t *)text, len, &at);

        if (c < 0 || steers(c))
            return false;
    }
    return true;
}

static bool values_are_plain(json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;

    if (json_is_string(value))
        return is_plain(json_string_value(value), json_string_length(value));
    json_object_foreach(value, key, member) if (!is_plain(key, strlen(key)) ||
                                                !values_are_plain(member)) return false;
    json_array_foreach(value, i, member) if (!values_are_plain(member)) return false;
    return true;
}

bool audit_text_is_harmless(const char *line, size_t len)
{
    json_t *root;
    bool plain;

    if (len < 3 || len > 4096 || line[len - 1] != '\n' || line[len] != 0 ||
        !is_plain(line, len - 1))
        return false;
    root = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    plain = json_is_object(root) && values_are_plain(root);
    json_decref(root);
    return plain;
}

json_t *audit_text_parse(const char *line, size_t len)
{
    json_t *root;
    const char *time;

    if (!audit_text_is_harmless(line, len))
        fail_msg("no line of a log: %.*s", (int)len, line);
    root = json_loadb(line, len, 0, NULL);
    time = json_string_value(json_object_get(root, "time"));
    assert_non_null(time);
    assert_int_equal(strlen(time), sizeof "2026-01-31T12:00:00.000Z" - 1);
    assert_true(json_is_integer(json_object_get(root, "seq")));
    assert_true(json_is_string(json_object_get(root, "event")));
    assert_int_equal(json_string_length(json_object_get(root, "engine")), 8);
    return root;
}

/* SPDX-License-Identifier: MIT */
/* toml_value - keys and values of TOML. */
#include "mcp/import/import.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define STRING_MAX GBX_MIB(1)

/* ---- strings ------------------------------------------------------------------ */

static bool begins(const gbx_toml_reader *r, const char *with)
{
    size_t n = strlen(with);

    return r->len - r->at >= n && memcmp(r->text + r->at, with, n) == 0;
}

static void put_point(gbx_toml_reader *r, gbx_buf *to, size_t digits)
{
    uint16_t units[2];
    uint32_t point = 0;

    for (size_t i = 0; i < digits; i++) {
        char c = gbx_toml_here(r);
        const char *hex = "0123456789abcdef";
        const char *at =
            c != '\0' ? strchr(hex, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

        if (at == NULL) {
            gbx_toml_fail(r, "an escape in the string is not complete");
            return;
        }
        point = point << 4 | (uint32_t)(at - hex);
        r->at++;
    }
    if (point == 0 || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
        gbx_toml_fail(r, "an escape in the string stands for no character");
        return;
    }
    units[0] = (uint16_t)point;
    if (point >= 0x10000) {
        units[0] = (uint16_t)(0xD800 + ((point - 0x10000) >> 10));
        units[1] = (uint16_t)(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
    (void)gbx_utf8_append_utf16(to, units, point >= 0x10000 ? 2 : 1);
}

static void put_escape(gbx_toml_reader *r, gbx_buf *to, bool many)
{
    static const char names[] = "btnfr\"\\e";
    static const char chars[] = "\b\t\n\f\r\"\\\x1b";
    char c = gbx_toml_here(r);
    const char *at = c != '\0' ? strchr(names, c) : NULL;

    if (at != NULL) {
        r->at++;
        (void)gbx_buf_append(to, chars + (at - names), 1);
    } else if (c == 'u' || c == 'U') {
        r->at++;
        put_point(r, to, c == 'u' ? 4 : 8);
    } else if (many && c != '\0' && strchr(" \t\r\n", c) != NULL) {
        while (gbx_toml_here(r) != '\0' && strchr(" \t\r\n", gbx_toml_here(r)) != NULL)
            r->at++;
    } else {
        gbx_toml_fail(r, "unknown escape");
    }
}

/* Read a string whose quote is the next character, once or three times. */
static bool take_string(gbx_toml_reader *r, gbx_buf *to)
{
    char quote = gbx_toml_here(r);
    const char end[4] = {quote, quote, quote, '\0'};
    bool many = begins(r, end);

    r->at += many ? 3 : 1;
    if (many && begins(r, "\r\n"))
        r->at += 2;
    else if (many && begins(r, "\n"))
        r->at++;
    while (r->fault == NULL) {
        char c = gbx_toml_here(r);

        if (r->at >= r->len || c == '\0' || (!many && c == '\n')) {
            gbx_toml_fail(r, "the string does not end");
        } else if (many ? begins(r, end) : c == quote) {
            r->at += many ? 3 : 1;
            /* Up to two more quotes belong to the text. */
            while (many && gbx_toml_here(r) == quote) {
                (void)gbx_buf_append(to, &quote, 1);
                r->at++;
            }
            return !to->failed;
        } else if (c == '\\' && quote == '"') {
            r->at++;
            put_escape(r, to, many);
        } else {
            (void)gbx_buf_append(to, &c, 1);
            r->at++;
        }
    }
    return false;
}

static json_t *string_value(gbx_toml_reader *r)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    json_t *value = NULL;

    gbx_buf_init(&text, STRING_MAX);
    if (take_string(r, &text))
        value =
            json_stringn(text.data != NULL ? (const char *)text.data : "", text.len);
    if (value == NULL)
        gbx_toml_fail(r, "the string is not text");
    return value;
}

/* ---- unquoted values ------------------------------------------------------------- */

static json_t *integer_of(const char *digits)
{
    bool negative = digits[0] == '-';
    const char *at = digits + (digits[0] == '-' || digits[0] == '+');
    int base = 10;
    char *end;
    long long number;

    if (at[0] == '0' && at[1] != '\0') {
        base = at[1] == 'x' ? 16 : at[1] == 'o' ? 8 : at[1] == 'b' ? 2 : 10;
        at += base != 10 ? 2 : 0;
    }
    if (*at == '\0' || *at == '-' || *at == '+')
        return NULL;
    number = strtoll(at, &end, base);
    return *end == '\0' ? json_integer(negative ? -number : number) : NULL;
}

/* A number, a word, or a date, which stays text. */
static json_t *bare_value(gbx_toml_reader *r)
{
    char text[64];
    size_t len = 0;
    char *end;
    json_t *value;
    double number;

    while (len + 1 < sizeof text && gbx_toml_here(r) != '\0' &&
           strchr(" \t\r\n,]}#", gbx_toml_here(r)) == NULL) {
        if (gbx_toml_here(r) != '_')
            text[len++] = gbx_toml_here(r);
        r->at++;
    }
    text[len] = '\0';
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return json_boolean(text[0] == 't');
    value = len > 0 ? integer_of(text) : NULL;
    if (value != NULL)
        return value;
    number = strtod(text, &end);
    if (len > 0 && *end == '\0')
        value = json_real(number); /* NULL for inf and nan, which stay text */
    if (value == NULL && len > 0 && strspn(text, "0123456789+-.:TZtzinfa") == len)
        value = json_string(text);
    if (value == NULL)
        gbx_toml_fail(r, "this is not a value");
    return value;
}

static json_t *array_value(gbx_toml_reader *r)
{
    json_t *array = json_array();

    r->at++;
    for (;;) {
        gbx_toml_skip_lines(r);
        if (gbx_toml_here(r) == ']' || r->fault != NULL)
            break;
        if (json_array_append_new(array, gbx_toml_value(r)) != 0)
            gbx_toml_fail(r, "this is not a value");
        gbx_toml_skip_lines(r);
        if (gbx_toml_here(r) == ',')
            r->at++;
        else if (gbx_toml_here(r) != ']')
            gbx_toml_fail(r, "a ',' or ']' belongs here");
    }
    r->at++;
    return array;
}

static json_t *inline_table(gbx_toml_reader *r)
{
    json_t *table = json_object();

    r->at++;
    for (;;) {
        gbx_toml_skip_lines(r);
        if (gbx_toml_here(r) == '}' || r->fault != NULL)
            break;
        gbx_toml_pair(r, table);
        gbx_toml_skip_lines(r);
        if (gbx_toml_here(r) == ',')
            r->at++;
        else if (gbx_toml_here(r) != '}')
            gbx_toml_fail(r, "a ',' or '}' belongs here");
    }
    r->at++;
    return table;
}

/* ---- for the other file ------------------------------------------------------ */

void gbx_toml_fail(gbx_toml_reader *r, const char *fault)
{
    if (r->fault == NULL)
        r->fault = fault;
}

void gbx_toml_skip_blanks(gbx_toml_reader *r)
{
    while (gbx_toml_here(r) == ' ' || gbx_toml_here(r) == '\t')
        r->at++;
}

void gbx_toml_skip_lines(gbx_toml_reader *r)
{
    for (;;) {
        char c = gbx_toml_here(r);

        if (c == '#')
            while (r->at < r->len && r->text[r->at] != '\n')
                r->at++;
        else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            r->at++;
        else
            return;
    }
}

json_t *gbx_toml_value(gbx_toml_reader *r)
{
    json_t *value = NULL;

    gbx_toml_skip_blanks(r);
    if (++r->depth > GBX_TOML_DEPTH_MAX)
        gbx_toml_fail(r, "values are nested too deep");
    if (r->fault == NULL) {
        switch (gbx_toml_here(r)) {
        case '"':
        case '\'': value = string_value(r); break;
        case '[': value = array_value(r); break;
        case '{': value = inline_table(r); break;
        default: value = bare_value(r); break;
        }
    }
    r->depth--;
    if (r->fault == NULL)
        return value;
    json_decref(value);
    return NULL;
}

char *gbx_toml_key_part(gbx_toml_reader *r)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_-";
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    char *part = NULL;

    gbx_toml_skip_blanks(r);
    gbx_buf_init(&text, GBX_KIB(4));
    if (gbx_toml_here(r) == '"' || gbx_toml_here(r) == '\'') {
        (void)take_string(r, &text);
    } else {
        while (gbx_toml_here(r) != '\0' && strchr(bare, gbx_toml_here(r)) != NULL)
            (void)gbx_buf_append(&text, r->text + r->at++, 1);
        if (text.len == 0)
            gbx_toml_fail(r, "a key belongs here");
    }
    gbx_toml_skip_blanks(r);
    if (r->fault == NULL)
        part = gbx_buf_take_string(&text, NULL);
    if (part == NULL || !gbx_utf8_valid((const uint8_t *)part, strlen(part), NULL)) {
        gbx_toml_fail(r, "this is not a key");
        free(part);
        return NULL;
    }
    return part;
}

void gbx_toml_pair(gbx_toml_reader *r, json_t *table)
{
    GBX_CLEANUP(gbx_free) char *name = gbx_toml_key_part(r);
    json_t *value;

    for (int i = 0; r->fault == NULL && gbx_toml_here(r) == '.'; i++) {
        json_t *inner = json_object_get(table, name);

        if (i == GBX_TOML_DEPTH_MAX) {
            gbx_toml_fail(r, "values are nested too deep");
            return;
        }

        r->at++;
        if (inner == NULL) {
            inner = json_object();
            (void)json_object_set_new(table, name, inner);
        }
        if (!json_is_object(inner)) {
            gbx_toml_fail(r, "this is a value already, and no table");
            return;
        }
        table = inner;
        free(name);
        name = gbx_toml_key_part(r);
    }
    if (r->fault == NULL && gbx_toml_here(r) != '=')
        gbx_toml_fail(r, "a '=' belongs here");
    if (r->fault == NULL && json_object_get(table, name) != NULL)
        gbx_toml_fail(r, "the key is there twice");
    if (r->fault != NULL)
        return;
    r->at++;
    value = gbx_toml_value(r);
    if (value != NULL)
        (void)json_object_set_new(table, name, value);
}

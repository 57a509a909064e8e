/* SPDX-License-Identifier: MIT */
/*
 * toml - TOML text as values, for the one host that uses it.
 *
 * We have our own reader, since Debian has none in C. It reads all of TOML 1.0, but
 * keeps dates as text.
 */
#include "mcp/import/import.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define STRING_MAX GBX_MIB(1)
#define DEPTH_MAX  64

/* A text being read. Errors are sticky: after the first, nothing more is read. */
typedef struct reader {
    const char *text;
    size_t at;
    size_t len;
    unsigned depth;
    const char *fault; /* constant, or NULL */
} reader;

static json_t *read_value(reader *r);
static void read_pair(reader *r, json_t *table);

static char here(const reader *r)
{
    return (char)(r->at < r->len ? r->text[r->at] : '\0');
}

static void fail(reader *r, const char *fault)
{
    if (r->fault == NULL)
        r->fault = fault;
}

static void skip_blanks(reader *r)
{
    while (here(r) == ' ' || here(r) == '\t')
        r->at++;
}

/* Skip blanks, line ends and comments. */
static void skip_lines(reader *r)
{
    for (;;) {
        char c = here(r);

        if (c == '#')
            while (r->at < r->len && r->text[r->at] != '\n')
                r->at++;
        else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            r->at++;
        else
            return;
    }
}

/* ---- strings ------------------------------------------------------------------ */

static bool begins(const reader *r, const char *with)
{
    size_t n = strlen(with);

    return r->len - r->at >= n && memcmp(r->text + r->at, with, n) == 0;
}

static void put_point(reader *r, gbx_buf *to, size_t digits)
{
    uint16_t units[2];
    uint32_t point = 0;

    for (size_t i = 0; i < digits; i++) {
        char c = here(r);
        const char *hex = "0123456789abcdef";
        const char *at =
            c != '\0' ? strchr(hex, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

        if (at == NULL) {
            fail(r, "an escape in the string is not complete");
            return;
        }
        point = point << 4 | (uint32_t)(at - hex);
        r->at++;
    }
    if (point == 0 || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
        fail(r, "an escape in the string stands for no character");
        return;
    }
    units[0] = (uint16_t)point;
    if (point >= 0x10000) {
        units[0] = (uint16_t)(0xD800 + ((point - 0x10000) >> 10));
        units[1] = (uint16_t)(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
    (void)gbx_utf8_append_utf16(to, units, point >= 0x10000 ? 2 : 1);
}

static void put_escape(reader *r, gbx_buf *to, bool many)
{
    static const char names[] = "btnfr\"\\e";
    static const char chars[] = "\b\t\n\f\r\"\\\x1b";
    char c = here(r);
    const char *at = c != '\0' ? strchr(names, c) : NULL;

    if (at != NULL) {
        r->at++;
        (void)gbx_buf_append(to, chars + (at - names), 1);
    } else if (c == 'u' || c == 'U') {
        r->at++;
        put_point(r, to, c == 'u' ? 4 : 8);
    } else if (many && c != '\0' && strchr(" \t\r\n", c) != NULL) {
        while (here(r) != '\0' && strchr(" \t\r\n", here(r)) != NULL)
            r->at++;
    } else {
        fail(r, "unknown escape");
    }
}

/* Read a string whose quote is the next character, once or three times. */
static bool take_string(reader *r, gbx_buf *to)
{
    char quote = here(r);
    const char end[4] = {quote, quote, quote, '\0'};
    bool many = begins(r, end);

    r->at += many ? 3 : 1;
    if (many && begins(r, "\r\n"))
        r->at += 2;
    else if (many && begins(r, "\n"))
        r->at++;
    while (r->fault == NULL) {
        char c = here(r);

        if (r->at >= r->len || c == '\0' || (!many && c == '\n')) {
            fail(r, "the string does not end");
        } else if (many ? begins(r, end) : c == quote) {
            r->at += many ? 3 : 1;
            /* Up to two more quotes belong to the text. */
            while (many && here(r) == quote) {
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

static json_t *string_value(reader *r)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    json_t *value = NULL;

    gbx_buf_init(&text, STRING_MAX);
    if (take_string(r, &text))
        value =
            json_stringn(text.data != NULL ? (const char *)text.data : "", text.len);
    if (value == NULL)
        fail(r, "the string is not text");
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
static json_t *bare_value(reader *r)
{
    char text[64];
    size_t len = 0;
    char *end;
    json_t *value;
    double number;

    while (len + 1 < sizeof text && here(r) != '\0' &&
           strchr(" \t\r\n,]}#", here(r)) == NULL) {
        if (here(r) != '_')
            text[len++] = here(r);
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
        fail(r, "this is not a value");
    return value;
}

/* ---- arrays and tables ------------------------------------------------------- */

static json_t *array_value(reader *r)
{
    json_t *array = json_array();

    r->at++;
    for (;;) {
        skip_lines(r);
        if (here(r) == ']' || r->fault != NULL)
            break;
        if (json_array_append_new(array, read_value(r)) != 0)
            fail(r, "this is not a value");
        skip_lines(r);
        if (here(r) == ',')
            r->at++;
        else if (here(r) != ']')
            fail(r, "a ',' or ']' belongs here");
    }
    r->at++;
    return array;
}

static json_t *inline_table(reader *r)
{
    json_t *table = json_object();

    r->at++;
    for (;;) {
        skip_lines(r);
        if (here(r) == '}' || r->fault != NULL)
            break;
        read_pair(r, table);
        skip_lines(r);
        if (here(r) == ',')
            r->at++;
        else if (here(r) != '}')
            fail(r, "a ',' or '}' belongs here");
    }
    r->at++;
    return table;
}

/* A new reference, or NULL. */
static json_t *read_value(reader *r)
{
    json_t *value = NULL;

    skip_blanks(r);
    if (++r->depth > DEPTH_MAX)
        fail(r, "values are nested too deep");
    if (r->fault == NULL) {
        switch (here(r)) {
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

/* One part of a key, bare or quoted: free() it. */
static char *key_part(reader *r)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_-";
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    char *part = NULL;

    skip_blanks(r);
    gbx_buf_init(&text, GBX_KIB(4));
    if (here(r) == '"' || here(r) == '\'') {
        (void)take_string(r, &text);
    } else {
        while (here(r) != '\0' && strchr(bare, here(r)) != NULL)
            (void)gbx_buf_append(&text, r->text + r->at++, 1);
        if (text.len == 0)
            fail(r, "a key belongs here");
    }
    skip_blanks(r);
    if (r->fault == NULL)
        part = gbx_buf_take_string(&text, NULL);
    if (part == NULL || !gbx_utf8_valid((const uint8_t *)part, strlen(part), NULL)) {
        fail(r, "this is not a key");
        free(part);
        return NULL;
    }
    return part;
}

/* Read `a.b = value` into table. */
static void read_pair(reader *r, json_t *table)
{
    GBX_CLEANUP(gbx_free) char *name = key_part(r);
    json_t *value;

    for (int i = 0; r->fault == NULL && here(r) == '.'; i++) {
        json_t *inner = json_object_get(table, name);

        if (i == DEPTH_MAX) {
            fail(r, "values are nested too deep");
            return;
        }

        r->at++;
        if (inner == NULL) {
            inner = json_object();
            (void)json_object_set_new(table, name, inner);
        }
        if (!json_is_object(inner)) {
            fail(r, "this is a value already, and no table");
            return;
        }
        table = inner;
        free(name);
        name = key_part(r);
    }
    if (r->fault == NULL && here(r) != '=')
        fail(r, "a '=' belongs here");
    if (r->fault == NULL && json_object_get(table, name) != NULL)
        fail(r, "the key is there twice");
    if (r->fault != NULL)
        return;
    r->at++;
    value = read_value(r);
    if (value != NULL)
        (void)json_object_set_new(table, name, value);
}

/* ---- documents --------------------------------------------------------------- */

/* The table of that name in table; of an array of tables, the last one. */
static json_t *enter(reader *r, json_t *table, const char *name)
{
    json_t *inner = json_object_get(table, name);

    if (inner == NULL) {
        inner = json_object();
        (void)json_object_set_new(table, name, inner);
    }
    if (json_is_array(inner) && json_array_size(inner) > 0)
        inner = json_array_get(inner, json_array_size(inner) - 1);
    if (json_is_object(inner))
        return inner;
    fail(r, "this is a value already, and no table");
    return NULL;
}

/* Append a table to the array of that name. */
static json_t *append(reader *r, json_t *table, const char *name)
{
    json_t *array = json_object_get(table, name);
    json_t *item;

    if (array == NULL) {
        array = json_array();
        (void)json_object_set_new(table, name, array);
    }
    item = json_is_array(array) ? json_object() : NULL;
    if (json_array_append_new(array, item) != 0) {
        fail(r, "this is not an array of tables");
        return NULL;
    }
    return item;
}

/* "[a.b]" or "[[a.b]]": returns the table that it names, or NULL. */
static json_t *header(reader *r, json_t *root)
{
    bool is_array = r->at + 1 < r->len && r->text[r->at + 1] == '[';
    json_t *table = root;
    bool more = true;

    r->at += is_array ? 2 : 1;
    for (int i = 0; more && r->fault == NULL; i++) {
        GBX_CLEANUP(gbx_free) char *name = key_part(r);

        if (name == NULL)
            break;
        if (i == DEPTH_MAX)
            fail(r, "tables are nested too deep");
        more = here(r) == '.';
        r->at += more;
        table = is_array && !more ? append(r, table, name) : enter(r, table, name);
    }
    for (int i = 0; i < (is_array ? 2 : 1) && r->fault == NULL; i++) {
        if (here(r) != ']')
            fail(r, "a ']' belongs here");
        r->at++;
    }
    return table;
}

gbx_status gbx_toml_read(const char *text, size_t len, json_t **ret, gbx_error *reterr)
{
    reader r = {.text = text, .len = len};
    json_t *root = json_object();
    json_t *table = root;
    uint32_t line;
    uint32_t column;

    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        r.at = 3;
    skip_lines(&r);
    while (r.at < len && r.fault == NULL && table != NULL) {
        if (here(&r) == '[')
            table = header(&r, root);
        else
            read_pair(&r, table);
        if (r.fault != NULL)
            break;
        skip_blanks(&r);
        if (r.at < r.len && strchr("#\r\n", here(&r)) == NULL)
            fail(&r, "the line should end here");
        else
            skip_lines(&r);
    }
    if (r.fault == NULL && table != NULL) {
        *ret = root;
        return GBX_OK;
    }
    json_decref(root);
    gbx_utf8_position(text, len, r.at < len ? r.at : len, &line, &column);
    return gbx_fail_at(reterr, GBX_E_DATA, line, column, "%s",
                       r.fault != NULL ? r.fault : "memory is out");
}

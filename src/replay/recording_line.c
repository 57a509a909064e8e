/* SPDX-License-Identifier: MIT */
/*
 * recording_line - reads and writes one line of a recording. The JSON checker must
 * accept a line's text before it is walked.
 */
#include "replay/record.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "policy/policy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A line's maximum nesting: an object that contains an object or an array. */
#define DEPTH_MAX 2

#define FIELDS_MAX 32

/* Reading one line. */
typedef struct reading {
    const gbx_recording_line *line;
    gbx_buf out; /* over the caller's room: never grows */
    gbx_error *err;
} reading;

/* ---- values ---------------------------------------------------------------------- */

static bool take_text(reading *r, gbx_view value, gbx_span *ret)
{
    size_t before = r->out.len;

    if (!gbx_view_take_text(value, &r->out))
        return false;
    *ret = (gbx_span){r->out.data + before, r->out.len - before};
    return true;
}

static bool take_bytes(reading *r, gbx_view value, gbx_span *ret)
{
    size_t cursor = 0;
    gbx_view name, inner;
    size_t len;

    if (!gbx_view_next(value, &cursor, &name, &inner) || name.len != 8 ||
        memcmp(name.at, "\"base64\"", 8) != 0 || gbx_view_kind(inner) != '"' ||
        gbx_view_count(value) != 1)
        return false;
    /* Base64 contains no backslash: the string is what is between its quotes. */
    if (!gbx_base64_decode(inner.at + 1, inner.len - 2, r->out.data + r->out.len, &len))
        return false;
    *ret = (gbx_span){r->out.data + r->out.len, len};
    r->out.len += len;
    return true;
}

static bool take_number(gbx_view value, const gbx_recording_field *f, void *to)
{
    bool is_negative =
        f->max == INT64_MAX && gbx_view_kind(value) == '0' && *value.at == '-';
    uint64_t number;

    if (gbx_view_kind(value) != '0' ||
        !gbx_decimal_read(value.at + is_negative, value.len - is_negative, f->max,
                          &number))
        return false;
    if (is_negative)
        number = -number;
    memcpy(to, &number, f->size); /* little-endian, as in wire/messages.c */
    return true;
}

static bool take_digest(gbx_view value, uint8_t *ret)
{
    if (gbx_view_kind(value) != '"' || value.len != 2 * GBX_SHA256_SIZE + 2)
        return false;
    for (size_t i = 0; i < GBX_SHA256_SIZE; i++) {
        int high = gbx_hex_digit((uint8_t)value.at[1 + 2 * i]);
        int low = gbx_hex_digit((uint8_t)value.at[2 + 2 * i]);

        if (high < 0 || low < 0)
            return false;
        ret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool take_word(gbx_view value, const gbx_recording_field *field, unsigned *ret)
{
    const char *word;

    for (unsigned i = 0; (word = field->word(i)) != NULL; i++) {
        if (gbx_view_kind(value) == '"' && strlen(word) == value.len - 2 &&
            memcmp(word, value.at + 1, value.len - 2) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

static bool take_words(gbx_view value, const gbx_recording_field *field, uint32_t *ret)
{
    size_t cursor = 0;
    gbx_view name, element;
    uint32_t bits = 0;
    unsigned index;

    if (gbx_view_kind(value) != '[')
        return false;
    while (gbx_view_next(value, &cursor, &name, &element)) {
        if (!take_word(element, field, &index) || (bits & 1u << index) != 0)
            return false;
        bits |= 1u << index;
    }
    *ret = bits;
    return true;
}

/* ---- members --------------------------------------------------------------------- */

static const char *const wanted[] = {
    [GBX_FIELD_TEXT] = "a string, or {\"base64\": \"...\"}",
    [GBX_FIELD_NUMBER] = "a whole number in its range",
    [GBX_FIELD_BOOL] = "true or false",
    [GBX_FIELD_DIGEST] = "a string of 64 hexadecimal digits",
    [GBX_FIELD_WORD] = "one of the words for it",
    [GBX_FIELD_WORDS] = "an array of the words for it, each once",
    [GBX_FIELD_FIGURE] = "a number",
};

static bool take(reading *r, gbx_view value, const gbx_recording_field *f, void *to)
{
    char kind = gbx_view_kind(value);
    unsigned index;

    switch (f->kind) {
    case GBX_FIELD_TEXT:
        return kind == '{' ? take_bytes(r, value, to) : take_text(r, value, to);
    case GBX_FIELD_NUMBER: return take_number(value, f, to);
    case GBX_FIELD_BOOL: *(bool *)to = kind == 't'; return kind == 't' || kind == 'f';
    case GBX_FIELD_DIGEST: return take_digest(value, to);
    case GBX_FIELD_WORD:
        if (!take_word(value, f, &index))
            return false;
        *(int *)to = (int)index;
        return true;
    case GBX_FIELD_WORDS: return take_words(value, f, to);
    case GBX_FIELD_FIGURE: return kind == '0';
    }
    return false;
}

static gbx_status refuse_member(const reading *r, gbx_view name, const char *why)
{
    char quoted[GBX_QUOTE_SIZE];

    return gbx_recording_line_refuse(r->line, name.at, r->err, "'%s' %s",
                                     gbx_quote(quoted, name.at + 1, name.len - 2), why);
}

/* ---- a line ------------------------------------------------------------------ */

gbx_status gbx_recording_line_refuse(const gbx_recording_line *line, const char *at,
                                     gbx_error *reterr, const char *format, ...)
{
    char message[GBX_ERROR_MESSAGE_SIZE - 64];
    uint32_t row, column;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    gbx_utf8_position(line->view.at, line->view.len, (size_t)(at - line->view.at), &row,
                      &column);
    return gbx_fail_at(reterr, GBX_E_DATA, line->number, column,
                       "the recording cannot be read: %s", message);
}

bool gbx_recording_line_next(const char *text, size_t len, size_t *at,
                             gbx_recording_line *line, gbx_status *ret_status,
                             gbx_error *reterr)
{
    const char *start = text + *at;
    const char *newline;
    gbx_json_fault fault;
    size_t cursor = 0;
    gbx_view name;

    *ret_status = GBX_OK;
    if (*at >= len)
        return false;
    newline = memchr(start, '\n', len - *at);
    *line =
        (gbx_recording_line){.number = line->number + 1,
                             .view = {start, newline != NULL ? (size_t)(newline - start)
                                                             : len - *at}};
    *at += line->view.len + 1;
    if (newline == NULL)
        *ret_status =
            gbx_recording_line_refuse(line, start, reterr, "the line does not end");
    else if (!gbx_json_check(start, line->view.len, DEPTH_MAX, &fault))
        *ret_status = gbx_recording_line_refuse(line, start + fault.offset, reterr,
                                                "%s", fault.message);
    else if (*start != '{' || start[line->view.len - 1] != '}')
        *ret_status = gbx_recording_line_refuse(line, start, reterr,
                                                "expected an object and nothing else");
    else if (!gbx_view_next(line->view, &cursor, &name, &line->what) ||
             name.len != sizeof GBX_LINE_WHAT + 1 ||
             memcmp(name.at + 1, GBX_LINE_WHAT, name.len - 2) != 0 ||
             gbx_view_kind(line->what) != '"')
        *ret_status =
            gbx_recording_line_refuse(line, start, reterr,
                                      "the first member must be \"what\", a string");
    return true;
}

bool gbx_recording_line_is(const gbx_recording_line *line, const char *what)
{
    return line->what.len == strlen(what) + 2 &&
           memcmp(line->what.at + 1, what, line->what.len - 2) == 0;
}

gbx_status gbx_recording_line_read(const gbx_recording_line *line,
                                   const gbx_recording_field *fields, size_t count,
                                   void *into, uint8_t *room, gbx_error *reterr)
{
    reading r = {.line = line,
                 .out = {.data = room,
                         .capacity = line->view.len,
                         .ceiling = line->view.len},
                 .err = reterr};
    gbx_view name, value;
    size_t cursor = 0;
    uint32_t seen = 0;

    assert(count <= FIELDS_MAX);
    (void)gbx_view_next(line->view, &cursor, &name, &value);
    while (gbx_view_next(line->view, &cursor, &name, &value)) {
        size_t i = 0;

        while (i < count && (strlen(fields[i].name) != name.len - 2 ||
                             memcmp(fields[i].name, name.at + 1, name.len - 2) != 0))
            i++;
        if (i == count)
            return refuse_member(&r, name, "is not a member of this line");
        if ((seen & 1u << i) != 0)
            return refuse_member(&r, name, "is here twice");
        seen |= 1u << i;
        if (!take(&r, value, &fields[i], (uint8_t *)into + fields[i].offset))
            return gbx_recording_line_refuse(line, value.at, reterr, "'%s' must be %s",
                                             fields[i].name, wanted[fields[i].kind]);
    }
    for (size_t i = 0; i < count; i++)
        if (fields[i].required && (seen & 1u << i) == 0)
            return gbx_recording_line_refuse(line, line->view.at, reterr,
                                             "'%s' is missing", fields[i].name);
    return GBX_OK;
}

/* ---- writing: a buffer's failure is checked once, at the end of the line ------ */

static void put_words(gbx_buf *to, const gbx_recording_field *field, uint32_t bits)
{
    const char *separator = "";
    const char *word;

    (void)gbx_buf_puts(to, "[");
    for (unsigned i = 0; (word = field->word(i)) != NULL; i++) {
        if ((bits & 1u << i) == 0)
            continue;
        (void)gbx_buf_printf(to, "%s\"%s\"", separator, word);
        separator = ",";
    }
    (void)gbx_buf_puts(to, "]");
}

static void put(gbx_buf *to, const gbx_recording_field *f, const void *from)
{
    const gbx_span *text = from;
    unsigned long long number = 0;
    char digest[GBX_SHA256_HEX_SIZE];

    switch (f->kind) {
    case GBX_FIELD_TEXT:
        if (gbx_utf8_valid(text->data, text->len, NULL)) {
            (void)gbx_json_append_safe(to, text->data, text->len);
            break;
        }
        (void)gbx_buf_puts(to, "{\"base64\":\"");
        (void)gbx_base64_append(to, text->data, text->len);
        (void)gbx_buf_puts(to, "\"}");
        break;
    case GBX_FIELD_NUMBER:
        memcpy(&number, from, f->size);
        (void)gbx_buf_printf(to, f->max == INT64_MAX ? "%lld" : "%llu", number);
        break;
    case GBX_FIELD_BOOL:
        (void)gbx_buf_puts(to, *(const bool *)from ? "true" : "false");
        break;
    case GBX_FIELD_DIGEST:
        gbx_sha256_print(from, digest);
        (void)gbx_buf_printf(to, "\"%s\"", digest);
        break;
    case GBX_FIELD_WORD:
        (void)gbx_buf_printf(to, "\"%s\"", f->word((unsigned)*(const int *)from));
        break;
    case GBX_FIELD_WORDS: put_words(to, f, *(const uint32_t *)from); break;
    case GBX_FIELD_FIGURE:
        (void)gbx_json_append_number(to, *(const double *)from);
        break;
    }
}

bool gbx_recording_line_write(gbx_buf *to, const char *what,
                              const gbx_recording_field *fields, size_t count,
                              const void *from)
{
    static const uint8_t zeros[GBX_SHA256_SIZE];

    (void)gbx_buf_printf(to, "{\"" GBX_LINE_WHAT "\":\"%s\"", what);
    for (size_t i = 0; i < count; i++) {
        const gbx_recording_field *f = &fields[i];
        const void *at = (const uint8_t *)from + f->offset;
        bool is_empty = f->kind == GBX_FIELD_TEXT ? ((const gbx_span *)at)->len == 0
                                                  : f->kind != GBX_FIELD_FIGURE &&
                                                        memcmp(at, zeros, f->size) == 0;

        if (!f->required && is_empty)
            continue;
        (void)gbx_buf_printf(to, ",\"%s\":", f->name);
        put(to, f, at);
    }
    return gbx_buf_puts(to, "}\n");
}

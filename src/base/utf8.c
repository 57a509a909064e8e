/* SPDX-License-Identifier: MIT */
/* utf8 - see utf8.h. Only gbx_utf8_sequence() decides what is valid. */
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* ASCII is checked a word at a time: its bytes have no high bit. */
typedef uint64_t word;
#define HIGH_BITS UINT64_C(0x8080808080808080)

static bool is_tail(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

static bool starts_with_ascii(const uint8_t *data, size_t len)
{
    word first;

    if (len < sizeof first)
        return false;
    memcpy(&first, data, sizeof first);
    return (first & HIGH_BITS) == 0;
}

/* True if the first eight bytes are ASCII without controls. */
static bool starts_with_printable(const uint8_t *data, size_t len)
{
    word first;

    if (!starts_with_ascii(data, len))
        return false;
    memcpy(&first, data, sizeof first);
    return ((first + UINT64_C(0x6060606060606060)) & HIGH_BITS) == HIGH_BITS &&
           ((first + UINT64_C(0x0101010101010101)) & HIGH_BITS) == 0;
}

static bool append_point(gbx_buf *buf, uint32_t c)
{
    uint8_t out[4];
    size_t n = gbx_utf8_encode(c, out);

    return gbx_buf_append(buf, out, n);
}

/* Characters that move the cursor, reorder text or end a line in some program, and
 * invisible ones: Unicode's Default_Ignorable_Code_Point except the variation selectors
 * that is_shown() judges, annotation and hieroglyph controls, and the Braille blank. */
static bool is_steering(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0xAD, 0xAD},       {0x34F, 0x34F},     {0x61C, 0x61C},
                  {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},
                  {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
                  {0x2800, 0x2800},   {0x3164, 0x3164},   {0xFE00, 0xFE0D},
                  {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
                  {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
                  {0xE0000, 0xE0FFF}};

    if (c < ranges[0].first)
        return c < 0x20 || (c >= 0x7F && c < 0xA0);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0] && c >= ranges[i].first;
         i++)
        if (c <= ranges[i].last)
            return true;
    return false;
}

/* Which invisible characters are kept after a character. */
typedef enum bearer {
    BEARS_NOTHING,
    BEARS_SHAPE, /* keycaps: "1", U+FE0F, U+20E3 */
    BEARS_JOINER,
    BEARS_BOTH,
} bearer;

static bearer bearer_of(uint32_t c)
{
    if (c == '#' || c == '*' || (c >= '0' && c <= '9'))
        return BEARS_SHAPE;
    return c >= 0xA9 ? BEARS_BOTH : BEARS_NOTHING;
}

/* True if the character of n bytes at d[i] is not escaped. *before is updated. */
static bool is_shown(const uint8_t *d, size_t len, size_t i, size_t n, gbx_escape how,
                     bearer *before)
{
    uint32_t c = gbx_utf8_decode(d + i, n);
    bearer b = *before;

    *before = BEARS_NOTHING;
    if ((how & GBX_ESCAPE_TEXT) != 0 &&
        (c == '\n' || c == '\t' || (c == '\r' && i + 1 < len && d[i + 1] == '\n')))
        return true;
    /* Variation selectors: show the character before as text or as an emoji. Invisible
     * themselves. */
    if (c == 0xFE0E || c == 0xFE0F) {
        *before = BEARS_JOINER;
        return (how & GBX_ESCAPE_ALL) == 0 && (b == BEARS_SHAPE || b == BEARS_BOTH);
    }
    if (c == 0x200C ||
        c == 0x200D) /* joiners: Persian and Indic text and emoji need them */
        return (how & GBX_ESCAPE_ALL) == 0 && (b == BEARS_JOINER || b == BEARS_BOTH);
    *before = bearer_of(c);
    return !is_steering(c);
}

static bool append_escape(gbx_buf *buf, uint32_t c, gbx_escape how)
{
    if ((how & GBX_ESCAPE_JSON) != GBX_ESCAPE_JSON)
        return c == '\n' ? gbx_buf_puts(buf, "\\n")
                         : gbx_buf_printf(buf, "\\u{%x}", (unsigned)c);
    if (c == '\r') /* in JSON it can only be white space */
        return gbx_buf_puts(buf, " ");
    if (c < 0x10000)
        return gbx_buf_printf(buf, "\\u%04x", (unsigned)c);
    return gbx_buf_printf(buf, "\\u%04x\\u%04x",
                          (unsigned)(0xD800 + ((c - 0x10000) >> 10)),
                          (unsigned)(0xDC00 + (c & 0x3FF)));
}

size_t gbx_utf8_sequence(const uint8_t *d, size_t len)
{
    if (len == 0)
        return 0;
    if (d[0] < 0x80)
        return 1;
    if (d[0] >= 0xC2 && d[0] <= 0xDF)
        return len >= 2 && is_tail(d[1]) ? 2 : 0;
    if (d[0] >= 0xE0 && d[0] <= 0xEF) {
        if (len < 3 || !is_tail(d[1]) || !is_tail(d[2]))
            return 0;
        if ((d[0] == 0xE0 && d[1] < 0xA0) || (d[0] == 0xED && d[1] > 0x9F))
            return 0;
        return 3;
    }
    if (d[0] >= 0xF0 && d[0] <= 0xF4) {
        if (len < 4 || !is_tail(d[1]) || !is_tail(d[2]) || !is_tail(d[3]))
            return 0;
        if ((d[0] == 0xF0 && d[1] < 0x90) || (d[0] == 0xF4 && d[1] > 0x8F))
            return 0;
        return 4;
    }
    return 0;
}

uint32_t gbx_utf8_decode(const uint8_t *data, size_t n)
{
    switch (n) {
    case 2: return (uint32_t)(data[0] & 0x1F) << 6 | (data[1] & 0x3F);
    case 3:
        return (uint32_t)(data[0] & 0x0F) << 12 | (uint32_t)(data[1] & 0x3F) << 6 |
               (data[2] & 0x3F);
    case 4:
        return (uint32_t)(data[0] & 0x07) << 18 | (uint32_t)(data[1] & 0x3F) << 12 |
               (uint32_t)(data[2] & 0x3F) << 6 | (data[3] & 0x3F);
    default: return data[0];
    }
}

size_t gbx_utf8_encode(uint32_t point, uint8_t ret[4])
{
    if (point < 0x80) {
        ret[0] = (uint8_t)point;
        return 1;
    }
    if (point < 0x800) {
        ret[0] = (uint8_t)(0xC0 | point >> 6);
        ret[1] = (uint8_t)(0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        ret[0] = (uint8_t)(0xE0 | point >> 12);
        ret[1] = (uint8_t)(0x80 | (point >> 6 & 0x3F));
        ret[2] = (uint8_t)(0x80 | (point & 0x3F));
        return 3;
    }
    ret[0] = (uint8_t)(0xF0 | point >> 18);
    ret[1] = (uint8_t)(0x80 | (point >> 12 & 0x3F));
    ret[2] = (uint8_t)(0x80 | (point >> 6 & 0x3F));
    ret[3] = (uint8_t)(0x80 | (point & 0x3F));
    return 4;
}

bool gbx_utf8_valid(const uint8_t *data, size_t len, size_t *ret_bad)
{
    size_t i = 0;

    while (i < len) {
        size_t n;

        if (starts_with_ascii(data + i, len - i)) {
            i += sizeof(word);
            continue;
        }
        n = gbx_utf8_sequence(data + i, len - i);
        if (n == 0) {
            if (ret_bad != NULL)
                *ret_bad = i;
            return false;
        }
        i += n;
    }
    return true;
}

bool gbx_utf8_append_utf16(gbx_buf *buf, const uint16_t *units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t c = units[i];

        if (c >= 0xD800 && c <= 0xDBFF && i + 1 < count && units[i + 1] >= 0xDC00 &&
            units[i + 1] <= 0xDFFF) {
            c = 0x10000 + ((c - 0xD800) << 10) + (units[i + 1] - 0xDC00u);
            i++;
        } else if (c >= 0xD800 && c <= 0xDFFF) {
            c = 0xFFFD;
        }
        if (!append_point(buf, c))
            return false;
    }
    return true;
}

size_t gbx_utf8_cut(const void *text, size_t len, size_t max)
{
    const uint8_t *d = text;

    if (len <= max)
        return len;
    for (int back = 0; back < 3 && max > 0 && is_tail(d[max]); back++)
        max--;
    return max;
}

bool gbx_utf8_append_lossy(gbx_buf *buf, const void *data, size_t len)
{
    const uint8_t *d = data;
    size_t bad;

    while (!gbx_utf8_valid(d, len, &bad)) {
        if (!gbx_buf_append(buf, d, bad) || !append_point(buf, 0xFFFD))
            return false;
        d += bad + 1;
        len -= bad + 1;
    }
    return gbx_buf_append(buf, d, len);
}

bool gbx_utf8_append_ends(gbx_buf *buf, const void *data, size_t len, size_t max)
{
    const uint8_t *d = data;
    size_t head = gbx_utf8_cut(data, len, max / 2);
    size_t tail;

    if (len <= max)
        return gbx_utf8_append_lossy(buf, data, len);
    tail = len - (max - max / 2);
    while (tail < len && is_tail(d[tail]))
        tail++;
    return gbx_utf8_append_lossy(buf, d, head) &&
           gbx_buf_printf(buf, " [... %zu bytes ...] ", tail - head) &&
           gbx_utf8_append_lossy(buf, d + tail, len - tail);
}

size_t gbx_utf8_unescaped(const void *data, size_t len, gbx_escape how)
{
    const uint8_t *d = data;
    bearer before = BEARS_NOTHING;
    size_t i = 0;

    while (i < len) {
        size_t n;

        if (starts_with_printable(d + i, len - i)) {
            i += sizeof(word);
            before = bearer_of(d[i - 1]);
            continue;
        }
        n = gbx_utf8_sequence(d + i, len - i);
        if (n == 0 || !is_shown(d, len, i, n, how, &before))
            break;
        i += n;
    }
    return i;
}

bool gbx_utf8_append_escaped(gbx_buf *buf, const void *data, size_t len, gbx_escape how)
{
    const uint8_t *d = data;

    for (;;) {
        size_t plain = gbx_utf8_unescaped(d, len, how);
        size_t room = buf->ceiling - buf->len;
        size_t fitting = plain <= room ? plain : gbx_utf8_cut(d, plain, room);
        size_t n;

        if (!gbx_buf_append(buf, d, fitting))
            return false;
        if (fitting < plain) {
            buf->failed = true;
            return false;
        }
        if (plain == len)
            return true;
        n = gbx_utf8_sequence(d + plain, len - plain);
        if (n == 0 ? !append_point(buf, 0xFFFD)
                   : !append_escape(buf, gbx_utf8_decode(d + plain, n), how))
            return false;
        d += plain + (n == 0 ? 1 : n);
        len -= plain + (n == 0 ? 1 : n);
    }
}

bool gbx_utf8_escape(gbx_buf *buf, size_t from, gbx_escape how)
{
    size_t plain;
    size_t len;
    uint8_t *rest;
    bool ok;

    if (buf->len == from)
        return !buf->failed;
    plain = gbx_utf8_unescaped(buf->data + from, buf->len - from, how);
    len = buf->len - from - plain;
    if (len == 0)
        return !buf->failed;
    rest = malloc(len);
    if (rest == NULL) {
        buf->failed = true;
        return false;
    }
    memcpy(rest, buf->data + from + plain, len);
    buf->len = from + plain;
    ok = gbx_utf8_append_escaped(buf, rest, len, how);
    free(rest);
    return ok;
}

void gbx_utf8_copy_line(char *to, size_t size, const void *data, size_t len)
{
    gbx_buf buf = {.data = (uint8_t *)to, .capacity = size - 1, .ceiling = size - 1};

    (void)gbx_utf8_append_escaped(&buf, data, len, GBX_ESCAPE_LINE);
    to[buf.len] = 0;
}

/* ---- lines and columns ------------------------------------------------------- */

void gbx_utf8_position(const char *text, size_t len, size_t offset, uint32_t *ret_line,
                       uint32_t *ret_column)
{
    uint32_t line = 1;
    uint32_t column = 1;

    for (size_t i = 0; i < offset && i < len; i++) {
        if (text[i] == '\n') {
            line++;
            column = 1;
        } else if (!is_tail((uint8_t)text[i])) {
            column++;
        }
    }
    *ret_line = line;
    *ret_column = column;
}

size_t gbx_lines_end(const char *text, size_t len)
{
    const uint8_t *d = (const uint8_t *)text;

    if (d[0] == '\n')
        return 1;
    if (d[0] == '\r')
        return len > 1 && d[1] == '\n' ? 2 : 1;
    return len > 2 && d[0] == 0xE2 && d[1] == 0x80 && (d[2] | 1) == 0xA9 ? 3 : 0;
}

/* The offset of the end of the line that contains offset `at`, or len. */
static size_t end_of(const char *text, size_t len, size_t at)
{
    while (at < len && gbx_lines_end(text + at, len - at) == 0)
        at++;
    return at;
}

bool gbx_lines_find(const char *text, size_t len, uint32_t line, size_t *ret_start,
                    size_t *ret_end)
{
    size_t start = 0;
    size_t end = end_of(text, len, 0);

    for (uint32_t n = 1; n < line; n++) {
        if (end == len) {
            *ret_start = *ret_end = len;
            return false;
        }
        start = end + gbx_lines_end(text + end, len - end);
        end = end_of(text, len, start);
    }
    *ret_start = start;
    *ret_end = end;
    return true;
}

void gbx_lines_position(const char *text, size_t len, size_t offset, uint32_t *ret_line,
                        uint32_t *ret_column)
{
    size_t stop = offset < len ? offset : len;
    uint32_t line = 1;
    uint32_t column = 1;

    for (size_t i = 0; i < stop;) {
        size_t n = gbx_lines_end(text + i, len - i);

        if (n > 0 && i + n <= stop) {
            line++;
            column = 1;
            i += n;
        } else {
            column += !is_tail((uint8_t)text[i]);
            i++;
        }
    }
    *ret_line = line;
    *ret_column = column;
}

size_t gbx_utf16_units(const char *text, size_t len)
{
    size_t units = 0;

    for (size_t i = 0; i < len; i++) {
        uint8_t byte = (uint8_t)text[i];

        units += (byte & 0xC0) != 0x80;
        units += byte >= 0xF0;
    }
    return units;
}

uint32_t gbx_lines_column(const char *text, size_t len, uint32_t line, uint32_t units)
{
    uint32_t column = 1;
    uint32_t unit = 1;
    size_t at;
    size_t end;

    (void)gbx_lines_find(text, len, line, &at, &end);
    while (at < end && unit < units) {
        size_t n = gbx_utf8_sequence((const uint8_t *)text + at, end - at);

        unit += n == 4 ? 2 : 1;
        column++;
        at += n == 0 ? 1 : n;
    }
    return units == 0 ? 0 : column + (units - unit);
}

void gbx_lines_place(const char *text, size_t len, size_t offset, uint32_t *ret_line,
                     uint32_t *ret_column)
{
    size_t start = 0;
    size_t end;

    gbx_lines_position(text, len, offset, ret_line, ret_column);
    (void)gbx_lines_find(text, len, *ret_line, &start, &end);
    *ret_column = (uint32_t)gbx_utf16_units(text + start, offset - start) + 1;
}

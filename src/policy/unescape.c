/* SPDX-License-Identifier: MIT */
/* unescape - undo the encodings that programs apply to text. Each decision needs at most
 * GBX_ESCAPE_MAX bytes. */
#include "policy/internal.h"

#include "base/base64.h"
#include "base/utf8.h"

#include <string.h>

/* ---- one escape ------------------------------------------------------------------ */

typedef struct unescaped {
    uint8_t bytes[4];
    uint8_t count;
    uint8_t taken; /* 0: more bytes are needed */
} unescaped;

static const unescaped need_more = {.taken = 0};

static unescaped as_itself(uint8_t byte)
{
    return (unescaped){.bytes = {byte}, .count = 1, .taken = 1};
}

static unescaped one_byte(uint8_t byte, uint8_t taken)
{
    return (unescaped){.bytes = {byte}, .count = 1, .taken = taken};
}

/* A lone surrogate becomes bytes that are not UTF-8. */
static unescaped point(uint32_t c, uint8_t taken)
{
    unescaped u = {.taken = taken};

    u.count = (uint8_t)gbx_utf8_encode(c, u.bytes);
    return u;
}

/* Read hexadecimal digits, up to max; returns their number. */
static size_t hex(const uint8_t *data, size_t len, size_t max, uint32_t *ret)
{
    size_t n = 0;

    *ret = 0;
    while (n < len && n < max && gbx_hex_digit(data[n]) >= 0)
        *ret = *ret << 4 | (uint32_t)gbx_hex_digit(data[n++]);
    return n;
}

/* \uXXXX, or two of them for one character. */
static unescaped utf16(const uint8_t *data, size_t len)
{
    uint32_t high;
    uint32_t low;
    size_t n = hex(data + 2, len - 2, 4, &high);

    if (n < 4)
        return n + 2 == len ? need_more : as_itself(data[0]);
    if ((high & 0xFC00) != 0xD800)
        return point(high, 6);
    if (len == 6 || (len == 7 && data[6] == '\\'))
        return need_more;
    if (data[6] != '\\' || data[7] != 'u')
        return point(high, 6);
    n = hex(data + 8, len - 8, 4, &low);
    if (n < 4)
        return n + 8 == len ? need_more : point(high, 6);
    if ((low & 0xFC00) != 0xDC00)
        return point(high, 6);
    return point(0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF)), 12);
}

static unescaped json(const uint8_t *data, size_t len)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    const char *letter;

    if (len == 1)
        return need_more;
    if (data[1] == 'u')
        return utf16(data, len);
    letter = data[1] != 0 ? strchr(letters, data[1]) : NULL;
    return letter != NULL ? one_byte((uint8_t)meant[letter - letters], 2)
                          : as_itself(data[0]);
}

/* data has at least one byte, which can begin an escape. If it is not an escape, the
 * byte stands for itself. */
static unescaped unescape(const uint8_t *data, size_t len)
{
    uint32_t value;
    size_t n;

    if (data[0] == '\\')
        return json(data, len);
    if (data[0] != '%')
        return (unescaped){.taken = 1}; /* a line end */
    n = hex(data + 1, len - 1, 2, &value);
    if (n == 2)
        return one_byte((uint8_t)value, 3);
    return n + 1 == len ? need_more : as_itself(data[0]);
}

/* ---- nested escapes ---------------------------------------------------------- */

static void take(gbx_unescaper *u, size_t depth, uint8_t byte, size_t start,
                 size_t end);

/* Pass decided bytes to the next level; at the end of the input all are decided. */
static void undo(gbx_unescaper *u, size_t depth, bool is_end)
{
    gbx_unescape_level *level = &u->levels[depth];

    while (level->count > 0) {
        unescaped one = as_itself(level->bytes[0]);
        size_t taken;

        if (gbx_unescape_begins(level->bytes[0])) {
            unescaped tried = unescape(level->bytes, level->count);

            if (tried.taken == 0 && !is_end)
                return;
            one = tried.taken > 0 ? tried : one;
        }
        taken = one.taken;
        for (size_t i = 0; i < one.count; i++)
            take(u, depth + 1, one.bytes[i], level->from[0], level->to[taken - 1]);
        level->count -= taken;
        u->waiting -= taken;
        memmove(level->bytes, level->bytes + taken, level->count);
        memmove(level->from, level->from + taken, level->count * sizeof level->from[0]);
        memmove(level->to, level->to + taken, level->count * sizeof level->to[0]);
    }
}

static void take(gbx_unescaper *u, size_t depth, uint8_t byte, size_t start, size_t end)
{
    gbx_unescape_level *level = &u->levels[depth];

    if (depth == GBX_UNESCAPE_DEEP) {
        u->emit(u->user, byte == ' ' ? '+' : byte, start, end);
    } else if (level->count == 0 && !gbx_unescape_begins(byte)) {
        take(u, depth + 1, byte, start, end);
    } else {
        level->bytes[level->count] = byte;
        level->from[level->count] = start;
        level->to[level->count++] = end;
        u->waiting++;
        undo(u, depth, false);
    }
}

void gbx_unescape_take(gbx_unescaper *u, uint8_t byte, size_t at)
{
    take(u, 0, byte, at, at + 1);
}

void gbx_unescape_end(gbx_unescaper *u)
{
    for (size_t depth = 0; depth < GBX_UNESCAPE_DEEP; depth++)
        undo(u, depth, true);
}

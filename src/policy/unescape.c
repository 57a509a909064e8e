/* SPDX-License-Identifier: MIT */
/* unescape - see unescape.h. Every answer is decided by at most GBX_ESCAPE_MAX bytes. */
#include "policy/unescape.h"

#include <string.h>

static const gbx_unescaped need_more = {.taken = 0};

static gbx_unescaped as_itself(uint8_t byte)
{
    return (gbx_unescaped){.bytes = {byte}, .count = 1, .taken = 1};
}

static gbx_unescaped one(uint8_t byte, uint8_t taken)
{
    return (gbx_unescaped){.bytes = {byte}, .count = 1, .taken = taken};
}

/* A surrogate alone becomes bytes that are in no value. */
static gbx_unescaped point(uint32_t c, uint8_t taken)
{
    gbx_unescaped u = {.taken = taken};

    if (c < 0x80) {
        u.bytes[u.count++] = (uint8_t)c;
        return u;
    }
    if (c < 0x800) {
        u.bytes[u.count++] = (uint8_t)(0xC0 | c >> 6);
    } else {
        if (c < 0x10000) {
            u.bytes[u.count++] = (uint8_t)(0xE0 | c >> 12);
        } else {
            u.bytes[u.count++] = (uint8_t)(0xF0 | (c >> 18 & 7));
            u.bytes[u.count++] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
        }
        u.bytes[u.count++] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    }
    u.bytes[u.count++] = (uint8_t)(0x80 | (c & 0x3F));
    return u;
}

static int digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* How many hexadecimal digits there are, up to max; their number. */
static size_t hex(const uint8_t *data, size_t len, size_t max, uint32_t *ret)
{
    size_t n = 0;

    *ret = 0;
    while (n < len && n < max && digit(data[n]) >= 0)
        *ret = *ret << 4 | (uint32_t)digit(data[n++]);
    return n;
}

/* \uXXXX, or two of them for one character. */
static gbx_unescaped utf16(const uint8_t *data, size_t len)
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

/* \u{X}, as in JavaScript. */
static gbx_unescaped braced(const uint8_t *data, size_t len)
{
    uint32_t value;
    size_t n = hex(data + 3, len - 3, 6, &value);

    if (n + 3 == len)
        return need_more;
    if (n == 0 || data[n + 3] != '}' || value > 0x10FFFF)
        return as_itself(data[0]);
    return point(value, (uint8_t)(n + 4));
}

static gbx_unescaped json(const uint8_t *data, size_t len)
{
    static const char letters[] = "\"\\/'bfnrt";
    static const char meant[] = "\"\\/'\b\f\n\r\t";
    const char *letter;
    uint32_t value;
    size_t n;

    if (len == 1)
        return need_more;
    if (data[1] == 'u' && len > 2 && data[2] == '{')
        return braced(data, len);
    if (data[1] == 'u')
        return utf16(data, len);
    if (data[1] == 'x') {
        n = hex(data + 2, len - 2, 2, &value);
        if (n == 2)
            return one((uint8_t)value, 4);
        return n + 2 == len ? need_more : as_itself(data[0]);
    }
    letter = data[1] != 0 ? strchr(letters, data[1]) : NULL;
    return letter != NULL ? one((uint8_t)meant[letter - letters], 2)
                          : as_itself(data[0]);
}

static gbx_unescaped percent(const uint8_t *data, size_t len)
{
    uint32_t value;
    size_t n = hex(data + 1, len - 1, 2, &value);

    if (n == 2)
        return one((uint8_t)value, 3);
    return n + 1 == len ? need_more : as_itself(data[0]);
}

/* &#65; or &#x41;: *at is behind the '#'. */
static gbx_unescaped html_number(const uint8_t *data, size_t len)
{
    size_t at = 2;
    uint32_t value = 0;
    bool is_hex = len > 2 && (data[2] | 0x20) == 'x';

    if (is_hex)
        at++;
    for (; at < len && at + 1 < GBX_ESCAPE_MAX; at++) {
        int d = digit(data[at]);

        if (d < 0 || (!is_hex && d > 9))
            break;
        value = value * (is_hex ? 16 : 10) + (uint32_t)d;
    }
    if (at == len)
        return need_more;
    if (data[at] != ';' || digit(data[at - 1]) < 0 || value > 0x10FFFF)
        return as_itself(data[0]);
    return point(value, (uint8_t)(at + 1));
}

static gbx_unescaped html(const uint8_t *data, size_t len)
{
    static const struct {
        const char *text;
        char meant;
    } names[] = {
        {"&amp;", '&'},    {"&lt;", '<'},     {"&gt;", '>'},     {"&quot;", '"'},
        {"&apos;", '\''},  {"&sol;", '/'},    {"&plus;", '+'},   {"&equals;", '='},
        {"&excl;", '!'},   {"&num;", '#'},    {"&dollar;", '$'}, {"&percnt;", '%'},
        {"&lpar;", '('},   {"&rpar;", ')'},   {"&ast;", '*'},    {"&comma;", ','},
        {"&period;", '.'}, {"&colon;", ':'},  {"&semi;", ';'},   {"&quest;", '?'},
        {"&commat;", '@'}, {"&lsqb;", '['},   {"&lbrack;", '['}, {"&bsol;", '\\'},
        {"&rsqb;", ']'},   {"&rbrack;", ']'}, {"&Hat;", '^'},    {"&lowbar;", '_'},
        {"&grave;", '`'},  {"&lcub;", '{'},   {"&lbrace;", '{'}, {"&vert;", '|'},
        {"&verbar;", '|'}, {"&rcub;", '}'},   {"&rbrace;", '}'},
    };

    if (len == 1)
        return need_more;
    if (data[1] == '#')
        return html_number(data, len);
    if ((data[1] | 0x20) < 'a' || (data[1] | 0x20) > 'z')
        return as_itself(data[0]); /* no name begins so */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t name_len = strlen(names[i].text);

        if (memcmp(data, names[i].text, len < name_len ? len : name_len) == 0)
            return len < name_len ? need_more
                                  : one((uint8_t)names[i].meant, (uint8_t)name_len);
    }
    return as_itself(data[0]);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_unescape_begins(gbx_escaping how, uint8_t byte)
{
    switch (how) {
    case GBX_ESCAPING_JSON: return byte == '\\';
    case GBX_ESCAPING_PERCENT: return byte == '%';
    case GBX_ESCAPING_FORM: return byte == '%' || byte == '+';
    case GBX_ESCAPING_HTML: return byte == '&';
    case GBX_ESCAPING_LINES: return byte == '\n' || byte == '\r';
    case GBX_ESCAPING_NONE:
    default: return false;
    }
}

gbx_unescaped gbx_unescape(gbx_escaping how, const uint8_t *data, size_t len)
{
    switch (how) {
    case GBX_ESCAPING_JSON: return json(data, len);
    case GBX_ESCAPING_PERCENT: return percent(data, len);
    case GBX_ESCAPING_FORM: return data[0] == '+' ? one(' ', 1) : percent(data, len);
    case GBX_ESCAPING_HTML: return html(data, len);
    case GBX_ESCAPING_LINES: return (gbx_unescaped){.taken = 1};
    case GBX_ESCAPING_NONE:
    default: return as_itself(data[0]);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * json - see json.h. The checker is a loop over tokens with a stack of one byte a level
 * (object or array). It must not recurse: its input is hostile.
 */
#include "base/json.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word of eight bytes b. */
#define EACH(b) (UINT64_C(0x0101010101010101) * (b))

typedef struct checker {
    const uint8_t *at;
    const uint8_t *end;
    const char *message;
    bool is_strict; /* see gbx_json_check_strict() */
} checker;

static bool refuse(checker *c, const char *message)
{
    c->message = message;
    return false;
}

/* In a strict check white space is not skipped: it then fails as a token. */
static void skip_space(checker *c)
{
    while (!c->is_strict && c->at < c->end && gbx_json_is_space((char)*c->at))
        c->at++;
}

static bool escape(checker *c)
{
    c->at++;
    if (c->at == c->end)
        return refuse(c, "unterminated string");
    if (*c->at == 'u') {
        for (int i = 0; i < 4; i++) {
            c->at++;
            if (c->at == c->end || gbx_hex_digit(*c->at) < 0)
                return refuse(c, "expected four hexadecimal digits after '\\u'");
        }
    } else if (memchr("n\"\\/trbf", *c->at, 8) == NULL) {
        return refuse(c, "unknown escape in a string");
    }
    c->at++;
    return true;
}

/* Set the top bit of each zero byte, and perhaps of some bytes above the first. */
static uint64_t zero_bytes(uint64_t eight)
{
    return (eight - EACH(0x01)) & ~eight & EACH(0x80);
}

/* True if all eight are ASCII characters that need no escape in a JSON string. */
static inline bool are_plain(uint64_t eight)
{
    return ((eight | (eight - EACH(0x20))) & EACH(0x80)) == 0 &&
           zero_bytes(eight ^ EACH('"')) == 0 && zero_bytes(eight ^ EACH('\\')) == 0;
}

/* Skip characters that need no escape, eight at a time, since texts are long. */
static void skip_plain(checker *c)
{
    uint64_t eight;

    for (; c->end - c->at >= 8; c->at += 8) {
        memcpy(&eight, c->at, sizeof eight);
        if (!are_plain(eight))
            break;
    }
    while (c->at < c->end && *c->at >= 0x20 && *c->at < 0x80 && *c->at != '"' &&
           *c->at != '\\')
        c->at++;
}

static bool string(checker *c)
{
    c->at++;
    for (;;) {
        skip_plain(c);
        if (c->at == c->end)
            return refuse(c, "unterminated string");
        if (*c->at == '"') {
            c->at++;
            return true;
        }
        if (*c->at == '\\') {
            if (!escape(c))
                return false;
        } else if (*c->at < 0x20) {
            return refuse(c, "control character in a string: escape it");
        } else {
            do {
                size_t n = gbx_utf8_sequence(c->at, (size_t)(c->end - c->at));

                if (n == 0)
                    return refuse(c, "invalid UTF-8");
                c->at += n;
            } while (c->at < c->end && *c->at >= 0x80);
        }
    }
}

/* The number after an 'e', clamped to a bound. */
static int64_t exponent(const uint8_t *at, const uint8_t *end)
{
    bool is_negative = *at == '-';
    int64_t value = 0;

    for (at += *at == '-' || *at == '+'; at < end; at++)
        if (value < INT64_C(1000000000000000))
            value = value * 10 + (*at - '0');
    return is_negative ? -value : value;
}

/* True if the number rounds to infinity. strtod() gets only the first 309 digits, which
 * decide, and no decimal point, which depends on the locale. */
static bool is_infinite(const uint8_t *at, const uint8_t *end)
{
    char digits[DBL_MAX_10_EXP + 1 + sizeof "e-309"];
    int64_t count = 0;
    int64_t scale = 0; /* in powers of ten */
    bool in_fraction = false;

    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        in_fraction = in_fraction || *at == '.';
        if (*at < '0') /* a sign or the point */
            continue;
        scale += count > DBL_MAX_10_EXP ? !in_fraction : -in_fraction;
        if (count <= DBL_MAX_10_EXP && (count > 0 || *at != '0'))
            digits[count++] = (char)*at;
    }
    scale += at < end ? exponent(at + 1, end) : 0;
    if (count == 0 || count + scale != DBL_MAX_10_EXP + 1)
        return count > 0 && count + scale > DBL_MAX_10_EXP + 1;
    (void)snprintf(digits + count, sizeof "e-309", "e%d", (int)scale);
    return isinf(strtod(digits, NULL));
}

static bool digits(checker *c)
{
    if (c->at == c->end || *c->at < '0' || *c->at > '9')
        return refuse(c, "expected a digit");
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return true;
}

static bool number(checker *c)
{
    const uint8_t *start = c->at;
    bool has_exponent;

    if (*c->at == '-')
        c->at++;
    if (c->at < c->end && *c->at == '0')
        c->at++;
    else if (!digits(c))
        return false;
    if (c->at < c->end && *c->at == '.') {
        c->at++;
        if (!digits(c))
            return false;
    }
    has_exponent = c->at < c->end && (*c->at == 'e' || *c->at == 'E');
    if (has_exponent) {
        c->at++;
        if (c->at < c->end && (*c->at == '+' || *c->at == '-'))
            c->at++;
        if (!digits(c))
            return false;
    }
    if (c->is_strict && (has_exponent || c->at - start > DBL_MAX_10_EXP) &&
        is_infinite(start, c->at))
        return refuse(c, "number beyond the range of a double");
    return true;
}

static bool word(checker *c, const char *text)
{
    size_t n = strlen(text);

    if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n) != 0)
        return refuse(c, "expected a JSON value");
    c->at += n;
    return true;
}

static bool scalar(checker *c)
{
    switch (*c->at) {
    case '"': return string(c);
    case 't': return word(c, "true");
    case 'f': return word(c, "false");
    case 'n': return word(c, "null");
    default:
        if (*c->at == '-' || (*c->at >= '0' && *c->at <= '9'))
            return number(c);
        return refuse(c, "expected a JSON value");
    }
}

/* The `"name":` of an object member. */
static bool member(checker *c)
{
    skip_space(c);
    if (c->at == c->end || *c->at != '"')
        return refuse(c, "expected a property name in double quotes");
    if (!string(c))
        return false;
    skip_space(c);
    if (c->at == c->end || *c->at != ':')
        return refuse(c, "expected ':'");
    c->at++;
    return true;
}

/* After a value: close what ends here. *more is true if another value must follow. */
static bool after_value(checker *c, const uint8_t *is_object, size_t *depth, bool *more)
{
    *more = false;
    while (*depth > 0) {
        bool object = is_object[*depth - 1];

        skip_space(c);
        if (c->at == c->end)
            return refuse(c, object ? "expected ',' or '}'" : "expected ',' or ']'");
        if (*c->at == ',') {
            c->at++;
            *more = true;
            return object ? member(c) : true;
        }
        if (*c->at != (object ? '}' : ']'))
            return refuse(c, object ? "expected ',' or '}'" : "expected ',' or ']'");
        c->at++;
        (*depth)--;
    }
    return true;
}

static bool values(checker *c, size_t max_depth)
{
    uint8_t is_object[GBX_JSON_DEPTH_MAX];
    size_t depth = 0;
    bool more = true;

    while (more) {
        skip_space(c);
        if (c->at == c->end)
            return refuse(c, "expected a JSON value, found the end");
        if (*c->at == '{' || *c->at == '[') {
            bool object = *c->at == '{';

            if (depth == max_depth)
                return refuse(c, "nested too deep");
            c->at++;
            skip_space(c);
            if (c->at < c->end && *c->at == (object ? '}' : ']')) {
                c->at++;
            } else {
                is_object[depth++] = object;
                if (object && !member(c))
                    return false;
                continue;
            }
        } else if (!scalar(c)) {
            return false;
        }
        if (!after_value(c, is_object, &depth, &more))
            return false;
    }
    skip_space(c);
    return c->at == c->end || refuse(c, "unexpected text after the JSON value");
}

static bool check(const char *text, size_t len, size_t max_depth, bool is_strict,
                  gbx_json_fault *ret_fault)
{
    checker c = {.at = (const uint8_t *)text, .is_strict = is_strict};

    c.end = len > 0 ? c.at + len : c.at; /* an empty text may be NULL */
    if (values(&c, max_depth < GBX_JSON_DEPTH_MAX ? max_depth : GBX_JSON_DEPTH_MAX))
        return true;
    if (ret_fault != NULL) {
        ret_fault->offset = (size_t)(c.at - (const uint8_t *)text);
        ret_fault->message = c.message;
        gbx_utf8_position(text, len, ret_fault->offset, &ret_fault->line,
                          &ret_fault->column);
    }
    return false;
}

/* ---- writing ------------------------------------------------------------ */

/* The number of leading bytes that are written without an escape. */
static size_t plain_run(const uint8_t *d, size_t len)
{
    size_t i = 0;

    while (i < len) {
        uint64_t eight = 0;
        size_t n;

        if (len - i >= sizeof eight)
            memcpy(&eight, d + i, sizeof eight); /* else NULs, which are not plain */
        if (are_plain(eight) && zero_bytes(eight ^ EACH(0x7F)) == 0) {
            i += sizeof eight;
            continue;
        }
        if (d[i] < 0x20 || d[i] == '"' || d[i] == '\\' || d[i] == 0x7F)
            break;
        do {
            n = gbx_utf8_sequence(d + i, len - i);
            i += n;
        } while (n > 0 && i < len && d[i] >= 0x80);
        if (n == 0)
            break;
    }
    return i;
}

/* Append a byte that needs an escape, or U+FFFD for one that is not UTF-8. */
static void append_special(gbx_buf *buf, uint8_t byte)
{
    static const char hex[] = "0123456789abcdef";
    const char *escape =
        (const char[]){'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};

    if (byte == '"' || byte == '\\')
        (void)gbx_buf_append(buf, (const uint8_t[]){'\\', byte}, 2);
    else if (byte == '\n')
        (void)gbx_buf_append(buf, "\\n", 2);
    else if (byte < 0x80)
        (void)gbx_buf_append(buf, escape, 6);
    else
        (void)gbx_buf_append(buf, "\xEF\xBF\xBD", 3);
}

bool gbx_json_check(const char *text, size_t len, size_t max_depth,
                    gbx_json_fault *ret_fault)
{
    return check(text, len, max_depth, false, ret_fault);
}

bool gbx_json_check_strict(const char *text, size_t len, size_t max_depth,
                           gbx_json_fault *ret_fault)
{
    return check(text, len, max_depth, true, ret_fault);
}

bool gbx_decimal_read(const char *text, size_t len, uint64_t most, uint64_t *ret)
{
    uint64_t value = 0;

    if (len == 0 || (len > 1 && *text == '0'))
        return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] < '0' || text[i] > '9' ||
            __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    if (value > most)
        return false;
    *ret = value;
    return true;
}

bool gbx_json_append_compact(gbx_buf *buf, const char *text, size_t len)
{
    size_t done = 0; /* all before it is written or left out */
    bool in_text = false;

    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            in_text = !in_text;
        else if (in_text)
            i += text[i] == '\\';
        else if (gbx_json_is_space(text[i])) {
            (void)gbx_buf_append(buf, text + done, i - done);
            done = i + 1;
        }
    }
    return gbx_buf_append(buf, done < len ? text + done : NULL, len - done);
}

bool gbx_json_append_string(gbx_buf *buf, const void *text, size_t len)
{
    const uint8_t *d = text;

    (void)gbx_buf_puts(buf, "\"");
    for (size_t i = 0; i < len && !buf->failed;) {
        size_t run = plain_run(d + i, len - i);

        (void)gbx_buf_append(buf, d + i, run);
        i += run;
        if (i < len)
            append_special(buf, d[i++]);
    }
    return gbx_buf_puts(buf, "\"");
}

bool gbx_json_append_safe(gbx_buf *buf, const void *text, size_t len)
{
    size_t before = buf->len;

    return gbx_json_append_string(buf, text, len) &&
           gbx_utf8_escape(buf, before, GBX_ESCAPE_JSON | GBX_ESCAPE_ALL);
}

bool gbx_json_append_shown(gbx_buf *buf, const void *text, size_t len)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf shown = {.ceiling = SIZE_MAX};
    gbx_escape how = GBX_ESCAPE_TEXT;

    if (gbx_utf8_unescaped(text, len, how) == len)
        return gbx_json_append_string(buf, text, len);
    if (gbx_json_check(text, len, GBX_JSON_DEPTH_MAX, NULL))
        how = GBX_ESCAPE_JSON;
    if (gbx_utf8_append_escaped(&shown, text, len, how))
        return gbx_json_append_string(buf, shown.data, shown.len);
    buf->failed = true;
    return false;
}

/* printf's radix character depends on the embedder's locale, so only whole numbers go
 * through it. */
bool gbx_json_append_number(gbx_buf *buf, double value)
{
    double whole;
    unsigned rest; /* thousandths */

    if (!isfinite(value))
        return gbx_buf_puts(buf, "null");
    rest = (unsigned)lround(modf(fabs(value), &whole) * 1000);
    if (rest == 1000) {
        rest = 0;
        whole += 1;
    }
    (void)gbx_buf_printf(buf, "%s%.0f", value < 0 && whole + rest > 0 ? "-" : "",
                         whole);
    if (rest == 0)
        return !buf->failed;
    if (rest % 100 == 0)
        return gbx_buf_printf(buf, ".%u", rest / 100);
    if (rest % 10 == 0)
        return gbx_buf_printf(buf, ".%02u", rest / 10);
    return gbx_buf_printf(buf, ".%03u", rest);
}

void gbx_json_put_key(gbx_buf *to, const char *key)
{
    if (to->len > 0 && strchr("{[", to->data[to->len - 1]) == NULL)
        (void)gbx_buf_puts(to, ",");
    if (key != NULL)
        (void)gbx_buf_printf(to, "\"%s\":", key);
}

void gbx_json_put_open(gbx_buf *to, const char *key, char bracket)
{
    gbx_json_put_key(to, key);
    (void)gbx_buf_append(to, &bracket, 1);
}

void gbx_json_put_text(gbx_buf *to, const char *key, const char *text)
{
    if (text == NULL)
        return;
    gbx_json_put_key(to, key);
    (void)gbx_json_append_string(to, text, strlen(text));
}

void gbx_json_put_shown(gbx_buf *to, const char *key, const char *text, size_t len)
{
    if (text == NULL)
        return;
    gbx_json_put_key(to, key);
    (void)gbx_json_append_shown(to, text, len);
}

void gbx_json_put_integer(gbx_buf *to, const char *key, int64_t number)
{
    gbx_json_put_key(to, key);
    (void)gbx_buf_printf(to, "%" PRId64, number);
}

void gbx_json_put_number(gbx_buf *to, const char *key, double number)
{
    gbx_json_put_key(to, key);
    (void)gbx_json_append_number(to, number);
}

void gbx_json_put_bool(gbx_buf *to, const char *key, bool value)
{
    gbx_json_put_key(to, key);
    (void)gbx_buf_puts(to, value ? "true" : "false");
}

bool gbx_json_from_lines(const char *text, size_t len, gbx_buf *buf,
                         gbx_json_fault *ret_fault)
{
    const char *separator = "[";
    uint32_t line = 1;

    for (size_t start = 0; start < len; line++) {
        const char *newline = memchr(text + start, '\n', len - start);
        size_t end = newline != NULL ? (size_t)(newline - text) : len;
        size_t at = start;

        while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r'))
            at++;
        if (at < end) {
            if (!gbx_json_check(text + start, end - start, GBX_JSON_DEPTH_MAX - 1,
                                ret_fault)) {
                ret_fault->line = line;
                ret_fault->offset += start;
                return false;
            }
            (void)gbx_buf_puts(buf, separator);
            (void)gbx_buf_append(buf, text + start, end - start);
            separator = ",";
        }
        start = end + 1;
    }
    if (*separator == '[')
        (void)gbx_buf_puts(buf, "[");
    ret_fault->message = NULL;
    return gbx_buf_puts(buf, "]");
}

bool gbx_json_has_digits(const char *text, size_t len)
{
    enum { DIGITS = 16 };

    /* Only every 16th character is examined, unless it is a digit. */
    for (size_t i = DIGITS - 1; i < len; i += DIGITS) {
        size_t first = i;
        size_t end = i;

        while (first > 0 && i - first < DIGITS && text[first - 1] >= '0' &&
               text[first - 1] <= '9')
            first--;
        while (end < len && end - first < DIGITS && text[end] >= '0' &&
               text[end] <= '9')
            end++;
        if (end - first == DIGITS && end > i)
            return true;
    }
    return false;
}

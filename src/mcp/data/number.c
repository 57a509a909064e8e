/* SPDX-License-Identifier: MIT */
/* number - see datasets.h. Assumes the C locale: the command sets no other. */
#include "mcp/data/datasets.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DIGITS_MAX digits identify every double; the first DIGITS_KEPT always survive. */
#define DIGITS_MAX  17
#define DIGITS_KEPT 15

/* Beyond it doubles may be less precise, or do not exist. */
#define POWER_KEPT 290

/* Larger exponents are not read on: the value is an infinity or zero. */
#define EXPONENT_MAX 99999

/* 0.DIGITS * 10^power, without leading or trailing zeros; no digits: zero. */
typedef struct decimal {
    char digits[DIGITS_MAX + 1]; /* ends in NUL */
    size_t count;
    long power;
    bool is_longer; /* more than DIGITS_MAX */
} decimal;

static void add_digit(decimal *d, char c, size_t *zeros)
{
    if (c == '0') {
        ++*zeros; /* counts only if another digit follows */
        return;
    }
    d->is_longer |= d->count + *zeros >= DIGITS_MAX;
    if (d->is_longer)
        return;
    memset(d->digits + d->count, '0', *zeros);
    d->count += *zeros;
    d->digits[d->count++] = c;
    *zeros = 0;
}

static long take_exponent(const char *text, size_t len)
{
    bool is_minus = len > 0 && text[0] == '-';
    long exponent = 0;

    for (size_t i = len > 0 && (is_minus || text[0] == '+') ? 1 : 0; i < len; i++)
        if (exponent < EXPONENT_MAX)
            exponent = exponent * 10 + (text[i] - '0');
    return is_minus ? -exponent : exponent;
}

static decimal take(const char *text, size_t len)
{
    decimal d = {.count = 0};
    bool has_point = false;
    size_t zeros = 0;

    for (size_t i = text[0] == '-' ? 1 : 0; i < len; i++) {
        bool is_leading = d.count == 0 && text[i] == '0';

        if (text[i] == 'e' || text[i] == 'E') {
            d.power += take_exponent(text + i + 1, len - i - 1);
            break;
        }
        if (text[i] == '.') {
            has_point = true;
            continue;
        }
        if (!is_leading)
            add_digit(&d, text[i], &zeros);
        if (is_leading ? has_point : !has_point)
            d.power += is_leading ? -1 : 1;
    }
    return d;
}

static double value_of(const decimal *d)
{
    char text[DIGITS_MAX + 32];

    (void)snprintf(text, sizeof text, "0.%se%ld", d->digits, d->power);
    return strtod(text, NULL);
}

static void add_one(decimal *d)
{
    while (d->count > 0 && d->digits[d->count - 1] == '9')
        d->digits[--d->count] = 0;
    if (d->count > 0) {
        d->digits[d->count - 1]++;
        return;
    }
    d->digits[d->count++] = '1';
    d->power++;
}

/* Find a decimal of so many digits that reads back as value. */
static bool find_digits(double value, int count, decimal *ret)
{
    char text[40];
    int exponent;

    (void)snprintf(text, sizeof text, "%.*e", count - 1, value);
    *ret = take(text, strlen(text));
    if (strtod(text, NULL) == value)
        return true;
    if (frexp(value, &exponent) != 0.5)
        return false;
    /* Above a power of two doubles are twice as far apart as below. The nearest decimal
     * may lie below, too far away, while the next one above is near enough. */
    while (ret->count < (size_t)count)
        ret->digits[ret->count++] = '0';
    add_one(ret);
    return value_of(ret) == value;
}

/* The fewest digits for a finite value above zero. */
static decimal shortest(double value)
{
    decimal d;

    for (int n = value < DBL_MIN ? 1 : DIGITS_KEPT; n < DIGITS_MAX; n++)
        if (find_digits(value, n, &d))
            return d;
    (void)find_digits(value, DIGITS_MAX, &d);
    return d;
}

bool gbx_number_put(gbx_buf *to, double value, int digits)
{
    char text[40];

    if (!isfinite(value))
        return gbx_buf_puts(to, "null");
    for (int n = digits < 15 ? digits : 15;; n++) {
        (void)snprintf(text, sizeof text, "%.*g", n, value);
        if (n >= digits || strtod(text, NULL) == value)
            return gbx_buf_puts(to, text);
    }
}

bool gbx_number_is_kept(const char *text, size_t len)
{
    decimal d = take(text, len);
    decimal again;
    double value;

    if (d.count == 0 || d.is_longer)
        return !d.is_longer;
    if (d.count <= DIGITS_KEPT && labs(d.power) < POWER_KEPT)
        return true;
    value = value_of(&d);
    if (!isfinite(value) || value == 0)
        return false;
    again = shortest(value);
    return again.power == d.power && strcmp(again.digits, d.digits) == 0;
}

bool gbx_number_put_count(gbx_buf *to, uint64_t count)
{
    if (count >= 1000) {
        (void)gbx_number_put_count(to, count / 1000);
        return gbx_buf_printf(to, ",%03u", (unsigned)(count % 1000));
    }
    return gbx_buf_printf(to, "%u", (unsigned)count);
}

bool gbx_number_put_size(gbx_buf *to, uint64_t bytes)
{
    static const char *const units[] = {"kB", "MB", "GB"};
    double size = (double)bytes;
    size_t unit = 0;

    if (bytes < 1000)
        return gbx_buf_printf(to, "%u bytes", (unsigned)bytes);
    for (size /= 1000; size >= 1000 && unit < 2; unit++)
        size /= 1000;
    return gbx_buf_printf(to, size < 10 ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

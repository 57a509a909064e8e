/* SPDX-License-Identifier: MIT */
/* fast_fmod - fmod() by integer arithmetic: a remainder is never rounded. */
#include "worker/worker.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FRACTION_BITS 52
#define HIDDEN_BIT    (UINT64_C(1) << FRACTION_BITS)
#define SIGN_BIT      (UINT64_C(1) << 63)
#define INFINITE      (UINT64_C(0x7ff) << FRACTION_BITS)

/* A remainder has at most 53 bits: this many more fit into a word. */
#define STEP_BITS 11

/* The engine's library must find it first: the program exports it. */
#define EXPORTED __attribute__((visibility("default")))

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* True for most operands: integers that became doubles by an overflow or a division. */
static bool is_whole(double x, int64_t *ret)
{
    if (!(fabs(x) < 0x1p63))
        return false;
    *ret = (int64_t)x;
    return (double)*ret == x;
}

/* The bits of a finite number as whole * 2^(exponent - 1075); exponent is at least 1. */
static uint64_t take_apart(uint64_t bits, int *ret_exponent)
{
    int exponent = (int)(bits >> FRACTION_BITS);

    *ret_exponent = exponent > 0 ? exponent : 1;
    return exponent > 0 ? (bits & (HIDDEN_BIT - 1)) | HIDDEN_BIT : bits;
}

/* Both finite, neither negative, x at least y, y not zero. */
static uint64_t long_modulo(uint64_t x, uint64_t y)
{
    int x_exponent;
    int y_exponent;
    uint64_t rest = take_apart(x, &x_exponent);
    uint64_t divisor = take_apart(y, &y_exponent);
    int left = x_exponent - y_exponent;

    rest %= divisor;
    while (left > 0 && rest != 0) {
        int step = left < STEP_BITS ? left : STEP_BITS;

        rest = (rest << step) % divisor;
        left -= step;
    }
    if (rest == 0)
        return 0;
    while (rest < HIDDEN_BIT && y_exponent > 1) {
        rest <<= 1;
        y_exponent--;
    }
    return rest < HIDDEN_BIT
               ? rest
               : (rest - HIDDEN_BIT) | (uint64_t)y_exponent << FRACTION_BITS;
}

double fmod(double x, double y);
EXPORTED double fmod(double x, double y)
{
    return gbx_modulo(x, y);
}

double gbx_modulo(double x, double y)
{
    uint64_t x_bits = bits_of(x) & ~SIGN_BIT;
    uint64_t y_bits = bits_of(y) & ~SIGN_BIT;
    int64_t x_whole;
    int64_t y_whole;
    uint64_t rest;

    if (y_bits == 0 || x_bits >= INFINITE || y_bits > INFINITE)
        return x * y / (x * y);
    if (x_bits < y_bits)
        return x;
    if (is_whole(x, &x_whole) && is_whole(y, &y_whole)) {
        /* A 32-bit division is several times faster on many processors. */
        if ((uint64_t)(x_whole | y_whole) <= UINT32_MAX) /* then neither is negative */
            x_whole = (uint32_t)x_whole % (uint32_t)y_whole;
        else
            x_whole %= y_whole;
        return copysign((double)x_whole, x);
    }
    rest = long_modulo(x_bits, y_bits) | (bits_of(x) & SIGN_BIT);
    memcpy(&x, &rest, sizeof x);
    return x;
}

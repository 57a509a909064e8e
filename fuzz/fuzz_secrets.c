/* SPDX-License-Identifier: MIT */
/*
 * fuzz_secrets - what is stripped is exactly what a plain search finds in the bytes, and in
 * the bytes without escapes; then nothing is left, and JSON is still JSON.
 *
 * The input chooses pieces: values, halves of them, and ways to write a byte of one.
 */
#include "fuzz.h"

#include "base/json.h"
#include "policy/internal.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_MAX 4096

static const char *const values[] = {"aabaabaaab", "k\"\\/<&>'+=% \xC3\xA9~z",
                                     "?>~?>~?>~?>", "0123456789"};

static gbx_policy *policy;

static void make_policy(void)
{
    policy = gbx_policy_new();
    assert(policy != NULL);
    for (size_t i = 0; i < GBX_COUNTOF(values); i++) {
        char name[4] = {(char)('A' + i)};

        assert(gbx_policy_secret(policy, name, values[i], NULL, "f", NULL) == GBX_OK);
    }
}

/* ---- the input -------------------------------------------------------------- */

static void put_byte(gbx_buf *data, uint8_t byte, uint8_t how)
{
    static const char *const formats[] = {
        "%%%02x",    "%%%02X",      "\\u%04x",   "\\u00%02X", "%%25%02x",
        "\\\\u%04x", "\\u0025%02x", "%%5cu%04x", "%02x",      "%02X",
    };

    if (how < GBX_COUNTOF(formats)) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)gbx_buf_printf(data, formats[how], (unsigned)byte);
#pragma GCC diagnostic pop
    } else {
        (void)gbx_buf_append(data, &byte, 1);
    }
}

static void put_value(gbx_buf *data, fuzz_input *in, uint8_t op)
{
    const char *value = values[op & 3];
    size_t len = strlen(value);
    size_t from = fuzz_u8(in) % len;
    size_t to = (op & 4) != 0 ? len : fuzz_u8(in) % (len + 1);
    uint8_t how = fuzz_u8(in);

    for (size_t i = (op & 8) != 0 ? 0 : from; i < to; i++)
        put_byte(data, (uint8_t)value[i],
                 (how & 0x80) != 0 ? (uint8_t)(fuzz_u8(in) & 31) : (how & 31));
}

static void put_base64(gbx_buf *data, fuzz_input *in, uint8_t op)
{
    static const char alphabets[2][65] = {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"};
    const char *alphabet = alphabets[op >> 2 & 1];
    uint8_t how = fuzz_u8(in);
    uint8_t text[64] = "uv";
    size_t len = op >> 3 & 3;

    len = len == 3 ? 2 : len;
    memcpy(text + len, values[op & 3], strlen(values[op & 3]));
    len += strlen(values[op & 3]);
    for (size_t bit = 0; bit < len * 8; bit += 6) {
        unsigned bits = (unsigned)text[bit / 8] << 8 | text[bit / 8 + 1];
        char c = alphabet[bits >> (10 - bit % 8) & 63];

        if ((how & 0x40) != 0 && bit % 24 == 18)
            (void)gbx_buf_puts(data, (how & 0x20) != 0 ? "\\n" : "\r\n");
        put_byte(data, (uint8_t)c, how & 31);
    }
}

static void build(fuzz_input *in, gbx_buf *data)
{
    gbx_buf_init(data, DATA_MAX);
    while (in->left > 0 && !data->failed) {
        uint8_t op = fuzz_u8(in);

        if (op < 64) {
            put_value(data, in, op);
        } else if (op < 96) {
            put_base64(data, in, op);
        } else {
            gbx_span raw = fuzz_bytes(in, (op & 15u) + 1);

            (void)gbx_buf_append(data, raw.data, raw.len);
        }
    }
    data->failed = false;
}

/* ---- a plain search ------------------------------------------------------------- */

typedef struct decoded {
    uint8_t bytes[DATA_MAX * 2];
    size_t from[DATA_MAX * 2];
    size_t to[DATA_MAX * 2];
    size_t len;
} decoded;

static void on_unescaped(void *user, uint8_t byte, size_t start, size_t end)
{
    decoded *d = user;

    d->bytes[d->len] = byte;
    d->from[d->len] = start;
    d->to[d->len++] = end;
}

static void unescape(gbx_span data, decoded *d)
{
    gbx_unescaper unescaper = {.emit = on_unescaped, .user = d};

    d->len = 0;
    for (size_t i = 0; i < data.len; i++)
        gbx_unescape_take(&unescaper, data.data[i], i);
    gbx_unescape_end(&unescaper);
}

static bool is_covered(const gbx_hits *hits, size_t from, size_t to)
{
    for (size_t i = 0; i < hits->count; i++)
        if (hits->items[i].start <= from && hits->items[i].end >= to)
            return true;
    return false;
}

/* Every place of what in the view is in a hit; says whether there is one. */
static bool look_for(const decoded *d, const uint8_t *what, size_t len,
                     const gbx_hits *hits)
{
    bool any = false;

    for (size_t at = 0; at + len <= d->len; at++)
        if (memcmp(d->bytes + at, what, len) == 0) {
            assert(is_covered(hits, d->from[at], d->to[at + len - 1]));
            any = true;
        }
    return any;
}

static bool look_for_value(const decoded *d, const char *value, const gbx_hits *hits)
{
    static const char alphabets[2][65] = {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"};
    size_t len = strlen(value);
    bool any = look_for(d, (const uint8_t *)value, len, hits);
    static decoded bare;
    uint8_t text[64];

    unescape((gbx_span){(const uint8_t *)value, len}, &bare);
    any = look_for(d, bare.bytes, bare.len, hits) || any;

    for (unsigned i = 0; i < 2; i++) {
        for (size_t k = 0; k < len; k++)
            (void)snprintf((char *)text + 2 * k, 3, i == 0 ? "%02x" : "%02X",
                           (unsigned)(uint8_t)value[k]);
        any = look_for(d, text, 2 * len, hits) || any;
    }
    for (size_t before = 0; before < 6; before++) {
        uint8_t plain[64] = {0};
        size_t bit = (before / 2 * 8 + 5) / 6 * 6;
        size_t n = 0;

        memcpy(plain + before / 2, value, len);
        for (; bit + 6 <= (before / 2 + len) * 8; bit += 6) {
            unsigned bits = (unsigned)plain[bit / 8] << 8 | plain[bit / 8 + 1];

            text[n++] = (uint8_t)alphabets[before & 1][bits >> (10 - bit % 8) & 63];
        }
        any = look_for(d, text, n, hits) || any;
    }
    return any;
}

static void check_hits(gbx_span data)
{
    static decoded d;
    gbx_hits hits;
    bool any = false;

    assert(gbx_secret_find(policy->secret_forms, data, NULL, &hits));
    for (size_t i = 0; i < hits.count; i++) {
        assert(hits.items[i].start < hits.items[i].end &&
               hits.items[i].end <= data.len);
        assert(i == 0 || hits.items[i - 1].end <= hits.items[i].start);
    }
    d.len = 0;
    for (size_t i = 0; i < data.len; i++)
        on_unescaped(&d, data.data[i], i, i + 1);
    for (size_t i = 0; i < GBX_COUNTOF(values); i++)
        any = look_for_value(&d, values[i], &hits) || any;
    unescape(data, &d);
    for (size_t i = 0; i < GBX_COUNTOF(values); i++)
        any = look_for_value(&d, values[i], &hits) || any;
    assert(any == (hits.count > 0));
    free(hits.items);
}

/* ---- the properties --------------------------------------------------------------- */

static void check_strip(gbx_span data, gbx_secret_text kind)
{
    bool was_json =
        gbx_json_check((const char *)data.data, data.len, GBX_JSON_DEPTH_MAX, NULL);
    bool changed;
    bool again;
    gbx_buf out;
    gbx_buf rest;

    gbx_buf_init(&out, DATA_MAX * 16);
    gbx_buf_init(&rest, DATA_MAX * 16);
    assert(gbx_secrets_strip(policy, kind, data, NULL, &out, &changed));
    assert(changed || out.len == 0);
    assert(gbx_secrets_strip(policy, kind, (gbx_span){out.data, out.len}, NULL, &rest,
                             &again));
    assert(!again);
    if (changed && was_json && kind == GBX_SECRET_DATA)
        assert(
            gbx_json_check((const char *)out.data, out.len, GBX_JSON_DEPTH_MAX, NULL));
    gbx_buf_cleanup(&out);
    gbx_buf_cleanup(&rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_buf built;
    gbx_buf json;
    fuzz_input in;

    if (policy == NULL)
        make_policy();
    in = (fuzz_input){data, size};
    build(&in, &built);
    gbx_buf_init(&json, DATA_MAX * 8);
    (void)gbx_buf_puts(&json, "[1,");
    (void)gbx_json_append_string(&json, built.data, built.len);
    (void)gbx_buf_puts(&json, "]");
    check_hits((gbx_span){built.data, built.len});
    check_strip((gbx_span){built.data, built.len}, GBX_SECRET_LINE);
    check_strip((gbx_span){built.data, built.len}, GBX_SECRET_DATA);
    check_strip((gbx_span){json.data, json.len}, GBX_SECRET_DATA);
    gbx_buf_cleanup(&built);
    gbx_buf_cleanup(&json);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * files - the native of fs.js: bytes of a file as text.
 *
 * The bytes are an array that was just made from the host's answer and that the code
 * has not seen: nothing can detach or resize it meanwhile.
 */
#include "realm/internal.h"

#include "base/utf8.h"

#include <assert.h>
#include <stdlib.h>

#define REPLACEMENT 0xFFFD

size_t gbx_utf8_broken(const uint8_t *data, size_t len)
{
    uint8_t lead = data[0];
    size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    size_t n = 1;

    if (lead < 0xC2 || lead > 0xF4)
        return 1;
    while (n < wanted && n < len && data[n] >= low && data[n] <= high) {
        low = 0x80;
        high = 0xBF;
        n++;
    }
    return n;
}

static size_t put_point(uint32_t point, JSChar *to)
{
    if (point < 0x10000) {
        to[0] = (JSChar)point;
        return 1;
    }
    to[0] = (JSChar)(0xD800 + ((point - 0x10000) >> 10));
    to[1] = (JSChar)(0xDC00 + ((point - 0x10000) & 0x3FF));
    return 2;
}

/* As in Node's Buffer: invalid UTF-8 is replaced, a byte order mark stays. */
static size_t from_utf8(const uint8_t *data, size_t len, JSChar *to)
{
    size_t count = 0;

    for (size_t at = 0; at < len;) {
        size_t n = gbx_utf8_sequence(data + at, len - at);
        uint32_t point = data[at];

        if (n == 0) {
            to[count++] = REPLACEMENT;
            at += gbx_utf8_broken(data + at, len - at);
            continue;
        }
        if (n > 1)
            point &= 0x7Fu >> n;
        for (size_t i = 1; i < n; i++)
            point = point << 6 | (data[at + i] & 0x3Fu);
        count += put_point(point, to + count);
        at += n;
    }
    return count;
}

static size_t from_base64(const uint8_t *data, size_t len, bool for_url, JSChar *to)
{
    const char *alphabet =
        for_url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t count = 0;

    for (size_t at = 0; at < len; at += 3) {
        size_t left = len - at < 3 ? len - at : 3;
        uint32_t bits = (uint32_t)data[at] << 16;

        bits |= left > 1 ? (uint32_t)data[at + 1] << 8 : 0;
        bits |= left > 2 ? data[at + 2] : 0;
        for (size_t i = 0; i <= left; i++)
            to[count++] = (JSChar)alphabet[bits >> (18 - 6 * i) & 63];
        for (size_t i = left; i < 3 && !for_url; i++)
            to[count++] = '=';
    }
    return count;
}

static size_t from_hex(const uint8_t *data, size_t len, JSChar *to)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        to[2 * i] = (JSChar)digits[data[i] >> 4];
        to[2 * i + 1] = (JSChar)digits[data[i] & 15];
    }
    return 2 * len;
}

size_t gbx_decode_bytes(gbx_bytes_as encoding, const uint8_t *data, size_t len,
                        JSChar *to)
{
    switch (encoding) {
    case GBX_BYTES_UTF8: return from_utf8(data, len, to);
    case GBX_BYTES_BASE64: return from_base64(data, len, false, to);
    case GBX_BYTES_BASE64URL: return from_base64(data, len, true, to);
    case GBX_BYTES_HEX: return from_hex(data, len, to);
    case GBX_BYTES_UTF16LE:
        for (size_t i = 0; i < len / 2; i++)
            to[i] = (JSChar)(data[2 * i] | data[2 * i + 1] << 8);
        return len / 2;
    case GBX_BYTES_LATIN1:
    case GBX_BYTES_ASCII: break;
    }
    for (size_t i = 0; i < len; i++)
        to[i] = encoding == GBX_BYTES_ASCII ? data[i] & 0x7F : data[i];
    return len;
}

/* text(bytes, encoding): decodes them. */
static JSValueRef on_text(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
                          size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    JSObjectRef view = gbx_object(argv[0]);
    size_t len = JSObjectGetTypedArrayByteLength(ctx, view, NULL);
    const uint8_t *data = JSObjectGetTypedArrayBytesPtr(ctx, view, NULL);
    int encoding = (int)JSValueToNumber(ctx, argv[1], NULL);
    JSStringRef text;
    JSValueRef value;
    JSChar *units;

    (void)function;
    (void)self;
    (void)exception;
    assert(argc == 2 && encoding >= GBX_BYTES_UTF8 && encoding <= GBX_BYTES_HEX);
    text = encoding == GBX_BYTES_UTF8 && len > 0 ? gbx_string_new(data, len) : NULL;
    if (text == NULL) {
        units = malloc((2 * len + 4) * sizeof *units);
        if (units == NULL)
            abort();
        text =
            JSStringCreateWithCharacters(units, gbx_decode_bytes((gbx_bytes_as)encoding,
                                                                 data, len, units));
        free(units);
    }
    value = JSValueMakeString(ctx, text);
    JSStringRelease(text);
    return value;
}

/* ---- public to other files of this folder ----------------------------------- */

JSObjectRef gbx_files_natives(gbx_realm *realm, JSObjectRef natives,
                              const char **ret_reason)
{
    JSObjectRef own = JSObjectMake(realm->ctx, NULL, NULL);

    (void)natives;
    (void)ret_reason;
    gbx_set(realm->ctx, own, "text", gbx_native(realm->ctx, "text", on_text), 0);
    return own;
}

/* SPDX-License-Identifier: MIT */
/*
 * natives - the few functions that only the internal scripts have.
 *
 * The scripts keep them in closures; nothing reachable from a guest's value leads to
 * one. None of them runs a guest's code.
 */
#include "realm/internal.h"

#include "base/utf8.h"
#include "crypto/crypto.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static JSValueRef on_kind(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    gbx_kind kind =
        argc > 0 ? gbx_cell_kind(&realm->cells, ctx, argv[0]) : GBX_KIND_OTHER;

    return kind == GBX_KIND_OTHER ? JSValueMakeUndefined(ctx)
                                  : realm->cells.names[kind];
}

static JSValueRef on_unproxy(GBX_ARGUMENTS)
{
    JSObjectRef target;

    if (gbx_cell_kind(&gbx_realm_self()->cells, ctx, argv[0]) != GBX_KIND_PROXY)
        return argv[0];
    target = JSObjectGetProxyTarget(gbx_object(argv[0]));
    return target != NULL ? (JSValueRef)target : JSValueMakeNull(ctx);
}

/* {status, value} of a promise, or undefined if unknown. */
static JSValueRef on_promise(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    JSValueRef value = NULL;
    int status = gbx_cell_promise(&realm->cells, gbx_object(argv[0]), &value);
    JSObjectRef state;

    if (status < 0)
        return JSValueMakeUndefined(ctx);
    state = JSObjectMake(ctx, NULL, NULL);
    JSObjectSetProperty(ctx, state, realm->n_status, JSValueMakeNumber(ctx, status), 0,
                        NULL);
    if (status != 0)
        JSObjectSetProperty(ctx, state, realm->n_value, value, 0, NULL);
    return state;
}

static JSValueRef on_typed_array(GBX_ARGUMENTS)
{
    static const char *const names[] = {
        [kJSTypedArrayTypeInt8Array] = "Int8Array",
        [kJSTypedArrayTypeInt16Array] = "Int16Array",
        [kJSTypedArrayTypeInt32Array] = "Int32Array",
        [kJSTypedArrayTypeUint8Array] = "Uint8Array",
        [kJSTypedArrayTypeUint8ClampedArray] = "Uint8ClampedArray",
        [kJSTypedArrayTypeUint16Array] = "Uint16Array",
        [kJSTypedArrayTypeUint32Array] = "Uint32Array",
        [kJSTypedArrayTypeFloat32Array] = "Float32Array",
        [kJSTypedArrayTypeFloat64Array] = "Float64Array",
        [kJSTypedArrayTypeBigInt64Array] = "BigInt64Array",
        [kJSTypedArrayTypeBigUint64Array] = "BigUint64Array",
    };
    JSTypedArrayType type = JSValueGetTypedArrayType(ctx, argv[0], NULL);

    if ((size_t)type >= GBX_COUNTOF(names) || names[type] == NULL)
        return JSValueMakeUndefined(ctx);
    return gbx_value_of_text(ctx, names[type], strlen(names[type]));
}

static JSValueRef on_frames(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    char *text = malloc(GBX_STACK_MAX * 2);
    char *to = text != NULL ? text + GBX_STACK_MAX : NULL;
    uint32_t line, column;
    size_t len;
    JSValueRef value;

    if (text == NULL)
        abort();
    len = gbx_value_copy(ctx, argv[0], text, GBX_STACK_MAX);
    len = gbx_frames(&realm->origin, text, len, to, GBX_STACK_MAX, &line, &column);
    value = gbx_value_of_text(ctx, to, len);
    free(text);
    return value;
}

static JSValueRef on_clock(GBX_ARGUMENTS)
{
    return JSValueMakeNumber(ctx, gbx_timers_now(gbx_realm_self()));
}

static JSValueRef on_emit(GBX_ARGUMENTS)
{
    JSStringRef text = JSValueToStringCopy(ctx, argv[1], NULL);

    if (text != NULL)
        gbx_console_emit(gbx_realm_self(), (uint8_t)JSValueToNumber(ctx, argv[0], NULL),
                         text);
    gbx_string_release(&text);
    return JSValueMakeUndefined(ctx);
}

/* ---- quote: a string as a literal, in the quotes that need the least escaping --- */

static JSChar choose_quote(const JSChar *units, size_t count)
{
    bool has[3] = {false, false, false};

    for (size_t i = 0; i < count; i++) {
        has[0] = has[0] || units[i] == '\'';
        has[1] = has[1] || units[i] == '"';
        has[2] = has[2] || units[i] == '`' ||
                 (units[i] == '$' && i + 1 < count && units[i + 1] == '{');
    }
    if (!has[0] || (has[1] && has[2]))
        return '\'';
    return has[1] ? '`' : '"';
}

static bool is_lone(const JSChar *units, size_t count, size_t i)
{
    if (units[i] >= 0xD800 && units[i] <= 0xDBFF)
        return i + 1 >= count || units[i + 1] < 0xDC00 || units[i + 1] > 0xDFFF;
    if (units[i] >= 0xDC00 && units[i] <= 0xDFFF)
        return i == 0 || units[i - 1] < 0xD800 || units[i - 1] > 0xDBFF;
    return false;
}

/* Writes at most six units. */
static size_t put_escaped(JSChar *to, JSChar unit, bool lone, JSChar quote)
{
    static const char hex[] = "0123456789ABCDEF";
    static const char letters[] = "btn\0fr"; /* from U+0008 on */
    size_t n = 0;

    if (unit == quote || unit == '\\') {
        to[n++] = '\\';
        to[n++] = unit;
    } else if (unit >= 8 && unit <= 13 && letters[unit - 8] != 0) {
        to[n++] = '\\';
        to[n++] = (JSChar)letters[unit - 8];
    } else if (unit < 0x20 || (unit >= 0x7F && unit <= 0x9F)) {
        to[n++] = '\\';
        to[n++] = 'x';
        to[n++] = (JSChar)hex[unit >> 4];
        to[n++] = (JSChar)hex[unit & 15];
    } else if (lone) {
        to[n++] = '\\';
        to[n++] = 'u';
        for (int shift = 12; shift >= 0; shift -= 4)
            to[n++] = (JSChar)(hex[unit >> shift & 15] | 0x20); /* as Node has it */
    } else {
        to[n++] = unit;
    }
    return n;
}

static JSValueRef on_quote(GBX_ARGUMENTS)
{
    JSStringRef text = JSValueToStringCopy(ctx, argv[0], NULL);
    const JSChar *units;
    size_t count, n = 0;
    JSChar *out, quote;
    JSValueRef value;

    if (text == NULL)
        return JSValueMakeUndefined(ctx);
    units = JSStringGetCharactersPtr(text);
    count = JSStringGetLength(text);
    out = malloc((count * 6 + 2) * sizeof *out);
    if (out == NULL)
        abort();
    quote = choose_quote(units, count);
    out[n++] = quote;
    for (size_t i = 0; i < count; i++)
        n += put_escaped(out + n, units[i], is_lone(units, count, i), quote);
    out[n++] = quote;
    JSStringRelease(text);
    value = gbx_value_of_units(ctx, out, n);
    free(out);
    return value;
}

JSObjectRef gbx_natives_new(gbx_realm *realm)
{
    static const gbx_native_row table[] = {
        {"kind", on_kind},   {"unproxy", on_unproxy}, {"promise", on_promise},
        {"quote", on_quote}, {"frames", on_frames},   {"typedArray", on_typed_array},
        {"emit", on_emit},   {"clock", on_clock},
    };
    JSObjectRef natives = JSObjectMake(realm->ctx, NULL, NULL);

    gbx_natives_add(realm->ctx, natives, table, GBX_COUNTOF(table), 0);
    return natives;
}

/* ---- bytes as text ------------------------------------------------------------- */

/*
 * The native of fs.js decodes the bytes of a file.
 *
 * The bytes are an array that was just made from the host's answer and that the code
 * has not seen: nothing can detach or resize it meanwhile.
 */

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

size_t gbx_decode_bytes(gbx_bytes_as encoding, const uint8_t *data, size_t len,
                        JSChar *to)
{
    if (encoding == GBX_BYTES_UTF8)
        return from_utf8(data, len, to);
    if (encoding == GBX_BYTES_UTF16LE) {
        for (size_t i = 0; i < len / 2; i++)
            to[i] = (JSChar)(data[2 * i] | data[2 * i + 1] << 8);
        return len / 2;
    }
    for (size_t i = 0; i < len; i++)
        to[i] = encoding == GBX_BYTES_ASCII ? data[i] & 0x7F : data[i];
    return len;
}

/* Bytes as hex, base64 or base64url. */
static JSValueRef encoded(JSContextRef ctx, gbx_encoding encoding, gbx_span bytes)
{
    char *text = malloc(2 * bytes.len + 4);
    JSValueRef value;

    if (text == NULL)
        abort();
    gbx_encode(encoding, bytes.data, bytes.len, text);
    value = gbx_value_of_text(ctx, text, gbx_encoded_len(encoding, bytes.len));
    free(text);
    return value;
}

/* text(bytes, encoding): decodes them. */
static JSValueRef on_text(GBX_ARGUMENTS)
{
    gbx_span bytes = gbx_bytes_of(ctx, argv[0]);
    int encoding = (int)JSValueToNumber(ctx, argv[1], NULL);
    JSValueRef value;
    JSChar *units;

    assert(argc == 2 && encoding >= GBX_BYTES_UTF8 && encoding <= GBX_BYTES_HEX);
    if (encoding == GBX_BYTES_BASE64)
        return encoded(ctx, GBX_ENCODING_BASE64, bytes);
    if (encoding == GBX_BYTES_BASE64URL)
        return encoded(ctx, GBX_ENCODING_BASE64URL, bytes);
    if (encoding == GBX_BYTES_HEX)
        return encoded(ctx, GBX_ENCODING_HEX, bytes);
    if (encoding == GBX_BYTES_UTF8) {
        value = gbx_value_of_text(ctx, (const char *)bytes.data, bytes.len);
        if (!JSValueIsUndefined(ctx, value))
            return value;
    }
    units = malloc((2 * bytes.len + 4) * sizeof *units);
    if (units == NULL)
        abort();
    value = gbx_value_of_units(ctx, units,
                               gbx_decode_bytes((gbx_bytes_as)encoding, bytes.data,
                                                bytes.len, units));
    free(units);
    return value;
}

JSObjectRef gbx_files_natives(gbx_realm *realm, JSObjectRef natives,
                              const char **ret_reason)
{
    JSObjectRef own = JSObjectMake(realm->ctx, NULL, NULL);

    (void)natives;
    (void)ret_reason;
    gbx_set(realm->ctx, own, "text", gbx_native(realm->ctx, "text", on_text), 0);
    return own;
}

/* SPDX-License-Identifier: MIT */
/*
 * helper_natives - what the scripts of helpers/ compute with: addresses, encodings, base64, a
 * random name. The scripts are evaluated when code first uses them, so code may have
 * changed the built-ins they use: arguments can be anything.
 */
#include "base/base64.h"

#include "base/sha256.h"
#include "base/utf8.h"
#include "realm/internal.h"

#include <assert.h>
#include <ctype.h>
#include <glovebox/glovebox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX GBX_MIB(256)

static const struct script {
    const char *name;
    const char *source;
} scripts[] = {
    {"exception", gbx_script_exception}, {"event", gbx_script_event},
    {"abort", gbx_script_abort},         {"text", gbx_script_text},
    {"clone", gbx_script_clone},         {"url", gbx_script_url},
    {"params", gbx_script_params},       {"small", gbx_script_small},
    {"encodings", gbx_script_encodings}, {"none", "() => ({})"},
};

/* ---- values ------------------------------------------------------------------- */

/* Length of a string value; 0 for any other. Release the string. */
static size_t units_of(JSContextRef ctx, size_t argc, const JSValueRef argv[],
                       size_t at, JSStringRef *ret_string, const JSChar **ret)
{
    *ret_string = at < argc && JSValueIsString(ctx, argv[at])
                      ? JSValueToStringCopy(ctx, argv[at], NULL)
                      : NULL;
    *ret = *ret_string != NULL ? JSStringGetCharactersPtr(*ret_string) : NULL;
    return *ret != NULL ? JSStringGetLength(*ret_string) : 0;
}

/* As UTF-8. */
static gbx_buf text_of(JSContextRef ctx, size_t argc, const JSValueRef argv[],
                       size_t at)
{
    JSStringRef string;
    const JSChar *units;
    size_t count = units_of(ctx, argc, argv, at, &string, &units);
    gbx_buf text;

    gbx_buf_init(&text, TEXT_MAX);
    if (count > 0)
        (void)gbx_utf8_append_utf16(&text, units, count);
    gbx_string_release(&string);
    return text;
}

static double number_of(JSContextRef ctx, size_t argc, const JSValueRef argv[],
                        size_t at)
{
    return at < argc && JSValueIsNumber(ctx, argv[at])
               ? JSValueToNumber(ctx, argv[at], NULL)
               : 0;
}

static JSChar *units_room(size_t count)
{
    JSChar *units = malloc((count + 4) * sizeof *units);

    if (units == NULL)
        abort();
    return units;
}

/* ---- addresses ------------------------------------------------------------------ */

/* The engine's parser; see internal.h. Returns the address as written by it; false if
 * text is none. Releases nothing of text and base, which may be NULL. */
static bool parse_url(JSStringRef text, JSStringRef base, JSStringRef *ret)
{
    gbx_engine_url none = {.text = NULL}, before = none, made = none;
    bool is_valid = true;

    if (base != NULL) {
        gbx_engine_parse_url(&before, &none, gbx_engine_text(base), NULL);
        is_valid = (before.flags & GBX_ENGINE_URL_VALID) != 0;
    }
    if (is_valid)
        gbx_engine_parse_url(&made, &before, gbx_engine_text(text), NULL);
    is_valid = (made.flags & GBX_ENGINE_URL_VALID) != 0;
    *ret = made.text != NULL ? gbx_engine_string(&made.text).pointer : NULL;
    if (before.text != NULL)
        JSStringRelease(gbx_engine_string(&before.text).pointer);
    if (!is_valid)
        gbx_string_release(ret);
    return is_valid && *ret != NULL;
}

/* Reads samples. Also loads what names need that are not ASCII, while files can be
 * opened. */
static bool knows_urls(void)
{
    static const struct {
        const char *text;
        const char *written;
    } samples[] = {{"HTTP://u:p@\xC3\xA9:81/a/../b?q#f", "http://u:p@xn--9ca:81/b?q#f"},
                   {"http://a b/", NULL}};
    bool ok = gbx_engine_parse_url != NULL && gbx_engine_string != NULL;

    for (size_t i = 0; ok && i < GBX_COUNTOF(samples); i++) {
        JSStringRef text = gbx_string_new_z(samples[i].text, strlen(samples[i].text));
        JSStringRef made;

        ok = parse_url(text, NULL, &made) == (samples[i].written != NULL) &&
             (made == NULL || JSStringIsEqualToUTF8CString(made, samples[i].written));
        gbx_string_release(&made);
        JSStringRelease(text);
    }
    return ok;
}

/* parseURL(text, base): as the parser writes it, or undefined. */
static JSValueRef on_parse_url(GBX_ARGUMENTS)
{
    bool has_base = argc > 1 && JSValueIsString(ctx, argv[1]);
    JSStringRef text, base, made = NULL;
    JSValueRef value = JSValueMakeUndefined(ctx);

    if (argc < 1 || !JSValueIsString(ctx, argv[0]))
        return value;
    text = JSValueToStringCopy(ctx, argv[0], NULL);
    base = has_base ? JSValueToStringCopy(ctx, argv[1], NULL) : NULL;
    if (text != NULL && (!has_base || base != NULL) && parse_url(text, base, &made))
        value = JSValueMakeString(ctx, made);
    gbx_string_release(&text);
    gbx_string_release(&base);
    gbx_string_release(&made);
    return value;
}

static int hex(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode %XX to bytes, and + to a blank. */
static void undo_form(gbx_buf *text)
{
    size_t used = 0;

    for (size_t i = 0; i < text->len; i++) {
        uint8_t byte = text->data[i] == '+' ? ' ' : text->data[i];

        if (byte == '%' && text->len - i > 2 && hex(text->data[i + 1]) >= 0 &&
            hex(text->data[i + 2]) >= 0) {
            byte = (uint8_t)(hex(text->data[i + 1]) << 4 | hex(text->data[i + 2]));
            i += 2;
        }
        text->data[used++] = byte;
    }
    text->len = used;
}

/* decodeForm(text): a name or value of a query. */
static JSValueRef on_decode_form(GBX_ARGUMENTS)
{
    gbx_buf text = text_of(ctx, argc, argv, 0);
    JSChar *units = units_room(2 * text.len);
    JSValueRef value;

    undo_form(&text);
    value = gbx_value_of_units(ctx, units,
                               gbx_decode_bytes(GBX_BYTES_UTF8, text.data, text.len,
                                                units));
    free(units);
    gbx_buf_cleanup(&text);
    return value;
}

/* encodeForm(text): the other way. */
static JSValueRef on_encode_form(GBX_ARGUMENTS)
{
    gbx_buf text = text_of(ctx, argc, argv, 0), out;
    JSValueRef value;

    gbx_buf_init(&out, 3 * text.len);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.data[i];

        if (c == ' ')
            (void)gbx_buf_puts(&out, "+");
        else if (isalnum(c) || (c != 0 && strchr("*-._", c) != NULL))
            (void)gbx_buf_append(&out, &c, 1);
        else
            (void)gbx_buf_printf(&out, "%%%02X", c);
    }
    value = gbx_value_of_text(ctx, out.data != NULL ? (char *)out.data : "", out.len);
    gbx_buf_cleanup(&out);
    gbx_buf_cleanup(&text);
    return value;
}

/* ---- encodings ---------------------------------------------------------------------- */

/* utf8(text): a Uint8Array. */
static JSValueRef on_utf8(GBX_ARGUMENTS)
{
    gbx_buf text = text_of(ctx, argc, argv, 0);
    uint8_t *bytes = text.data != NULL ? text.data : malloc(1);

    if (bytes == NULL || text.failed)
        abort(); /* after REFUSED: the host knows what it means */
    return gbx_value_of_bytes(ctx, bytes, text.len, exception);
}

/* The 32 characters of windows-1252 (which the web calls Latin-1) that are not
 * U+0080 to U+009F. */
static const JSChar windows[32] = {0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026,
                                   0x2020, 0x2021, 0x2C6,  0x2030, 0x160,  0x2039,
                                   0x152,  0x8D,   0x17D,  0x8F,   0x90,   0x2018,
                                   0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                   0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,
                                   0x17E,  0x178};

/* The result of decoding bytes. */
typedef struct decoded {
    size_t count; /* of units */
    size_t left;  /* bytes at the end, of an incomplete character */
    bool is_bad;
} decoded;

static decoded decode_utf8(const uint8_t *data, size_t len, bool goes_on, JSChar *to)
{
    decoded d = {0};
    size_t from = len < 3 ? 0 : len - 3;

    for (size_t i = from; goes_on && i < len && d.left == 0; i++)
        if (data[i] >= 0xC2 && data[i] <= 0xF4 &&
            gbx_utf8_sequence(data + i, len - i) == 0 &&
            gbx_utf8_broken(data + i, len - i) == len - i)
            d.left = len - i;
    d.is_bad = !gbx_utf8_valid(data, len - d.left, NULL);
    d.count = gbx_decode_bytes(GBX_BYTES_UTF8, data, len - d.left, to);
    return d;
}

static JSChar unit_at(const uint8_t *data, size_t i, bool is_big)
{
    return (JSChar)(is_big ? data[i] << 8 | data[i + 1] : data[i] | data[i + 1] << 8);
}

static decoded decode_utf16(const uint8_t *data, size_t len, bool is_big, bool goes_on,
                            JSChar *to)
{
    decoded d = {0};
    size_t at = 0;

    while (len - at >= 2) {
        JSChar unit = unit_at(data, at, is_big);
        bool is_high = (unit & 0xFC00) == 0xD800;

        if (is_high && len - at < 4 && goes_on)
            break;
        at += 2;
        if (is_high && len - at >= 2 &&
            (unit_at(data, at, is_big) & 0xFC00) == 0xDC00) {
            to[d.count++] = unit;
            to[d.count++] = unit_at(data, at, is_big);
            at += 2;
        } else if ((unit & 0xF800) == 0xD800) {
            to[d.count++] = 0xFFFD;
            d.is_bad = true;
            if (is_high && len - at == 1 && !goes_on)
                at = len; /* with half a unit behind it: one error */
        } else {
            to[d.count++] = unit;
        }
    }
    d.left = goes_on ? len - at : 0;
    if (at < len && !goes_on) {
        to[d.count++] = 0xFFFD;
        d.is_bad = true;
    }
    return d;
}

static decoded decode_windows(const uint8_t *data, size_t len, JSChar *to)
{
    for (size_t i = 0; i < len; i++)
        to[i] = data[i] >= 0x80 && data[i] < 0xA0 ? windows[data[i] - 0x80] : data[i];
    return (decoded){.count = len};
}

/* decode(bytes, encoding as text.js numbers it, fatal, stream): { text, left }.
 * Without a text, the bytes are not valid in that encoding. */
static JSValueRef on_decode(GBX_ARGUMENTS)
{
    gbx_span bytes = argc > 0 ? gbx_bytes_of(ctx, argv[0]) : (gbx_span){0};
    int encoding = (int)number_of(ctx, argc, argv, 1);
    bool is_fatal = argc > 2 && JSValueToBoolean(ctx, argv[2]);
    bool goes_on = argc > 3 && JSValueToBoolean(ctx, argv[3]);
    JSChar *units = units_room(2 * bytes.len);
    JSObjectRef made = JSObjectMake(ctx, NULL, NULL);
    decoded d;

    if (encoding == 0)
        d = decode_utf8(bytes.data, bytes.len, goes_on, units);
    else if (encoding <= 2)
        d = decode_utf16(bytes.data, bytes.len, encoding == 2, goes_on, units);
    else
        d = decode_windows(bytes.data, bytes.len, units);
    gbx_set(ctx, made, "left", JSValueMakeNumber(ctx, (double)d.left), 0);
    gbx_set(ctx, made, "text",
            d.is_bad && is_fatal ? JSValueMakeUndefined(ctx)
                                 : gbx_value_of_units(ctx, units, d.count),
            0);
    free(units);
    return made;
}

/* base64(text): of characters up to U+00FF; undefined if there is another. */
static JSValueRef on_base64(GBX_ARGUMENTS)
{
    JSStringRef string;
    const JSChar *units;
    size_t count = units_of(ctx, argc, argv, 0, &string, &units);
    JSValueRef value = JSValueMakeUndefined(ctx);
    uint8_t *bytes = malloc(count + 1);
    bool ok = bytes != NULL;
    gbx_buf text;

    gbx_buf_init(&text, TEXT_MAX);
    for (size_t i = 0; ok && i < count; i++) {
        bytes[i] = (uint8_t)units[i];
        ok = units[i] <= 0xFF;
    }
    if (ok && gbx_base64_append(&text, bytes, count))
        value = gbx_value_of_text(ctx, text.data != NULL ? (const char *)text.data : "",
                                  text.len);
    free(bytes);
    gbx_string_release(&string);
    gbx_buf_cleanup(&text);
    return value;
}

/* Decodes text, ignoring white space and padding; false if it is not base64. Bits
 * that belong to no byte are dropped. */
static bool forgiving(const JSChar *units, size_t count, char *to, size_t *ret_len)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        JSChar c = units[i];

        if (c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r')
            continue;
        if (c >= 0x80)
            return false;
        to[n++] = (char)c;
    }
    if (n > 0 && n % 4 == 0 && to[n - 1] == '=')
        n -= to[n - 2] == '=' ? 2 : 1;
    *ret_len = n;
    return n % 4 != 1 && memchr(to, '=', n) == NULL;
}

/* Clear the superfluous bits of the last two or three digits. */
static void clear_bits(char *last)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bool is_two = last[2] == '=';
    char *at = is_two ? last + 1 : last + 2;
    const char *found = *at != 0 ? strchr(digits, *at) : NULL;

    if (found != NULL && last[3] == '=')
        *at = digits[(size_t)(found - digits) & (is_two ? 0x30u : 0x3Cu)];
}

/* unbase64(text): characters up to U+00FF; undefined if it is not base64. */
static JSValueRef on_unbase64(GBX_ARGUMENTS)
{
    JSStringRef string;
    const JSChar *units;
    size_t count = units_of(ctx, argc, argv, 0, &string, &units), len = 0;
    JSValueRef value = JSValueMakeUndefined(ctx);
    char *text = malloc(count + 4);
    JSChar *made = units_room(count);

    if (text == NULL)
        abort();
    if (forgiving(units, count, text, &len)) {
        while (len % 4 != 0)
            text[len++] = '=';
        if (len > 0)
            clear_bits(text + len - 4);
        if (gbx_base64_decode(text, len, (uint8_t *)text, &len))
            value =
                gbx_value_of_units(ctx, made,
                                   gbx_decode_bytes(GBX_BYTES_LATIN1,
                                                    (const uint8_t *)text, len, made));
    }
    free(made);
    free(text);
    gbx_string_release(&string);
    return value;
}

/* ---- the rest ------------------------------------------------------------------------ */

/* uuid(): version 4, from the call's own randomness. */
static JSValueRef on_uuid(GBX_ARGUMENTS)
{
    static uint64_t made;
    gbx_realm *realm = gbx_realm_self();
    gbx_span entropy = realm->in != NULL ? realm->in->entropy : (gbx_span){NULL, 0};
    uint8_t d[GBX_SHA256_SIZE];
    gbx_sha256 hash;
    char text[40];

    if (entropy.len == 0)
        return gbx_throw(ctx, "TypeError", "this call has no randomness", exception);
    made++;
    gbx_sha256_init(&hash);
    gbx_sha256_add(&hash, "uuid", 4);
    gbx_sha256_add(&hash, entropy.data, entropy.len);
    gbx_sha256_add(&hash, &made, sizeof made);
    gbx_sha256_end(&hash, d);
    d[6] = (uint8_t)((d[6] & 0x0F) | 0x40);
    d[8] = (uint8_t)((d[8] & 0x3F) | 0x80);
    (void)
        snprintf(text, sizeof text,
                 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                 d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10],
                 d[11], d[12], d[13], d[14], d[15]);
    return gbx_value_of_text(ctx, text, strlen(text));
}

/* evaluate(name): the function that the script is. */
static JSValueRef on_evaluate(GBX_ARGUMENTS)
{
    gbx_realm *realm = gbx_realm_self();
    gbx_buf name = text_of(ctx, argc, argv, 0);
    JSValueRef value = NULL;

    for (size_t i = 0; i < GBX_COUNTOF(scripts); i++)
        if (name.len == strlen(scripts[i].name) &&
            memcmp(name.data, scripts[i].name, name.len) == 0)
            value = gbx_evaluate_script(realm, scripts[i].source);
    gbx_buf_cleanup(&name);
    return value != NULL
               ? value
               : gbx_throw(ctx, "RangeError", "Out of memory for a script", exception);
}

const char *gbx_helpers_make(gbx_realm *realm, JSObjectRef natives)
{
    static const gbx_native_row table[] = {
        {"parseURL", on_parse_url},     {"decodeForm", on_decode_form},
        {"encodeForm", on_encode_form}, {"utf8", on_utf8},
        {"decode", on_decode},          {"base64", on_base64},
        {"unbase64", on_unbase64},      {"uuid", on_uuid},
    };
    JSContextRef ctx = realm->ctx;
    JSValueRef args[2];
    JSObjectRef lazy;

    if (!knows_urls())
        return "the engine's parser of addresses is not as expected";
    gbx_natives_add(ctx, natives, table, GBX_COUNTOF(table), 0);
    gbx_set(ctx, natives, "setTimeout", gbx_timers_starter(realm), 0);
    args[0] = natives;
    args[1] = gbx_native(ctx, "evaluate", on_evaluate);
    lazy = gbx_call_script(realm, gbx_script_lazy, GBX_COUNTOF(args), args);
    if (lazy == NULL)
        return "the engine did not take the script of helpers";
    realm->restore = gbx_get_object(ctx, lazy, "restore");
    realm->withdraw = gbx_get_object(ctx, lazy, "withdraw");
    realm->warm_helpers = gbx_get_object(ctx, lazy, "warm");
    realm->globalise = gbx_get_object(ctx, lazy, "makeGlobal");
    JSValueProtect(ctx, realm->warm_helpers);
    JSValueProtect(ctx, realm->globalise);
    JSValueProtect(ctx, realm->restore);
    JSValueProtect(ctx, realm->withdraw);
    gbx_set(ctx, natives, "lazy", lazy, 0);
    return NULL;
}

void gbx_helpers_make_global(gbx_realm *realm)
{
    if (realm->globals == GBX_GLOBALS_STANDARD &&
        (realm->capabilities & GBX_CAP_HELPERS) != 0)
        (void)JSObjectCallAsFunction(realm->ctx, realm->globalise, NULL, 0, NULL, NULL);
}

void gbx_helpers_warm(gbx_realm *realm)
{
    (void)JSObjectCallAsFunction(realm->ctx, realm->warm_helpers, NULL, 0, NULL, NULL);
}

void gbx_helpers_begin(gbx_realm *realm)
{
    uint32_t lost = realm->capabilities & ~realm->in->capabilities;

    if ((lost & GBX_CAP_HELPERS) != 0)
        (void)JSObjectCallAsFunction(realm->ctx, realm->withdraw, NULL, 0, NULL, NULL);
}

void gbx_helpers_restore(gbx_realm *realm, JSStringRef name)
{
    JSValueRef value = JSValueMakeString(realm->ctx, name);

    if ((realm->in->capabilities & GBX_CAP_HELPERS) == 0)
        return;
    (void)JSObjectCallAsFunction(realm->ctx, realm->restore, NULL, 1, &value, NULL);
}

/* ---- fetch ---------------------------------------------------------------------- */

/* What the web's interfaces (fetch/) need from the engine and this program. */

/* The text of a Uint8Array, without its byte order mark; undefined if it is not
 * UTF-8. */
static JSValueRef on_text(GBX_ARGUMENTS)
{
    gbx_span bytes = gbx_bytes_of(ctx, argv[0]);

    if (bytes.len >= 3 && memcmp(bytes.data, "\xEF\xBB\xBF", 3) == 0)
        bytes = (gbx_span){bytes.data + 3, bytes.len - 3};
    return gbx_value_of_text(ctx, (const char *)bytes.data, bytes.len);
}

JSObjectRef gbx_web_natives(gbx_realm *realm, JSObjectRef natives,
                            const char **ret_reason)
{
    (void)ret_reason;
    gbx_set(realm->ctx, natives, "text", gbx_native(realm->ctx, "text", on_text), 0);
    return natives;
}

/* SPDX-License-Identifier: MIT */
/*
 * convert - strings in and out of the engine.
 *
 * Two traps are handled here and nowhere else. The engine's constructor from UTF-8
 * stops at a NUL, and makes an empty string of invalid UTF-8; its conversion back stops
 * at an unpaired surrogate. ASCII stays one byte a character in both directions.
 */
#include "base/utf8.h"

#include "realm/internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * The characters of a string without a copy.
 *
 * The engine keeps most text as one byte a character and widens all of it when the API
 * is asked for its characters: for 10 MB of text 20 MB and 4 ms. Their position is
 * learned from samples at the start, as in cell.c; if it cannot be learned, text goes
 * through the API.
 */

/* The engine's string has its length, a pointer to its characters, and flags. */
#define LENGTH     4
#define CHARACTERS 8
#define FLAGS      16

static const uint8_t *impl_of(JSStringRef text)
{
    return *gbx_engine_text(text);
}

static uint32_t word_at(const uint8_t *impl, size_t at)
{
    uint32_t word;

    memcpy(&word, impl + at, sizeof word);
    return word;
}

static const uint8_t *characters_of(const uint8_t *impl)
{
    const uint8_t *at;

    memcpy(&at, impl + CHARACTERS, sizeof at);
    return at;
}

/* A sample's flags; false if its layout is unexpected. */
static bool look(const JSChar *units, size_t count, bool is_narrow, uint32_t *ret_flags)
{
    JSStringRef wide = JSStringCreateWithCharacters(units, count);
    char text[64];
    JSStringRef made;
    const uint8_t *impl;
    bool ok;

    (void)JSStringGetUTF8CString(wide, text, sizeof text);
    JSStringRelease(wide);
    made = JSStringCreateWithUTF8CString(text);
    impl = impl_of(made);
    ok = word_at(impl, LENGTH) == count &&
         memcmp(characters_of(impl),
                is_narrow ? (const void *)text : (const void *)units,
                is_narrow ? count : count * sizeof *units) == 0;
    *ret_flags = word_at(impl, FLAGS);
    JSStringRelease(made);
    return ok;
}

void gbx_strings_learn(gbx_strings *ret)
{
    static const JSChar samples[][8] = {
        {'o', 'n', 'e', ' ', 'b', 'y', 't', 'e'},
        {'a', 'n', 'o', 't', 'h', 'e', 'r', '!'},
        {'t', 'w', 'o', 0x20AC, 'b', 'y', 't', 'e'},
        {0x4E00, 0x4E8C, 0x4E09, 0x56DB, 0x4E94, 0x516D, 0x4E03, 0x516B},
    };
    uint32_t narrow = UINT32_MAX, wide = 0;

    ret->known = false;
    for (size_t i = 0; i < GBX_COUNTOF(samples); i++) {
        uint32_t flags;

        if (!look(samples[i], 6 + i % 3, i < 2, &flags))
            return;
        if (i < 2)
            narrow &= flags;
        else
            wide |= flags;
    }
    /* Some higher bits belong to a hash; the lower ones are the kind of the string. */
    ret->narrow_bit = narrow & ~wide & 0xFF;
    ret->known = ret->narrow_bit != 0 && (ret->narrow_bit & (ret->narrow_bit - 1)) == 0;
}

const uint8_t *gbx_string_narrow(const gbx_strings *strings, JSStringRef text)
{
    const uint8_t *impl = strings->known ? impl_of(text) : NULL;

    if (impl == NULL || (word_at(impl, FLAGS) & strings->narrow_bit) == 0)
        return NULL;
    return characters_of(impl);
}

/* Valid UTF-8 as UTF-16; to has room for len units. */
static size_t decode(const uint8_t *d, size_t len, JSChar *to)
{
    size_t n = 0;

    for (size_t i = 0; i < len;) {
        size_t width = gbx_utf8_sequence(d + i, len - i);
        uint32_t c = d[i];

        if (width > 1) {
            c &= 0xFFu >> (width + 1);
            for (size_t k = 1; k < width; k++)
                c = c << 6 | (d[i + k] & 0x3Fu);
        }
        if (c >= 0x10000) {
            to[n++] = (JSChar)(0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        to[n++] = (JSChar)c;
        i += width;
    }
    return n;
}

static JSStringRef from_utf16(const uint8_t *data, size_t len)
{
    JSChar *units;
    JSStringRef text;

    if (!gbx_utf8_valid(data, len, NULL))
        return NULL;
    units = malloc((len + 1) * sizeof *units);
    if (units == NULL)
        abort();
    text = JSStringCreateWithCharacters(units, decode(data, len, units));
    free(units);
    return text;
}

static bool is_ascii(const char *text, size_t len)
{
    unsigned char all = 0;

    for (size_t i = 0; i < len; i++)
        all |= (unsigned char)text[i];
    return all < 0x80;
}

/* NULL if this engine lacks the function: then use the usual way. */
static JSStringRef from_ascii(const char *text, size_t len)
{
    void *impl;

    if (gbx_engine_string_impl == NULL || gbx_engine_string == NULL)
        return NULL;
    impl = gbx_engine_string_impl((const uint8_t *)text, len).pointer;
    return impl != NULL ? gbx_engine_string(&impl).pointer : NULL;
}

JSStringRef gbx_string_new_z(const char *text, size_t len)
{
    JSStringRef made = NULL;

    if (len > 0 && is_ascii(text, len))
        made = from_ascii(text, len);
    if (made != NULL)
        return made;
    if (memchr(text, 0, len) != NULL)
        return from_utf16((const uint8_t *)text, len);
    made = JSStringCreateWithUTF8CString(text);
    if (len > 0 && JSStringGetLength(made) == 0) {
        JSStringRelease(made);
        return NULL;
    }
    return made;
}

JSStringRef gbx_string_new(const void *data, size_t len)
{
    char small[512];
    char *copy = len < sizeof small ? small : malloc(len + 1);
    JSStringRef made;

    if (copy == NULL)
        abort();
    if (len > 0)
        memcpy(copy, data, len);
    copy[len] = 0;
    made = gbx_string_new_z(copy, len);
    if (copy != small)
        free(copy);
    return made;
}

size_t gbx_string_copy(JSStringRef text, char *to, size_t size)
{
    size_t length = JSStringGetLength(text);
    size_t used = JSStringGetUTF8CString(text, to, size);
    const JSChar *units;
    gbx_buf out;

    used = used > 0 ? used - 1 : 0;
    to[used] = 0;
    /* Full, or cut because room is short (a character needs four bytes at most). */
    if (used + 4 >= size || gbx_utf16_units(to, used) == length)
        return used;
    units = JSStringGetCharactersPtr(text);
    gbx_buf_init(&out, size - 1);
    gbx_utf8_append_utf16(&out, units, length < size ? length : size);
    if (out.len > 0)
        memcpy(to, out.data, out.len);
    to[out.len] = 0;
    used = out.len;
    gbx_buf_cleanup(&out);
    return used;
}

JSValueRef gbx_value_of_text(JSContextRef ctx, const char *text, size_t len)
{
    JSStringRef string = gbx_string_new(text, len);
    JSValueRef value;

    if (string == NULL)
        return JSValueMakeUndefined(ctx);
    value = JSValueMakeString(ctx, string);
    JSStringRelease(string);
    return value;
}

size_t gbx_value_copy(JSContextRef ctx, JSValueRef value, char *to, size_t size)
{
    JSStringRef text;
    size_t len;

    to[0] = 0;
    if (value == NULL || !JSValueIsString(ctx, value))
        return 0;
    text = JSValueToStringCopy(ctx, value, NULL);
    if (text == NULL)
        return 0;
    len = gbx_string_copy(text, to, size);
    JSStringRelease(text);
    return len;
}

void gbx_string_release(JSStringRef *text)
{
    if (*text != NULL)
        JSStringRelease(*text);
    *text = NULL;
}

JSValueRef gbx_value_of_units(JSContextRef ctx, const JSChar *units, size_t count)
{
    JSStringRef string = JSStringCreateWithCharacters(units, count);
    JSValueRef value = JSValueMakeString(ctx, string);

    JSStringRelease(string);
    return value;
}

gbx_span gbx_bytes_of(JSContextRef ctx, JSValueRef value)
{
    JSObjectRef view;
    const uint8_t *base;

    if (JSValueGetTypedArrayType(ctx, value, NULL) != kJSTypedArrayTypeUint8Array)
        return (gbx_span){0};
    view = gbx_object(value);
    base = JSObjectGetTypedArrayBytesPtr(ctx, view, NULL);
    if (base == NULL)
        return (gbx_span){0};
    return (gbx_span){base + JSObjectGetTypedArrayByteOffset(ctx, view, NULL),
                      JSObjectGetTypedArrayByteLength(ctx, view, NULL)};
}

static void free_bytes(void *bytes, void *context)
{
    (void)context;
    free(bytes);
}

JSValueRef gbx_value_of_bytes(JSContextRef ctx, void *bytes, size_t len,
                              JSValueRef *exception)
{
    return JSObjectMakeTypedArrayWithBytesNoCopy(ctx, kJSTypedArrayTypeUint8Array,
                                                 bytes, len, free_bytes, NULL,
                                                 exception);
}

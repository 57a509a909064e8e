/* SPDX-License-Identifier: MIT */
/*
 * convert - converts strings, bytes, functions and properties between C and the engine,
 * and evaluates internal scripts.
 *
 * Only this file handles two traps of strings. The engine's constructor from UTF-8
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
 * is asked for its characters: 10 MB of text cost 20 MB and 4 ms. The layout is checked
 * with samples at first use, as in cell.c; if it is not as expected, text goes through
 * the API.
 */

/* Offsets in the engine's string; the characters are behind a pointer. */
#define LENGTH     4
#define CHARACTERS 8
#define FLAGS      16

/* The flag of a string with one byte a character. */
#define NARROW 4u

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

/* True if a string of these characters is laid out as expected. */
static bool is_known(const char *utf8, size_t count, const void *characters,
                     bool is_narrow)
{
    JSStringRef made = JSStringCreateWithUTF8CString(utf8);
    const uint8_t *impl = impl_of(made);
    bool ok = word_at(impl, LENGTH) == count &&
              memcmp(characters_of(impl), characters,
                     is_narrow ? count : count * sizeof(JSChar)) == 0 &&
              ((word_at(impl, FLAGS) & NARROW) != 0) == is_narrow;

    JSStringRelease(made);
    return ok;
}

const uint8_t *gbx_string_narrow(JSStringRef text)
{
    static const JSChar wide[] = {'t', 'w', 'o', 0x20AC};
    static enum { NOT_TRIED, KNOWN, UNKNOWN } layout;
    const uint8_t *impl = impl_of(text);

    if (layout == NOT_TRIED)
        layout = is_known("one byte", 8, "one byte", true) &&
                         is_known("two\u20AC", GBX_COUNTOF(wide), wide, false)
                     ? KNOWN
                     : UNKNOWN;
    if (layout == UNKNOWN || (word_at(impl, FLAGS) & NARROW) == 0)
        return NULL;
    return characters_of(impl);
}

#define REPLACEMENT 0xFFFD

/* Number of bytes at data that begin a character without completing it: they are
 * replaced as one. At least 1. */
static size_t broken_length(const uint8_t *data, size_t len)
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

/* Decode as Node's Buffer does: invalid bytes are replaced, a byte order mark stays. */
static size_t decode_utf8(const uint8_t *data, size_t len, JSChar *to)
{
    size_t count = 0;

    for (size_t at = 0; at < len;) {
        size_t n = gbx_utf8_sequence(data + at, len - at);
        uint32_t point = n > 0 ? gbx_utf8_decode(data + at, n) : REPLACEMENT;

        if (point >= 0x10000) {
            to[count++] = (JSChar)(0xD800 + ((point - 0x10000) >> 10));
            point = 0xDC00 + ((point - 0x10000) & 0x3FF);
        }
        to[count++] = (JSChar)point;
        at += n > 0 ? n : broken_length(data + at, len - at);
    }
    return count;
}

/* `to` has room for len units. */
static size_t decode(gbx_bytes_as as, const uint8_t *data, size_t len, JSChar *to)
{
    if (as == GBX_BYTES_UTF8)
        return decode_utf8(data, len, to);
    if (as == GBX_BYTES_UTF16LE) {
        for (size_t i = 0; i < len / 2; i++)
            to[i] = (JSChar)(data[2 * i] | data[2 * i + 1] << 8);
        return len / 2;
    }
    for (size_t i = 0; i < len; i++)
        to[i] = as == GBX_BYTES_ASCII ? data[i] & 0x7F : data[i];
    return len;
}

static JSStringRef decoded(gbx_bytes_as as, const uint8_t *data, size_t len)
{
    JSChar *units = malloc((len + 1) * sizeof *units);
    JSStringRef text;

    if (units == NULL)
        abort();
    text = JSStringCreateWithCharacters(units, decode(as, data, len, units));
    free(units);
    return text;
}

static bool is_ascii(const void *text, size_t len)
{
    const uint8_t *d = text;
    uint64_t all = 0;
    size_t i = 0;

    for (; i + sizeof all <= len; i += sizeof all) {
        uint64_t eight;

        memcpy(&eight, d + i, sizeof eight);
        all |= eight;
    }
    for (; i < len; i++)
        all |= d[i];
    return (all & UINT64_C(0x8080808080808080)) == 0;
}

typedef gbx_engine_ref maker(const uint8_t *latin1, size_t len);

/* NULL if it is not ASCII, or this engine lacks a function: then use the API. */
static JSStringRef from_ascii(const void *text, size_t len, maker *make)
{
    void *impl;

    if (make == NULL || gbx_engine_string == NULL || len == 0 || !is_ascii(text, len))
        return NULL;
    impl = make(text, len).pointer;
    return impl != NULL ? gbx_engine_string(&impl).pointer : NULL;
}

/* text[len] is 0. */
static JSStringRef from_utf8(const char *text, size_t len)
{
    JSStringRef made;

    if (memchr(text, 0, len) != NULL)
        return gbx_utf8_valid((const uint8_t *)text, len, NULL)
                   ? decoded(GBX_BYTES_UTF8, (const uint8_t *)text, len)
                   : NULL;
    made = JSStringCreateWithUTF8CString(text);
    if (len > 0 && JSStringGetLength(made) == 0) {
        JSStringRelease(made);
        return NULL;
    }
    return made;
}

JSStringRef gbx_string_lent(const char *text, size_t len)
{
    maker *make = gbx_engine_string_lent != NULL ? gbx_engine_string_lent
                                                 : gbx_engine_string_impl;
    JSStringRef made = from_ascii(text, len, make);

    return made != NULL ? made : from_utf8(text, len);
}

JSStringRef gbx_string_new(const void *data, size_t len)
{
    JSStringRef made = from_ascii(data, len, gbx_engine_string_impl);
    char small[512];
    char *copy;

    if (made != NULL)
        return made;
    copy = len < sizeof small ? small : malloc(len + 1);
    if (copy == NULL)
        abort();
    if (len > 0)
        memcpy(copy, data, len);
    copy[len] = 0;
    made = from_utf8(copy, len);
    if (copy != small)
        free(copy);
    return made;
}

size_t gbx_string_copy(JSStringRef text, char *to, size_t size)
{
    size_t length = JSStringGetLength(text);
    size_t used = JSStringGetUTF8CString(text, to, size);
    const JSChar *units;
    gbx_buf out = {.ceiling = size - 1};

    used = used > 0 ? used - 1 : 0;
    to[used] = 0;
    /* Full, or cut because room is short (a character needs four bytes at most). */
    if (used + 4 >= size || gbx_utf16_units(to, used) == length)
        return used;
    units = JSStringGetCharactersPtr(text);
    gbx_utf8_append_utf16(&out, units, length < size ? length : size);
    if (out.len > 0)
        memcpy(to, out.data, out.len);
    to[out.len] = 0;
    used = out.len;
    gbx_buf_cleanup(&out);
    return used;
}

gbx_span gbx_string_bytes(JSStringRef text, gbx_bytes_as as, uint8_t *room)
{
    const uint8_t *narrow = gbx_string_narrow(text);
    size_t count = JSStringGetLength(text);
    size_t len = 0;
    const JSChar *units;

    if (narrow != NULL &&
        (as == GBX_BYTES_LATIN1 || (as == GBX_BYTES_UTF8 && is_ascii(narrow, count))))
        return (gbx_span){narrow, count};
    if (as == GBX_BYTES_UTF8 && narrow != NULL) {
        for (size_t i = 0; i < count; i++)
            len += gbx_utf8_encode(narrow[i], room + len);
        return (gbx_span){room, len};
    }
    if (as == GBX_BYTES_UTF8)
        return (gbx_span){room,
                          gbx_string_copy(text, (char *)room, GBX_STRING_ROOM(count))};
    units = JSStringGetCharactersPtr(text);
    for (size_t i = 0; i < count; i++) {
        if (as == GBX_BYTES_LATIN1) {
            room[i] = (uint8_t)units[i];
        } else {
            room[2 * i] = (uint8_t)units[i];
            room[2 * i + 1] = (uint8_t)(units[i] >> 8);
        }
    }
    return (gbx_span){room, as == GBX_BYTES_LATIN1 ? count : 2 * count};
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

JSValueRef gbx_value_decoded(JSContextRef ctx, gbx_bytes_as as, gbx_span bytes)
{
    JSStringRef text = decoded(as, bytes.data, bytes.len);
    JSValueRef value = JSValueMakeString(ctx, text);

    JSStringRelease(text);
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
    free(bytes);
}

JSValueRef gbx_value_of_bytes(JSContextRef ctx, void *bytes, size_t len,
                              JSValueRef *exception)
{
    return JSObjectMakeTypedArrayWithBytesNoCopy(ctx, kJSTypedArrayTypeUint8Array,
                                                 bytes, len, free_bytes, NULL,
                                                 exception);
}

/* ---- the process's realm; functions, properties and scripts of the engine ---- */

static gbx_realm the_realm;

gbx_realm *gbx_realm_self(void)
{
    return &the_realm;
}

JSObjectRef gbx_native(JSContextRef ctx, const char *name,
                       JSObjectCallAsFunctionCallback fn)
{
    JSStringRef text = JSStringCreateWithUTF8CString(name);
    JSObjectRef made = JSObjectMakeFunctionWithCallback(ctx, text, fn);

    JSStringRelease(text);
    return made;
}

void gbx_natives_add(JSContextRef ctx, JSObjectRef to, const gbx_native_row *rows,
                     size_t count, JSPropertyAttributes attributes)
{
    for (size_t i = 0; i < count; i++)
        gbx_set(ctx, to, rows[i].name, gbx_native(ctx, rows[i].name, rows[i].fn),
                attributes);
}

void gbx_set(JSContextRef ctx, JSObjectRef object, const char *name, JSValueRef value,
             JSPropertyAttributes attributes)
{
    JSStringRef text = JSStringCreateWithUTF8CString(name);

    JSObjectSetProperty(ctx, object, text, value, attributes, NULL);
    JSStringRelease(text);
}

JSObjectRef gbx_get_object(JSContextRef ctx, JSObjectRef object, const char *name)
{
    JSStringRef text = JSStringCreateWithUTF8CString(name);
    JSValueRef value = JSObjectGetProperty(ctx, object, text, NULL);

    JSStringRelease(text);
    return value != NULL && JSValueIsObject(ctx, value) ? gbx_object(value) : NULL;
}

JSObjectRef gbx_keep(gbx_realm *realm, JSObjectRef object, const char *name)
{
    JSObjectRef kept = gbx_get_object(realm->ctx, object, name);

    if (kept != NULL)
        JSValueProtect(realm->ctx, kept);
    return kept;
}

JSObjectRef gbx_share(JSContextRef ctx, JSTypedArrayType type, size_t count,
                      void *ret_memory)
{
    JSObjectRef array = JSObjectMakeTypedArray(ctx, type, count, NULL);
    void *memory;

    if (array == NULL)
        abort();
    JSValueProtect(ctx, array);
    memory = JSObjectGetTypedArrayBytesPtr(ctx, array, NULL);
    memcpy(ret_memory, &memory, sizeof memory);
    return array;
}

JSValueRef gbx_throw(JSContextRef ctx, const char *type, const char *message,
                     JSValueRef *exception)
{
    JSValueRef text = gbx_value_of_text(ctx, message, strlen(message));
    JSObjectRef constructor = gbx_get_object(ctx, gbx_realm_self()->errors, type);

    *exception = JSObjectCallAsConstructor(ctx, constructor, 1, &text, NULL);
    return JSValueMakeUndefined(ctx);
}

JSValueRef gbx_evaluate_script(gbx_realm *realm, const char *source)
{
    JSStringRef text = gbx_string_new(source, strlen(source));
    JSValueRef value = JSEvaluateScript(realm->ctx, text, NULL, NULL, 1, NULL);

    JSStringRelease(text);
    return value;
}

JSObjectRef gbx_call_script(gbx_realm *realm, const char *source, size_t argc,
                            const JSValueRef argv[])
{
    JSValueRef fn = gbx_evaluate_script(realm, source);
    JSValueRef exception = NULL;
    JSValueRef made;

    if (fn == NULL || !JSValueIsObject(realm->ctx, fn))
        return NULL;
    made = JSObjectCallAsFunction(realm->ctx, gbx_object(fn), NULL, argc, argv,
                                  &exception);
    if (exception != NULL || made == NULL)
        return NULL;
    return JSValueIsObject(realm->ctx, made) ? gbx_object(made) : realm->global;
}

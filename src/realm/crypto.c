/* SPDX-License-Identifier: MIT */
/*
 * crypto - the natives of crypto.js: hashes as objects of the engine, text and bytes in
 * pieces.
 *
 * No pointer into the guest's memory is ever used. Bytes come through `scratch`, an
 * array of the script that the engine copies into; if a buffer was just detached or
 * resized, the engine handles that. Text comes in pieces made by the script. The
 * arguments come from crypto.js, never from the guest, so wrong ones are assertions.
 */
#include "crypto/crypto.h"
#include "realm/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Bytes, or UTF-16 units, per piece. */
#define PIECE GBX_KIB(64)

/* Bytes of a value: longer ones, of algorithms with a free length, are rare. */
#define SMALL 64u

/* Numbers that the script stores for the native it is about to call: each query to
 * the engine costs as much as hashing a short text. */
enum { ALGORITHM, LENGTH, COUNT, ENCODING, WORDS };

/* In place of an encoding. */
enum { GOES_ON = 0x100, AS_BYTES };

/* One realm a process: state that all natives share. */
static struct {
    JSClassRef hash_class;
    uint32_t *words;  /* WORDS of them, a Uint32Array to the script */
    uint8_t *scratch; /* PIECE bytes, a Uint8Array to the script */
    uint8_t *decoded; /* room for a piece of text, as bytes */
    size_t unreported;
    gbx_strings strings;
} shared;

/* What an object of the class has. */
typedef struct held {
    gbx_hash *hash; /* NULL: its value was returned */
    gbx_decoder decoder;
} held;

static held *held_by(JSValueRef value)
{
    held *h = JSObjectGetPrivate(gbx_object(value));

    assert(h != NULL && h->hash != NULL);
    return h;
}

/* The first count bytes of scratch. */
static size_t count_of_scratch(void)
{
    assert(shared.words[COUNT] <= PIECE);
    return shared.words[COUNT];
}

/* The collector calls this: it must not call the engine. */
static void on_finalize(JSObjectRef object)
{
    held *h = JSObjectGetPrivate(object);

    gbx_hash_free(h->hash);
    free(h);
}

/* Report memory that the engine does not see, or it would not collect in time. */
static void report(JSContextRef ctx, size_t cost)
{
    shared.unreported += cost;
    if (shared.unreported < GBX_KIB(16) || JSReportExtraMemoryCost == NULL)
        return;
    JSReportExtraMemoryCost(ctx, shared.unreported);
    shared.unreported = 0;
}

static JSValueRef hold(JSContextRef ctx, gbx_hash *hash, size_t cost)
{
    held *h = calloc(1, sizeof *h);

    if (h == NULL)
        abort();
    h->hash = hash;
    report(ctx, cost);
    return JSObjectMake(ctx, shared.hash_class, h);
}

/* open() [algorithm, length] */
static JSValueRef on_open(GBX_ARGUMENTS)
{
    return hold(ctx, gbx_hash_new(shared.words[ALGORITHM], shared.words[LENGTH]),
                GBX_HASH_COST);
}

/* openMac() [algorithm]: updates before keyed(mac) feed its key. */
static JSValueRef on_open_mac(GBX_ARGUMENTS)
{
    return hold(ctx, gbx_hash_new_mac(shared.words[ALGORITHM]), GBX_HASH_MAC_COST);
}

static JSValueRef on_keyed(GBX_ARGUMENTS)
{
    gbx_hash_keyed(held_by(argv[0])->hash);
    return JSValueMakeUndefined(ctx);
}

static JSValueRef on_copy(GBX_ARGUMENTS)
{
    return hold(ctx, gbx_hash_copy(held_by(argv[0])->hash), GBX_HASH_COST);
}

/* bytes(hash) [count]: of scratch. */
static JSValueRef on_bytes(GBX_ARGUMENTS)
{
    gbx_hash_update(held_by(argv[0])->hash, shared.scratch, count_of_scratch());
    return JSValueMakeUndefined(ctx);
}

static void feed(gbx_hash *hash, gbx_decoder *decoder, JSStringRef string)
{
    gbx_text_units text = {.narrow = gbx_string_narrow(&shared.strings, string),
                           .count = JSStringGetLength(string)};
    const uint8_t *bytes;
    size_t len;

    assert(text.count <= PIECE);
    if (text.narrow == NULL)
        text.wide = JSStringGetCharactersPtr(string);
    bytes = gbx_decode(decoder, &text, shared.decoded, &len);
    gbx_hash_update(hash, bytes, len);
}

/* text(hash, piece) [encoding]: hashes the first piece of a text; later pieces:
 * GOES_ON. */
static JSValueRef on_text(GBX_ARGUMENTS)
{
    held *h = held_by(argv[0]);
    JSStringRef string = JSValueToStringCopy(ctx, argv[1], exception);

    if (string == NULL)
        return JSValueMakeUndefined(ctx);
    if (shared.words[ENCODING] != GOES_ON)
        h->decoder = (gbx_decoder){.encoding = (gbx_encoding)shared.words[ENCODING]};
    feed(h->hash, &h->decoder, string);
    JSStringRelease(string);
    return JSValueMakeUndefined(ctx);
}

static JSValueRef make_bytes(JSContextRef ctx, const uint8_t *value, size_t len,
                             JSValueRef *exception)
{
    uint8_t *bytes = malloc(len + 1);

    if (bytes == NULL)
        abort();
    memcpy(bytes, value, len);
    return gbx_value_of_bytes(ctx, bytes, len, exception);
}

static JSValueRef make_text(JSContextRef ctx, const uint8_t *value, size_t len)
{
    gbx_encoding encoding = (gbx_encoding)shared.words[ENCODING];
    size_t room = encoding == GBX_ENCODING_LATIN1 ? len * 2 : len * 2 + 4;
    char few[SMALL * 2 + 4];
    char *to = room <= sizeof few ? few : malloc(room);
    JSStringRef text;
    JSValueRef made;

    if (to == NULL)
        abort();
    if (encoding == GBX_ENCODING_LATIN1) {
        JSChar *units = (JSChar *)(void *)to;

        for (size_t i = 0; i < len; i++)
            units[i] = value[i];
        text = JSStringCreateWithCharacters(units, len);
    } else {
        gbx_encode(encoding, value, len, to);
        text = JSStringCreateWithUTF8CString(to);
    }
    if (to != few)
        free(to);
    made = JSValueMakeString(ctx, text);
    JSStringRelease(text);
    return made;
}

static JSValueRef make_value(JSContextRef ctx, gbx_hash *hash, JSValueRef *exception)
{
    size_t len = gbx_hash_value_len(hash);
    uint8_t few[SMALL];
    uint8_t *value = len <= sizeof few ? few : malloc(len);
    JSValueRef made;

    if (value == NULL)
        abort();
    gbx_hash_value(hash, value);
    gbx_hash_free(hash);
    made = shared.words[ENCODING] == AS_BYTES ? make_bytes(ctx, value, len, exception)
                                              : make_text(ctx, value, len);
    if (value != few)
        free(value);
    return made;
}

/* value(hash) [encoding]: ends the hash. */
static JSValueRef on_value(GBX_ARGUMENTS)
{
    held *h = held_by(argv[0]);
    gbx_hash *hash = h->hash;

    h->hash = NULL;
    return make_value(ctx, hash, exception);
}

/* once(text) [algorithm, length, encoding]: the value of a piece of text in UTF-8. */
static JSValueRef on_once(GBX_ARGUMENTS)
{
    gbx_decoder decoder = {.encoding = GBX_ENCODING_UTF8};
    JSStringRef string = JSValueToStringCopy(ctx, argv[0], exception);
    gbx_hash *hash;

    if (string == NULL)
        return JSValueMakeUndefined(ctx);
    hash = gbx_hash_new(shared.words[ALGORITHM], shared.words[LENGTH]);
    feed(hash, &decoder, string);
    JSStringRelease(string);
    return make_value(ctx, hash, exception);
}

/* random() [count]: into scratch. False without a random stream. */
static JSValueRef on_random(GBX_ARGUMENTS)
{
    return JSValueMakeBoolean(ctx,
                              gbx_crypto_random(shared.scratch, count_of_scratch()));
}

/* equal() [count]: are the first count bytes of scratch's halves the same? */
static JSValueRef on_equal(GBX_ARGUMENTS)
{
    assert(count_of_scratch() <= PIECE / 2);
    return JSValueMakeBoolean(ctx,
                              gbx_hash_equal(shared.scratch, shared.scratch + PIECE / 2,
                                             count_of_scratch()));
}

/* encode() [count, encoding]: of scratch. */
static JSValueRef on_encode(GBX_ARGUMENTS)
{
    return make_text(ctx, shared.scratch, count_of_scratch());
}

/* ---- what the script is made with ------------------------------------------- */

static void add(JSContextRef ctx, JSObjectRef to, const char *name, double value)
{
    gbx_set(ctx, to, name, JSValueMakeNumber(ctx, value), 0);
}

/* {name: [number, length, is its length free?]}, other names too. */
static JSObjectRef make_algorithms(JSContextRef ctx)
{
    JSObjectRef all = JSObjectMake(ctx, NULL, NULL);

    for (size_t i = 0; i < gbx_hash_count(); i++) {
        JSValueRef row[] = {
            JSValueMakeNumber(ctx, (double)i),
            JSValueMakeNumber(ctx, (double)gbx_hash_len(i)),
            JSValueMakeBoolean(ctx, gbx_hash_len_is_free(i)),
        };
        JSValueRef made = JSObjectMakeArray(ctx, GBX_COUNTOF(row), row, NULL);

        gbx_set(ctx, all, gbx_hash_name(i), made, 0);
        for (size_t k = 0; gbx_hash_alias(i, k) != NULL; k++)
            gbx_set(ctx, all, gbx_hash_alias(i, k), made, kJSPropertyAttributeDontEnum);
    }
    return all;
}

/* Shares our memory with the script as an array. */
static JSObjectRef share(JSContextRef ctx, JSTypedArrayType type, size_t count,
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

static JSObjectRef make_encodings(JSContextRef ctx)
{
    static const struct {
        const char *name;
        gbx_encoding encoding;
    } table[] = {
        {"utf8", GBX_ENCODING_UTF8},     {"hex", GBX_ENCODING_HEX},
        {"base64", GBX_ENCODING_BASE64}, {"base64url", GBX_ENCODING_BASE64URL},
        {"latin1", GBX_ENCODING_LATIN1}, {"utf16le", GBX_ENCODING_UTF16LE},
    };
    JSObjectRef all = JSObjectMake(ctx, NULL, NULL);

    for (size_t i = 0; i < GBX_COUNTOF(table); i++)
        add(ctx, all, table[i].name, table[i].encoding);
    return all;
}

JSObjectRef gbx_crypto_natives(gbx_realm *realm, JSObjectRef common,
                               const char **ret_reason)
{
    static const gbx_native_row table[] = {
        {"open", on_open},   {"openMac", on_open_mac}, {"keyed", on_keyed},
        {"copy", on_copy},   {"bytes", on_bytes},      {"text", on_text},
        {"value", on_value}, {"once", on_once},        {"random", on_random},
        {"equal", on_equal}, {"encode", on_encode},
    };
    JSClassDefinition definition = kJSClassDefinitionEmpty;
    JSContextRef ctx = realm->ctx;
    JSObjectRef natives;

    (void)common;
    *ret_reason = gbx_hash_load();
    if (*ret_reason != NULL)
        return NULL;
    definition.className = "HashState";
    definition.attributes = kJSClassAttributeNoAutomaticPrototype;
    definition.finalize = on_finalize;
    if (shared.hash_class == NULL) {
        shared.hash_class = JSClassCreate(&definition);
        shared.decoded = malloc(PIECE * GBX_DECODED_MAX);
        if (shared.decoded == NULL)
            abort();
        gbx_strings_learn(&shared.strings);
    }
    natives = JSObjectMake(ctx, NULL, NULL);
    gbx_natives_add(ctx, natives, table, GBX_COUNTOF(table), 0);
    gbx_set(ctx, natives, "algorithms", make_algorithms(ctx), 0);
    gbx_set(ctx, natives, "encodings", make_encodings(ctx), 0);
    gbx_set(ctx, natives, "scratch",
            share(ctx, kJSTypedArrayTypeUint8Array, PIECE, &shared.scratch), 0);
    gbx_set(ctx, natives, "words",
            share(ctx, kJSTypedArrayTypeUint32Array, WORDS, &shared.words), 0);
    add(ctx, natives, "longest", (double)GBX_HASH_LEN_MAX);
    return natives;
}

void gbx_crypto_begin(gbx_realm *realm, JSObjectRef made)
{
    gbx_span entropy = realm->in->entropy;

    (void)made;
    gbx_crypto_seed(entropy.len == GBX_CRYPTO_SEED_SIZE ? entropy.data : NULL);
}

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

/* Bytes that most values fit in: only algorithms with a free length exceed it. */
#define SHORT 64u

/* Indexes of the numbers that the script stores for a native, named in brackets below:
 * each query to the engine costs as much as hashing a short text. */
enum { ALGORITHM, LENGTH, COUNT, ENCODING, WORDS };

/* State that all natives share: a process has one realm. */
static struct {
    JSClassRef hash_class;
    uint32_t *words;  /* WORDS of them, a Uint32Array to the script */
    uint8_t *scratch; /* PIECE bytes, a Uint8Array to the script */
    uint8_t *decoded; /* room for a piece of text, as bytes */
    size_t unreported;
} shared;

/* The hash of a HashState; it has none once the value of the hash was returned. */
static gbx_hash *held_by(JSValueRef value)
{
    gbx_hash *hash = JSObjectGetPrivate(gbx_object(value));

    assert(hash != NULL);
    return hash;
}

/* The number of bytes of scratch to use. */
static size_t count_of_scratch(void)
{
    assert(shared.words[COUNT] <= PIECE);
    return shared.words[COUNT];
}

/* The collector calls this: it must not call the engine. */
static void on_finalize(JSObjectRef object)
{
    gbx_hash_free(JSObjectGetPrivate(object));
}

static JSValueRef hold(JSContextRef ctx, gbx_hash *hash, size_t cost)
{
    /* Report memory that the engine does not see, or it would not collect in time. */
    shared.unreported += cost;
    if (shared.unreported >= GBX_KIB(16) && JSReportExtraMemoryCost != NULL) {
        JSReportExtraMemoryCost(ctx, shared.unreported);
        shared.unreported = 0;
    }
    return JSObjectMake(ctx, shared.hash_class, hash);
}

/* open() [algorithm, length] */
static JSValueRef on_open(GBX_ARGUMENTS)
{
    return hold(ctx, gbx_hash_new(shared.words[ALGORITHM], shared.words[LENGTH]),
                GBX_HASH_COST);
}

/* A piece of text as bytes, valid until the next one. */
static gbx_span piece_of(JSStringRef string, gbx_bytes_as as)
{
    assert(JSStringGetLength(string) <= PIECE);
    return gbx_string_bytes(string, as, shared.decoded);
}

/* openMac(key) [algorithm, encoding]: the key is a piece of text, or a Uint8Array that
 * only the script has. */
static JSValueRef on_open_mac(GBX_ARGUMENTS)
{
    JSStringRef string =
        JSValueIsString(ctx, argv[0]) ? JSValueToStringCopy(ctx, argv[0], NULL) : NULL;
    gbx_span key = string != NULL
                       ? piece_of(string, (gbx_bytes_as)shared.words[ENCODING])
                       : gbx_bytes_of(ctx, argv[0]);
    gbx_hash *mac = gbx_hash_new_mac(shared.words[ALGORITHM], key.data, key.len);

    gbx_string_release(&string);
    return hold(ctx, mac, GBX_HASH_MAC_COST);
}

static JSValueRef on_copy(GBX_ARGUMENTS)
{
    return hold(ctx, gbx_hash_copy(held_by(argv[0])), GBX_HASH_COST);
}

/* bytes(hash) [count]: hashes the first count bytes of scratch. */
static JSValueRef on_bytes(GBX_ARGUMENTS)
{
    gbx_hash_update(held_by(argv[0]), shared.scratch, count_of_scratch());
    return JSValueMakeUndefined(ctx);
}

static void feed(gbx_hash *hash, JSStringRef string, gbx_bytes_as as)
{
    gbx_span bytes = piece_of(string, as);

    gbx_hash_update(hash, bytes.data, bytes.len);
}

/* text(hash, piece) [encoding]: hashes a piece of a text. */
static JSValueRef on_text(GBX_ARGUMENTS)
{
    gbx_hash *hash = held_by(argv[0]);
    JSStringRef string = JSValueToStringCopy(ctx, argv[1], exception);

    if (string == NULL)
        return JSValueMakeUndefined(ctx);
    feed(hash, string, (gbx_bytes_as)shared.words[ENCODING]);
    JSStringRelease(string);
    return JSValueMakeUndefined(ctx);
}

static JSValueRef make_hex(JSContextRef ctx, const uint8_t *value, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    char hex[SHORT * 2 + 1];
    JSStringRef text;
    JSValueRef made;

    for (size_t i = 0; i < len; i++) {
        hex[2 * i] = digits[value[i] >> 4];
        hex[2 * i + 1] = digits[value[i] & 15];
    }
    hex[2 * len] = 0;
    text = JSStringCreateWithUTF8CString(hex);
    made = JSValueMakeString(ctx, text);
    JSStringRelease(text);
    return made;
}

/* [encoding]: the value in hex if requested and short, else a Uint8Array. */
static JSValueRef make_value(JSContextRef ctx, gbx_hash *hash, JSValueRef *exception)
{
    size_t len = gbx_hash_value_len(hash);
    bool is_hex = shared.words[ENCODING] == GBX_BYTES_HEX && len <= SHORT;
    uint8_t few[SHORT];
    uint8_t *value = is_hex ? few : malloc(len + 1);

    if (value == NULL)
        abort();
    gbx_hash_value(hash, value);
    gbx_hash_free(hash);
    return is_hex ? make_hex(ctx, value, len)
                  : gbx_value_of_bytes(ctx, value, len, exception);
}

/* value(hash) [encoding]: ends the hash. */
static JSValueRef on_value(GBX_ARGUMENTS)
{
    gbx_hash *hash = held_by(argv[0]);

    (void)JSObjectSetPrivate(gbx_object(argv[0]), NULL);
    return make_value(ctx, hash, exception);
}

/* once(text) [algorithm, length, encoding]: the value of a piece of text in UTF-8. */
static JSValueRef on_once(GBX_ARGUMENTS)
{
    JSStringRef string = JSValueToStringCopy(ctx, argv[0], exception);
    gbx_hash *hash;

    if (string == NULL)
        return JSValueMakeUndefined(ctx);
    hash = gbx_hash_new(shared.words[ALGORITHM], shared.words[LENGTH]);
    feed(hash, string, GBX_BYTES_UTF8);
    JSStringRelease(string);
    return make_value(ctx, hash, exception);
}

/* random() [count]: fills scratch. False without a random stream. */
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

/* ---- the objects that the script gets --------------------------------------- */

/* {name: [number, length, is its length free?]}; aliases are not enumerable. */
static JSObjectRef make_algorithms(JSContextRef ctx)
{
    JSObjectRef all = JSObjectMake(ctx, NULL, NULL);

    for (size_t i = 0; i < GBX_HASH_COUNT; i++) {
        const gbx_hash_algorithm *a = &gbx_hash_algorithms[i];
        JSValueRef row[] = {
            JSValueMakeNumber(ctx, (double)i),
            JSValueMakeNumber(ctx, (double)a->len),
            JSValueMakeBoolean(ctx, a->is_free),
        };
        JSValueRef made = JSObjectMakeArray(ctx, GBX_COUNTOF(row), row, NULL);

        gbx_set(ctx, all, a->name, made, 0);
        for (size_t k = 0; a->aliases[k] != NULL; k++)
            gbx_set(ctx, all, a->aliases[k], made, kJSPropertyAttributeDontEnum);
    }
    return all;
}

JSObjectRef gbx_crypto_natives(gbx_realm *realm, JSObjectRef common,
                               const char **ret_reason)
{
    static const gbx_native_row table[] = {
        {"open", on_open},   {"openMac", on_open_mac}, {"copy", on_copy},
        {"bytes", on_bytes}, {"text", on_text},        {"value", on_value},
        {"once", on_once},   {"random", on_random},    {"equal", on_equal},
    };
    JSClassDefinition definition = kJSClassDefinitionEmpty;
    JSContextRef ctx = realm->ctx;
    JSObjectRef natives;

    *ret_reason = gbx_hash_load();
    if (*ret_reason != NULL)
        return NULL;
    definition.className = "HashState";
    definition.attributes = kJSClassAttributeNoAutomaticPrototype;
    definition.finalize = on_finalize;
    if (shared.hash_class == NULL) {
        shared.hash_class = JSClassCreate(&definition);
        shared.decoded = malloc(GBX_STRING_ROOM(PIECE));
        if (shared.decoded == NULL)
            abort();
    }
    natives = JSObjectMake(ctx, NULL, NULL);
    gbx_natives_add(ctx, natives, table, GBX_COUNTOF(table), 0);
    gbx_set(ctx, natives, "algorithms", make_algorithms(ctx), 0);
    gbx_set(ctx, natives, "common", common, 0);
    gbx_set(ctx, natives, "scratch",
            gbx_share(ctx, kJSTypedArrayTypeUint8Array, PIECE, &shared.scratch), 0);
    gbx_set(ctx, natives, "words",
            gbx_share(ctx, kJSTypedArrayTypeUint32Array, WORDS, &shared.words), 0);
    gbx_set(ctx, natives, "longest", JSValueMakeNumber(ctx, (double)GBX_HASH_LEN_MAX),
            0);
    return natives;
}

void gbx_crypto_begin(gbx_realm *realm, JSObjectRef made)
{
    gbx_span entropy = realm->in->entropy;

    gbx_crypto_seed(entropy.len == GBX_CRYPTO_SEED_SIZE ? entropy.data : NULL);
}

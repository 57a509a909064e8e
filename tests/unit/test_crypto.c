/* SPDX-License-Identifier: MIT */
/* The hashes without an engine: every algorithm, every encoding, the stream. */
#include "crypto/crypto.h"
#include "support/vectors.h"
#include "test.h"

#include "base/cleanup.h"

/* ---- loading ----------------------------------------------------------------------- */

/* The first of all tests: nothing is loaded yet. */
TEST(load__says_what_is_missing)
{
    static const uint8_t key[GBX_CRYPTO_SEED_SIZE];
    uint8_t byte;

    assert_string_equal(gbx_hash_load_file("libnowhere.so"),
                        "'libnowhere.so' cannot be loaded: hashes need OpenSSL");
    assert_string_equal(gbx_hash_load_file("libm.so.6"),
                        "'libm.so.6' has no OPENSSL_init_crypto");
    gbx_crypto_seed(key);
    assert_false(gbx_crypto_random(&byte, 1));
}

/* main() has named a configuration that leaves no algorithm to be found. */
TEST(load__asks_no_configuration_file)
{
    assert_null(gbx_hash_load());
}

TEST(load__may_be_asked_for_again)
{
    assert_null(gbx_hash_load());
    assert_null(gbx_hash_load());
}

TEST(names__are_sorted_and_lower_case)
{
    for (size_t i = 0; i < gbx_hash_count(); i++) {
        const char *name = gbx_hash_name(i);

        assert_true(i == 0 || strcmp(gbx_hash_name(i - 1), name) < 0);
        for (size_t k = 0; name != NULL; name = gbx_hash_alias(i, k++))
            assert_int_equal(strcspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), strlen(name));
    }
}

/* ---- hashes ------------------------------------------------------------------ */

static size_t find(const char *name)
{
    for (size_t i = 0; i < gbx_hash_count(); i++)
        if (strcmp(gbx_hash_name(i), name) == 0)
            return i;
    fail_msg("there is no %s", name);
    return 0;
}

static void ends_as(gbx_hash *hash, const vector *v)
{
    uint8_t value[2048];
    char hex[4100];

    assert_int_equal(gbx_hash_value_len(hash), v->value_len);
    gbx_hash_value(hash, value);
    to_hex(value, v->value_len, hex);
    if (strcmp(hex, v->value) != 0)
        fail_msg("%s of %s (%zu bytes): %s", v->name, v->data_text, v->data_len, hex);
    gbx_hash_free(hash);
}

/* In pieces whose lengths go round 1, 2, ... most; whole if most is 0. */
static void feed(gbx_hash *hash, const uint8_t *data, size_t len, size_t most)
{
    size_t size = 1;

    if (most == 0) {
        gbx_hash_update(hash, data, len);
        return;
    }
    for (size_t at = 0; at < len; at += size, size = size % most + 1) {
        size = size < len - at ? size : len - at;
        gbx_hash_update(hash, data + at, size);
    }
}

static void check_whole(void *user, const vector *v)
{
    gbx_hash *hash = gbx_hash_new(find(v->name), v->value_len);

    (void)user;
    feed(hash, v->data, v->data_len, 0);
    ends_as(hash, v);
}

TEST(hash__has_the_known_value_of_every_input)
{
    assert_int_equal(each_hash(check_whole, NULL), 250);
}

static void check_pieces(void *user, const vector *v)
{
    gbx_hash *hash = gbx_hash_new(find(v->name), v->value_len);

    (void)user;
    feed(hash, v->data, v->data_len, 300);
    ends_as(hash, v);
}

TEST(hash__is_the_same_in_pieces)
{
    (void)each_hash(check_pieces, NULL);
}

static void check_copy(void *user, const vector *v)
{
    gbx_hash *hash = gbx_hash_new(find(v->name), v->value_len);
    gbx_hash *copy;

    (void)user;
    feed(hash, v->data, v->data_len / 2, 0);
    copy = gbx_hash_copy(hash);
    feed(hash, (const uint8_t *)"something else", 14, 0);
    gbx_hash_free(hash);
    feed(copy, v->data + v->data_len / 2, v->data_len - v->data_len / 2, 0);
    ends_as(copy, v);
}

TEST(copy__goes_on_alone)
{
    (void)each_hash(check_copy, NULL);
}

TEST(hash__of_a_free_length_may_be_long_or_empty)
{
    size_t shake = find("shake256");
    gbx_hash *hash = gbx_hash_new(shake, GBX_HASH_LEN_MAX);
    uint8_t *value = malloc(GBX_HASH_LEN_MAX);
    char hex[17];

    assert_non_null(value);
    gbx_hash_update(hash, "abc", 3);
    gbx_hash_value(hash, value);
    gbx_hash_free(hash);
    to_hex(value, 8, hex);
    assert_string_equal(hex, "483366601360a877");
    free(value);

    hash = gbx_hash_new(shake, 0);
    gbx_hash_value(hash, (uint8_t *)hex);
    gbx_hash_free(hash);
}

/* ---- MACs -------------------------------------------------------------------- */

static void check_mac(void *user, const vector *v)
{
    const size_t *most = user;
    gbx_hash *hash = gbx_hash_new_mac(find(v->name));

    feed(hash, v->key, v->key_len, *most);
    gbx_hash_keyed(hash);
    feed(hash, v->data, v->data_len, *most);
    ends_as(hash, v);
}

TEST(mac__has_the_known_value_of_every_key)
{
    size_t most = 0;

    assert_int_equal(each_mac(check_mac, &most), 210);
}

TEST(mac__is_the_same_in_pieces)
{
    size_t most = 50;

    (void)each_mac(check_mac, &most);
}

TEST(mac__may_be_freed_at_any_time)
{
    gbx_hash *hash = gbx_hash_new_mac(find("sha256"));

    gbx_hash_free(hash);
    hash = gbx_hash_new_mac(find("sha256"));
    for (int i = 0; i < 100; i++)
        gbx_hash_update(hash, "a long key", 10);
    gbx_hash_free(hash);
    hash = gbx_hash_new_mac(find("sha256"));
    gbx_hash_keyed(hash);
    gbx_hash_free(hash);
    gbx_hash_free(NULL);
}

TEST(equal__compares_every_byte)
{
    uint8_t a[100] = {0}, b[100] = {0};

    assert_true(gbx_hash_equal(a, b, sizeof a));
    for (size_t i = 0; i < sizeof a; i++) {
        b[i] = 1;
        assert_false(gbx_hash_equal(a, b, sizeof a));
        b[i] = 0;
    }
    assert_true(gbx_hash_equal(a, b, 0));
}

/* ---- text ---------------------------------------------------------------------- */

typedef struct text_case {
    gbx_encoding encoding;
    uint16_t units[40];
    const char *hex;
} text_case;

static const text_case text_cases[] = {
    {GBX_ENCODING_UTF8, u"", ""},
    {GBX_ENCODING_UTF8, u"abcdefgh", "6162636465666768"},
    {GBX_ENCODING_UTF8, {0x7F, 0x80, 0x7FF, 0x800, 0xFFFF}, "7fc280dfbfe0a080efbfbf"},
    {GBX_ENCODING_UTF8, u"abcd\u00e9fgh\u20ac", "61626364c3a9666768e282ac"},
    {GBX_ENCODING_UTF8, u"\U00010000\U0010ffff", "f0908080f48fbfbf"},
    {GBX_ENCODING_UTF8, {0xD800}, "efbfbd"},
    {GBX_ENCODING_UTF8, {0xDC00, 'a'}, "efbfbd61"},
    {GBX_ENCODING_UTF8, {0xDC00, 0xD800}, "efbfbdefbfbd"},
    {GBX_ENCODING_UTF8, {0xD83D, 0xD83D, 0xDE00, 0xDE00}, "efbfbdf09f9880efbfbd"},
    {GBX_ENCODING_LATIN1, u"a\u00e9\u0141", "61e941"},
    {GBX_ENCODING_UTF16LE, u"a\u00e9\u20ac", "6100e900ac20"},
    {GBX_ENCODING_UTF16LE, {0xD800}, "00d8"},
    {GBX_ENCODING_HEX, u"00fFaB7", "00ffab"},
    {GBX_ENCODING_HEX, u"61zz62", "61"},
    {GBX_ENCODING_HEX, u"6", ""},
    {GBX_ENCODING_HEX, u"\u013661", ""},
    {GBX_ENCODING_HEX, u"61\u0161\u016161", "61"},
    {GBX_ENCODING_BASE64, u"YQ==YQ==", "61"},
    {GBX_ENCODING_BASE64, u"=bad", ""},
    {GBX_ENCODING_BASE64, u"Y Q = =", "61"},
    {GBX_ENCODING_BASE64, u"YQ", "61"},
    {GBX_ENCODING_BASE64, u"Y", ""},
    {GBX_ENCODING_BASE64, u"YWI", "6162"},
    {GBX_ENCODING_BASE64, u"YW*I=", "6162"},
    {GBX_ENCODING_BASE64, u"-_-_+/+/", "fbffbffbffbf"},
    {GBX_ENCODING_BASE64, u"YWJj\u0100ZGVm", "616263646566"},
    {GBX_ENCODING_BASE64, u"YWJjZA==YQ==", "61626364"},
    {GBX_ENCODING_BASE64, u"YW=Jj", "61"},
    {GBX_ENCODING_BASE64URL, u"-_8", "fbff"},
};

static size_t length_of(const uint16_t *units)
{
    size_t n = 0;

    while (units[n] != 0)
        n++;
    return n;
}

/* One byte each, where all fit. */
static bool narrow(const uint16_t *units, size_t count, uint8_t *to)
{
    for (size_t i = 0; i < count; i++) {
        if (units[i] > 0xFF)
            return false;
        to[i] = (uint8_t)units[i];
    }
    return true;
}

/* Decode at most step characters at once into memory of exactly the size promised. */
static void expect_decoded(const text_case *c, const gbx_text_units *text, size_t step)
{
    gbx_decoder decoder = {.encoding = c->encoding};
    uint8_t all[200];
    char hex[401];
    size_t used = 0;

    for (size_t at = 0; at < text->count; at += step) {
        size_t count = step < text->count - at ? step : text->count - at;
        gbx_text_units piece = {
            .narrow = text->narrow != NULL ? text->narrow + at : NULL,
            .wide = text->narrow == NULL ? text->wide + at : NULL,
            .count = count,
        };
        uint8_t *to = malloc(count * GBX_DECODED_MAX);
        const uint8_t *decoded;
        size_t len;

        assert_non_null(to);
        decoded = gbx_decode(&decoder, &piece, to, &len);
        if (len > 0)
            memcpy(all + used, decoded, len);
        used += len;
        free(to);
    }
    to_hex(all, used, hex);
    assert_string_equal(hex, c->hex);
}

TEST(decode__is_right_in_every_encoding)
{
    for (size_t i = 0; i < GBX_COUNTOF(text_cases); i++) {
        const text_case *c = &text_cases[i];
        gbx_text_units wide = {.wide = c->units, .count = length_of(c->units)};
        uint8_t bytes[40];
        gbx_text_units one = {.narrow = bytes, .count = wide.count};

        expect_decoded(c, &wide, 100);
        if (narrow(c->units, wide.count, bytes))
            expect_decoded(c, &one, 100);
    }
}

TEST(decode__is_the_same_in_pieces)
{
    for (size_t i = 0; i < GBX_COUNTOF(text_cases); i++) {
        const text_case *c = &text_cases[i];
        gbx_text_units wide = {.wide = c->units, .count = length_of(c->units)};

        if (c->encoding != GBX_ENCODING_UTF8)
            expect_decoded(c, &wide, 2);
    }
}

TEST(decode__of_any_units_stays_within_its_room)
{
    uint32_t x = 1;

    for (int round = 0; round < 20000; round++) {
        uint16_t units[50];
        uint8_t bytes[50];
        gbx_text_units text = {.wide = units, .count = (size_t)round % 50};
        gbx_decoder decoder = {.encoding = (gbx_encoding)(round % 6)};
        uint8_t *to = malloc(text.count * GBX_DECODED_MAX + 1);
        size_t len;

        assert_non_null(to);
        for (size_t i = 0; i < text.count; i++) {
            x = x * 1664525u + 1013904223u;
            /* Much of what matters: ASCII, surrogates, and anything. */
            units[i] = (uint16_t)(x >> 30 == 0   ? x >> 16 & 0x7F
                                  : x >> 30 == 1 ? 0xD800 | (x >> 16 & 0x7FF)
                                                 : x >> 8);
            bytes[i] = (uint8_t)units[i];
        }
        if (round % 3 == 0) {
            text.wide = NULL;
            text.narrow = bytes;
        }
        (void)gbx_decode(&decoder, &text, to, &len);
        assert_true(len <= text.count * GBX_DECODED_MAX);
        free(to);
    }
}

TEST(encode__is_right_in_every_encoding)
{
    static const struct {
        gbx_encoding encoding;
        const char *data, *text;
    } cases[] = {
        {GBX_ENCODING_HEX, "", ""},
        {GBX_ENCODING_HEX, "\x01\xab\xff", "01abff"},
        {GBX_ENCODING_BASE64, "", ""},
        {GBX_ENCODING_BASE64, "a", "YQ=="},
        {GBX_ENCODING_BASE64, "ab", "YWI="},
        {GBX_ENCODING_BASE64, "\xfb\xff\xbf", "+/+/"},
        {GBX_ENCODING_BASE64URL, "", ""},
        {GBX_ENCODING_BASE64URL, "a", "YQ"},
        {GBX_ENCODING_BASE64URL, "ab", "YWI"},
        {GBX_ENCODING_BASE64URL, "\xfb\xff\xbf", "-_-_"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        size_t len = strlen(cases[i].data);
        char text[16];

        gbx_encode(cases[i].encoding, (const uint8_t *)cases[i].data, len, text);
        assert_string_equal(text, cases[i].text);
        assert_int_equal(gbx_encoded_len(cases[i].encoding, len),
                         strlen(cases[i].text));
    }
}

/* ---- randomness ------------------------------------------------------------------ */

TEST(random__is_the_keystream_of_its_key)
{
    static const uint8_t zeros[GBX_CRYPTO_SEED_SIZE];
    uint8_t bytes[64];
    char hex[129];

    gbx_crypto_seed(zeros);
    assert_true(gbx_crypto_random(bytes, 10));
    assert_true(gbx_crypto_random(bytes + 10, 54));

    /* RFC 8439, A.1, test vector 1 */
    to_hex(bytes, sizeof bytes, hex);
    assert_string_equal(hex, "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc"
                             "8b770dc7da41597c5157488d7724e03fb8d84a376a43b8f41518a11c"
                             "c387b669b2ee6586");
}

TEST(random__begins_anew_with_each_key)
{
    uint8_t key[GBX_CRYPTO_SEED_SIZE] = {1};
    uint8_t first[100], other[100];

    gbx_crypto_seed(key);
    assert_true(gbx_crypto_random(first, sizeof first));
    key[31] = 1;
    gbx_crypto_seed(key);
    assert_true(gbx_crypto_random(other, sizeof other));
    assert_memory_not_equal(first, other, sizeof first);
    key[31] = 0;
    gbx_crypto_seed(key);
    assert_true(gbx_crypto_random(other, sizeof other));
    assert_memory_equal(first, other, sizeof first);
}

TEST(random__is_refused_without_a_key)
{
    uint8_t bytes[4];

    gbx_crypto_seed(NULL);

    assert_false(gbx_crypto_random(bytes, sizeof bytes));
    assert_false(gbx_crypto_random(bytes, 0));
}

int main(void)
{
    (void)setenv("OPENSSL_CONF", CRYPTO_TABLES "/hostile.cnf", 1);
    return tests_run(NULL, NULL);
}

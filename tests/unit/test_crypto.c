/* SPDX-License-Identifier: MIT */
/* The hashes without an engine: every algorithm, the stream. */
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
    for (size_t i = 0; i < GBX_HASH_COUNT; i++) {
        const gbx_hash_algorithm *a = &gbx_hash_algorithms[i];
        const char *name = a->name;

        assert_true(i == 0 || strcmp(a[-1].name, name) < 0);
        for (size_t k = 0; name != NULL; name = a->aliases[k++])
            assert_int_equal(strcspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), strlen(name));
    }
}

/* ---- hashes ------------------------------------------------------------------ */

static size_t find(const char *name)
{
    for (size_t i = 0; i < GBX_HASH_COUNT; i++)
        if (strcmp(gbx_hash_algorithms[i].name, name) == 0)
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
    gbx_hash *hash = gbx_hash_new_mac(find(v->name), v->key, v->key_len);

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
    gbx_hash_free(gbx_hash_new_mac(find("sha256"), NULL, 0));
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

/* SPDX-License-Identifier: MIT */
/* digest - SHA-256 as FIPS 180-4 has it, base64 as RFC 4648 has it. */
#include "base/base64.h"
#include "base/cleanup.h"
#include "base/sha256.h"
#include "test.h"

static void check(const char *data, size_t len, const char *expected)
{
    uint8_t digest[GBX_SHA256_SIZE];
    char text[GBX_SHA256_HEX_SIZE];

    for (size_t split = 0; split <= len && split < 200; split++) {
        gbx_sha256 s;

        gbx_sha256_init(&s);
        gbx_sha256_add(&s, data, split);
        gbx_sha256_add(&s, data + split, len - split);
        gbx_sha256_end(&s, digest);
        gbx_sha256_print(digest, text);
        assert_string_equal(text, expected);
    }
}

TEST(sha256__is_that_of_the_standard_however_it_comes)
{
    char *million = malloc(1000000);

    memset(million, 'a', 1000000);
    check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check(million, 1000000,
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

TEST(base64__goes_both_ways)
{
    static const char *const pairs[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(pairs); i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
        uint8_t back[16];
        size_t len;

        gbx_buf_init(&buf, 100);
        assert_true(gbx_base64_append(&buf, pairs[i][0], strlen(pairs[i][0])));
        assert_int_equal(buf.len, strlen(pairs[i][1]));
        if (buf.len > 0)
            assert_memory_equal(buf.data, pairs[i][1], buf.len);
        assert_true(gbx_base64_decode(pairs[i][1], strlen(pairs[i][1]), back, &len));
        assert_int_equal(len, strlen(pairs[i][0]));
        assert_memory_equal(back, pairs[i][0], len);
    }
}

TEST(base64__is_one_text_for_the_same_bytes)
{
    static const char *const wrong[] = {"Z",    "Zg",   "Zg=",  "Zh==", "Zm9=",
                                        "====", "Z===", "Zm 9", "Zm9-", "Zg==Zg=="};
    uint8_t back[16];
    size_t len;

    for (size_t i = 0; i < GBX_COUNTOF(wrong); i++)
        assert_false(gbx_base64_decode(wrong[i], strlen(wrong[i]), back, &len));
}

TEST(base64__of_others_is_in_lines_and_not_padded)
{
    static const char *const right[] = {"Zm9vYg==",         "Zm9vYg",
                                        "Zm9v\r\nYg==\r\n", "Zm9vYg\n=",
                                        " Z m\t9\nvY g",    "Zm9v\n\nYg=\n="};
    static const char *const wrong[] = {"Z",  "Zh",    "Zm9=Z", "Zg==Zg", "=",
                                        "==", "Zm9vY", "Zm9v=", "Zm9-",   "Zg\xA0=="};

    for (size_t i = 0; i < GBX_COUNTOF(right) + GBX_COUNTOF(wrong); i++) {
        bool is_right = i < GBX_COUNTOF(right);
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

        gbx_buf_init(&buf, 100);
        (void)gbx_buf_puts(&buf, is_right ? right[i] : wrong[i - GBX_COUNTOF(right)]);
        assert_int_equal(gbx_base64_undo(&buf), is_right);
        if (is_right)
            assert_int_equal(buf.len, 4);
        if (is_right)
            assert_memory_equal(buf.data, "foob", 4);
    }
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/* seal - what was not sealed here, to the bit, is not a state. */
#include "base/cleanup.h"
#include "mcp/server/registry.h"
#include "mcp/server/seal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static gbx_mcp_state some_state(void)
{
    gbx_mcp_state state = {.round = 7, .until_ns = 0x0123456789ABCDEF};

    assert_true(gbx_mcp_state_id_new(&state.id));
    memset(state.request.bytes, 0x5A, sizeof state.request.bytes);
    return state;
}

/* RFC 4231, test cases 1, 2, 3, 6 and 7. */
static void test_hmac__is_that_of_the_standard(void **state)
{
    static const char *const hex[] = {
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"};
    uint8_t key[131];
    uint8_t data[50];
    uint8_t mac[GBX_SHA256_SIZE];
    char print[GBX_SHA256_HEX_SIZE];
    (void)state;

    memset(key, 0x0b, 20);
    gbx_mcp_hmac(key, 20, "Hi There", 8, mac);
    gbx_sha256_print(mac, print);
    assert_string_equal(print, hex[0]);
    gbx_mcp_hmac((const uint8_t *)"Jefe", 4, "what do ya want for nothing?", 28, mac);
    gbx_sha256_print(mac, print);
    assert_string_equal(print, hex[1]);
    memset(key, 0xaa, sizeof key);
    memset(data, 0xdd, sizeof data);
    gbx_mcp_hmac(key, 20, data, 50, mac);
    gbx_sha256_print(mac, print);
    assert_string_equal(print, hex[2]);
    gbx_mcp_hmac(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
                 mac);
    gbx_sha256_print(mac, print);
    assert_string_equal(print, hex[3]);
}

static void test_a_state__comes_back_as_it_was(void **state)
{
    char text[GBX_MCP_STATE_SIZE];
    gbx_mcp_state sealed = some_state();
    gbx_mcp_state back;
    gbx_mcp_seal seal;
    (void)state;

    assert_true(gbx_mcp_seal_init(&seal));
    gbx_mcp_seal_state(&seal, &sealed, text);
    assert_int_equal(strlen(text), GBX_MCP_STATE_SIZE - 1);
    assert_true(gbx_mcp_unseal_state(&seal, text, strlen(text), &back));
    assert_memory_equal(&back.id, &sealed.id, sizeof back.id);
    assert_int_equal(back.round, 7);
    assert_int_equal(back.until_ns, sealed.until_ns);
    assert_memory_equal(&back.request, &sealed.request, sizeof back.request);
}

static void test_every_changed_character__breaks_the_seal(void **state)
{
    char text[GBX_MCP_STATE_SIZE];
    gbx_mcp_state sealed = some_state();
    gbx_mcp_state back;
    gbx_mcp_seal seal;
    (void)state;

    assert_true(gbx_mcp_seal_init(&seal));
    gbx_mcp_seal_state(&seal, &sealed, text);
    for (size_t i = 0; i < GBX_MCP_STATE_SIZE - 1; i++) {
        char kept = text[i];

        text[i] = kept == 'A' ? 'B' : 'A';
        assert_false(gbx_mcp_unseal_state(&seal, text, strlen(text), &back));
        text[i] = kept;
        assert_false(gbx_mcp_unseal_state(&seal, text, i, &back));
    }
    assert_true(gbx_mcp_unseal_state(&seal, text, strlen(text), &back));
}

static void test_another_process__has_another_key(void **state)
{
    char text[GBX_MCP_STATE_SIZE];
    gbx_mcp_state sealed = some_state();
    gbx_mcp_seal seals[2];
    gbx_mcp_state back;
    (void)state;

    assert_true(gbx_mcp_seal_init(&seals[0]));
    assert_true(gbx_mcp_seal_init(&seals[1]));
    gbx_mcp_seal_state(&seals[0], &sealed, text);
    assert_false(gbx_mcp_unseal_state(&seals[1], text, strlen(text), &back));
}

static gbx_mcp_digest digest_of(const char *method, const char *params)
{
    gbx_mcp_digest digest;
    gbx_view view;

    assert_true(gbx_view_open(params, strlen(params), &view));
    gbx_mcp_digest_request(method, view, &digest);
    return digest;
}

static gbx_mcp_digest digest_in(const char *before, const char *value)
{
    char text[4096];

    (void)snprintf(text, sizeof text, "%s%s}", before, value);
    return digest_of("m", text);
}

static void test_a_digest__is_of_what_the_request_means(void **state)
{
    static const char *const others[] = {
        "{\"name\":\"t\",\"arguments\":{\"a\":\"x  y\"}}",
        "{\"name\":\"t\",\"arguments\":{\"a\":\"x y\",\"b\":1}}",
        "{\"name\":\"u\",\"arguments\":{\"a\":\"x y\"}}", "{}"};
    gbx_mcp_digest one =
        digest_of("m", "{\"name\":\"t\",\"arguments\":{\"a\":\"x y\"},\"_meta\":{}}");
    gbx_mcp_digest same = digest_of(
        "m", " {\"name\" : \"t\",\n\"requestState\":\"s\",\"inputResponses\":{\"q\":1},"
             "\"arguments\": {\"a\":\t\"x y\"}, \"_meta\":{\"k\":2}}");
    gbx_mcp_digest other;
    (void)state;

    assert_memory_equal(&one, &same, sizeof one);
    other = digest_of("n", "{\"name\":\"t\",\"arguments\":{\"a\":\"x y\"}}");
    assert_memory_not_equal(&one, &other, sizeof one);
    for (size_t i = 0; i < GBX_COUNTOF(others); i++) {
        other = digest_of("m", others[i]);
        assert_memory_not_equal(&one, &other, sizeof one);
    }
}

static void test_a_digest__is_the_same_however_it_is_written(void **state)
{
    static const struct {
        const char *one;
        const char *other;
    } rows[] = {
        {"{\"name\":\"t\",\"arguments\":{\"a\":[{\"b\":1,\"c\":2}],\"d\":{}}}",
         "{\"arguments\":{\"d\":{},\"a\":[{\"c\":2,\"b\":1}]},\"name\":\"t\"}"},
        {"{\"a\":\"\u00e9/\U0001f600\",\"\u00e9\":\"\\n\"}",
         "{\"\\u00E9\":\"\\u000a\",\"a\":\"\\u00e9\\/\\ud83d\\uDE00\"}"},
        {"[5e3]", "[5000]"},
        {"[5E+3]", "[5000.000]"},
        {"[0.0012]", "[12e-4]"},
        {"[1200]", "[1.2e0003]"},
        {"[-10.50]", "[-105e-1]"},
        {"[0]", "[0.00E9]"},
        {"[100]", "[0.1e3]"},
        {"[12345678901234567890]", "[1234567890123456789.0e1]"},
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_mcp_digest one = digest_in("{\"x\":", rows[i].one);
        gbx_mcp_digest other = digest_in("{\"x\":", rows[i].other);

        assert_memory_equal(&one, &other, sizeof one);
    }
}

/* Each is another request than all the others. */
static void test_a_digest__tells_apart_whatever_a_reader_may(void **state)
{
    static const char *const texts[] = {"[]",
                                        "{}",
                                        "\"\"",
                                        "null",
                                        "true",
                                        "false",
                                        "0",
                                        "-0",
                                        "1",
                                        "-1",
                                        "10",
                                        "0.1",
                                        "0.01",
                                        "101",
                                        "11",
                                        "1.01",
                                        "\"1\"",
                                        "[1]",
                                        "[[]]",
                                        "[{}]",
                                        "[1,1]",
                                        "[11]",
                                        "[\"1,1\"]",
                                        "12345678901234567890",
                                        "12345678901234567891",
                                        "1e400",
                                        "1e401",
                                        "-1e400",
                                        "0.1000000000000000055511151231257827",
                                        "1e9999999999999999999",
                                        "1e9999999999999999998",
                                        "{\"a\":1}",
                                        "{\"a\":\"1\"}",
                                        "{\"A\":1}",
                                        "{\"b\":1}",
                                        "{\"a\":1,\"b\":2}",
                                        "{\"a\":2,\"b\":1}",
                                        "{\"a\":1,\"a\":2}",
                                        "{\"a\":2,\"a\":1}",
                                        "{\"a\":{\"b\":2}}",
                                        "{\"a\":[],\"b\":2}",
                                        "{\"a\":[\"b\",2]}",
                                        "\"\\ud800\"",
                                        "\"\\udc00\"",
                                        "\"\\ufffd\"",
                                        "\"\\\\ud800\"",
                                        "\"a\\u0000\"",
                                        "\"a\"",
                                        "\"a \"",
                                        "[\"a\",\"b\"]",
                                        "[\"ab\"]",
                                        "[\"a\\\",\\\"b\"]",
                                        "{\"\\ud800\":1}",
                                        "{\"\\udc00\":1}"};
    gbx_mcp_digest digests[GBX_COUNTOF(texts)];
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++) {
        digests[i] = digest_in("{\"x\":", texts[i]);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(&digests[i], &digests[k], sizeof digests[i]);
    }
}

static void test_a_digest__of_what_is_nested_deeply_is_one(void **state)
{
    char one[2100] = "";
    char other[2100] = "";
    gbx_mcp_digest digests[3];
    (void)state;

    for (int i = 0; i < 900; i++)
        one[i] = other[i] = '[';
    one[900] = '1';
    other[900] = '2';
    for (int i = 0; i < 900; i++)
        one[901 + i] = other[901 + i] = ']';
    digests[0] = digest_in("{\"x\":", one);
    digests[1] = digest_in("{ \"x\" : ", one);
    digests[2] = digest_in("{\"x\":", other);
    assert_memory_equal(&digests[0], &digests[1], sizeof digests[0]);
    assert_memory_not_equal(&digests[0], &digests[2], sizeof digests[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hmac__is_that_of_the_standard),
        cmocka_unit_test(test_a_state__comes_back_as_it_was),
        cmocka_unit_test(test_every_changed_character__breaks_the_seal),
        cmocka_unit_test(test_another_process__has_another_key),
        cmocka_unit_test(test_a_digest__is_of_what_the_request_means),
        cmocka_unit_test(test_a_digest__is_the_same_however_it_is_written),
        cmocka_unit_test(test_a_digest__tells_apart_whatever_a_reader_may),
        cmocka_unit_test(test_a_digest__of_what_is_nested_deeply_is_one),
    };

    return cmocka_run_group_tests_name("mcp_seal", tests, NULL, NULL);
}

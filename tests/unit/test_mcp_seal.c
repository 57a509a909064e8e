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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hmac__is_that_of_the_standard),
        cmocka_unit_test(test_a_state__comes_back_as_it_was),
        cmocka_unit_test(test_every_changed_character__breaks_the_seal),
        cmocka_unit_test(test_another_process__has_another_key),
        cmocka_unit_test(test_a_digest__is_of_what_the_request_means),
    };

    return cmocka_run_group_tests_name("mcp_seal", tests, NULL, NULL);
}

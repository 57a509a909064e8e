/* SPDX-License-Identifier: MIT */
/* message - what is a message, what is refused and how, and what is written. */
#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define V "\"jsonrpc\":\"2.0\","

static void assert_view(gbx_view view, const char *expected)
{
    assert_int_equal(view.len, strlen(expected));
    if (view.len > 0)
        assert_memory_equal(view.at, expected, view.len);
}

static const struct {
    const char *text;
    gbx_rpc_kind kind;
    const char *id;
    const char *method;
    const char *payload;
} good[] = {
    {"{" V "\"id\":1,\"method\":\"ping\"}", GBX_RPC_REQUEST, "1", "ping", ""},
    {"{" V "\"id\":\"a\",\"method\":\"m\",\"params\":{\"x\":[1]}}", GBX_RPC_REQUEST,
     "\"a\"", "m", "{\"x\":[1]}"},
    {"{" V "\"id\":1,\"m\\u0065thod\":\"tools\\/list\",\"par\\u0061ms\":{}}",
     GBX_RPC_REQUEST, "1", "tools/list", "{}"},
    {"{" V "\"id\":-7,\"method\":\"m\",\"extra\":null}", GBX_RPC_REQUEST, "-7", "m",
     ""},
    {"{" V "\"id\":\"\",\"method\":\"m\"}", GBX_RPC_REQUEST, "\"\"", "m", ""},
    {" {" V "\"method\":\"n\",\"params\":{}} ", GBX_RPC_NOTIFICATION, "", "n", "{}"},
    {"{" V "\"id\":1,\"result\":{\"a\":1}}", GBX_RPC_RESULT, "1", "", "{\"a\":1}"},
    {"{" V "\"id\":1,\"result\":null}", GBX_RPC_RESULT, "1", "", "null"},
    {"{" V "\"id\":1,\"error\":{\"code\":-1,\"message\":\"m\"}}", GBX_RPC_ERROR, "1",
     "", "{\"code\":-1,\"message\":\"m\"}"},
    {"{" V "\"id\":null,\"error\":{}}", GBX_RPC_ERROR, "", "", "{}"},
    {"{" V "\"id\":1,\"result\":{},\"error\":null}", GBX_RPC_RESULT, "1", "", "{}"},
    {"{" V "\"id\":1,\"result\":null,\"error\":{}}", GBX_RPC_ERROR, "1", "", "{}"},
    {"{" V "\"id\":1,\"result\":null,\"error\":null}", GBX_RPC_RESULT, "1", "", "null"},
    {"{" V "\"id\":1,\"method\":null,\"params\":null,\"result\":1}", GBX_RPC_RESULT,
     "1", "", "1"},
    {"{" V "\"id\":1,\"method\":\"m\",\"params\":null,\"result\":null,\"error\":null}",
     GBX_RPC_REQUEST, "1", "m", ""},
    {"{" V "\"error\":{}}", GBX_RPC_ERROR, "", "", "{}"},
    {"[{}]", GBX_RPC_BATCH, "", "", "[{}]"},
};

static void test_messages__are_told_apart(void **state)
{
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(good); i++) {
        gbx_rpc_message m;
        gbx_rpc_fault fault;

        assert_true(gbx_rpc_read(good[i].text, strlen(good[i].text), &m, &fault));
        assert_int_equal(m.kind, good[i].kind);
        assert_view(m.id, good[i].id);
        assert_string_equal(m.method, good[i].method);
        assert_view(m.payload, good[i].payload);
    }
}

static const struct {
    const char *text;
    int code;
    const char *id; /* "": none */
    bool is_answerable;
} bad[] = {
    {"", -32700, "", true},
    {"{", -32700, "", true},
    {"{\"id\":1,}", -32700, "", true},
    {"{} {}", -32700, "", true},
    {"\"\xff\"", -32700, "", true},
    {"1", -32600, "", true},
    {"null", -32600, "", true},
    {"{}", -32600, "", true},
    {"{\"id\":1,\"method\":\"m\"}", -32600, "1", true},
    {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", -32600, "1", true},
    {"{" V "\"id\":1}", -32600, "1", true},
    {"{" V "\"id\":1,\"method\":7}", -32600, "1", true},
    {"{" V "\"id\":null,\"method\":\"m\"}", -32600, "", true},
    {"{" V "\"id\":1.5,\"method\":\"m\"}", -32600, "", true},
    {"{" V "\"id\":1e3,\"method\":\"m\"}", -32600, "", true},
    {"{" V "\"id\":true,\"method\":\"m\"}", -32600, "", true},
    {"{" V "\"id\":[1],\"method\":\"m\"}", -32600, "", true},
    {"{" V "\"id\":1,\"method\":\"m\",\"params\":[1]}", -32602, "1", true},
    {"{" V "\"id\":1,\"method\":\"m\",\"params\":\"x\"}", -32602, "1", true},
    {"{" V "\"method\":\"m\",\"params\":[1]}", -32602, "", false},
    {"{" V "\"id\":1,\"method\":\"m\",\"result\":1}", -32600, "1", true},
    {"{" V "\"id\":1,\"id\":2,\"method\":\"m\"}", -32600, "", true},
    {"{" V "\"id\":1,\"i\\u0064\":2,\"method\":\"m\"}", -32600, "", true},
    {"{" V "\"id\":1,\"result\":1,\"result\":2}", -32600, "", true},
    {"{" V "\"id\":1,\"method\":\"m\",\"method\":\"n\"}", -32600, "1", true},
    {"{" V "\"id\":1,\"result\":1,\"error\":{}}", -32600, "1", false},
    {"{" V "\"id\":1,\"error\":\"e\"}", -32600, "1", false},
    {"{" V "\"result\":1}", -32600, "", false},
    {"{" V "\"id\":null,\"result\":1}", -32600, "", false},
    {"{\"id\":1,\"result\":1}", -32600, "1", false},
};

static void test_what_is_no_message__is_refused_with_its_code(void **state)
{
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(bad); i++) {
        gbx_rpc_message m = {.kind = GBX_RPC_BATCH};
        gbx_rpc_fault fault;

        assert_false(gbx_rpc_read(bad[i].text, strlen(bad[i].text), &m, &fault));
        assert_int_equal(fault.code, bad[i].code);
        assert_int_equal(fault.is_answerable, bad[i].is_answerable);
        assert_view(fault.id, bad[i].id);
        assert_non_null(fault.message);
        assert_int_equal(m.kind, GBX_RPC_BATCH); /* untouched */
    }
}

static void test_every_truncation__is_a_parse_error(void **state)
{
    static const char text[] = "{" V "\"id\":\"a\\u0041\",\"method\":\"m\",\"params\":{"
                               "\"x\":[1.5e3,true]}}";
    (void)state;

    for (size_t len = 0; len < sizeof text - 1; len++) {
        GBX_CLEANUP(gbx_free) char *exact = malloc(len + 1);
        gbx_rpc_message m;
        gbx_rpc_fault fault;

        memcpy(exact, text, len);
        assert_false(gbx_rpc_read(exact, len, &m, &fault));
        assert_int_equal(fault.code, GBX_RPC_PARSE_ERROR);
    }
}

/* {"jsonrpc":"2.0","id":"xx...","method":"mm..."} */
static bool reads_with_lengths(size_t id_len, size_t method_len)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = 10000};
    gbx_rpc_message m;
    gbx_rpc_fault fault;

    (void)gbx_buf_puts(&text, "{" V "\"id\":\"");
    for (size_t i = 0; i < id_len; i++)
        (void)gbx_buf_puts(&text, "x");
    (void)gbx_buf_puts(&text, "\",\"method\":\"");
    for (size_t i = 0; i < method_len; i++)
        (void)gbx_buf_puts(&text, "m");
    (void)gbx_buf_puts(&text, "\"}");
    return gbx_rpc_read((const char *)text.data, text.len, &m, &fault);
}

static void test_methods__have_a_longest_and_ids_do_not(void **state)
{
    (void)state;

    assert_true(reads_with_lengths(9000, GBX_RPC_METHOD_MAX));
    assert_false(reads_with_lengths(1, GBX_RPC_METHOD_MAX + 1));
}

static void test_ids__are_the_same_by_type_and_value(void **state)
{
    gbx_view one = {"1", 1};
    gbx_view text_one = {"\"1\"", 3};
    gbx_view a = {"\"a\"", 3};
    gbx_view escaped = {"\"\\u0061\"", 8};
    (void)state;

    assert_true(gbx_rpc_same_id(one, one));
    assert_false(gbx_rpc_same_id(one, text_one));
    assert_true(gbx_rpc_same_id(a, escaped));
    assert_false(gbx_rpc_same_id(a, text_one));
}

static void test_text__is_copied_only_if_it_fits_and_is_text(void **state)
{
    char to[4] = "old";
    (void)state;

    assert_false(gbx_rpc_copy_text((gbx_view){"\"abcd\"", 6}, to, sizeof to));
    assert_false(gbx_rpc_copy_text((gbx_view){"\"a\\u0000\"", 9}, to, sizeof to));
    assert_false(gbx_rpc_copy_text((gbx_view){"12", 2}, to, sizeof to));
    assert_false(gbx_rpc_copy_text((gbx_view){0}, to, sizeof to));
    assert_string_equal(to, "old");
    assert_true(gbx_rpc_copy_text((gbx_view){"\"a\\nb\"", 6}, to, sizeof to));
    assert_string_equal(to, "a\nb");
    assert_true(gbx_rpc_copy_text((gbx_view){"\"\"", 2}, to, sizeof to));
    assert_string_equal(to, "");
}

static void test_an_error_without_a_code__is_internal(void **state)
{
    static const char error[] = "{\"code\":-5,\"message\":\"m\"}";
    (void)state;

    assert_int_equal(gbx_rpc_error_code((gbx_view){error, sizeof error - 1}), -5);
    assert_view(gbx_rpc_error_message((gbx_view){error, sizeof error - 1}), "\"m\"");
    assert_int_equal(gbx_rpc_error_code((gbx_view){"{}", 2}), -32603);
    assert_int_equal(gbx_rpc_error_code((gbx_view){"{\"code\":1e99}", 13}), -32603);
    assert_int_equal(gbx_rpc_error_code((gbx_view){"{\"code\":99999999999}", 20}),
                     -32603);
    assert_view(gbx_rpc_error_message((gbx_view){"{\"message\":1}", 13}), "");
}

static void test_writers__make_one_line_a_message(void **state)
{
    static const char pretty[] = "{\n  \"a\": 1\r\r\n}";
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = 10000};
    (void)state;

    gbx_rpc_begin_result(&to, (gbx_view){"\"x\"", 3});
    (void)gbx_rpc_append_json(&to, pretty, sizeof pretty - 1);
    gbx_rpc_end(&to);
    gbx_rpc_begin_request(&to, 7, "ping");
    (void)gbx_buf_puts(&to, "{}");
    gbx_rpc_end(&to);
    gbx_rpc_begin_notification(&to, "n");
    (void)gbx_buf_puts(&to, "{}");
    gbx_rpc_end(&to);
    gbx_rpc_append_error(&to, (gbx_view){0}, -32700, "a \"b\"\n\x1B", NULL);
    gbx_rpc_append_error(&to, (gbx_view){"3", 1}, -32022, "m", "{\"k\":[]}");

    (void)gbx_buf_append(&to, "", 1);
    assert_string_equal(
        (char *)to.data,
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{   \"a\": 1   }}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}\n"
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"a "
        "\\\"b\\\"\\n\\\\u{1b}\"}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32022,\"message\":\"m\","
        "\"data\":{\"k\":[]}}}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages__are_told_apart),
        cmocka_unit_test(test_what_is_no_message__is_refused_with_its_code),
        cmocka_unit_test(test_every_truncation__is_a_parse_error),
        cmocka_unit_test(test_methods__have_a_longest_and_ids_do_not),
        cmocka_unit_test(test_ids__are_the_same_by_type_and_value),
        cmocka_unit_test(test_text__is_copied_only_if_it_fits_and_is_text),
        cmocka_unit_test(test_an_error_without_a_code__is_internal),
        cmocka_unit_test(test_writers__make_one_line_a_message),
    };

    return cmocka_run_group_tests_name("mcp_message", tests, NULL, NULL);
}

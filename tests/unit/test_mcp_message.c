/* SPDX-License-Identifier: MIT */
/* message - what is a message, what is refused and how, and what is written. */
#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"
#include "table.h"
#include "test.h"

#define V "\"jsonrpc\":\"2.0\","

static void assert_view(gbx_view view, const char *expected)
{
    assert_int_equal(view.len, strlen(expected));
    if (view.len > 0)
        assert_memory_equal(view.at, expected, view.len);
}

/* What the text is, as the head of a case has it. */
static void describe(const char *text, size_t len, char to[256])
{
    static const char *const kinds[] = {
        [GBX_RPC_REQUEST] = "request", [GBX_RPC_NOTIFICATION] = "notification",
        [GBX_RPC_RESULT] = "result",   [GBX_RPC_ERROR] = "error",
        [GBX_RPC_BATCH] = "batch",
    };
    gbx_rpc_message m = {.kind = GBX_RPC_BATCH};
    gbx_rpc_fault fault = {0};
    int n;

    if (gbx_rpc_read(text, len, &m, &fault)) {
        n = snprintf(to, 256, "%s | %.*s | %s | %.*s", kinds[m.kind], (int)m.id.len,
                     m.id.at, m.method, (int)m.payload.len, m.payload.at);
    } else {
        assert_non_null(fault.message);
        assert_int_equal(m.kind, GBX_RPC_BATCH); /* untouched */
        n = snprintf(to, 256, "%d | %.*s%s", fault.code, (int)fault.id.len, fault.id.at,
                     fault.is_answerable ? "" : " | silent");
    }
    while (n > 0 && to[n - 1] == ' ')
        to[--n] = '\0';
}

static bool check_case(char *head, char *text, size_t len)
{
    char got[256];

    describe(text, len, got);
    if (strcmp(got, head) != 0)
        print_error("%s\n is %s, not %s\n", text, got, head);
    return strcmp(got, head) == 0;
}

TEST(messages__are_told_apart_or_refused_with_their_codes)
{
    static const char padded[] = " {" V "\"method\":\"n\",\"params\":{}} ";
    char got[256];

    table_check("unit/mcp/messages.txt", check_case, 45);
    describe(padded, strlen(padded), got);
    assert_string_equal(got, "notification |  | n | {}");
    describe("\"\xff\"", 3, got);
    assert_string_equal(got, "-32700 |");
}

TEST(every_truncation__is_a_parse_error)
{
    static const char text[] = "{" V "\"id\":\"a\\u0041\",\"method\":\"m\",\"params\":{"
                               "\"x\":[1.5e3,true]}}";

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

TEST(methods__have_a_longest_and_ids_do_not)
{
    assert_true(reads_with_lengths(9000, GBX_RPC_METHOD_MAX));
    assert_false(reads_with_lengths(1, GBX_RPC_METHOD_MAX + 1));
}

TEST(ids__are_the_same_by_type_and_value)
{
    gbx_view one = {"1", 1};
    gbx_view text_one = {"\"1\"", 3};
    gbx_view a = {"\"a\"", 3};
    gbx_view escaped = {"\"\\u0061\"", 8};

    assert_true(gbx_rpc_same_id(one, one));
    assert_false(gbx_rpc_same_id(one, text_one));
    assert_true(gbx_rpc_same_id(a, escaped));
    assert_false(gbx_rpc_same_id(a, text_one));
}

TEST(text__is_copied_only_if_it_fits_and_is_text)
{
    char to[4] = "old";

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

TEST(an_error_without_a_code__is_internal)
{
    static const char error[] = "{\"code\":-5,\"message\":\"m\"}";

    assert_int_equal(gbx_rpc_error_code((gbx_view){error, sizeof error - 1}), -5);
    assert_view(gbx_rpc_error_message((gbx_view){error, sizeof error - 1}), "\"m\"");
    assert_int_equal(gbx_rpc_error_code((gbx_view){"{}", 2}), -32603);
    assert_int_equal(gbx_rpc_error_code((gbx_view){"{\"code\":1e99}", 13}), -32603);
    assert_int_equal(gbx_rpc_error_code((gbx_view){"{\"code\":99999999999}", 20}),
                     -32603);
    assert_view(gbx_rpc_error_message((gbx_view){"{\"message\":1}", 13}), "");
}

TEST(writers__make_one_line_a_message)
{
    static const char pretty[] = "{\n  \"a\": 1\r\r\n}";
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = 10000};

    gbx_rpc_begin_result(&to, (gbx_view){"\"x\"", 3});
    gbx_json_put_json(&to, "a", pretty, sizeof pretty - 1);
    gbx_json_put_json(&to, "b", NULL, 0);
    gbx_json_put_open(&to, "c", '[');
    gbx_json_put_text(&to, NULL, "d");
    gbx_json_put_bool(&to, NULL, true);
    (void)gbx_buf_puts(&to, "]");
    gbx_rpc_end(&to);
    gbx_rpc_begin_request(&to, 7, "ping");
    gbx_rpc_end(&to);
    gbx_rpc_begin_notification(&to, "n");
    gbx_json_put_integer(&to, "e", -1);
    gbx_rpc_end(&to);
    gbx_rpc_append_error(&to, (gbx_view){0}, -32700, "a \"b\"\n\x1B", NULL);
    gbx_rpc_append_error(&to, (gbx_view){"3", 1}, -32022, "m", "{\"k\":[]}");

    (void)gbx_buf_append(&to, "", 1);
    assert_string_equal(
        (char *)to.data,
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{\"a\":{   \"a\": 1   },"
        "\"c\":[\"d\",true]}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"e\":-1}}\n"
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"a "
        "\\\"b\\\"\\n\\\\u{1b}\"}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32022,\"message\":\"m\","
        "\"data\":{\"k\":[]}}}\n");
}

TEST_MAIN(NULL, NULL)

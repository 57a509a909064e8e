/* SPDX-License-Identifier: MIT */
/* http - a request means the same in whatever pieces it comes; and ids are replaced where
 * the server reads them. */
#include "base/cleanup.h"
#include "mcp/http/http.h"
#include "test.h"

#define HEAD "POST /mcp?q=1 HTTP/1.1\r\nHost: a\r\n"

/* "200 BODY" for a whole request, "+N" for N bytes that are left, "..." if it goes on; else
 * the status that refuses it. */
static char *verdict_of(const char *text, size_t len, size_t piece)
{
    gbx_http_request request;
    gbx_buf told = {.ceiling = 10000};
    size_t at = 0;
    int status = 0;

    gbx_http_request_init(&request);
    while (status == 0 && at < len && request.part != GBX_HTTP_COMPLETE) {
        size_t used;

        status = gbx_http_request_feed(&request, text + at,
                                       len - at < piece ? len - at : piece, &used);
        at += used;
    }
    if (status != 0)
        (void)gbx_buf_printf(&told, "%d", status);
    else if (request.part != GBX_HTTP_COMPLETE)
        (void)gbx_buf_puts(&told, "...");
    else
        (void)gbx_buf_printf(&told, "200 %.*s +%zu", (int)request.body.len,
                             request.body.len > 0 ? (const char *)request.body.data
                                                  : "",
                             len - at);
    gbx_http_request_cleanup(&request);
    return gbx_buf_take_string(&told, NULL);
}

static const struct {
    const char *text;
    const char *verdict;
} requests[] = {
    {HEAD "\r\n", "200  +0"},
    {HEAD "Content-Length: 3\r\n\r\nabcGET", "200 abc +3"},
    {HEAD "Content-Length: 3\r\n\r\nab", "..."},
    {HEAD "content-length:\t3 \r\n\r\nabc", "200 abc +0"},
    {HEAD "Transfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0A\r\nbcdefghijk\r\n0\r\n\r\nx",
     "200 abcdefghijk +1"},
    {HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r", "..."},
    {HEAD "Transfer-Encoding: chunked\r\n\r\n000000001\r\na", "400"},
    {HEAD "Transfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n", "400"},
    {HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n", "400"},
    {HEAD "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", "501"},
    {HEAD "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n", "400"},
    {HEAD "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", "400"},
    {HEAD "Content-Length: 16777216\r\n\r\n", "413"},
    {HEAD "Content-Length: 18446744073709551617\r\n\r\n", "413"},
    {HEAD "A: b\r\n c\r\n\r\n", "400"},
    {HEAD "A : b\r\n\r\n", "400"},
    {HEAD "A: b\n\r\n\r\n", "400"},
    {HEAD "A: b\rc\r\n\r\n", "400"},
    {HEAD "A: b\x7f\r\n\r\n", "400"},
    {HEAD "A: \xc3\xa4\r\n\r\n", "200  +0"},
    {"\r\n" HEAD "\r\n", "400"},
    {"POST /mcp HTTP/1.1\r\n\r\n", "400"},
    {"\r\n\r\n", "400"},
    {"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     "400"},
};

TEST(a_request__means_the_same_in_all_pieces)
{
    for (size_t i = 0; i < GBX_COUNTOF(requests); i++)
        for (size_t piece = 1; piece < 90; piece++) {
            char *verdict =
                verdict_of(requests[i].text, strlen(requests[i].text), piece);

            assert_string_equal(verdict, requests[i].verdict);
            free(verdict);
        }
}

TEST(a_request_that_is_cut_off__goes_on_or_is_refused)
{
    for (size_t i = 0; i < GBX_COUNTOF(requests); i++)
        for (size_t len = 0; len < strlen(requests[i].text); len++) {
            char *verdict = verdict_of(requests[i].text, len, 1000);

            if (strcmp(verdict, "...") != 0)
                assert_string_equal(verdict[0] == '2' ? "200" : verdict,
                                    verdict[0] == '2' ? "200" : requests[i].verdict);
            free(verdict);
        }
}

TEST(a_head__is_bounded)
{
    static char text[GBX_HTTP_HEAD_MAX + 100];

    memset(text, 'a', sizeof text);
    for (size_t piece = 1; piece <= sizeof text; piece = piece * 7 + 1) {
        char *verdict = verdict_of(text, sizeof text, piece);

        assert_string_equal(verdict, "431");
        free(verdict);
    }
}

TEST(accept__has_types_and_wildcards)
{
    assert_true(
        gbx_http_accepts("text/html, TEXT/event-stream;q=1", "text/event-stream"));
    assert_true(gbx_http_accepts(" ,*/*", "application/json"));
    assert_true(gbx_http_accepts("application/* ;q=1", "application/json"));
    assert_false(gbx_http_accepts("application/*", "text/event-stream"));
    assert_false(gbx_http_accepts("application/jsonx", "application/json"));
    assert_false(gbx_http_accepts("", "application/json"));
    assert_false(gbx_http_accepts(NULL, "application/json"));
}

TEST(cuts__are_made_in_the_order_of_the_text)
{
    static const char text[] = "{\"params\":{\"t\":\"p\"},\"id\":1}";
    const gbx_message_cut cuts[] = {{{text + 25, 1}, {"22", 2}},
                                    {{NULL, 0}, {"x", 1}},
                                    {{text + 15, 3}, {"", 0}}};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = 1000};

    assert_true(gbx_message_splice(&to, text, strlen(text), cuts, GBX_COUNTOF(cuts)));
    assert_string_equal(gbx_rpc_string(&to), "{\"params\":{\"t\":},\"id\":22}");
}

TEST(cuts_without_text__insert_in_their_order)
{
    static const char text[] = "{}";
    const gbx_message_cut cuts[] = {{{text + 1, 0}, {"a", 1}},
                                    {{text + 1, 0}, {"b", 1}},
                                    {{text + 1, 1}, {"c", 1}},
                                    {{text, 0}, {"d", 1}}};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = 1000};

    assert_true(gbx_message_splice(&to, text, strlen(text), cuts, GBX_COUNTOF(cuts)));
    assert_string_equal(gbx_rpc_string(&to), "d{abc");
}

TEST_MAIN(NULL, NULL)

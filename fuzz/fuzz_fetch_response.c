/* SPDX-License-Identifier: MIT */
/*
 * fuzz_fetch_response - whatever a server says, what the code is given is bounded, is JSON,
 * and frames its body in one way.
 *
 * Input: the request's redirect mode (a byte), then the response as received.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "fetch/internal.h"

#include <string.h>

#define BODY_MAX 64u

static const gbx_libcurl *library(void)
{
    static gbx_libcurl lib;

    if (lib.curl_url == NULL)
        assert(gbx_libcurl_load(&lib, NULL) == GBX_OK);
    return &lib;
}

static bool feed(gbx_head *head, gbx_span in, gbx_response *response, gbx_fault *fault)
{
    while (in.len > 0 && head->state != GBX_HEAD_DONE) {
        const uint8_t *newline = memchr(in.data, '\n', in.len);
        size_t len = newline != NULL ? (size_t)(newline - in.data) + 1 : in.len;

        if (!gbx_head_line(head, (const char *)in.data, len))
            return false;
        in = (gbx_span){in.data + len, in.len - len};
    }
    return in.len == 0 || gbx_response_append(response, in.data, in.len, fault);
}

static void check_answer(const gbx_response *response, const gbx_head *head)
{
    gbx_buf json;

    assert(response->status >= 200 && response->status <= 599);
    assert(!head->is_chunked || !head->has_length);
    assert(head->encodings <= 1 && response->body.len <= BODY_MAX);
    assert(head->bytes <= GBX_RESPONSE_HEADER_BYTES_MAX);
    for (size_t i = 0; i < response->headers.count; i++)
        assert(strpbrk(response->headers.items[i].value, "\r\n") == NULL);
    gbx_buf_init(&json, GBX_MIB(1));
    assert(gbx_response_write(response, "http://example.com/", false, &json));
    assert(gbx_json_check((const char *)json.data, json.len, 4, NULL));
    gbx_buf_cleanup(&json);
}

static void check_redirect(const gbx_response *response, gbx_redirect_mode mode)
{
    gbx_fetch_request request = {.redirect = mode, .method = "POST"};
    gbx_fault fault = {0};
    gbx_url from = {0};
    gbx_url to = {0};
    bool goes_on;

    assert(gbx_url_parse(library(), "https://example.com/a/b", 23, &from, &fault));
    assert(gbx_fields_add(&request.headers, "Cookie", 6, "c", 1, 9, 99) == 0);
    goes_on = gbx_redirect_next(&request, &from, response, 0, 1, &to, &fault);
    assert(!goes_on || fault.code == GBX_FAULT_NONE);
    assert(goes_on == (to.text != NULL));
    if (goes_on)
        assert((request.headers.count == 1) == gbx_url_same_origin(&from, &to));
    if (goes_on || fault.code != GBX_FAULT_NONE)
        assert(gbx_redirect_ends_body(&request, response));
    gbx_url_cleanup(&from);
    gbx_url_cleanup(&to);
    gbx_request_cleanup(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_redirect_mode mode;
    gbx_response response;
    gbx_fault fault = {0};
    fuzz_input in;
    gbx_head head;

    in = (fuzz_input){data, size};
    mode = (gbx_redirect_mode)(fuzz_u8(&in) % 3);
    gbx_response_init(&response, BODY_MAX);
    gbx_head_init(&head, &response, "gzip, deflate, br", &fault);
    if (!feed(&head, fuzz_bytes(&in, in.left), &response, &fault))
        assert(fault.code == GBX_FAULT_RESPONSE || fault.code == GBX_FAULT_TOO_LARGE);
    else if (head.state == GBX_HEAD_DONE)
        check_answer(&response, &head);
    if (fault.code == GBX_FAULT_NONE && head.state == GBX_HEAD_DONE)
        check_redirect(&response, mode);
    gbx_response_cleanup(&response);
    return 0;
}

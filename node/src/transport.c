/* SPDX-License-Identifier: MIT */
/*
 * transport - JavaScript makes the requests of fetch. The library checks each request
 * before it gets here, and checks the response.
 */
#include "addon.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

typedef struct request {
    gbx_node_event event;
    gbx_node_engine *engine;
    gbx_transport_token token;
    uint64_t max_bytes;
    uint32_t timeout_ms;
    size_t header_count;
    gbx_buf texts; /* method, URL, name, value, name, ..., each with its NUL */
    void *body;
    size_t body_len;
} request;

static void drop(gbx_node_event *event)
{
    request *r = (request *)event;

    gbx_buf_cleanup(&r->texts);
    free(r->body);
    free(r);
}

/* HTTP headers are bytes: each becomes one character. */
static napi_value make_headers(napi_env env, const char *texts, size_t count)
{
    napi_value list = gbx_node_undefined(env);
    napi_value text;

    if (napi_create_array_with_length(env, count, &list) != napi_ok)
        return list;
    for (size_t i = 0; i < count; i++, texts += strlen(texts) + 1)
        if (napi_create_string_latin1(env, texts, NAPI_AUTO_LENGTH, &text) == napi_ok)
            (void)napi_set_element(env, list, (uint32_t)i, text);
    return list;
}

static napi_value make_body(napi_env env, const request *r)
{
    napi_value body;
    void *copy;

    if (r->body == NULL ||
        napi_create_buffer_copy(env, r->body_len, r->body, &copy, &body) != napi_ok)
        return gbx_node_undefined(env);
    return body;
}

static bool tell(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    request *r = (request *)event;
    const char *method = (const char *)r->texts.data;
    const char *url = method + strlen(method) + 1;
    napi_value token;

    if (napi_create_bigint_uint64(env, r->token, &token) != napi_ok)
        return true;
    napi_value args[9] = {
        gbx_node_number(env, GBX_NODE_FETCH),
        gbx_node_number(env, r->engine->id),
        token,
        gbx_node_utf8(env, method, strlen(method)),
        gbx_node_utf8(env, url, strlen(url)),
        make_headers(env, url + strlen(url) + 1, 2 * r->header_count),
        make_body(env, r),
        gbx_node_number(env, (double)r->max_bytes),
        gbx_node_number(env, r->timeout_ms),
    };
    gbx_node_dispatch(e, env, 9, args);
    return true;
}

static bool copy_request(request *r, const gbx_transport_request *given)
{
    gbx_buf *to = &r->texts;

    gbx_buf_init(to, SIZE_MAX / 2);
    (void)gbx_buf_append(to, given->method, strlen(given->method) + 1);
    (void)gbx_buf_append(to, given->url, strlen(given->url) + 1);
    for (size_t i = 0; i < given->header_count; i++) {
        const gbx_http_header *header = &given->headers[i];

        (void)gbx_buf_append(to, header->name, strlen(header->name) + 1);
        (void)gbx_buf_append(to, header->value, strlen(header->value) + 1);
    }
    r->header_count = given->header_count;
    if (given->body == NULL)
        return !to->failed;
    r->body = malloc(given->body_len + 1);
    if (r->body == NULL)
        return false;
    memcpy(r->body, given->body, given->body_len);
    r->body_len = given->body_len;
    return !to->failed;
}

/* The characters as bytes, for free(): a header's value has none beyond U+00FF. */
static char *take_bytes(napi_env env, napi_value value)
{
    size_t len = 0;
    char *bytes = NULL;

    if (napi_get_value_string_latin1(env, value, NULL, 0, &len) == napi_ok)
        bytes = malloc(len + 1);
    if (bytes != NULL)
        (void)napi_get_value_string_latin1(env, value, bytes, len + 1, &len);
    return bytes;
}

/* Convert [name, value, name, value, ...] to *ret_count headers. */
static gbx_http_header *take_headers(napi_env env, napi_value list, size_t *ret_count)
{
    gbx_http_header *headers;
    uint32_t length = 0;

    *ret_count = 0;
    if (napi_get_array_length(env, list, &length) != napi_ok)
        return NULL;
    headers = calloc(length / 2 + 1, sizeof *headers);
    for (uint32_t i = 0; headers != NULL && i + 1 < length; i += 2) {
        napi_value name;
        napi_value value;
        size_t ignored;

        if (napi_get_element(env, list, i, &name) != napi_ok ||
            napi_get_element(env, list, i + 1, &value) != napi_ok)
            break;
        headers[*ret_count].name = gbx_node_string(env, name, &ignored);
        headers[*ret_count].value = take_bytes(env, value);
        ++*ret_count;
    }
    return headers;
}

static void free_headers(gbx_http_header *headers, size_t count)
{
    for (size_t i = 0; headers != NULL && i < count; i++) {
        free((void *)(uintptr_t)headers[i].name);
        free((void *)(uintptr_t)headers[i].value);
    }
    free(headers);
}

static void answer(napi_env env, gbx_engine *core, uint64_t token, napi_value *argv)
{
    static const gbx_transport_response none = GBX_TRANSPORT_RESPONSE_INIT;
    gbx_transport_response response = none;
    gbx_http_header *headers;
    napi_typedarray_type type;
    size_t ignored;
    size_t count;
    size_t len = 0;
    void *body = NULL;
    char *text = gbx_node_string(env, argv[3], &ignored);
    char *error = gbx_node_string(env, argv[6], &ignored);
    gbx_error why = {0};

    (void)napi_get_value_uint32(env, argv[2], &response.status);
    headers = take_headers(env, argv[4], &count);
    response.header_count = count;
    (void)napi_get_typedarray_info(env, argv[5], &type, &len, &body, NULL, NULL);
    response.status_text = text;
    response.headers = headers;
    response.body = body;
    response.body_len = len;
    response.error = error;
    if (gbx_transport_answer(core, token, &response, &why) == GBX_E_USAGE) {
        response = none;
        response.error = why.message;
        (void)!gbx_transport_answer(core, token, &response, NULL);
    }
    free_headers(headers, count);
    free(text);
    free(error);
}

void gbx_node_on_fetch(void *user, gbx_engine *core, gbx_transport_token token,
                       const gbx_transport_request *given)
{
    static const gbx_transport_response none = GBX_TRANSPORT_RESPONSE_INIT;
    gbx_transport_response failure = none;
    gbx_node_engine *engine = user;
    request *r = calloc(1, sizeof *r);

    if (r != NULL && copy_request(r, given)) {
        r->event.tell = tell;
        r->event.drop = drop;
        r->engine = engine;
        r->token = token;
        r->max_bytes = given->max_bytes;
        r->timeout_ms = given->timeout_ms;
        gbx_node_post(engine->e, &r->event);
        return;
    }
    if (r != NULL)
        drop(&r->event);
    failure.error = "the host is out of memory";
    (void)!gbx_transport_answer(core, token, &failure, NULL);
}

/* (handle, token, status, status text, headers, body, error) */
napi_value gbx_node_answer_fetch(napi_env env, napi_callback_info info)
{
    napi_value argv[7];
    gbx_engine *core;
    uint64_t token;

    if (gbx_node_take_request(env, info, 7, argv, &core, &token))
        answer(env, core, token, argv);
    return NULL;
}

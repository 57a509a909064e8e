/* SPDX-License-Identifier: MIT */
/* oauth_token - requests to a token endpoint, and what comes back (RFC 6749, RFC 8707). */
#include "mcp/upstream/internal.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/timeouts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Maximum length of an answer that is read as a JSON object. */
#define ANSWER_MAX GBX_KIB(256)

void gbx_oauth_put(const gbx_libcurl *lib, gbx_buf *form, const char *name,
                   const char *value)
{
    char *coded;

    if (value == NULL || *value == '\0')
        return;
    coded = gbx_need(lib->curl_easy_escape(NULL, value, 0));
    (void)gbx_buf_printf(form, "%s%s=%s", form->len > 0 ? "&" : "", name, coded);
    explicit_bzero(coded, strlen(coded));
    lib->curl_free(coded);
}

/* Authorization: Basic, of id and secret, each coded as in a form. */
static void add_basic(gbx_http_headers *headers, const char *id, const char *secret)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf pair = {.ceiling = GBX_KIB(64), .is_secret = true};
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf field = {.ceiling = GBX_KIB(128), .is_secret = true};
    char *coded_id = gbx_need(headers->lib->curl_easy_escape(NULL, id, 0));
    char *coded_secret = gbx_need(headers->lib->curl_easy_escape(NULL, secret, 0));

    (void)gbx_buf_printf(&pair, "%s:%s", coded_id, coded_secret);
    explicit_bzero(coded_secret, strlen(coded_secret));
    headers->lib->curl_free(coded_id);
    headers->lib->curl_free(coded_secret);
    (void)gbx_buf_puts(&field, "Basic ");
    (void)gbx_base64_append(&field, pair.data, pair.len);
    if (gbx_buf_append(&field, "", 1))
        gbx_http_header_add(headers, "Authorization", (const char *)field.data);
}

gbx_http_exchange *gbx_oauth_request(gbx_http_client *web, const json_t *kept,
                                     gbx_buf *form,
                                     const gbx_http_exchange_hooks *hooks, void *user)
{
    const char *id = gbx_oauth_text(kept, "clientId");
    const char *secret = gbx_oauth_text(kept, "clientSecret");
    bool is_basic =
        strcmp(gbx_oauth_text(kept, "clientAuth"), "client_secret_basic") == 0;
    gbx_http_headers headers = {.lib = &web->lib};

    if (is_basic)
        add_basic(&headers, id, secret);
    else
        gbx_oauth_put(&web->lib, form, "client_id", id);
    if (strcmp(gbx_oauth_text(kept, "clientAuth"), "client_secret_post") == 0)
        gbx_oauth_put(&web->lib, form, "client_secret", secret);
    gbx_http_header_add(&headers, "Content-Type", "application/x-www-form-urlencoded");
    gbx_http_header_add(&headers, "Accept", "application/json");
    return gbx_http_exchange_start(&(gbx_http_exchange_options){
        .web = web,
        .method = GBX_HTTP_POST,
        .url = gbx_oauth_text(kept, "tokenEndpoint"),
        .headers = headers.list,
        .body = form->data,
        .body_len = form->len,
        .is_call = true, /* a code and a refresh token work once */
        .timeout_ms = gbx_timeout_ms(GBX_TIMEOUT_OAUTH),
        .hooks = hooks,
        .user = user,
    });
}

json_t *gbx_oauth_object(const gbx_http_exchange *e)
{
    json_error_t err;
    json_t *value;

    if (e->is_stream || e->body.len == 0 || e->body.len > ANSWER_MAX)
        return NULL;
    value = json_loadb((const char *)e->body.data, e->body.len, JSON_REJECT_DUPLICATES,
                       &err);
    if (json_is_object(value))
        return value;
    json_decref(value);
    return NULL;
}

/* True if it can be sent in a header, and found in answers. */
static bool is_token(const char *text)
{
    size_t len = gbx_visible_len(text);

    return text[len] == '\0' && len >= GBX_SECRET_MIN && len <= GBX_SECRET_MAX;
}

/* A refresh token that is not replaced stays valid. */
static gbx_status take_tokens(json_t *kept, const json_t *answer, gbx_error *err)
{
    const char *access = gbx_oauth_text(answer, "access_token");
    const char *refresh = gbx_oauth_text(answer, "refresh_token");
    const char *scope = gbx_oauth_text(answer, "scope");
    json_int_t seconds = json_integer_value(json_object_get(answer, "expires_in"));

    if (strcasecmp(gbx_oauth_text(answer, "token_type"), "bearer") != 0)
        return gbx_fail(err, GBX_E_DATA, "its token is not of the type Bearer");
    if (!is_token(access) || (*refresh != '\0' && !is_token(refresh)))
        return gbx_fail(err, GBX_E_DATA,
                        "a token of it does not have from %u to %u visible characters",
                        GBX_SECRET_MIN, GBX_SECRET_MAX);
    (void)json_object_set_new(kept, "accessToken", json_string(access));
    if (*refresh != '\0')
        (void)json_object_set_new(kept, "refreshToken", json_string(refresh));
    if (*scope != '\0')
        (void)json_object_set_new(kept, "scope", json_string(scope));
    if (seconds > 0 && seconds < INT32_MAX)
        (void)json_object_set_new(kept, "expires", json_integer(time(NULL) + seconds));
    else
        (void)json_object_del(kept, "expires");
    return GBX_OK;
}

/* Only the code is shown: a description of the error may repeat what was sent. */
bool gbx_oauth_is_code(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz_");

    return len > 0 && len <= 40 && text[len] == '\0';
}

gbx_status gbx_oauth_take(const gbx_http_exchange *e, CURLcode result, json_t *kept,
                          gbx_error *reterr)
{
    json_t *answer;
    const char *code;
    gbx_status status;

    if (result != CURLE_OK)
        return gbx_fail(reterr, GBX_E_OS,
                        "the authorization server cannot be asked: %s",
                        gbx_http_exchange_error(e, result));
    answer = gbx_oauth_object(e);
    code = gbx_oauth_text(answer, "error");
    if (e->status == 200 && answer != NULL)
        status = take_tokens(kept, answer, reterr);
    else if (gbx_oauth_is_code(code))
        status =
            gbx_fail(reterr, GBX_E_DATA, "the authorization server refuses: %s", code);
    else
        status = gbx_fail(reterr, GBX_E_DATA,
                          "the authorization server answers with HTTP status %ld",
                          e->status);
    json_decref(answer);
    return status;
}

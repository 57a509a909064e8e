/* SPDX-License-Identifier: MIT */
/* http_response - interprets a response that is not the answer: what is known of the
 * request, and the reason as a text. */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Limits of a server's text about a refusal. Secrets are removed before it is cut. */
#define WORDS_MAX     200
#define LOOKED_AT_MAX GBX_KIB(64)

/* ---- the body ---------------------------------------------------------------- */

bool gbx_http_is_answer(const char *text, size_t len, int64_t id)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    int64_t theirs = 0;

    return gbx_rpc_read(text, len, &message, &fault) &&
           (message.kind == GBX_RPC_RESULT || message.kind == GBX_RPC_ERROR) &&
           gbx_id_read(message.id, &theirs) && theirs == id;
}

static bool is_message(const gbx_buf *body, gbx_rpc_message *ret)
{
    gbx_rpc_fault fault;

    return body->len > 0 &&
           gbx_rpc_read((const char *)body->data, body->len, ret, &fault);
}

bool gbx_http_is_error(const gbx_http_exchange *e)
{
    gbx_rpc_message message;

    return is_message(&e->body, &message) && message.kind == GBX_RPC_ERROR;
}

bool gbx_http_is_of_version(const gbx_http_exchange *e)
{
    static const char date[] = "*20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]*";
    size_t len = e->body.len < LOOKED_AT_MAX ? e->body.len : LOOKED_AT_MAX;
    GBX_CLEANUP(gbx_free)
    char *text = gbx_need(len > 0 ? strndup((char *)e->body.data, len) : strdup(""));

    return strcasestr(text, "protocol version") != NULL ||
           strcasestr(text, "protocol-version") != NULL ||
           strcasestr(text, "protocolversion") != NULL ||
           (strcasestr(text, "version") != NULL && fnmatch(date, text, 0) == 0);
}

/* ---- headers ----------------------------------------------------------------- */

/* Get the content type; returns its length without parameters. */
static size_t type_of(const gbx_http_exchange *e, const char **ret)
{
    *ret = gbx_http_exchange_header(e, "content-type");
    return strcspn(*ret, "; \t");
}

static bool is_type(const gbx_http_exchange *e, const char *part)
{
    const char *type;
    size_t len = type_of(e, &type);
    const char *at = strcasestr(type, part);

    return at != NULL && at + strlen(part) <= type + len;
}

/* The coding of the body, which is not decoded; "" for none. */
static const char *encoding_of(const gbx_http_exchange *e)
{
    const char *encoding = gbx_http_exchange_header(e, "content-encoding");

    return strcasecmp(encoding, "identity") == 0 ? "" : encoding;
}

/* ---- words ------------------------------------------------------------------- */

bool gbx_http_is_lasting(CURLcode result)
{
    return result == CURLE_PEER_FAILED_VERIFICATION ||
           result == CURLE_SSL_CONNECT_ERROR || result == CURLE_URL_MALFORMAT ||
           result == CURLE_UNSUPPORTED_PROTOCOL;
}

/* 401 and the like say nothing about the era: with other credentials the answer may
 * differ. */
gbx_unanswered gbx_http_meaning(long status)
{
    if (status == 429 || status == 408)
        return GBX_UNANSWERED_LATER;
    if (status < 400 || status == 401 || status == 403 || status == 407)
        return GBX_UNANSWERED_LASTING;
    if (status < 500)
        return GBX_UNANSWERED_SPOKEN;
    /* From a gateway: the server behind it may have begun. */
    return status >= 502 && status <= 504 ? GBX_UNANSWERED_PASSING : GBX_UNANSWERED;
}

/* Append the server's text as one line, as much of it as fits. */
static void put_words(const gbx_link_secrets *secrets, const char *text, size_t len,
                      gbx_buf *to)
{
    const gbx_policy *tokens = secrets->tokens != NULL ? *secrets->tokens : NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {.ceiling = 5 * LOOKED_AT_MAX};
    char words[WORDS_MAX + 1];
    gbx_span span = {(const uint8_t *)text, strnlen(text, len)};

    if (span.len > LOOKED_AT_MAX)
        span.len = LOOKED_AT_MAX;
    (void)gbx_secrets_append_clean(tokens, GBX_SECRET_LINE, span, &clean);
    for (size_t i = 0; i < clean.len; i++)
        if (clean.data[i] < ' ')
            clean.data[i] = ' ';
    (void)gbx_buf_append(&clean, "", 1);
    gbx_redact_copy(secrets->configured, clean.failed ? "" : (const char *)clean.data,
                    words, sizeof words);
    (void)gbx_utf8_append_escaped(to, words, strlen(words), GBX_ESCAPE_LINE);
}

char *gbx_http_status_text(const gbx_http_exchange *e, const gbx_link_secrets *secrets)
{
    bool has_words = e->body.len > 0 && *encoding_of(e) == 0;
    gbx_buf to = {.ceiling = GBX_KIB(4)};
    const char *location;
    const char *type;

    if (has_words && type_of(e, &type) == 0)
        has_words = e->body.data[0] != '<'; /* HTML is not the server's own text */
    else if (has_words)
        has_words = is_type(e, "text/plain") || is_type(e, "json");
    location = gbx_http_exchange_header(e, "location");
    (void)gbx_buf_printf(&to, "it answers with HTTP status %ld", e->status);
    if (e->status >= 300 && e->status < 400 && *location != 0) {
        (void)gbx_buf_puts(&to, ", to '");
        put_words(secrets, location, strlen(location), &to);
        (void)gbx_buf_puts(&to, "': redirects are not followed");
    } else if (has_words) {
        (void)gbx_buf_puts(&to, ": ");
        put_words(secrets, (const char *)e->body.data, e->body.len, &to);
    }
    return gbx_need(gbx_buf_take_string(&to, NULL));
}

char *gbx_http_other_type(const gbx_http_exchange *e, const gbx_link_secrets *secrets)
{
    const char *encoding = encoding_of(e);
    gbx_buf to = {.ceiling = GBX_KIB(4)};
    gbx_rpc_message message;
    const char *type;
    size_t len = type_of(e, &type);

    if (*encoding == 0 && (e->is_stream || e->body.len == 0 || is_type(e, "json") ||
                           is_message(&e->body, &message)))
        return NULL;
    (void)gbx_buf_puts(&to, "it answers with ");
    if (len > 0)
        put_words(secrets, type, len, &to);
    else
        (void)gbx_buf_puts(&to, "a body of no type");
    if (*encoding != 0) {
        (void)gbx_buf_puts(&to, " that is coded as '");
        put_words(secrets, encoding, strlen(encoding), &to);
        (void)gbx_buf_puts(&to, "', which was not asked for");
    } else {
        (void)gbx_buf_puts(&to, ", not with JSON");
    }
    return gbx_need(gbx_buf_take_string(&to, NULL));
}

/* ---- streams ------------------------------------------------------------------- */

bool gbx_http_is_open(const gbx_http_exchange *stream)
{
    return stream->status == 200 && stream->is_stream;
}

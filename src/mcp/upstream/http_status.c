/* SPDX-License-Identifier: MIT */
/* http_status - failures and error statuses in place of an answer, and what they say
 * of the request. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/rpc/rpc.h"
#include "mcp/upstream/internal.h"
#include "mcp/upstream/link_http.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Limits of a server's text about a refusal. Secrets are removed before it is cut. */
#define WORDS_MAX     200
#define LOOKED_AT_MAX GBX_KIB(64)
#define WHY_MAX       GBX_KIB(4)

/* Nothing was sent. That must be checked, since some of these codes can also mean a
 * bad response. */
static bool is_unreachable(const gbx_http_exchange *exchange, CURLcode result)
{
    return !gbx_http_exchange_was_sent(exchange) &&
           (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST ||
            result == CURLE_COULDNT_RESOLVE_PROXY || gbx_http_is_lasting(result));
}

static bool is_no_http(CURLcode result)
{
    return result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_WEIRD_SERVER_REPLY;
}

/* Append the server's text as one line, as much of it as fits. */
static void put_words(const gbx_http *h, const char *text, size_t len, gbx_buf *to)
{
    char words[WORDS_MAX + 1];
    char *copy = strndup(text, len < LOOKED_AT_MAX ? len : LOOKED_AT_MAX);

    if (copy == NULL)
        return;
    for (char *c = copy; *c != 0; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    gbx_redact_copy(h->secrets, copy, words, sizeof words);
    free(copy);
    (void)gbx_utf8_append_escaped(to, words, strlen(words), GBX_ESCAPE_LINE);
}

static bool has_words(const gbx_http_exchange_response *r)
{
    return r->body.len > 0 && r->encoding[0] == 0 &&
           ((r->content_type[0] == 0 && r->body.data[0] != '<') ||
            strcmp(r->content_type, "text/plain") == 0 ||
            strstr(r->content_type, "json") != NULL);
}

/* Does the body answer this very request? */
static bool is_about(const gbx_http_exchange *exchange)
{
    const gbx_buf *body = &exchange->response.body;

    return body->len > 0 &&
           gbx_http_is_answer((const char *)body->data, body->len, exchange->id);
}

/* Does the server not know our session any more, without having acted on this request?
 * A 404 says so. A 400 without our id says that nothing was read, and restarted servers
 * use it in the same way; but it is believed only once for each call. */
static bool is_forgotten(const gbx_http *h, const gbx_http_exchange *exchange)
{
    long status = exchange->response.status;

    if (h->session == NULL || h->is_modern)
        return false;
    return status == 404 ||
           (status == 400 && exchange->is_first_try && !is_about(exchange));
}

/* Ignores case; searches only the beginning of the body. */
static bool has_word(const gbx_buf *body, const char *word)
{
    size_t word_len = strlen(word);
    size_t len = body->len < LOOKED_AT_MAX ? body->len : LOOKED_AT_MAX;

    for (size_t at = 0; at + word_len <= len; at++)
        if (strncasecmp((const char *)body->data + at, word, word_len) == 0)
            return true;
    return false;
}

/* Versions of the protocol are dates: 2025-03-26. */
static bool has_date(const gbx_buf *body)
{
    static const char shape[] = "20nn-nn-nn";
    size_t len = body->len < LOOKED_AT_MAX ? body->len : LOOKED_AT_MAX;

    for (size_t at = 0; at + sizeof shape - 1 <= len; at++) {
        size_t i = 0;

        while (shape[i] != 0 && (shape[i] == 'n' ? isdigit(body->data[at + i]) != 0
                                                 : body->data[at + i] == shape[i]))
            i++;
        if (shape[i] == 0)
            return true;
    }
    return false;
}

/* ---- the rest of the link ------------------------------------------------- */

bool gbx_http_is_lasting(CURLcode result)
{
    return result == CURLE_PEER_FAILED_VERIFICATION ||
           result == CURLE_SSL_CONNECT_ERROR || result == CURLE_URL_MALFORMAT ||
           result == CURLE_UNSUPPORTED_PROTOCOL;
}

/* A page of HTML is not the server's own text. */
void gbx_http_put_status(const gbx_http *h, const gbx_http_exchange_response *r,
                         gbx_buf *to)
{
    (void)gbx_buf_printf(to, "it answers with HTTP status %ld", r->status);
    if (r->status >= 300 && r->status < 400 && r->location[0] != 0) {
        (void)gbx_buf_puts(to, ", to '");
        put_words(h, r->location, strlen(r->location), to);
        (void)gbx_buf_puts(to, "': redirects are not followed");
    } else if (has_words(r)) {
        (void)gbx_buf_puts(to, ": ");
        put_words(h, (const char *)r->body.data, r->body.len, to);
    }
    (void)gbx_buf_append(to, "", 1);
}

bool gbx_http_is_of_version(const gbx_buf *body)
{
    static const char *const words[] = {"protocol version", "protocol-version",
                                        "protocolversion"};

    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        if (has_word(body, words[i]))
            return true;
    return has_word(body, "version") && has_date(body);
}

gbx_unanswered gbx_http_meaning_of(long status)
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

bool gbx_http_is_answer(const char *text, size_t len, int64_t id)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    int64_t theirs = 0;

    return gbx_rpc_read(text, len, &message, &fault) &&
           (message.kind == GBX_RPC_RESULT || message.kind == GBX_RPC_ERROR) &&
           gbx_id_read(message.id, &theirs) && theirs == id;
}

bool gbx_http_is_error(const gbx_buf *body)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    return body->len > 0 &&
           gbx_rpc_read((const char *)body->data, body->len, &message, &fault) &&
           message.kind == GBX_RPC_ERROR;
}

void gbx_http_take_break(gbx_http *h, const gbx_http_exchange *exchange,
                         CURLcode result)
{
    const gbx_link_hooks hooks = h->hooks;
    char why[400];
    bool is_away;

    if (exchange->response.is_too_long) {
        hooks.unanswered(hooks.user, exchange->id, GBX_UPSTREAM_PROTOCOL,
                         "the answer is longer than 32 MiB", GBX_UNANSWERED);
        return;
    }
    is_away = is_unreachable(exchange, result);
    (void)snprintf(why, sizeof why, "%s: %s",
                   is_away              ? "it cannot be reached"
                   : is_no_http(result) ? "its answer is not HTTP"
                                        : "the connection broke",
                   gbx_http_exchange_error(exchange, result));
    /* On other connections, requests may still be under way. */
    if (is_away)
        hooks.forgotten(hooks.user, exchange->id, why, gbx_http_is_lasting(result));
    else if (is_no_http(result))
        hooks.unanswered(hooks.user, exchange->id, GBX_UPSTREAM_PROTOCOL, why,
                         GBX_UNANSWERED_ODD);
    else
        hooks.unanswered(hooks.user, exchange->id, GBX_UPSTREAM_EXIT, why,
                         GBX_UNANSWERED);
}

bool gbx_http_is_of_another_type(const gbx_http_exchange_response *response)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    if (response->encoding[0] != 0)
        return true;
    return !response->is_stream && response->body.len > 0 &&
           strstr(response->content_type, "json") == NULL &&
           !gbx_rpc_read((const char *)response->body.data, response->body.len,
                         &message, &fault);
}

void gbx_http_take_another_type(gbx_http *h, const gbx_http_exchange *exchange)
{
    const gbx_http_exchange_response *r = &exchange->response;
    const gbx_link_hooks hooks = h->hooks;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why = {0};

    gbx_buf_init(&why, WHY_MAX);
    (void)gbx_buf_puts(&why, "it answers with ");
    if (r->content_type[0] != 0)
        put_words(h, r->content_type, strlen(r->content_type), &why);
    else
        (void)gbx_buf_puts(&why, "a body of no type");
    if (r->encoding[0] != 0) {
        (void)gbx_buf_puts(&why, " that is coded as '");
        put_words(h, r->encoding, strlen(r->encoding), &why);
        (void)gbx_buf_puts(&why, "', which was not asked for");
    } else {
        (void)gbx_buf_puts(&why, ", not with JSON");
    }
    (void)gbx_buf_append(&why, "", 1);
    hooks.unanswered(hooks.user, exchange->id, GBX_UPSTREAM_PROTOCOL,
                     why.failed ? "it answers with no JSON" : (const char *)why.data,
                     GBX_UNANSWERED);
}

void gbx_http_take_refusal(gbx_http *h, const gbx_http_exchange *exchange)
{
    const gbx_link_hooks hooks = h->hooks;
    const gbx_buf *body = &exchange->response.body;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why = {0};
    long status = exchange->response.status;

    if (is_forgotten(h, exchange)) {
        /* If the 404 is about what the call asks for, it is the call's answer. */
        bool is_told = exchange->is_last_try && is_about(exchange);

        h->is_forgotten = true;
        hooks.forgotten(hooks.user, is_told ? 0 : exchange->id, "its session has ended",
                        false);
        if (is_told)
            hooks.message(hooks.user, (const char *)body->data, body->len,
                          exchange->id);
        return;
    }
    if (gbx_http_is_error(body)) {
        hooks.message(hooks.user, (const char *)body->data, body->len, exchange->id);
    } else {
        gbx_buf_init(&why, WHY_MAX);
        gbx_http_put_status(h, &exchange->response, &why);
        hooks.unanswered(hooks.user, exchange->id, GBX_UPSTREAM_REFUSED,
                         why.failed ? "it refuses this" : (const char *)why.data,
                         gbx_http_meaning_of(status));
    }
}

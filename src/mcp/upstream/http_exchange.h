/* SPDX-License-Identifier: MIT */
/*
 * http_exchange - one HTTP request of an upstream server's link, and its response: a
 * body, or a stream of events.
 *
 * Hooks come from the loop, never from inside libcurl: they may do anything, even free
 * the exchange.
 */
#ifndef GBX_MCP_UPSTREAM_HTTP_EXCHANGE_H
#define GBX_MCP_UPSTREAM_HTTP_EXCHANGE_H

#include "fetch/fetch.h"
#include "mcp/upstream/link.h"
#include "mcp/upstream/sse.h"

/* Limit of a session's name; a longer one is refused, since it could not be sent
 * back. */
#define GBX_EXCHANGE_SESSION_MAX GBX_KIB(8)

typedef struct gbx_http_exchange gbx_http_exchange;

typedef enum gbx_http_method {
    GBX_HTTP_POST,
    GBX_HTTP_GET,
    GBX_HTTP_DELETE,
} gbx_http_method;

/* Each hook may free the exchange; its arguments stay valid until it returns. */
typedef struct gbx_http_exchange_hooks {
    /* Status and headers have arrived; once, before the events. May be NULL. */
    void (*head)(void *user, gbx_http_exchange *exchange);
    /* One event of the stream. */
    void (*event)(void *user, gbx_http_exchange *exchange, const gbx_sse_event *event);
    /* It has ended with this result. Once. */
    void (*done)(void *user, gbx_http_exchange *exchange, CURLcode result);
} gbx_http_exchange_hooks;

typedef struct gbx_http_exchange_options {
    struct event_base *base;
    gbx_multi *multi;
    const gbx_libcurl *lib;
    gbx_http_method method;
    const char *url;
    struct curl_slist *headers; /* owned from now on, also on failure */
    const void *body;           /* of a POST; copied */
    size_t body_len;
    bool is_sent_once;   /* libcurl never resends it, whatever becomes of
                          * the connection */
    bool is_first_try;   /* for the owner: the call was not made before */
    bool is_last_try;    /* for the owner: not made again once it was answered */
    int64_t id;          /* of the request in it, or 0 */
    uint32_t timeout_ms; /* 0: none */
    uint32_t delay_ms;   /* before it is sent */
    gbx_http_exchange_hooks hooks;
    void *user;
} gbx_http_exchange_options;

/* What is known of the response; borrowed from the exchange. */
typedef struct gbx_http_exchange_response {
    long status;
    char content_type[64]; /* lower case, without parameters */
    char encoding[32];     /* of the body, which is left encoded; or "" */
    char location[256];    /* or "" */
    char *session;         /* or NULL */
    gbx_buf body;          /* empty for a stream of events; without a byte order mark */
    gbx_sse sse;
    bool is_stream;
    bool is_too_long;
    bool is_session_too_long;
} gbx_http_exchange_response;

struct gbx_http_exchange {
    gbx_http_exchange *next; /* in its owner's list */
    int64_t id;
    gbx_http_method method;
    bool is_first_try;
    bool is_last_try;
    bool was_answered; /* for the owner: the answer to id was among the events */
    gbx_http_exchange_response response;
};

/* NULL: memory is out. */
gbx_http_exchange *gbx_http_exchange_start(const gbx_http_exchange_options *options);
void gbx_http_exchange_free(gbx_http_exchange *shared);

/* Has any of it been sent to the server? */
bool gbx_http_exchange_was_sent(const gbx_http_exchange *shared);

/* A text for people, by libcurl. */
const char *gbx_http_exchange_error(const gbx_http_exchange *shared, CURLcode result);

#endif

/* SPDX-License-Identifier: MIT */
/* link_http - the internals of a link over HTTP; for link_http*.c alone. */
#ifndef GBX_MCP_UPSTREAM_LINK_HTTP_H
#define GBX_MCP_UPSTREAM_LINK_HTTP_H

#include "mcp/upstream/internal.h"

/* A message that waits. */
typedef struct gbx_http_waiting {
    struct gbx_http_waiting *next;
    int64_t id;
    char *method; /* or NULL, likewise name */
    char *name;
    bool is_again;
    bool is_repeatable;
    gbx_buf text;
} gbx_http_waiting;

typedef struct gbx_link_http_state {
    gbx_link link;
    gbx_link_hooks hooks;
    const gbx_mcp_upstream_config *config;
    const gbx_policy *secrets; /* removed from what the server says; borrowed, or
                                * NULL */
    gbx_http_client *web;
    gbx_http_exchange *exchanges; /* requests, and other messages */
    gbx_http_exchange *stream;    /* of the server's unasked messages, or NULL */
    struct event *again;          /* reopens the stream */
    uint32_t again_ms;            /* the pause that the server asks for; 0: none */
    unsigned stream_failures;     /* consecutive failures to open it */
    bool was_stream_tried;
    bool is_modern;
    char version[64];  /* of the protocol, agreed upon or to be asked for */
    char *session;     /* NULL: none was given */
    bool is_forgotten; /* the server says that the session does not exist */
    /* The HTTP+SSE transport: messages go where the stream's first event says. */
    bool is_sse;
    char *endpoint; /* NULL: not known yet; messages wait in held */
    gbx_buf held;
    int64_t held_id;
    char *refusal; /* of the held message, before the stream was tried; or NULL */
    /* The exchange that must end before anything else is sent, and the messages that
     * wait for it: POSTs may overtake one another. */
    gbx_http_exchange *settling;
    struct event *settle;
    struct gbx_http_waiting *later;
    unsigned asides; /* messages without an id that are under way */
    bool has_dropped_asides;
} gbx_http;

/* ---- link_http.c ---------------------------------------------------------- */

/* Handle the exchange of a request; the user is the link. */
extern const gbx_http_exchange_hooks gbx_http_hooks;
/* POST this text; id 0: no answer is expected. */
bool gbx_http_post(gbx_http *h, const gbx_link_message *message);
/* Add the headers that every request has. */
void gbx_http_common_headers(const gbx_http *h, gbx_http_headers *headers);
/* End the link from inside: call lost, and free it. */
void gbx_http_lose(gbx_http *h, const char *why, bool is_lasting);

/* ---- http_status.c ------------------------------------------------------- */

/* The connection fails, or does not speak HTTP, until a person fixes the address or the
 * certificate. */
bool gbx_http_is_lasting(CURLcode result);
/* What an error status says of the request. 401 and the like say nothing about the era:
 * with other credentials the answer may differ. */
gbx_unanswered gbx_http_meaning_of(long status);
/* Is this an answer to that request of ours, whatever it says? */
bool gbx_http_is_answer(const char *text, size_t len, int64_t id);
bool gbx_http_is_error(const gbx_buf *body);
/* The response is missing or incomplete. */
void gbx_http_take_break(gbx_http *h, const gbx_http_exchange *exchange,
                         CURLcode result);
/* Its body is not JSON, and the headers either do not claim that it is, or name an
 * encoding that was not asked for. */
bool gbx_http_is_of_another_type(const gbx_http_exchange_response *response);
void gbx_http_take_another_type(gbx_http *h, const gbx_http_exchange *exchange);
/* Append the status and the server's text for people; ends in NUL, unless it failed. */
void gbx_http_put_status(const gbx_http *h, const gbx_http_exchange_response *r,
                         gbx_buf *to);
/* Does its body speak of a protocol version? */
bool gbx_http_is_of_version(const gbx_buf *body);
/* The response has an error status. */
void gbx_http_take_refusal(gbx_http *h, const gbx_http_exchange *exchange);

/* ---- http_stream.c -------------------------------------------------------- */

/* Open the stream of the server's unasked messages. */
bool gbx_http_open_stream(gbx_http *h);
void gbx_http_stream_again(evutil_socket_t fd, short what, void *arg);
/* Keep a message until the stream has said where to send it. */
bool gbx_http_hold(gbx_http *h, const char *text, size_t len, int64_t id);

/* ---- http_resume.c -------------------------------------------------------- */

/* A request's exchange has ended. True: it ended before the answer, and the rest of its
 * stream is being requested. */
bool gbx_http_resume(gbx_http *h, const gbx_http_exchange *ended);
/* The rest of the stream could not be had. */
void gbx_http_take_no_rest(gbx_http *h, const gbx_http_exchange *exchange,
                           CURLcode result);

/* ---- http_send_queue.c --------------------------------------------------------- */

/* May it be sent at once? */
bool gbx_http_may_go(const gbx_http *h, const gbx_link_message *message);
/* Queue it until it may be sent. False: too many wait, or memory is out. */
bool gbx_http_later(gbx_http *h, const gbx_link_message *message);
/* Send all that may go, in order; drop what cannot be sent. */
void gbx_http_send_later(gbx_http *h);
/* Drop the one of that id, or all if it is 0. */
void gbx_http_drop_later(gbx_http *h, int64_t id);

#endif

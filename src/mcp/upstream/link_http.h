/* SPDX-License-Identifier: MIT */
/* link_http - the insides of a link over HTTP; for link_http*.c alone. */
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
    const gbx_policy *secrets; /* in no words of the server; borrowed, or NULL */
    gbx_http_client *web;
    gbx_http_exchange *exchanges; /* requests, and what was sent besides */
    gbx_http_exchange *stream;    /* of what the server says unasked; or NULL */
    struct event *again;          /* to open it once more */
    uint32_t again_ms;            /* after so long, the server says; 0: it does not */
    unsigned stream_failures;     /* to open it, one after the other */
    bool was_stream_tried;
    bool is_modern;
    char version[64];  /* of the protocol, once it is agreed upon, or to be asked for */
    char *session;     /* NULL: none was given */
    bool is_forgotten; /* by the server, which has no such session any more */
    /* The transport before: messages go where the stream's first event says. */
    bool is_sse;
    char *endpoint; /* NULL: not known yet; what is to be sent waits in held */
    gbx_buf held;
    int64_t held_id;
    char *refusal; /* of what is held, before the stream was asked for; or NULL */
    /* What has to be through before anything else is sent, and what waits for it: POSTs
     * may overtake one another. */
    gbx_http_exchange *settling;
    struct event *settle;
    struct gbx_http_waiting *later;
    unsigned asides; /* messages without an id that are under way */
    bool has_dropped_asides;
} gbx_http;

/* ---- link_http.c ---------------------------------------------------------- */

/* What becomes of the exchange of a request; the user is the link. */
extern const gbx_http_exchange_hooks gbx_http_hooks;
/* POST this text; id 0: no answer is expected. */
bool gbx_http_post(gbx_http *h, const gbx_link_message *message);
/* The headers that every request has. */
void gbx_http_common_headers(const gbx_http *h, gbx_http_headers *headers);
/* The end of the link from inside: told, and freed. */
void gbx_http_lose(gbx_http *h, const char *why, bool is_lasting);

/* ---- link_refusal.c ------------------------------------------------------- */

/* No connection, or none that speaks HTTP, and none before a person has mended the address
 * or the certificate. */
bool gbx_http_is_lasting(CURLcode result);
/* What a status that is none of success says of the request. 401 and its like decide nothing
 * about the era: another answer may come to somebody else. */
gbx_unanswered gbx_http_meaning_of(long status);
/* Is this the answer to that request of ours, whatever it says? */
bool gbx_http_is_answer(const char *text, size_t len, int64_t id);
bool gbx_http_is_error(const gbx_buf *body);
/* There is no response, or no whole one. */
void gbx_http_take_break(gbx_http *h, const gbx_http_exchange *exchange,
                         CURLcode result);
/* Its body is no JSON, and its headers do not say that it was, or say that it is coded in a
 * way that was not asked for. */
bool gbx_http_is_of_another_type(const gbx_http_exchange_response *response);
void gbx_http_take_another_type(gbx_http *h, const gbx_http_exchange *exchange);
/* The status, and what the server says of it for people; ends in NUL, unless it failed. */
void gbx_http_put_status(const gbx_http *h, const gbx_http_exchange_response *r,
                         gbx_buf *to);
/* Are the words of its body about a version of the protocol? */
bool gbx_http_is_of_version(const gbx_buf *body);
/* There is, and its status is none of success. */
void gbx_http_take_refusal(gbx_http *h, const gbx_http_exchange *exchange);

/* ---- link_stream.c -------------------------------------------------------- */

/* Open the stream of what the server says unasked. */
bool gbx_http_open_stream(gbx_http *h);
void gbx_http_stream_again(evutil_socket_t fd, short what, void *arg);
/* Keep a message until the stream has said where to send it. */
bool gbx_http_hold(gbx_http *h, const char *text, size_t len, int64_t id);

/* ---- link_resume.c -------------------------------------------------------- */

/* The exchange of a request is over. True: before its answer, and the rest of its stream is
 * asked for. */
bool gbx_http_resume(gbx_http *h, const gbx_http_exchange *ended);
/* What was to be the rest is none. */
void gbx_http_take_no_rest(gbx_http *h, const gbx_http_exchange *exchange,
                           CURLcode result);

/* ---- link_send_queue.c --------------------------------------------------------- */

/* May it be sent at once? */
bool gbx_http_may_go(const gbx_http *h, const gbx_link_message *message);
/* Keep it until it may. False: too many wait, or memory is out. */
bool gbx_http_later(gbx_http *h, const gbx_link_message *message);
/* All that may go, in order; what cannot be sent then never is. */
void gbx_http_send_later(gbx_http *h);
/* The one of that id, or all if it is 0. */
void gbx_http_drop_later(gbx_http *h, int64_t id);

#endif

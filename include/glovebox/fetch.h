/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_FETCH_H
#define GLOVEBOX_FETCH_H

/**
 * @file fetch.h
 * A transport of the embedder's own in place of the library's HTTP client.
 *
 * The library still decides: a request reaches the transport only after its URL, method,
 * headers and size have passed every check against the policy, with secrets filled in.
 * A redirect that the transport returns is checked again and asked for anew; a transport
 * must not follow one by itself. What the library cannot check is where the transport
 * connects to: names and addresses are then the embedder's to judge.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One request of one engine, until it is answered; never 0, never used twice. */
typedef uint64_t gbx_transport_token;

/** One header; both end in NUL, neither holds CR or LF. */
typedef struct gbx_http_header {
    const char *name;  /**< of a request: as the code wrote it */
    const char *value; /**< bytes, as HTTP has them */
} gbx_http_header;

/** What is asked. Every pointer is borrowed until the transport returns. */
typedef struct gbx_transport_request {
    size_t struct_size; /**< of the library's build: what fields there are */
    const char *method; /**< "GET" */
    const char *url;    /**< canonical, without user, password and fragment */
    const gbx_http_header *headers; /**< may hold secrets: not for logs */
    size_t header_count;            /**< entries in headers */
    const void *body;               /**< NULL: none */
    size_t body_len;                /**< bytes */
    uint64_t max_bytes;             /**< a longer body of the answer is refused */
    uint32_t timeout_ms;            /**< what is left; later answers are ignored */
} gbx_transport_request;

/** What came back. Everything is copied. */
typedef struct gbx_transport_response {
    size_t struct_size;             /**< sizeof(gbx_transport_response) of the caller */
    uint32_t status;                /**< 200 to 599 */
    const char *status_text;        /**< NULL: "" */
    const gbx_http_header *headers; /**< may be NULL */
    size_t header_count;            /**< entries in headers */
    const void *body;               /**< decompressed; NULL: none */
    size_t body_len;                /**< bytes */
    const char *error; /**< not NULL: there is no response, and this is why,
                                    for who must repair the code */
} gbx_transport_response;

/* clang-format off */
#define GBX_TRANSPORT_RESPONSE_INIT {sizeof(gbx_transport_response), 0, NULL, NULL, 0, NULL, 0, NULL}
/* clang-format on */

/**
 * Asks the embedder for one response. Called on the engine's own thread: must not block.
 * The answer is given with @p token, now or later, from any thread; one that is never
 * given ends as a timeout, a second one and a late one are ignored.
 */
typedef void (*gbx_transport_fn)(void *user, gbx_engine *engine,
                                 gbx_transport_token token,
                                 const gbx_transport_request *request);

/** The embedder's own transport, for gbx_options.transport. */
struct gbx_fetch_transport {
    size_t struct_size;     /**< sizeof(gbx_fetch_transport) in the caller's build */
    gbx_transport_fn fetch; /**< never NULL */
    void *user; /**< its first argument; borrowed until the engine is freed */
};

/* clang-format off */
#define GBX_FETCH_TRANSPORT_INIT {sizeof(gbx_fetch_transport), NULL, NULL}
/* clang-format on */

/**
 * Answer what the transport was asked. From any thread, also from inside it; the engine
 * must not have been freed.
 *
 * @retval GBX_E_USAGE  the response is not one.
 * @retval GBX_E_CLOSED nobody waits: answered before, or the call has ended.
 */
GBX_API GBX_MUST_USE gbx_status
gbx_transport_answer(gbx_engine *engine, gbx_transport_token token,
                     const gbx_transport_response *response, gbx_error *reterr);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
#ifndef GLOVEBOX_FETCH_H
#define GLOVEBOX_FETCH_H

/**
 * @file fetch.h
 * The embedder's own transport, in place of the library's HTTP client.
 *
 * The library still decides. A request reaches the transport only after its URL,
 * method, headers and size have passed every check against the policy, with secrets
 * filled in. If the transport returns a redirect, the library checks the new URL and
 * requests it; a transport must not follow redirects itself. The library cannot check
 * where the transport connects to: the embedder must judge names and addresses.
 */

#include <glovebox/glovebox.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Identifies one request of an engine until it is answered; never 0, never reused. */
typedef uint64_t gbx_transport_token;

/** One header; both end in NUL, neither holds CR or LF. */
typedef struct gbx_http_header {
    const char *name;  /**< in a request: as the code wrote it */
    const char *value; /**< bytes, as HTTP has them */
} gbx_http_header;

/** The request. Every pointer is borrowed until the transport returns. */
typedef struct gbx_transport_request {
    size_t struct_size; /**< of the library's build: shows which fields exist */
    const char *method; /**< "GET" */
    const char *url;    /**< canonical, without user, password and fragment */
    const gbx_http_header *headers; /**< may hold secrets: not for logs */
    size_t header_count;            /**< entries in headers */
    const void *body;               /**< NULL: none */
    size_t body_len;                /**< bytes */
    uint64_t max_bytes;             /**< a longer response body is refused */
    uint32_t timeout_ms;            /**< time left; later answers are ignored */
} gbx_transport_request;

/** The response. Everything is copied. */
typedef struct gbx_transport_response {
    size_t struct_size;             /**< sizeof(gbx_transport_response) of the caller */
    uint32_t status;                /**< 200 to 599 */
    const char *status_text;        /**< NULL: "" */
    const gbx_http_header *headers; /**< may be NULL */
    size_t header_count;            /**< entries in headers */
    const void *body;               /**< decompressed; NULL: none */
    size_t body_len;                /**< bytes */
    const char *error; /**< not NULL: the request failed; the reason, for the code's
                            author */
} gbx_transport_response;

/* clang-format off */
#define GBX_TRANSPORT_RESPONSE_INIT {sizeof(gbx_transport_response), 0, NULL, NULL, 0, NULL, 0, NULL}
/* clang-format on */

/**
 * Asks the embedder for one response. Called on the engine's own thread: must not
 * block. Answer with @p token, now or later, from any thread. A request without an
 * answer ends as a timeout; second and late answers are ignored.
 */
typedef void (*gbx_transport_fn)(void *user, gbx_engine *engine,
                                 gbx_transport_token token,
                                 const gbx_transport_request *request);

/** The embedder's own transport, for gbx_options.transport. */
struct gbx_fetch_transport {
    size_t struct_size;     /**< sizeof(gbx_fetch_transport) in the caller's build */
    gbx_transport_fn fetch; /**< never NULL */
    void *user; /**< fetch's first argument; borrowed until the engine is freed */
};

/* clang-format off */
#define GBX_FETCH_TRANSPORT_INIT {sizeof(gbx_fetch_transport), NULL, NULL}
/* clang-format on */

/**
 * Answer a request of the transport. From any thread, also from inside it; the engine
 * must not have been freed.
 *
 * @retval GBX_E_USAGE  the response is not valid.
 * @retval GBX_E_CLOSED not waited for: answered before, or the call has ended.
 */
GBX_API GBX_MUST_USE gbx_status
gbx_transport_answer(gbx_engine *engine, gbx_transport_token token,
                     const gbx_transport_response *response, gbx_error *reterr);

#ifdef __cplusplus
}
#endif

#endif

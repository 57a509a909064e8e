/* SPDX-License-Identifier: MIT */
/*
 * transport - the embedder's own way to the network, and its answers from any thread.
 *
 * Tokens are numbers that mean something only while their request waits: an answer that
 * comes twice, late or for nobody finds nothing.
 */
#ifndef GBX_FETCH_TRANSPORT_H
#define GBX_FETCH_TRANSPORT_H

#include "fetch/response.h"

#include <glovebox/fetch.h>

struct event_base;

typedef struct gbx_transport gbx_transport;

/* NULL: memory, or descriptors, are out. */
gbx_transport *gbx_transport_new(struct event_base *base, gbx_transport_fn ask,
                                 void *user, gbx_engine *engine);

/* Whoever waits is not told. No other thread may be inside gbx_transport_give(). */
void gbx_transport_free(gbx_transport *transport);

/* response is the callee's if *fault is none; on the loop's thread, never from inside
 * gbx_transport_ask(). */
typedef void (*gbx_transport_done)(void *user, gbx_response *response,
                                   const gbx_fault *fault);

/* Returns the request's token, or 0: memory is out. */
gbx_transport_token gbx_transport_ask(gbx_transport *transport,
                                      const gbx_transport_request *request,
                                      gbx_transport_done done, void *user);

/* done is not called any more. 0 and unknown tokens are ignored. */
void gbx_transport_forget(gbx_transport *transport, gbx_transport_token token);

/* From any thread. */
gbx_status gbx_transport_give(gbx_transport *transport, gbx_transport_token token,
                              const gbx_transport_response *response,
                              gbx_error *reterr);

#endif

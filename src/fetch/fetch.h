/* SPDX-License-Identifier: MIT */
/*
 * fetch - answer the code's HTTP requests, within the policy.
 *
 * Requests are hostile. Every hop, the first and each redirect, passes the same checks:
 * URL, destination, method, headers, then each address of the name; the connection is
 * pinned to those addresses and checked again when its socket is made.
 * docs/internals/fetch.md has the order, and the test of each check.
 *
 * Everything runs on the thread of the event base, except gbx_fetcher_answer(). Nothing
 * blocks, except for the small local files hosts and resolv.conf.
 */
#ifndef GBX_FETCH_FETCH_H
#define GBX_FETCH_FETCH_H

#include "fetch/libcurl.h"
#include "policy/policy.h"
#include "wire/messages.h"

#include <glovebox/fetch.h>
#include <stdint.h>

struct event_base;

typedef struct gbx_fetcher gbx_fetcher; /* one per engine */
typedef struct gbx_fetch gbx_fetch;     /* one request in flight */

/* The report of one request, for the host only: it names addresses. Strings are never
 * NULL; all but code are untrusted. Borrowed until the observer returns. */
typedef struct gbx_fetch_report {
    const char *method;  /* "" if the request could not be read */
    const char *url;     /* of the last hop; "" if it is invalid */
    const char *address; /* the last peer, or the address that was refused; or "" */
    uint16_t status;     /* 0: no response */
    uint32_t hops;       /* requests sent or about to be sent */
    uint64_t bytes_out;  /* of bodies sent */
    uint64_t bytes_in;   /* of the last body, decompressed */
    double wall_ms;
    const char *code;   /* "" on success, else as the code sees it: "ERR_FETCH_..." */
    const char *detail; /* what the sandboxed code does not see; may be "" */
} gbx_fetch_report;

/* Called just before done, or when a request is dropped; must not call back into the
 * fetcher. fetch_user is gbx_fetch_start()'s. */
typedef void (*gbx_fetch_observer)(void *user, void *fetch_user,
                                   const gbx_fetch_report *report);

typedef struct gbx_fetcher_options {
    struct event_base *base;    /* borrowed until the fetcher is freed */
    gbx_transport_fn transport; /* NULL: the HTTP client */
    void *transport_user;
    gbx_engine *engine;           /* passed to the transport, not used here */
    gbx_fetch_observer on_report; /* may be NULL */
    void *report_user;
    uint32_t stall_ms;       /* limit for a response without progress; 0: 10 s */
    const char *hosts_path;  /* NULL: /etc/hosts; borrowed like base */
    const char *resolv_path; /* NULL: /etc/resolv.conf; borrowed like base */
} gbx_fetcher_options;

gbx_status gbx_fetcher_new(const gbx_fetcher_options *options, gbx_fetcher **ret,
                           gbx_error *reterr) GBX_MUST_USE;

/*
 * Drops requests in flight. Must not be called from a callback of the fetcher. libevent
 * reports cancelled DNS queries later: run the loop once more (EVLOOP_NONBLOCK) before
 * freeing the base, or a little memory leaks.
 */
void gbx_fetcher_free(gbx_fetcher *fetcher);

/* answer is borrowed until done returns; its id is 0. done may start or drop others. */
typedef void (*gbx_fetch_done)(void *user, const gbx_msg_answer *answer);

/*
 * args is the JSON of a HOSTCALL "fetch": [{"url", "method", "headers": [[n, v], ...],
 * "redirect"}]; body is its body. Both are copied; policy is borrowed until the request
 * has ended. done is called once, never from within this function, with {"status",
 * "statusText", "url", "headers", "redirected"} and the decompressed body, or with an
 * error. NULL: out of memory.
 */
gbx_fetch *gbx_fetch_start(gbx_fetcher *fetcher, const gbx_policy *policy,
                           gbx_span args, gbx_span body, gbx_fetch_done done,
                           void *user);

/* Cancel the request: done will not be called. */
void gbx_fetch_drop(gbx_fetch *fetch);

/* May be called from any thread. GBX_E_CLOSED: the request was already answered, was
 * cancelled, or timed out. */
gbx_status gbx_fetcher_answer(gbx_fetcher *fetcher, gbx_transport_token token,
                              const gbx_transport_response *response, gbx_error *reterr)
    GBX_MUST_USE;

#endif

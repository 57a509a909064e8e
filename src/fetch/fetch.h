/* SPDX-License-Identifier: MIT */
/*
 * fetch - answer the code's HTTP requests, within the policy and nowhere else.
 *
 * A request is hostile from its first byte. Every hop of it, the first and each redirect,
 * passes the same checks: URL, destination, method, headers, then each address that the
 * name has; the connection is pinned to those addresses and checked once more when its
 * socket is made. docs/internals/fetch.md has the order, and the test of each check.
 *
 * Everything runs on the thread of the event base, except gbx_fetcher_answer(). Nothing
 * blocks, but for the small local files hosts and resolv.conf.
 */
#ifndef GBX_FETCH_FETCH_H
#define GBX_FETCH_FETCH_H

#include "fetch/libcurl.h"
#include "policy/policy.h"
#include "wire/messages.h"

#include <glovebox/fetch.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- multi.c ------------------------------------------------------------- */

/*
 * Libcurl's transfers on a libevent loop: sockets and one timer, nothing blocks.
 */

struct event_base;

typedef struct gbx_multi gbx_multi;

/* lib is borrowed. Requests that find connections_max of them in use wait for one, under
 * their own deadlines; 0: whoever sends them keeps count. NULL: memory is out. */
gbx_multi *gbx_multi_new(const gbx_libcurl *lib, struct event_base *base,
                         long connections_max);

/* No transfer may be left. */
void gbx_multi_free(gbx_multi *multi);

/* Called when a transfer is over, outside of libcurl: anything may be done. */
typedef void (*gbx_multi_done)(void *user, CURLcode result);

typedef struct gbx_multi_entry {
    gbx_multi_done done;
    void *user;
} gbx_multi_entry;

/* Both are borrowed until easy is removed or done was called; the handle's CURLOPT_PRIVATE
 * is the multi's. False: memory is out. */
bool gbx_multi_add(gbx_multi *multi, CURL *easy, const gbx_multi_entry *entry);

/* Without the loop, which does not run any more: until nothing is under way, for so long at
 * most. Blocks. What is done then is told by nobody. */
void gbx_multi_drain(gbx_multi *multi, uint32_t ms);

/* Not from a callback of libcurl's. */
void gbx_multi_remove(gbx_multi *multi, CURL *easy);

struct event_base;

typedef struct gbx_fetcher gbx_fetcher; /* one an engine */
typedef struct gbx_fetch gbx_fetch;     /* one request in flight */

/* What one request did, for the host's eyes alone: addresses, and why it was refused.
 * Text is never NULL, and hostile but for code. Borrowed until the observer returns. */
typedef struct gbx_fetch_report {
    const char *method;  /* "" if the request could not be read */
    const char *url;     /* of the last hop; "" if it is none */
    const char *address; /* the last peer, or the address that was refused; or "" */
    uint16_t status;     /* 0: no response */
    uint32_t hops;       /* requests that were sent or were about to be */
    uint64_t bytes_out;  /* of bodies sent */
    uint64_t bytes_in;   /* of the last body, decompressed */
    double wall_ms;
    const char *code;   /* "" on success, else as the code sees it: "ERR_FETCH_..." */
    const char *detail; /* more than the code in the box is told; may be "" */
} gbx_fetch_report;

/* fetch_user is what gbx_fetch_start() got. Just before done, or when dropped; must not
 * call back into the fetcher. */
typedef void (*gbx_fetch_observer)(void *user, void *fetch_user,
                                   const gbx_fetch_report *report);

typedef struct gbx_fetcher_options {
    struct event_base *base;    /* borrowed until the fetcher is freed */
    gbx_transport_fn transport; /* NULL: the HTTP client */
    void *transport_user;
    gbx_engine *engine;           /* handed to the transport, never looked into */
    gbx_fetch_observer on_report; /* may be NULL */
    void *report_user;
    uint32_t
        stall_ms; /* a response that stands still for so long is given up; 0: 10 s */
    const char *hosts_path;  /* NULL: /etc/hosts; borrowed like base */
    const char *resolv_path; /* NULL: /etc/resolv.conf; borrowed like base */
} gbx_fetcher_options;

gbx_status gbx_fetcher_new(const gbx_fetcher_options *options, gbx_fetcher **ret,
                           gbx_error *reterr) GBX_MUST_USE;

/*
 * Requests in flight are dropped. Not from a callback of the fetcher. libevent defers what
 * it has to say about cancelled questions to the name servers: turn the loop once more
 * (EVLOOP_NONBLOCK) before freeing it, or a little memory stays until the program's end.
 */
void gbx_fetcher_free(gbx_fetcher *fetcher);

/* The answer is borrowed until done returns; its id is 0. done may start and cancel. */
typedef void (*gbx_fetch_done)(void *user, const gbx_msg_answer *answer);

/*
 * args is what a HOSTCALL "fetch" carries: [{"url", "method", "headers": [[n, v], ...],
 * "redirect"}]; body its bytes. Both are copied; policy is borrowed until the request has
 * ended. done is called once, never from in here, with {"status", "statusText", "url",
 * "headers", "redirected"} and the decompressed body, or with an error. NULL: memory is
 * out.
 */
gbx_fetch *gbx_fetch_start(gbx_fetcher *fetcher, const gbx_policy *policy,
                           gbx_span args, gbx_span body, gbx_fetch_done done,
                           void *user);

/* The code no longer wants it: done is called with an AbortError, not from in here. */
void gbx_fetch_cancel(gbx_fetch *fetch);

/* Nobody is left to tell: done is not called any more. */
void gbx_fetch_drop(gbx_fetch *fetch);

/* From any thread. GBX_E_CLOSED: nobody waits; answered already, cancelled, or late. */
gbx_status gbx_fetcher_answer(gbx_fetcher *fetcher, gbx_transport_token token,
                              const gbx_transport_response *response, gbx_error *reterr)
    GBX_MUST_USE;

#endif

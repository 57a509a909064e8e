/* SPDX-License-Identifier: MIT */
/* flight - internals of a fetcher and of one request in flight; only for src/fetch. */
#ifndef GBX_FETCH_FLIGHT_H
#define GBX_FETCH_FLIGHT_H

#include "fetch/fetch.h"
#include "fetch/internal.h"

struct event;

struct gbx_fetcher {
    gbx_fetcher_options options;
    gbx_libcurl lib;
    gbx_resolver *resolver;
    gbx_multi *multi;
    gbx_transport *transport; /* NULL: libcurl */
    gbx_fetch *flights;       /* requests that have not been answered */
};

struct gbx_fetch {
    gbx_fetcher *fetcher;
    gbx_fetch *next; /* of the fetcher's flights */
    gbx_fetch **link;
    const gbx_policy *policy;
    gbx_fetch_policy rules; /* the policy's, with every limit filled in; borrows its
                               lists */
    gbx_fetch_done done;
    void *user;

    gbx_fetch_request request;
    gbx_url url;       /* of this hop */
    gbx_reach reach;   /* addresses that the policy allows for this hop */
    gbx_fields filled; /* the headers of this hop, with secrets */
    gbx_response response;
    gbx_fault fault;

    /* The pending operation: at most one of these. */
    gbx_query *query;
    gbx_transfer *transfer;
    gbx_transport_token token;

    struct event *step;     /* continues, or reports the end, in a separate loop turn */
    struct event *deadline; /* for the whole request */
    int64_t started_ns;
    uint32_t redirects;
    uint32_t hops;
    uint64_t bytes_out;
    char address[GBX_IP_TEXT_MAX];
};

/* Stop the pending operation without a report. */
void gbx_flight_abandon(gbx_fetch *fetch);

/* Report to the observer, give the answer (NULL: it is not wanted), and free. */
void gbx_flight_end(gbx_fetch *fetch, const gbx_msg_answer *answer);

#endif

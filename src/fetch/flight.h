/* SPDX-License-Identifier: MIT */
/* flight - the insides of a fetcher and of one request in flight; for src/fetch alone. */
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
    gbx_transport *transport; /* NULL: libcurl it is */
    gbx_fetch *flights;       /* all that are not told yet */
};

struct gbx_fetch {
    gbx_fetcher *fetcher;
    gbx_fetch *next; /* of the fetcher's flights */
    gbx_fetch **link;
    const gbx_policy *policy;
    gbx_fetch_policy rules; /* the policy's, every limit filled in; borrows its lists */
    gbx_fetch_done done;
    void *user;

    gbx_fetch_request request;
    gbx_url url;       /* of this hop */
    gbx_reach reach;   /* what the policy lets this hop's address be */
    gbx_fields filled; /* the headers of this hop, with secrets */
    gbx_response response;
    gbx_fault fault;

    /* What is under way: at most one of them. */
    gbx_query *query;
    gbx_transfer *transfer;
    gbx_transport_token token;

    struct event *step;     /* goes on, or tells, in a turn of the loop of its own */
    struct event *deadline; /* of everything together */
    int64_t started_ns;
    uint32_t redirects;
    uint32_t hops;
    uint64_t bytes_out;
    char address[GBX_IP_TEXT_MAX];
};

/* Stop what is under way, tell nobody. */
void gbx_flight_abandon(gbx_fetch *fetch);

/* Report to the observer, give the answer (NULL: nobody waits for it), and free. */
void gbx_flight_end(gbx_fetch *fetch, const gbx_msg_answer *answer);

/* The loop's callbacks: the next hop or the end; too late. */
void gbx_flight_step(int fd, short what, void *user);
void gbx_flight_late(int fd, short what, void *user);

#endif

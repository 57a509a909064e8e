/* SPDX-License-Identifier: MIT */
/*
 * fetch_world - a fetcher with a policy of the test's own, and what came of a request.
 *
 * The policy is written down field by field, so that a test can say what no policy file
 * says: that a name may lead to loopback.
 */
#ifndef GBX_TESTS_FETCH_WORLD_H
#define GBX_TESTS_FETCH_WORLD_H

#include "fetch/fetch.h"

#include <stdbool.h>

#define WORLD_SITES_MAX 32u

typedef struct fetch_result {
    unsigned told; /* how often done was called */
    bool is_error;
    char name[32];
    char code[64];
    char message[600];
    char *json; /* ends in NUL; "" on error */
    uint8_t *body;
    size_t body_len;
    unsigned reports;
    char report_code[64];
    char report_url[512];
    char report_address[64];
    char report_detail[300];
    uint16_t report_status;
    uint32_t report_hops;
    uint64_t report_bytes_in;
    uint64_t report_bytes_out;
} fetch_result;

typedef struct fetch_world {
    struct event_base *base;
    gbx_fetcher *fetcher;
    gbx_policy policy;
    gbx_site sites[WORLD_SITES_MAX];
    char *nameserver;
    fetch_result result; /* of the last request */
} fetch_world;

/* options may be NULL; base and the observer are the world's. Limits are small: a test
 * that meets one does not wait for long. */
void world_open(fetch_world *w, const gbx_fetcher_options *options);
void world_close(fetch_world *w);

typedef enum world_reach { PUBLIC_ONLY, LOOPBACK_TOO } world_reach;

/* One more destination, for http and https. host stays the caller's. */
void world_allow(fetch_world *w, const char *host, uint16_t port, world_reach reach);

/* Names are asked of this server, borrowed. */
void world_nameserver(fetch_world *w, const char *address);

/* Run one request to its end. What is in the result is valid until the next one. */
const fetch_result *world_fetch(fetch_world *w, const char *args_json, const void *body,
                                size_t body_len);

/* The same for {"url": ...} alone; format makes the URL. */
const fetch_result *world_get(fetch_world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Start one, without waiting; the result fills when the loop turns. */
gbx_fetch *world_start(fetch_world *w, const char *args_json, fetch_result *result);

/* Turn the loop until every request is told. */
void world_run(fetch_world *w, fetch_result *result);

void result_free(fetch_result *result);

/* Fails the test, with the message that there is, unless it is this code. "" is none. */
void expect_code(const fetch_result *result, const char *code);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * curl_setup - libcurl set up for one hop, with everything switched off that is not needed, and
 * what its result codes mean to the code in the box.
 */
#ifndef GBX_FETCH_CURL_SETUP_H
#define GBX_FETCH_CURL_SETUP_H

#include "fetch/fetch_error.h"
#include "fetch/libcurl.h"

#define GBX_TRANSFER_ADDRESSES_MAX 64u

struct gbx_hop;

typedef struct gbx_easy {
    const gbx_libcurl *lib; /* borrowed */
    CURL *curl;
    CURLSH *share; /* holds the one answer that this handle may find for a name */
    struct curl_slist *headers;
    struct curl_slist *resolve;
    char error[CURL_ERROR_SIZE]; /* libcurl's words, for the host's log */
} gbx_easy;

/* False: memory is out; clean it up in either case. It must not move afterwards. */
bool gbx_easy_init(gbx_easy *easy, const struct gbx_hop *hop);

void gbx_easy_cleanup(gbx_easy *easy);

/* Fill *fault from a result code, unless it says already why. */
void gbx_easy_fault(const gbx_easy *easy, CURLcode result, const char *host,
                    gbx_fault *fault);

#endif

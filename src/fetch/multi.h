/* SPDX-License-Identifier: MIT */
/*
 * multi - libcurl's transfers on a libevent loop: sockets and one timer, nothing blocks.
 */
#ifndef GBX_FETCH_MULTI_H
#define GBX_FETCH_MULTI_H

#include "fetch/libcurl.h"
#include <stdbool.h>
#include <stdint.h>

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

#endif

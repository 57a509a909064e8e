/* SPDX-License-Identifier: MIT */
/*
 * guard_cache - code that the guard has lately let pass: the same text, called again, need not
 * be parsed again.
 *
 * Only clean verdicts are kept, and only those that nothing but text and form decide: a
 * call with a policy or bindings of its own is always looked at. The engine's policy does
 * not change, and functions are only ever added. A verdict that should
 * no longer hold would cost an early error, no safety: the guard is no boundary.
 *
 * Bounded in entries and bytes, the least recently used go first. Own lock, held while
 * text is compared; any thread.
 */
#ifndef GBX_ENGINE_GUARD_CACHE_H
#define GBX_ENGINE_GUARD_CACHE_H

#include "guard/guard.h"

#include <pthread.h>

#define GBX_KNOWN_CODES_MAX 64
#define GBX_KNOWN_BYTES_MAX GBX_KIB(256)

typedef struct gbx_guard_cache {
    pthread_mutex_t lock;
    uint64_t hashes[GBX_KNOWN_CODES_MAX]; /* apart: the search reads nothing else */
    struct gbx_guard_cache_code {
        char *text; /* NULL: free */
        size_t len;
        gbx_form form;
        uint64_t used; /* when; larger is later */
        gbx_guard_span span;
    } codes[GBX_KNOWN_CODES_MAX];
    size_t bytes;
    uint64_t uses;
} gbx_guard_cache;

gbx_status gbx_guard_cache_init(gbx_guard_cache *known, gbx_error *reterr);
void gbx_guard_cache_cleanup(gbx_guard_cache *known);

/* As gbx_guard_check(), for one call. */
gbx_status gbx_guard_cache_check(gbx_guard_cache *known, const gbx_call *call,
                                 size_t max_len, const gbx_guard_world *world,
                                 gbx_guard_span *ret_span, gbx_report **ret_report,
                                 gbx_error *reterr);

#endif

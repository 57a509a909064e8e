/* SPDX-License-Identifier: MIT */
/*
 * peer - an exchange and a worker that is nothing but the bytes a test says.
 *
 * Owns the exchange and its result; not thread-safe.
 */
#ifndef GBX_TESTS_PEER_H
#define GBX_TESTS_PEER_H

#include "engine/exchange.h"
#include "golden.h"

#define PEER_OUTPUT_MAX 16
#define PEER_LOG_MAX    1000

typedef struct peer {
    gbx_exchange x;
    gbx_result *result;
} peer;

void peer_init(peer *p, uint64_t output_max, uint32_t log_max);
void peer_cleanup(peer *p);

/* A TEST() that has a peer *p with these limits. */
#define PEER_TEST(name)                                 \
    static void name##_of(peer *p);                     \
    TEST(name)                                          \
    {                                                   \
        GBX_CLEANUP(peer_cleanup) peer one;             \
                                                        \
        peer_init(&one, PEER_OUTPUT_MAX, PEER_LOG_MAX); \
        name##_of(&one);                                \
    }                                                   \
    static void name##_of(peer *p)

/* One frame with these fields, whether or not they fit each other. */
void peer_frame(gbx_buf *to, uint32_t body_len, uint8_t type, uint64_t call_id,
                const void *body, size_t len);

/* Feed bytes in pieces of at most so many. */
void peer_feed(peer *p, const void *data, size_t len, size_t piece);

/* One well-made frame of the call, in one piece. */
void peer_say(peer *p, uint8_t type, const void *body, size_t len);

/* The golden message of the type, or an empty one where there is none. */
void peer_say_golden(peer *p, uint8_t type);

#endif

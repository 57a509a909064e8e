/* SPDX-License-Identifier: MIT */
/*
 * golden - one message of every type that has a body, as bytes with a legend: what the
 * encoder must make and the decoder must accept. Test data; nothing is owned.
 */
#ifndef GBX_TESTS_GOLDEN_H
#define GBX_TESTS_GOLDEN_H

#include "wire/messages.h"

/* In every golden frame that carries one. */
#define GOLDEN_CALL_ID UINT64_C(0x1122334455667788)

/* Ceiling of RESULT's JSON for the decoder under test. */
#define GOLDEN_OUTPUT_MAX 16

typedef struct golden {
    const char *name;
    gbx_msg_type type;
    uint64_t call_id;
    const uint8_t *body;
    size_t len;
    bool (*decode)(gbx_span body);              /* and nothing else */
    bool (*encode)(gbx_buf *to);                /* the whole frame */
    bool (*recode)(gbx_span body, gbx_buf *to); /* decode, and encode that; or NULL */
} golden;

extern const golden golden_messages[];
extern const size_t golden_count;

const golden *golden_of(gbx_msg_type type);

#endif

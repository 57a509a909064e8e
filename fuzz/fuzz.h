/* SPDX-License-Identifier: MIT */
/*
 * fuzz - what every target is: one function of bytes, deterministic, without state.
 *
 * A property that does not hold is a failed assertion. Linked to libFuzzer it is
 * fuzzed; linked to replay.c it is a test of its corpus.
 */
#ifndef GBX_FUZZ_FUZZ_H
#define GBX_FUZZ_FUZZ_H

#include "base/buf.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of the input. */
typedef struct fuzz_input {
    const uint8_t *next;
    size_t left;
} fuzz_input;

/* The next bytes of the input, at most so many. */
static inline gbx_span fuzz_bytes(fuzz_input *in, size_t max)
{
    gbx_span span = {.data = in->next, .len = in->left < max ? in->left : max};

    if (span.len == 0)
        return (gbx_span){0};
    in->next += span.len;
    in->left -= span.len;
    return span;
}

/* A choice of the input's; 0 once there is none left. */
static inline uint8_t fuzz_u8(fuzz_input *in)
{
    gbx_span byte = fuzz_bytes(in, 1);

    return byte.len > 0 ? *byte.data : 0;
}

/* A number in little-endian order; without all its bytes 0, and nothing is left. */
static inline uint32_t fuzz_u32(fuzz_input *in)
{
    gbx_span bytes = fuzz_bytes(in, sizeof(uint32_t));
    uint32_t value = 0;

    for (size_t i = bytes.len; i > 0 && bytes.len == sizeof value; i--)
        value = value << 8 | bytes.data[i - 1];
    return value;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * fuzz - what every target is: one function of bytes, deterministic, without state.
 *
 * A property that does not hold is a failed assertion. Linked to libFuzzer it is
 * fuzzed; linked to replay.c it is a test of its corpus.
 */
#ifndef GBX_FUZZ_FUZZ_H
#define GBX_FUZZ_FUZZ_H

#include "wire/reader.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A choice of the input's; 0 once there is none left. */
static inline uint8_t fuzz_u8(gbx_reader *in)
{
    uint8_t value;

    gbx_read_u8(in, &value);
    return value;
}

/* The next bytes of the input, at most so many. */
static inline gbx_span fuzz_bytes(gbx_reader *in, size_t max)
{
    gbx_span span = {.data = in->next, .len = in->left < max ? in->left : max};

    if (in->failed || span.len == 0)
        return (gbx_span){0};
    in->next += span.len;
    in->left -= span.len;
    return span;
}

#endif

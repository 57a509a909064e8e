/* SPDX-License-Identifier: MIT */
/* bucket - so many at once, and so many a second. Time is an argument. */
#ifndef GBX_AUDIT_BUCKET_H
#define GBX_AUDIT_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gbx_bucket {
    uint32_t size; /* full, as at the start */
    uint32_t per_s;
    double left;
    int64_t at_ns; /* when left was right */
} gbx_bucket;

void gbx_bucket_init(gbx_bucket *bucket, uint32_t size, uint32_t per_s, int64_t now_ns);

/* Take one; false if none is left. */
bool gbx_bucket_take(gbx_bucket *bucket, int64_t now_ns);

#endif

/* SPDX-License-Identifier: MIT */
/* bucket - see audit.h. */
#include "audit/audit.h"

/* ---- public to other modules -------------------------------------------- */

void gbx_bucket_init(gbx_bucket *b, uint32_t size, uint32_t per_s, int64_t now_ns)
{
    *b = (gbx_bucket){.size = size, .per_s = per_s, .left = size, .at_ns = now_ns};
}

bool gbx_bucket_take(gbx_bucket *b, int64_t now_ns)
{
    if (now_ns > b->at_ns) {
        b->left += (double)(now_ns - b->at_ns) / 1e9 * b->per_s;
        if (b->left > b->size)
            b->left = b->size;
        b->at_ns = now_ns;
    }
    if (b->left < 1)
        return false;
    b->left -= 1;
    return true;
}

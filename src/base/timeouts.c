/* SPDX-License-Identifier: MIT */
/* timeouts - see timeouts.h. */
#include "base/timeouts.h"

uint32_t gbx_timeout_ms(gbx_timeout timeout)
{
    static const uint32_t table[] = {
#define XX(name, ms, what) ms,
        GBX_TIMEOUT_MAP(XX)
#undef XX
    };

    return table[timeout];
}

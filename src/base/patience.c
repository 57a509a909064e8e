/* SPDX-License-Identifier: MIT */
/* patience - see patience.h. */
#include "base/patience.h"

uint32_t gbx_patience_ms(gbx_patience patience)
{
    static const uint32_t table[] = {
#define XX(name, ms, what) ms,
        GBX_PATIENCE_MAP(XX)
#undef XX
    };

    return table[patience];
}

/* SPDX-License-Identifier: MIT */
/* scaled_patience - GLOVEBOX_PATIENCE is how many percent of the product's a test has. */
#include "base/patience.h"

#include <stdlib.h>

uint32_t __real_gbx_patience_ms(gbx_patience patience);
uint32_t __wrap_gbx_patience_ms(gbx_patience patience);

uint32_t __wrap_gbx_patience_ms(gbx_patience patience)
{
    const char *percent = getenv("GLOVEBOX_PATIENCE");
    uint32_t ms = __real_gbx_patience_ms(patience);

    return percent != NULL ? (uint32_t)(ms * strtoull(percent, NULL, 10) / 100) : ms;
}

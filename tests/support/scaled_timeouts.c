/* SPDX-License-Identifier: MIT */
/* scaled_timeouts - GLOVEBOX_TIMEOUTS is how many percent of the product's a test has. */
#include "base/timeouts.h"

#include <stdlib.h>

uint32_t __real_gbx_timeout_ms(gbx_timeout timeout);
uint32_t __wrap_gbx_timeout_ms(gbx_timeout timeout);

uint32_t __wrap_gbx_timeout_ms(gbx_timeout timeout)
{
    const char *percent = getenv("GLOVEBOX_TIMEOUTS");
    uint32_t ms = __real_gbx_timeout_ms(timeout);

    return percent != NULL ? (uint32_t)(ms * strtoull(percent, NULL, 10) / 100) : ms;
}

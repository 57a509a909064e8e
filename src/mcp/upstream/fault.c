/* SPDX-License-Identifier: MIT */
/* fault - the ways in which a call of another server fails, by name. */
#include "mcp/upstream/upstream.h"

/* ---- public to other modules -------------------------------------------- */

const char *gbx_upstream_fault_name(gbx_upstream_fault fault)
{
    static const char *const names[] = {
        [GBX_UPSTREAM_OK] = "OK",
        [GBX_UPSTREAM_UNKNOWN_SERVER] = "UPSTREAM_UNKNOWN_SERVER",
        [GBX_UPSTREAM_UNKNOWN_TOOL] = "UPSTREAM_UNKNOWN_TOOL",
        [GBX_UPSTREAM_START] = "UPSTREAM_START",
        [GBX_UPSTREAM_EXIT] = "UPSTREAM_EXIT",
        [GBX_UPSTREAM_TIMEOUT] = "UPSTREAM_TIMEOUT",
        [GBX_UPSTREAM_CANCELLED] = "UPSTREAM_CANCELLED",
        [GBX_UPSTREAM_OPEN] = "UPSTREAM_OPEN",
        [GBX_UPSTREAM_PROTOCOL] = "UPSTREAM_PROTOCOL",
        [GBX_UPSTREAM_REFUSED] = "UPSTREAM_REFUSED",
        [GBX_UPSTREAM_BUSY] = "UPSTREAM_BUSY",
        [GBX_UPSTREAM_INPUT] = "UPSTREAM_INPUT",
        [GBX_UPSTREAM_CHANGED] = "UPSTREAM_CHANGED",
    };

    return names[fault];
}

/* Might the very same call succeed a little later? What it has done already is not asked
 * here: that is for who knows the tool. */
bool gbx_upstream_fault_retryable(gbx_upstream_fault fault)
{
    return fault == GBX_UPSTREAM_START || fault == GBX_UPSTREAM_CHANGED ||
           fault == GBX_UPSTREAM_EXIT || fault == GBX_UPSTREAM_TIMEOUT ||
           fault == GBX_UPSTREAM_OPEN || fault == GBX_UPSTREAM_BUSY;
}

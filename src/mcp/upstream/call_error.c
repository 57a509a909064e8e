/* SPDX-License-Identifier: MIT */
/* call_error - names of the ways in which a call of another server fails. */
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

bool gbx_upstream_is_retryable(const gbx_upstream_reply *reply)
{
    gbx_upstream_fault fault = reply->fault;

    if (fault == GBX_UPSTREAM_EXIT || fault == GBX_UPSTREAM_TIMEOUT ||
        (fault == GBX_UPSTREAM_REFUSED && reply->is_passing))
        return reply->was_not_begun || reply->is_repeatable;
    /* Nothing was sent. */
    if (reply->is_lasting)
        return false;
    return fault == GBX_UPSTREAM_START || fault == GBX_UPSTREAM_OPEN ||
           fault == GBX_UPSTREAM_BUSY || fault == GBX_UPSTREAM_CHANGED;
}

bool gbx_upstream_may_have_acted(const gbx_upstream_reply *reply)
{
    gbx_upstream_fault fault = reply->fault;

    return !reply->was_not_begun &&
           (fault == GBX_UPSTREAM_EXIT || fault == GBX_UPSTREAM_TIMEOUT ||
            fault == GBX_UPSTREAM_CANCELLED || fault == GBX_UPSTREAM_PROTOCOL ||
            (fault == GBX_UPSTREAM_REFUSED && reply->is_passing));
}

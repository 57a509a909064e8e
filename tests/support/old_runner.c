/* SPDX-License-Identifier: MIT */
/* old_runner - a plug-in of another version: it must not be called. */
#include <glovebox/glovebox.h>
#include <stdlib.h>

GBX_API extern const char gbx_runner_version[];
GBX_API gbx_status gbx_runner_open(const gbx_options *options, gbx_runner *ret,
                                   gbx_error *reterr);

const char gbx_runner_version[] = "0.0.1";

gbx_status gbx_runner_open(const gbx_options *options, gbx_runner *ret,
                           gbx_error *reterr)
{
    abort();
}

/* SPDX-License-Identifier: MIT */
/* header - the public header as C++ sees it: no warning, every initialiser usable. */
#include <glovebox/drive.h>
#include <glovebox/fetch.h>
#include <glovebox/glovebox.h>
#include <glovebox/host.h>
#include <glovebox/policy.h>
#include <glovebox/preload.h>
#include <glovebox/record.h>

static gbx_status run(void *, const gbx_call *, gbx_outcome *, gbx_error *)
{
    return GBX_OK;
}

int main()
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_limits limits = GBX_LIMITS_INIT;
    gbx_call call = GBX_CALL_INIT;
    gbx_runner runner = GBX_RUNNER_INIT;
    gbx_error error = gbx_error();

    runner.name = "none";
    runner.execute = run;
    options.runner = &runner;
    options.limits.timeout_ms = 100;
    limits.timeout_ms = 50;
    call.limits = &limits;
    call.form = GBX_FORM_SCRIPT;
    return options.pool_size == 0 && call.code == nullptr && error.status == GBX_OK ? 0
                                                                                    : 1;
}

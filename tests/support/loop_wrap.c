/* SPDX-License-Identifier: MIT */
/* loop_wrap - gives engines of tests a runner with leases (loop_runner.h). */
#include "loop_runner.h"

gbx_status __real_gbx_engine_new(const gbx_options *options, gbx_engine **ret_engine,
                                 gbx_error *reterr);
gbx_status __wrap_gbx_engine_new(const gbx_options *options, gbx_engine **ret_engine,
                                 gbx_error *reterr);

/* The linker gives this one to tests: --wrap=gbx_engine_new. */
gbx_status __wrap_gbx_engine_new(const gbx_options *options, gbx_engine **ret_engine,
                                 gbx_error *reterr)
{
    gbx_options asked = GBX_OPTIONS_INIT;
    gbx_options own = GBX_OPTIONS_INIT;
    gbx_runner runner;
    gbx_status status;

    if (options != NULL && options->struct_size == sizeof asked)
        asked = *options;
    if (!loop_runner_is_on() || asked.runner != NULL || asked.runner_name != NULL)
        return __real_gbx_engine_new(options, ret_engine, reterr);
    own.worker_path = asked.worker_path;
    own.pool_size = asked.pool_size;
    own.max_workers = asked.max_workers;
    own.fresh = asked.fresh;
    own.zygote = asked.zygote;
    own.require = asked.require;
    own.total_memory_bytes = asked.total_memory_bytes;
    runner = loop_runner_new(&own);
    asked.runner = &runner;
    status = __real_gbx_engine_new(&asked, ret_engine, reterr);
    if (status != GBX_OK) {
        runner.dispose(runner.user);
        return status;
    }
    loop_runner_is_of(&runner, *ret_engine);
    return status;
}

/* SPDX-License-Identifier: MIT */
/* measured - see measured.h. */
#include "measured.h"

#include "proc.h"
#include "test.h"

#include <unistd.h>

gbx_engine *measured_engine;

int measured_start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.limits.memory_bytes = 1024 * MIB;
    options.limits.output_bytes = 64 * MIB;
    measured_engine = engine_start(&options);
    return 0;
}

int measured_finish(void **state)
{
    proc_tree tree;

    gbx_engine_free(measured_engine);
    proc_look(getpid(), &tree);
    return tree.count == 0 && tree.zombies == 0 ? 0 : -1;
}

gbx_result *measured_run(const char *code, const gbx_limits *limits, gbx_code expected)
{
    gbx_call call = call_of(code);
    gbx_result *result;

    call.limits = limits;
    result = call_run(measured_engine, &call);
    if (gbx_result_code(result) != expected)
        fail_msg("'%.100s' ended as %s, not %s: %.400s", code,
                 gbx_code_name(gbx_result_code(result)), gbx_code_name(expected),
                 gbx_result_json(result, NULL));
    assert_true((expected == GBX_CODE_VALUE) == (*gbx_result_error(result) == 0));
    assert_null(strchr(gbx_result_error(result), '\n'));
    return result;
}

void measured_check(const char *code, const gbx_limits *limits, gbx_code expected)
{
    gbx_result_free(measured_run(code, limits, expected));
    check_alive(measured_engine);
}

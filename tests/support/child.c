/* SPDX-License-Identifier: MIT */
/* child - see child.h. */
#include "child.h"

#include "proc.h"
#include "until.h"

#include <string.h>

bool child_gives(gbx_engine *engine, const char *code, const char *value)
{
    gbx_call call = call_of(code);
    gbx_result *result = NULL;
    bool right;

    if (gbx_execute(engine, &call, &result, NULL) != GBX_OK)
        return false;
    right = gbx_result_code(result) == GBX_CODE_VALUE &&
            strcmp(gbx_result_value(result, NULL), value) == 0;
    if (!right)
        (void)dprintf(2, "%s\n", gbx_result_json(result, NULL));
    gbx_result_free(result);
    return right;
}

bool child_is_alive(void *engine)
{
    gbx_call call = call_of("() => 2");

    return call_code(engine, &call) == GBX_CODE_VALUE;
}

static bool is_full(void *engine)
{
    return pool_is_full(engine);
}

bool child_ends_as(gbx_engine *engine, const char *code, gbx_code expected)
{
    gbx_limits limits = timeout_of(1000);
    gbx_call call = call_of(code);

    if (expected ==
        GBX_CODE_TIMEOUT) /* of which nothing is for the wait for a worker */
        (void)until(is_full, engine, 60000);
    call.limits = &limits;
    return call_code(engine, &call) == expected;
}

bool child_engine(gbx_engine **ret)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_error error = {0};

    options.pool_size = 2;
    if (gbx_engine_new(&options, ret, &error) == GBX_OK)
        return true;
    (void)dprintf(2, "%s\n", error.message);
    return false;
}

bool child_life(void)
{
    gbx_engine *engine = NULL;

    CHECK(child_engine(&engine));
    for (int i = 0; i < 2; i++) {
        CHECK(child_gives(engine, "() => [1, 'two', 3.5]", "[1,\"two\",3.5]"));
        CHECK(child_ends_as(engine, "() => { for (;;); }", GBX_CODE_TIMEOUT));
    }
    gbx_engine_free(engine);
    CHECK(proc_descendants() == 0);
    return true;
}

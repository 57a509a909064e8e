/* SPDX-License-Identifier: MIT */
/* host_box - asks host_files.js in a sealed worker. See import.h. */
#include "mcp/import/import.h"

#include "base/cleanup.h"

#include <glovebox/preload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_MS 60000 /* files are of any size up to 64 MiB */

extern const char gbx_script_host_files[];

static void release_result(gbx_result **result)
{
    gbx_result_free(*result);
}

gbx_status gbx_host_box_open(gbx_host_box *box, gbx_trust trust, gbx_error *reterr)
{
    const gbx_preload preload = {"host_files.js", gbx_script_host_files,
                                 strlen(gbx_script_host_files)};
    gbx_options options = GBX_OPTIONS_INIT;

    options.limits.timeout_ms = CALL_MS;
    options.limits.memory_bytes = GBX_MIB(1024);
    options.limits.output_bytes = GBX_MIB(128);
    options.pool_size = 1;
    options.max_workers = 1;
    options.preloads = &preload;
    options.preload_count = 1;
    box->trust = trust;
    return gbx_engine_new(&options, &box->engine, reterr);
}

void gbx_host_box_close(gbx_host_box *box)
{
    gbx_engine_free(box->engine);
}

gbx_status gbx_host_box_ask(gbx_host_box *box, const char *function, json_t *question,
                            json_t **ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_free)
    char *input = gbx_need(json_dumps(question, JSON_COMPACT));
    GBX_CLEANUP(release_result) gbx_result *result = NULL;
    gbx_call call = GBX_CALL_INIT;
    char code[64];
    const char *value;
    gbx_status status;
    size_t len;

    json_decref(question);
    call.flags = GBX_CALL_NO_GUARD; /* the code is ours */
    call.code_len =
        (size_t)snprintf(code, sizeof code, "input => host_files.%s(input)", function);
    call.code = code;
    call.input = input;
    call.input_len = strlen(input);
    status = gbx_execute(box->engine, &call, &result, reterr);
    explicit_bzero(input, call.input_len); /* it may hold secrets */
    if (status != GBX_OK)
        return status;
    if (gbx_result_code(result) != GBX_CODE_VALUE)
        return gbx_fail(reterr, GBX_E_DATA, "%s", gbx_result_error(result));
    value = gbx_result_value(result, &len);
    *ret = gbx_need(json_loadb(value, len, JSON_DECODE_ANY, NULL));
    return GBX_OK;
}

/* SPDX-License-Identifier: MIT */
/* replay_box - makes an engine for a replay, with what the recorded call had. */
#include "engine/engine.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

static void never_called(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    gbx_hostcall_refuse(engine, call->request, "Error",
                        "there is nothing behind the functions of this engine",
                        "ERR_NOT_ALLOWED");
}

static gbx_status expose_all(gbx_engine *engine, gbx_span names, gbx_error *reterr)
{
    gbx_status status = GBX_OK;
    gbx_span one;

    while (status == GBX_OK && gbx_span_line(&names, &one)) {
        char name[GBX_NAME_MAX];

        if (one.len >= sizeof name || memchr(one.data, 0, one.len) != NULL)
            return gbx_fail(reterr, GBX_E_DATA,
                            "the recording has a function whose name cannot be one");
        memcpy(name, one.data, one.len);
        name[one.len] = 0;
        status = gbx_engine_expose(engine, name, never_called, NULL, reterr);
    }
    return gbx_replay_as_data(status, reterr);
}

static gbx_status start_engine(const gbx_record_head *h, const gbx_options *options,
                               gbx_engine **ret_engine, gbx_error *reterr)
{
    gbx_options own = *options;
    gbx_engine *engine = NULL;
    gbx_policy *policy = NULL;
    gbx_status status = gbx_policy_for_replay(h->capabilities, h->env, &policy, reterr);

    if (status != GBX_OK)
        return gbx_replay_as_data(status, reterr);
    own.globals = (gbx_globals)h->globals;
    own.policy = policy;
#define FILL(field, name, standard, least, most) \
    if (own.limits.field == 0)                   \
        own.limits.field = h->limits.field;
    GBX_LIMIT_MAP(FILL)
#undef FILL
    status = gbx_engine_new(&own, &engine, reterr);
    gbx_policy_free(policy);
    if (status == GBX_OK)
        status = expose_all(engine, h->functions, reterr);
    if (status != GBX_OK) {
        gbx_engine_free(engine);
        return status;
    }
    *ret_engine = engine;
    return GBX_OK;
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_recording_engine(const gbx_recording *recording,
                                const gbx_options *options, gbx_engine **ret_engine,
                                gbx_error *reterr)
{
    GBX_CLEANUP(gbx_record_head_cleanup) gbx_record_head head = {0};
    GBX_CLEANUP(gbx_record_cursor_cleanup) gbx_record_cursor cursor = {0};
    gbx_settings settings;
    gbx_status status;
    const char *text;
    size_t len;

    if (recording == NULL || ret_engine == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "recording or ret_engine is missing");
    text = gbx_recording_text(recording, &len);
    if (len == 0)
        return gbx_fail(reterr, GBX_E_USAGE, "the recording is empty");
    status = gbx_options_import(options, &settings.options, reterr);
    if (status != GBX_OK)
        return status;
    if (settings.options.capabilities != 0 || settings.options.policy != NULL ||
        settings.options.globals != 0 || settings.options.runner != NULL ||
        settings.options.runner_name != NULL)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "capabilities, policy, globals and runner come from the "
                        "recording: leave them alone");
    gbx_record_cursor_init(&cursor, text, len);
    status = gbx_record_head_read(&cursor, &head, reterr);
    return status == GBX_OK ? start_engine(&head, &settings.options, ret_engine, reterr)
                            : status;
}

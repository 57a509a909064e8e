/* SPDX-License-Identifier: MIT */
/*
 * runner_result - calls on external runners. The guard has passed the call. Size limits
 * of the value and the logs are enforced here too, since a runner may not know them.
 */
#include "engine/engine.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"

#include <stdio.h>
#include <string.h>

struct gbx_outcome {
    gbx_run *run;
    int64_t start_ns;
    bool is_filled;
};

/* The call as the runner gets it: only the code, limits complete. */
static gbx_call narrowed(const gbx_run *run)
{
    gbx_call call = run->call;

    call.code += run->span.start;
    call.code_len = run->span.len;
    call.limits = &run->limits;
    return call;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_outcome_run(gbx_run *run, gbx_error *reterr)
{
    const gbx_runner *runner = &run->engine->runner;
    gbx_outcome outcome = {.run = run, .start_ns = gbx_clock_now_ns()};
    gbx_call call = narrowed(run);
    gbx_result *r = run->result;
    gbx_status status;

    (void)snprintf(r->runner_name, sizeof r->runner_name, "%s", runner->name);
    r->runner = r->runner_name;
    r->is_isolated = false;
    status = runner->execute(runner->user, &call, &outcome, reterr);
    if (status != GBX_OK)
        return status;
    if (!outcome.is_filled &&
        !gbx_result_fail(r, GBX_CODE_CRASHED, "the runner gave no outcome", ""))
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the result");
    r->stats.wall_ms = (double)(gbx_clock_now_ns() - outcome.start_ns) / 1e6;
    run->phase = GBX_RUN_ENDED;
    return GBX_OK;
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_outcome_value(gbx_outcome *outcome, const char *json, size_t json_len)
{
    gbx_run *run = outcome->run;
    gbx_result *r = run->result;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf value = {0};
    bool filled;

    if (outcome->is_filled ||
        (json != NULL && !gbx_json_check(json, json_len, GBX_JSON_DEPTH_MAX, NULL)))
        return GBX_E_USAGE;
    outcome->is_filled = true;
    gbx_buf_init(&value, json_len);
    filled = gbx_json_append_compact(&value, json, json_len);
    if (filled && value.len > run->limits.output_bytes)
        filled = gbx_result_fail(r, GBX_CODE_OUTPUT_TOO_LARGE,
                                 gbx_code_text(GBX_CODE_OUTPUT_TOO_LARGE), "");
    else if (filled)
        filled =
            gbx_result_set_value(r, json == NULL, (gbx_span){value.data, value.len});
    r->stats.output_bytes = r->value_len;
    return filled ? GBX_OK : GBX_E_NOMEM;
}

gbx_status gbx_outcome_error(gbx_outcome *outcome, gbx_code code, const char *message,
                             uint32_t line, uint32_t column)
{
    gbx_run *run = outcome->run;
    gbx_result *r = run->result;

    if (outcome->is_filled || code == GBX_CODE_VALUE || code > GBX_CODE_VIOLATION ||
        message == NULL)
        return GBX_E_USAGE;
    outcome->is_filled = true;
    r->location.line = line;
    r->location.column = column;
    if (line > 0) {
        r->frame = gbx_guard_frame(run->call.code, run->call.code_len, line, column);
        if (r->frame != NULL)
            r->location.frame = r->frame;
    }
    return gbx_result_fail(r, code, message, "") ? GBX_OK : GBX_E_NOMEM;
}

gbx_status gbx_outcome_log(gbx_outcome *outcome, gbx_log_level level, const char *text,
                           size_t text_len)
{
    gbx_run *run = outcome->run;
    double at_ms = (double)(gbx_clock_now_ns() - outcome->start_ns) / 1e6;
    gbx_log line;

    if (level > GBX_LOG_ERROR)
        return GBX_E_USAGE;
    if (!gbx_result_add_log(run->result, level, at_ms,
                            (gbx_span){(const uint8_t *)text, text_len},
                            run->limits.log_bytes, 0))
        return GBX_E_NOMEM;
    if (run->call.on_log != NULL && gbx_result_take_unseen_log(run->result, &line))
        run->call.on_log(run->call.log_user, &line);
    return GBX_OK;
}

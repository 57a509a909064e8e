/* SPDX-License-Identifier: MIT */
/*
 * script_run - a run ends when the worker has finished and all its tool calls have
 * ended. A call that was already sent to its server is awaited, within the run's time,
 * since it has its effect even if its result is not read. Other calls are cancelled.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define VALUE_MAX   GBX_MIB(512)
#define PRINTED_MAX GBX_MIB(512)
#define TICK_MS     250 /* between checks of the time: the precision of pauses */

/* ---- time ------------------------------------------------------------------------ */

static double elapsed_ms(const gbx_code_run *run)
{
    return (double)(gbx_clock_now_ns() - run->start_ns) / (double)GBX_NS_PER_MS;
}

static double left_ms(const gbx_code_run *run)
{
    double left = run->timeout_ms + run->paused_ms - elapsed_ms(run);

    return left > 0 ? left : 0;
}

/* ---- the end --------------------------------------------------------------------- */

static void free_run(gbx_code_run *run)
{
    if (run->in_code.le_prev != NULL)
        LIST_REMOVE(run, in_code);
    gbx_mcp_timer_cleanup(&run->timer);
    gbx_gate_forget(run->sift);
    gbx_code_run_drop_keepings(run);
    for (gbx_code_call *n = run->calls, *next; n != NULL; n = next) {
        next = n->next;
        gbx_tool_call_release(&n->base);
    }
    for (size_t i = 0; i < GBX_RUN_FAULTS_MAX; i++)
        free(run->faults[i].message);
    gbx_result_free(run->result);
    gbx_buf_cleanup(&run->value);
    gbx_buf_cleanup(&run->printed);
    gbx_buf_cleanup(&run->images);
    free(run->logs);
    for (size_t i = 0; i < run->remark_count; i++)
        free(run->remarks[i]);
    free(run->artifacts);
    free(run->text);
    free(run);
}

static void finish_if_over(gbx_code_run *run)
{
    if (run->box_run != NULL || run->open > 0 || run->holders > 0)
        return;
    if (run->result != NULL && !run->is_stripped) {
        gbx_code_run_redact(run); /* then calls this again */
        return;
    }
    if (run->id[0] != 0)
        gbx_gate_end_run(run->code->gate, run->id);
    gbx_code_run_finish(run, left_ms(run));
    free_run(run);
}

/* True if the run was stopped, so that its value is not wanted. */
static bool was_stopped(const gbx_code_run *run)
{
    gbx_code code =
        run->result != NULL ? gbx_result_code(run->result) : GBX_CODE_ABORTED;

    return code == GBX_CODE_ABORTED || code == GBX_CODE_TIMEOUT;
}

static void on_done(void *user, gbx_result *result, const gbx_error *error)
{
    gbx_code_run *run = user;

    run->box_run = NULL;
    run->result = result;
    run->error = *error;
    run->is_ending = true;
    if (was_stopped(run))
        gbx_code_run_drop_keepings(run);
    for (gbx_code_call *n = run->calls; n != NULL; n = n->next) {
        n->was_open = n->base.state != GBX_TOOL_CALL_DONE;
        if (n->was_open && (was_stopped(run) || !gbx_gate_was_sent(&n->base)))
            gbx_gate_cancel(&n->base);
    }
    if (run->open == 0 || was_stopped(run))
        gbx_mcp_timer_cleanup(&run->timer);
    finish_if_over(run);
}

static gbx_box_turn take_turn(void *user, gbx_call *call)
{
    gbx_code_run *run = user;
    const gbx_code_data *data = &run->code->data;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why = {.ceiling = GBX_KIB(8)};

    if (data->count == 0)
        return GBX_BOX_GOES;
    if (data->is_pending(data->user, run->text, run->text_len))
        return GBX_BOX_WAITS;
    data->say_missing(data->user, run->text, run->text_len, &why);
    if (why.len > 0)
        gbx_code_run_remark(run, "%.*s", (int)why.len, (const char *)why.data);
    return GBX_BOX_GOES;
}

static const gbx_box_hooks run_hooks = {.request = gbx_code_run_request,
                                        .log = gbx_code_run_log,
                                        .turn = take_turn,
                                        .done = on_done};

/* ---- starting the code ----------------------------------------------------------- */

static gbx_code_run *make(gbx_mcp_code *code, gbx_mcp_request *request,
                          const gbx_buf *text)
{
    gbx_code_run *run = gbx_need(calloc(1, sizeof *run));

    run->code = code;
    run->request = request;
    run->calls_end = &run->calls;
    run->may_end = finish_if_over;
    STAILQ_INIT(&run->keepings);
    gbx_buf_init(&run->value, VALUE_MAX);
    gbx_buf_init(&run->printed, PRINTED_MAX);
    gbx_buf_init(&run->images, GBX_RUN_IMAGES_MAX);
    run->start_ns = gbx_clock_now_ns();
    run->text = gbx_copy_bytes(text->data, text->len);
    run->text_len = text->len;
    LIST_INSERT_HEAD(&code->runs, run, in_code);
    return run;
}

/* ---- the time limit -------------------------------------------------------------- */

/* Stop the run after a timeout, or if the client cancelled the request or is gone. It
 * ends later, but soon. */
static void stop(void *user)
{
    gbx_code_run *run = user;

    if (run->box_run != NULL)
        gbx_box_abort(run->box_run);
    for (gbx_code_call *n = run->is_ending ? run->calls : NULL; n != NULL; n = n->next)
        gbx_gate_cancel(&n->base);
}

static void arm(gbx_code_run *run)
{
    double left = left_ms(run);

    gbx_mcp_timer_set(&run->timer, left < TICK_MS ? (uint32_t)left + 1 : TICK_MS);
}

static void on_tick(void *user)
{
    gbx_code_run *run = user;
    double now_ms = elapsed_ms(run);
    bool is_asking = gbx_mcp_is_asking(run->request);

    for (const gbx_code_call *n = run->calls; n != NULL && !is_asking; n = n->next)
        is_asking = gbx_gate_is_asking(&n->base);
    if (is_asking)
        run->paused_ms += now_ms - run->seen_ms;
    run->seen_ms = now_ms;
    if (left_ms(run) > 0) {
        arm(run);
        return;
    }
    run->is_late = true;
    stop(run);
}

/* ---- start and abandon ----------------------------------------------------------- */

void gbx_code_run_start(gbx_mcp_code *code, gbx_mcp_request *request,
                        const gbx_buf *text, gbx_view input, uint32_t timeout_ms)
{
    gbx_code_run *run = make(code, request, text);
    gbx_limits limits = code->limits;
    gbx_call call = GBX_CALL_INIT;

    run->input = input.at != NULL ? input : (gbx_view){"null", 4};
    run->timeout_ms = timeout_ms;
    /* The time limit is kept here, not in the engine: it pauses while a person is
     * asked. */
    gbx_mcp_timer_init(&run->timer, code->loop, on_tick, run);
    arm(run);
    gbx_mcp_on_cancel(request, stop, run);
    limits.cpu_ms = timeout_ms; /* the clock is checked by on_tick() */
    call.form = GBX_FORM_SCRIPT;
    call.code = run->text;
    call.code_len = run->text_len;
    call.input = run->input.at;
    call.input_len = run->input.len;
    call.limits = &limits;
    run->box_run = gbx_box_start(code->box, &call, &run_hooks, run);
}

void gbx_code_run_abandon(gbx_code_run *run)
{
    gbx_code_call *call = run->calls;

    run->calls = NULL;
    while (call != NULL) {
        gbx_code_call *next = call->next;

        gbx_code_call_abandon(call);
        call = next;
    }
    free_run(run);
}

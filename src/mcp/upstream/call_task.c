/* SPDX-License-Identifier: MIT */
/*
 * call_task - a call whose answer comes later: the server has made a task of it, and is
 * asked how that is until it has ended.
 *
 * 2025-11-25: a tool may require that (execution.taskSupport); its result is asked for when
 * the task has ended, or wants to ask a person. 2026-07-28: the server decides; result and
 * questions are in its answers (extension io.modelcontextprotocol/tasks).
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define TASK_ID_MAX GBX_KIB(1)

#define POLL_MS     1000
#define POLL_MS_MIN 100
#define POLL_MS_MAX 10000

static void fail(gbx_upstream_call *call, const char *why)
{
    gbx_call_fail(call, GBX_UPSTREAM_PROTOCOL, why, false);
}

static void ask(gbx_upstream_call *call, const char *method)
{
    call->task_method = method;
    gbx_call_send_again(call);
}

static void on_poll(void *user)
{
    ask(user, "tasks/get");
}

/* A report of a task that works on is progress. */
static void on_working(gbx_upstream_call *call, gbx_view task)
{
    const char *name = call->session->is_modern ? "pollIntervalMs" : "pollInterval";
    int64_t ms;

    gbx_call_on_task_progress(call, gbx_view_member(task, "statusMessage"));
    if (!gbx_rpc_integer(gbx_view_member(task, name), &ms))
        ms = POLL_MS;
    ms = ms < POLL_MS_MIN ? POLL_MS_MIN : ms < POLL_MS_MAX ? ms : POLL_MS_MAX;
    call->id = GBX_NO_ID; /* its request is answered, and the call goes on */
    gbx_mcp_timer_set(&call->poll, (uint32_t)ms);
}

static void on_result(gbx_upstream_call *call, gbx_rpc_kind kind, gbx_view payload)
{
    const gbx_rpc_message message = {.kind = kind, .payload = payload};

    call->is_task_over = true;
    if (gbx_view_kind(payload) != '{')
        fail(call, "its task has ended, and has no result");
    else if (!gbx_call_on_answer(call, &message))
        fail(call, "the result of its task is not a result");
}

static void on_task(gbx_upstream_call *call, gbx_view task)
{
    gbx_view status = gbx_view_member(task, "status");
    bool is_modern = call->session->is_modern;

    if (gbx_view_is_text(status, "working")) {
        on_working(call, task);
    } else if (gbx_view_is_text(status, "cancelled")) {
        fail(call, "its task was cancelled");
    } else if (!is_modern && (gbx_view_is_text(status, "completed") ||
                              gbx_view_is_text(status, "failed") ||
                              gbx_view_is_text(status, "input_required"))) {
        call->is_task_over = true; /* the answer is that of the call */
        ask(call, "tasks/result");
    } else if (gbx_view_is_text(status, "completed")) {
        on_result(call, GBX_RPC_RESULT, gbx_view_member(task, "result"));
    } else if (gbx_view_is_text(status, "failed")) {
        on_result(call, GBX_RPC_ERROR, gbx_view_member(task, "error"));
    } else if (gbx_view_is_text(status, "input_required")) {
        call->task_method = "tasks/update"; /* when they are answered */
        gbx_call_on_questions(call, task);
    } else {
        fail(call, "its task is in no state that is known here");
    }
}

static void begin(gbx_upstream_call *call, gbx_view task)
{
    call->task = gbx_view_string(gbx_view_member(task, "taskId"), TASK_ID_MAX);
    call->is_task_over = false;
    if (call->task == NULL) {
        fail(call, "it answers with a task that has no id");
        return;
    }
    gbx_mcp_timer_init(&call->poll, call->all->loop, on_poll, call);
    on_working(call, task);
}

void gbx_call_go_on(gbx_upstream_call *call, gbx_view result)
{
    if (call->task != NULL && strcmp(call->task_method, "tasks/update") == 0)
        ask(call, "tasks/get");
    else if (call->task != NULL)
        on_task(call, result);
    else if (gbx_view_is_text(gbx_view_member(result, "resultType"), "task"))
        begin(call, result);
    else if (!call->session->is_modern)
        begin(call, gbx_view_member(result, "task"));
    else
        gbx_call_on_questions(call, result);
}

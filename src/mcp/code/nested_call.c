/* SPDX-License-Identifier: MIT */
/* nested_call - the worker gets {"value"} or {"error"}, from which servers.js makes
 * what code sees. */
#include "mcp/code/nested_call.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "mcp/code/script_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX GBX_MIB(256)

/* ---- answering ------------------------------------------------------------------- */

static void keep_bytes(void *user, const char *mime_type, const void *data, size_t len,
                       gbx_buf *handle)
{
    gbx_nested_call *n = user;

    gbx_code_run_keep(n->run, n->tool, mime_type, data, len, handle);
}

/* As JSON for the worker has it: NUL is replaced. */
static char *copy_message(const char *message, size_t len)
{
    const char *nul;
    gbx_buf text;
    char *copy;

    gbx_buf_init(&text, GBX_MIB(1));
    for (; len > 0 && (nul = memchr(message, 0, len)) != NULL; message = nul + 1) {
        (void)gbx_buf_append(&text, message, (size_t)(nul - message));
        (void)gbx_buf_puts(&text, "\xEF\xBF\xBD");
        len -= (size_t)(nul + 1 - message);
    }
    (void)gbx_buf_append(&text, message, len);
    copy = gbx_buf_take_string(&text, NULL);
    gbx_buf_cleanup(&text);
    return copy;
}

static void note_failure(gbx_nested_call *n, const char *error_code,
                         const char *message, size_t len)
{
    (void)snprintf(n->code_text, sizeof n->code_text, "%s", error_code);
    n->failed = n->code_text;
    n->message = copy_message(message, len);
}

static void fail(gbx_nested_call *n, const char *error_code, const char *message,
                 size_t len, bool retryable)
{
    note_failure(n, error_code, message, len);
    gbx_nested_refuse(n->code, n->request, n->code_text, message, len, retryable);
}

/* Once per tool, however often it is called. */
static void remark_far(gbx_nested_call *n, const gbx_buf *first, size_t count)
{
    char who[GBX_TOOL_NAME_MAX + 96];

    for (const gbx_nested_call *o = n->run->calls; o != NULL; o = o->next)
        if (o->gave_far && strcmp(o->server, n->server) == 0 &&
            strcmp(o->tool, n->tool) == 0)
            return;
    n->gave_far = true;
    (void)snprintf(who, sizeof who, "%.64s.%s (line %u) gave", n->server, n->tool,
                   n->line);
    gbx_code_run_remark(n->run, GBX_RUN_FAR_INTEGERS, who, (int)first->len,
                        (char *)first->data, count);
}

/* Turn far integers of the value, which begins at start, into texts. */
static void keep_digits(gbx_nested_call *n, size_t start, gbx_buf *answer)
{
    gbx_view value = {(char *)answer->data + start, answer->len - start};
    gbx_buf first;
    gbx_buf exact;
    size_t count;

    gbx_buf_init(&first, GBX_KIB(4));
    gbx_buf_init(&exact, ANSWER_MAX);
    (void)gbx_buf_append(&exact, answer->data, start);
    count = gbx_digits_as_texts(value, "", &exact, &first);
    if (count > 0) {
        gbx_buf given = *answer;

        *answer = exact;
        exact = given;
        remark_far(n, &first, count);
    }
    gbx_buf_cleanup(&exact);
    gbx_buf_cleanup(&first);
}

static void remark_more(gbx_nested_call *n, gbx_view result)
{
    for (const gbx_nested_call *o = n->run->calls; o != NULL; o = o->next)
        if (o->gave_more && strcmp(o->server, n->server) == 0 &&
            strcmp(o->tool, n->tool) == 0)
            return;
    n->gave_more = gbx_value_has_more(result);
    if (n->gave_more)
        gbx_code_run_remark(n->run,
                            "%.64s.%s (line %u) gave more than its structured content, "
                            "which the code has alone: servers[\"%.64s\"].call(\"%s\", "
                            "args, { raw: true }) gives both",
                            n->server, n->tool, n->line, n->server, n->tool);
}

static void answer_result(gbx_nested_call *n, gbx_view result)
{
    static const char too_large[] =
        "the tool has done its work, but its result is too large for the box";
    static const char before[] = "{\"value\":";
    const size_t start = sizeof before - 1;
    gbx_value_keeper keeper = {keep_bytes, n};
    gbx_buf answer;
    gbx_buf message;

    n->bytes = result.len;
    gbx_buf_init(&answer, ANSWER_MAX);
    gbx_buf_init(&message, GBX_KIB(16));
    (void)gbx_buf_puts(&answer, before);
    if (n->raw)
        (void)gbx_buf_append(&answer, result.at, result.len);
    if (n->raw || gbx_value_of_result(result, &keeper, &answer, &message)) {
        if (!n->raw)
            remark_more(n, result);
        if (!answer.failed && gbx_digits_are_in(result.at, result.len)) {
            gbx_digits_learn(&n->run->digits, result.at, result.len);
            keep_digits(n, start, &answer);
        }
        (void)gbx_buf_puts(&answer, "}");
        if (answer.failed) {
            fail(n, "OUTPUT_TOO_LARGE", too_large, strlen(too_large), false);
        } else {
            gbx_view value = {(char *)answer.data + start, answer.len - start - 1};

            gbx_box_answer(n->code->box, n->request, (char *)answer.data, answer.len);
            gbx_value_sketch(value, n->gave);
        }
    } else {
        if (gbx_value_parts_of(result).structured.at != NULL)
            gbx_code_run_remark(
                n->run,
                "the error of %.64s.%s (line %u) has structured content: "
                "servers[\"%.64s\"].call(\"%s\", args, { raw: true }) "
                "gives the whole result, and throws nothing",
                n->server, n->tool, n->line, n->server, n->tool);
        fail(n, "TOOL_ERROR", (char *)message.data, message.len, false);
    }
    gbx_buf_cleanup(&answer);
    gbx_buf_cleanup(&message);
}

static void answer_fault(gbx_nested_call *n, const gbx_gate_reply *reply)
{
    gbx_buf message;

    gbx_buf_init(&message, GBX_KIB(16));
    if (strcmp(reply->code, "NOT_FOUND") == 0)
        gbx_code_no_tool(n->code, n->server, n->tool, &message);
    if (message.len == 0)
        (void)gbx_buf_puts(&message, reply->message);
    fail(n, reply->code, (char *)message.data, message.len, reply->retryable);
    gbx_buf_cleanup(&message);
}

/* The code has ended, but the tool's effect must still be reported. */
static void note_outcome(gbx_nested_call *n, const gbx_gate_reply *reply)
{
    gbx_buf message;

    gbx_buf_init(&message, GBX_KIB(16));
    n->bytes = reply->result.len;
    if (reply->code == NULL && gbx_value_parts_of(reply->result).is_error) {
        (void)gbx_value_of_result(reply->result, NULL, NULL, &message);
        note_failure(n, "TOOL_ERROR", (char *)message.data, message.len);
    } else if (reply->code != NULL && strcmp(reply->code, "ABORTED") == 0) {
        n->failed = n->fate == GBX_GATE_NOT_SENT ? GBX_NESTED_NOT_SENT : "CANCELLED";
    } else if (reply->code != NULL) {
        note_failure(n, reply->code, reply->message, strlen(reply->message));
    }
    gbx_buf_cleanup(&message);
}

/* ---- the way out ----------------------------------------------------------------- */

static void on_passed(void *user, const gbx_gate_reply *reply);

static void settle(gbx_nested_call *n);

/* Find read_file for readFile; the reply has the real name as well. */
static const char *other_name(void *user)
{
    gbx_nested_call *n = user;
    char *other = n->run != NULL && !n->run->is_ending
                      ? gbx_code_other_name(n->code, n->server, n->tool)
                      : NULL;

    if (other == NULL)
        return NULL;
    free(n->tool);
    n->tool = other;
    return other;
}

/* Called once the schema of the tool is known. */
static void fit_args(void *user, gbx_view args, gbx_view schema, gbx_buf *to)
{
    (void)user;
    gbx_digits_fit(args, schema, to);
}

static void on_progress(void *user, const char *message, size_t len)
{
    const gbx_nested_call *n = user;

    if (n->run != NULL && !n->run->is_ending)
        gbx_code_say_progress(n->run->request, n->server, n->tool, message, len);
}

static void pass(gbx_nested_call *n)
{
    static const char no_memory[] = "no memory is left for the call";
    gbx_code_run *run = n->run;
    char name[GBX_BOX_NAME_SIZE] = "";
    gbx_gate_ask ask = {.server = n->server,
                        .tool = n->tool,
                        .args = n->args,
                        .args_len = n->args_len,
                        .timeout_ms = n->timeout_ms,
                        .request = run->request,
                        .run = run->id,
                        .line = n->line,
                        .other_name = other_name};

    if (gbx_digits_are_in(n->args, n->args_len))
        ask.fit_args = fit_args;
    if (gbx_mcp_wants_progress(run->request))
        ask.progress = on_progress;
    if (run->box_run != NULL)
        gbx_box_name(run->box_run, name);
    if (name[0] != 0)
        ask.run = name;
    n->passage = gbx_gate_start(n->code->gate, &ask, on_passed, n);
    if (n->passage != NULL)
        return;
    fail(n, "UPSTREAM_BUSY", no_memory, sizeof no_memory - 1, true);
    settle(n);
}

static void end(gbx_nested_call *n)
{
    n->is_over = true;
    n->ms = (double)(gbx_clock_now_ns() - n->start_ns) / (double)GBX_NS_PER_MS;
    free(n->args);
    n->args = NULL;
}

/* The call has ended; the run may end with it. */
static void settle(gbx_nested_call *n)
{
    end(n);
    n->queue->flying--;
    gbx_code_run_settled(n->run);
}

static void start_waiting(gbx_nested_line *queue)
{
    while (queue->first != NULL &&
           queue->flying < queue->first->code->settings->calls_at_once) {
        gbx_nested_call *n = queue->first;

        queue->first = n->next_waiting;
        if (queue->first == NULL)
            queue->last = NULL;
        n->next_waiting = NULL;
        n->is_waiting = false;
        queue->flying++;
        pass(n);
    }
}

static void on_passed(void *user, const gbx_gate_reply *reply)
{
    gbx_nested_call *n = user;

    n->passage = NULL;
    if (n->run == NULL) { /* code mode has ended, and the run with it */
        gbx_nested_free(n);
        return;
    }
    n->fate = reply->fate;
    if (n->run->is_ending)
        note_outcome(n, reply);
    else if (reply->code == NULL)
        answer_result(n, reply->result);
    else
        answer_fault(n, reply);
    /* The run lives as long as this call is open. */
    end(n);
    n->queue->flying--;
    start_waiting(n->queue);
    gbx_code_run_settled(n->run);
}

static void unlink_waiting(gbx_nested_call *n)
{
    gbx_nested_line *queue = n->queue;
    gbx_nested_call *before = NULL;

    for (gbx_nested_call *at = queue->first; at != n; at = at->next_waiting)
        before = at;
    if (before == NULL)
        queue->first = n->next_waiting;
    else
        before->next_waiting = n->next_waiting;
    if (queue->last == n)
        queue->last = before;
    n->is_waiting = false;
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_nested_start(gbx_nested_call *nested)
{
    const gbx_mcp_config *config = nested->code->config;
    const gbx_mcp_upstream_config *server =
        gbx_mcp_config_server(config, nested->server);
    gbx_nested_line *queue = &nested->run->lines[server - config->servers];

    nested->queue = queue;
    nested->start_ns = gbx_clock_now_ns();
    nested->next_waiting = NULL;
    nested->is_waiting = true;
    if (queue->last != NULL)
        queue->last->next_waiting = nested;
    else
        queue->first = nested;
    queue->last = nested;
    start_waiting(queue);
}

bool gbx_nested_is_sent(const gbx_nested_call *nested)
{
    return nested->passage != NULL && gbx_gate_was_sent(nested->passage);
}

void gbx_nested_cancel(gbx_nested_call *nested)
{
    if (nested->passage != NULL)
        gbx_gate_cancel(nested->passage);
    if (!nested->is_waiting)
        return;
    unlink_waiting(nested);
    end(nested);
    nested->failed = GBX_NESTED_NOT_SENT;
    gbx_code_run_settled(nested->run);
}

void gbx_nested_free(gbx_nested_call *nested)
{
    if (nested == NULL)
        return;
    free(nested->server);
    free(nested->tool);
    free(nested->args);
    free(nested->message);
    free(nested);
}

void gbx_nested_refuse(gbx_mcp_code *code, gbx_request request, const char *error_code,
                       const char *message, size_t len, bool retryable)
{
    static const char no_memory[] =
        "{\"error\":{\"code\":\"UNAVAILABLE\",\"message\":\"" GBX_RUN_NO_MEMORY
        "\",\"retryable\":true}}";
    gbx_buf answer;

    gbx_buf_init(&answer, GBX_MIB(1));
    (void)gbx_buf_printf(&answer,
                         "{\"error\":{\"code\":\"%s\",\"message\":", error_code);
    (void)gbx_json_append_string(&answer, message, len);
    (void)gbx_buf_printf(&answer, ",\"retryable\":%s}}", retryable ? "true" : "false");
    if (!answer.failed)
        gbx_box_answer(code->box, request, (char *)answer.data, answer.len);
    else /* unanswered code waits until its time is up */
        gbx_box_answer(code->box, request, no_memory, sizeof no_memory - 1);
    gbx_buf_cleanup(&answer);
}

/* SPDX-License-Identifier: MIT */
/*
 * exchange - parses a worker's messages and queues the host's. The table `rules` lists
 * every message that a worker may send; any other one ends the exchange.
 */
#include "engine/exchange.h"

#include "base/utf8.h"

#include <assert.h>
#include <stdio.h>

static void tell_line(gbx_exchange *x)
{
    gbx_log line;

    if (x->on_log != NULL && gbx_result_take_unseen_log(x->result, &line))
        x->on_log(x->log_user, &line);
}

static bool on_log(gbx_exchange *x, gbx_span body)
{
    gbx_msg_log msg;

    if (!gbx_msg_get(body, &msg))
        return false;
    if (!gbx_result_add_log(x->result, (gbx_log_level)msg.level,
                            (double)(x->now_ns - x->start_ns) / 1e6, msg.text,
                            x->log_max, msg.flags)) {
        x->is_nomem = true;
        return true;
    }
    tell_line(x);
    return true;
}

static bool on_wait(gbx_exchange *x, gbx_span body)
{
    gbx_msg_wait msg;

    if (!gbx_msg_get(body, &msg))
        return false;
    x->wake_ms = msg.ms;
    x->state = GBX_EXCHANGE_WAITING;
    return true;
}

/* The worker's own script enforces these limits, so a worker that exceeds them has been
 * taken over. */
static bool on_hostcall(gbx_exchange *x, gbx_span body)
{
    gbx_msg_hostcall msg;
    uint64_t size;

    if (!gbx_msg_get_within(body, (size_t)x->host_out_max, &msg))
        return false;
    size = (uint64_t)msg.args.len + msg.bytes.len;
    if (x->on_request == NULL || x->host_calls_left == 0 ||
        x->host_open >= x->host_open_max || msg.id <= x->last_request ||
        size > x->host_out_left) {
        gbx_exchange_break(x, "a request over its limits", GBX_MSG_HOSTCALL);
        return true;
    }
    x->last_request = msg.id;
    x->host_calls_left--;
    x->host_open++;
    x->host_out_left -= size;
    x->on_request(x->request_user, &msg);
    return true;
}

static bool on_cancel(gbx_exchange *x, gbx_span body)
{
    gbx_msg_cancel msg;

    if (!gbx_msg_get(body, &msg) || x->on_cancel == NULL || msg.id > x->last_request)
        return false;
    x->on_cancel(x->request_user, msg.id);
    return true;
}

static bool on_limited(gbx_exchange *x, gbx_span body)
{
    gbx_msg_limited msg;

    if (!gbx_msg_get(body, &msg) || (x->limited & 1u << msg.limit) != 0)
        return false;
    x->limited = (uint8_t)(x->limited | 1u << msg.limit);
    if (x->on_limited != NULL)
        x->on_limited(x->request_user, msg.limit);
    return true;
}

static bool on_refused(gbx_exchange *x, gbx_span body)
{
    if (body.len != 0 || x->was_refused)
        return false;
    x->was_refused = true;
    return true;
}

static bool on_result(gbx_exchange *x, gbx_span body)
{
    gbx_msg_result msg;

    if (!gbx_msg_get_within(body, (size_t)x->output_max, &msg))
        return false;
    if (!gbx_result_set_value(x->result, msg.is_undefined != 0, msg.json))
        x->is_nomem = true;
    x->hint = msg.hint;
    x->place = (gbx_code_place){msg.start, msg.end};
    if (msg.field.len > 0)
        gbx_utf8_copy_line(x->field, sizeof x->field, msg.field.data, msg.field.len);
    x->state = GBX_EXCHANGE_VALUE;
    return true;
}

static bool on_error(gbx_exchange *x, gbx_span body)
{
    gbx_msg_error msg;

    if (!gbx_msg_get(body, &msg))
        return false;
    if (!gbx_result_set_thrown(x->result, &msg))
        x->is_nomem = true;
    x->failure = (gbx_failure)msg.failure;
    x->is_out_of_memory = msg.is_out_of_memory != 0;
    x->hint = msg.hint;
    x->place = (gbx_code_place){msg.hint_start, msg.hint_end};
    x->state = GBX_EXCHANGE_ERROR;
    return true;
}

/* All messages that a running worker may send, and their maximum length. The call's
 * limits are added for RESULT and HOSTCALL. */
static const struct rule {
    size_t max_len;
    bool (*handle)(gbx_exchange *x, gbx_span body);
} rules[] = {
    [GBX_MSG_RESULT] = {21 + GBX_NAME_MAX, on_result},
    [GBX_MSG_HOSTCALL] = {GBX_NAME_MAX + 16, on_hostcall},
    [GBX_MSG_CANCEL] = {4, on_cancel},
    [GBX_MSG_LIMITED] = {1, on_limited},
    [GBX_MSG_LOG] = {GBX_LOG_LINE_MAX + 6, on_log},
    [GBX_MSG_ERROR] = {GBX_NAME_MAX + GBX_MESSAGE_MAX + GBX_STACK_MAX + 34, on_error},
    [GBX_MSG_WAIT] = {4, on_wait},
    [GBX_MSG_REFUSED] = {0, on_refused},
};

/* The rule for this header; NULL, with the exchange broken, if it is not allowed. */
static const struct rule *check_header(gbx_exchange *x, const uint8_t *data,
                                       gbx_header *header)
{
    const struct rule *rule;
    size_t max_len;
    bool is_known;

    if (!gbx_header_decode(data, header)) {
        gbx_exchange_break(x, "reserved bytes of a header are set", header->type);
        return NULL;
    }
    is_known = header->type < GBX_COUNTOF(rules) && rules[header->type].handle != NULL;
    if (!is_known || x->state == GBX_EXCHANGE_WAITING) {
        gbx_exchange_break(x, is_known ? "message while waiting" : "unknown message",
                           header->type);
        return NULL;
    }
    rule = &rules[header->type];
    if (header->call_id != x->call_id) {
        gbx_exchange_break(x, "message of another call", header->type);
        return NULL;
    }
    max_len = rule->max_len;
    if (header->type == GBX_MSG_RESULT)
        max_len += (size_t)x->output_max;
    if (header->type == GBX_MSG_HOSTCALL)
        max_len += (size_t)x->host_out_max;
    if (header->body_len > max_len) {
        gbx_exchange_break(x, "message longer than its limit", header->type);
        return NULL;
    }
    return rule;
}

void gbx_exchange_init(gbx_exchange *x, uint64_t call_id, const gbx_limits *limits,
                       gbx_result *result)
{
    uint64_t longest = limits->output_bytes > limits->host_out_bytes
                           ? limits->output_bytes
                           : limits->host_out_bytes;

    *x = (gbx_exchange){.call_id = call_id,
                        .output_max = limits->output_bytes,
                        .log_max = limits->log_bytes,
                        .host_calls_left = limits->host_calls,
                        .host_open_max = limits->host_calls_at_once,
                        .host_out_left = limits->host_out_bytes,
                        .host_out_max = limits->host_out_bytes,
                        .result = result,
                        .head = {.ceiling = GBX_MIB(64)}};
    /* Room for the longest frame without its last byte, plus one more feed. */
    x->in.ceiling = (size_t)longest + GBX_LOG_LINE_MAX + GBX_EXCHANGE_FEED_MAX + 512;
}

void gbx_exchange_cleanup(gbx_exchange *x)
{
    gbx_buf_cleanup(&x->in);
    gbx_buf_cleanup(&x->head);
}

bool gbx_exchange_call(gbx_exchange *x, const gbx_msg_call *msg)
{
    x->head.ceiling =
        msg->code.len + msg->bindings.len + msg->withheld.len + msg->env.len + 512;
    if (!gbx_msg_put(&x->head, x->call_id, msg))
        return false;
    /* Send small inputs in the same write. */
    if (msg->input.len <= GBX_KIB(16)) {
        x->head.ceiling += msg->input.len;
        return gbx_buf_append(&x->head, msg->input.data, msg->input.len);
    }
    x->tail = msg->input;
    return true;
}

/* Make room for output; if all earlier output has been sent, drop it first. */
static void begin_output(gbx_exchange *x, size_t more)
{
    assert(x->state == GBX_EXCHANGE_WAITING);
    if (x->head_sent > 0 && x->head_sent == x->head.len) {
        x->head.len = 0;
        x->head_sent = 0;
    }
    x->head.ceiling = x->head.len + more;
}

bool gbx_exchange_answer(gbx_exchange *x, const gbx_msg_answer *msg)
{
    begin_output(x, msg->json.len + msg->bytes.len + msg->name.len + msg->message.len +
                        msg->code.len + 64);
    if (x->host_open > 0)
        x->host_open--;
    return gbx_msg_put(&x->head, x->call_id, msg);
}

bool gbx_exchange_wake(gbx_exchange *x)
{
    begin_output(x, GBX_FRAME_HEADER_SIZE);
    x->state = GBX_EXCHANGE_RUNNING;
    return gbx_msg_write(&x->head, GBX_MSG_WAKE, x->call_id, NULL);
}

void gbx_exchange_break(gbx_exchange *x, const char *what, unsigned type)
{
    x->state = GBX_EXCHANGE_BROKEN;
    (void)snprintf(x->reason, sizeof x->reason, "%s (message %u)", what, type);
}

void gbx_exchange_end(gbx_exchange *x)
{
    gbx_result *r = x->result;

    if (r->line != GBX_RESULT_LINE_OPEN)
        return;
    r->is_truncated = true;
    r->line = GBX_RESULT_LINE_LOST;
    tell_line(x);
}

void gbx_exchange_feed(gbx_exchange *x, const uint8_t *data, size_t len, int64_t now_ns)
{
    size_t used = 0;

    assert(len <= GBX_EXCHANGE_FEED_MAX);
    x->now_ns = now_ns;
    if (len == 0 || x->is_nomem) /* after a failed allocation data would be missing */
        return;
    if (x->in.len > 0) { /* data continues a stored incomplete frame */
        if (!gbx_buf_append(&x->in, data, len)) {
            x->is_nomem = true;
            return;
        }
        data = x->in.data;
        len = x->in.len;
    }
    while (!gbx_exchange_has_ended(x) && !x->is_nomem &&
           len - used >= GBX_FRAME_HEADER_SIZE) {
        gbx_header header;
        const struct rule *rule = check_header(x, data + used, &header);
        size_t size = GBX_FRAME_HEADER_SIZE + (size_t)header.body_len;

        if (rule == NULL || len - used < size)
            break;
        if (!rule->handle(x, (gbx_span){data + used + GBX_FRAME_HEADER_SIZE,
                                        header.body_len}))
            gbx_exchange_break(x, "malformed message", header.type);
        else if (x->on_frame != NULL && x->state != GBX_EXCHANGE_BROKEN)
            x->on_frame(x->request_user, (gbx_span){data + used, size});
        used += size;
    }
    if (gbx_exchange_has_ended(x))
        return; /* bytes after the last message are ignored */
    if (x->in.len > 0)
        gbx_buf_consume(&x->in, used);
    else if (used < len && !gbx_buf_append(&x->in, data + used, len - used))
        x->is_nomem = true;
}

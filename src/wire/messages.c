/* SPDX-License-Identifier: MIT */
/*
 * messages - encoders and decoders read like the schema in docs/internals/protocol.md.
 * Ranges of fields are checked here, so that users of a message need not. A template's
 * messages are in messages_control.c.
 */
#include "wire/messages.h"

#include "wire/wire.h"

/* ---- public to other modules -------------------------------------------- */

bool gbx_header_decode(const uint8_t *data, gbx_header *ret)
{
    gbx_reader r;
    uint8_t reserved[3];

    gbx_reader_init(&r, data, GBX_FRAME_HEADER_SIZE);
    gbx_read_u32(&r, &ret->body_len);
    gbx_read_u8(&r, &ret->type);
    for (size_t i = 0; i < sizeof reserved; i++)
        gbx_read_u8(&r, &reserved[i]);
    gbx_read_u64(&r, &ret->call_id);
    return gbx_reader_done(&r) && reserved[0] == 0 && reserved[1] == 0 &&
           reserved[2] == 0;
}

bool gbx_msg_put_empty(gbx_buf *to, gbx_msg_type type, uint64_t call_id)
{
    return gbx_frame_end(to, gbx_frame_begin(to, type, call_id), 0);
}

bool gbx_msg_put_log(gbx_buf *to, uint64_t call_id, const gbx_msg_log *msg)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_LOG, call_id);

    gbx_put_u8(to, msg->level);
    gbx_put_u8(to, msg->flags);
    gbx_put_span(to, msg->text);
    return gbx_frame_end(to, at, 0);
}

bool gbx_msg_get_log(gbx_span body, gbx_msg_log *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u8(&r, &ret->level);
    gbx_read_u8(&r, &ret->flags);
    gbx_read_span(&r, GBX_LOG_LINE_MAX, &ret->text);
    return gbx_reader_done(&r) && ret->level <= 4 && ret->flags <= GBX_LOG_GOES_ON;
}

bool gbx_msg_put_wait(gbx_buf *to, uint64_t call_id, const gbx_msg_wait *msg)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_WAIT, call_id);

    gbx_put_u32(to, msg->ms);
    return gbx_frame_end(to, at, 0);
}

bool gbx_msg_get_wait(gbx_span body, gbx_msg_wait *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u32(&r, &ret->ms);
    return gbx_reader_done(&r) && ret->ms <= GBX_WAIT_MS_MAX;
}

bool gbx_msg_put_result_head(gbx_buf *to, uint64_t call_id, const gbx_msg_result *msg)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_RESULT, call_id);

    gbx_put_u8(to, msg->is_undefined);
    gbx_put_u32(to, (uint32_t)msg->json.len);
    return gbx_frame_end(to, at, msg->json.len);
}

bool gbx_msg_get_result(gbx_span body, size_t max_json, gbx_msg_result *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_flag(&r, &ret->is_undefined);
    gbx_read_span(&r, max_json, &ret->json);
    return gbx_reader_done(&r) && (ret->is_undefined == (ret->json.len == 0));
}

bool gbx_msg_put_error(gbx_buf *to, uint64_t call_id, const gbx_msg_error *msg)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_ERROR, call_id);

    gbx_put_u8(to, msg->failure);
    gbx_put_u8(to, msg->is_out_of_memory);
    gbx_put_u32(to, msg->line);
    gbx_put_u32(to, msg->column);
    gbx_put_span(to, msg->name);
    gbx_put_span(to, msg->message);
    gbx_put_span(to, msg->stack);
    return gbx_frame_end(to, at, 0);
}

bool gbx_msg_get_error(gbx_span body, gbx_msg_error *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u8(&r, &ret->failure);
    gbx_read_flag(&r, &ret->is_out_of_memory);
    gbx_read_u32(&r, &ret->line);
    gbx_read_u32(&r, &ret->column);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->name);
    gbx_read_span(&r, GBX_MESSAGE_MAX, &ret->message);
    gbx_read_span(&r, GBX_STACK_MAX, &ret->stack);
    return gbx_reader_done(&r) && ret->failure >= GBX_FAILURE_SYNTAX &&
           ret->failure <= GBX_FAILURE_BAD_FORM;
}

bool gbx_msg_put_hostcall(gbx_buf *to, uint64_t call_id, const gbx_msg_hostcall *msg)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_HOSTCALL, call_id);

    gbx_put_u32(to, msg->id);
    gbx_put_span(to, msg->name);
    gbx_put_span(to, msg->args);
    gbx_put_span(to, msg->bytes);
    return gbx_frame_end(to, at, 0);
}

bool gbx_msg_get_hostcall(gbx_span body, size_t max_bytes, gbx_msg_hostcall *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u32(&r, &ret->id);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->name);
    gbx_read_span(&r, max_bytes, &ret->args);
    gbx_read_span(&r, max_bytes, &ret->bytes);
    return gbx_reader_done(&r) && ret->id != 0 && ret->name.len > 0 &&
           ret->args.len > 0;
}

bool gbx_msg_put_cancel(gbx_buf *to, uint64_t call_id, uint32_t id)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_CANCEL, call_id);

    gbx_put_u32(to, id);
    return gbx_frame_end(to, at, 0);
}

bool gbx_msg_get_cancel(gbx_span body, uint32_t *ret_id)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u32(&r, ret_id);
    return gbx_reader_done(&r) && *ret_id != 0;
}

bool gbx_msg_put_limited(gbx_buf *to, uint64_t call_id, uint8_t limit)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_LIMITED, call_id);

    gbx_put_u8(to, limit);
    return gbx_frame_end(to, at, 0);
}

bool gbx_msg_get_limited(gbx_span body, uint8_t *ret_limit)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u8(&r, ret_limit);
    return gbx_reader_done(&r) &&
           (*ret_limit == GBX_LIMITED_CALLS || *ret_limit == GBX_LIMITED_BYTES);
}

bool gbx_msg_put_answer(gbx_buf *to, uint64_t call_id, const gbx_msg_answer *msg)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_ANSWER, call_id);

    gbx_put_u32(to, msg->id);
    gbx_put_u8(to, msg->is_error);
    gbx_put_span(to, msg->json);
    gbx_put_span(to, msg->bytes);
    gbx_put_span(to, msg->name);
    gbx_put_span(to, msg->message);
    gbx_put_span(to, msg->code);
    return gbx_frame_end(to, at, 0);
}

bool gbx_msg_get_answer(gbx_span body, gbx_msg_answer *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u32(&r, &ret->id);
    gbx_read_flag(&r, &ret->is_error);
    gbx_read_span(&r, UINT32_MAX, &ret->json);
    gbx_read_span(&r, UINT32_MAX, &ret->bytes);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->name);
    gbx_read_span(&r, GBX_MESSAGE_MAX, &ret->message);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->code);
    return gbx_reader_done(&r) && ret->id != 0;
}

bool gbx_msg_put_call_head(gbx_buf *to, uint64_t call_id, const gbx_msg_call *msg)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_CALL, call_id);

    gbx_put_u8(to, msg->form);
    gbx_put_u8(to, msg->flags);
    gbx_put_u64(to, msg->seed);
    gbx_put_u64(to, (uint64_t)msg->now_ms);
    gbx_put_u64(to, msg->memory_bytes);
    gbx_put_u64(to, msg->output_bytes);
    gbx_put_u32(to, msg->log_bytes);
    gbx_put_u32(to, msg->first_line);
    gbx_put_u32(to, msg->first_column);
    gbx_put_u32(to, msg->last_expr);
    gbx_put_u32(to, msg->capabilities);
    gbx_put_u32(to, msg->host_calls);
    gbx_put_u32(to, msg->host_calls_at_once);
    gbx_put_u64(to, msg->host_out_bytes);
    gbx_put_span(to, msg->entropy);
    gbx_put_span(to, msg->withheld);
    gbx_put_span(to, msg->env);
    gbx_put_span(to, msg->dataset);
    gbx_put_span(to, msg->code);
    gbx_put_span(to, msg->bindings);
    if (msg->input.len > UINT32_MAX - to->len)
        to->failed = true;
    gbx_put_u32(to, (uint32_t)msg->input.len);
    return gbx_frame_end(to, at, msg->input.len);
}

bool gbx_msg_get_call(gbx_span body, gbx_msg_call *ret)
{
    gbx_reader r;
    uint64_t now;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u8(&r, &ret->form);
    gbx_read_u8(&r, &ret->flags);
    gbx_read_u64(&r, &ret->seed);
    gbx_read_u64(&r, &now);
    gbx_read_u64(&r, &ret->memory_bytes);
    gbx_read_u64(&r, &ret->output_bytes);
    gbx_read_u32(&r, &ret->log_bytes);
    gbx_read_u32(&r, &ret->first_line);
    gbx_read_u32(&r, &ret->first_column);
    gbx_read_u32(&r, &ret->last_expr);
    gbx_read_u32(&r, &ret->capabilities);
    gbx_read_u32(&r, &ret->host_calls);
    gbx_read_u32(&r, &ret->host_calls_at_once);
    gbx_read_u64(&r, &ret->host_out_bytes);
    gbx_read_span(&r, GBX_ENTROPY_SIZE, &ret->entropy);
    gbx_read_span(&r, GBX_CONFIG_MAX, &ret->withheld);
    gbx_read_span(&r, GBX_CONFIG_MAX, &ret->env);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->dataset);
    gbx_read_span(&r, UINT32_MAX, &ret->code);
    gbx_read_span(&r, UINT32_MAX, &ret->bindings);
    gbx_read_span(&r, UINT32_MAX, &ret->input);
    ret->now_ms = (int64_t)now;
    return gbx_reader_done(&r) && ret->form <= 3 && ret->flags <= GBX_CALL_WIRE_ALL &&
           (ret->entropy.len == 0 || ret->entropy.len == GBX_ENTROPY_SIZE);
}

/* SPDX-License-Identifier: MIT */
/*
 * messages - encoders and decoders read like the schema in docs/internals/protocol.md.
 * Ranges of fields are checked here, so that users of a message need not.
 */
#include "wire/messages.h"

#include <assert.h>

/* ---- writing ------------------------------------------------------------------- */

/* A field that does not fit marks the buffer failed; end_frame() reports it once. */

static void put_u8(gbx_buf *to, uint8_t value)
{
    (void)gbx_buf_append(to, &value, sizeof value);
}

static void put_le(gbx_buf *to, uint64_t value, size_t width)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < width; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    (void)gbx_buf_append(to, bytes, width);
}

static void put_u32(gbx_buf *to, uint32_t value)
{
    put_le(to, value, 4);
}

static void put_u64(gbx_buf *to, uint64_t value)
{
    put_le(to, value, 8);
}

static void put_span(gbx_buf *to, gbx_span span)
{
    assert(span.len <= UINT32_MAX);
    put_u32(to, (uint32_t)span.len);
    (void)gbx_buf_append(to, span.data, span.len);
}

/* Write a header whose length is filled in by end_frame(). Returns where it is. */
static size_t begin_frame(gbx_buf *to, gbx_msg_type type, uint64_t call_id)
{
    size_t at = to->len;

    put_u32(to, 0);
    put_u8(to, (uint8_t)type);
    put_le(to, 0, 3);
    put_u64(to, call_id);
    return at;
}

/* Fill in the length of the frame begun at `at`, of which `beyond` more bytes follow. */
static bool end_frame(gbx_buf *to, size_t at, size_t beyond)
{
    size_t len = to->len - at - GBX_FRAME_HEADER_SIZE + beyond;

    if (to->failed)
        return false;
    if (len > UINT32_MAX) {
        to->failed = true;
        return false;
    }
    for (size_t i = 0; i < 4; i++)
        to->data[at + i] = (uint8_t)(len >> (8 * i));
    return true;
}
/* A flag is 0 or 1; anything else fails the reader. */
static void read_flag(gbx_reader *r, uint8_t *ret)
{
    gbx_read_u8(r, ret);
    if (*ret > 1)
        r->failed = true;
}

/* ---- messages of a call ----------------------------------------------------------- */

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
    return end_frame(to, begin_frame(to, type, call_id), 0);
}

bool gbx_msg_put_log(gbx_buf *to, uint64_t call_id, const gbx_msg_log *msg)
{
    size_t at = begin_frame(to, GBX_MSG_LOG, call_id);

    put_u8(to, msg->level);
    put_u8(to, msg->flags);
    put_span(to, msg->text);
    return end_frame(to, at, 0);
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
    size_t at = begin_frame(to, GBX_MSG_WAIT, call_id);

    put_u32(to, msg->ms);
    return end_frame(to, at, 0);
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
    size_t at = begin_frame(to, GBX_MSG_RESULT, call_id);

    put_u8(to, msg->is_undefined);
    put_u32(to, msg->hint);
    put_u32(to, msg->start);
    put_u32(to, msg->end);
    put_span(to, msg->field);
    put_u32(to, (uint32_t)msg->json.len);
    return end_frame(to, at, msg->json.len);
}

bool gbx_msg_get_result(gbx_span body, size_t max_json, gbx_msg_result *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    read_flag(&r, &ret->is_undefined);
    gbx_read_u32(&r, &ret->hint);
    gbx_read_u32(&r, &ret->start);
    gbx_read_u32(&r, &ret->end);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->field);
    gbx_read_span(&r, max_json, &ret->json);
    return gbx_reader_done(&r) && (ret->is_undefined == (ret->json.len == 0));
}

bool gbx_msg_put_error(gbx_buf *to, uint64_t call_id, const gbx_msg_error *msg)
{
    size_t at = begin_frame(to, GBX_MSG_ERROR, call_id);

    put_u8(to, msg->failure);
    put_u8(to, msg->is_out_of_memory);
    put_u32(to, msg->line);
    put_u32(to, msg->column);
    put_u32(to, msg->hint);
    put_u32(to, msg->hint_start);
    put_u32(to, msg->hint_end);
    put_span(to, msg->name);
    put_span(to, msg->message);
    put_span(to, msg->stack);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_error(gbx_span body, gbx_msg_error *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u8(&r, &ret->failure);
    read_flag(&r, &ret->is_out_of_memory);
    gbx_read_u32(&r, &ret->line);
    gbx_read_u32(&r, &ret->column);
    gbx_read_u32(&r, &ret->hint);
    gbx_read_u32(&r, &ret->hint_start);
    gbx_read_u32(&r, &ret->hint_end);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->name);
    gbx_read_span(&r, GBX_MESSAGE_MAX, &ret->message);
    gbx_read_span(&r, GBX_STACK_MAX, &ret->stack);
    return gbx_reader_done(&r) && ret->failure >= GBX_FAILURE_SYNTAX &&
           ret->failure <= GBX_FAILURE_BAD_FORM;
}

bool gbx_msg_put_hostcall(gbx_buf *to, uint64_t call_id, const gbx_msg_hostcall *msg)
{
    size_t at = begin_frame(to, GBX_MSG_HOSTCALL, call_id);

    put_u32(to, msg->id);
    put_span(to, msg->name);
    put_span(to, msg->args);
    put_span(to, msg->bytes);
    return end_frame(to, at, 0);
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
    size_t at = begin_frame(to, GBX_MSG_CANCEL, call_id);

    put_u32(to, id);
    return end_frame(to, at, 0);
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
    size_t at = begin_frame(to, GBX_MSG_LIMITED, call_id);

    put_u8(to, limit);
    return end_frame(to, at, 0);
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
    size_t at = begin_frame(to, GBX_MSG_ANSWER, call_id);

    put_u32(to, msg->id);
    put_u8(to, msg->is_error);
    put_span(to, msg->json);
    put_span(to, msg->bytes);
    put_span(to, msg->name);
    put_span(to, msg->message);
    put_span(to, msg->code);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_answer(gbx_span body, gbx_msg_answer *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u32(&r, &ret->id);
    read_flag(&r, &ret->is_error);
    gbx_read_span(&r, UINT32_MAX, &ret->json);
    gbx_read_span(&r, UINT32_MAX, &ret->bytes);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->name);
    gbx_read_span(&r, GBX_MESSAGE_MAX, &ret->message);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->code);
    return gbx_reader_done(&r) && ret->id != 0;
}

bool gbx_msg_put_call_head(gbx_buf *to, uint64_t call_id, const gbx_msg_call *msg)
{
    size_t at = begin_frame(to, GBX_MSG_CALL, call_id);

    put_u8(to, msg->form);
    put_u8(to, msg->flags);
    put_u64(to, msg->seed);
    put_u64(to, (uint64_t)msg->now_ms);
    put_u64(to, msg->memory_bytes);
    put_u64(to, msg->output_bytes);
    put_u32(to, msg->log_bytes);
    put_u32(to, msg->first_line);
    put_u32(to, msg->first_column);
    put_u32(to, msg->capabilities);
    put_u32(to, msg->host_calls);
    put_u32(to, msg->host_calls_at_once);
    put_u64(to, msg->host_out_bytes);
    put_span(to, msg->entropy);
    put_span(to, msg->withheld);
    put_span(to, msg->env);
    put_span(to, msg->dataset);
    put_span(to, msg->code);
    put_span(to, msg->bindings);
    if (msg->input.len > UINT32_MAX - to->len)
        to->failed = true;
    put_u32(to, (uint32_t)msg->input.len);
    return end_frame(to, at, msg->input.len);
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

/* ---- the control channel of a template -------------------------------------- */

bool gbx_msg_put_config(gbx_buf *to, const gbx_msg_config *msg)
{
    size_t at = begin_frame(to, GBX_MSG_CONFIG, 0);

    put_u32(to, msg->version);
    put_u8(to, msg->globals);
    put_u8(to, msg->attack_mode);
    put_u8(to, msg->warm);
    put_u8(to, msg->huge_pages);
    put_u32(to, msg->capabilities);
    put_u32(to, msg->layers_off);
    put_u32(to, msg->flags);
    put_u64(to, msg->memory_bytes);
    put_u32(to, msg->cpu_s);
    put_u32(to, msg->preloads);
    put_span(to, msg->functions);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_config(gbx_span body, gbx_msg_config *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u32(&r, &ret->version);
    read_flag(&r, &ret->globals);
    read_flag(&r, &ret->attack_mode);
    read_flag(&r, &ret->warm);
    gbx_read_u8(&r, &ret->huge_pages);
    gbx_read_u32(&r, &ret->capabilities);
    gbx_read_u32(&r, &ret->layers_off);
    gbx_read_u32(&r, &ret->flags);
    gbx_read_u64(&r, &ret->memory_bytes);
    gbx_read_u32(&r, &ret->cpu_s);
    gbx_read_u32(&r, &ret->preloads);
    gbx_read_span(&r, GBX_CONFIG_MAX, &ret->functions);
    return gbx_reader_done(&r) && ret->preloads <= GBX_PRELOADS_MAX;
}

bool gbx_msg_put_fork(gbx_buf *to, gbx_msg_type type, uint64_t worker_id)
{
    size_t at = begin_frame(to, type, 0);

    put_u64(to, worker_id);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_fork(gbx_span body, uint64_t *ret_worker_id)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u64(&r, ret_worker_id);
    return gbx_reader_done(&r);
}

bool gbx_msg_put_load(gbx_buf *to, const gbx_msg_load *msg)
{
    size_t at = begin_frame(to, GBX_MSG_LOAD, 0);

    put_u64(to, msg->size);
    put_u8(to, msg->format);
    put_span(to, msg->name);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_load(gbx_span body, gbx_msg_load *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u64(&r, &ret->size);
    gbx_read_u8(&r, &ret->format);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->name);
    return gbx_reader_done(&r);
}

bool gbx_msg_put_expose(gbx_buf *to, gbx_span name)
{
    size_t at = begin_frame(to, GBX_MSG_EXPOSE, 0);

    put_span(to, name);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_expose(gbx_span body, gbx_span *ret_name)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_span(&r, GBX_NAME_MAX, ret_name);
    return gbx_reader_done(&r) && ret_name->len > 0;
}

bool gbx_msg_put_preload(gbx_buf *to, const gbx_msg_preload *msg)
{
    size_t at = begin_frame(to, GBX_MSG_PRELOAD, 0);

    put_u64(to, msg->size);
    put_span(to, msg->name);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_preload(gbx_span body, gbx_msg_preload *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u64(&r, &ret->size);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->name);
    return gbx_reader_done(&r) && ret->size <= GBX_PRELOAD_MAX;
}

bool gbx_msg_put_attack(gbx_buf *to, uint64_t worker_id, const gbx_msg_attack *msg)
{
    size_t at = begin_frame(to, GBX_MSG_ATTACK, 0);

    put_u64(to, worker_id);
    put_u32(to, msg->index);
    put_u32(to, msg->layers_off);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_attack(gbx_span body, uint64_t *ret_worker_id, gbx_msg_attack *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u64(&r, ret_worker_id);
    gbx_read_u32(&r, &ret->index);
    gbx_read_u32(&r, &ret->layers_off);
    return gbx_reader_done(&r);
}

bool gbx_msg_put_hello(gbx_buf *to, const gbx_msg_hello *msg)
{
    size_t at = begin_frame(to, GBX_MSG_HELLO, 0);

    put_u32(to, msg->version);
    put_u32(to, msg->threads);
    put_u32(to, msg->landlock_abi);
    put_u8(to, msg->oom_known);
    put_u8(to, msg->jit_page);
    put_span(to, msg->engine);
    put_span(to, msg->failure);
    put_u32(to, msg->preload);
    put_u32(to, msg->line);
    put_u32(to, msg->column);
    put_u32(to, msg->layer_count);
    for (size_t i = 0; i < msg->layer_count; i++) {
        put_u8(to, msg->layers[i].layer);
        put_u8(to, msg->layers[i].stands);
        put_span(to, msg->layers[i].reason);
    }
    if (msg->user.len > 0) {
        put_span(to, msg->user);
        put_span(to, msg->layout);
        put_span(to, msg->speculation);
        put_span(to, msg->time_zones);
    }
    return end_frame(to, at, 0);
}

bool gbx_msg_get_hello_version(gbx_span body, uint32_t *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len < 4 ? body.len : 4);
    gbx_read_u32(&r, ret);
    return gbx_reader_done(&r);
}

bool gbx_msg_get_hello(gbx_span body, gbx_msg_hello *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u32(&r, &ret->version);
    gbx_read_u32(&r, &ret->threads);
    gbx_read_u32(&r, &ret->landlock_abi);
    read_flag(&r, &ret->oom_known);
    read_flag(&r, &ret->jit_page);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->engine);
    gbx_read_span(&r, GBX_MESSAGE_MAX, &ret->failure);
    gbx_read_u32(&r, &ret->preload);
    gbx_read_u32(&r, &ret->line);
    gbx_read_u32(&r, &ret->column);
    gbx_read_u32(&r, &ret->layer_count);
    if (ret->layer_count > GBX_LAYERS_MAX || ret->preload > GBX_PRELOADS_MAX)
        return false;
    for (size_t i = 0; i < ret->layer_count; i++) {
        gbx_read_u8(&r, &ret->layers[i].layer);
        read_flag(&r, &ret->layers[i].stands);
        gbx_read_span(&r, GBX_LAYER_REASON_MAX, &ret->layers[i].reason);
    }
    ret->user = ret->layout = ret->speculation = ret->time_zones = (gbx_span){0};
    if (r.left > 0) {
        gbx_read_span(&r, GBX_NAME_MAX, &ret->user);
        gbx_read_span(&r, GBX_NAME_MAX, &ret->layout);
        gbx_read_span(&r, GBX_NAME_MAX, &ret->speculation);
        gbx_read_span(&r, GBX_NAME_MAX, &ret->time_zones);
    }
    return gbx_reader_done(&r);
}

bool gbx_msg_put_forked(gbx_buf *to, const gbx_msg_forked *msg)
{
    size_t at = begin_frame(to, GBX_MSG_FORKED, 0);

    put_u64(to, msg->worker_id);
    put_u32(to, msg->error);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_forked(gbx_span body, gbx_msg_forked *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u64(&r, &ret->worker_id);
    gbx_read_u32(&r, &ret->error);
    return gbx_reader_done(&r);
}

bool gbx_msg_put_exited(gbx_buf *to, const gbx_msg_exited *msg)
{
    size_t at = begin_frame(to, GBX_MSG_EXITED, 0);

    put_u64(to, msg->worker_id);
    put_u32(to, msg->status);
    put_u64(to, msg->cpu_us);
    put_u64(to, msg->max_rss_kib);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_exited(gbx_span body, gbx_msg_exited *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u64(&r, &ret->worker_id);
    gbx_read_u32(&r, &ret->status);
    gbx_read_u64(&r, &ret->cpu_us);
    gbx_read_u64(&r, &ret->max_rss_kib);
    return gbx_reader_done(&r);
}

bool gbx_msg_put_loaded(gbx_buf *to, const gbx_msg_loaded *msg)
{
    size_t at = begin_frame(to, GBX_MSG_LOADED, 0);

    put_u8(to, msg->ok);
    put_u32(to, msg->line);
    put_u32(to, msg->column);
    put_span(to, msg->message);
    return end_frame(to, at, 0);
}

bool gbx_msg_get_loaded(gbx_span body, gbx_msg_loaded *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    read_flag(&r, &ret->ok);
    gbx_read_u32(&r, &ret->line);
    gbx_read_u32(&r, &ret->column);
    gbx_read_span(&r, GBX_MESSAGE_MAX, &ret->message);
    return gbx_reader_done(&r);
}

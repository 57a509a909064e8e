/* SPDX-License-Identifier: MIT */
/* messages_control - the messages of a template's control channel; see messages.c. */
#include "wire/messages.h"

#include "wire/wire.h"

/* ---- public to other modules -------------------------------------------- */

bool gbx_msg_put_config(gbx_buf *to, const gbx_msg_config *msg)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_CONFIG, 0);

    gbx_put_u32(to, msg->version);
    gbx_put_u8(to, msg->globals);
    gbx_put_u8(to, msg->attack_mode);
    gbx_put_u8(to, msg->warm);
    gbx_put_u8(to, msg->huge_pages);
    gbx_put_u32(to, msg->capabilities);
    gbx_put_u32(to, msg->layers_off);
    gbx_put_u32(to, msg->flags);
    gbx_put_u64(to, msg->memory_bytes);
    gbx_put_u32(to, msg->cpu_s);
    gbx_put_u32(to, msg->preloads);
    gbx_put_span(to, msg->functions);
    return gbx_frame_end(to, at, 0);
}

bool gbx_msg_get_config(gbx_span body, gbx_msg_config *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u32(&r, &ret->version);
    gbx_read_flag(&r, &ret->globals);
    gbx_read_flag(&r, &ret->attack_mode);
    gbx_read_flag(&r, &ret->warm);
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
    size_t at = gbx_frame_begin(to, type, 0);

    gbx_put_u64(to, worker_id);
    return gbx_frame_end(to, at, 0);
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
    size_t at = gbx_frame_begin(to, GBX_MSG_LOAD, 0);

    gbx_put_u64(to, msg->size);
    gbx_put_span(to, msg->name);
    return gbx_frame_end(to, at, 0);
}

bool gbx_msg_get_load(gbx_span body, gbx_msg_load *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u64(&r, &ret->size);
    gbx_read_span(&r, GBX_NAME_MAX, &ret->name);
    return gbx_reader_done(&r);
}

bool gbx_msg_put_expose(gbx_buf *to, gbx_span name)
{
    size_t at = gbx_frame_begin(to, GBX_MSG_EXPOSE, 0);

    gbx_put_span(to, name);
    return gbx_frame_end(to, at, 0);
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
    size_t at = gbx_frame_begin(to, GBX_MSG_PRELOAD, 0);

    gbx_put_u64(to, msg->size);
    gbx_put_span(to, msg->name);
    return gbx_frame_end(to, at, 0);
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
    size_t at = gbx_frame_begin(to, GBX_MSG_ATTACK, 0);

    gbx_put_u64(to, worker_id);
    gbx_put_u32(to, msg->index);
    gbx_put_u32(to, msg->layers_off);
    return gbx_frame_end(to, at, 0);
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
    size_t at = gbx_frame_begin(to, GBX_MSG_HELLO, 0);

    gbx_put_u32(to, msg->version);
    gbx_put_u32(to, msg->threads);
    gbx_put_u32(to, msg->landlock_abi);
    gbx_put_u8(to, msg->oom_known);
    gbx_put_u8(to, msg->jit_page);
    gbx_put_span(to, msg->engine);
    gbx_put_span(to, msg->failure);
    gbx_put_u32(to, msg->preload);
    gbx_put_u32(to, msg->line);
    gbx_put_u32(to, msg->column);
    gbx_put_u32(to, msg->layer_count);
    for (size_t i = 0; i < msg->layer_count; i++) {
        gbx_put_u8(to, msg->layers[i].layer);
        gbx_put_u8(to, msg->layers[i].stands);
        gbx_put_span(to, msg->layers[i].reason);
    }
    if (msg->user.len > 0) {
        gbx_put_span(to, msg->user);
        gbx_put_span(to, msg->layout);
        gbx_put_span(to, msg->speculation);
        gbx_put_span(to, msg->time_zones);
    }
    return gbx_frame_end(to, at, 0);
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
    gbx_read_flag(&r, &ret->oom_known);
    gbx_read_flag(&r, &ret->jit_page);
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
        gbx_read_flag(&r, &ret->layers[i].stands);
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
    size_t at = gbx_frame_begin(to, GBX_MSG_FORKED, 0);

    gbx_put_u64(to, msg->worker_id);
    gbx_put_u32(to, msg->error);
    return gbx_frame_end(to, at, 0);
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
    size_t at = gbx_frame_begin(to, GBX_MSG_EXITED, 0);

    gbx_put_u64(to, msg->worker_id);
    gbx_put_u32(to, msg->status);
    gbx_put_u64(to, msg->cpu_us);
    gbx_put_u64(to, msg->max_rss_kib);
    return gbx_frame_end(to, at, 0);
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
    size_t at = gbx_frame_begin(to, GBX_MSG_LOADED, 0);

    gbx_put_u8(to, msg->ok);
    gbx_put_span(to, msg->message);
    return gbx_frame_end(to, at, 0);
}

bool gbx_msg_get_loaded(gbx_span body, gbx_msg_loaded *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_flag(&r, &ret->ok);
    gbx_read_span(&r, GBX_MESSAGE_MAX, &ret->message);
    return gbx_reader_done(&r);
}

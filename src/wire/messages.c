/* SPDX-License-Identifier: MIT */
/*
 * messages - the schema in docs/internals/protocol.md as lists of fields. Each list is
 * expanded twice, to write a message and to read it. Ranges of fields are checked here,
 * so that users of a message need not.
 */
#include "wire/messages.h"

#include <assert.h>

/* ---- writing ------------------------------------------------------------------- */

/* A field that does not fit marks the buffer failed; end_frame() reports it once. */

static void put_le(gbx_buf *to, uint64_t value, size_t width)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < width; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    (void)gbx_buf_append(to, bytes, width);
}

static void put_u8(gbx_buf *to, uint8_t value)
{
    (void)gbx_buf_append(to, &value, sizeof value);
}

static void put_u32(gbx_buf *to, uint32_t value)
{
    put_le(to, value, 4);
}

static void put_u64(gbx_buf *to, uint64_t value)
{
    put_le(to, value, 8);
}

static void put_i64(gbx_buf *to, int64_t value)
{
    put_le(to, (uint64_t)value, 8);
}

static void put_span(gbx_buf *to, gbx_span span)
{
    assert(span.len <= UINT32_MAX);
    put_u32(to, (uint32_t)span.len);
    (void)gbx_buf_append(to, span.data, span.len);
}

/* The last field of a message whose sender writes the bytes itself. */
static void put_tail(gbx_buf *to, gbx_span span)
{
    put_u32(to, (uint32_t)span.len);
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

/* ---- reading ------------------------------------------------------------------- */

/* A number over `most`, or a span longer than that, fails the reader. */

static void get_u8(gbx_reader *r, uint8_t most, uint8_t *ret)
{
    gbx_read_u8(r, ret);
    if (*ret > most)
        r->failed = true;
}

static void get_u32(gbx_reader *r, uint32_t most, uint32_t *ret)
{
    gbx_read_u32(r, ret);
    if (*ret > most)
        r->failed = true;
}

static void get_u64(gbx_reader *r, uint64_t most, uint64_t *ret)
{
    gbx_read_u64(r, ret);
    if (*ret > most)
        r->failed = true;
}

static void get_i64(gbx_reader *r, uint64_t most, int64_t *ret)
{
    uint64_t value;

    get_u64(r, most, &value);
    *ret = (int64_t)value;
}

static void get_span(gbx_reader *r, size_t most, gbx_span *ret)
{
    gbx_read_span(r, most, ret);
}

#define get_tail get_span

/* ---- the fields of every message, in their order ------------------------------- */

/* X(kind, field, most): its greatest value, or its greatest length. */

#define ANY32 UINT32_MAX
#define ANY64 UINT64_MAX

#define LOG_FIELDS(X)             \
    X(u8, level, 4)               \
    X(u8, flags, GBX_LOG_GOES_ON) \
    X(span, text, GBX_LOG_LINE_MAX)

#define WAIT_FIELDS(X) X(u32, ms, GBX_WAIT_MS_MAX)

#define RESULT_FIELDS(X)         \
    X(u8, is_undefined, 1)       \
    X(u32, hint, ANY32)          \
    X(u32, start, ANY32)         \
    X(u32, end, ANY32)           \
    X(span, field, GBX_NAME_MAX) \
    X(tail, json, max_json)

#define ERROR_FIELDS(X)                  \
    X(u8, failure, GBX_FAILURE_BAD_FORM) \
    X(u8, is_out_of_memory, 1)           \
    X(u32, line, ANY32)                  \
    X(u32, column, ANY32)                \
    X(u32, hint, ANY32)                  \
    X(u32, hint_start, ANY32)            \
    X(u32, hint_end, ANY32)              \
    X(span, name, GBX_NAME_MAX)          \
    X(span, message, GBX_MESSAGE_MAX)    \
    X(span, stack, GBX_STACK_MAX)

#define HOSTCALL_FIELDS(X)      \
    X(u32, id, ANY32)           \
    X(span, name, GBX_NAME_MAX) \
    X(span, args, max_bytes)    \
    X(span, bytes, max_bytes)

#define ANSWER_FIELDS(X)              \
    X(u32, id, ANY32)                 \
    X(u8, is_error, 1)                \
    X(span, json, ANY32)              \
    X(span, bytes, ANY32)             \
    X(span, name, GBX_NAME_MAX)       \
    X(span, message, GBX_MESSAGE_MAX) \
    X(span, code, GBX_NAME_MAX)

#define CALL_FIELDS(X)                 \
    X(u8, form, 3)                     \
    X(u8, flags, GBX_CALL_WIRE_ALL)    \
    X(u64, seed, ANY64)                \
    X(i64, now_ms, ANY64)              \
    X(u64, memory_bytes, ANY64)        \
    X(u64, output_bytes, ANY64)        \
    X(u32, log_bytes, ANY32)           \
    X(u32, first_line, ANY32)          \
    X(u32, first_column, ANY32)        \
    X(u32, capabilities, ANY32)        \
    X(u32, host_calls, ANY32)          \
    X(u32, host_calls_at_once, ANY32)  \
    X(u64, host_out_bytes, ANY64)      \
    X(span, entropy, GBX_ENTROPY_SIZE) \
    X(span, withheld, GBX_CONFIG_MAX)  \
    X(span, env, GBX_CONFIG_MAX)       \
    X(span, dataset, GBX_NAME_MAX)     \
    X(span, code, ANY32)               \
    X(span, bindings, ANY32)           \
    X(tail, input, ANY32)

#define CONFIG_FIELDS(X)               \
    X(u32, version, ANY32)             \
    X(u8, globals, 1)                  \
    X(u8, attack_mode, 1)              \
    X(u8, warm, 1)                     \
    X(u8, huge_pages, UINT8_MAX)       \
    X(u32, capabilities, ANY32)        \
    X(u32, layers_off, ANY32)          \
    X(u32, flags, ANY32)               \
    X(u64, memory_bytes, ANY64)        \
    X(u32, cpu_s, ANY32)               \
    X(u32, preloads, GBX_PRELOADS_MAX) \
    X(span, functions, GBX_CONFIG_MAX)

#define LOAD_FIELDS(X)         \
    X(u64, size, ANY64)        \
    X(u32, format, UINT32_MAX) \
    X(span, name, GBX_NAME_MAX)

#define PRELOAD_FIELDS(X)         \
    X(u64, size, GBX_PRELOAD_MAX) \
    X(span, name, GBX_NAME_MAX)

#define HELLO_FIELDS(X)               \
    X(u32, version, ANY32)            \
    X(u32, threads, ANY32)            \
    X(u32, landlock_abi, ANY32)       \
    X(u8, oom_known, 1)               \
    X(u8, jit_page, 1)                \
    X(span, engine, GBX_NAME_MAX)     \
    X(span, failure, GBX_MESSAGE_MAX) \
    X(u32, preload, GBX_PRELOADS_MAX) \
    X(u32, line, ANY32)               \
    X(u32, column, ANY32)             \
    X(u32, layer_count, GBX_LAYERS_MAX)

#define LAYER_FIELDS(X)               \
    X(u8, layers[i].layer, UINT8_MAX) \
    X(u8, layers[i].stands, 1)        \
    X(span, layers[i].reason, GBX_LAYER_REASON_MAX)

#define HELLO_TEXTS(X)                 \
    X(span, user, GBX_NAME_MAX)        \
    X(span, layout, GBX_NAME_MAX)      \
    X(span, speculation, GBX_NAME_MAX) \
    X(span, time_zones, GBX_NAME_MAX)

#define FORKED_FIELDS(X)     \
    X(u64, worker_id, ANY64) \
    X(u32, error, ANY32)

#define EXITED_FIELDS(X)     \
    X(u64, worker_id, ANY64) \
    X(u32, status, ANY32)    \
    X(u64, cpu_us, ANY64)    \
    X(u64, max_rss_kib, ANY64)

#define LOADED_FIELDS(X)  \
    X(u8, ok, 1)          \
    X(u32, line, ANY32)   \
    X(u32, column, ANY32) \
    X(span, message, GBX_MESSAGE_MAX)

#define ATTACK_FIELDS(X) \
    X(u32, index, ANY32) \
    X(u32, layers_off, ANY32)

/* ---- from a list of fields to functions ------------------------------------------ */

#define PUT(kind, field, most) put_##kind(to, msg->field);
#define GET(kind, field, most) get_##kind(&r, most, &ret->field);

/* The body of an encoder; `beyond`: bytes that the sender appends. */
#define ENCODE(TYPE, call_id, beyond)                     \
    size_t at = begin_frame(to, GBX_MSG_##TYPE, call_id); \
    TYPE##_FIELDS(PUT);                                   \
    return end_frame(to, at, beyond)

/* The body of a decoder; is_valid: what no field shows alone. */
#define DECODE(TYPE, is_valid)                \
    gbx_reader r;                             \
    gbx_reader_init(&r, body.data, body.len); \
    TYPE##_FIELDS(GET);                       \
    return gbx_reader_done(&r) && (is_valid)

/* gbx_msg_put_NAME() and gbx_msg_get_NAME(), on the channel of a call */
#define CALL_MESSAGE(name, TYPE, is_valid)                                            \
    bool gbx_msg_put_##name(gbx_buf *to, uint64_t call_id, const gbx_msg_##name *msg) \
    {                                                                                 \
        ENCODE(TYPE, call_id, 0);                                                     \
    }                                                                                 \
    bool gbx_msg_get_##name(gbx_span body, gbx_msg_##name *ret)                       \
    {                                                                                 \
        DECODE(TYPE, is_valid);                                                       \
    }

/* and on the control channel of a template. */
#define CONTROL_MESSAGE(name, TYPE)                                 \
    bool gbx_msg_put_##name(gbx_buf *to, const gbx_msg_##name *msg) \
    {                                                               \
        ENCODE(TYPE, 0, 0);                                         \
    }                                                               \
    bool gbx_msg_get_##name(gbx_span body, gbx_msg_##name *ret)     \
    {                                                               \
        DECODE(TYPE, true);                                         \
    }

/* gbx_msg_get_NAME() of a body that is one value */
#define GET_VALUE(name, type, kind, most, is_valid)   \
    bool gbx_msg_get_##name(gbx_span body, type *ret) \
    {                                                 \
        gbx_reader r;                                 \
        gbx_reader_init(&r, body.data, body.len);     \
        get_##kind(&r, most, ret);                    \
        return gbx_reader_done(&r) && (is_valid);     \
    }

CALL_MESSAGE(log, LOG, true)
CALL_MESSAGE(wait, WAIT, true)
CALL_MESSAGE(error, ERROR, ret->failure >= GBX_FAILURE_SYNTAX)
CALL_MESSAGE(answer, ANSWER, ret->id != 0)
CONTROL_MESSAGE(config, CONFIG)
CONTROL_MESSAGE(load, LOAD)
CONTROL_MESSAGE(preload, PRELOAD)
CONTROL_MESSAGE(forked, FORKED)
CONTROL_MESSAGE(exited, EXITED)
CONTROL_MESSAGE(loaded, LOADED)
GET_VALUE(cancel, uint32_t, u32, ANY32, *ret != 0)
GET_VALUE(limited, uint8_t, u8, GBX_LIMITED_BYTES, *ret != 0)
GET_VALUE(fork, uint64_t, u64, ANY64, true)
GET_VALUE(expose, gbx_span, span, GBX_NAME_MAX, ret->len > 0)

/* ---- headers, and messages of another pattern ------------------------------------ */

bool gbx_header_decode(const uint8_t *data, gbx_header *ret)
{
    gbx_reader r;
    uint8_t reserved;

    gbx_reader_init(&r, data, GBX_FRAME_HEADER_SIZE);
    gbx_read_u32(&r, &ret->body_len);
    gbx_read_u8(&r, &ret->type);
    for (size_t i = 0; i < 3; i++)
        get_u8(&r, 0, &reserved);
    gbx_read_u64(&r, &ret->call_id);
    return gbx_reader_done(&r);
}

bool gbx_msg_put_empty(gbx_buf *to, gbx_msg_type type, uint64_t call_id)
{
    return end_frame(to, begin_frame(to, type, call_id), 0);
}

bool gbx_msg_put_result_head(gbx_buf *to, uint64_t call_id, const gbx_msg_result *msg)
{
    ENCODE(RESULT, call_id, msg->json.len);
}

bool gbx_msg_get_result(gbx_span body, size_t max_json, gbx_msg_result *ret)
{
    DECODE(RESULT, ret->is_undefined == (ret->json.len == 0));
}

bool gbx_msg_put_call_head(gbx_buf *to, uint64_t call_id, const gbx_msg_call *msg)
{
    ENCODE(CALL, call_id, msg->input.len);
}

bool gbx_msg_get_call(gbx_span body, gbx_msg_call *ret)
{
    DECODE(CALL, ret->entropy.len == 0 || ret->entropy.len == GBX_ENTROPY_SIZE);
}

bool gbx_msg_put_hostcall(gbx_buf *to, uint64_t call_id, const gbx_msg_hostcall *msg)
{
    ENCODE(HOSTCALL, call_id, 0);
}

bool gbx_msg_get_hostcall(gbx_span body, size_t max_bytes, gbx_msg_hostcall *ret)
{
    DECODE(HOSTCALL, ret->id != 0 && ret->name.len > 0 && ret->args.len > 0);
}

bool gbx_msg_put_cancel(gbx_buf *to, uint64_t call_id, uint32_t id)
{
    size_t at = begin_frame(to, GBX_MSG_CANCEL, call_id);

    put_u32(to, id);
    return end_frame(to, at, 0);
}

bool gbx_msg_put_limited(gbx_buf *to, uint64_t call_id, uint8_t limit)
{
    size_t at = begin_frame(to, GBX_MSG_LIMITED, call_id);

    put_u8(to, limit);
    return end_frame(to, at, 0);
}

bool gbx_msg_put_fork(gbx_buf *to, gbx_msg_type type, uint64_t worker_id)
{
    size_t at = begin_frame(to, type, 0);

    put_u64(to, worker_id);
    return end_frame(to, at, 0);
}

bool gbx_msg_put_expose(gbx_buf *to, gbx_span name)
{
    size_t at = begin_frame(to, GBX_MSG_EXPOSE, 0);

    put_span(to, name);
    return end_frame(to, at, 0);
}

bool gbx_msg_put_attack(gbx_buf *to, uint64_t worker_id, const gbx_msg_attack *msg)
{
    size_t at = begin_frame(to, GBX_MSG_ATTACK, 0);

    put_u64(to, worker_id);
    ATTACK_FIELDS(PUT)
    return end_frame(to, at, 0);
}

bool gbx_msg_get_attack(gbx_span body, uint64_t *ret_worker_id, gbx_msg_attack *ret)
{
    gbx_reader r;

    gbx_reader_init(&r, body.data, body.len);
    gbx_read_u64(&r, ret_worker_id);
    ATTACK_FIELDS(GET)
    return gbx_reader_done(&r);
}

bool gbx_msg_put_hello(gbx_buf *to, const gbx_msg_hello *msg)
{
    size_t at = begin_frame(to, GBX_MSG_HELLO, 0);

    HELLO_FIELDS(PUT)
    for (size_t i = 0; i < msg->layer_count; i++) {
        LAYER_FIELDS(PUT)
    }
    if (msg->user.len > 0) {
        HELLO_TEXTS(PUT)
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
    HELLO_FIELDS(GET)
    if (r.failed)
        return false;
    for (size_t i = 0; i < ret->layer_count; i++) {
        LAYER_FIELDS(GET)
    }
    ret->user = ret->layout = ret->speculation = ret->time_zones = (gbx_span){0};
    if (r.left > 0) {
        HELLO_TEXTS(GET)
    }
    return gbx_reader_done(&r);
}

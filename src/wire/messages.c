/* SPDX-License-Identifier: MIT */
/*
 * messages - the schema in docs/internals/protocol.md as tables of fields. One function
 * writes what a table says, another reads it. Ranges of fields are checked here, so that
 * users of a message need not.
 */
#include "wire/messages.h"

#include <assert.h>
#include <string.h>

/* ---- the fields of every message, in their order ------------------------------- */

typedef struct field {
    size_t offset; /* in the message's struct */
    size_t width;  /* bytes of a number, there and in the frame; 0: a span */
    uint64_t most; /* its greatest value, or its greatest length */
    bool is_tail;  /* a last span, whose sender writes the bytes itself */
} field;

#define ANY32 UINT32_MAX
#define ANY64 UINT64_MAX
#define GIVEN UINT64_MAX /* the reader of the message says how long a span may be */

#define NUMBER(type, member, most)                                       \
    {                                                                    \
        offsetof(type, member), sizeof(((type *)0)->member), most, false \
    }
#define SPAN(type, member, most)               \
    {                                          \
        offsetof(type, member), 0, most, false \
    }
#define TAIL(type, member, most)              \
    {                                         \
        offsetof(type, member), 0, most, true \
    }

static const field log_fields[] = {
    NUMBER(gbx_msg_log, level, 4),
    NUMBER(gbx_msg_log, flags, GBX_LOG_GOES_ON),
    SPAN(gbx_msg_log, text, GBX_LOG_LINE_MAX),
};

static const field wait_fields[] = {
    NUMBER(gbx_msg_wait, ms, GBX_WAIT_MS_MAX),
};

static const field result_fields[] = {
    NUMBER(gbx_msg_result, is_undefined, 1),   NUMBER(gbx_msg_result, hint, ANY32),
    NUMBER(gbx_msg_result, start, ANY32),      NUMBER(gbx_msg_result, end, ANY32),
    SPAN(gbx_msg_result, field, GBX_NAME_MAX), TAIL(gbx_msg_result, json, GIVEN),
};

static const field error_fields[] = {
    NUMBER(gbx_msg_error, failure, GBX_FAILURE_BAD_FORM),
    NUMBER(gbx_msg_error, is_out_of_memory, 1),
    NUMBER(gbx_msg_error, line, ANY32),
    NUMBER(gbx_msg_error, column, ANY32),
    NUMBER(gbx_msg_error, hint, ANY32),
    NUMBER(gbx_msg_error, hint_start, ANY32),
    NUMBER(gbx_msg_error, hint_end, ANY32),
    SPAN(gbx_msg_error, name, GBX_NAME_MAX),
    SPAN(gbx_msg_error, message, GBX_MESSAGE_MAX),
    SPAN(gbx_msg_error, stack, GBX_STACK_MAX),
};

static const field hostcall_fields[] = {
    NUMBER(gbx_msg_hostcall, id, ANY32),
    SPAN(gbx_msg_hostcall, name, GBX_NAME_MAX),
    SPAN(gbx_msg_hostcall, args, GIVEN),
    SPAN(gbx_msg_hostcall, bytes, GIVEN),
};

static const field answer_fields[] = {
    NUMBER(gbx_msg_answer, id, ANY32),
    NUMBER(gbx_msg_answer, is_error, 1),
    SPAN(gbx_msg_answer, json, ANY32),
    SPAN(gbx_msg_answer, bytes, ANY32),
    SPAN(gbx_msg_answer, name, GBX_NAME_MAX),
    SPAN(gbx_msg_answer, message, GBX_MESSAGE_MAX),
    SPAN(gbx_msg_answer, code, GBX_NAME_MAX),
};

static const field call_fields[] = {
    NUMBER(gbx_msg_call, form, 3),
    NUMBER(gbx_msg_call, flags, GBX_CALL_WIRE_ALL),
    NUMBER(gbx_msg_call, seed, ANY64),
    NUMBER(gbx_msg_call, now_ms, ANY64),
    NUMBER(gbx_msg_call, memory_bytes, ANY64),
    NUMBER(gbx_msg_call, output_bytes, ANY64),
    NUMBER(gbx_msg_call, log_bytes, ANY32),
    NUMBER(gbx_msg_call, first_line, ANY32),
    NUMBER(gbx_msg_call, first_column, ANY32),
    NUMBER(gbx_msg_call, capabilities, ANY32),
    NUMBER(gbx_msg_call, host_calls, ANY32),
    NUMBER(gbx_msg_call, host_calls_at_once, ANY32),
    NUMBER(gbx_msg_call, host_out_bytes, ANY64),
    SPAN(gbx_msg_call, entropy, GBX_ENTROPY_SIZE),
    SPAN(gbx_msg_call, withheld, GBX_CONFIG_MAX),
    SPAN(gbx_msg_call, env, GBX_CONFIG_MAX),
    SPAN(gbx_msg_call, dataset, GBX_NAME_MAX),
    SPAN(gbx_msg_call, code, ANY32),
    SPAN(gbx_msg_call, bindings, ANY32),
    TAIL(gbx_msg_call, input, ANY32),
};

static const field config_fields[] = {
    NUMBER(gbx_msg_config, version, ANY32),
    NUMBER(gbx_msg_config, globals, 1),
    NUMBER(gbx_msg_config, attack_mode, 1),
    NUMBER(gbx_msg_config, warm, 1),
    NUMBER(gbx_msg_config, huge_pages, UINT8_MAX),
    NUMBER(gbx_msg_config, capabilities, ANY32),
    NUMBER(gbx_msg_config, layers_off, ANY32),
    NUMBER(gbx_msg_config, flags, ANY32),
    NUMBER(gbx_msg_config, memory_bytes, ANY64),
    NUMBER(gbx_msg_config, cpu_s, ANY32),
    NUMBER(gbx_msg_config, preloads, GBX_PRELOADS_MAX),
    SPAN(gbx_msg_config, functions, GBX_CONFIG_MAX),
};

static const field load_fields[] = {
    NUMBER(gbx_msg_load, size, ANY64),
    NUMBER(gbx_msg_load, format, UINT32_MAX),
    SPAN(gbx_msg_load, name, GBX_NAME_MAX),
};

static const field preload_fields[] = {
    NUMBER(gbx_msg_preload, size, GBX_PRELOAD_MAX),
    SPAN(gbx_msg_preload, name, GBX_NAME_MAX),
};

static const field hello_fields[] = {
    NUMBER(gbx_msg_hello, version, ANY32),
    NUMBER(gbx_msg_hello, threads, ANY32),
    NUMBER(gbx_msg_hello, landlock_abi, ANY32),
    NUMBER(gbx_msg_hello, oom_known, 1),
    NUMBER(gbx_msg_hello, jit_page, 1),
    SPAN(gbx_msg_hello, engine, GBX_NAME_MAX),
    SPAN(gbx_msg_hello, failure, GBX_MESSAGE_MAX),
    NUMBER(gbx_msg_hello, preload, GBX_PRELOADS_MAX),
    NUMBER(gbx_msg_hello, line, ANY32),
    NUMBER(gbx_msg_hello, column, ANY32),
    NUMBER(gbx_msg_hello, layer_count, GBX_LAYERS_MAX),
};

static const field layer_fields[] = {
    NUMBER(gbx_layer_report, layer, UINT8_MAX),
    NUMBER(gbx_layer_report, stands, 1),
    SPAN(gbx_layer_report, reason, GBX_LAYER_REASON_MAX),
};

static const field hello_texts[] = {
    SPAN(gbx_msg_hello, user, GBX_NAME_MAX),
    SPAN(gbx_msg_hello, layout, GBX_NAME_MAX),
    SPAN(gbx_msg_hello, speculation, GBX_NAME_MAX),
    SPAN(gbx_msg_hello, time_zones, GBX_NAME_MAX),
};

static const field forked_fields[] = {
    NUMBER(gbx_msg_forked, worker_id, ANY64),
    NUMBER(gbx_msg_forked, error, ANY32),
};

static const field exited_fields[] = {
    NUMBER(gbx_msg_exited, worker_id, ANY64),
    NUMBER(gbx_msg_exited, status, ANY32),
    NUMBER(gbx_msg_exited, cpu_us, ANY64),
    NUMBER(gbx_msg_exited, max_rss_kib, ANY64),
};

static const field loaded_fields[] = {
    NUMBER(gbx_msg_loaded, ok, 1),
    NUMBER(gbx_msg_loaded, line, ANY32),
    NUMBER(gbx_msg_loaded, column, ANY32),
    SPAN(gbx_msg_loaded, message, GBX_MESSAGE_MAX),
};

static const field attack_fields[] = {
    NUMBER(gbx_msg_attack, index, ANY32),
    NUMBER(gbx_msg_attack, layers_off, ANY32),
};

/* Bodies of one value. */
static const field one_u8[] = {{0, 1, GBX_LIMITED_BYTES, false}};
static const field one_u32[] = {{0, 4, ANY32, false}};
static const field one_u64[] = {{0, 8, ANY64, false}};
static const field one_name[] = {{0, 0, GBX_NAME_MAX, false}};

typedef struct table {
    const field *fields;
    size_t count;
} table;

#define TABLE(fields) ((table){fields, GBX_COUNTOF(fields)})

/* Structs and frames have numbers alike. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the protocol says so");
_Static_assert(sizeof(gbx_header) == GBX_FRAME_HEADER_SIZE, "so does a header");

/* ---- writing ------------------------------------------------------------------- */

/* Bytes of these fields in a frame; *ret_beyond: those that the sender writes itself. */
static size_t length_of(table t, const void *msg, size_t *ret_beyond)
{
    size_t len = 0;

    *ret_beyond = 0;
    for (size_t i = 0; i < t.count; i++) {
        const field *f = &t.fields[i];
        const gbx_span *span = (const void *)((const char *)msg + f->offset);

        if (f->width > 0) {
            len += f->width;
            continue;
        }
        assert(span->len <= UINT32_MAX);
        len += sizeof(uint32_t) + span->len;
        if (f->is_tail)
            *ret_beyond = span->len;
    }
    return len;
}

static uint8_t *write_fields(uint8_t *to, table t, const void *msg)
{
    for (size_t i = 0; i < t.count; i++) {
        const field *f = &t.fields[i];
        const void *at = (const char *)msg + f->offset;
        const gbx_span *span = at;

        if (f->width > 0) {
            to = mempcpy(to, at, f->width);
            continue;
        }
        to = mempcpy(to, &(uint32_t){(uint32_t)span->len}, sizeof(uint32_t));
        if (!f->is_tail && span->len > 0)
            to = mempcpy(to, span->data, span->len);
    }
    return to;
}

/* Append a header whose body has len bytes, of which `beyond` are written by others.
 * Returns where the body begins; NULL: there is no room. */
static uint8_t *begin_frame(gbx_buf *to, gbx_msg_type type, uint64_t call_id,
                            size_t len, size_t beyond)
{
    gbx_header header = {.body_len = (uint32_t)len,
                         .type = (uint8_t)type,
                         .call_id = call_id};
    uint8_t *at;

    if (len > UINT32_MAX)
        to->failed = true;
    at = gbx_buf_reserve(to, sizeof header + len - beyond);
    if (at == NULL)
        return NULL;
    to->len += sizeof header + len - beyond;
    return mempcpy(at, &header, sizeof header);
}

static bool put(gbx_buf *to, gbx_msg_type type, uint64_t call_id, table t,
                const void *msg)
{
    size_t beyond;
    size_t len = length_of(t, msg, &beyond);
    uint8_t *body = begin_frame(to, type, call_id, len, beyond);

    if (body != NULL)
        (void)write_fields(body, t, msg);
    return body != NULL;
}

/* ---- reading ------------------------------------------------------------------- */

/* Bytes that came from a hostile process. */
typedef struct reader {
    const uint8_t *next;
    size_t left;
    bool failed;
} reader;

/* Only this checks bounds. Keep it that way: the next n bytes, or NULL if there are
 * fewer; after that NULL for ever. */
static const uint8_t *take(reader *r, size_t n)
{
    const uint8_t *at = r->next;

    if (r->failed || n > r->left) {
        r->failed = true;
        return NULL;
    }
    if (n > 0) {
        r->next += n;
        r->left -= n;
    }
    return at;
}

/* True if every field fitted and no byte is left over. */
static bool is_done(const reader *r)
{
    return !r->failed && r->left == 0;
}

/* The first field that does not fit, or is over its maximum, fails the reader. Spans point
 * into the body. */
static void read_fields(reader *r, table t, size_t given, void *ret)
{
    for (size_t i = 0; i < t.count; i++) {
        const field *f = &t.fields[i];
        void *at = (char *)ret + f->offset;
        uint64_t most = f->width == 0 && f->most == GIVEN ? given : f->most;
        size_t width = f->width > 0 ? f->width : sizeof(uint32_t);
        const uint8_t *data = take(r, width);
        uint64_t value = 0;

        if (data != NULL)
            (void)memcpy(&value, data, width);
        if (value > most)
            r->failed = true;
        if (f->width > 0) {
            (void)memcpy(at, &value, width);
            continue;
        }
        data = take(r, value);
        *(gbx_span *)at = (gbx_span){data, data != NULL ? value : 0};
    }
}

/* Is the body these fields and nothing else? */
static bool get(gbx_span body, table t, size_t given, void *ret)
{
    reader r = {.next = body.data, .left = body.len};

    read_fields(&r, t, given, ret);
    return is_done(&r);
}

/* ---- the messages ---------------------------------------------------------------- */

/* gbx_msg_put_NAME() and gbx_msg_get_NAME(), on the channel of a call; is_valid: what no
 * field shows alone; */
#define CALL_MESSAGE(name, TYPE, is_valid)                                            \
    bool gbx_msg_put_##name(gbx_buf *to, uint64_t call_id, const gbx_msg_##name *msg) \
    {                                                                                 \
        return put(to, GBX_MSG_##TYPE, call_id, TABLE(name##_fields), msg);           \
    }                                                                                 \
    bool gbx_msg_get_##name(gbx_span body, gbx_msg_##name *ret)                       \
    {                                                                                 \
        return get(body, TABLE(name##_fields), 0, ret) && (is_valid);                 \
    }

/* and on the control channel of a template. */
#define CONTROL_MESSAGE(name, TYPE)                                   \
    bool gbx_msg_put_##name(gbx_buf *to, const gbx_msg_##name *msg)   \
    {                                                                 \
        return put(to, GBX_MSG_##TYPE, 0, TABLE(name##_fields), msg); \
    }                                                                 \
    bool gbx_msg_get_##name(gbx_span body, gbx_msg_##name *ret)       \
    {                                                                 \
        return get(body, TABLE(name##_fields), 0, ret);               \
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

bool gbx_msg_put_empty(gbx_buf *to, gbx_msg_type type, uint64_t call_id)
{
    return begin_frame(to, type, call_id, 0, 0) != NULL;
}

bool gbx_msg_put_result_head(gbx_buf *to, uint64_t call_id, const gbx_msg_result *msg)
{
    return put(to, GBX_MSG_RESULT, call_id, TABLE(result_fields), msg);
}

bool gbx_msg_get_result(gbx_span body, size_t max_json, gbx_msg_result *ret)
{
    return get(body, TABLE(result_fields), max_json, ret) &&
           ret->is_undefined == (ret->json.len == 0);
}

bool gbx_msg_put_call_head(gbx_buf *to, uint64_t call_id, const gbx_msg_call *msg)
{
    return put(to, GBX_MSG_CALL, call_id, TABLE(call_fields), msg);
}

bool gbx_msg_get_call(gbx_span body, gbx_msg_call *ret)
{
    return get(body, TABLE(call_fields), 0, ret) &&
           (ret->entropy.len == 0 || ret->entropy.len == GBX_ENTROPY_SIZE);
}

bool gbx_msg_put_hostcall(gbx_buf *to, uint64_t call_id, const gbx_msg_hostcall *msg)
{
    return put(to, GBX_MSG_HOSTCALL, call_id, TABLE(hostcall_fields), msg);
}

bool gbx_msg_get_hostcall(gbx_span body, size_t max_bytes, gbx_msg_hostcall *ret)
{
    return get(body, TABLE(hostcall_fields), max_bytes, ret) && ret->id != 0 &&
           ret->name.len > 0 && ret->args.len > 0;
}

bool gbx_msg_put_cancel(gbx_buf *to, uint64_t call_id, uint32_t id)
{
    return put(to, GBX_MSG_CANCEL, call_id, TABLE(one_u32), &id);
}

bool gbx_msg_get_cancel(gbx_span body, uint32_t *ret)
{
    return get(body, TABLE(one_u32), 0, ret) && *ret != 0;
}

bool gbx_msg_put_limited(gbx_buf *to, uint64_t call_id, uint8_t limit)
{
    return put(to, GBX_MSG_LIMITED, call_id, TABLE(one_u8), &limit);
}

bool gbx_msg_get_limited(gbx_span body, uint8_t *ret)
{
    return get(body, TABLE(one_u8), 0, ret) && *ret != 0;
}

bool gbx_msg_put_fork(gbx_buf *to, gbx_msg_type type, uint64_t worker_id)
{
    return put(to, type, 0, TABLE(one_u64), &worker_id);
}

bool gbx_msg_get_fork(gbx_span body, uint64_t *ret)
{
    return get(body, TABLE(one_u64), 0, ret);
}

bool gbx_msg_put_expose(gbx_buf *to, gbx_span name)
{
    return put(to, GBX_MSG_EXPOSE, 0, TABLE(one_name), &name);
}

bool gbx_msg_get_expose(gbx_span body, gbx_span *ret)
{
    return get(body, TABLE(one_name), 0, ret) && ret->len > 0;
}

bool gbx_msg_put_attack(gbx_buf *to, uint64_t worker_id, const gbx_msg_attack *msg)
{
    size_t beyond;
    size_t len = sizeof worker_id + length_of(TABLE(attack_fields), msg, &beyond);
    uint8_t *at = begin_frame(to, GBX_MSG_ATTACK, 0, len, 0);

    if (at == NULL)
        return false;
    at = write_fields(at, TABLE(one_u64), &worker_id);
    (void)write_fields(at, TABLE(attack_fields), msg);
    return true;
}

bool gbx_msg_get_attack(gbx_span body, uint64_t *ret_worker_id, gbx_msg_attack *ret)
{
    reader r = {.next = body.data, .left = body.len};

    read_fields(&r, TABLE(one_u64), 0, ret_worker_id);
    read_fields(&r, TABLE(attack_fields), 0, ret);
    return is_done(&r);
}

bool gbx_msg_put_hello(gbx_buf *to, const gbx_msg_hello *msg)
{
    table texts = msg->user.len > 0 ? TABLE(hello_texts) : (table){0};
    size_t beyond;
    size_t len =
        length_of(TABLE(hello_fields), msg, &beyond) + length_of(texts, msg, &beyond);
    uint8_t *at;

    for (size_t i = 0; i < msg->layer_count; i++)
        len += length_of(TABLE(layer_fields), &msg->layers[i], &beyond);
    at = begin_frame(to, GBX_MSG_HELLO, 0, len, 0);
    if (at == NULL)
        return false;
    at = write_fields(at, TABLE(hello_fields), msg);
    for (size_t i = 0; i < msg->layer_count; i++)
        at = write_fields(at, TABLE(layer_fields), &msg->layers[i]);
    (void)write_fields(at, texts, msg);
    return true;
}

bool gbx_msg_get_hello_version(gbx_span body, uint32_t *ret)
{
    body.len = body.len < sizeof *ret ? body.len : sizeof *ret;
    return get(body, TABLE(one_u32), 0, ret);
}

bool gbx_msg_get_hello(gbx_span body, gbx_msg_hello *ret)
{
    reader r = {.next = body.data, .left = body.len};

    read_fields(&r, TABLE(hello_fields), 0, ret);
    if (r.failed)
        return false;
    for (size_t i = 0; i < ret->layer_count; i++)
        read_fields(&r, TABLE(layer_fields), 0, &ret->layers[i]);
    ret->user = ret->layout = ret->speculation = ret->time_zones = (gbx_span){0};
    if (r.left > 0)
        read_fields(&r, TABLE(hello_texts), 0, ret);
    return is_done(&r);
}

bool gbx_header_decode(const uint8_t *data, gbx_header *ret)
{
    static const uint8_t zeros[sizeof ret->reserved];

    (void)memcpy(ret, data, sizeof *ret);
    return memcmp(ret->reserved, zeros, sizeof zeros) == 0;
}

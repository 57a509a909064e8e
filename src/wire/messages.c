/* SPDX-License-Identifier: MIT */
/*
 * messages - the schema in docs/internals/protocol.md as tables of fields. One function
 * writes messages by their tables, another reads them. Reading checks the ranges of all
 * fields, so that users of a message need not.
 */
#include "wire/messages.h"

#include <assert.h>
#include <string.h>

/* ---- the fields of every message, in their order ------------------------------- */

typedef struct field {
    size_t offset;        /* in the message's struct */
    size_t width;         /* bytes of a number, in struct and frame; 0: a span */
    uint64_t least, most; /* limits of a number's value, or of a span's length */
    bool is_tail;         /* a last span whose bytes the sender writes itself */
} field;

#define ANY32 UINT32_MAX
#define ANY64 UINT64_MAX
#define GIVEN UINT64_MAX /* the caller of gbx_msg_read() sets the limit */

#define NUMBER_FROM(type, member, least, most)                                   \
    {                                                                            \
        offsetof(type, member), sizeof(((type *)0)->member), least, most, false, \
    }
#define NUMBER(type, member, most) NUMBER_FROM(type, member, 0, most)
#define SPAN_FROM(type, member, least, most)           \
    {                                                  \
        offsetof(type, member), 0, least, most, false, \
    }
#define SPAN(type, member, most) SPAN_FROM(type, member, 0, most)
#define TAIL(type, member, most)                  \
    {                                             \
        offsetof(type, member), 0, 0, most, true, \
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
    NUMBER_FROM(gbx_msg_error, failure, GBX_FAILURE_SYNTAX, GBX_FAILURE_BAD_FORM),
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
    NUMBER_FROM(gbx_msg_hostcall, id, 1, ANY32),
    SPAN_FROM(gbx_msg_hostcall, name, 1, GBX_NAME_MAX),
    SPAN_FROM(gbx_msg_hostcall, args, 1, GIVEN),
    SPAN(gbx_msg_hostcall, bytes, GIVEN),
};

static const field cancel_fields[] = {
    NUMBER_FROM(gbx_msg_cancel, id, 1, ANY32),
};

static const field limited_fields[] = {
    NUMBER_FROM(gbx_msg_limited, limit, GBX_LIMITED_CALLS, GBX_LIMITED_BYTES),
};

static const field answer_fields[] = {
    NUMBER_FROM(gbx_msg_answer, id, 1, ANY32),
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

static const field fork_fields[] = {
    NUMBER(gbx_msg_fork, worker_id, ANY64),
    NUMBER(gbx_msg_fork, hurries, 1),
};

static const field expose_fields[] = {
    SPAN_FROM(gbx_msg_expose, name, 1, GBX_NAME_MAX),
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
    SPAN(gbx_msg_hello, user, GBX_NAME_MAX),
    SPAN(gbx_msg_hello, layout, GBX_NAME_MAX),
    SPAN(gbx_msg_hello, speculation, GBX_NAME_MAX),
    SPAN(gbx_msg_hello, time_zones, GBX_NAME_MAX),
    NUMBER(gbx_msg_hello, layer_count, GBX_LAYERS_MAX), /* that follow */
};

static const field layer_fields[] = {
    NUMBER(gbx_layer_report, layer, UINT8_MAX),
    NUMBER(gbx_layer_report, stands, 1),
    SPAN(gbx_layer_report, reason, GBX_LAYER_REASON_MAX),
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
    NUMBER(gbx_msg_attack, worker_id, ANY64),
    NUMBER(gbx_msg_attack, index, ANY32),
    NUMBER(gbx_msg_attack, layers_off, ANY32),
};

typedef struct table {
    const field *fields;
    size_t count;
} table;

#define TABLE(fields)               \
    {                               \
        fields, GBX_COUNTOF(fields) \
    }

static const table layers = TABLE(layer_fields);

/* Indexed by gbx_msg_type; types without fields have no body. */
static const table tables[] = {
    [GBX_MSG_LOG] = TABLE(log_fields),
    [GBX_MSG_WAIT] = TABLE(wait_fields),
    [GBX_MSG_RESULT] = TABLE(result_fields),
    [GBX_MSG_ERROR] = TABLE(error_fields),
    [GBX_MSG_HOSTCALL] = TABLE(hostcall_fields),
    [GBX_MSG_CANCEL] = TABLE(cancel_fields),
    [GBX_MSG_LIMITED] = TABLE(limited_fields),
    [GBX_MSG_CALL] = TABLE(call_fields),
    [GBX_MSG_ANSWER] = TABLE(answer_fields),
    [GBX_MSG_CONFIG] = TABLE(config_fields),
    [GBX_MSG_FORK] = TABLE(fork_fields),
    [GBX_MSG_LOAD] = TABLE(load_fields),
    [GBX_MSG_ATTACK] = TABLE(attack_fields),
    [GBX_MSG_EXPOSE] = TABLE(expose_fields),
    [GBX_MSG_PRELOAD] = TABLE(preload_fields),
    [GBX_MSG_HELLO] = TABLE(hello_fields),
    [GBX_MSG_FORKED] = TABLE(forked_fields),
    [GBX_MSG_EXITED] = TABLE(exited_fields),
    [GBX_MSG_LOADED] = TABLE(loaded_fields),
};

/* Numbers have the same representation in structs and frames. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the protocol says so");
_Static_assert(sizeof(gbx_header) == GBX_FRAME_HEADER_SIZE, "so does a header");

/* ---- writing ------------------------------------------------------------------- */

/* Bytes of these fields in a frame; *ret_beyond: how many the sender writes itself. */
static size_t length_of(const table *t, const void *msg, size_t *ret_beyond)
{
    size_t len = 0;

    for (size_t i = 0; i < t->count; i++) {
        const field *f = &t->fields[i];
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

static uint8_t *write_fields(uint8_t *to, const table *t, const void *msg)
{
    for (size_t i = 0; i < t->count; i++) {
        const field *f = &t->fields[i];
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

bool gbx_msg_write(gbx_buf *to, gbx_msg_type type, uint64_t call_id, const void *msg)
{
    const gbx_msg_hello *hello = type == GBX_MSG_HELLO ? msg : NULL;
    size_t layer_count = hello != NULL ? hello->layer_count : 0;
    gbx_header header = {.type = (uint8_t)type, .call_id = call_id};
    table none = {0};
    const table *t = msg != NULL ? &tables[type] : &none;
    size_t beyond = 0;
    size_t len = length_of(t, msg, &beyond);
    uint8_t *at;

    for (size_t i = 0; i < layer_count; i++)
        len += length_of(&layers, &hello->layers[i], &beyond);
    if (len > UINT32_MAX)
        to->failed = true;
    header.body_len = (uint32_t)len;
    at = gbx_buf_reserve(to, sizeof header + len - beyond);
    if (at == NULL)
        return false;
    to->len += sizeof header + len - beyond;
    at = write_fields(mempcpy(at, &header, sizeof header), t, msg);
    for (size_t i = 0; i < layer_count; i++)
        at = write_fields(at, &layers, &hello->layers[i]);
    return true;
}

/* ---- reading ------------------------------------------------------------------- */

/* A position in bytes from a hostile process. */
typedef struct reader {
    const uint8_t *next;
    size_t left;
    bool failed;
} reader;

/* The next n bytes; NULL if fewer are left, and from then on. This is the only bounds
 * check: keep it that way. */
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

/* The first field that is incomplete or out of range fails the reader. Spans point into
 * the body. */
static void read_fields(reader *r, const table *t, size_t given, void *ret)
{
    for (size_t i = 0; i < t->count; i++) {
        const field *f = &t->fields[i];
        void *at = (char *)ret + f->offset;
        uint64_t most = f->width == 0 && f->most == GIVEN ? given : f->most;
        size_t width = f->width > 0 ? f->width : sizeof(uint32_t);
        const uint8_t *data = take(r, width);
        uint64_t value = 0;

        if (data != NULL)
            (void)memcpy(&value, data, width);
        if (value < f->least || value > most)
            r->failed = true;
        if (f->width > 0) {
            (void)memcpy(at, &value, width);
            continue;
        }
        data = take(r, value);
        *(gbx_span *)at = (gbx_span){data, data != NULL ? value : 0};
    }
}

bool gbx_msg_read(gbx_msg_type type, gbx_span body, size_t given, void *ret)
{
    gbx_msg_hello *hello = type == GBX_MSG_HELLO ? ret : NULL;
    const gbx_msg_result *result = type == GBX_MSG_RESULT ? ret : NULL;
    const gbx_msg_call *call = type == GBX_MSG_CALL ? ret : NULL;
    reader r = {.next = body.data, .left = body.len};

    read_fields(&r, &tables[type], given, ret);
    for (size_t i = 0; hello != NULL && !r.failed && i < hello->layer_count; i++)
        read_fields(&r, &layers, 0, &hello->layers[i]);
    if (r.failed || r.left > 0)
        return false;
    if (call != NULL)
        return call->entropy.len == 0 || call->entropy.len == GBX_ENTROPY_SIZE;
    return result == NULL || result->is_undefined == (result->json.len == 0);
}

bool gbx_msg_hello_version(gbx_span body, uint32_t *ret)
{
    if (body.len < sizeof *ret)
        return false;
    (void)memcpy(ret, body.data, sizeof *ret);
    return true;
}

bool gbx_header_decode(const uint8_t *data, gbx_header *ret)
{
    static const uint8_t zeros[sizeof ret->reserved];

    (void)memcpy(ret, data, sizeof *ret);
    return memcmp(ret->reserved, zeros, sizeof zeros) == 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * messages - the maps of messages.h as tables of fields. One function writes messages by
 * their tables, another reads them. Reading checks the ranges of all fields, so that
 * users of a message need not.
 */
#include "wire/messages.h"

#include <assert.h>
#include <string.h>

/* ---- the fields of every message, in their order ------------------------------- */

#define XX(NAME, name, number)                      \
    static const gbx_wire_field name##_fields[] = { \
        GBX_FIELD_ROWS(GBX_FIELDS_##NAME, gbx_msg_##name)};
GBX_MSG_MAP(XX)
#undef XX

static const gbx_wire_field layer_fields[] = {
    GBX_FIELD_ROWS(GBX_FIELDS_LAYER, gbx_layer_report)};

static const gbx_wire_table layers = {layer_fields, GBX_COUNTOF(layer_fields)};

/* Indexed by gbx_msg_type; types without fields have no body. */
static const gbx_wire_table tables[] = {
#define XX(NAME, name, number) [number] = {name##_fields, GBX_COUNTOF(name##_fields)},
    GBX_MSG_MAP(XX)
#undef XX
};

/* Numbers have the same representation in structs and frames. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the protocol says so");
_Static_assert(sizeof(gbx_header) == GBX_FRAME_HEADER_SIZE, "so does a header");

/* ---- writing ------------------------------------------------------------------- */

size_t gbx_table_length(const gbx_wire_table *t, const void *msg, size_t *ret_beyond)
{
    size_t len = 0;

    for (size_t i = 0; i < t->count; i++) {
        const gbx_wire_field *f = &t->fields[i];
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

uint8_t *gbx_table_write(uint8_t *to, const gbx_wire_table *t, const void *msg)
{
    for (size_t i = 0; i < t->count; i++) {
        const gbx_wire_field *f = &t->fields[i];
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

uint8_t *gbx_frame_begin(gbx_buf *to, uint8_t type, uint64_t call_id, size_t body_len,
                         size_t beyond)
{
    gbx_header header = {.body_len = (uint32_t)body_len,
                         .type = type,
                         .call_id = call_id};
    uint8_t *at;

    if (body_len > UINT32_MAX)
        to->failed = true;
    at = gbx_buf_reserve(to, sizeof header + body_len - beyond);
    if (at == NULL)
        return NULL;
    to->len += sizeof header + body_len - beyond;
    return mempcpy(at, &header, sizeof header);
}

bool gbx_msg_write(gbx_buf *to, gbx_msg_type type, uint64_t call_id, const void *msg)
{
    const gbx_msg_hello *hello = type == GBX_MSG_HELLO ? msg : NULL;
    size_t layer_count = hello != NULL ? hello->layer_count : 0;
    gbx_wire_table none = {0};
    const gbx_wire_table *t = msg != NULL ? &tables[type] : &none;
    size_t beyond = 0;
    size_t len = gbx_table_length(t, msg, &beyond);
    uint8_t *at;

    for (size_t i = 0; i < layer_count; i++)
        len += gbx_table_length(&layers, &hello->layers[i], &beyond);
    at = gbx_frame_begin(to, (uint8_t)type, call_id, len, beyond);
    if (at == NULL)
        return false;
    at = gbx_table_write(at, t, msg);
    for (size_t i = 0; i < layer_count; i++)
        at = gbx_table_write(at, &layers, &hello->layers[i]);
    return true;
}

/* ---- reading ------------------------------------------------------------------- */

/* The next n bytes; NULL if fewer are left, and from then on. This is the only bounds
 * check: keep it that way. */
static const uint8_t *take(gbx_wire_reader *r, size_t n)
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

void gbx_table_read(gbx_wire_reader *r, const gbx_wire_table *t, size_t given,
                    void *ret)
{
    for (size_t i = 0; i < t->count; i++) {
        const gbx_wire_field *f = &t->fields[i];
        void *at = (char *)ret + f->offset;
        uint64_t most = f->width == 0 && f->most == GBX_GIVEN ? given : f->most;
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
    gbx_wire_reader r = {.next = body.data, .left = body.len};

    gbx_table_read(&r, &tables[type], given, ret);
    for (size_t i = 0; hello != NULL && !r.failed && i < hello->layer_count; i++)
        gbx_table_read(&r, &layers, 0, &hello->layers[i]);
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

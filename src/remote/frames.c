/* SPDX-License-Identifier: MIT */
/* frames - see frames.h: the maps as tables, and what the tables cannot say. */
#include "remote/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define XX(NAME, name, number)                      \
    static const gbx_wire_field name##_fields[] = { \
        GBX_FIELD_ROWS(GBX_REMOTE_FIELDS_##NAME, gbx_remote_##name)};
GBX_REMOTE_MAP(XX)
XX(NEEDS, needs, 0)
XX(ITEM, item, 0)
#undef XX

/* Indexed by gbx_remote_type. */
static const gbx_wire_table tables[] = {
#define XX(NAME, name, number) [number] = {name##_fields, GBX_COUNTOF(name##_fields)},
    GBX_REMOTE_MAP(XX)
#undef XX
};
static const gbx_wire_table needs_table = {needs_fields, GBX_COUNTOF(needs_fields)};
static const gbx_wire_table item_table = {item_fields, GBX_COUNTOF(item_fields)};

bool gbx_remote_send(gbx_bus *bus, const char *subject, const char *reply,
                     uint64_t number, gbx_remote_type type, const void *msg)
{
    const gbx_wire_table *t = &tables[type];
    const gbx_wire_field *last = &t->fields[t->count - 1];
    const gbx_span *tail = (const void *)((const char *)msg + last->offset);
    size_t beyond = 0;
    size_t len = gbx_table_length(t, msg, &beyond);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf head;
    uint8_t *at;

    gbx_buf_init(&head, GBX_KIB(4));
    at = gbx_frame_begin(&head, (uint8_t)type, number, len, beyond);
    if (at == NULL)
        return false;
    (void)gbx_table_write(at, t, msg);
    return bus->ops->publish(bus, subject, reply, (gbx_span){head.data, head.len},
                             last->is_tail ? *tail : (gbx_span){0});
}

bool gbx_remote_read(gbx_span frame, gbx_remote_any *ret)
{
    gbx_wire_reader r;
    gbx_header header;

    ret->number = 0;
    if (frame.len < sizeof header || !gbx_header_decode(frame.data, &header))
        return false;
    ret->type = header.type;
    ret->number = header.call_id;
    r = (gbx_wire_reader){frame.data + sizeof header, frame.len - sizeof header, false};
    if (header.body_len != r.left || header.type >= GBX_COUNTOF(tables) ||
        tables[header.type].count == 0)
        return false;
    gbx_table_read(&r, &tables[header.type], 0, &ret->want);
    return !r.failed && r.left == 0;
}

/* ---- setups ---------------------------------------------------------------------- */

static bool put(gbx_buf *to, const gbx_wire_table *t, const void *msg)
{
    size_t beyond = 0;
    size_t len = gbx_table_length(t, msg, &beyond);
    uint8_t *at = gbx_buf_reserve(to, len);

    if (at == NULL)
        return false;
    to->len += len;
    (void)gbx_table_write(at, t, msg);
    return true;
}

/* With its NUL. */
static gbx_span whole(const char *text)
{
    return (gbx_span){(const uint8_t *)text, strlen(text) + 1};
}

static bool is_whole(gbx_span text)
{
    return memchr(text.data, 0, text.len) == text.data + text.len - 1;
}

bool gbx_remote_put_setup(gbx_buf *to, const gbx_contents *c)
{
    gbx_remote_needs needs = {.globals = (uint8_t)c->globals,
                              .jit = (uint8_t)c->jit,
                              .require = (uint8_t)c->require,
                              .speculation = (uint8_t)c->speculation,
                              .capabilities = c->capabilities,
                              .memory_bytes = c->memory_bytes,
                              .cpu_ms = c->cpu_ms,
                              .functions = whole(c->functions),
                              .count = (uint32_t)c->count};
    bool is_put = c->count <= GBX_REMOTE_ITEMS_MAX && put(to, &needs_table, &needs);

    for (size_t i = 0; is_put && i < c->count; i++) {
        const gbx_content *from = &c->items[i];
        gbx_remote_item item = {.kind = (uint8_t)from->kind,
                                .name = whole(from->name),
                                .format = from->format,
                                .size = from->size,
                                .sha256 = {from->sha256, sizeof from->sha256}};

        is_put = put(to, &item_table, &item);
    }
    return is_put;
}

bool gbx_remote_get_setup(gbx_span bytes, gbx_contents *ret, gbx_content **ret_items)
{
    gbx_wire_reader r = {.next = bytes.data, .left = bytes.len};
    gbx_remote_needs needs;
    gbx_content *items;

    gbx_table_read(&r, &needs_table, 0, &needs);
    if (r.failed || !is_whole(needs.functions))
        return false;
    *ret = (gbx_contents){.struct_size = sizeof *ret,
                          .globals = needs.globals,
                          .jit = needs.jit,
                          .require = needs.require,
                          .speculation = needs.speculation,
                          .capabilities = needs.capabilities,
                          .memory_bytes = needs.memory_bytes,
                          .cpu_ms = needs.cpu_ms,
                          .functions = (const char *)needs.functions.data,
                          .count = needs.count};
    ret->items = *ret_items = items = calloc((size_t)needs.count + 1, sizeof *items);
    for (uint32_t i = 0; items != NULL && i < needs.count && !r.failed; i++) {
        gbx_remote_item item;

        gbx_table_read(&r, &item_table, 0, &item);
        r.failed = r.failed || !is_whole(item.name);
        if (r.failed)
            break;
        items[i] = (gbx_content){.kind = item.kind,
                                 .format = item.format,
                                 .name = (const char *)item.name.data,
                                 .size = item.size,
                                 .fd = -1};
        (void)memcpy(items[i].sha256, item.sha256.data, sizeof items[i].sha256);
    }
    if (items != NULL && !r.failed && r.left == 0)
        return true;
    free(items);
    *ret_items = NULL;
    return false;
}

gbx_span gbx_remote_text(const char *text, size_t most)
{
    gbx_span span = gbx_span_of(text);

    span.len = span.len < most ? span.len : most;
    return span;
}

/* ---- subjects and numbers -------------------------------------------------------- */

bool gbx_remote_subject(char ret[GBX_REMOTE_SUBJECT_MAX + 1], const char *pool,
                        const char *kind, const char *token, const char *last)
{
    int len = snprintf(ret, GBX_REMOTE_SUBJECT_MAX + 1, "glovebox.v1.%s.%s%s%s%s%s",
                       pool, kind, token != NULL ? "." : "", token != NULL ? token : "",
                       last != NULL ? "." : "", last != NULL ? last : "");

    return len > 0 && (size_t)len <= GBX_REMOTE_SUBJECT_MAX;
}

bool gbx_remote_is_subject(gbx_span text, const char *pool, const char *kind)
{
    char start[GBX_REMOTE_SUBJECT_MAX + 1];
    size_t len;

    if (!gbx_remote_subject(start, pool, kind, "", NULL))
        return false;
    len = strlen(start);
    if (text.len <= len || memcmp(text.data, start, len) != 0)
        return false;
    for (size_t i = len; i < text.len; i++) {
        uint8_t c = text.data[i];
        bool is_dot = c == '.' && text.data[i - 1] != '.' && i + 1 < text.len;

        if (!is_dot && c != '-' && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
            return false;
    }
    return true;
}

uint64_t gbx_remote_number(void)
{
    uint64_t number = 0;

    while (number == 0)
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            return 0;
    return number;
}

/* ---- windows --------------------------------------------------------------------- */

void gbx_flow_init(gbx_flow *f)
{
    *f = (gbx_flow){.out_room = GBX_LEASE_WINDOW, .in_room = GBX_LEASE_WINDOW};
}

bool gbx_flow_take(gbx_flow *f, uint32_t seq, size_t len, uint32_t room)
{
    if (seq != f->in_seq || len > f->in_room || room > GBX_LEASE_WINDOW - f->out_room)
        return false;
    f->in_seq++;
    f->in_room -= len;
    f->out_room += room;
    return true;
}

size_t gbx_flow_send(gbx_flow *f, gbx_bus *bus, const char *subject, uint64_t number,
                     const uint8_t *data, size_t len, bool is_beat)
{
    size_t sent = 0;

    while (is_beat || sent < len || f->in_taken >= GBX_LEASE_WINDOW / 2) {
        size_t n = len - sent < bus->chunk ? len - sent : bus->chunk;
        gbx_remote_data msg = {.seq = f->out_seq, .room = (uint32_t)f->in_taken};

        n = n < f->out_room ? n : f->out_room;
        msg.bytes = n > 0 ? (gbx_span){data + sent, n} : (gbx_span){0};
        if ((n == 0 && !is_beat && f->in_taken < GBX_LEASE_WINDOW / 2) ||
            !gbx_remote_send(bus, subject, NULL, number, GBX_REMOTE_DATA, &msg))
            break;
        f->out_seq++;
        f->out_room -= n;
        f->in_room += f->in_taken;
        f->in_taken = 0;
        sent += n;
        is_beat = false;
    }
    return sent;
}

/* SPDX-License-Identifier: MIT */
/* messages - every decoder accepts its golden message and nothing near it; every
 * encoder makes exactly it. Ranges and limits are in test_message_ranges.c. */
#include "base/cleanup.h"
#include "golden.h"
#include "test.h"

#include <glovebox/glovebox.h>

/* A header as it must stand before a golden body. */
static void fill_header(const golden *g, uint8_t *header)
{
    memset(header, 0, GBX_FRAME_HEADER_SIZE);
    for (size_t i = 0; i < 4; i++)
        header[i] = (uint8_t)(g->len >> (8 * i));
    header[4] = (uint8_t)g->type;
    for (size_t i = 0; i < 8; i++)
        header[8 + i] = (uint8_t)(g->call_id >> (8 * i));
}

TEST(encoders__make_the_golden_frame)
{
    for (size_t i = 0; i < golden_count; i++) {
        const golden *g = &golden_messages[i];
        uint8_t header[GBX_FRAME_HEADER_SIZE];
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

        fill_header(g, header);
        gbx_buf_init(&buf, 4096);
        assert_true(g->encode(&buf));
        assert_int_equal(buf.len, sizeof header + g->len);
        assert_memory_equal(buf.data, header, sizeof header);
        assert_memory_equal(buf.data + sizeof header, g->body, g->len);
    }
}

TEST(encoders__append_after_what_is_there)
{
    for (size_t i = 0; i < golden_count; i++) {
        const golden *g = &golden_messages[i];
        gbx_header header;
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

        gbx_buf_init(&buf, 4096);
        assert_true(gbx_buf_puts(&buf, "before"));
        assert_true(g->encode(&buf));
        assert_memory_equal(buf.data, "before", 6);
        assert_true(gbx_header_decode(buf.data + 6, &header));
        assert_int_equal(header.body_len, g->len);
    }
}

TEST(encoders__at_every_ceiling_below_the_frame_say_so)
{
    for (size_t i = 0; i < golden_count; i++) {
        const golden *g = &golden_messages[i];
        size_t whole = GBX_FRAME_HEADER_SIZE + g->len;

        for (size_t ceiling = 0; ceiling <= whole; ceiling++) {
            GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

            gbx_buf_init(&buf, ceiling);
            assert_int_equal(g->encode(&buf), ceiling == whole);
            assert_true(buf.len <= ceiling);
        }
    }
}

TEST(decoders__accept_the_golden_body)
{
    for (size_t i = 0; i < golden_count; i++)
        assert_true(golden_messages[i].decode(
            (gbx_span){golden_messages[i].body, golden_messages[i].len}));
}

/* Each truncation in an allocation of its own size: reading past it is seen by the
 * sanitizers and by valgrind. */
TEST(decoders__reject_every_truncation)
{
    for (size_t i = 0; i < golden_count; i++) {
        const golden *g = &golden_messages[i];

        for (size_t len = 0; len < g->len; len++) {
            uint8_t *copy = malloc(len > 0 ? len : 1);

            assert_non_null(copy);
            memcpy(copy, g->body, len);
            assert_false(g->decode((gbx_span){copy, len}));
            free(copy);
        }
    }
}

TEST(decoders__reject_a_trailing_byte)
{
    for (size_t i = 0; i < golden_count; i++) {
        const golden *g = &golden_messages[i];

        for (unsigned byte = 0; byte <= 255; byte += 51) {
            uint8_t *copy = malloc(g->len + 1);

            assert_non_null(copy);
            memcpy(copy, g->body, g->len);
            copy[g->len] = (uint8_t)byte;
            assert_false(g->decode((gbx_span){copy, g->len + 1}));
            free(copy);
        }
    }
}

TEST(decoders__reject_nothing_at_all)
{
    for (size_t i = 0; i < golden_count; i++)
        assert_false(golden_messages[i].decode((gbx_span){NULL, 0}));
}

/* What was decoded makes the same frame: no field was lost, or taken for another. */
TEST(decoders__take_every_field)
{
    for (size_t i = 0; i < golden_count; i++) {
        const golden *g = &golden_messages[i];
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf made;
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf again;

        gbx_buf_init(&made, 4096);
        gbx_buf_init(&again, 4096);
        if (g->recode == NULL)
            continue;
        assert_true(g->encode(&made));
        assert_true(g->recode((gbx_span){g->body, g->len}, &again));
        assert_int_equal(again.len, made.len);
        assert_memory_equal(again.data, made.data, made.len);
    }
}

static gbx_span text(const char *of)
{
    return (gbx_span){(const uint8_t *)of, strlen(of)};
}

TEST(hello__may_say_who_it_is_in_whole)
{
    gbx_msg_hello said = {.version = GBX_WIRE_VERSION};
    gbx_msg_hello heard;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_span body;

    said.user = text("u");
    said.layout = text("la");
    said.speculation = text("spe");
    said.time_zones = text("2025b");
    gbx_buf_init(&buf, 256);
    assert_true(gbx_msg_put(&buf, 0, &said));
    body =
        (gbx_span){buf.data + GBX_FRAME_HEADER_SIZE, buf.len - GBX_FRAME_HEADER_SIZE};
    assert_true(gbx_msg_get(body, &heard));
    assert_memory_equal(heard.user.data, "u", 1);
    assert_int_equal(heard.layout.len, 2);
    assert_int_equal(heard.speculation.len, 3);
    assert_int_equal(heard.time_zones.len, 5);
    for (size_t cut = 1; cut < 4 * 4 + 11; cut++)
        assert_false(gbx_msg_get(((gbx_span){body.data, body.len - cut}), &heard));
}

TEST_MAIN(NULL, NULL)

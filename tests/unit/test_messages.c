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

TEST(log__decodes_every_field)
{
    const golden *g = golden_of(GBX_MSG_LOG);
    gbx_msg_log msg;

    assert_true(gbx_msg_get_log((gbx_span){g->body, g->len}, &msg));

    assert_int_equal(msg.level, GBX_LOG_WARN);
    assert_int_equal(msg.flags, 0);
    assert_int_equal(msg.text.len, 2);
    assert_memory_equal(msg.text.data, "hi", 2);
}

TEST(result__decodes_every_field)
{
    const golden *g = golden_of(GBX_MSG_RESULT);
    gbx_msg_result msg;

    assert_true(gbx_msg_get_result((gbx_span){g->body, g->len}, 3, &msg));

    assert_int_equal(msg.is_undefined, 0);
    assert_int_equal(msg.hint, 3);
    assert_int_equal(msg.start, 4);
    assert_int_equal(msg.end, 9);
    assert_memory_equal(msg.field.data, "f", msg.field.len);
    assert_int_equal(msg.json.len, 3);
    assert_memory_equal(msg.json.data, "[1]", 3);
}

TEST(error__decodes_every_field)
{
    const golden *g = golden_of(GBX_MSG_ERROR);
    gbx_msg_error msg;

    assert_true(gbx_msg_get_error((gbx_span){g->body, g->len}, &msg));

    assert_int_equal(msg.failure, GBX_FAILURE_THROWN);
    assert_int_equal(msg.is_out_of_memory, 0);
    assert_int_equal(msg.line, 2);
    assert_int_equal(msg.column, 5);
    assert_int_equal(msg.hint, 6);
    assert_int_equal(msg.hint_start, 7);
    assert_int_equal(msg.hint_end, 8);
    assert_memory_equal(msg.name.data, "E", msg.name.len);
    assert_memory_equal(msg.message.data, "m", msg.message.len);
    assert_memory_equal(msg.stack.data, "s", msg.stack.len);
}

TEST(call__decodes_every_field)
{
    const golden *g = golden_of(GBX_MSG_CALL);
    gbx_msg_call msg;

    assert_true(gbx_msg_get_call((gbx_span){g->body, g->len}, &msg));

    assert_int_equal(msg.form, GBX_FORM_BODY);
    assert_int_equal(msg.flags, 11);
    assert_true(msg.seed == UINT64_C(0x0807060504030201));
    assert_true(msg.now_ms == -1);
    assert_true(msg.memory_bytes == UINT64_C(128) << 20);
    assert_true(msg.output_bytes == 1 << 20);
    assert_int_equal(msg.log_bytes, 10 << 20);
    assert_int_equal(msg.first_line, 3);
    assert_int_equal(msg.first_column, 7);
    assert_memory_equal(msg.dataset.data, "d", msg.dataset.len);
    assert_memory_equal(msg.code.data, "c", msg.code.len);
    assert_memory_equal(msg.bindings.data, "{}", msg.bindings.len);
    assert_memory_equal(msg.input.data, "null", msg.input.len);
}

TEST(config__decodes_every_field)
{
    const golden *g = golden_of(GBX_MSG_CONFIG);
    gbx_msg_config msg;

    assert_true(gbx_msg_get_config((gbx_span){g->body, g->len}, &msg));

    assert_int_equal(msg.version, GBX_WIRE_VERSION);
    assert_int_equal(msg.globals, 1);
    assert_int_equal(msg.attack_mode, 0);
    assert_int_equal(msg.warm, 1);
    assert_int_equal(msg.huge_pages, 8);
    assert_int_equal(msg.capabilities, 3);
    assert_int_equal(msg.layers_off, 0);
    assert_int_equal(msg.flags, GBX_CONFIG_GUARD_SPECULATION);
    assert_true(msg.memory_bytes == UINT64_C(128) << 20);
    assert_int_equal(msg.cpu_s, 7);
}

TEST(hello__decodes_every_field)
{
    const golden *g = golden_of(GBX_MSG_HELLO);
    gbx_msg_hello msg;

    assert_true(gbx_msg_get_hello((gbx_span){g->body, g->len}, &msg));

    assert_int_equal(msg.version, GBX_WIRE_VERSION);
    assert_int_equal(msg.threads, 1);
    assert_int_equal(msg.landlock_abi, 6);
    assert_int_equal(msg.oom_known, 1);
    assert_int_equal(msg.jit_page, 0);
    assert_memory_equal(msg.engine.data, "JS", msg.engine.len);
    assert_int_equal(msg.failure.len, 0);
    assert_int_equal(msg.layer_count, 2);
    assert_int_equal(msg.layers[0].layer, 8);
    assert_int_equal(msg.layers[0].stands, 1);
    assert_int_equal(msg.layers[1].layer, 7);
    assert_memory_equal(msg.layers[1].reason.data, "no", msg.layers[1].reason.len);
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
    assert_true(gbx_msg_put_hello(&buf, &said));
    body =
        (gbx_span){buf.data + GBX_FRAME_HEADER_SIZE, buf.len - GBX_FRAME_HEADER_SIZE};
    assert_true(gbx_msg_get_hello(body, &heard));
    assert_memory_equal(heard.user.data, "u", 1);
    assert_int_equal(heard.layout.len, 2);
    assert_int_equal(heard.speculation.len, 3);
    assert_int_equal(heard.time_zones.len, 5);
    for (size_t cut = 1; cut < 4 * 4 + 11; cut++)
        assert_false(gbx_msg_get_hello((gbx_span){body.data, body.len - cut}, &heard));
}

TEST(the_short_ones__decode_every_field)
{
    gbx_msg_exited exited;
    gbx_msg_forked forked;
    gbx_msg_attack attack;
    gbx_msg_loaded loaded;
    gbx_msg_load load;
    gbx_msg_wait wait;
    uint64_t id = 0;
#define BODY(type) ((gbx_span){golden_of(type)->body, golden_of(type)->len})

    assert_true(gbx_msg_get_wait(BODY(GBX_MSG_WAIT), &wait) && wait.ms == 1000);
    assert_true(gbx_msg_get_fork(BODY(GBX_MSG_FORK), &id) &&
                id == UINT64_C(0x0100000000000009));
    assert_true(gbx_msg_get_load(BODY(GBX_MSG_LOAD), &load));
    assert_true(load.size == (UINT64_C(1) << 32) + 5 && load.name.len == 3);
    assert_true(gbx_msg_get_attack(BODY(GBX_MSG_ATTACK), &id, &attack));
    assert_true(id == 9 && attack.index == 4 && attack.layers_off == 256);
    assert_true(gbx_msg_get_forked(BODY(GBX_MSG_FORKED), &forked));
    assert_true(forked.worker_id == 9 && forked.error == 11);
    assert_true(gbx_msg_get_exited(BODY(GBX_MSG_EXITED), &exited));
    assert_true(exited.worker_id == 9 && exited.status == 9 &&
                exited.cpu_us == 1000000 && exited.max_rss_kib == 1024);
    assert_true(gbx_msg_get_loaded(BODY(GBX_MSG_LOADED), &loaded));
    assert_true(loaded.ok == 0 && loaded.line == 3 && loaded.column == 7 &&
                loaded.message.len == 2);
#undef BODY
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/*
 * fuzz_messages - what a decoder accepts, its encoder makes again, byte for byte.
 *
 * Input: which decoder (a byte), the body.
 */
#include "fuzz.h"

#include "wire/messages.h"

#include <string.h>

#define OUTPUT_MAX 64

/* The frame made from what was decoded; false if nothing was. */
typedef bool (*again_fn)(gbx_span body, gbx_buf *to);

static bool log_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_log msg;

    return gbx_msg_get_log(body, &msg) && gbx_msg_put_log(to, 0, &msg);
}

static bool wait_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_wait msg;

    return gbx_msg_get_wait(body, &msg) && gbx_msg_put_wait(to, 0, &msg);
}

static bool result_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_result msg;

    return gbx_msg_get_result(body, OUTPUT_MAX, &msg) &&
           gbx_msg_put_result_head(to, 0, &msg) &&
           gbx_buf_append(to, msg.json.data, msg.json.len);
}

static bool error_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_error msg;

    return gbx_msg_get_error(body, &msg) && gbx_msg_put_error(to, 0, &msg);
}

static bool call_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_call msg;

    return gbx_msg_get_call(body, &msg) && gbx_msg_put_call_head(to, 0, &msg) &&
           gbx_buf_append(to, msg.input.data, msg.input.len);
}

static bool config_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_config msg;

    return gbx_msg_get_config(body, &msg) && gbx_msg_put_config(to, &msg);
}

static bool fork_again(gbx_span body, gbx_buf *to)
{
    uint64_t id;

    return gbx_msg_get_fork(body, &id) && gbx_msg_put_fork(to, GBX_MSG_FORK, id);
}

static bool load_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_load msg;

    return gbx_msg_get_load(body, &msg) && gbx_msg_put_load(to, &msg);
}

static bool attack_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_attack msg;
    uint64_t id;

    return gbx_msg_get_attack(body, &id, &msg) && gbx_msg_put_attack(to, id, &msg);
}

static bool hello_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_hello msg;

    return gbx_msg_get_hello(body, &msg) && gbx_msg_put_hello(to, &msg);
}

static bool forked_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_forked msg;

    return gbx_msg_get_forked(body, &msg) && gbx_msg_put_forked(to, &msg);
}

static bool exited_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_exited msg;

    return gbx_msg_get_exited(body, &msg) && gbx_msg_put_exited(to, &msg);
}

static bool loaded_again(gbx_span body, gbx_buf *to)
{
    gbx_msg_loaded msg;

    return gbx_msg_get_loaded(body, &msg) && gbx_msg_put_loaded(to, &msg);
}

static const again_fn decoders[] = {
    log_again,    wait_again,   result_again, error_again,  call_again,
    config_again, fork_again,   load_again,   attack_again, hello_again,
    forked_again, exited_again, loaded_again,
};

static void check_header(gbx_span body)
{
    gbx_header header;

    if (body.len >= GBX_FRAME_HEADER_SIZE && gbx_header_decode(body.data, &header))
        assert(body.data[5] == 0 && body.data[6] == 0 && body.data[7] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in;
    again_fn again;
    gbx_span body;
    gbx_buf buf;

    in = (fuzz_input){data, size};
    again = decoders[fuzz_u8(&in) % GBX_COUNTOF(decoders)];
    body = fuzz_bytes(&in, SIZE_MAX);
    check_header(body);
    gbx_buf_init(&buf, size + GBX_FRAME_HEADER_SIZE + 64);
    if (again(body, &buf)) {
        assert(buf.len == body.len + GBX_FRAME_HEADER_SIZE);
        assert(memcmp(buf.data + GBX_FRAME_HEADER_SIZE, body.data, body.len) == 0);
    }
    gbx_buf_cleanup(&buf);
    return 0;
}

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

/* rest: the span that the sender of a message appends itself. */
#define AGAIN_BESIDE(name, rest)                             \
    static bool name##_again(gbx_span body, gbx_buf *to)     \
    {                                                        \
        gbx_msg_##name msg;                                  \
                                                             \
        return gbx_msg_get_within(body, OUTPUT_MAX, &msg) && \
               gbx_msg_put(to, 0, &msg) &&                   \
               gbx_buf_append(to, (rest).data, (rest).len);  \
    }
#define AGAIN(name) AGAIN_BESIDE(name, (gbx_span){0})

AGAIN(log)
AGAIN(wait)
AGAIN_BESIDE(result, msg.json)
AGAIN(error)
AGAIN_BESIDE(call, msg.input)
AGAIN(config)
AGAIN(fork)
AGAIN(load)
AGAIN(attack)
AGAIN(hello)
AGAIN(forked)
AGAIN(exited)
AGAIN(loaded)

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

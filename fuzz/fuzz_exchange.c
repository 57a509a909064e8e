/* SPDX-License-Identifier: MIT */
/*
 * fuzz_exchange - a worker that says anything, in any pieces; then the verdict and the
 * whole result, as a call would end.
 *
 * Input: output limit, log limit, piece size (a byte each), then steps: what kind (a
 * byte), and what the kind needs.
 */
#include "fuzz.h"

#include "base/json.h"
#include "base/utf8.h"
#include "engine/exchange.h"
#include "engine/verdict.h"

#include <stdlib.h>
#include <string.h>

#define CALL_ID UINT64_C(0x0102030405060708)

typedef struct worker {
    gbx_exchange x;
    gbx_limits limits;
    gbx_result *result;
    size_t piece;
    size_t heard; /* lines */
} worker;

static void on_log(void *user, const gbx_log *line)
{
    worker *w = user;

    assert(strlen(line->text) == line->text_len);
    assert(gbx_utf8_valid((const uint8_t *)line->text, line->text_len, NULL));
    w->heard++;
}

static void feed(worker *w, gbx_span bytes)
{
    gbx_exchange_state before = w->x.state;
    bool had_ended = gbx_exchange_has_ended(&w->x);

    for (size_t at = 0; at < bytes.len;) {
        size_t n = bytes.len - at < w->piece ? bytes.len - at : w->piece;

        gbx_exchange_feed(&w->x, bytes.data + at, n, (int64_t)at);
        at += n;
    }
    assert(!had_ended || w->x.state == before);
    assert(w->x.in.len <= w->x.in.ceiling);
}

/* A frame with a true header but for what the step says of it. */
static void say_frame(worker *w, fuzz_input *in, bool is_honest)
{
    uint8_t type = fuzz_u8(in);
    gbx_span body = fuzz_bytes(in, (size_t)fuzz_u8(in) * (is_honest ? 1 : 64));
    uint32_t len = (uint32_t)body.len + (is_honest ? 0u : fuzz_u8(in));
    gbx_buf buf;

    gbx_buf_init(&buf, body.len + GBX_FRAME_HEADER_SIZE);
    (void)gbx_msg_write(&buf, (gbx_msg_type)(is_honest ? type % 8 : type), CALL_ID,
                        NULL);
    (void)gbx_buf_append(&buf, body.data, body.len);
    for (size_t i = 0; i < 4; i++)
        buf.data[i] = (uint8_t)(len >> (8 * i));
    feed(w, (gbx_span){buf.data, buf.len});
    gbx_buf_cleanup(&buf);
}

/* A well-made message of a worker, with the input's bytes as its texts. */
static void say_message(worker *w, fuzz_input *in)
{
    uint8_t kind = fuzz_u8(in);
    gbx_span text = fuzz_bytes(in, fuzz_u8(in));
    gbx_msg_error error = {.failure = (uint8_t)(1 + kind / 8 % 7),
                           .is_out_of_memory = kind >> 7,
                           .line = kind,
                           .column = kind,
                           .name = {text.data, text.len / 4},
                           .message = text,
                           .stack = {text.data, text.len / 2}};
    gbx_msg_log line = {.level = kind / 8 % 5, .flags = kind / 40 % 4, .text = text};
    gbx_msg_result result = {.is_undefined = text.len == 0, .json = text};
    gbx_buf buf;

    gbx_buf_init(&buf, GBX_KIB(4));
    switch (kind % 8) {
    case 0: (void)gbx_msg_put(&buf, CALL_ID, &error); break;
    case 1:
        (void)gbx_msg_put(&buf, CALL_ID, &result);
        (void)gbx_buf_append(&buf, text.data, text.len);
        break;
    case 2: (void)gbx_msg_put(&buf, CALL_ID, &(gbx_msg_wait){.ms = kind}); break;
    case 3: (void)gbx_msg_write(&buf, GBX_MSG_REFUSED, CALL_ID, NULL); break;
    default: (void)gbx_msg_put(&buf, CALL_ID, &line); break;
    }
    feed(w, (gbx_span){buf.data, buf.len});
    gbx_buf_cleanup(&buf);
}

static void step(worker *w, fuzz_input *in)
{
    switch (fuzz_u8(in) % 8) {
    case 0: feed(w, fuzz_bytes(in, fuzz_u8(in))); break;
    case 1: say_frame(w, in, false); break;
    case 2: say_frame(w, in, true); break;
    case 3:
        if (w->x.state == GBX_EXCHANGE_WAITING) {
            bool queued = gbx_exchange_wake(&w->x);

            assert(queued && w->x.state == GBX_EXCHANGE_RUNNING);
        }
        break;
    case 4: gbx_exchange_sent(&w->x, gbx_exchange_output(&w->x).len); break;
    default: say_message(w, in); break;
    }
}

/* As the run would: judge, fill, and give the JSON to whoever asked. */
static void finish(worker *w, fuzz_input *in)
{
    gbx_result *r = w->result;
    gbx_evidence evidence = {.end = (gbx_end)(fuzz_u8(in) % (GBX_END_QUEUE_FULL + 1)),
                             .exchange = &w->x,
                             .limits = &w->limits,
                             .wait_status = fuzz_u8(in),
                             .growth_bytes = (uint64_t)fuzz_u8(in) << 20,
                             .cpu_ms = fuzz_u8(in),
                             .input_bytes = (uint64_t)fuzz_u8(in) << 20};
    gbx_verdict verdict;
    const char *json;
    size_t len;

    if (gbx_exchange_has_ended(&w->x))
        evidence.end =
            w->x.state == GBX_EXCHANGE_BROKEN ? GBX_END_BROKEN : GBX_END_SAID;
    else if (evidence.end == GBX_END_SAID)
        evidence.end = GBX_END_DIED;
    gbx_verdict_decide(&evidence, &verdict);
    assert((verdict.code == GBX_CODE_VALUE) == (w->x.state == GBX_EXCHANGE_VALUE));
    if (verdict.code != GBX_CODE_VALUE ||
        (r->has_value && !gbx_json_check(r->value, r->value_len, 100, NULL)))
        (void)gbx_result_fail(r,
                              verdict.code != GBX_CODE_VALUE ? verdict.code
                                                             : GBX_CODE_VIOLATION,
                              *verdict.message != 0 || r->thrown_message == NULL
                                  ? verdict.message
                                  : r->thrown_message,
                              verdict.hint);
    json = gbx_result_json(r, &len);
    assert(json != NULL && strlen(json) == len);
    assert(gbx_json_check(json, len, GBX_JSON_DEPTH_MAX, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    worker w = {
        .limits = {.timeout_ms = 5000, .cpu_ms = 100, .memory_bytes = 64 << 20}};
    gbx_msg_call call = {.code = {(const uint8_t *)"c", 1}};
    fuzz_input in;

    in = (fuzz_input){data, size};
    w.limits.output_bytes = 1u + fuzz_u8(&in);
    w.limits.log_bytes = 1u + fuzz_u8(&in) * 16u;
    w.piece = 1u + fuzz_u8(&in);
    w.result = gbx_result_new();
    assert(w.result != NULL);
    gbx_exchange_init(&w.x, CALL_ID, &w.limits, w.result);
    w.x.on_log = on_log;
    w.x.log_user = &w;
    (void)gbx_exchange_call(&w.x, &call);
    while (in.left > 8)
        step(&w, &in);
    gbx_exchange_end(&w.x);
    assert(!w.x.is_nomem);
    assert(w.heard == gbx_result_log_count(w.result));
    assert(w.result->stats.log_bytes <= w.limits.log_bytes + GBX_LOG_LINE_COST);
    assert(w.result->log_count <= w.limits.log_bytes / GBX_LOG_LINE_COST + 2);
    finish(&w, &in);
    gbx_exchange_cleanup(&w.x);
    gbx_result_free(w.result);
    return 0;
}

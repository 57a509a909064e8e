/* SPDX-License-Identifier: MIT */
/* messages - fields outside their ranges and lengths over their limits, one by one. */
#include "base/cleanup.h"
#include "golden.h"
#include "test.h"

/* One byte of a golden body set to a value; is it still a message? */
static const struct change {
    gbx_msg_type type;
    size_t offset;
    uint8_t value;
    bool accepted;
    const char *field;
} changes[] = {
    {GBX_MSG_LOG, 0, 4, true, "the highest level"},
    {GBX_MSG_LOG, 0, 5, false, "a level past the highest"},
    {GBX_MSG_LOG, 0, 255, false, "a level of all ones"},
    {GBX_MSG_LOG, 1, 1, true, "cut"},
    {GBX_MSG_LOG, 1, 2, true, "going on"},
    {GBX_MSG_LOG, 1, 3, false, "cut and going on"},
    {GBX_MSG_LOG, 1, 4, false, "an unknown flag"},
    {GBX_MSG_LOG, 1, 255, false, "an unknown flag"},
    {GBX_MSG_RESULT, 0, 1, false, "undefined with a value"},
    {GBX_MSG_RESULT, 0, 2, false, "undefined is a flag"},
    {GBX_MSG_ERROR, 0, 0, false, "failure 0"},
    {GBX_MSG_ERROR, 0, 1, true, "the lowest failure"},
    {GBX_MSG_ERROR, 0, 7, true, "the highest failure"},
    {GBX_MSG_ERROR, 0, 8, false, "a failure past the highest"},
    {GBX_MSG_ERROR, 0, 255, false, "a failure of all ones"},
    {GBX_MSG_ERROR, 1, 1, true, "out of memory"},
    {GBX_MSG_ERROR, 1, 2, false, "out of memory is a flag"},
    {GBX_MSG_LIMITED, 0, 0, false, "no limit"},
    {GBX_MSG_LIMITED, 0, 1, true, "the limit on calls"},
    {GBX_MSG_LIMITED, 0, 2, true, "the limit on bytes"},
    {GBX_MSG_LIMITED, 0, 3, false, "a limit past the last"},
    {GBX_MSG_CALL, 0, 3, true, "the highest form"},
    {GBX_MSG_CALL, 0, 4, false, "a form past the highest"},
    {GBX_MSG_CALL, 1, 15, true, "all flags"},
    {GBX_MSG_CALL, 1, 16, false, "an unknown flag"},
    {GBX_MSG_CALL, 1, 128, false, "an unknown flag"},
    {GBX_MSG_CONFIG, 4, 2, false, "globals past the last"},
    {GBX_MSG_CONFIG, 5, 1, true, "attack mode"},
    {GBX_MSG_CONFIG, 5, 2, false, "attack mode is a flag"},
    {GBX_MSG_CONFIG, 6, 2, false, "more warming than there is"},
    {GBX_MSG_HELLO, 12, 2, false, "knowing out of memory is a flag"},
    {GBX_MSG_HELLO, 13, 2, false, "writable code is a flag"},
    {GBX_MSG_HELLO, 24, 64, true, "the last preload"},
    {GBX_MSG_HELLO, 24, 65, false, "a preload past the last"},
    {GBX_MSG_HELLO, 41, 2, false, "standing is a flag"},
    {GBX_MSG_LOADED, 0, 2, false, "success is a flag"},
};

TEST(fields__outside_their_range_are_malformed)
{
    for (size_t i = 0; i < GBX_COUNTOF(changes); i++) {
        const golden *g = golden_of(changes[i].type);
        uint8_t copy[128];

        memcpy(copy, g->body, g->len);
        copy[changes[i].offset] = changes[i].value;
        if (g->decode((gbx_span){copy, g->len}) != changes[i].accepted)
            fail_msg("%s: %s = %u", g->name, changes[i].field, changes[i].value);
    }
}

TEST(wait__ends_at_ten_minutes)
{
    static const uint8_t most[] = {0xC0, 0x27, 0x09, 0};     /* 600,000 */
    static const uint8_t one_more[] = {0xC1, 0x27, 0x09, 0}; /* 600,001 */
    static const uint8_t ones[] = {0xFF, 0xFF, 0xFF, 0xFF};
    gbx_msg_wait msg;

    assert_true(gbx_msg_get(((gbx_span){most, sizeof most}), &msg));
    assert_int_equal(msg.ms, GBX_WAIT_MS_MAX);
    assert_false(gbx_msg_get(((gbx_span){one_more, sizeof one_more}), &msg));
    assert_false(gbx_msg_get(((gbx_span){ones, sizeof ones}), &msg));
}

TEST(result__undefined_has_no_value_and_a_value_is_not_empty)
{
    static const uint8_t undefined[21] = {1};
    static const uint8_t empty[21] = {0};
    gbx_msg_result msg;

    assert_true(gbx_msg_get_within(((gbx_span){undefined, sizeof undefined}), 1, &msg));
    assert_int_equal(msg.json.len, 0);
    assert_false(gbx_msg_get_within(((gbx_span){empty, sizeof empty}), 1, &msg));
}

TEST(result__is_bounded_by_the_limit_of_the_call)
{
    const golden *g = golden_of(GBX_MSG_RESULT);
    gbx_msg_result msg;

    assert_true(gbx_msg_get_within(((gbx_span){g->body, g->len}), 3, &msg));
    assert_false(gbx_msg_get_within(((gbx_span){g->body, g->len}), 2, &msg));
    assert_false(gbx_msg_get_within(((gbx_span){g->body, g->len}), 0, &msg));
}

/* Every length field of a golden body set to what is not there. */
static const struct length {
    gbx_msg_type type;
    size_t offset;
} lengths[] = {
    {GBX_MSG_LOG, 2},      {GBX_MSG_RESULT, 13},   {GBX_MSG_RESULT, 18},
    {GBX_MSG_ERROR, 22},   {GBX_MSG_ERROR, 27},    {GBX_MSG_ERROR, 32},
    {GBX_MSG_CALL, 70},    {GBX_MSG_CALL, 75},     {GBX_MSG_CALL, 81},
    {GBX_MSG_CALL, 86},    {GBX_MSG_CALL, 91},     {GBX_MSG_CALL, 97},
    {GBX_MSG_HOSTCALL, 4}, {GBX_MSG_HOSTCALL, 11}, {GBX_MSG_HOSTCALL, 18},
    {GBX_MSG_ANSWER, 5},   {GBX_MSG_ANSWER, 13},   {GBX_MSG_EXPOSE, 0},
    {GBX_MSG_LOAD, 12},    {GBX_MSG_HELLO, 14},    {GBX_MSG_HELLO, 20},
    {GBX_MSG_HELLO, 36},   {GBX_MSG_HELLO, 42},    {GBX_MSG_LOADED, 9},
};

TEST(lengths__that_lie_are_malformed)
{
    static const uint32_t lies[] = {0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};

    for (size_t i = 0; i < GBX_COUNTOF(lengths) * GBX_COUNTOF(lies); i++) {
        const struct length *length = &lengths[i / GBX_COUNTOF(lies)];
        const golden *g = golden_of(length->type);
        uint8_t *copy = malloc(g->len);

        assert_non_null(copy);
        memcpy(copy, g->body, g->len);
        for (size_t b = 0; b < 4; b++)
            copy[length->offset + b] =
                (uint8_t)(lies[i % GBX_COUNTOF(lies)] >> (8 * b));
        if (g->decode((gbx_span){copy, g->len}))
            fail_msg("%s at %zu", g->name, length->offset);
        free(copy);
    }
}

TEST(lengths__one_off_are_malformed)
{
    for (size_t i = 0; i < GBX_COUNTOF(lengths) * 2; i++) {
        const struct length *length = &lengths[i / 2];
        const golden *g = golden_of(length->type);
        uint8_t copy[128];

        memcpy(copy, g->body, g->len);
        copy[length->offset] = (uint8_t)(copy[length->offset] + (i % 2 == 0 ? 1 : -1));
        if (copy[length->offset] == 255) /* was none: less than none is the lie above */
            continue;
        if (g->decode((gbx_span){copy, g->len}))
            fail_msg("%s at %zu", g->name, length->offset);
    }
}

/* ---- limits: text as long as it may be, and a byte longer ------------------- */

typedef bool (*limit_fn)(gbx_buf *to, gbx_span text);

static bool put_log(gbx_buf *to, gbx_span text)
{
    return gbx_msg_put(to, 0, &(gbx_msg_log){.text = text});
}

static bool put_name(gbx_buf *to, gbx_span text)
{
    return gbx_msg_put(to, 0, (&(gbx_msg_error){.failure = 1, .name = text}));
}

static bool put_message(gbx_buf *to, gbx_span text)
{
    return gbx_msg_put(to, 0, (&(gbx_msg_error){.failure = 1, .message = text}));
}

static bool put_stack(gbx_buf *to, gbx_span text)
{
    return gbx_msg_put(to, 0, (&(gbx_msg_error){.failure = 1, .stack = text}));
}

static bool put_load_name(gbx_buf *to, gbx_span text)
{
    return gbx_msg_put(to, 0, &(gbx_msg_load){.name = text});
}

static bool put_engine(gbx_buf *to, gbx_span text)
{
    return gbx_msg_put(to, 0, &(gbx_msg_hello){.engine = text});
}

static bool put_failure(gbx_buf *to, gbx_span text)
{
    return gbx_msg_put(to, 0, &(gbx_msg_hello){.failure = text});
}

static bool put_reason(gbx_buf *to, gbx_span text)
{
    return gbx_msg_put(to, 0,
                       (&(gbx_msg_hello){.layer_count = 1,
                                         .layers = {{.reason = text}}}));
}

static bool put_loaded(gbx_buf *to, gbx_span text)
{
    return gbx_msg_put(to, 0, &(gbx_msg_loaded){.message = text});
}

static const struct limit {
    gbx_msg_type type;
    size_t max;
    limit_fn put;
} limits[] = {
    {GBX_MSG_LOG, GBX_LOG_LINE_MAX, put_log},
    {GBX_MSG_ERROR, GBX_NAME_MAX, put_name},
    {GBX_MSG_ERROR, GBX_MESSAGE_MAX, put_message},
    {GBX_MSG_ERROR, GBX_STACK_MAX, put_stack},
    {GBX_MSG_LOAD, GBX_NAME_MAX, put_load_name},
    {GBX_MSG_HELLO, GBX_NAME_MAX, put_engine},
    {GBX_MSG_HELLO, GBX_MESSAGE_MAX, put_failure},
    {GBX_MSG_HELLO, GBX_LAYER_REASON_MAX, put_reason},
    {GBX_MSG_LOADED, GBX_MESSAGE_MAX, put_loaded},
};

TEST(texts__fit_up_to_their_limit_and_not_a_byte_more)
{
    uint8_t *text = calloc(1, GBX_LOG_LINE_MAX + 1);
    assert_non_null(text);

    for (size_t i = 0; i < GBX_COUNTOF(limits) * 2; i++) {
        const struct limit *limit = &limits[i / 2];
        size_t len = limit->max + i % 2;
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

        gbx_buf_init(&buf, GBX_KIB(128));
        assert_true(limit->put(&buf, (gbx_span){text, len}));
        assert_int_equal(golden_of(limit->type)
                             ->decode((gbx_span){buf.data + GBX_FRAME_HEADER_SIZE,
                                                 buf.len - GBX_FRAME_HEADER_SIZE}),
                         i % 2 == 0);
    }
    free(text);
}

TEST(hello__has_at_most_so_many_layers)
{
    uint8_t body[128 + 6 * (GBX_LAYERS_MAX + 1)] = {1};
    size_t fixed = 4 + 4 + 4 + 2 + 4 + 4 + 4 + 4 + 4 + 4 * 4;
    gbx_msg_hello msg;

    body[fixed] = GBX_LAYERS_MAX;
    assert_true(
        gbx_msg_get(((gbx_span){body, fixed + 4 + (size_t)6 * GBX_LAYERS_MAX}), &msg));
    body[fixed] = GBX_LAYERS_MAX + 1;
    assert_false(
        gbx_msg_get(((gbx_span){body, fixed + 4 + (size_t)6 * (GBX_LAYERS_MAX + 1)}),
                    &msg));
    memset(body + fixed, 0xFF, 4);

    assert_false(gbx_msg_get(((gbx_span){body, sizeof body}), &msg));
}

/* ---- headers --------------------------------------------------------------- */

TEST(header__decodes_every_field)
{
    static const uint8_t data[] = {0x04, 0x03, 0x02, 0x01, 0xFF, 0,    0,    0,
                                   0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01};
    gbx_header header;

    assert_true(gbx_header_decode(data, &header));

    assert_int_equal(header.body_len, 0x01020304);
    assert_int_equal(header.type, 0xFF);
    assert_true(header.call_id == UINT64_C(0x0102030405060708));
}

TEST(header__rejects_every_reserved_bit)
{
    for (unsigned bit = 0; bit < 24; bit++) {
        uint8_t data[GBX_FRAME_HEADER_SIZE] = {0};
        gbx_header header;

        data[5 + bit / 8] = (uint8_t)(1u << (bit % 8));
        assert_false(gbx_header_decode(data, &header));
    }
}

TEST(heads__promise_bytes_that_the_sender_appends)
{
    gbx_msg_result result = {.json = {(const uint8_t *)"", UINT32_MAX - 21}};
    gbx_header header;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 64);

    assert_true(gbx_msg_put(&buf, 1, &result));
    assert_true(gbx_header_decode(buf.data, &header));
    assert_int_equal(header.body_len, UINT32_MAX);
    buf.len = 0;
    result.json.len++;

    assert_false(gbx_msg_put(&buf, 1, &result));
}

TEST(call__that_no_length_can_say_is_refused)
{
    gbx_msg_call call = {.input = {(const uint8_t *)"", UINT32_MAX}};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 256);

    assert_false(gbx_msg_put(&buf, 1, &call));

    assert_true(buf.failed);
}

TEST(empty__is_a_header_alone)
{
    static const uint8_t wake[GBX_FRAME_HEADER_SIZE] = {0, 0, 0, 0, 17, 0, 0, 0, 5};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, sizeof wake);

    assert_true(gbx_msg_write(&buf, GBX_MSG_WAKE, 5, NULL));
    assert_memory_equal(buf.data, wake, sizeof wake);

    assert_false(gbx_msg_write(&buf, GBX_MSG_WAKE, 5, NULL));
}

TEST_MAIN(NULL, NULL)

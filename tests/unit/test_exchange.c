/* SPDX-License-Identifier: MIT */
/* exchange - every message a worker can say, in every state it can say it in. */
#include "base/cleanup.h"
#include "peer.h"
#include "test.h"

/* How a test brings an exchange into a state, and what each message does there. What
 * is not named ends as `otherwise`. */
static const struct row {
    const char *state;
    uint8_t before[2]; /* golden messages said first; 0: none */
    gbx_exchange_state is;
    gbx_exchange_state log, wait, refused, limited, result, error;
    gbx_exchange_state otherwise;
} rows[] = {
#define R GBX_EXCHANGE_RUNNING
#define W GBX_EXCHANGE_WAITING
#define V GBX_EXCHANGE_VALUE
#define E GBX_EXCHANGE_ERROR
#define B GBX_EXCHANGE_BROKEN
    {"running", {0}, R, R, W, R, R, V, E, B},
    {"running, has logged", {GBX_MSG_LOG}, R, R, W, R, R, V, E, B},
    {"running, was refused", {GBX_MSG_REFUSED}, R, R, W, B, R, V, E, B},
    {"running, met a limit", {GBX_MSG_LIMITED}, R, R, W, R, B, V, E, B},
    {"waiting", {GBX_MSG_WAIT}, W, B, B, B, B, B, B, B},
    {"waiting, was refused", {GBX_MSG_REFUSED, GBX_MSG_WAIT}, W, B, B, B, B, B, B, B},
    {"has a value", {GBX_MSG_RESULT}, V, V, V, V, V, V, V, V},
    {"has an error", {GBX_MSG_ERROR}, E, E, E, E, E, E, E, E},
    {"broken", {GBX_MSG_READY}, B, B, B, B, B, B, B, B},
#undef R
#undef W
#undef V
#undef E
#undef B
};

static gbx_exchange_state expected(const struct row *row, unsigned type)
{
    return type == GBX_MSG_LOG       ? row->log
           : type == GBX_MSG_WAIT    ? row->wait
           : type == GBX_MSG_REFUSED ? row->refused
           : type == GBX_MSG_LIMITED ? row->limited
           : type == GBX_MSG_RESULT  ? row->result
           : type == GBX_MSG_ERROR   ? row->error
                                     : row->otherwise;
}

static void bring(peer *p, const struct row *row)
{
    peer_init(p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
    for (size_t i = 0; i < GBX_COUNTOF(row->before) && row->before[i] != 0; i++)
        peer_say_golden(p, row->before[i]);
    assert_int_equal(p->x.state, row->is);
}

TEST(every_type__in_every_state)
{
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        for (unsigned type = 0; type <= 255; type++) {
            GBX_CLEANUP(peer_cleanup) peer p;

            bring(&p, &rows[i]);
            peer_say_golden(&p, (uint8_t)type);
            if (p.x.state != expected(&rows[i], type))
                fail_msg("%s: message %u: state %d", rows[i].state, type, p.x.state);
            assert_false(p.x.is_nomem);
        }
    }
}

TEST(every_type__with_another_calls_id_breaks_a_running_one)
{
    static const uint64_t ids[] = {
        0, 1, GOLDEN_CALL_ID + 1, GOLDEN_CALL_ID << 32, ~GOLDEN_CALL_ID, UINT64_MAX};

    for (unsigned i = 0; i < 256 * GBX_COUNTOF(ids); i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
        GBX_CLEANUP(peer_cleanup) peer p;

        peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
        gbx_buf_init(&buf, 64);
        peer_frame(&buf, 0, (uint8_t)i, ids[i / 256], NULL, 0);
        peer_feed(&p, buf.data, buf.len, buf.len);
        assert_int_equal(p.x.state, GBX_EXCHANGE_BROKEN);
    }
}

PEER_TEST(value__is_the_workers_bytes)
{
    size_t len;

    peer_say_golden(p, GBX_MSG_RESULT);

    assert_string_equal(gbx_result_value(p->result, &len), "[1]");
    assert_int_equal(len, 3);
}

PEER_TEST(value__undefined_is_none)
{
    peer_say(p, GBX_MSG_RESULT, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 21);

    assert_int_equal(p->x.state, GBX_EXCHANGE_VALUE);
    assert_false(p->result->has_value);
    assert_string_equal(gbx_result_value(p->result, NULL), "");
}

PEER_TEST(error__is_kept_as_text_that_is_utf8)
{
    static const uint8_t body[] = {
        1,    1,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, /* where: anywhere */
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF,                                    /* why */
        2,    0,    0,    0,    'E',  0xFF,      /* name */
        3,    0,    0,    0,    'a',  0,    'b', /* message */
        2,    0,    0,    0,    0xED, 0xA0,      /* stack */
    };

    peer_say(p, GBX_MSG_ERROR, body, sizeof body);

    assert_int_equal(p->x.state, GBX_EXCHANGE_ERROR);
    assert_int_equal(p->x.failure, GBX_FAILURE_SYNTAX);
    assert_true(p->x.is_out_of_memory);
    assert_string_equal(p->result->thrown_name, "E\xEF\xBF\xBD");
    assert_string_equal(p->result->thrown_message, "a\xEF\xBF\xBD"
                                                   "b");
    assert_string_equal(gbx_result_stack(p->result), "\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_true(p->result->thrown_line == UINT32_MAX);
}

PEER_TEST(refused__is_noted_once)
{
    peer_say(p, GBX_MSG_REFUSED, NULL, 0);
    assert_true(p->x.was_refused);
    peer_say(p, GBX_MSG_REFUSED, NULL, 0);

    assert_int_equal(p->x.state, GBX_EXCHANGE_BROKEN);
    assert_string_equal(p->x.reason, "malformed message (message 4)");
}

/* ---- requests for functions of the host ----------------------------------------- */

static void count_request(void *user, const gbx_msg_hostcall *msg)
{
    ++*(size_t *)user;
}

static void ask(peer *p, uint32_t id)
{
    gbx_msg_hostcall msg = {.id = id,
                            .name = {(const uint8_t *)"f", 1},
                            .args = {(const uint8_t *)"[12345678]", 10}};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf said;

    gbx_buf_init(&said, 256);
    assert_true(gbx_msg_put(&said, GOLDEN_CALL_ID, &msg));
    peer_feed(p, said.data, said.len, said.len);
}

/* The worker's script keeps within the limits: these are for one that does not. */
TEST(request__third_past_a_limit_breaks_it)
{
    static const struct {
        uint32_t calls, at_once, bytes;
        uint32_t third; /* its number */
        gbx_exchange_state is;
    } limits[] = {
        {8, 8, 30, 3, GBX_EXCHANGE_RUNNING}, {2, 8, 30, 3, GBX_EXCHANGE_BROKEN},
        {8, 2, 30, 3, GBX_EXCHANGE_BROKEN},  {8, 8, 29, 3, GBX_EXCHANGE_BROKEN},
        {8, 8, 30, 2, GBX_EXCHANGE_BROKEN},
    };

    for (size_t i = 0; i < GBX_COUNTOF(limits); i++) {
        size_t heard = 0;
        GBX_CLEANUP(peer_cleanup) peer p;

        peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
        p.x.host_calls_left = limits[i].calls;
        p.x.host_open_max = limits[i].at_once;
        p.x.host_out_left = p.x.host_out_max = limits[i].bytes;
        p.x.on_request = count_request;
        p.x.request_user = &heard;
        ask(&p, 1);
        ask(&p, 2);
        assert_int_equal(p.x.state, GBX_EXCHANGE_RUNNING);
        ask(&p, limits[i].third);
        assert_int_equal(p.x.state, limits[i].is);
        assert_int_equal(heard, limits[i].is == GBX_EXCHANGE_RUNNING ? 3 : 2);
    }
}

/* ---- what the host says -------------------------------------------------------- */

/* Everything there is to send, taken in pieces. */
static void drain(gbx_exchange *x, gbx_buf *to, size_t piece)
{
    for (gbx_span out = gbx_exchange_output(x); out.len > 0;
         out = gbx_exchange_output(x)) {
        size_t n = out.len < piece ? out.len : piece;

        assert_true(gbx_buf_append(to, out.data, n));
        gbx_exchange_sent(x, n);
    }
}

TEST(call__goes_out_whole_however_it_is_taken)
{
    static const size_t inputs[] = {0, 4, GBX_KIB(16), GBX_KIB(16) + 1, GBX_KIB(80)};
    uint8_t *input = calloc(1, GBX_KIB(80));
    assert_non_null(input);

    for (size_t i = 0; i < GBX_COUNTOF(inputs) * 3; i++) {
        static const size_t pieces[] = {1, 4096, SIZE_MAX};
        gbx_msg_call call = {.code = {(const uint8_t *)"code", 4},
                             .input = {input, inputs[i / 3]}};
        gbx_msg_call got;
        gbx_header header;
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf sent;
        GBX_CLEANUP(peer_cleanup) peer p;

        peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
        gbx_buf_init(&sent, GBX_KIB(256));
        assert_true(gbx_exchange_call(&p.x, &call));
        drain(&p.x, &sent, pieces[i % 3]);
        assert_true(gbx_header_decode(sent.data, &header));
        assert_int_equal(header.type, GBX_MSG_CALL);
        assert_true(header.call_id == GOLDEN_CALL_ID);
        assert_int_equal(header.body_len, sent.len - GBX_FRAME_HEADER_SIZE);
        assert_true(gbx_msg_get(
            ((gbx_span){sent.data + GBX_FRAME_HEADER_SIZE, header.body_len}), &got));
        assert_int_equal(got.input.len, inputs[i / 3]);
    }
    free(input);
}

PEER_TEST(wake__ends_waiting_and_is_one_header)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf sent;
    gbx_buf_init(&sent, 64);
    p->x.head.ceiling = 64; /* as after a CALL */

    for (int i = 0; i < 3; i++) {
        peer_say_golden(p, GBX_MSG_WAIT);
        assert_int_equal(p->x.state, GBX_EXCHANGE_WAITING);
        assert_int_equal(p->x.wake_ms, 1000);
        assert_true(gbx_exchange_wake(&p->x));
        assert_int_equal(p->x.state, GBX_EXCHANGE_RUNNING);
        sent.len = 0;
        drain(&p->x, &sent, SIZE_MAX);
        assert_int_equal(sent.len, GBX_FRAME_HEADER_SIZE);
        assert_int_equal(sent.data[4], GBX_MSG_WAKE);
    }
}

PEER_TEST(silence__is_nothing_to_send)
{
    assert_int_equal(gbx_exchange_output(&p->x).len, 0);
    gbx_exchange_feed(&p->x, NULL, 0, 0);

    assert_int_equal(p->x.state, GBX_EXCHANGE_RUNNING);
}

TEST_MAIN(NULL, NULL)

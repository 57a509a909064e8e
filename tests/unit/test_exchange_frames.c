/* SPDX-License-Identifier: MIT */
/* exchange - frames in any pieces, of any length they claim, and never past a limit. */
#include "base/cleanup.h"
#include "peer.h"
#include "test.h"

/* LOG "hi", REFUSED, LOG "hi", RESULT [1]. */
static void say_something(gbx_buf *to)
{
    const golden *log = golden_of(GBX_MSG_LOG);
    const golden *result = golden_of(GBX_MSG_RESULT);

    assert_true(log->encode(to));
    peer_frame(to, 0, GBX_MSG_REFUSED, GOLDEN_CALL_ID, NULL, 0);
    assert_true(log->encode(to));
    assert_true(result->encode(to));
}

static void assert_heard(peer *p)
{
    assert_int_equal(p->x.state, GBX_EXCHANGE_VALUE);
    assert_true(p->x.was_refused);
    assert_int_equal(gbx_result_log_count(p->result), 2);
    assert_string_equal(gbx_result_log(p->result, 1).text, "hi");
    assert_string_equal(gbx_result_value(p->result, NULL), "[1]");
}

TEST(frames__in_pieces_of_any_size)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf said;
    gbx_buf_init(&said, 4096);
    say_something(&said);

    for (size_t piece = 1; piece <= said.len; piece++) {
        GBX_CLEANUP(peer_cleanup) peer p;

        peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
        peer_feed(&p, said.data, said.len, piece);
        assert_heard(&p);
    }
}

TEST(frames__split_once_at_every_offset)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf said;
    gbx_buf_init(&said, 4096);
    say_something(&said);

    for (size_t at = 1; at < said.len; at++) {
        GBX_CLEANUP(peer_cleanup) peer p;

        peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
        peer_feed(&p, said.data, at, at);
        peer_feed(&p, said.data + at, said.len - at, said.len);
        assert_heard(&p);
    }
}

TEST(frames__no_truncation_ends_the_call)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf said;
    gbx_buf_init(&said, 4096);
    say_something(&said);

    for (size_t len = 0; len < said.len; len++) {
        GBX_CLEANUP(peer_cleanup) peer p;

        peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
        peer_feed(&p, said.data, len, 7);
        assert_int_equal(p.x.state, GBX_EXCHANGE_RUNNING);
    }
}

TEST(end__nothing_after_it_is_looked_at)
{
    static const uint8_t last[] = {GBX_MSG_RESULT, GBX_MSG_ERROR};

    for (size_t i = 0; i < GBX_COUNTOF(last) * 2; i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf said;
        size_t end;
        GBX_CLEANUP(peer_cleanup) peer p;

        peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
        gbx_buf_init(&said, 4096);
        assert_true(golden_of((gbx_msg_type)last[i / 2])->encode(&said));
        end = said.len;
        say_something(&said);
        peer_frame(&said, UINT32_MAX, 255, 0, NULL, 0);
        /* In the same piece, and in one of its own. */
        peer_feed(&p, said.data, i % 2 == 0 ? said.len : end, said.len);
        peer_feed(&p, said.data + end, said.len - end, 5);
        assert_int_equal(p.x.state,
                         i / 2 == 0 ? GBX_EXCHANGE_VALUE : GBX_EXCHANGE_ERROR);
        assert_int_equal(gbx_result_log_count(p.result), 0);
        assert_int_equal(p.x.in.len, 0);
    }
}

/* ---- lengths -------------------------------------------------------------------- */

/* The longest body each message may have, with an output limit of PEER_OUTPUT_MAX. */
static const struct {
    uint8_t type;
    uint32_t max_len;
} bodies[] = {
    {GBX_MSG_LOG, 65536 + 6},
    {GBX_MSG_WAIT, 4},
    {GBX_MSG_REFUSED, 0},
    {GBX_MSG_LIMITED, 1},
    {GBX_MSG_RESULT, PEER_OUTPUT_MAX + 21 + 256},
    {GBX_MSG_ERROR, 24 * 1024 + 290},
};

static gbx_exchange_state claim(uint8_t type, uint32_t body_len, bool *ret_kept)
{
    gbx_exchange_state seen;
    gbx_buf buf;
    peer p;

    peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
    gbx_buf_init(&buf, 64);
    peer_frame(&buf, body_len, type, GOLDEN_CALL_ID, NULL, 0);
    peer_feed(&p, buf.data, buf.len, buf.len);
    seen = p.x.state;
    *ret_kept = p.x.in.len > 0;
    gbx_buf_cleanup(&buf);
    peer_cleanup(&p);
    return seen;
}

TEST(length__over_its_limit_is_refused_at_the_header)
{
    static const uint32_t lies[] = {1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFEF, 0xFFFFFFFF};
    bool kept;

    for (size_t i = 0; i < GBX_COUNTOF(bodies); i++) {
        if (bodies[i].max_len > 0)
            assert_int_equal(claim(bodies[i].type, bodies[i].max_len, &kept),
                             GBX_EXCHANGE_RUNNING);
        for (size_t l = 0; l < GBX_COUNTOF(lies); l++) {
            uint32_t len = lies[l] == 1 ? bodies[i].max_len + 1 : lies[l];

            assert_int_equal(claim(bodies[i].type, len, &kept), GBX_EXCHANGE_BROKEN);
            assert_false(kept);
        }
    }
}

TEST(length__that_its_fields_do_not_fill_is_malformed)
{
    for (size_t i = 0; i < GBX_COUNTOF(bodies); i++) {
        uint8_t *zeros = calloc(1, bodies[i].max_len + 1);
        GBX_CLEANUP(peer_cleanup) peer p;

        assert_non_null(zeros);
        peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
        if (bodies[i].max_len > 6) {
            peer_say(&p, bodies[i].type, zeros, bodies[i].max_len);
            assert_int_equal(p.x.state, GBX_EXCHANGE_BROKEN);
        }
        free(zeros);
    }
}

TEST(result__fits_up_to_the_limit_and_not_a_byte_more)
{
    for (uint32_t len = PEER_OUTPUT_MAX; len <= PEER_OUTPUT_MAX + 1; len++) {
        uint8_t body[PEER_OUTPUT_MAX + 22] = {[17] = (uint8_t)len};
        GBX_CLEANUP(peer_cleanup) peer p;

        memset(body + 21, '1', len);
        peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
        peer_say(&p, GBX_MSG_RESULT, body, 21 + len);
        assert_int_equal(p.x.state, len == PEER_OUTPUT_MAX ? GBX_EXCHANGE_VALUE
                                                           : GBX_EXCHANGE_BROKEN);
    }
}

TEST(header__reserved_bits_break_it_before_anything_else)
{
    for (unsigned bit = 0; bit < 24; bit++) {
        uint8_t frame[GBX_FRAME_HEADER_SIZE] = {[4] = GBX_MSG_REFUSED};
        GBX_CLEANUP(peer_cleanup) peer p;

        peer_init(&p, PEER_OUTPUT_MAX, PEER_LOG_MAX);
        for (size_t i = 0; i < 8; i++)
            frame[8 + i] = (uint8_t)(GOLDEN_CALL_ID >> (8 * i));
        frame[5 + bit / 8] = (uint8_t)(1u << (bit % 8));
        peer_feed(&p, frame, sizeof frame, sizeof frame);
        assert_int_equal(p.x.state, GBX_EXCHANGE_BROKEN);
        assert_string_equal(p.x.reason,
                            "reserved bytes of a header are set (message 4)");
    }
}

PEER_TEST(waiting__keeps_part_of_a_header_and_breaks_at_the_whole)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf said;
    gbx_buf_init(&said, 256);
    assert_true(golden_of(GBX_MSG_WAIT)->encode(&said));
    assert_true(golden_of(GBX_MSG_LOG)->encode(&said));

    peer_feed(p, said.data, GBX_FRAME_HEADER_SIZE + 4 + 15, said.len);
    assert_int_equal(p->x.state, GBX_EXCHANGE_WAITING);
    peer_feed(p, said.data + GBX_FRAME_HEADER_SIZE + 4 + 15, 1, 1);

    assert_int_equal(p->x.state, GBX_EXCHANGE_BROKEN);
    assert_string_equal(p->x.reason, "message while waiting (message 2)");
}

/* ---- memory ---------------------------------------------------------------------- */

/* All but the last byte of the longest frame, then as much as may be fed at once: the
 * worst that an incomplete frame can ask of the buffer, at small and large limits. */
TEST(memory__the_longest_frame_and_the_longest_piece_fit)
{
    static const uint64_t outputs[] = {1, 2, 20, GBX_KIB(64), GBX_KIB(200)};

    for (size_t i = 0; i < GBX_COUNTOF(outputs); i++) {
        size_t text = GBX_LOG_LINE_MAX;
        uint8_t *body = calloc(1, text + 6);
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf said;
        GBX_CLEANUP(peer_cleanup) peer p;

        assert_non_null(body);
        body[4] = 1; /* 65,536 bytes of text */
        peer_init(&p, outputs[i], 64u << 20);
        gbx_buf_init(&said, GBX_MIB(4));
        for (int n = 0; n < 20; n++)
            peer_frame(&said, (uint32_t)(text + 6), GBX_MSG_LOG, GOLDEN_CALL_ID, body,
                       text + 6);
        peer_feed(&p, said.data, text + 6 + 15, GBX_EXCHANGE_FEED_MAX);
        peer_feed(&p, said.data + text + 6 + 15, said.len - (text + 6 + 15),
                  GBX_EXCHANGE_FEED_MAX);
        assert_false(p.x.is_nomem);
        assert_int_equal(p.x.state, GBX_EXCHANGE_RUNNING);
        assert_int_equal(gbx_result_log_count(p.result), 20);
        free(body);
    }
}

PEER_TEST(memory__is_bounded_by_the_limits_whatever_is_said)
{
    uint8_t *flood = malloc(GBX_EXCHANGE_FEED_MAX);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf said;
    assert_non_null(flood);
    memset(flood, 'x', GBX_EXCHANGE_FEED_MAX);
    gbx_buf_init(&said, 64);
    peer_frame(&said, 65536 + 6, GBX_MSG_LOG, GOLDEN_CALL_ID, NULL, 0);

    peer_feed(p, said.data, said.len, said.len);
    for (int i = 0; i < 100; i++) {
        gbx_exchange_feed(&p->x, flood, GBX_EXCHANGE_FEED_MAX, 0);
        assert_true(p->x.in.capacity <= GBX_KIB(160));
    }

    assert_int_equal(p->x.state, GBX_EXCHANGE_BROKEN);
    free(flood);
}

TEST_MAIN(NULL, NULL)

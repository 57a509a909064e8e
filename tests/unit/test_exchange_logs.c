/* SPDX-License-Identifier: MIT */
/* exchange - console lines: in order, live, valid UTF-8, bounded and marked when cut. */
#include "base/cleanup.h"
#include "peer.h"
#include "test.h"

static void say_line(peer *p, uint8_t level, uint8_t flags, const void *text,
                     size_t len)
{
    gbx_msg_log msg = {.level = level, .flags = flags, .text = {text, len}};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

    gbx_buf_init(&buf, len + 64);
    assert_true(gbx_msg_put(&buf, GOLDEN_CALL_ID, &msg));
    peer_feed(p, buf.data, buf.len, GBX_EXCHANGE_FEED_MAX);
}

PEER_TEST(lines__are_kept_in_order_with_their_level)
{
    for (uint8_t level = 0; level <= 4; level++)
        say_line(p, level, 0, "abcde", level);

    assert_int_equal(gbx_result_log_count(p->result), 5);
    for (size_t i = 0; i < 5; i++) {
        gbx_log line = gbx_result_log(p->result, i);

        assert_int_equal(line.level, i);
        assert_int_equal(line.text_len, i);
        assert_int_equal(line.text[i], 0);
    }
    assert_int_equal(gbx_result_stats(p->result).log_bytes, 10);
    assert_false(gbx_result_logs_truncated(p->result));
}

PEER_TEST(lines__are_timed_by_the_hosts_clock)
{
    const golden *g = golden_of(GBX_MSG_LOG);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    p->x.start_ns = 1000000000;
    gbx_buf_init(&buf, 64);
    assert_true(g->encode(&buf));

    gbx_exchange_feed(&p->x, buf.data, buf.len, 1001500000);

    assert_true(gbx_result_log(p->result, 0).time_ms == 1.5);
}

PEER_TEST(lines__past_the_end_are_empty)
{
    assert_string_equal(gbx_result_log(p->result, 0).text, "");
    assert_string_equal(gbx_result_log(p->result, SIZE_MAX).text, "");
}

PEER_TEST(text__becomes_utf8_without_nul)
{
    say_line(p, 1, 0, "a\0\xFFz\xC3", 5);

    assert_string_equal(gbx_result_log(p->result, 0).text,
                        "a\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD");
    assert_int_equal(gbx_result_log(p->result, 0).text_len, 11);
    assert_int_equal(gbx_result_stats(p->result).log_bytes, 5);
}

PEER_TEST(text__of_nothing_but_nul_is_as_many_marks)
{
    say_line(p, 1, 0, "\0\0\0", 3);

    assert_int_equal(gbx_result_log(p->result, 0).text_len, 9);
}

/* ---- lines in pieces ------------------------------------------------------------------ */

PEER_TEST(pieces__are_one_line)
{
    say_line(p, 1, 0, "a", 1);
    say_line(p, 2, GBX_LOG_GOES_ON, "bb", 2);
    say_line(p, 2, GBX_LOG_GOES_ON, "", 0);
    say_line(p, 2, GBX_LOG_GOES_ON, "c\0", 2);
    say_line(p, 2, 0, "d", 1);
    say_line(p, 3, 0, "e", 1);

    assert_int_equal(gbx_result_log_count(p->result), 3);
    assert_string_equal(gbx_result_log(p->result, 0).text, "a");
    assert_string_equal(gbx_result_log(p->result, 1).text, "bbc\xEF\xBF\xBD"
                                                           "d");
    assert_int_equal(gbx_result_log(p->result, 1).text_len, 7);
    assert_int_equal(gbx_result_log(p->result, 1).level, 2);
    assert_string_equal(gbx_result_log(p->result, 2).text, "e");
    assert_int_equal(gbx_result_stats(p->result).log_bytes, 7);
}

PEER_TEST(pieces__of_a_line_that_is_cut_are_one_line)
{
    say_line(p, 1, GBX_LOG_GOES_ON, "the ", 4);
    say_line(p, 1, GBX_LOG_CUT, "beg", 3);

    assert_int_equal(gbx_result_log_count(p->result), 1);
    assert_string_equal(gbx_result_log(p->result, 0).text, "the beg");
    assert_true(gbx_result_logs_truncated(p->result));
}

PEER_TEST(pieces__past_the_cap_are_dropped_with_all_that_follows)
{
    char text[PEER_LOG_MAX];
    memset(text, 'x', sizeof text);

    say_line(p, 1, GBX_LOG_GOES_ON, "a", 1);
    say_line(p, 1, GBX_LOG_GOES_ON, text, sizeof text);
    say_line(p, 1, GBX_LOG_GOES_ON, "b", 1);
    say_line(p, 1, 0, "c", 1);
    say_line(p, 1, 0, "d", 1);

    assert_int_equal(gbx_result_log_count(p->result), 1);
    assert_string_equal(gbx_result_log(p->result, 0).text, "a");
    assert_true(gbx_result_logs_truncated(p->result));
}

/* ---- the cap ------------------------------------------------------------------------ */

PEER_TEST(cap__a_line_that_fills_it_stays_and_one_more_does_not)
{
    char text[PEER_LOG_MAX];
    memset(text, 'x', sizeof text);

    say_line(p, 1, 0, text, sizeof text);
    assert_int_equal(gbx_result_log_count(p->result), 1);
    assert_false(gbx_result_logs_truncated(p->result));
    say_line(p, 1, 0, "x", 1);

    assert_int_equal(gbx_result_log_count(p->result), 1);
    assert_true(gbx_result_logs_truncated(p->result));
    assert_int_equal(p->x.state, GBX_EXCHANGE_RUNNING);
}

PEER_TEST(cap__a_flood_of_empty_lines_is_bounded)
{
    for (int i = 0; i < 10000; i++)
        say_line(p, 1, 0, "", 0);

    assert_int_equal(gbx_result_log_count(p->result),
                     PEER_LOG_MAX / GBX_LOG_LINE_COST + 1);
    assert_true(gbx_result_logs_truncated(p->result));
    assert_true(p->result->log_capacity <= 64);
}

PEER_TEST(cap__what_is_kept_has_no_gaps)
{
    char text[PEER_LOG_MAX];
    memset(text, 'x', sizeof text);

    say_line(p, 1, 0, "a", 1);
    say_line(p, 1, 0, text, sizeof text);
    say_line(p, 1, 0, "b", 1);
    say_line(p, 1, GBX_LOG_CUT, "", 0);

    assert_int_equal(gbx_result_log_count(p->result), 1);
    assert_true(gbx_result_logs_truncated(p->result));
}

PEER_TEST(cap__that_leaves_nothing_of_a_line_makes_no_empty_one)
{
    say_line(p, 1, 0, "a", 1);
    say_line(p, 1, GBX_LOG_CUT, "", 0);

    assert_int_equal(gbx_result_log_count(p->result), 1);
    assert_true(gbx_result_logs_truncated(p->result));
}

PEER_TEST(cap__cuts_are_marked_though_there_is_room)
{
    say_line(p, 1, GBX_LOG_CUT, "the beg", 7);

    assert_int_equal(gbx_result_log_count(p->result), 1);
    assert_true(gbx_result_logs_truncated(p->result));
}

TEST(cap__a_call_goes_on_past_it)
{
    GBX_CLEANUP(peer_cleanup) peer p;
    peer_init(&p, PEER_OUTPUT_MAX, 1);
    for (int i = 0; i < 1000; i++)
        say_line(&p, 1, 0, "twelve bytes", 12);

    peer_say_golden(&p, GBX_MSG_RESULT);

    assert_int_equal(p.x.state, GBX_EXCHANGE_VALUE);
    assert_true(gbx_result_logs_truncated(p.result));
}

/* ---- live --------------------------------------------------------------------------- */

typedef struct heard {
    char text[256];
    int count;
} heard;

static void on_log(void *user, const gbx_log *line)
{
    heard *h = user;
    size_t len = strlen(h->text);

    (void)snprintf(h->text + len, sizeof h->text - len, "%d:%s ", (int)line->level,
                   line->text);
    h->count++;
}

static void hear(peer *p, heard *h)
{
    p->x.on_log = on_log;
    p->x.log_user = h;
}

PEER_TEST(live__lines_come_in_order_each_once)
{
    heard h = {.text = ""};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf said;
    hear(p, &h);
    gbx_buf_init(&said, 4096);

    for (uint8_t i = 0; i < 4; i++) {
        char text = (char)('a' + i);

        assert_true(gbx_msg_put(&said, GOLDEN_CALL_ID,
                                (&(gbx_msg_log){.level = i,
                                                .text = {(const uint8_t *)&text, 1}})));
    }
    peer_feed(p, said.data, said.len, 50); /* one and a half at a time */

    assert_string_equal(h.text, "0:a 1:b 2:c 3:d ");
}

PEER_TEST(live__a_line_in_pieces_comes_once_and_whole)
{
    heard h = {.text = ""};
    hear(p, &h);

    say_line(p, 1, 0, "a", 1);
    say_line(p, 1, GBX_LOG_GOES_ON, "b", 1);
    say_line(p, 1, GBX_LOG_GOES_ON, "c", 1);
    assert_string_equal(h.text, "1:a ");
    say_line(p, 1, 0, "d", 1);
    say_line(p, 1, 0, "e", 1);

    assert_string_equal(h.text, "1:a 1:bcd 1:e ");
}

PEER_TEST(live__a_line_that_was_begun_is_heard_at_the_end)
{
    heard h = {.text = ""};
    hear(p, &h);
    say_line(p, 1, 0, "a", 1);
    say_line(p, 1, GBX_LOG_GOES_ON, "b", 1);

    gbx_exchange_end(&p->x);
    gbx_exchange_end(&p->x);

    assert_string_equal(h.text, "1:a 1:b ");
    assert_true(gbx_result_logs_truncated(p->result));
}

TEST(live__lines_past_the_cap_are_not_heard)
{
    heard h = {.text = ""};
    GBX_CLEANUP(peer_cleanup) peer p;
    peer_init(&p, PEER_OUTPUT_MAX, 1);
    hear(&p, &h);

    for (int i = 0; i < 50; i++)
        say_line(&p, 1, 0, "x", 1);

    assert_int_equal(h.count, gbx_result_log_count(p.result));
    assert_int_equal(h.count, 1);
}

PEER_TEST(live__is_silent_after_the_end)
{
    heard h = {.text = ""};
    hear(p, &h);
    peer_say_golden(p, GBX_MSG_RESULT);

    say_line(p, 1, 0, "late", 4);

    assert_int_equal(h.count, 0);
    assert_int_equal(gbx_result_log_count(p->result), 0);
}

TEST_MAIN(NULL, NULL)

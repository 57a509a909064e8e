/* SPDX-License-Identifier: MIT */
/* Streams of events, without a connection: what they say, however they are cut. */
#include "base/cleanup.h"
#include "mcp/upstream/internal.h"
#include "table.h"
#include "test.h"

/* All events of a text fed in pieces of so many bytes: "name:data|name:data|". */
static void events_of(const char *text, size_t len, size_t piece, gbx_buf *ret)
{
    gbx_sse_event event;
    GBX_CLEANUP(gbx_sse_cleanup) gbx_sse sse;

    gbx_buf_init(ret, GBX_KIB(64));
    gbx_sse_init(&sse, 1000);
    for (size_t at = 0; at < len; at += piece) {
        assert_true(gbx_sse_feed(&sse, text + at, len - at < piece ? len - at : piece));
        while (gbx_sse_next(&sse, &event)) {
            (void)gbx_buf_printf(ret, "%s:", event.name);
            (void)gbx_buf_append(ret, event.data, event.len);
            (void)gbx_buf_puts(ret, "|");
        }
    }
    (void)gbx_buf_append(ret, "", 1);
}

TEST(events__are_the_same_in_pieces_of_any_size)
{
    const table_line *rows;
    size_t count = table_lines("unit/mcp/events.txt", "streams", true, &rows);

    for (size_t i = 0; i < count; i++) {
        const char *text = rows[i].cell[0];
        size_t len = strlen(text);

        for (size_t piece = 1; piece <= len; piece++) {
            GBX_CLEANUP(gbx_buf_cleanup) gbx_buf found;

            events_of(text, len, piece, &found);
            assert_string_equal((const char *)found.data, rows[i].cell[1]);
        }
    }
}

TEST(an_event__that_says_nothing_has_an_empty_text)
{
    static const char text[] = "event: endpoint\ndata:\n\n";
    gbx_sse_event event;
    GBX_CLEANUP(gbx_sse_cleanup) gbx_sse sse;

    gbx_sse_init(&sse, 1000);
    assert_true(gbx_sse_feed(&sse, text, sizeof text - 1));
    assert_true(gbx_sse_next(&sse, &event));
    assert_int_equal(event.len, 0);
    assert_non_null(event.data);
}

TEST(events__have_a_ceiling)
{
    char text[2048];
    GBX_CLEANUP(gbx_sse_cleanup) gbx_sse sse;
    gbx_sse_event event;
    bool fed = true;

    memset(text, 'x', sizeof text);
    gbx_sse_init(&sse, 1000);
    for (int i = 0; i < 20 && fed; i++) {
        fed = gbx_sse_feed(&sse, "data: ", 6) && gbx_sse_feed(&sse, text, 100) &&
              gbx_sse_feed(&sse, "\n", 1);
        assert_false(gbx_sse_next(&sse, &event));
    }

    assert_false(fed);
}

TEST(events__that_are_many_are_read_in_one_pass)
{
    static const char one[] = "data:x\n\n";
    enum { EVENTS = 2000000 };
    size_t len = sizeof one - 1;
    char *text = malloc(EVENTS * len);
    size_t count = 0;
    gbx_sse_event event;
    GBX_CLEANUP(gbx_sse_cleanup) gbx_sse sse;

    for (size_t i = 0; i < EVENTS; i++)
        memcpy(text + i * len, one, len);
    gbx_sse_init(&sse, EVENTS * len);
    assert_true(gbx_sse_feed(&sse, text, EVENTS * len));
    while (gbx_sse_next(&sse, &event))
        count++;

    assert_int_equal(count, EVENTS);
    assert_true(gbx_sse_feed(&sse, text, EVENTS * len));
    free(text);
}

/* What was read is no part of what has a ceiling. */
TEST(events__that_were_read_leave_room_for_others)
{
    gbx_sse_event event;
    GBX_CLEANUP(gbx_sse_cleanup) gbx_sse sse;

    gbx_sse_init(&sse, 100);
    for (int i = 0; i < 1000; i++) {
        assert_true(gbx_sse_feed(&sse, "data: 0123456789\n\ndata: 0123456789", 34));
        assert_true(gbx_sse_next(&sse, &event));
        assert_true(gbx_sse_feed(&sse, "\r\n\r\n", 4));
        assert_true(gbx_sse_next(&sse, &event));
        assert_false(gbx_sse_next(&sse, &event));
    }
}

TEST(events__id_and_retry_are_kept)
{
    static const char text[] = "id: 5\nretry: 100\ndata: x\n\nretry: 1x\ndata: y\n\n";
    GBX_CLEANUP(gbx_sse_cleanup) gbx_sse sse;
    gbx_sse_event event;

    gbx_sse_init(&sse, 1000);
    assert_true(gbx_sse_feed(&sse, text, strlen(text)));
    assert_true(gbx_sse_next(&sse, &event));
    assert_true(gbx_sse_next(&sse, &event));

    assert_string_equal(sse.id, "5");
    assert_int_equal(sse.retry_ms, 100);
}

TEST(events__an_id_counts_once_its_event_is_whole)
{
    GBX_CLEANUP(gbx_sse_cleanup) gbx_sse sse;
    gbx_sse_event event;

    gbx_sse_init(&sse, 1000);
    assert_true(gbx_sse_feed(&sse, "id: 5\n\nid: 6\ndata: x\n", 21));
    assert_false(gbx_sse_next(&sse, &event));
    assert_string_equal(sse.id, "5");
    assert_true(gbx_sse_feed(&sse, "\nid\n\n", 6));
    assert_true(gbx_sse_next(&sse, &event));
    assert_string_equal(sse.id, "6");
    assert_false(gbx_sse_next(&sse, &event));
    assert_string_equal(sse.id, "");
}

TEST_MAIN(NULL, NULL)

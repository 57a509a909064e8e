/* SPDX-License-Identifier: MIT */
/* buf - contents grow to the ceiling and not a byte past it; failure is for ever. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "test.h"

TEST(zeroed__is_empty_and_takes_nothing)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};

    assert_true(gbx_buf_append(&buf, "", 0));
    assert_false(gbx_buf_append(&buf, "x", 1));

    assert_true(buf.failed);
    assert_null(buf.data);
}

TEST(append__fills_exactly_to_the_ceiling)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 5);

    assert_true(gbx_buf_append(&buf, "abc", 3));
    assert_true(gbx_buf_append(&buf, "de", 2));

    assert_int_equal(buf.len, 5);
    assert_memory_equal(buf.data, "abcde", 5);
}

TEST(append__past_the_ceiling_keeps_the_contents)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 5);
    assert_true(gbx_buf_append(&buf, "abc", 3));

    assert_false(gbx_buf_append(&buf, "def", 3));

    assert_true(buf.failed);
    assert_int_equal(buf.len, 3);
    assert_memory_equal(buf.data, "abc", 3);
}

TEST(failure__is_for_ever_even_if_less_would_fit)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 4);
    assert_false(gbx_buf_append(&buf, "abcde", 5));

    assert_false(gbx_buf_append(&buf, "a", 1));
    assert_false(gbx_buf_append(&buf, "", 0));
    assert_null(gbx_buf_reserve(&buf, 1));

    assert_int_equal(buf.len, 0);
}

TEST(secret__is_wiped_where_it_is_consumed)
{
    gbx_buf buf;
    gbx_buf_init_secret(&buf, 64);
    assert_true(gbx_buf_append(&buf, "abcdefgh", 8));

    gbx_buf_consume(&buf, 5);
    assert_memory_equal(buf.data, "fgh\0\0\0\0\0", 8);
    gbx_buf_consume(&buf, 3);
    assert_memory_equal(buf.data, "\0\0\0\0\0\0\0\0", 8);
    gbx_buf_cleanup(&buf);
    assert_true(buf.is_secret);
}

TEST(cleanup__makes_it_usable_again_with_its_ceiling)
{
    gbx_buf buf;
    gbx_buf_init(&buf, 2);
    assert_false(gbx_buf_append(&buf, "abc", 3));

    gbx_buf_cleanup(&buf);

    assert_true(gbx_buf_append(&buf, "ab", 2));
    assert_false(gbx_buf_append(&buf, "c", 1));
    gbx_buf_cleanup(&buf);
}

TEST(capacity__never_passes_the_ceiling)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 1000);

    for (size_t i = 0; i < 1000; i++) {
        assert_true(gbx_buf_append(&buf, "x", 1));
        assert_in_range(buf.capacity, buf.len, 1000);
    }

    assert_false(gbx_buf_append(&buf, "x", 1));
}

TEST(ceiling__that_falls_below_the_contents_takes_no_more)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 1000);
    assert_non_null(gbx_buf_reserve(&buf, 1000));
    buf.len = 900;
    buf.ceiling = 100;

    assert_false(gbx_buf_append(&buf, "x", 1));

    assert_int_equal(buf.capacity, 1000);
}

TEST(reserve__counts_nothing_until_written)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    uint8_t *room;
    gbx_buf_init(&buf, 8);

    room = gbx_buf_reserve(&buf, 8);

    assert_non_null(room);
    assert_int_equal(buf.len, 0);
    assert_null(gbx_buf_reserve(&buf, 9));
}

TEST(reserve__refuses_a_sum_that_would_wrap)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, SIZE_MAX / 2);
    assert_true(gbx_buf_append(&buf, "abc", 3));

    assert_null(gbx_buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);

    assert_int_equal(buf.len, 3);
}

TEST(printf__appends_without_the_nul)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 7);

    assert_true(gbx_buf_printf(&buf, "%d-%s", 42, "abcd"));
    assert_false(gbx_buf_printf(&buf, "%c", '!'));

    assert_int_equal(buf.len, 7);
    assert_memory_equal(buf.data, "42-abcd", 7);
}

TEST(printf__takes_texts_of_any_length)
{
    char word[2001];
    gbx_buf buf;

    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = 0;
    for (size_t len = 500; len < sizeof word; len += len < 520 ? 1 : 499) {
        gbx_buf_init(&buf, len + 2);
        assert_true(gbx_buf_printf(&buf, "%.*s\n%c", (int)len, word, '!'));
        assert_int_equal(buf.len, len + 2);
        assert_memory_equal(buf.data, word, len);
        assert_memory_equal(buf.data + len, "\n!", 2);
        gbx_buf_cleanup(&buf);
    }
    gbx_buf_init(&buf, 1999);
    assert_false(gbx_buf_printf(&buf, "%s", word));
    assert_true(buf.failed);
    gbx_buf_cleanup(&buf);
}

TEST(consume__drops_from_the_front)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 16);
    gbx_buf_consume(&buf, 0);
    assert_true(gbx_buf_puts(&buf, "abcdef"));

    gbx_buf_consume(&buf, 4);
    assert_int_equal(buf.len, 2);
    assert_memory_equal(buf.data, "ef", 2);
    gbx_buf_consume(&buf, 2);

    assert_int_equal(buf.len, 0);
}

TEST(take_string__ends_in_nul_even_at_the_ceiling)
{
    gbx_buf buf;
    size_t len = 0;
    char *text;
    gbx_buf_init(&buf, 3);
    assert_true(gbx_buf_puts(&buf, "abc"));

    text = gbx_buf_take_string(&buf, &len);

    assert_string_equal(text, "abc");
    assert_int_equal(len, 3);
    assert_null(buf.data);
    assert_int_equal(buf.ceiling, 3);
    free(text);
}

TEST(take_string__of_nothing_is_an_empty_string)
{
    gbx_buf buf = {0};
    char *text;

    text = gbx_buf_take_string(&buf, NULL);

    assert_string_equal(text, "");
    free(text);
}

TEST(take_string__of_a_failed_buffer_is_null_and_empties_it)
{
    gbx_buf buf;
    gbx_buf_init(&buf, 3);
    assert_true(gbx_buf_puts(&buf, "abc"));
    assert_false(gbx_buf_puts(&buf, "d"));

    assert_null(gbx_buf_take_string(&buf, NULL));

    assert_null(buf.data);
    assert_int_equal(buf.len, 0);
    assert_false(buf.failed);
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/* reader - no field is read past the end, and the first failure is the last word. */
#include "test.h"
#include "wire/reader.h"

static const uint8_t numbers[] = {
    0xAB,                                           /* u8 */
    0x78, 0x56, 0x34, 0x12,                         /* u32 */
    0xF1, 0xDE, 0xBC, 0x9A, 0x78, 0x56, 0x34, 0x12, /* u64 */
};

TEST(integers__are_little_endian)
{
    gbx_reader r;
    uint8_t a;
    uint32_t b;
    uint64_t c;
    gbx_reader_init(&r, numbers, sizeof numbers);

    gbx_read_u8(&r, &a);
    gbx_read_u32(&r, &b);
    gbx_read_u64(&r, &c);

    assert_true(gbx_reader_done(&r));
    assert_int_equal(a, 0xAB);
    assert_int_equal(b, 0x12345678);
    assert_true(c == UINT64_C(0x123456789ABCDEF1));
}

TEST(integers__all_ones_are_the_largest)
{
    static const uint8_t ones[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    gbx_reader r;
    uint64_t value;
    gbx_reader_init(&r, ones, sizeof ones);

    gbx_read_u64(&r, &value);

    assert_true(gbx_reader_done(&r));
    assert_true(value == UINT64_MAX);
}

TEST(integers__every_truncation_reads_as_zero)
{
    for (size_t len = 0; len < sizeof numbers; len++) {
        gbx_reader r;
        uint8_t a = 9;
        uint32_t b = 9;
        uint64_t c = 9;

        gbx_reader_init(&r, numbers, len);
        gbx_read_u8(&r, &a);
        gbx_read_u32(&r, &b);
        gbx_read_u64(&r, &c);
        assert_false(gbx_reader_done(&r));
        assert_true(c == 0);
    }
}

TEST(failure__is_sticky)
{
    gbx_reader r;
    uint32_t wide;
    uint8_t narrow = 9;
    gbx_reader_init(&r, numbers, 3);

    gbx_read_u32(&r, &wide);  /* does not fit */
    gbx_read_u8(&r, &narrow); /* would */

    assert_int_equal(narrow, 0);
    assert_true(r.failed);
    assert_false(gbx_reader_done(&r));
}

TEST(done__wants_every_byte_taken)
{
    gbx_reader r;
    uint8_t a;
    gbx_reader_init(&r, numbers, 2);

    assert_false(gbx_reader_done(&r));
    gbx_read_u8(&r, &a);
    assert_false(gbx_reader_done(&r));
    gbx_read_u8(&r, &a);

    assert_true(gbx_reader_done(&r));
}

TEST(nothing__is_done_at_once_and_gives_nothing)
{
    gbx_reader r;
    uint8_t a = 9;
    gbx_reader_init(&r, NULL, 0);

    assert_true(gbx_reader_done(&r));
    gbx_read_u8(&r, &a);

    assert_int_equal(a, 0);
    assert_false(gbx_reader_done(&r));
}

TEST(span__points_into_the_input)
{
    static const uint8_t data[] = {3, 0, 0, 0, 'a', 'b', 'c', 0, 0, 0, 0};
    gbx_reader r;
    gbx_span full;
    gbx_span empty;
    gbx_reader_init(&r, data, sizeof data);

    gbx_read_span(&r, 3, &full);
    gbx_read_span(&r, 0, &empty);

    assert_true(gbx_reader_done(&r));
    assert_ptr_equal(full.data, data + 4);
    assert_int_equal(full.len, 3);
    assert_int_equal(empty.len, 0);
}

TEST(span__over_its_maximum_fails_even_if_it_is_there)
{
    static const uint8_t data[] = {3, 0, 0, 0, 'a', 'b', 'c'};
    gbx_reader r;
    gbx_span span;
    gbx_reader_init(&r, data, sizeof data);

    gbx_read_span(&r, 2, &span);

    assert_true(r.failed);
    assert_null(span.data);
    assert_int_equal(span.len, 0);
}

TEST(span__lengths_past_the_end_fail)
{
    static const uint32_t lies[] = {1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};

    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        uint8_t data[4];
        gbx_reader r;
        gbx_span span;

        for (size_t b = 0; b < 4; b++)
            data[b] = (uint8_t)(lies[i] >> (8 * b));
        gbx_reader_init(&r, data, sizeof data);
        gbx_read_span(&r, SIZE_MAX, &span);
        assert_true(r.failed);
        assert_null(span.data);
    }
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/* reader - no field is read past the end, and the first failure is the last word. */
#include "wire/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const uint8_t numbers[] = {
    0xAB,                                           /* u8 */
    0x78, 0x56, 0x34, 0x12,                         /* u32 */
    0xF1, 0xDE, 0xBC, 0x9A, 0x78, 0x56, 0x34, 0x12, /* u64 */
};

static void test_integers__are_little_endian(void **state)
{
    gbx_reader r;
    uint8_t a;
    uint32_t b;
    uint64_t c;
    (void)state;
    gbx_reader_init(&r, numbers, sizeof numbers);

    gbx_read_u8(&r, &a);
    gbx_read_u32(&r, &b);
    gbx_read_u64(&r, &c);

    assert_true(gbx_reader_done(&r));
    assert_int_equal(a, 0xAB);
    assert_int_equal(b, 0x12345678);
    assert_true(c == UINT64_C(0x123456789ABCDEF1));
}

static void test_integers__all_ones_are_the_largest(void **state)
{
    static const uint8_t ones[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    gbx_reader r;
    uint64_t value;
    (void)state;
    gbx_reader_init(&r, ones, sizeof ones);

    gbx_read_u64(&r, &value);

    assert_true(gbx_reader_done(&r));
    assert_true(value == UINT64_MAX);
}

static void test_integers__every_truncation_reads_as_zero(void **state)
{
    (void)state;

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

static void test_failure__is_sticky(void **state)
{
    gbx_reader r;
    uint32_t wide;
    uint8_t narrow = 9;
    (void)state;
    gbx_reader_init(&r, numbers, 3);

    gbx_read_u32(&r, &wide);  /* does not fit */
    gbx_read_u8(&r, &narrow); /* would */

    assert_int_equal(narrow, 0);
    assert_true(r.failed);
    assert_false(gbx_reader_done(&r));
}

static void test_done__wants_every_byte_taken(void **state)
{
    gbx_reader r;
    uint8_t a;
    (void)state;
    gbx_reader_init(&r, numbers, 2);

    assert_false(gbx_reader_done(&r));
    gbx_read_u8(&r, &a);
    assert_false(gbx_reader_done(&r));
    gbx_read_u8(&r, &a);

    assert_true(gbx_reader_done(&r));
}

static void test_nothing__is_done_at_once_and_gives_nothing(void **state)
{
    gbx_reader r;
    uint8_t a = 9;
    (void)state;
    gbx_reader_init(&r, NULL, 0);

    assert_true(gbx_reader_done(&r));
    gbx_read_u8(&r, &a);

    assert_int_equal(a, 0);
    assert_false(gbx_reader_done(&r));
}

static void test_span__points_into_the_input(void **state)
{
    static const uint8_t data[] = {3, 0, 0, 0, 'a', 'b', 'c', 0, 0, 0, 0};
    gbx_reader r;
    gbx_span full;
    gbx_span empty;
    (void)state;
    gbx_reader_init(&r, data, sizeof data);

    gbx_read_span(&r, 3, &full);
    gbx_read_span(&r, 0, &empty);

    assert_true(gbx_reader_done(&r));
    assert_ptr_equal(full.data, data + 4);
    assert_int_equal(full.len, 3);
    assert_int_equal(empty.len, 0);
}

static void test_span__over_its_maximum_fails_even_if_it_is_there(void **state)
{
    static const uint8_t data[] = {3, 0, 0, 0, 'a', 'b', 'c'};
    gbx_reader r;
    gbx_span span;
    (void)state;
    gbx_reader_init(&r, data, sizeof data);

    gbx_read_span(&r, 2, &span);

    assert_true(r.failed);
    assert_null(span.data);
    assert_int_equal(span.len, 0);
}

static void test_span__lengths_past_the_end_fail(void **state)
{
    static const uint32_t lies[] = {1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    (void)state;

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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers__are_little_endian),
        cmocka_unit_test(test_integers__all_ones_are_the_largest),
        cmocka_unit_test(test_integers__every_truncation_reads_as_zero),
        cmocka_unit_test(test_failure__is_sticky),
        cmocka_unit_test(test_done__wants_every_byte_taken),
        cmocka_unit_test(test_nothing__is_done_at_once_and_gives_nothing),
        cmocka_unit_test(test_span__points_into_the_input),
        cmocka_unit_test(test_span__over_its_maximum_fails_even_if_it_is_there),
        cmocka_unit_test(test_span__lengths_past_the_end_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* What bounds the security log and what adds up in it: bucket, suspicion. Time is an
 * argument. */
#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "test.h"

#define MS GBX_NS_PER_MS
#define S  (1000 * GBX_NS_PER_MS)

/* ---- bucket ------------------------------------------------------------------- */

TEST(bucket__gives_so_many_at_once_and_a_second)
{
    gbx_bucket b;

    gbx_bucket_init(&b, 5, 10, 1000 * S);
    for (int i = 0; i < 5; i++)
        assert_true(gbx_bucket_take(&b, 1000 * S));
    assert_false(gbx_bucket_take(&b, 1000 * S));
    assert_false(gbx_bucket_take(&b, 1000 * S + 99 * MS));
    assert_true(gbx_bucket_take(&b, 1000 * S + 101 * MS));
    assert_false(gbx_bucket_take(&b, 1000 * S + 101 * MS));
    /* Never more than it holds. */
    for (int i = 0; i < 5; i++)
        assert_true(gbx_bucket_take(&b, 9000 * S));
    assert_false(gbx_bucket_take(&b, 9000 * S));
    assert_false(
        gbx_bucket_take(&b, 8000 * S)); /* another thread read the clock before */
}

/* ---- suspicion ---------------------------------------------------------------- */

typedef struct watch {
    gbx_suspicion s;
    gbx_suspect_counts calls[300];
    gbx_cluster cluster;
} watch;

static void begin(watch *w, uint32_t threshold, uint32_t window_ms)
{
    memset(w, 0, sizeof *w);
    gbx_suspicion_init(&w->s, threshold, window_ms);
}

static bool refuse(watch *w, gbx_suspect kind, uint64_t call, int64_t at_ns)
{
    return gbx_suspicion_add(&w->s, kind, call, &w->calls[call], at_ns, &w->cluster);
}

TEST(suspicion__begins_at_the_threshold_and_not_one_below)
{
    static const uint32_t thresholds[] = {1, 2, GBX_SUSPICION_THRESHOLD,
                                          GBX_SUSPICION_THRESHOLD_MAX};
    watch w;

    for (size_t t = 0; t < GBX_COUNTOF(thresholds); t++) {
        begin(&w, thresholds[t], 60000);
        for (uint32_t i = 0; i + 1 < thresholds[t]; i++)
            assert_false(refuse(&w, GBX_SUSPECT_SITE, i, 100 * S + i));
        assert_true(refuse(&w, GBX_SUSPECT_SITE, 200, 101 * S));
        assert_int_equal(w.cluster.total, thresholds[t]);
        assert_int_equal(w.cluster.counts.of[GBX_SUSPECT_SITE], thresholds[t]);
    }
}

TEST(suspicion__looks_back_one_window)
{
    watch w;

    begin(&w, 3, 60000);
    assert_false(refuse(&w, GBX_SUSPECT_PATH, 1, 100 * S));
    assert_false(refuse(&w, GBX_SUSPECT_PATH, 2, 130 * S));
    /* The first is 60 s old to the nanosecond: no longer in the window. */
    assert_false(refuse(&w, GBX_SUSPECT_PATH, 3, 160 * S));
    assert_true(refuse(&w, GBX_SUSPECT_PATH, 4, 160 * S + 1));

    begin(&w, 3, 60000);
    assert_false(refuse(&w, GBX_SUSPECT_PATH, 1, 100 * S));
    assert_false(refuse(&w, GBX_SUSPECT_PATH, 2, 130 * S));
    assert_true(refuse(&w, GBX_SUSPECT_PATH, 3, 160 * S - 1));
}

TEST(suspicion__of_one_call_has_all_its_time)
{
    watch w;

    begin(&w, 3, 1000);
    assert_false(refuse(&w, GBX_SUSPECT_PATH, 7, 100 * S));
    assert_false(refuse(&w, GBX_SUSPECT_SITE, 7, 200 * S));
    assert_false(refuse(&w, GBX_SUSPECT_SITE, 8, 250 * S)); /* another call */
    assert_true(refuse(&w, GBX_SUSPECT_SITE, 7, 300 * S));
    assert_int_equal(w.cluster.total, 3);
    assert_int_equal(w.cluster.call_count, 1);
    assert_int_equal(w.cluster.calls[0], 7);
    assert_int_equal(w.cluster.counts.of[GBX_SUSPECT_PATH], 1);
    assert_int_equal(w.cluster.counts.of[GBX_SUSPECT_SITE], 2);
}

TEST(suspicion__is_told_once_a_window)
{
    watch w;
    size_t told = 0;

    begin(&w, 5, 60000);
    for (int i = 0; i < 300; i++) /* one a second, for five minutes */
        told += refuse(&w, GBX_SUSPECT_FUNCTION, (uint64_t)i, (1000 + i) * S);
    assert_int_equal(told, 5);
}

TEST(suspicion__at_once_for_a_broken_protocol_or_seal)
{
    static const gbx_suspect kinds[] = {GBX_SUSPECT_PROTOCOL, GBX_SUSPECT_SEAL};
    watch w;

    for (size_t i = 0; i < GBX_COUNTOF(kinds); i++) {
        begin(&w, 100, 60000);
        assert_false(refuse(&w, GBX_SUSPECT_PATTERN, 1, 100 * S));
        assert_true(refuse(&w, kinds[i], 2, 101 * S));
        assert_int_equal(w.cluster.total, 2);
        assert_int_equal(w.cluster.call_count, 2);
        assert_false(refuse(&w, kinds[i], 3, 102 * S)); /* told a second ago */
        assert_true(refuse(&w, kinds[i], 4, 161 * S));
    }
}

TEST(suspicion__names_each_call_once_and_not_without_bound)
{
    watch w;

    begin(&w, 100, 60000);
    for (uint64_t i = 0; i < 99; i++)
        assert_false(refuse(&w, GBX_SUSPECT_SITE, i / 2, 100 * S));
    assert_true(refuse(&w, GBX_SUSPECT_SITE, 60, 100 * S));
    assert_int_equal(w.cluster.call_count, GBX_SUSPICION_CALLS);
    for (size_t i = 0; i < GBX_SUSPICION_CALLS; i++)
        assert_int_equal(w.cluster.calls[i], i);
}

/* More than are kept: the oldest give way, and nothing is counted twice. */
TEST(suspicion__keeps_the_newest)
{
    watch w;

    begin(&w, 100, 60000);
    for (uint64_t i = 0; i < 100; i++)
        (void)refuse(&w, GBX_SUSPECT_SITE, i, 100 * S);
    for (uint64_t i = 0; i < 250; i++) /* told already: only kept */
        assert_false(refuse(&w, GBX_SUSPECT_PATH, i, 150 * S + (int64_t)i));
    assert_true(refuse(&w, GBX_SUSPECT_PATH, 299, 160 * S));
    assert_int_equal(w.cluster.total, GBX_SUSPICION_KEPT);
    assert_int_equal(w.cluster.counts.of[GBX_SUSPECT_SITE], 0);
}

TEST_MAIN(NULL, NULL)

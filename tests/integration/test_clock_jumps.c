/* SPDX-License-Identifier: MIT */
/*
 * The host's wall clock jumps by years, to and fro, at every look at it: time limits,
 * timers and aborts are measured on a clock that does not. The engine's looks at the
 * clock go through here; a system's clock is not a test's to set.
 */
#include "calls.h"
#include "test.h"
#include "until.h"

#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

#define TEN_YEARS_S 315576000

static atomic_uint looks; /* at the wall clock */

static time_t jump(void)
{
    return atomic_fetch_add(&looks, 1) % 2 == 0 ? TEN_YEARS_S : -TEN_YEARS_S;
}

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
    int e = __real_clock_gettime(clock, ret);

    if (e == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        ret->tv_sec += jump();
    return e;
}

int __real_gettimeofday(struct timeval *ret, void *zone);
int __wrap_gettimeofday(struct timeval *ret, void *zone);
int __wrap_gettimeofday(struct timeval *ret, void *zone)
{
    int e = __real_gettimeofday(ret, zone);

    ret->tv_sec += jump();
    return e;
}

time_t __real_time(time_t *ret);
time_t __wrap_time(time_t *ret);
time_t __wrap_time(time_t *ret)
{
    time_t now = __real_time(NULL) + jump();

    if (ret != NULL)
        *ret = now;
    return now;
}

static atomic_uint events;

static void on_event(void *user, const gbx_event *event)
{
    atomic_fetch_add(&events, 1);
}

static gbx_engine *engine;

static int start(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;

    options.on_event = on_event; /* whose times are the wall clock's */
    engine = engine_start(&options);
    return 0;
}

static int finish(void **state)
{
    gbx_engine_free(engine);
    return 0;
}

/* ---- tests ------------------------------------------------------------------ */

TEST(clock__that_jumps_makes_no_timeout_early_or_late)
{
    gbx_limits limits = timeout_of(300);
    gbx_call call = call_of("() => { for (;;); }");

    call.limits = &limits;

    for (int i = 0; i < 4; i++) {
        double begin = now_ms();

        check_code(engine, &call, GBX_CODE_TIMEOUT);
        assert_true(now_ms() - begin >= 299);
        assert_true(now_ms() - begin < 30000);
        check_value(engine, "(d) => d", "1", "1");
    }
    assert_true(atomic_load(&looks) > 0); /* each kill is an event with its time */
}

TEST(clock__that_jumps_moves_no_timer)
{
    double begin = now_ms();

    check_value(engine, "async () => { await sleep(200); return 'awake' }", NULL,
                "\"awake\"");

    assert_true(now_ms() - begin >= 199 && now_ms() - begin < 30000);
}

TEST(clock__that_jumps_ends_no_submitted_call)
{
    gbx_call call = call_of("async () => { await sleep(100); return 1 }");
    inbox box;

    inbox_init(&box, 100);
    for (int i = 0; i < 8; i++)
        (void)call_submit(engine, &call, &box);

    assert_true(inbox_wait(&box, 8, 60000));

    assert_int_equal(box.by_code[GBX_CODE_VALUE], 8);
    inbox_cleanup(&box);
}

TEST_MAIN_EACH(start, finish)

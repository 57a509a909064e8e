/* SPDX-License-Identifier: MIT */
/*
 * Worker programs that hang: each wait of the engine for one has an end of its own, far
 * above what a loaded machine needs. All are waited for at once.
 */
#include "base/timeouts.h"
#include "calls.h"
#include "test.h"
#include "until.h"

#include <string.h>

typedef struct slow {
    double start_failed_ms;
    gbx_status status;
    gbx_error error;
    bool hung_is_replaced;
    double replaced_ms;
    bool unready_is_replaced;
} slow;

static gbx_options slow_options(const char *plan)
{
    gbx_options options = hostile_options(plan);

    options.limits.timeout_ms = 1000;
    return options;
}

static void never_says_hello(slow *s, const char *plan)
{
    gbx_options options = hostile_options(plan);
    gbx_engine *engine = NULL;
    double start = now_ms();

    s->status = gbx_engine_new(&options, &engine, &s->error);
    s->start_failed_ms = now_ms() - start;
    if (s->status == GBX_OK)
        gbx_engine_free(engine);
}

static bool heals(const char *plan, double *ret_ms)
{
    gbx_options options = slow_options(plan);
    gbx_engine *engine = NULL;
    double start;
    bool healed;

    if (gbx_engine_new(&options, &engine, NULL) != GBX_OK)
        return false;
    for (int i = 0; i < 6; i++)
        (void)is_hostile_alive(engine);
    start = now_ms();
    healed = until(is_hostile_alive, engine, 60000);
    *ret_ms = now_ms() - start;
    gbx_engine_free(engine);
    return healed;
}

static const char *slow_plans[] = {"at-config=hang", "at-begin=stop",
                                   "at-fork=hang,only=4", "ready-never,first=6"};

static void be_slow(void *user, size_t number)
{
    slow *s = (slow *)user + number;

    if (number < 2)
        never_says_hello(s, slow_plans[number]);
    else if (number == 2)
        s->hung_is_replaced = heals(slow_plans[2], &s->replaced_ms);
    else
        s->unready_is_replaced = heals(slow_plans[3], &s->replaced_ms);
}

TEST(hangs__end_within_their_own_deadlines)
{
    footprint before = footprint_take();
    double hello_ms = gbx_timeout_ms(GBX_TIMEOUT_HELLO);
    slow all[4] = {{0}};

    for (size_t i = 0; i < 4; i++) /* files are made on this thread alone */
        (void)hostile_worker(slow_plans[i]);
    threads_run(4, be_slow, all);

    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(all[i].status, GBX_E_OS);
        if (strstr(all[i].error.message, "was not ready after 3 s") == NULL)
            fail_msg("%s", all[i].error.message);
        assert_true(all[i].start_failed_ms >= hello_ms);
    }
    assert_true(all[2].hung_is_replaced);
    assert_true(all[2].replaced_ms < 8000); /* calls wait for it */
    assert_true(all[3].unready_is_replaced);
    footprint_check(&before);
}

TEST(call__hears_that_no_worker_was_ready_in_time)
{
    gbx_options options = hostile_options("ready-never");
    gbx_call call = script_of("result 1");
    gbx_engine *engine;
    gbx_result *result;

    options.limits.timeout_ms = 3 * gbx_timeout_ms(GBX_TIMEOUT_READY);
    engine = engine_start(&options);
    result = call_run(engine, &call);
    assert_int_equal(gbx_result_code(result), GBX_CODE_UNAVAILABLE);
    if (strstr(gbx_result_error(result), "a worker was not ready in time") == NULL)
        fail_msg("%s", gbx_result_error(result));
    gbx_result_free(result);
    gbx_engine_free(engine);
}

TEST_MAIN(NULL, NULL)

/* SPDX-License-Identifier: MIT */
/* Console lines as they are written: in order, on the thread that drives the call. */
#include "calls.h"
#include "test.h"
#include "until.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- the live log ---------------------------------------------------------------------------- */

typedef struct listener {
    pthread_t thread;
    size_t count;
    size_t wrong;
    double last_ms;
    gbx_engine *engine;
    atomic_bool is_done;
} listener;

static void listen(void *user, const gbx_log *log)
{
    listener *l = user;
    char expected[32];

    (void)snprintf(expected, sizeof expected, "line %zu", l->count);
    if (strcmp(log->text, expected) != 0 || log->text_len != strlen(expected) ||
        log->level != (gbx_log_level)(l->count % 5) || log->time_ms < l->last_ms)
        l->wrong++;
    l->thread = pthread_self();
    l->last_ms = log->time_ms;
    l->count++;
}

static const char *const noisy =
    "async () => { const f = ['debug', 'log', 'info', 'warn', 'error']; "
    "for (let i = 0; i < 500; i++) { console[f[i % 5]]('line ' + i); "
    "if (i % 100 == 0) await sleep(5) } }";

TEST(log__is_live_in_order_on_the_caller_s_thread)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = engine_start(&options);
    gbx_call call = call_of(noisy);
    listener l = {0};
    gbx_result *result;

    call.on_log = listen;
    call.log_user = &l;
    result = call_run(engine, &call);

    assert_int_equal(l.count, 500);
    assert_int_equal(l.wrong, 0);
    assert_true(pthread_equal(l.thread, pthread_self()));
    assert_int_equal(gbx_result_log_count(result), 500);
    gbx_result_free(result);
    gbx_engine_free(engine);
}

static void count_before_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    listener *l = user;

    if (gbx_result_log_count(result) != l->count ||
        !pthread_equal(l->thread, pthread_self()))
        l->wrong++;
    gbx_result_free(result);
    l->is_done = true;
}

static bool is_done(void *user)
{
    return ((listener *)user)->is_done;
}

TEST(log__comes_before_the_result_of_a_submitted_call)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = engine_start(&options);
    gbx_call call = call_of(noisy);
    listener l = {0};

    call.on_log = listen;
    call.log_user = &l;
    assert_int_equal(gbx_submit(engine, &call, count_before_done, &l, NULL, NULL),
                     GBX_OK);
    assert_true(until(is_done, &l, 60000));

    assert_int_equal(l.count, 500);
    assert_int_equal(l.wrong, 0);
    gbx_engine_free(engine);
}

TEST_MAIN(NULL, NULL)

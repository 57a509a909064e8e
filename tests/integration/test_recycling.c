/* SPDX-License-Identifier: MIT */
/* Templates do not live for ever: the next one has another layout and the same data. */
#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <stdatomic.h>
#include <stdio.h>

typedef struct fresh {
    gbx_engine *engine;
    atomic_size_t good;
} fresh;

/* Where the worker program stands in the memory of a process; 0 if we may not look. */
static unsigned long layout_of(pid_t pid)
{
    char path[64];
    unsigned long address = 0;
    FILE *f;

    (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    f = fopen(path, "re");
    if (f == NULL)
        return 0;
    if (fscanf(f, "%lx-", &address) != 1)
        address = 0;
    (void)fclose(f);
    return address;
}

TEST(recycling__by_calls_gives_another_layout)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;
    unsigned long layouts[4] = {0};
    size_t differing = 0;

    options.pool_size = 1;
    options.recycle_calls = 3;
    engine = engine_start(&options);
    assert_int_equal(gbx_engine_load(engine, "d", "7", 1, GBX_DATA_JSON, NULL), GBX_OK);
    for (int i = 0; i < 16; i++) {
        check_value(engine, "() => datasets.d", NULL, "7");
        if (i % 4 == 0)
            layouts[i / 4] = layout_of(proc_template());
    }

    assert_true(report_number(engine, "templatesStarted") >= 4);
    for (int i = 1; i < 4; i++)
        differing += layouts[i] != layouts[0];
    if (layouts[0] != 0)
        assert_true(differing > 0);
    gbx_engine_free(engine);
}

/* Templates that an engine has started when its pool is full. */
static double count_starts(uint32_t pool_size)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;
    double count;

    options.pool_size = pool_size;
    options.zygote = GBX_ZYGOTE_OFF;
    engine = engine_start(&options);
    check_value(engine, "() => 7", NULL, "7");
    wait_until_full(engine);
    count = report_number(engine, "templatesStarted");
    gbx_engine_free(engine);
    return count;
}

TEST(first_template__starts_cold_and_is_replaced)
{
    assert_int_equal(count_starts(2), 2);
    assert_int_equal(count_starts(1), 1); /* who forks on demand gains nothing by it */
}

TEST(recycling__lets_running_calls_end)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_call slow = call_of("async () => { await sleep(400); return 'old' }");
    gbx_engine *engine;
    gbx_ticket ticket;
    inbox box;

    options.pool_size = 1;
    options.recycle_calls = 2;
    engine = engine_start(&options);
    inbox_init(&box, 1000);
    ticket = call_submit(engine, &slow, &box);
    for (int i = 0; i < 10; i++)
        check_alive(engine);
    assert_true(inbox_wait(&box, 1, 60000));

    assert_int_equal(inbox_code(&box, ticket), GBX_CODE_VALUE);
    assert_true(report_number(engine, "templatesStarted") >= 3);
    gbx_engine_free(engine);
    inbox_cleanup(&box);
}

static bool is_recycled(void *user)
{
    return report_number(user, "templatesStarted") >= 2;
}

TEST(recycling__by_age_needs_no_call)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;

    options.pool_size = 1;
    options.recycle_ms = 1000;
    engine = engine_start(&options);

    assert_true(until(is_recycled, engine, 60000));
    check_alive(engine);
    gbx_engine_free(engine);
}

static void call_fresh(void *user, size_t number)
{
    fresh *e = user;

    for (int i = 0; i < 3; i++) {
        gbx_call call = call_of("() => 1");

        if (call_code(e->engine, &call) == GBX_CODE_VALUE)
            atomic_fetch_add(&e->good, 1);
    }
}

TEST(fresh_exec__gives_each_call_a_template_of_its_own)
{
    gbx_options options = GBX_OPTIONS_INIT;
    static fresh e;

    options.fresh = GBX_FRESH_EXEC;
    options.pool_size = 2;
    e.engine = engine_start(&options);
    assert_int_equal(gbx_engine_load(e.engine, "d", "7", 1, GBX_DATA_JSON, NULL),
                     GBX_OK);
    threads_run(4, call_fresh, &e);

    assert_int_equal(e.good, 12);
    assert_true(report_number(e.engine, "templatesStarted") >= 12);
    check_value(e.engine, "() => datasets.d", NULL, "7");
    gbx_engine_free(e.engine);
}

TEST_MAIN(NULL, NULL)

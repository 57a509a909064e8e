/* SPDX-License-Identifier: MIT */
/* Large datasets: one that is replaced costs nothing more, and code beside one has the
 * memory that it is promised. */
#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* [{"id":0,"name":"..."},...], other texts for another seed; the caller frees it. */
static char *records(size_t count, unsigned seed, size_t *ret_len)
{
    char *json = malloc(count * 64 + 16);
    size_t len = 1;

    json[0] = '[';
    for (size_t i = 0; i < count; i++)
        len +=
            (size_t)sprintf(json + len, "%s{\"id\":%zu,\"name\":\"record %u of %zu\"}",
                            i > 0 ? "," : "", i, seed, i);
    json[len++] = ']';
    *ret_len = len;
    return json;
}

static void load_records(gbx_engine *engine, size_t count, unsigned seed)
{
    gbx_error error = {0};
    size_t len;
    char *json = records(count, seed, &len);

    if (gbx_engine_load(engine, "d", json, len, GBX_DATA_JSON, &error) != GBX_OK)
        fail_msg("%s", error.message);
    free(json);
}

static bool is_alone(void *user)
{
    return proc_template() != 0; /* the one before has ended */
}

/* Of the engine's template in KiB, once its dataset was loaded so many times. */
static size_t template_after(size_t count, unsigned times)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine;
    char expected[32];
    size_t kib;

    options.pool_size = 1;
    engine = engine_start(&options);
    for (unsigned i = 0; i < times; i++)
        load_records(engine, count, i);
    (void)snprintf(expected, sizeof expected, "[%zu,\"record %u of 1\"]", count,
                   times - 1);
    check_value(engine, "() => [datasets.d.length, datasets.d[1].name]", NULL,
                expected);
    assert_true(until(is_alone, NULL, 60000));
    kib = proc_rss_kib_of(proc_template());
    gbx_engine_free(engine);
    return kib;
}

TEST(reload__leaves_nothing_of_what_was_replaced)
{
    static const struct {
        size_t count;
        unsigned times;
    } cases[] = {{40000, 11}, {5000, 61}}; /* megabytes, if they stayed */

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t once = template_after(cases[i].count, 1);
        size_t often = template_after(cases[i].count, cases[i].times);

        assert_true(once > 0);
        if (often > once + once / 3)
            fail_msg("%zu records: %zu KiB after one load, %zu after %u",
                     cases[i].count, once, often, cases[i].times);
    }
}

TEST(memory__of_garbage_is_had_back_before_the_limit_is_met)
{
    gbx_engine *engine = engine_start(NULL);

    load_records(engine, 400000, 1);
    check_value(engine,
                "d => { let n = 0; for (const r of d) for (const [k, v] of "
                "Object.entries(r)) n += v === null; return n }",
                NULL, "0");
    gbx_engine_free(engine);
}

/* As many sets of field names as records: no call may make as many. */
TEST(load__takes_more_shapes_than_a_call_may_make)
{
    static const size_t count = 300000;
    gbx_engine *engine = engine_start(NULL);
    char *json = malloc(count * 16);
    gbx_error error = {0};
    gbx_call bomb = call_of("() => { const own = []; for (let i = 0; i < 1000000; i++) "
                            "own.push({ ['own' + i]: 1 }); return own.length }");
    size_t len = 0;

    for (size_t i = 0; i < count; i++)
        len += (size_t)sprintf(json + len, "{\"k%zu\":1}\n", i);
    if (gbx_engine_load(engine, "d", json, len, GBX_DATA_NDJSON, &error) != GBX_OK)
        fail_msg("%s", error.message);
    free(json);

    check_value(engine,
                "d => { const own = []; for (let i = 0; i < 100000; i++) "
                "own.push({ ['own' + i]: 1 }); return [d.length, own.length] }",
                NULL, "[300000,100000]");
    check_code(engine, &bomb, GBX_CODE_MEMORY);
    gbx_engine_free(engine);
}

TEST_MAIN(NULL, NULL)

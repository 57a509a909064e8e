/* SPDX-License-Identifier: MIT */
/* bench - what the groups share. */
#include "bench/bench.h"

#include "base/clock.h"
#include "base/fail.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int ascending(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;

    return (*x > *y) - (*x < *y);
}

static gbx_bench_row *add_row(gbx_bench *bench, const char *id, const char *label)
{
    gbx_bench_row *row = &bench->rows[bench->count++];

    assert(bench->count <= GBX_BENCH_ROWS_MAX);
    *row = (gbx_bench_row){.id = id, .label = label};
    return row;
}

/* The first template of a process is soon replaced by a warm one. */
static bool is_cold(gbx_engine *engine)
{
    char *json = NULL;
    bool is_cold = gbx_engine_report(engine, &json, NULL) == GBX_OK &&
                   strstr(json, "\"coldTemplates\":0") == NULL;

    gbx_string_free(json);
    return is_cold;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_bench_add(gbx_bench *bench, const char *id, const char *label, double value,
                   const char *unit)
{
    gbx_bench_row *row = add_row(bench, id, label);

    row->value = value;
    row->unit = unit;
}

void gbx_bench_skip(gbx_bench *bench, const char *id, const char *label,
                    const char *reason)
{
    gbx_bench_row *row = add_row(bench, id, label);

    (void)snprintf(row->skipped, sizeof row->skipped, "%s", reason);
}

gbx_engine *gbx_bench_engine(const gbx_bench *bench, const gbx_limits *limits,
                             uint32_t capabilities, gbx_error *reterr)
{
    gbx_options options = *bench->options;
    gbx_engine *engine = NULL;

    options.capabilities |= capabilities;
    if (limits != NULL)
        options.limits = *limits;
    if (gbx_engine_new(&options, &engine, reterr) != GBX_OK)
        return NULL;
    for (int i = 0; i < 500 && is_cold(engine); i++)
        gbx_bench_settle(10);
    return engine;
}

void gbx_bench_settle(unsigned ms)
{
    struct timespec pause = {.tv_sec = ms / 1000,
                             .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&pause, NULL);
}

double gbx_bench_call(gbx_engine *engine, gbx_call *call, gbx_code expected,
                      gbx_error *reterr)
{
    gbx_result *result = NULL;
    int64_t before = gbx_clock_now_ns();
    gbx_status status = gbx_execute(engine, call, &result, reterr);
    double ms = (double)(gbx_clock_now_ns() - before) / 1e6;

    if (status != GBX_OK)
        return -1;
    if (gbx_result_code(result) != expected) {
        (void)gbx_fail(reterr, GBX_E_PROTOCOL, "the call ended as %s",
                       gbx_code_name(gbx_result_code(result)));
        ms = -1;
    }
    gbx_result_free(result);
    return ms;
}

double gbx_bench_percentile(double *values, size_t count, double share)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, ascending);
    return values[(size_t)((double)(count - 1) * share + 0.5)];
}

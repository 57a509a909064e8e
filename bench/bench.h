/* SPDX-License-Identifier: MIT */
/*
 * bench - what the machine at hand does, measured through the public interface alone.
 *
 * Each group starts the engines it needs and frees them; a measure that cannot be taken
 * becomes a row with a reason, never a guess.
 */
#ifndef GBX_BENCH_BENCH_H
#define GBX_BENCH_BENCH_H

#include <glovebox/glovebox.h>

#include <stddef.h>

#define GBX_BENCH_ROWS_MAX 32

typedef struct gbx_bench_row {
    const char *id;    /* "warm_call_median": for programs */
    const char *label; /* for people */
    const char *code;  /* that is measured, for who measures it elsewhere; or NULL */
    const char *unit;
    double value;
    char skipped[160]; /* why there is no value; "" if there is */
} gbx_bench_row;

typedef struct gbx_bench {
    const gbx_options *options; /* of every engine */
    gbx_bench_row rows[GBX_BENCH_ROWS_MAX];
    size_t count;
} gbx_bench;

void gbx_bench_add(gbx_bench *bench, const char *id, const char *label, double value,
                   const char *unit);
void gbx_bench_skip(gbx_bench *bench, const char *id, const char *label,
                    const char *reason);

/* A warm engine of the options with these limits and capabilities, or NULL with *reterr
 * filled. */
gbx_engine *gbx_bench_engine(const gbx_bench *bench, const gbx_limits *limits,
                             uint32_t capabilities, gbx_error *reterr);

/* Wait until the pool has had time to fill again. */
void gbx_bench_settle(unsigned ms);

/* Run code and drop its value. *ret_ms is from call to return; -1 if it did not end with
 * the code expected, and then reterr says how it ended. */
double gbx_bench_call(gbx_engine *engine, gbx_call *call, gbx_code expected,
                      gbx_error *reterr);

/* Sorts values; share is from 0 to 1. NaN for no value. */
double gbx_bench_percentile(double *values, size_t count, double share);

/* How many processes are below this one, and their memory in MiB (PSS); -1: may not be read. */
double gbx_bench_descendants(size_t *ret_count);

/* The groups, in the order in which they must run: the first needs a process that has
 * run nothing yet. */
void gbx_bench_calls(gbx_bench *bench);
void gbx_bench_ends(gbx_bench *bench);
void gbx_bench_data(gbx_bench *bench);
void gbx_bench_compute(gbx_bench *bench);
void gbx_bench_processes(gbx_bench *bench);
void gbx_bench_engines(gbx_bench *bench);

#endif

/* SPDX-License-Identifier: MIT */
/* data - much data, and much computing. */
#include "bench/bench.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fail.h"

#include <string.h>

#define RECORDS           100000
#define RECORDS_BYTES_MAX GBX_MIB(16)
#define DATA_CALLS        9
#define DATA_MEMORY       GBX_MIB(512)
#define COMPUTE_CALLS     7

static const char over_data[] =
    "(d) => d.filter((r) => r.active && r.score > 50).map((r) => r.id + ':' + r.name)"
    ".length";

static void free_engine(gbx_engine **engine)
{
    gbx_engine_free(*engine);
}

/* Records like those of a customer table, the same every time: about 9 MB. */
static bool make_records(gbx_buf *buf)
{
    static const char *const regions[] = {"north", "south", "east", "west"};
    uint32_t random = 1;

    gbx_buf_init(buf, RECORDS_BYTES_MAX);
    for (unsigned i = 0; i < RECORDS; i++) {
        random = random * 1664525u + 1013904223u;
        (void)gbx_buf_printf(
            buf,
            "%s{\"id\":%u,\"name\":\"Customer %06u\",\"email\":\"c%u@example.com\","
            "\"region\":\"%s\",\"score\":%u.%u,\"active\":%s}",
            i == 0 ? "[" : ",", i, i, i, regions[random >> 30], (random >> 16) % 100,
            (random >> 8) % 10, random >> 31 ? "true" : "false");
    }
    return gbx_buf_puts(buf, "]");
}

/* The median of so many calls, or -1. The first is not counted: nothing is warm yet. */
static double median_of(gbx_engine *engine, const char *code, const gbx_buf *input,
                        size_t calls, gbx_error *err)
{
    double ms[DATA_CALLS + COMPUTE_CALLS];

    for (size_t i = 0; i <= calls; i++) {
        gbx_call call = GBX_CALL_INIT;
        double one;

        call.code = code;
        call.code_len = strlen(code);
        if (input != NULL) {
            call.input = (const char *)input->data;
            call.input_len = input->len;
        }
        gbx_bench_settle(5);
        one = gbx_bench_call(engine, &call, GBX_CODE_VALUE, err);
        if (one < 0)
            return -1;
        if (i > 0)
            ms[i - 1] = one;
    }
    return gbx_bench_percentile(ms, calls, 0.5);
}

static void add_or_skip(gbx_bench *bench, const char *id, const char *label,
                        const char *code, double ms, const gbx_error *err)
{
    if (ms < 0)
        gbx_bench_skip(bench, id, label, err->message);
    else
        gbx_bench_add(bench, id, label, ms, "ms");
    bench->rows[bench->count - 1].code = code;
}

typedef struct kind {
    const char *id;
    const char *label;
    const char *code;
} kind;

static void compute(gbx_bench *bench, const kind *kinds, size_t count,
                    uint32_t capabilities)
{
    gbx_limits limits = GBX_LIMITS_INIT;
    GBX_CLEANUP(free_engine) gbx_engine *engine = NULL;
    gbx_error err;

    limits.memory_bytes = DATA_MEMORY;
    limits.timeout_ms = 60000;
    engine = gbx_bench_engine(bench, &limits, capabilities, &err);
    for (size_t i = 0; i < count; i++) {
        double ms = -1;

        if (engine != NULL)
            ms = median_of(engine, kinds[i].code, NULL, COMPUTE_CALLS, &err);
        add_or_skip(bench, kinds[i].id, kinds[i].label, kinds[i].code, ms, &err);
    }
}

/* ---- public to other modules -------------------------------------------- */

void gbx_bench_data(gbx_bench *bench)
{
    static const char input_label[] = "100,000 records as input, filter and map";
    static const char dataset_label[] = "the same as a dataset";
    gbx_limits limits = GBX_LIMITS_INIT;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf records = {0};
    GBX_CLEANUP(free_engine) gbx_engine *engine = NULL;
    gbx_error err;

    limits.memory_bytes = DATA_MEMORY;
    engine = gbx_bench_engine(bench, &limits, 0, &err);
    if (engine != NULL && !make_records(&records))
        (void)gbx_fail(&err, GBX_E_NOMEM, "no memory for the records");
    if (engine == NULL || records.failed) {
        gbx_bench_skip(bench, "records_as_input", input_label, err.message);
        return;
    }
    add_or_skip(bench, "records_as_input", input_label, over_data,
                median_of(engine, over_data, &records, DATA_CALLS, &err), &err);
    if (gbx_engine_load(engine, "records", (const char *)records.data, records.len,
                        GBX_DATA_JSON, &err) != GBX_OK)
        gbx_bench_skip(bench, "records_as_dataset", dataset_label, err.message);
    else
        add_or_skip(bench, "records_as_dataset", dataset_label, over_data,
                    median_of(engine, over_data, NULL, DATA_CALLS, &err), &err);
}

void gbx_bench_compute(gbx_bench *bench)
{
    static const kind language[] = {
        {"compute_fib", "fib(32), recursive",
         "() => { const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2); return f(32); }"},
        {"compute_loop", "integer loop of 1e7 steps",
         "() => { let x = 0; for (let i = 0; i < 1e7; i++) x = (x + i * 7) | 0; return x; }"},
        {"compute_sort", "sort of 500,000 numbers",
         "() => { let s = 1; const a = Array.from({length: 500000}, () => s = (s * 1664525"
         " + 1013904223) % 4294967296); a.sort((x, y) => x - y); return a[250000]; }"},
        {"compute_strings", "string work: 200,000 pieces, split, map, join",
         "() => { let s = ''; for (let i = 0; i < 200000; i++) s += i.toString(36) + ',';"
         " return s.split(',').map((w) => w.toUpperCase()).join('-').length; }"},
    };
    static const kind hashes[] = {
        {"compute_hash_text", "SHA-256 of 80 MB, a text",
         "() => { const text = 'abcdefghij'.repeat(1e6); let h;"
         " for (let i = 0; i < 8; i++) h = crypto.createHash('sha256').update(text).digest('hex');"
         " return h; }"},
        {"compute_hash_bytes", "SHA-256 of 80 MB, bytes",
         "() => { const bytes = new Uint8Array(1e7).fill(7); let h;"
         " for (let i = 0; i < 8; i++) h = crypto.createHash('sha256').update(bytes).digest('hex');"
         " return h; }"},
        {"compute_hashes", "50,000 small MD5s",
         "() => { let h = ''; for (let i = 0; i < 50000; i++)"
         " h = crypto.createHash('md5').update('item' + i).digest('hex'); return h; }"},
    };

    compute(bench, language, GBX_COUNTOF(language), 0);
    compute(bench, hashes, GBX_COUNTOF(hashes), GBX_CAP_CRYPTO);
}

/* SPDX-License-Identifier: MIT */
/*
 * fuzz_sqlite - a database and its log, as bytes: the reader writes rows that are JSON, or
 * says what is wrong, and its memory is bounded. The first byte chooses the query, whether
 * there is a log, and whether the log's checksums are made right, without which SQLite
 * looks at none of it; then the length of the database and both files follow.
 *
 * SQLite itself is not instrumented: what the reader answers stands for coverage.
 */
#include "fuzz.h"
#include "sqlite_reader.h"

#include "base/json.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define HAS_LOG    0x80
#define REPAIR_LOG 0x40

#define ROOM (256u << 10)

/* libFuzzer takes these for coverage. */
#ifdef __clang__
__attribute__((section("__libfuzzer_extra_counters")))
#endif
static uint8_t answers[4096];

static const char *const queries[] = {
    "",
    "SELECT * FROM t ORDER BY a",
    "SELECT * FROM v",
    "SELECT * FROM f",
    "SELECT * FROM f WHERE f MATCH 'x*'",
    "SELECT * FROM sqlite_schema",
    "SELECT count(*), max(a), typeof(a), length(b) FROM t GROUP BY b",
    "SELECT j.* FROM t, json_each(t.b) AS j LIMIT 100",
};

/* ---- the log's checksums, of its header and of each page with its header ---------- */

#define LOG_HEADER   32
#define FRAME_HEADER 24

static void put_big(uint8_t *to, uint32_t value)
{
    for (int i = 3; i >= 0; i--, value >>= 8)
        to[i] = (uint8_t)value;
}

/* Of words of which the first byte is the lowest, as the magic below says. */
static void add(uint32_t sum[2], const uint8_t *data, size_t len)
{
    fuzz_input in;
    uint32_t word;

    in = (fuzz_input){data, len};
    for (size_t i = 0; i < len / 8; i++) {
        word = fuzz_u32(&in);
        sum[0] += word + sum[1];
        word = fuzz_u32(&in);
        sum[1] += word + sum[0];
    }
}

static void sign(uint8_t *to, const uint32_t sum[2])
{
    put_big(to, sum[0]);
    put_big(to + 4, sum[1]);
}

static void repair(uint8_t *log, size_t len, size_t page)
{
    uint32_t sum[2] = {0};

    if (len < LOG_HEADER)
        return;
    put_big(log, 0x377f0682);
    put_big(log + 4, 3007000);
    put_big(log + 8, (uint32_t)page);
    add(sum, log, 24);
    sign(log + 24, sum);
    for (uint8_t *frame = log + LOG_HEADER; frame + FRAME_HEADER + page <= log + len;
         frame += FRAME_HEADER + page) {
        memcpy(frame + 8, log + 16, 8); /* the salt */
        add(sum, frame, 8);
        add(sum, frame + FRAME_HEADER, page);
        sign(frame + 16, sum);
    }
}

/* 512, if the database does not say it. */
static size_t page_size(gbx_span database)
{
    size_t size = database.len >= 18 ? (size_t)database.data[16] << 8 : 0;

    return size >= 512 && (size & (size - 1)) == 0 ? size : 512;
}

/* ---- what is claimed ----------------------------------------------------------------- */

static bool is_json(const char *text, size_t len)
{
    return gbx_utf8_valid((const uint8_t *)text, len, NULL) &&
           gbx_json_check(text, len, GBX_JSON_DEPTH_MAX, NULL);
}

static void check(const gbx_sqlite_answer *a, const char *rows)
{
    assert(a->outcome < GBX_SQLITE_OUTCOMES);
    assert(memchr(a->message, 0, sizeof a->message) != NULL);
    assert(a->rows_len <= ROOM && a->columns_len <= ROOM - a->rows_len);
    if (a->outcome == GBX_SQLITE_DONE)
        assert(is_json(rows, a->rows_len));
    if (a->outcome == GBX_SQLITE_DONE && a->columns_len > 0)
        assert(is_json(rows + a->rows_len, a->columns_len));
}

static void note(const gbx_sqlite_answer *a, uint8_t query)
{
    uint32_t hash = a->outcome * 31 + query;

    for (const char *c = a->message; *c != 0; c++)
        hash = hash * 31 + (uint8_t)*c;
    hash = hash * 31 + (uint32_t)(a->number < 16 ? a->number : 16);
    answers[(hash ^ hash >> 12) % sizeof answers] = 1;
}

/* In an allocation of its own size. */
static void *copy(gbx_span span)
{
    void *data = malloc(span.len > 0 ? span.len : 1);

    assert(data != NULL);
    if (span.len > 0)
        memcpy(data, span.data, span.len);
    return data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in;
    uint32_t len = 0;
    uint8_t choice, query;
    gbx_span database, log;
    void *database_copy, *log_copy;
    char *rows = malloc(ROOM);
    gbx_sqlite_answer answer;

    assert(rows != NULL);
    in = (fuzz_input){data, size};
    choice = fuzz_u8(&in);
    len = fuzz_u32(&in);
    database = fuzz_bytes(&in, len);
    log = fuzz_bytes(&in, in.left);
    database_copy = copy(database);
    log_copy = (choice & HAS_LOG) != 0 ? copy(log) : NULL;
    if (log_copy != NULL && (choice & REPAIR_LOG) != 0)
        repair(log_copy, log.len, page_size(database));
    query = choice % (sizeof queries / sizeof queries[0]);
    answer = sqlite_reader_run((sqlite_bytes){database_copy, database.len},
                               (sqlite_bytes){log_copy, log.len}, queries[query], rows,
                               ROOM);
    check(&answer, rows);
    note(&answer, query);
    free(database_copy);
    free(log_copy);
    free(rows);
    return 0;
}

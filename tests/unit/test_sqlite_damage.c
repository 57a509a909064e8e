/* SPDX-License-Identifier: MIT */
/* Databases that are cut short or damaged: right rows or an error. */
#include "base/json.h"
#include "scratch.h"
#include "sqlite_reader.h"
#include "test.h"

#include <sqlite3.h>
#include <unistd.h>

#define ROOM (256u << 10)

/* Large enough for a page of overflow, an index and several levels of pages. */
#define TABLE                                                                     \
    "PRAGMA page_size=512; CREATE TABLE t(a, b); CREATE INDEX i ON t(a);"         \
    "INSERT INTO t VALUES (0, hex(zeroblob(700)));"                               \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 40) " \
    "INSERT INTO t SELECT i, i || 'x' FROM n;"

#define QUERY "SELECT a, b FROM t ORDER BY a"

typedef struct bytes {
    uint8_t data[32 << 10];
    size_t len;
} bytes;

static char rows[ROOM];

static bytes read_file(const char *name)
{
    static bytes b;
    FILE *file = fopen(scratch_path(name), "r");

    assert_non_null(file);
    b.len = fread(b.data, 1, sizeof b.data, file);
    assert_true(b.len < sizeof b.data);
    (void)fclose(file);
    return b;
}

static sqlite3 *create(const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(scratch_begin(NULL), 0);
    assert_int_equal(sqlite3_open_v2(scratch_path("t"), &db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                     "unix"),
                     SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void drop(sqlite3 *db)
{
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(scratch_end(NULL), 0);
}

static bytes make(const char *sql)
{
    sqlite3 *db = create(sql);
    bytes b = read_file("t");

    drop(db);
    return b;
}

/* Of files that end where their memory ends, so that a sanitizer sees a read beyond it. */
static gbx_sqlite_answer read_cut(const bytes *database, size_t len, const bytes *log,
                                  size_t log_len, const char *query)
{
    uint8_t *copy = malloc(len + 1);
    uint8_t *log_copy = log != NULL ? malloc(log_len + 1) : NULL;
    gbx_sqlite_answer answer;

    memcpy(copy, database->data, len);
    if (log != NULL)
        memcpy(log_copy, log->data, log_len);
    answer = sqlite_reader_run((sqlite_bytes){copy, len},
                               (sqlite_bytes){log_copy, log_len}, query, rows, ROOM);
    free(copy);
    free(log_copy);
    return answer;
}

/* The caller frees it. */
static char *right_rows(const bytes *database, const bytes *log)
{
    gbx_sqlite_answer answer =
        read_cut(database, database->len, log, log != NULL ? log->len : 0, QUERY);

    assert_int_equal(answer.outcome, GBX_SQLITE_DONE);
    return strndup(rows, answer.rows_len);
}

static void expect_rows(const char *expected, gbx_sqlite_answer answer, size_t at)
{
    if (answer.outcome != GBX_SQLITE_DONE || answer.rows_len != strlen(expected) ||
        memcmp(rows, expected, answer.rows_len) != 0)
        fail_msg("at %zu: outcome %u, %.*s", at, answer.outcome, (int)answer.rows_len,
                 rows);
}

TEST(a_database__that_is_cut_short_is_refused)
{
    bytes whole = make(TABLE);

    for (size_t len = 0; len < whole.len; len++) {
        gbx_sqlite_answer answer = read_cut(&whole, len, NULL, 0, QUERY);

        if (answer.outcome != GBX_SQLITE_UNREADABLE &&
            answer.outcome != GBX_SQLITE_BAD_ROW &&
            (answer.outcome != GBX_SQLITE_WRONG || len > 0)) /* no such table */
            fail_msg("%zu bytes: outcome %u, %s", len, answer.outcome, answer.message);
    }
}

/* What is beyond the last change that is whole in it never happened. */
TEST(a_log__that_is_cut_short_gives_its_whole_changes)
{
    static const char *const changes[] = {
        "INSERT INTO t VALUES (100, 'y')",
        "UPDATE t SET b = hex(zeroblob(300)) WHERE a < 3", "DELETE FROM t WHERE a > 10",
        "INSERT INTO t VALUES (200, hex(zeroblob(600)))"};
    enum { COUNT = GBX_COUNTOF(changes) };
    sqlite3 *db = create(TABLE "PRAGMA journal_mode=WAL;"
                               "PRAGMA wal_autocheckpoint=0");
    bytes database = read_file("t");
    bytes log = {.len = 0};
    char *expected[COUNT + 1] = {right_rows(&database, NULL)};
    size_t ends[COUNT + 1] = {0};
    size_t done = 0;

    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
        log = read_file("t-wal");
        expected[i + 1] = right_rows(&database, &log);
        assert_string_not_equal(expected[i + 1], expected[i]);
        ends[i + 1] = log.len;
    }
    drop(db);
    for (size_t len = 0; len <= log.len; len++) {
        done += done < COUNT && len == ends[done + 1];
        expect_rows(expected[done], read_cut(&database, database.len, &log, len, QUERY),
                    len);
    }
    assert_int_equal(done, COUNT);
    for (size_t len = 1; len < database.len; len++) {
        gbx_sqlite_answer answer = read_cut(&database, len, &log, log.len, QUERY);

        if (answer.outcome == GBX_SQLITE_DONE)
            expect_rows(expected[COUNT], answer, len);
    }
    for (size_t i = 0; i <= COUNT; i++)
        free(expected[i]);
}

static const char everything[] =
    TABLE "CREATE VIEW v AS SELECT a, upper(b) FROM t;"
          "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END;"
          "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f VALUES ('x y')";

static const char *const queries[] = {"", QUERY, "SELECT * FROM v", "SELECT * FROM f",
                                      "SELECT * FROM f WHERE f MATCH 'x'"};

TEST(a_database__with_views_triggers_and_virtual_tables_is_read)
{
    bytes whole = make(everything);

    for (size_t i = 0; i < GBX_COUNTOF(queries); i++) {
        gbx_sqlite_answer answer = read_cut(&whole, whole.len, NULL, 0, queries[i]);

        assert_int_equal(answer.outcome, GBX_SQLITE_DONE);
        assert_true(gbx_json_check(rows, answer.rows_len, GBX_JSON_DEPTH_MAX, NULL));
    }
}

/* Each byte of the file's header, and of each page's. */
TEST(a_header__that_is_damaged_is_read_or_refused)
{
    bytes whole = make(everything);

    for (size_t at = 0; at < whole.len; at++) {
        if (at >= 112 && at % 512 >= 12)
            continue;
        for (size_t i = 0; i < 2 * GBX_COUNTOF(queries); i++) {
            bytes damaged = whole;
            gbx_sqlite_answer answer;

            damaged.data[at] = i % 2 == 0 ? 0 : 0xff;
            answer = read_cut(&damaged, damaged.len, NULL, 0, queries[i / 2]);
            assert_true(answer.outcome < GBX_SQLITE_DIED);
            if (answer.outcome == GBX_SQLITE_DONE &&
                !gbx_json_check(rows, answer.rows_len, GBX_JSON_DEPTH_MAX, NULL))
                fail_msg("byte %zu, query %zu: not JSON", at, i / 2);
        }
    }
}

TEST_MAIN(NULL, NULL)

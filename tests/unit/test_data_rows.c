/* SPDX-License-Identifier: MIT */
/* From --data to JSON: databases, of which a query can only read. */
#include "base/cleanup.h"
#include "mcp/data/datasets.h"
#include "sources.h"
#include "test.h"
#include "wire/wire.h"
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static sqlite3 *open_database(const place *p)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static void make_database(place *p, const char *sql)
{
    sqlite3 *db;

    (void)snprintf(p->path, sizeof p->path, "%s/t.db", p->folder);
    db = open_database(p);
    run(db, sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* With the file beside it that has what was written last, in a place of its own: its
 * writer is where it was. */
static void copy_midway(place *p, const char *sql, const char *beside)
{
    sqlite3 *db = open_database(p);
    char command[512];

    run(db, sql);
    (void)snprintf(command, sizeof command, "mkdir %s/b && cp %s/t.db %s/t.db%s %s/b",
                   p->folder, p->folder, p->folder, beside, p->folder);
    assert_int_equal(system(command), 0);
    (void)sqlite3_close_v2(db);
    (void)snprintf(p->path, sizeof p->path, "%s/b/t.db", p->folder);
}

static bool is_beside(const place *p, const char *ending)
{
    char path[160];

    (void)snprintf(path, sizeof path, "%s%s", p->path, ending);
    return access(path, F_OK) == 0;
}

static const char *query(place *p, const char *sql)
{
    size_t n = (size_t)snprintf(p->spec, sizeof p->spec, "d=sqlite:%s?query=", p->path);

    for (; *sql != 0; sql++)
        n += (size_t)snprintf(p->spec + n, sizeof p->spec - n,
                              *sql == '%' ? "%%25" : "%c", *sql);
    return p->spec;
}

static const char schema[] =
    "CREATE TABLE t(id INTEGER, x REAL, s TEXT, b BLOB);"
    "INSERT INTO t VALUES (1, 0.1, 'a\"b', x'0102'), (9007199254740993, 1e20, NULL, ''),"
    " (-5, 2, char(233), NULL);"
    "CREATE VIEW v AS SELECT id FROM t;"
    "CREATE VIEW bad AS SELECT load_extension('/tmp/x.so') AS x;";

TEST(a_database__whose_log_is_empty_is_read_without_a_trace)
{
    place *p = *state;
    FILE *log;

    make_database(
        p, "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    becomes(query(p, "SELECT a FROM t"), "[{\"a\":1}]");
    assert_false(is_beside(p, "-wal") || is_beside(p, "-shm"));
    (void)snprintf(p->spec, sizeof p->spec, "%s-wal", p->path);
    log = fopen(p->spec, "w");
    assert_int_equal(fclose(log), 0);
    becomes(query(p, "SELECT a FROM t"), "[{\"a\":1}]");
    becomes(query(p, "SELECT a FROM t WHERE 0"), "[]");
    refused(query(p, "SELECT b FROM t"), GBX_E_DATA, "no such column: b");
    assert_false(is_beside(p, "-shm"));
}

static const char with_log[] =
    "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)";

TEST(a_database__is_read_with_its_log)
{
    place *p = *state;
    char shared[160];

    make_database(p, with_log);
    copy_midway(p, "INSERT INTO t VALUES (2)", "-wal");
    becomes(query(p, "SELECT a FROM t"), "[{\"a\":1},\n{\"a\":2}]");
    /* As where nothing may be written. */
    (void)snprintf(shared, sizeof shared, "%s-shm", p->path);
    assert_int_equal(symlink("nowhere", shared), 0);
    becomes(query(p, "SELECT a FROM t"), "[{\"a\":1},\n{\"a\":2}]");
}

TEST(a_database__that_is_in_use_is_read_as_it_is_now)
{
    place *p = *state;
    sqlite3 *writer;

    make_database(p, with_log);
    writer = open_database(p);
    run(writer, "INSERT INTO t VALUES (2); PRAGMA wal_checkpoint");
    becomes(query(p, "SELECT a FROM t"), "[{\"a\":1},\n{\"a\":2}]");
    run(writer, "INSERT INTO t VALUES (3); BEGIN; INSERT INTO t VALUES (4)");
    becomes(query(p, "SELECT a FROM t"), "[{\"a\":1},\n{\"a\":2},\n{\"a\":3}]");
    assert_int_equal(sqlite3_close(writer), SQLITE_OK);
}

TEST(a_database__that_a_writer_holds_is_told_as_busy)
{
    place *p = *state;
    sqlite3 *writer;
    gbx_source source;
    gbx_error error = {0};

    make_database(p, schema);
    writer = open_database(p);
    run(writer, "BEGIN IMMEDIATE; INSERT INTO t(id) VALUES (7)");
    becomes(query(p, "SELECT count(*) AS n FROM t"), "[{\"n\":3}]");
    run(writer, "COMMIT; BEGIN EXCLUSIVE");
    assert_int_equal(read_spec(p->spec, &source, &error), GBX_E_DATA);
    assert_int_equal(error.os_errno, EBUSY);
    assert_string_equal(error.message, "the database is locked");
    assert_int_equal(sqlite3_close(writer), SQLITE_OK);
    becomes(p->spec, "[{\"n\":4}]");
}

TEST(a_database__whose_change_was_interrupted_is_refused)
{
    place *p = *state;

    make_database(p, schema);
    copy_midway(
        p,
        "PRAGMA cache_size=1; BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
        "SELECT i+1 FROM n WHERE i < 5000) INSERT INTO t(s) SELECT "
        "hex(zeroblob(100)) FROM n",
        "-journal");
    refused(query(p, "SELECT id FROM t"), GBX_E_DATA, "was interrupted");
}

TEST(a_database__without_a_query_is_an_object_of_its_tables)
{
    static const char all[] =
        "{\"a\":[{\"x\":1},\n{\"x\":2}],\n\"b \\\"c\\\"\":[],\n\"f\":[{\"body\":\"hi\"}]}";
    place *p = *state;

    make_database(p, "CREATE TABLE a(x); INSERT INTO a VALUES (1), (2);"
                     "CREATE TABLE \"b \"\"c\"\"\"(y); CREATE VIEW v AS SELECT 1;"
                     "CREATE VIRTUAL TABLE f USING fts5(body);"
                     "INSERT INTO f VALUES ('hi')");
    (void)snprintf(p->spec, sizeof p->spec, "d=sqlite:%s", p->path);
    becomes(p->spec, all);
    (void)snprintf(p->spec, sizeof p->spec, "d=%s", p->path);
    becomes(p->spec, all);
    make_database(p, "DROP TABLE a; DROP TABLE \"b \"\"c\"\"\"; DROP TABLE f");
    becomes(p->spec, "{}");
}

TEST(a_database__may_have_any_path)
{
    place *p = *state;
    char from[128];

    make_database(
        p, "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    (void)snprintf(from, sizeof from, "%s", p->path);
    (void)snprintf(p->path, sizeof p->path, "%s/a b?#&=\xc3\xa9+.db", p->folder);
    assert_int_equal(rename(from, p->path), 0);
    becomes(query(p, "SELECT a FROM t"), "[{\"a\":1}]");
    assert_false(is_beside(p, "-shm"));
}

typedef struct toucher {
    const char *path;
    atomic_bool stop;
} toucher;

static void *touch_again_and_again(void *user)
{
    toucher *w = user;
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

    while (!atomic_load(&w->stop))
        (void)utimensat(AT_FDCWD, w->path, times, 0);
    return NULL;
}

static void is_busy_while_touched(place *p)
{
    toucher w = {.path = p->path};
    gbx_source source;
    gbx_error error = {0};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, touch_again_and_again, &w), 0);
    assert_int_equal(read_spec(query(p, "SELECT a FROM t"), &source, &error),
                     GBX_E_DATA);
    atomic_store(&w.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(error.os_errno, EBUSY);
    assert_non_null(strstr(error.message, "was written each time"));
}

/* Without an index no lock keeps others from writing, whether there is a log or not. */
TEST(a_database__that_changes_all_the_time_is_told_as_busy)
{
    place *p = *state;

    make_database(p, with_log);
    is_busy_while_touched(p);
    becomes(p->spec, "[{\"a\":1}]");
    copy_midway(p, "INSERT INTO t VALUES (2)", "-wal");
    is_busy_while_touched(p);
    becomes(p->spec, "[{\"a\":1},\n{\"a\":2}]");
}

typedef struct slow_reading {
    place *place;
    atomic_bool stop;
    gbx_status status;
} slow_reading;

static const char endless[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 "
                              "FROM n) SELECT sum(i) FROM n";

static void *read_slowly(void *user)
{
    slow_reading *s = user;
    gbx_rows rows;

    s->status = gbx_rows_read(NULL, s->place->path, endless, &s->stop, &rows, NULL);
    return NULL;
}

TEST(a_database__cannot_be_written_while_it_is_read)
{
    place *p = *state;
    slow_reading s = {.place = p};
    pthread_t thread;
    sqlite3 *writer;

    make_database(p, schema);
    writer = open_database(p);
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &s), 0);
    while (sqlite3_exec(writer, "INSERT INTO t(id) VALUES (1)", NULL, NULL, NULL) ==
           SQLITE_OK)
        continue;
    assert_int_equal(sqlite3_errcode(writer), SQLITE_BUSY);
    atomic_store(&s.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(s.status, GBX_E_CLOSED);
    run(writer, "INSERT INTO t(id) VALUES (1)");
    assert_int_equal(sqlite3_close(writer), SQLITE_OK);
}

/* As another process sees it; len 0: to the end. */
static bool is_locked_at(const char *path, off_t at, off_t len)
{
    int status = 1;
    pid_t child = fork();

    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK,
                             .l_whence = SEEK_SET,
                             .l_start = at,
                             .l_len = len};
        int fd = open(path, O_RDWR);

        _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return status == 0;
}

static bool is_locked(const char *path)
{
    return is_locked_at(path, 0, 0);
}

TEST(a_log__is_not_copied_into_the_database_that_is_read)
{
    place *p = *state;
    slow_reading s = {.place = p};
    char index[160];
    pthread_t thread;
    sqlite3 *writer;
    int in_log = 0;
    int copied = 0;

    make_database(p, with_log);
    (void)snprintf(index, sizeof index, "%s-shm", p->path);
    writer = open_database(p);
    run(writer, "SELECT a FROM t"); /* the index is there, and the log is empty */
    assert_int_equal(pthread_create(&thread, NULL, read_slowly, &s), 0);
    while (!is_locked_at(index, 123, 2))
        continue;
    run(writer, "INSERT INTO t VALUES (2)");
    (void)sqlite3_wal_checkpoint_v2(writer, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log,
                                    &copied);
    assert_true(in_log > 0 && copied == 0);
    atomic_store(&s.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(sqlite3_wal_checkpoint_v2(writer, NULL, SQLITE_CHECKPOINT_PASSIVE,
                                               &in_log, &copied),
                     SQLITE_OK);
    assert_true(in_log > 0 && copied == in_log);
    assert_int_equal(sqlite3_close(writer), SQLITE_OK);
}

static void *read_again(void *user)
{
    becomes(((place *)user)->spec, "[{\"t\":2,\"n\":5000000}]");
    return NULL;
}

TEST(a_database__that_is_opened_and_written_meanwhile_is_read_once_more)
{
    place *p = *state;
    pthread_t thread;
    sqlite3 *writer;

    make_database(p, with_log); /* closed: neither log nor index is there */
    (void)query(p, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE "
                   "i < 5000000) SELECT (SELECT count(*) FROM t) AS t, (SELECT "
                   "count(*) FROM n) AS n");
    assert_int_equal(pthread_create(&thread, NULL, read_again, p), 0);
    while (!is_locked(p->path))
        continue;
    writer = open_database(p);
    run(writer, "INSERT INTO t VALUES (2); PRAGMA wal_checkpoint");
    assert_int_equal(sqlite3_close(writer), SQLITE_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST(a_log__that_cannot_be_opened_is_an_error)
{
    place *p = *state;
    char log[160];

    make_database(p, with_log);
    (void)snprintf(log, sizeof log, "%s-wal", p->path);
    assert_int_equal(symlink(log, log), 0); /* root may open any other */
    refused(query(p, "SELECT a FROM t"), GBX_E_OS, "cannot read the database");
}

TEST(a_folder__is_no_database)
{
    place *p = *state;
    gbx_error error = {0};
    gbx_rows rows;

    assert_int_equal(gbx_rows_read(NULL, p->folder, NULL, NULL, &rows, &error),
                     GBX_E_DATA);
    assert_string_equal(error.message, "cannot read the database: it is not a file");
}

TEST(a_reading__takes_no_lock_of_ours_away)
{
    place *p = *state;
    sqlite3 *db;

    make_database(p, schema);
    db = open_database(p);
    run(db, "BEGIN; SELECT id FROM t");
    assert_true(is_locked(p->path));
    becomes(query(p, "SELECT id FROM t"),
            "[{\"id\":1},\n{\"id\":\"9007199254740993\"},\n{\"id\":-5}]");
    assert_true(is_locked(p->path));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST(rows__keep_infinities)
{
    place *p = *state;

    make_database(p, schema);
    becomes(query(p, "SELECT 9e999 AS a, -9e999 AS b"), "[{\"a\":1e999,\"b\":-1e999}]");
}

TEST(rows__with_text_that_is_not_utf8_are_refused)
{
    place *p = *state;

    make_database(p, schema);
    refused(query(p,
                  "SELECT 1 AS a, 'b' AS b UNION ALL SELECT 2, CAST(x'c328' AS TEXT)"),
            GBX_E_DATA, "row 2, column 2: the text is not UTF-8");
    becomes(query(p, "SELECT x'c328' AS a"), "[{\"a\":\"wyg=\"}]");
}

TEST(rows__are_objects)
{
    place *p = *state;

    make_database(p, schema);
    becomes(query(p, "SELECT * FROM t ORDER BY rowid"),
            "[{\"id\":1,\"x\":0.10000000000000001,\"s\":\"a\\\"b\",\"b\":\"AQI=\"},\n"
            "{\"id\":\"9007199254740993\",\"x\":1e+20,\"s\":null,\"b\":\"\"},\n"
            "{\"id\":-5,\"x\":2,\"s\":\"\xc3\xa9\",\"b\":null}]");
    becomes(query(p, "SELECT id, id, id AS id_3 FROM v LIMIT 1"),
            "[{\"id\":1,\"id_2\":1,\"id_3\":1}]");
    becomes(query(p, "SELECT id FROM t WHERE s LIKE '%b' ;\n"), "[{\"id\":1}]");
    becomes(query(p, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n "
                     "WHERE i<3) SELECT sum(i) AS s FROM n"),
            "[{\"s\":6}]");
    becomes(query(p, "SELECT id FROM t WHERE 0"), "[]");
    becomes(query(p, "SELECT 1 AS a; -- end"), "[{\"a\":1}]");
    becomes(query(p, "SELECT 1 AS a /* b */; ;/* end\n*/ -- here"), "[{\"a\":1}]");
}

TEST(a_query__can_only_read)
{
    static const char *const queries[] = {
        "INSERT INTO t VALUES (1,2,3,4)",
        "DELETE FROM t",
        "UPDATE t SET id = 0 RETURNING id",
        "DROP TABLE t",
        "CREATE TABLE u(a)",
        "CREATE TEMP TABLE u AS SELECT * FROM t",
        "ATTACH '/etc/passwd' AS p",
        "ATTACH ':memory:' AS p",
        "DETACH main",
        "PRAGMA table_info(t)",
        "PRAGMA writable_schema=1",
        "PRAGMA data_version=1",
        "SELECT * FROM pragma_table_info('t')",
        "VACUUM INTO '/tmp/gbx-copy.db'",
        "SELECT load_extension('/tmp/x.so')",
        "SELECT LOAD_EXTENSION('/tmp/x.so')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT * FROM bad",
        "BEGIN",
        "EXPLAIN DELETE FROM t",
        "REINDEX",
        "ANALYZE",
        "UPDATE sqlite_master SET type = 'x'",
        "UPDATE sqlite_schema SET sql = '' RETURNING 1",
        "UPDATE sqlite_temp_master SET type = 'x'",
        "DELETE FROM sqlite_master",
    };
    place *p = *state;

    make_database(p, schema);
    for (size_t i = 0; i < GBX_COUNTOF(queries); i++) {
        gbx_source source;
        gbx_error error = {0};

        if (read_spec(query(p, queries[i]), &source, &error) != GBX_E_DATA)
            fail_msg("%s", queries[i]);
    }
    refused(query(p, "DELETE FROM t"), GBX_E_DATA, "not authorized");
    refused(query(p, "SELECT 1; DELETE FROM t"), GBX_E_DATA, "more than one statement");
    refused(query(p, "SELECT 1; -- x\n SELECT 2"), GBX_E_DATA, "more than one");
    refused(query(p, "SELECT 1; nonsense"), GBX_E_DATA, "more than one statement");
    refused(query(p, " "), GBX_E_DATA, "empty");
    becomes(query(p, "SELECT count(*) AS n FROM t"), "[{\"n\":3}]");
}

TEST(a_query__has_bounded_memory)
{
    static const char hoards[] =
        "WITH RECURSIVE c(n, x) AS (SELECT 0, '' UNION ALL SELECT n + 1, n || "
        "hex(zeroblob(4000000)) FROM c WHERE n < 1000) "
        "SELECT n FROM c ORDER BY x";
    place *p = *state;

    make_database(p, schema);
    refused(query(p, hoards), GBX_E_DATA, "needs more than 512 MiB");
    becomes(query(p, "SELECT count(*) AS n FROM t"), "[{\"n\":3}]");
}

/* They only read, but about the host, or they reach its code: nothing else refuses them. */
TEST(a_query__is_refused_by_the_authorizer)
{
    static const char *const queries[] = {
        "PRAGMA database_list",
        "PRAGMA compile_options",
        "SELECT file FROM pragma_database_list",
        "SELECT name FROM pragma_function_list",
        "SELECT (SELECT count(*) FROM pragma_module_list) AS n FROM t",
        "WITH f AS (SELECT file FROM pragma_database_list) SELECT * FROM f",
        "SELECT load_extension('/tmp/x.so')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT id FROM t WHERE fts3_tokenizer('simple') IS NULL",
    };
    place *p = *state;

    make_database(p, schema);
    for (size_t i = 0; i < GBX_COUNTOF(queries); i++)
        refused(query(p, queries[i]), GBX_E_DATA, "authoriz");
}

TEST(a_query__with_a_parameter_is_refused)
{
    static const char *const queries[] = {
        "SELECT id FROM t WHERE id = ?",
        "SELECT id FROM t WHERE id = :id",
        "SELECT id FROM t LIMIT $n",
        "SELECT @a AS a",
    };
    place *p = *state;

    make_database(p, schema);
    for (size_t i = 0; i < GBX_COUNTOF(queries); i++)
        refused(query(p, queries[i]), GBX_E_DATA, "has a parameter");
    becomes(query(p, "SELECT ':id?' AS a"), "[{\"a\":\":id?\"}]");
}

TEST(a_query__may_use_virtual_tables_and_write_to_none)
{
    static const char *const queries[] = {
        "INSERT INTO f VALUES ('x')",
        "INSERT INTO f(f) VALUES ('optimize')",
        "UPDATE f SET body = 'x'",
        "DELETE FROM f",
        "DROP TABLE f",
        "CREATE VIRTUAL TABLE g USING fts5(body)",
        "CREATE VIRTUAL TABLE temp.g USING fts5(body)",
    };
    place *p = *state;

    make_database(p, "CREATE VIRTUAL TABLE f USING fts5(body);"
                     "INSERT INTO f VALUES ('hello world'), ('good bye');"
                     "CREATE TABLE t(j); INSERT INTO t VALUES ('{\"a\":[1,2]}')");
    becomes(query(p, "SELECT body FROM f WHERE f MATCH 'hello'"),
            "[{\"body\":\"hello world\"}]");
    becomes(query(p, "SELECT e.value FROM t, json_each(t.j, '$.a') e"),
            "[{\"value\":1},\n{\"value\":2}]");
    becomes(query(p, "SELECT fullkey FROM t, json_tree(t.j) WHERE atom = 2"),
            "[{\"fullkey\":\"$.a[1]\"}]");
    for (size_t i = 0; i < GBX_COUNTOF(queries); i++)
        refused(query(p, queries[i]), GBX_E_DATA, "not authorized");
}

TEST(a_query__that_is_wrong_is_told_with_its_place)
{
    gbx_source source;
    gbx_error error = {0};
    place *p = *state;

    make_database(p, schema);
    assert_int_equal(read_spec(query(p, "SELECT id,\n  nme FROM t"), &source, &error),
                     GBX_E_DATA);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 3);
    assert_non_null(strstr(error.message, "no such column: nme"));
}

TEST(a_database__that_is_none_is_refused)
{
    place *p = *state;

    (void)write_file(p, "t.db", "this is no database, whatever its name says here", 48);
    refused(query(p, "SELECT 1 FROM sqlite_master"), GBX_E_DATA, "not a database");
}

TEST(a_query__without_end_is_stopped)
{
    atomic_bool stop = true;
    gbx_source source;
    gbx_error error;
    gbx_spec spec;
    place *p = *state;

    make_database(p, schema);
    assert_int_equal(gbx_spec_parse(query(p, endless), &spec, &error), GBX_OK);
    assert_int_equal(gbx_source_read(NULL, &spec, GBX_SOURCE_WHOLE, NULL, &stop,
                                     &source, &error),
                     GBX_E_CLOSED);
    gbx_spec_cleanup(&spec);
}

TEST(columns__are_told_where_no_row_tells_them)
{
    place *p = *state;
    gbx_source source;

    make_database(p, schema);
    assert_int_equal(read_spec(query(p,
                                     "SELECT id, id, s AS \"a\"\"b\" FROM t WHERE 0"),
                               &source, NULL),
                     GBX_OK);
    assert_int_equal(source.rows.text_len, 2);
    assert_memory_equal(source.rows.columns, "[\"id\",\"id_2\",\"a\\\"b\"]",
                        source.rows.columns_len);
    gbx_source_cleanup(&source);
    assert_int_equal(read_spec(query(p, "SELECT id FROM t"), &source, NULL), GBX_OK);
    assert_int_equal(source.rows.columns_len, 0);
    gbx_source_cleanup(&source);
}

TEST(a_row__that_cannot_be_read_is_not_quoted)
{
    static const char *const queries[] = {
        "SELECT json_extract('{}', k) FROM t",
        "SELECT json_set('{}', k, 1) FROM t",
        "SELECT x FROM f WHERE x MATCH (SELECT k FROM t WHERE n = 2)",
    };
    place *p = *state;

    make_database(p,
                  "CREATE TABLE t(n, k);"
                  "INSERT INTO t VALUES (1, '$.a'), (2, 'geheim hunter2 \"');"
                  "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f VALUES ('a')");
    for (size_t i = 0; i < GBX_COUNTOF(queries); i++) {
        gbx_source source;
        gbx_error error = {0};

        assert_int_equal(read_spec(query(p, queries[i]), &source, &error), GBX_E_DATA);
        if (strstr(error.message, "hunter2") != NULL ||
            strstr(error.message, i < 2 ? "cannot read row 2: SQL logic error"
                                        : "cannot read row 1: ") == NULL)
            fail_msg("%s", error.message);
    }
}

/* In the sealed process. test_sqlite_damage tries many more. */
TEST(a_database__that_is_damaged_is_read_or_refused)
{
    place *p = *state;
    char whole[8192];
    FILE *file;
    size_t size;

    make_database(p, "PRAGMA page_size=512; CREATE TABLE t(a); CREATE INDEX i ON t(a);"
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n "
                     "WHERE i < 100) INSERT INTO t SELECT i || 'x' FROM n");
    file = fopen(p->path, "r");
    size = fread(whole, 1, sizeof whole, file);
    (void)fclose(file);
    assert_in_range(size, 2048, sizeof whole - 1);
    for (size_t at = 0; at < size; at += 1021) {
        for (int cut = 0; cut <= 1; cut++) {
            char *damaged = malloc(size);
            gbx_source source;
            gbx_error error = {0};

            memcpy(damaged, whole, size);
            damaged[at] = (char)~damaged[at];
            (void)write_file(p, "t.db", damaged, cut ? at : size);
            free(damaged);
            if (read_spec(query(p, "SELECT a FROM t ORDER BY a"), &source, &error) ==
                GBX_OK)
                gbx_source_cleanup(&source);
            else if (error.status != GBX_E_DATA ||
                     strstr(error.message, "reader") != NULL)
                fail_msg("%zu: %s", at, error.message);
        }
    }
}

/* A reader that was taken over answers what the file holds. */
TEST(an_answer__is_checked_before_it_is_believed)
{
    static const struct {
        gbx_sqlite_answer answer;
        const char *message;
    } cases[] = {
        {{.outcome = GBX_SQLITE_DONE}, "gave no valid answer"},
        {{.rows_len = (1 << 30) + 1}, "gave no valid answer"},
        {{.rows_len = 1 << 30, .columns_len = 1}, "gave no valid answer"},
        {{.rows_len = 2, .columns_len = UINT64_MAX}, "gave no valid answer"},
        {{.outcome = GBX_SQLITE_OUTCOMES}, "gave no valid answer"},
        {{.outcome = UINT32_MAX}, "gave no valid answer"},
        {{.outcome = GBX_SQLITE_WRONG, .offset = UINT32_MAX, .message = "x\n\033[2J"},
         "cannot run the query: x\\n\\u{1b}[2J"},
        {{.outcome = GBX_SQLITE_UNSEALED, .number = 99, .message = "y"},
         "the layer '?' is required and missing: y"},
        {{.outcome = GBX_SQLITE_DIED, .number = SIGBUS}, "was cut short"},
        {{.outcome = GBX_SQLITE_DIED, .number = UINT64_MAX}, "ended early (255)"},
        {{.outcome = GBX_SQLITE_DIED, .number = SIGSEGV}, "may be damaged"},
        {{.outcome = GBX_SQLITE_MEMORY, .number = 7}, "cannot read row 7: it needs"},
    };
    const gbx_options options = {.worker_path = HOSTILE_PROGRAM};
    place *p = *state;
    gbx_error error;
    gbx_rows rows;

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        (void)write_file(p, "answer", &cases[i].answer, sizeof cases[i].answer);
        assert_int_not_equal(gbx_rows_read(&options, p->path, "SELECT 1", NULL, &rows,
                                           &error),
                             GBX_OK);
        if (strstr(error.message, cases[i].message) == NULL)
            fail_msg("%zu: %s", i, error.message);
    }
    (void)write_file(p, "answer", &cases[0].answer, sizeof cases[0].answer - 1);
    assert_int_equal(gbx_rows_read(&options, p->path, NULL, NULL, &rows, &error),
                     GBX_E_OS);
    assert_non_null(strstr(error.message, "died before it was ready"));
}

static void count_breaches(void *user, int status)
{
    size_t *breaches = user;
    bool is_refused = WIFSIGNALED(status) || WEXITSTATUS(status) == 0 ||
                      WEXITSTATUS(status) == GBX_ATTACK_EXIT_ABSENT;

    *breaches += !is_refused;
}

TEST(a_reader__that_was_taken_over_can_do_nothing_else)
{
    place *p = *state;
    gbx_attack_victims victims;
    gbx_error error = {0};
    gbx_status status;
    size_t breaches = 0;

    make_database(p, schema);
    gbx_attack_victims_open(&victims);
    status =
        gbx_rows_attack(p->path, gbx_attack_count(), count_breaches, &breaches, &error);
    gbx_attack_victims_close(&victims);
    if (status != GBX_OK)
        fail_msg("%s", error.message);
    assert_int_equal(breaches, 0);
}

TEST_MAIN_EACH(enter_place, leave_place)

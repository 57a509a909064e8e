/* SPDX-License-Identifier: MIT */
/* From --data to JSON: databases, of which a query can only read. */
#include "base/cleanup.h"
#include "mcp/data/datasets.h"
#include "sources.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void make_database(place *p, const char *sql)
{
    gbx_libsqlite3 lib;
    sqlite3 *db = NULL;

    assert_int_equal(gbx_libsqlite3_load(&lib, NULL), GBX_OK);
    (void)snprintf(p->path, sizeof p->path, "%s/t.db", p->folder);
    assert_int_equal(lib.sqlite3_open_v2(p->path, &db,
                                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                         NULL),
                     SQLITE_OK);
    assert_int_equal(lib.sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(lib.sqlite3_close_v2(db), SQLITE_OK);
}

/* With what was written last in a file beside it, in a place of its own: its writer is
 * where it was. */
static void copy_with_log(place *p, const char *sql)
{
    char command[512];
    gbx_libsqlite3 lib;
    sqlite3 *db = NULL;

    assert_int_equal(gbx_libsqlite3_load(&lib, NULL), GBX_OK);
    assert_int_equal(lib.sqlite3_open_v2(p->path, &db, SQLITE_OPEN_READWRITE, NULL),
                     SQLITE_OK);
    assert_int_equal(lib.sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)snprintf(command, sizeof command, "mkdir %s/b && cp %s/t.db %s/t.db-wal %s/b",
                   p->folder, p->folder, p->folder, p->folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(lib.sqlite3_close_v2(db), SQLITE_OK);
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

TEST(a_database__is_read_with_its_log)
{
    place *p = *state;

    make_database(
        p, "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    copy_with_log(p, "INSERT INTO t VALUES (2)");
    becomes(query(p, "SELECT a FROM t"), "[{\"a\":1},\n{\"a\":2}]");
}

TEST(a_log__that_cannot_be_read_is_told_in_words)
{
    place *p = *state;
    char shared[160];

    make_database(
        p, "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    copy_with_log(p, "INSERT INTO t VALUES (2)");
    (void)snprintf(shared, sizeof shared, "%s-shm", p->path);
    assert_int_equal(symlink("nowhere", shared),
                     0); /* as where nothing may be written */
    refused(query(p, "SELECT a FROM t"), GBX_E_DATA,
            "what was written last is in a file beside it");
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

TEST(a_database__is_still_until_it_is_written)
{
    place *p = *state;
    gbx_immutable still;

    make_database(p, "PRAGMA journal_mode=WAL; CREATE TABLE t(a)");
    assert_true(gbx_immutable_look(p->path, &still));
    assert_true(gbx_immutable_lasts(&still));
    assert_int_equal(truncate(p->path, 4096), 0);
    assert_false(gbx_immutable_lasts(&still));
    assert_int_equal(unlink(p->path), 0);
    assert_false(gbx_immutable_lasts(&still));
    gbx_immutable_cleanup(&still);
    assert_false(gbx_immutable_look(p->path, &still));
    gbx_immutable_cleanup(&still);
}

typedef struct writer {
    const char *path;
    atomic_bool stop;
} writer;

static void *write_again_and_again(void *user)
{
    writer *w = user;
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

    while (!atomic_load(&w->stop))
        (void)utimensat(AT_FDCWD, w->path, times, 0);
    return NULL;
}

TEST(a_database__that_is_written_meanwhile_is_read_once_more)
{
    place *p = *state;
    writer w = {.path = p->path};
    pthread_t thread;

    make_database(
        p, "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    assert_int_equal(pthread_create(&thread, NULL, write_again_and_again, &w), 0);
    becomes(query(p,
                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE "
                  "i < 300000) SELECT a, (SELECT count(*) FROM n) AS n FROM t"),
            "[{\"a\":1,\"n\":300000}]");
    atomic_store(&w.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(is_beside(p, "-wal")); /* with its locks, as ever */
}

/* As another process sees it. */
static bool is_locked(const char *path)
{
    int status = 1;
    pid_t child = fork();

    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(path, O_RDWR);

        _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return status == 0;
}

TEST(a_look__takes_no_lock_away)
{
    place *p = *state;
    gbx_libsqlite3 lib;
    sqlite3 *db = NULL;
    gbx_immutable still;
    gbx_spec spec;

    make_database(p, schema);
    assert_int_equal(gbx_libsqlite3_load(&lib, NULL), GBX_OK);
    assert_int_equal(lib.sqlite3_open_v2(p->path, &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    assert_int_equal(lib.sqlite3_exec(db, "BEGIN; SELECT id FROM t", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_true(is_locked(p->path));

    assert_int_equal(gbx_spec_parse(query(p, "SELECT id FROM t"), &spec, NULL), GBX_OK);
    assert_int_equal(gbx_source_probe(&spec, NULL), GBX_OK);
    assert_true(gbx_immutable_look(p->path, &still));
    becomes(p->spec, "[{\"id\":1},\n{\"id\":\"9007199254740993\"},\n{\"id\":-5}]");

    assert_true(is_locked(p->path));
    gbx_immutable_cleanup(&still);
    gbx_spec_cleanup(&spec);
    assert_int_equal(lib.sqlite3_close_v2(db), SQLITE_OK);
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
    assert_int_equal(gbx_spec_parse(query(p,
                                          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                                          "SELECT i+1 FROM n) SELECT sum(i) FROM n"),
                                    &spec, &error),
                     GBX_OK);
    assert_int_equal(gbx_source_read(&spec, GBX_SOURCE_WHOLE, NULL, &stop, &source,
                                     &error),
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
    assert_int_equal(source.text.len, 2);
    assert_memory_equal(source.columns.data, "[\"id\",\"id_2\",\"a\\\"b\"]",
                        source.columns.len);
    gbx_source_cleanup(&source);
    assert_int_equal(read_spec(query(p, "SELECT id FROM t"), &source, NULL), GBX_OK);
    assert_int_equal(source.columns.len, 0);
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

TEST_MAIN_EACH(enter_place, leave_place)

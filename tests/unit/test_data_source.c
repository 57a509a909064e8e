/* SPDX-License-Identifier: MIT */
/* From --data to JSON: specs, files, and databases of which a query can only read. */
#include "base/cleanup.h"
#include "base/json.h"
#include "mcp/data/libsqlite3.h"
#include "mcp/data/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct place {
    char folder[64];
    char path[128];
    char spec[4096];
} place;

static int enter(void **state)
{
    place *p = calloc(1, sizeof *p);

    strcpy(p->folder, "/tmp/gbx-data-XXXXXX");
    *state = p;
    return mkdtemp(p->folder) == NULL;
}

static int leave(void **state)
{
    place *p = *state;
    char command[128];

    (void)snprintf(command, sizeof command, "rm -rf %s", p->folder);
    (void)!system(command);
    free(p);
    return 0;
}

static const char *write_file(place *p, const char *name, const void *data, size_t len)
{
    FILE *file;

    (void)snprintf(p->path, sizeof p->path, "%s/%s", p->folder, name);
    file = fopen(p->path, "w");
    assert_int_equal(fwrite(data, 1, len, file), len);
    (void)fclose(file);
    (void)snprintf(p->spec, sizeof p->spec, "d=%s", p->path);
    return p->spec;
}

static gbx_status read_spec(const char *text, gbx_source *ret, gbx_error *error)
{
    gbx_spec spec;
    gbx_status status = gbx_spec_parse(text, &spec, error);

    if (status != GBX_OK)
        return status;
    status = gbx_source_read(&spec, NULL, ret, error);
    gbx_spec_cleanup(&spec);
    return status;
}

static void becomes(const char *spec, const char *json)
{
    gbx_source source;
    gbx_error error = {0};
    char *text;

    if (read_spec(spec, &source, &error) != GBX_OK)
        fail_msg("%s: %s", spec, error.message);
    text = strndup(source.view.at, source.view.len);
    assert_string_equal(text, json);
    assert_true(gbx_json_check(text, strlen(text), GBX_JSON_DEPTH_MAX, NULL));
    free(text);
    gbx_source_cleanup(&source);
}

static void refused(const char *spec, gbx_status status, const char *message)
{
    gbx_source source;
    gbx_error error = {0};

    assert_int_equal(read_spec(spec, &source, &error), status);
    if (strstr(error.message, message) == NULL)
        fail_msg("%s: %s", spec, error.message);
}

static void test_specs__are_names_and_files(void **state)
{
    gbx_spec spec;
    (void)state;

    assert_int_equal(gbx_spec_parse("a=b.csv", &spec, NULL), GBX_OK);
    assert_string_equal(spec.name, "a");
    assert_string_equal(spec.path, "b.csv");
    assert_int_equal(spec.format, GBX_SPEC_CSV);
    gbx_spec_cleanup(&spec);
    assert_int_equal(gbx_spec_parse("$_1=tsv:x=y", &spec, NULL), GBX_OK);
    assert_string_equal(spec.path, "x=y");
    assert_int_equal(spec.format, GBX_SPEC_TSV);
    gbx_spec_cleanup(&spec);
    assert_int_equal(
        gbx_spec_parse("d=sqlite:/x.db?query=SELECT%20*%20FROM t WHERE a LIKE '%25x'",
                       &spec, NULL),
        GBX_OK);
    assert_string_equal(spec.path, "/x.db");
    assert_string_equal(spec.query, "SELECT * FROM t WHERE a LIKE '%x'");
    gbx_spec_cleanup(&spec);
}

static void test_specs__that_are_none_say_why(void **state)
{
    (void)state;

    refused("orders.csv", GBX_E_USAGE, "NAME=FILE");
    refused("=x.csv", GBX_E_USAGE, "the name of a dataset");
    refused("1a=x.csv", GBX_E_USAGE, "the name of a dataset");
    refused("a-b=x.csv", GBX_E_USAGE, "the name of a dataset");
    refused("class=x.csv", GBX_E_USAGE, "'class' is a word of JavaScript");
    refused("let=x.csv", GBX_E_USAGE, "write 'let_'");
    refused("a=", GBX_E_USAGE, "has no file");
    refused("a=csv:", GBX_E_USAGE, "has no file");
    refused("a=x.db", GBX_E_USAGE, "a=sqlite:FILE?query=SELECT");
    refused("a=sqlite:x.db", GBX_E_USAGE, "say what to read");
    refused("a=sqlite:x?query=SELECT '%x'", GBX_E_USAGE, "%25");
    refused("a=sqlite:x?query=%00", GBX_E_USAGE, "%25");
    refused("a=sqlite:x?query=%ff", GBX_E_USAGE, "%25");
    refused("a=/nowhere/x.csv", GBX_E_OS, "cannot read 'x.csv'");
}

static void test_files__are_json_lines_or_tables(void **state)
{
    place *p = *state;

    becomes(write_file(p, "a.json", "\xef\xbb\xbf [1, 2]\n", 11), "[1, 2]");
    becomes(write_file(p, "a.ndjson", "{\"a\":1}\n\n2", 10), "[{\"a\":1},2]");
    becomes(write_file(p, "a.csv",
                       "\xef\xbb\xbf"
                       "a\n1\n",
                       7),
            "[{\"a\":1}]");
    becomes(write_file(p, "a.tsv", "a,b\tc\n1\t2\n", 10), "[{\"a,b\":1,\"c\":2}]");
    becomes(write_file(p, "guess1", "a\n1\n", 4), "[{\"a\":1}]");
    becomes(write_file(p, "guess2", " {\"a\":1}\n{\"a\":2}\n", 17),
            "[ {\"a\":1},{\"a\":2}]");
    becomes(write_file(p, "guess3", "{\"a\":\n1}", 8), "{\"a\":\n1}");
}

static void test_files__that_are_none_say_why(void **state)
{
    place *p = *state;
    char bomb[4000];

    refused(write_file(p, "a.json", "{\"a\":1}\n{\"a\":2}", 15), GBX_E_DATA,
            "line 2, column 1: unexpected text after the JSON value (one value a line "
            "is NAME=ndjson:FILE)");
    refused(write_file(p, "b.json", "", 0), GBX_E_DATA, "line 1, column 1");
    refused(write_file(p, "c.ndjson", "1\n{]\n", 5), GBX_E_DATA, "line 2, column 2");
    refused(write_file(p, "d.csv",
                       "\xff\xfe"
                       "a\0",
                       4),
            GBX_E_DATA, "UTF-16");
    refused(write_file(p, "e.json", "\"\xff\"", 3), GBX_E_DATA, "invalid UTF-8");
    refused(write_file(p, "f.json", "\"\0\"", 3), GBX_E_DATA, "control character");
    memset(bomb, '[', sizeof bomb);
    refused(write_file(p, "g.json", bomb, sizeof bomb), GBX_E_DATA, "nested too deep");
    refused(write_file(p, "h.ndjson", bomb, sizeof bomb), GBX_E_DATA,
            "nested too deep");
}

static void test_what_is_no_file__is_not_waited_for(void **state)
{
    place *p = *state;

    (void)snprintf(p->path, sizeof p->path, "%s/fifo", p->folder);
    assert_int_equal(mkfifo(p->path, 0600), 0);
    (void)snprintf(p->spec, sizeof p->spec, "a=csv:%s", p->path);
    refused(p->spec, GBX_E_OS, "is not a file");
    refused("a=json:/dev/zero", GBX_E_OS, "is not a file");
    refused("a=json:/tmp", GBX_E_OS, "is not a file");
}

static void test_sizes__are_of_what_was_read(void **state)
{
    gbx_source source;

    assert_int_equal(read_spec(write_file(*state, "x.csv", "a,b\n1,2\n", 8), &source,
                               NULL),
                     GBX_OK);
    assert_int_equal(source.file_bytes, 8);
    assert_int_equal(source.view.len, strlen("[{\"a\":1,\"b\":2}]"));
    gbx_source_cleanup(&source);
}

/* ---- databases ------------------------------------------------------------------- */

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

static void test_rows__keep_infinities(void **state)
{
    place *p = *state;

    make_database(p, schema);
    becomes(query(p, "SELECT 9e999 AS a, -9e999 AS b"), "[{\"a\":1e999,\"b\":-1e999}]");
}

static void test_rows__with_text_that_is_not_utf8_are_refused(void **state)
{
    place *p = *state;

    make_database(p, schema);
    refused(query(p,
                  "SELECT 1 AS a, 'b' AS b UNION ALL SELECT 2, CAST(x'c328' AS TEXT)"),
            GBX_E_DATA, "row 2, column 2: the text is not UTF-8");
    becomes(query(p, "SELECT x'c328' AS a"), "[{\"a\":\"wyg=\"}]");
}

static void test_rows__are_objects(void **state)
{
    place *p = *state;

    make_database(p, schema);
    becomes(query(p, "SELECT * FROM t ORDER BY rowid"),
            "[{\"id\":1,\"x\":0.1,\"s\":\"a\\\"b\",\"b\":\"AQI=\"},\n"
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

static void test_a_query__can_only_read(void **state)
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

static void test_a_query__may_use_virtual_tables_and_write_to_none(void **state)
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

static void test_a_query__that_is_wrong_is_told_with_its_place(void **state)
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

static void test_a_database__that_is_none_is_refused(void **state)
{
    place *p = *state;

    (void)write_file(p, "t.db", "this is no database, whatever its name says here", 48);
    refused(query(p, "SELECT 1 FROM sqlite_master"), GBX_E_DATA, "not a database");
}

static void test_a_query__without_end_is_stopped(void **state)
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
    assert_int_equal(gbx_source_read(&spec, &stop, &source, &error), GBX_E_CLOSED);
    gbx_spec_cleanup(&spec);
}

static void test_columns__are_told_where_no_row_tells_them(void **state)
{
    place *p = *state;
    gbx_source source;

    make_database(p, schema);
    assert_int_equal(read_spec(query(p,
                                     "SELECT id, id, s AS \"a\"\"b\" FROM t WHERE 0"),
                               &source, NULL),
                     GBX_OK);
    assert_int_equal(source.view.len, 2);
    assert_memory_equal(source.columns.data, "[\"id\",\"id_2\",\"a\\\"b\"]",
                        source.columns.len);
    gbx_source_cleanup(&source);
    assert_int_equal(read_spec(query(p, "SELECT id FROM t"), &source, NULL), GBX_OK);
    assert_int_equal(source.columns.len, 0);
    gbx_source_cleanup(&source);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)
        TEST(test_specs__are_names_and_files),
        TEST(test_specs__that_are_none_say_why),
        TEST(test_files__are_json_lines_or_tables),
        TEST(test_files__that_are_none_say_why),
        TEST(test_what_is_no_file__is_not_waited_for),
        TEST(test_rows__are_objects),
        TEST(test_rows__keep_infinities),
        TEST(test_rows__with_text_that_is_not_utf8_are_refused),
        TEST(test_sizes__are_of_what_was_read),
        TEST(test_columns__are_told_where_no_row_tells_them),
        TEST(test_a_query__can_only_read),
        TEST(test_a_query__may_use_virtual_tables_and_write_to_none),
        TEST(test_a_query__that_is_wrong_is_told_with_its_place),
        TEST(test_a_database__that_is_none_is_refused),
        TEST(test_a_query__without_end_is_stopped),
#undef TEST
    };

    return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
